//! The fields a server asks for, read from its schema, and whether an answer fits them.
//!
//! The schema is the small part of JSON Schema that MCP allows: a flat object of strings, numbers, truth values
//! and choices. A field of another kind is shown as such and cannot be filled in; if it is needed, the form
//! can only be declined.

use super::super::text_field::TextField;
use crate::text::visible_line;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub(super) struct FormField {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) help: String,
    pub(super) required: bool,
    pub(super) input: FieldInput,
    limits: Limits,
}

#[derive(Clone, Debug)]
pub(super) enum FieldInput {
    Text(TextField),
    Number {
        field: TextField,
        integer: bool,
    },
    Truth(Option<bool>),
    One {
        choices: Vec<FormChoice>,
        chosen: Option<usize>,
    },
    Many {
        choices: Vec<FormChoice>,
        marked: Vec<bool>,
        at: usize,
    },
    /// The kind that the schema names.
    Unsupported(String),
}

#[derive(Clone, Debug)]
pub(super) struct FormChoice {
    pub(super) title: String,
    value: Value,
}

#[derive(Clone, Debug, Default)]
struct Limits {
    least: Option<f64>,
    most: Option<f64>,
    format: Option<String>,
}

/// Returns the fields of a schema in its order.
pub(super) fn fields(schema: &Value) -> Vec<FormField> {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| field(name, schema, required.contains(&name.as_str())))
        .collect()
}

fn field(name: &str, schema: &Value, required: bool) -> FormField {
    let text = |key: &str| schema[key].as_str().map(visible_line);
    let number = |keys: [&str; 3]| keys.iter().find_map(|key| schema[*key].as_f64());
    let limits = Limits {
        least: number(["minLength", "minimum", "minItems"]),
        most: number(["maxLength", "maximum", "maxItems"]),
        format: text("format"),
    };
    let default = &schema["default"];
    let input = match schema["type"].as_str() {
        _ if !choices(schema).is_empty() => {
            let choices = choices(schema);
            FieldInput::One { chosen: choices.iter().position(|choice| choice.value == *default), choices }
        }
        Some("array") if !choices(&schema["items"]).is_empty() => {
            let choices = choices(&schema["items"]);
            let marked = choices.iter().map(|choice| default.as_array().is_some_and(|all| all.contains(&choice.value)));
            FieldInput::Many { marked: marked.collect(), choices, at: 0 }
        }
        Some("string") => FieldInput::Text(TextField::new(default.as_str().unwrap_or_default())),
        Some(kind @ ("number" | "integer")) => {
            let field = TextField::new(&default.as_number().map(ToString::to_string).unwrap_or_default());
            FieldInput::Number { field, integer: kind == "integer" }
        }
        Some("boolean") => FieldInput::Truth(default.as_bool()),
        other => FieldInput::Unsupported(visible_line(other.unwrap_or("an unknown kind"))),
    };
    FormField {
        name: name.to_owned(),
        title: text("title").unwrap_or_else(|| visible_line(name)),
        help: text("description").unwrap_or_default(),
        required,
        input,
        limits,
    }
}

fn choices(schema: &Value) -> Vec<FormChoice> {
    let titled = ["oneOf", "anyOf"].iter().find_map(|key| schema[*key].as_array());
    if let Some(titled) = titled {
        let choice = |each: &Value| {
            let value = each.get("const")?.clone();
            let title = each["title"].as_str().map_or_else(|| plain(&value), visible_line);
            Some(FormChoice { title, value })
        };
        return titled.iter().filter_map(choice).collect();
    }
    let names = schema["enumNames"].as_array();
    let title = |index: usize, value: &Value| match names.and_then(|names| names.get(index)?.as_str()) {
        Some(name) => visible_line(name),
        None => plain(value),
    };
    let values = schema["enum"].as_array().into_iter().flatten().enumerate();
    values.map(|(index, value)| FormChoice { title: title(index, value), value: value.clone() }).collect()
}

fn plain(value: &Value) -> String {
    visible_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Returns the content of an answer, or the first field that does not fit, with why.
pub(super) fn content(fields: &[FormField]) -> Result<Map<String, Value>, (usize, String)> {
    let mut content = Map::new();
    for (index, field) in fields.iter().enumerate() {
        match field.value() {
            Ok(Some(value)) => drop(content.insert(field.name.clone(), value)),
            Ok(None) if !field.required => {}
            Ok(None) => return Err((index, "needed".into())),
            Err(why) => return Err((index, why)),
        }
    }
    Ok(content)
}

impl FormField {
    fn value(&self) -> Result<Option<Value>, String> {
        match &self.input {
            FieldInput::Text(field) if field.is_empty() => Ok(None),
            FieldInput::Text(field) => {
                let text = field.text();
                self.count(text.chars().count(), "characters")?;
                match self.limits.format.as_deref() {
                    Some(format) if !has_format(text, format) => Err(format!("must be {}", format_name(format))),
                    _ => Ok(Some(text.into())),
                }
            }
            FieldInput::Number { field, integer } => {
                let text = field.text().trim();
                if text.is_empty() {
                    return Ok(None);
                }
                let number = match integer {
                    true => text.parse::<i64>().map(|number| (number as f64, json!(number))).ok(),
                    false => text
                        .parse::<f64>()
                        .ok()
                        .filter(|number| number.is_finite())
                        .map(|number| (number, json!(number))),
                };
                let (number, value) =
                    number.ok_or(if *integer { "must be a whole number" } else { "must be a number" })?;
                match (self.limits.least, self.limits.most) {
                    (Some(least), _) if number < least => Err(format!("must be at least {least}")),
                    (_, Some(most)) if number > most => Err(format!("must be at most {most}")),
                    _ => Ok(Some(value)),
                }
            }
            FieldInput::Truth(truth) => Ok(truth.map(Value::Bool)),
            FieldInput::One { choices, chosen } => {
                Ok(chosen.and_then(|index| choices.get(index)).map(|choice| choice.value.clone()))
            }
            FieldInput::Many { choices, marked, .. } => {
                let values: Vec<Value> = choices
                    .iter()
                    .zip(marked)
                    .filter(|(_, marked)| **marked)
                    .map(|(choice, _)| choice.value.clone())
                    .collect();
                if values.is_empty() && !self.required {
                    return Ok(None);
                }
                self.count(values.len(), "choices")?;
                Ok((!values.is_empty()).then_some(Value::Array(values)))
            }
            FieldInput::Unsupported(kind) if self.required => Err(format!("cannot be filled in here ({kind})")),
            FieldInput::Unsupported(_) => Ok(None),
        }
    }

    fn count(&self, count: usize, of: &str) -> Result<(), String> {
        let count = count as f64;
        match (self.limits.least, self.limits.most) {
            (Some(least), _) if count < least => Err(format!("needs at least {least} {of}")),
            (_, Some(most)) if count > most => Err(format!("takes at most {most} {of}")),
            _ => Ok(()),
        }
    }
}

fn format_name(format: &str) -> &str {
    match format {
        "email" => "an e-mail address",
        "uri" => "an address such as https://example.com",
        "date" => "a date such as 2026-01-31",
        "date-time" => "a time such as 2026-01-31T12:00:00Z",
        other => other,
    }
}

/// Formats that MCP does not name are the server's to check.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && host.contains('.') && !host.contains('@') && !text.contains(' ')
        }),
        "uri" => text.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
                && !text.contains(' ')
        }),
        "date" => is_date(text),
        "date-time" => text.split_once(['T', 't', ' ']).is_some_and(|(date, time)| {
            let clock = time.get(..8).unwrap_or_default();
            is_date(date) && is_shape(clock, "00:00:00") && time.len() > 8
        }),
        _ => true,
    }
}

fn is_date(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok()).unwrap_or(0);
    is_shape(text, "0000-00-00") && (1..=12).contains(&part(5..7)) && (1..=31).contains(&part(8..10))
}

fn is_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(a, b)| if b == b'0' { a.is_ascii_digit() } else { a == b })
}
