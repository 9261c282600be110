//! Events, or a whole answer, of the Messages API as deltas.

use crate::classify;
use ona_api::model::{Delta, EndReason, ModelFailure, Usage};
use serde_json::Value;
use std::collections::HashMap;

/// Where a reply is. Blocks arrive one after another, but are only known by number.
#[derive(Debug, Default)]
pub(crate) struct MessagesDecoder {
    blocks: HashMap<u64, Block>,
    calls: usize,
    over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Block {
    Text,
    Call(usize),
    Dropped,
}

impl MessagesDecoder {
    pub(crate) fn event(&mut self, event: &Value, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => usage(&event["message"]["usage"], deltas),
            "content_block_start" => self.start(number(event), &event["content_block"], deltas),
            "content_block_delta" => self.more(number(event), &event["delta"], deltas),
            "message_delta" => {
                usage(&event["usage"], deltas);
                end(&event["delta"], deltas);
            }
            "message_stop" => self.over = true,
            "error" => return Err(classify::error_event(event)),
            // content_block_stop, ping, and what may be added later.
            _ => {}
        }
        Ok(())
    }

    /// An answer that did not come as a stream: the same deltas, one per block.
    pub(crate) fn whole(&mut self, message: &Value, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        if message["type"] == "error" || message.get("error").is_some_and(|error| !error.is_null()) {
            return Err(classify::error_event(message));
        }
        let content = message["content"].as_array().ok_or_else(|| classify::unreadable("no content"))?;
        for (number, block) in (0..).zip(content) {
            self.start(number, block, deltas);
        }
        usage(&message["usage"], deltas);
        end(message, deltas);
        self.over = true;
        Ok(())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    fn start(&mut self, number: u64, block: &Value, deltas: &mut Vec<Delta>) {
        let block = match block["type"].as_str().unwrap_or_default() {
            "text" => {
                text(&block["text"], deltas);
                Block::Text
            }
            "tool_use" => {
                let index = self.calls;
                self.calls += 1;
                deltas.push(Delta::Call {
                    index,
                    id: block["id"].as_str().map(str::to_owned),
                    name: Some(block["name"].as_str().unwrap_or_default().to_owned()),
                    json: begun_input(&block["input"]),
                });
                Block::Call(index)
            }
            kind => {
                deltas.push(Delta::Dropped(kind.to_owned()));
                Block::Dropped
            }
        };
        self.blocks.insert(number, block);
    }

    fn more(&mut self, number: u64, delta: &Value, deltas: &mut Vec<Delta>) {
        match (self.blocks.get(&number).copied(), delta["type"].as_str().unwrap_or_default()) {
            (Some(Block::Call(index)), "input_json_delta") => {
                if let Some(json) = delta["partial_json"].as_str().filter(|json| !json.is_empty()) {
                    deltas.push(Delta::Call { index, id: None, name: None, json: json.to_owned() });
                }
            }
            // A sloppy gateway may leave out the start of a text.
            (Some(Block::Text) | None, "text_delta") => text(&delta["text"], deltas),
            (Some(Block::Text | Block::Call(_) | Block::Dropped) | None, _) => {}
        }
    }
}

fn number(event: &Value) -> u64 {
    event["index"].as_u64().unwrap_or_default()
}

/// In a stream the input begins as `{}` and follows in pieces.
fn begun_input(input: &Value) -> String {
    match input {
        Value::Object(fields) if !fields.is_empty() => input.to_string(),
        Value::Object(_) | Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn text(text: &Value, deltas: &mut Vec<Delta>) {
    if let Some(text) = text.as_str().filter(|text| !text.is_empty()) {
        deltas.push(Delta::Text(text.to_owned()));
    }
}

fn usage(usage: &Value, deltas: &mut Vec<Delta>) {
    let tokens = |key| usage[key].as_u64().unwrap_or_default();
    if usage.is_object() {
        deltas.push(Delta::Usage(Usage {
            input_tokens: tokens("input_tokens"),
            output_tokens: tokens("output_tokens"),
            cache_read_tokens: tokens("cache_read_input_tokens"),
            cache_write_tokens: tokens("cache_creation_input_tokens"),
        }));
    }
}

fn end(message: &Value, deltas: &mut Vec<Delta>) {
    if let Some(reason) = message["stop_reason"].as_str() {
        deltas.push(Delta::End(match reason {
            "end_turn" | "stop_sequence" => EndReason::EndTurn,
            "tool_use" => EndReason::ToolUse,
            "max_tokens" => EndReason::MaxTokens,
            "refusal" => EndReason::Refusal(reason.to_owned()),
            other => EndReason::Other(other.to_owned()),
        }));
    }
}
