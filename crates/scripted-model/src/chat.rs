//! The Chat Completions wire: a reply as chunks or as one document, and its errors.

use super::block::{ReplyBlock, ScriptedCall, ScriptedUsage, Stop};
use super::fault::HttpFailure;
use super::sse::ServerSentEvent;
use super::turn::ScriptedReply;
use serde_json::{Map, Value, json};

/// Fixed, so that the same script gives the same bytes.
const CREATED: u64 = 1_700_000_000;

/// `number` is that of the request, `first_call` of the first call in the reply;
/// `with_usage` if the request asked for the chunk that has it.
pub(super) fn events(
    reply: &ScriptedReply,
    number: usize,
    first_call: usize,
    with_usage: bool,
) -> Vec<ServerSentEvent> {
    let chunk = |choices: Value, usage: Value| {
        let mut chunk = envelope("chat.completion.chunk", number, choices);
        if with_usage {
            chunk["usage"] = usage;
        }
        ServerSentEvent::unnamed(chunk)
    };
    let choice = |delta: Value, finish: Value| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}]), Value::Null)
    };
    let speaks = reply.blocks.iter().any(|block| matches!(block, ReplyBlock::Text(_)));
    let content = if speaks { json!("") } else { Value::Null };
    let mut events = vec![choice(json!({"role": "assistant", "content": content}), Value::Null)];
    let mut index = 0;
    for block in &reply.blocks {
        match block {
            ReplyBlock::Text(text) => events.extend(
                reply.text_pieces(text).into_iter().map(|piece| choice(json!({"content": piece}), Value::Null).delta()),
            ),
            ReplyBlock::Thinking(text) => {
                events.push(choice(json!({"reasoning_content": text}), Value::Null).delta());
            }
            ReplyBlock::Call(call) => {
                let pieces = call_pieces(call, index, first_call + index).into_iter();
                events.extend(pieces.map(|(piece, counts)| {
                    let event = choice(json!({"tool_calls": [piece]}), Value::Null);
                    if counts { event.delta() } else { event }
                }));
                index += 1;
            }
            ReplyBlock::Unknown(_) => {}
        }
    }
    events.push(choice(json!({}), finish(&reply.stop_reason()).into()));
    if with_usage {
        events.push(chunk(json!([]), usage(reply.usage)));
    }
    events.push(ServerSentEvent::unnamed("[DONE]"));
    events
}

/// Returns the deltas of a call, and whether each is a piece of content.
fn call_pieces(call: &ScriptedCall, index: usize, count: usize) -> Vec<(Value, bool)> {
    let opening = if call.at_once { call.arguments.as_str() } else { "" };
    let mut first = Map::from_iter([("index".to_owned(), index.into())]);
    first.extend(tool_call(call, count, opening));
    let mut pieces = vec![(Value::Object(first), call.at_once)];
    if !call.at_once {
        let rest = call.split.pieces(&call.arguments).into_iter();
        pieces.extend(rest.map(|text| (json!({"index": index, "function": {"arguments": text}}), true)));
    }
    pieces
}

pub(super) fn document(reply: &ScriptedReply, number: usize, first_call: usize) -> Value {
    let join = |pick: fn(&ReplyBlock) -> Option<&str>| reply.blocks.iter().filter_map(pick).collect::<String>();
    let text = join(|block| if let ReplyBlock::Text(text) = block { Some(text) } else { None });
    let thinking = join(|block| if let ReplyBlock::Thinking(text) = block { Some(text) } else { None });
    let calls =
        reply.blocks.iter().filter_map(|block| if let ReplyBlock::Call(call) = block { Some(call) } else { None });
    let calls: Vec<_> = calls
        .enumerate()
        .map(|(index, call)| Value::Object(tool_call(call, first_call + index, &call.arguments)))
        .collect();
    let content = if text.is_empty() && !calls.is_empty() { Value::Null } else { text.into() };
    let mut message = json!({"role": "assistant", "content": content});
    if !thinking.is_empty() {
        message["reasoning_content"] = thinking.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let choices = json!([{"index": 0, "message": message, "finish_reason": finish(&reply.stop_reason())}]);
    let mut document = envelope("chat.completion", number, choices);
    document["usage"] = usage(reply.usage);
    document
}

fn envelope(object: &str, number: usize, choices: Value) -> Value {
    json!({
        "id": format!("chatcmpl-{number}"),
        "object": object,
        "created": CREATED,
        "model": "scripted",
        "choices": choices,
    })
}

fn tool_call(call: &ScriptedCall, count: usize, arguments: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.extend(call.wire_id(count).map(|id| ("id".to_owned(), id.into())));
    fields.insert("type".to_owned(), "function".into());
    fields.insert("function".to_owned(), json!({"name": call.name, "arguments": arguments}));
    fields
}

fn usage(usage: ScriptedUsage) -> Value {
    let prompt = usage.input_tokens + usage.cache_read_tokens;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": usage.output_tokens,
        "total_tokens": prompt + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
    })
}

fn finish(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn => "stop",
        Stop::ToolUse => "tool_calls",
        Stop::MaxTokens => "length",
        Stop::Refusal => "content_filter",
        Stop::Other(word) => word,
    }
}

pub(super) fn failure(failure: HttpFailure, message: Option<&str>) -> (u16, Value) {
    let (status, usual, kind, code) = match failure {
        HttpFailure::Status(status) => (status, "This is a scripted failure.", kind(status), code(status)),
        HttpFailure::ContextTooLong => (
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 128001 tokens.",
            "invalid_request_error",
            Some("context_length_exceeded"),
        ),
        HttpFailure::OutOfCredit => (
            429,
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            Some("insufficient_quota"),
        ),
    };
    (status, error(kind, message.unwrap_or(usual), code))
}

pub(super) fn error_event(kind: &str, message: &str) -> ServerSentEvent {
    ServerSentEvent::unnamed(error(kind, message, None))
}

fn error(kind: &str, message: &str, code: Option<&str>) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn kind(status: u16) -> &'static str {
    match status {
        429 => "requests",
        400..=499 => "invalid_request_error",
        _ => "server_error",
    }
}

fn code(status: u16) -> Option<&'static str> {
    match status {
        401 => Some("invalid_api_key"),
        404 => Some("model_not_found"),
        429 => Some("rate_limit_exceeded"),
        _ => None,
    }
}
