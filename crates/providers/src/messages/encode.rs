//! A message, and the rest of a request, as the Messages API wants them.

use crate::{ImageSupport, wire_text};
use ona_api::ToolSpec;
use ona_api::model::{Message, Part, RequestParams, Role};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Goes before the brace that closes a block.
pub(crate) const CACHE: &[u8] = br#","cache_control":{"type":"ephemeral"}"#;

/// What the API takes as pictures.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: Cow<'a, str>,
        input: Cow<'a, Value>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "base64")]
struct Source<'a> {
    media_type: &'a str,
    data: &'a str,
}

/// Appends a comma and the message. Returns where a cache mark would go, if the
/// message is one that may carry it. A message without content is left out: the API
/// refuses it.
pub(crate) fn message(message: &Message, images: ImageSupport, out: &mut Vec<u8>) -> Option<usize> {
    let blocks = blocks(message, images);
    if blocks.is_empty() {
        return None;
    }
    out.extend_from_slice(match message.role {
        Role::User => br#",{"role":"user","content":["#,
        Role::Assistant => br#",{"role":"assistant","content":["#,
    });
    for (position, block) in blocks.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        json(block, out);
    }
    let mark = out.len() - 1;
    out.extend_from_slice(b"]}");
    (message.role == Role::User).then_some(mark)
}

/// Results come first, because the API wants them right after the calls they answer;
/// what hooks had to say comes last (DEC-033).
fn blocks(message: &Message, images: ImageSupport) -> Vec<Block<'_>> {
    let mut parts: Vec<&Part> = message.parts.iter().collect();
    parts.sort_by_key(|part| match part {
        Part::ToolResult { .. } => 0,
        Part::Text(_) | Part::ToolUse { .. } | Part::Picture { .. } => 1,
        Part::HookContext(_) => 2,
    });
    parts.into_iter().filter_map(|part| block(part, images)).collect()
}

fn block(part: &Part, images: ImageSupport) -> Option<Block<'_>> {
    Some(match part {
        Part::Text(text) if wire_text::is_blank(text) => return None,
        Part::Text(text) => Block::Text { text: text.into() },
        Part::ToolUse { id, name, input } => Block::ToolUse {
            id: wire_text::call_id(&id.0),
            name: wire_text::tool_name(name),
            input: wire_text::input(input),
        },
        Part::ToolResult { id, content, is_error, exit_code } => Block::ToolResult {
            tool_use_id: wire_text::call_id(&id.0),
            content: wire_text::result(content, *exit_code),
            is_error: *is_error,
        },
        Part::Picture { kind, media_type, data } => match media_type.as_str() {
            _ if images == ImageSupport::TextOnly => {
                Block::Text { text: wire_text::omitted_media(kind, media_type, data).into() }
            }
            "application/pdf" => Block::Document { source: Source { media_type, data } },
            picture if PICTURES.contains(&picture) => Block::Image { source: Source { media_type, data } },
            _ => Block::Text { text: wire_text::omitted_media(kind, media_type, data).into() },
        },
        Part::HookContext(text) if wire_text::is_blank(text) => return None,
        Part::HookContext(text) => Block::Text { text: wire_text::hook_context(text).into() },
    })
}

/// Returns the body up to the first message.
pub(crate) fn head(params: &RequestParams) -> Vec<u8> {
    let mut out = br#"{"model":"#.to_vec();
    json(&params.model, &mut out);
    out.extend_from_slice(br#","max_tokens":"#);
    json(&params.max_tokens, &mut out);
    out.extend_from_slice(br#","stream":true"#);
    if !wire_text::is_blank(&params.system) {
        out.extend_from_slice(br#","system":["#);
        json(&Block::Text { text: (&params.system).into() }, &mut out);
        mark_last(&mut out);
        out.push(b']');
    }
    if !params.tools.is_empty() {
        out.extend_from_slice(br#","tools":["#);
        for (position, ToolSpec { name, description, input_schema }) in params.tools.iter().enumerate() {
            if position > 0 {
                out.push(b',');
            }
            json(&Tool { name, description, input_schema }, &mut out);
        }
        mark_last(&mut out);
        out.push(b']');
    }
    out.extend_from_slice(br#","messages":["#);
    out
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

/// Puts the cache mark into the block that was just written.
fn mark_last(out: &mut Vec<u8>) {
    out.pop();
    out.extend_from_slice(CACHE);
    out.push(b'}');
}

fn json(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("strings, numbers and JSON values always serialise");
}
