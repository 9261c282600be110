//! Raw tool input on its way to a typed value, and the schema a model is shown.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::fmt;

/// Why an input does not fit its schema: one sentence that names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(String);

impl BadInput {
    pub fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

/// Reads a tool's input.
pub fn parse<T: DeserializeOwned>(input: &Value) -> Result<T, BadInput> {
    let Value::Object(fields) = input else {
        return Err(BadInput(format!("the input must be a JSON object, not {}", kind(input))));
    };
    T::deserialize(input).map_err(|error| {
        let what = error.to_string();
        // serde names the key itself when it is missing, unknown or doubled.
        if what.contains("field `") {
            return BadInput(what);
        }
        match culprit::<T>(fields, &what) {
            Some(key) => BadInput(format!("`{key}`: {what}")),
            None => BadInput(what),
        }
    })
}

/// Returns the key whose value caused `what`. serde stops at the first misfit, so
/// leaving out any other key changes nothing.
fn culprit<'a, T: DeserializeOwned>(fields: &'a Map<String, Value>, what: &str) -> Option<&'a str> {
    fields.keys().map(String::as_str).find(|key| {
        let others = fields.iter().filter(|(name, _)| name.as_str() != *key);
        let rest: Map<_, _> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
        T::deserialize(&Value::Object(rest)).err().is_none_or(|error| error.to_string() != what)
    })
}

pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Returns the schema of an input type in the plain form all providers read: no
/// references, no titles, and optional keys are optional rather than nullable.
pub fn schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_deserialize().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    if let Value::Object(root) = &mut schema {
        root.remove("description");
    }
    schema
}

fn plain(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.remove("title");
            fields.remove("format");
            if fields.get("default") == Some(&Value::Null) {
                fields.remove("default");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|name| name != "null");
                if let [only] = types.as_slice() {
                    fields["type"] = only.clone();
                }
            }
            if let Some(Value::Array(values)) = fields.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            // Property names are not keywords: only their schemas are visited.
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::Object(properties) if name == "properties" => properties.values_mut().for_each(plain),
                    _ => plain(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

/// A whole number from 0. Models write `5` and `5.0`; both are five.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u64);

impl Count {
    pub fn get(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> de::Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Count;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a whole number from 0")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Count, E> {
                Ok(Count(number))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Count, E> {
                let exact = number >= 0.0 && number.fract() == 0.0 && number <= 9_007_199_254_740_991.0;
                if exact {
                    Ok(Count(number as u64))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(number), &self))
                }
            }
        }
        deserializer.deserialize_any(Whole)
    }
}

impl JsonSchema for Count {
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only parsed")]
    struct Sample {
        /// Where.
        file_path: String,
        /// How many.
        #[serde(rename = "-A")]
        after: Option<Count>,
        /// Which.
        mode: Option<Mode>,
    }

    /// Not shown.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Mode {
        OneWay,
        Other,
    }

    #[test]
    fn a_misfit_is_one_sentence_that_names_the_key() {
        let words = |input: Value| parse::<Sample>(&input).unwrap_err().to_string();
        assert_eq!(words(json!([])), "the input must be a JSON object, not an array");
        assert_eq!(words(json!({})), "missing field `file_path`");
        assert_eq!(words(json!({"file_path": 1})), "`file_path`: invalid type: integer `1`, expected a string");
        assert_eq!(
            words(json!({"file_path": "a", "x": 1})),
            "unknown field `x`, expected one of `file_path`, `-A`, `mode`"
        );
        assert_eq!(
            words(json!({"file_path": "a", "-A": 1.5})),
            "`-A`: invalid value: floating point `1.5`, expected a whole number from 0"
        );
        assert_eq!(
            words(json!({"mode": "up", "file_path": "a"})),
            "`mode`: unknown variant `up`, expected `one_way` or `other`"
        );
    }

    #[test]
    fn whole_floats_and_null_options_are_accepted() {
        let sample: Sample = parse(&json!({"file_path": "a", "-A": 5.0, "mode": null})).unwrap();
        assert_eq!(sample.after, Some(Count(5)));
    }

    #[test]
    fn the_schema_is_flat_and_closed() {
        assert_eq!(
            schema::<Sample>(),
            json!({
                "type": "object",
                "properties": {
                    "file_path": {"description": "Where.", "type": "string"},
                    "-A": {"description": "How many.", "type": "integer", "minimum": 0},
                    "mode": {"description": "Which.", "type": "string", "enum": ["one_way", "other"]},
                },
                "additionalProperties": false,
                "required": ["file_path"],
            })
        );
    }
}
