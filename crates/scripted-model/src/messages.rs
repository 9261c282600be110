//! The Messages wire: a reply as events or as one document, and its errors.

use super::block::{ReplyBlock, ScriptedCall, ScriptedUsage, Stop};
use super::fault::HttpFailure;
use super::sse::ServerSentEvent;
use super::turn::ScriptedReply;
use serde_json::{Map, Value, json};

/// `number` is that of the request, `first_call` of the first call in the reply.
pub(super) fn events(reply: &ScriptedReply, number: usize, first_call: usize) -> Vec<ServerSentEvent> {
    let mut message = message(reply, number, Value::Array(Vec::new()));
    message["usage"]["output_tokens"] = 1.into();
    message["stop_reason"] = Value::Null;
    let mut events =
        vec![ServerSentEvent::named("message_start", &json!({"type": "message_start", "message": message}))];
    let mut count = first_call;
    for (index, block) in reply.blocks.iter().enumerate() {
        events.push(start(index, block, count));
        if index == 0 {
            events.push(ServerSentEvent::named("ping", &json!({"type": "ping"})));
        }
        events.extend(deltas(reply, block).into_iter().map(|(delta, counts)| {
            let data = json!({"type": "content_block_delta", "index": index, "delta": delta});
            let event = ServerSentEvent::named("content_block_delta", &data);
            if counts { event.delta() } else { event }
        }));
        events
            .push(ServerSentEvent::named("content_block_stop", &json!({"type": "content_block_stop", "index": index})));
        count += usize::from(matches!(block, ReplyBlock::Call(_)));
    }
    let delta = json!({"stop_reason": stop(&reply.stop_reason()), "stop_sequence": null});
    let usage = json!({"output_tokens": reply.usage.output_tokens});
    let data = json!({"type": "message_delta", "delta": delta, "usage": usage});
    events.push(ServerSentEvent::named("message_delta", &data));
    events.push(ServerSentEvent::named("message_stop", &json!({"type": "message_stop"})));
    events
}

fn start(index: usize, block: &ReplyBlock, count: usize) -> ServerSentEvent {
    let block = match block {
        ReplyBlock::Text(_) => json!({"type": "text", "text": ""}),
        ReplyBlock::Thinking(_) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        ReplyBlock::Call(call) if call.at_once => tool_use(call, count, call.input()),
        ReplyBlock::Call(call) => tool_use(call, count, json!({})),
        ReplyBlock::Unknown(block) => block.clone(),
    };
    let data = json!({"type": "content_block_start", "index": index, "content_block": block});
    ServerSentEvent::named("content_block_start", &data)
}

/// Returns the deltas of a block, and whether each is a piece of content.
fn deltas(reply: &ScriptedReply, block: &ReplyBlock) -> Vec<(Value, bool)> {
    match block {
        ReplyBlock::Text(text) => {
            let pieces = reply.text_pieces(text).into_iter();
            pieces.map(|piece| (json!({"type": "text_delta", "text": piece}), true)).collect()
        }
        ReplyBlock::Thinking(text) => vec![
            (json!({"type": "thinking_delta", "thinking": text}), true),
            (json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="}), false),
        ],
        ReplyBlock::Call(call) if call.at_once => Vec::new(),
        ReplyBlock::Call(call) => {
            let piece = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
            // The API opens every call with an empty piece.
            let opening = std::iter::once((piece(""), false));
            opening.chain(call.split.pieces(&call.arguments).into_iter().map(|text| (piece(text), true))).collect()
        }
        ReplyBlock::Unknown(_) => Vec::new(),
    }
}

pub(super) fn document(reply: &ScriptedReply, number: usize, first_call: usize) -> Value {
    let mut count = first_call;
    let content = reply.blocks.iter().map(|block| match block {
        ReplyBlock::Text(text) => json!({"type": "text", "text": text}),
        ReplyBlock::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="}),
        ReplyBlock::Call(call) => {
            count += 1;
            tool_use(call, count - 1, call.input())
        }
        ReplyBlock::Unknown(block) => block.clone(),
    });
    let content = content.collect();
    message(reply, number, content)
}

fn message(reply: &ScriptedReply, number: usize, content: Value) -> Value {
    json!({
        "id": format!("msg_{number}"),
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": content,
        "stop_reason": stop(&reply.stop_reason()),
        "stop_sequence": null,
        "usage": usage(reply.usage),
    })
}

fn tool_use(call: &ScriptedCall, count: usize, input: Value) -> Value {
    let mut block = Map::from_iter([("type".to_owned(), "tool_use".into())]);
    block.extend(call.wire_id(count).map(|id| ("id".to_owned(), id.into())));
    block.insert("name".to_owned(), call.name.as_str().into());
    block.insert("input".to_owned(), input);
    Value::Object(block)
}

fn usage(usage: ScriptedUsage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
    })
}

fn stop(stop: &Stop) -> &str {
    match stop {
        Stop::EndTurn => "end_turn",
        Stop::ToolUse => "tool_use",
        Stop::MaxTokens => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Other(word) => word,
    }
}

pub(super) fn failure(failure: HttpFailure, message: Option<&str>, number: usize) -> (u16, Value) {
    let (status, usual) = match failure {
        HttpFailure::Status(status) => (status, "This is a scripted failure."),
        HttpFailure::ContextTooLong => (400, "prompt is too long: 200001 tokens > 200000 maximum"),
        HttpFailure::OutOfCredit => (400, "Your credit balance is too low to access the Anthropic API."),
    };
    let mut body = error(kind(status), message.unwrap_or(usual));
    body["request_id"] = format!("req_{number}").into();
    (status, body)
}

pub(super) fn error_event(kind: &str, message: &str) -> ServerSentEvent {
    ServerSentEvent::named("error", &error(kind, message))
}

fn error(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}
