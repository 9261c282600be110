//! What modules send, as rows (DEC-176).

use crate::records::object;
use ona_api::Entry;
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

/// State of a module that no model sees.
pub(super) fn entry(custom_type: &Value, data: &Value) -> Entry {
    let fields = json!({"kind": "custom_entry", "custom_type": custom_type, "data": data});
    Entry::Attachment { attachment: object(fields), call: None }
}
