//! What servers send, in the form in which the library reads it. Pure.
//!
//! The library takes a message for one of its types by what is in it. What it would take wrongly or
//! refuse although its meaning is clear is put right before: several messages in one, an error without
//! words, an answer to the handshake without a name, and the `_meta` of a result, which nothing here
//! reads and which alone makes the library take any answer for that of a tool.

use rmcp::model::ServerJsonRpcMessage;
use serde_json::{Value, json};

/// Returns the messages of one text; what is none leaves a line for debugging.
pub(super) fn messages(text: &[u8]) -> Vec<ServerJsonRpcMessage> {
    let values = match serde_json::from_slice(text) {
        Ok(value) => parts(value),
        Err(error) => {
            // Servers print other things, too.
            tracing::debug!(%error, bytes = text.len(), "what is not JSON is ignored");
            Vec::new()
        }
    };
    values.into_iter().filter_map(message).collect()
}

/// Returns the messages in a value: some versions of the protocol send several at once.
pub(super) fn parts(value: Value) -> Vec<Value> {
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    all.into_iter().map(tidy).collect()
}

pub(super) fn message(value: Value) -> Option<ServerJsonRpcMessage> {
    match serde_json::from_value(value) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::debug!(%error, "a message that is neither request nor answer is ignored");
            None
        }
    }
}

fn tidy(mut value: Value) -> Value {
    let Some(message) = value.as_object_mut() else { return value };
    message.insert("jsonrpc".into(), "2.0".into());
    let is_answer = !message.contains_key("method") && message.contains_key("id");
    if !is_answer {
        return value;
    }
    match message.get_mut("error") {
        Some(Value::Null) | None => {
            message.shift_remove("error");
            tidy_result(message.entry("result").or_insert(Value::Null));
        }
        Some(error) => {
            let code = error["code"].as_i64().filter(|code| i32::try_from(*code).is_ok()).unwrap_or_default();
            let words = error["message"].as_str().or(error.as_str()).unwrap_or("no reason was given");
            *error = json!({"code": code, "message": words, "data": error["data"]});
            message.shift_remove("result");
        }
    }
    value
}

fn tidy_result(result: &mut Value) {
    let Some(fields) = result.as_object_mut() else { return };
    fields.shift_remove("_meta");
    if fields.contains_key("protocolVersion") {
        let info = fields.entry("serverInfo").or_insert_with(|| json!({}));
        for name in ["name", "version"] {
            if !info[name].is_string() && (info.is_object() || info.is_null()) {
                info[name] = "".into();
            }
        }
        if !fields.get("capabilities").is_some_and(Value::is_object) {
            fields.insert("capabilities".into(), json!({}));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> Value {
        let read = messages(value.to_string().as_bytes());
        serde_json::to_value(read).unwrap()
    }

    #[test]
    fn nothing_of_an_answer_is_lost() {
        for result in [
            json!({"content": [{"type": "hologram", "x": 1}], "isError": true}),
            json!({"tools": [{"name": "t"}, {"name": "u", "inputSchema": {"z": 1, "a": 2}}]}),
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}]}]}),
            json!({"contents": [{"uri": "f:///a", "text": "a", "extra": 1}]}),
            json!("words"),
            json!(null),
        ] {
            let told = json!({"jsonrpc": "2.0", "id": 3, "result": result});
            let mut with_meta = told.clone();
            if with_meta["result"].is_object() {
                with_meta["result"]["_meta"] = json!({"a": 1});
            }
            // What the library knows it may leave out: an unknown key beside known ones.
            let kept = |value: Value| value.to_string().replace(",\"extra\":1", "");
            assert_eq!(kept(read(told.clone())), kept(json!([told])));
            assert_eq!(kept(read(with_meta)), kept(json!([told])));
        }
    }

    #[test]
    fn clear_messages_are_understood() {
        let told = |value: Value| read(value);
        assert_eq!(
            told(json!([{"jsonrpc": "2.0", "id": 1, "result": {}}, {"id": "2", "error": {"code": "x"}}])),
            json!([
                {"jsonrpc": "2.0", "id": 1, "result": {}},
                {"jsonrpc": "2.0", "id": "2", "error": {"code": 0, "message": "no reason was given"}},
            ])
        );
        assert_eq!(
            told(json!({"id": 1, "error": "no", "result": null})),
            json!([{"jsonrpc": "2.0", "id": 1, "error": {"code": 0, "message": "no"}}])
        );
        assert_eq!(
            told(json!({"id": 0, "result": {"protocolVersion": "2025-06-18"}})),
            json!([{"jsonrpc": "2.0", "id": 0, "result": {
                "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "", "version": ""}
            }}])
        );
        // What a program logs.
        assert_eq!(told(json!({"level": "info", "msg": "x"})), json!([]));
        assert_eq!(messages(b"starting ...").len(), 0);
    }
}
