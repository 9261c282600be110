//! Messages a `context` handler returned, back in our words. Pure.
//!
//! A message that came back as it was stands for its rows, so nothing of it is lost on
//! the way; one that was changed or made up is read by its role.

use super::entries::Item;
use ona_api::model::{Message, Part};
use ona_api::row::Block;
use ona_api::{CallId, ToolCall};
use ona_transcript::{AttachmentRecord, Body, Mapper, Record};
use serde_json::Value;
use std::collections::HashMap;

pub(super) fn messages(items: &[Item], kept: &[Value]) -> Vec<Message> {
    let mut known: HashMap<String, Vec<&Item>> = HashMap::new();
    for item in items.iter().rev() {
        if let Some(message) = item.message() {
            known.entry(message.to_string()).or_default().push(item);
        }
    }
    let calls = calls(items);
    let mut mapper = Mapper::default();
    let mut sequence = 0;
    for message in kept {
        let original = known.get_mut(&message.to_string()).and_then(Vec::pop);
        let bodies = match original {
            Some(item) => item.rows.iter().map(|row| row.body.clone()).collect(),
            None => made(message, &calls),
        };
        for body in bodies {
            sequence += 1;
            // A summary restarts the history; here it is one message among others.
            let body = match body {
                Body::CollapseCommit { summary, .. } => Body::Attachment(AttachmentRecord::Text(summary)),
                other => other,
            };
            mapper.push(&Record { sequence, body });
        }
    }
    mapper.messages().to_vec()
}

/// The calls of the session, by id: a changed message names them in another dialect.
fn calls(items: &[Item]) -> HashMap<String, ToolCall> {
    let mut calls = HashMap::new();
    for row in items.iter().flat_map(|item| &item.rows) {
        if let Body::Assistant { content, .. } = &row.body {
            for block in content {
                if let Block::ToolUse { id, name, input } = block {
                    let call = ToolCall { id: id.clone(), name: name.clone(), input: input.clone() };
                    calls.insert(id.0.clone(), call);
                }
            }
        }
    }
    calls
}

fn made(message: &Value, calls: &HashMap<String, ToolCall>) -> Vec<Body> {
    let content = &message["content"];
    match message["role"].as_str().unwrap_or_default() {
        "assistant" => {
            let blocks = content.as_array().into_iter().flatten().filter_map(|block| match block["type"].as_str()? {
                "text" => Some(Block::Text(block["text"].as_str()?.to_owned())),
                "toolCall" => {
                    let id = block["id"].as_str()?;
                    let call = calls.get(id)?.clone();
                    Some(Block::ToolUse { id: call.id, name: call.name, input: call.input })
                }
                _ => None,
            });
            vec![Body::Assistant { uuid: String::new(), content: blocks.collect() }]
        }
        "toolResult" => vec![Body::ToolResult {
            id: CallId::from(message["toolCallId"].as_str().unwrap_or_default()),
            content: words(content),
            is_error: message["isError"] == true,
        }],
        "branchSummary" | "compactionSummary" => {
            vec![Body::Attachment(AttachmentRecord::Text(message["summary"].as_str().unwrap_or_default().to_owned()))]
        }
        _ => vec![Body::Attachment(AttachmentRecord::Message { parts: parts(content), wakes: false })],
    }
}

fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn parts(content: &Value) -> Vec<Part> {
    let Value::Array(blocks) = content else { return vec![Part::Text(words(content))] };
    let part = |block: &Value| match block["type"].as_str()? {
        "text" => Some(Part::Text(block["text"].as_str()?.to_owned())),
        "image" => Some(Part::Picture {
            kind: "image".into(),
            media_type: block["mimeType"].as_str()?.to_owned(),
            data: block["data"].as_str()?.to_owned(),
        }),
        _ => None,
    };
    blocks.iter().filter_map(part).collect()
}
