//! A server's input schema in the form every provider takes: an object at the root.
//!
//! References are left as they are and never followed (K-4).

use serde_json::{Map, Value, json};

const CHOICES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

pub(crate) fn plain(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return json!({"type": "object", "properties": {}}) };
    let mut plain = schema.clone();
    for choice in CHOICES {
        if let Some(Value::Array(branches)) = plain.shift_remove(choice) {
            let branches: Vec<_> = branches.iter().filter_map(Value::as_object).collect();
            fold(&mut plain, &branches, choice == "allOf");
        }
    }
    plain.insert("type".into(), "object".into());
    plain.entry("properties").or_insert_with(|| json!({}));
    plain.shift_remove("$schema");
    Value::Object(plain)
}

/// Takes the properties of all branches; required is what every way of reading requires.
fn fold(root: &mut Map<String, Value>, branches: &[&Map<String, Value>], all: bool) {
    let required = |branch: &Map<String, Value>| -> Vec<Value> {
        branch.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let mut needed = required(root);
    for branch in branches {
        let properties = root.entry("properties").or_insert_with(|| json!({}));
        if let (Value::Object(own), Some(Value::Object(theirs))) = (properties, branch.get("properties")) {
            for (name, schema) in theirs {
                own.entry(name.clone()).or_insert_with(|| schema.clone());
            }
        }
        for name in required(branch) {
            let everywhere = all || branches.iter().all(|other| required(other).contains(&name));
            if everywhere && !needed.contains(&name) {
                needed.push(name);
            }
        }
    }
    if !needed.is_empty() {
        root.insert("required".into(), needed.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_an_object_without_choices() {
        let branch =
            |name: &str| json!({"properties": {name: {"type": "string"}, "both": {}}, "required": [name, "both"]});
        for (schema, expected) in [
            (json!(null), json!({"type": "object", "properties": {}})),
            (json!({"$schema": "x"}), json!({"type": "object", "properties": {}})),
            (
                json!({"anyOf": [branch("a"), branch("b")]}),
                json!({"properties": {"a": {"type": "string"}, "both": {}, "b": {"type": "string"}}, "required": ["both"], "type": "object"}),
            ),
            (
                json!({"type": "object", "allOf": [branch("a")], "required": ["c"]}),
                json!({"type": "object", "properties": {"a": {"type": "string"}, "both": {}}, "required": ["c", "a", "both"]}),
            ),
            (
                json!({"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:1/s"}}}),
                json!({"type": "object", "properties": {"x": {"$ref": "http://127.0.0.1:1/s"}}}),
            ),
        ] {
            assert_eq!(plain(&schema), expected, "{schema}");
        }
    }
}
