//! A message, and the rest of a request, as Chat Completions wants them.
//!
//! One of our messages can become several: a `tool` message per result, then what
//! the person said or showed, then what hooks had to say.

use crate::{ImageSupport, wire_text};
use ona_api::ToolSpec;
use ona_api::model::{Message, Part, RequestParams, Role};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// Tells a model that a result is an error; this wire has no field for it (DEC-090).
pub(crate) const ERROR_PREFIX: &str = "ERROR: ";

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum ChatMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: Cow<'a, str>,
        content: Cow<'a, str>,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Pieces(Vec<ContentPart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Call<'a> {
    id: Cow<'a, str>,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: Cow<'a, str>,
    arguments: String,
}

/// Appends the message, every part of it with a comma before it.
pub(crate) fn message(message: &Message, images: ImageSupport, out: &mut Vec<u8>) {
    match message.role {
        Role::User => user(&message.parts, images, out),
        Role::Assistant => assistant(&message.parts, out),
    }
}

fn user(parts: &[Part], images: ImageSupport, out: &mut Vec<u8>) {
    for part in parts {
        if let Part::ToolResult { id, content, is_error, exit_code } = part {
            let mut content = wire_text::result(content, *exit_code);
            if *is_error {
                content = format!("{ERROR_PREFIX}{content}").into();
            }
            push_message(&ChatMessage::Tool { tool_call_id: wire_text::call_id(&id.0), content }, out);
        }
    }
    let pieces: Vec<ContentPart> = parts.iter().filter_map(|part| piece(part, images)).collect();
    if !pieces.is_empty() {
        push_message(&ChatMessage::User { content: content(pieces) }, out);
    }
    for part in parts {
        if let Part::HookContext(text) = part
            && !wire_text::is_blank(text)
        {
            push_message(&ChatMessage::User { content: Content::Text(wire_text::hook_context(text)) }, out);
        }
    }
}

fn piece(part: &Part, images: ImageSupport) -> Option<ContentPart<'_>> {
    match part {
        Part::Text(text) if wire_text::is_blank(text) => None,
        Part::Text(text) => Some(ContentPart::Text { text: text.into() }),
        Part::Picture { media_type, data, .. }
            if images == ImageSupport::Images && media_type.starts_with("image/") =>
        {
            Some(ContentPart::ImageUrl { image_url: ImageUrl { url: format!("data:{media_type};base64,{data}") } })
        }
        Part::Picture { kind, media_type, data } => {
            Some(ContentPart::Text { text: wire_text::omitted_media(kind, media_type, data).into() })
        }
        Part::ToolUse { .. } | Part::ToolResult { .. } | Part::HookContext(_) => None,
    }
}

/// Plain text where that is enough; not every server takes a list.
fn content(pieces: Vec<ContentPart>) -> Content {
    let texts: Option<Vec<&str>> = pieces
        .iter()
        .map(|piece| match piece {
            ContentPart::Text { text } => Some(text.as_ref()),
            ContentPart::ImageUrl { .. } => None,
        })
        .collect();
    match texts {
        Some(texts) => Content::Text(texts.join("\n")),
        None => Content::Pieces(pieces),
    }
}

fn assistant(parts: &[Part], out: &mut Vec<u8>) {
    let mut texts = Vec::new();
    let mut tool_calls = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) if !wire_text::is_blank(text) => texts.push(text.as_str()),
            Part::ToolUse { id, name, input } => tool_calls.push(Call {
                id: wire_text::call_id(&id.0),
                function: CalledFunction {
                    name: wire_text::tool_name(name),
                    arguments: wire_text::input(input).to_string(),
                },
            }),
            Part::Text(_) | Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => {}
        }
    }
    if !texts.is_empty() || !tool_calls.is_empty() {
        let content = (!texts.is_empty()).then(|| texts.join("\n"));
        push_message(&ChatMessage::Assistant { content, tool_calls }, out);
    }
}

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "function")]
struct Tool<'a> {
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> Tool<'a> {
    fn of(ToolSpec { name, description, input_schema }: &'a ToolSpec) -> Self {
        Self { function: Function { name, description, parameters: input_schema } }
    }
}

/// Returns the body up to the first message that is not the system's.
pub(crate) fn head(params: &RequestParams) -> Vec<u8> {
    let (max_tokens, max_completion_tokens) = match is_reasoning(&params.model) {
        true => (None, Some(params.max_tokens)),
        false => (Some(params.max_tokens), None),
    };
    let mut out = Vec::new();
    json(
        &Head {
            model: &params.model,
            max_tokens,
            max_completion_tokens,
            stream: true,
            stream_options: StreamOptions { include_usage: true },
            tools: params.tools.iter().map(Tool::of).collect(),
        },
        &mut out,
    );
    out.pop();
    out.extend_from_slice(br#","messages":["#);
    if !wire_text::is_blank(&params.system) {
        json(&ChatMessage::System { content: &params.system }, &mut out);
    }
    out
}

/// The o series, and what followed it, takes `max_completion_tokens` only (DEC-081).
fn is_reasoning(model: &str) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let o_series = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    o_series || name.starts_with("gpt-5")
}

fn push_message(said: &ChatMessage, out: &mut Vec<u8>) {
    out.push(b',');
    json(said, out);
}

fn json(value: &impl Serialize, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("strings, numbers and JSON values always serialise");
}

#[cfg(test)]
mod tests {
    use super::is_reasoning;

    #[test]
    fn reasoning_models_are_known_by_name() {
        for (model, expected) in [
            ("o3", true),
            ("o3-mini", true),
            ("openai/o4-mini", true),
            ("gpt-5-mini", true),
            ("gpt-4o", false),
            ("olmo-2", false),
            ("qwen/qwen3", false),
        ] {
            assert_eq!(is_reasoning(model), expected, "{model}");
        }
    }
}
