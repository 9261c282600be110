//! The variables of `env`.

use serde_json::Value;

pub(crate) fn read(value: &Value) -> Vec<(String, String)> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(|(name, value)| Some((name.clone(), env_text(value)?))).collect()
}

/// Returns the text that a value of `env` stands for; lists and objects stand for none.
pub fn env_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
