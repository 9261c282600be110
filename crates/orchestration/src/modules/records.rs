//! What modules send, as rows (DEC-176).

use crate::records::object;
use ona_api::row::Block;
use ona_api::{CallId, Entry};
use serde_json::{Value, json};

/// A message for the model. `wakes`: the model is asked because of it.
pub(super) fn message(message: &Value, wakes: bool) -> Entry {
    let fields = json!({
        "kind": "custom_message",
        "custom_type": message["customType"],
        "content": message["content"],
        "display": message["display"] != Value::Bool(false),
        "details": message["details"],
        "attribution": message["attribution"].as_str().unwrap_or("agent"),
        "trigger_turn": wakes,
    });
    Entry::Attachment { attachment: object(fields), call: None }
}

/// Words a module puts into the user's mouth.
pub(super) fn words(content: &Value) -> Entry {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    Entry::User { uuid: CallId::random().0, content: vec![Block::Text(text)] }
}

/// A mark on an entry; none takes it away.
pub(super) fn label(target: &Value, label: &Value) -> Entry {
    let fields = json!({"kind": "entry_label", "target": target, "label": label});
    Entry::Attachment { attachment: object(fields), call: None }
}

pub(super) fn name(name: &Value) -> Entry {
    let fields = json!({"kind": "session_name", "name": name});
    Entry::Attachment { attachment: object(fields), call: None }
}

/// State of a module that no model sees.
pub(super) fn entry(custom_type: &Value, data: &Value) -> Entry {
    let fields = json!({"kind": "custom_entry", "custom_type": custom_type, "data": data});
    Entry::Attachment { attachment: object(fields), call: None }
}
