//! Lines of `--input-format stream-json`. Laws: only an object with a type is a message; a blank
//! before or behind it changes nothing.

use super::{mutate, same};
use crate::random::Random;
use serde_json::{Value, json};
use std::sync::LazyLock;

const WORDS: [&str; 30] = [
    "type",
    "user",
    "message",
    "role",
    "content",
    "text",
    "image",
    "source",
    "base64",
    "media_type",
    "data",
    "control_request",
    "control_response",
    "control_cancel_request",
    "keep_alive",
    "request",
    "request_id",
    "subtype",
    "success",
    "error",
    "response",
    "uuid",
    "shouldQuery",
    "session_id",
    "parent_tool_use_id",
    "tool_result",
    "interrupt",
    "initialize",
    "can_use_tool",
    "mcp_message",
];

static EXAMPLES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({"type": "user", "message": {"role": "user", "content": "hi"}, "uuid": "u", "shouldQuery": false}),
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "a"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]}}),
        json!({"type": "control_request", "request_id": "r", "request": {"subtype": "interrupt"}}),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r", "response": {"behavior": "allow"}}}),
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": "r", "error": "no"}}),
        json!({"type": "keep_alive"}),
        json!({"type": "control_cancel_request", "request_id": "r"}),
    ]
});

pub(super) fn read(random: &mut Random, input: &mut String) -> Result<(), String> {
    let line = mutate::json(random, &EXAMPLES, &WORDS).to_string();
    let line = if random.one_in(3) { mutate::bytes(random, &[&line], &WORDS) } else { line.into_bytes() };
    *input = String::from_utf8_lossy(&line).into_owned();
    let is_message = ona_headless::is_message(&line);
    let value: Option<Value> = serde_json::from_slice(&line).ok();
    if is_message && !value.is_some_and(|value| value["type"].is_string()) {
        return Err("a line that is not an object with a type is a message".to_owned());
    }
    let padded = [b" \t", line.as_slice(), b"\r\n"].concat();
    same("blanks around a line", &is_message, &ona_headless::is_message(&padded))
}
