//! Decides whether a value has the shape a JSON schema describes, for tools whose schema is not known
//! when ona is built.
//!
//! As much of the language as tool schemas use. A keyword that is not known here says nothing,
//! as the standard has it; one that cannot be read (a pattern with a mistake in it) fits
//! nothing.

use crate::input::{BadInput, kind};
use serde_json::{Map, Value};
use std::cell::Cell;

/// How deep schemas may lead into each other.
const DEEPEST: usize = 64;
/// How many schemas one value may be held against: alternatives that lead back to themselves double
/// with each step down.
const MOST_CHECKS: usize = 100_000;

/// An error is one sentence that names the key.
pub fn validate(schema: &Value, value: &Value) -> Result<(), BadInput> {
    let shape = SchemaCheck { root: schema, checks: Cell::new(0) };
    shape.check(schema, value, "", 0).map_err(BadInput::new)
}

/// Puts in what the schema says is meant where nothing is said.
pub fn with_defaults(schema: &Value, value: &mut Value) {
    let Value::Object(fields) = value else { return };
    for (key, described) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        match (fields.get_mut(key), described.get("default")) {
            (Some(inner), _) => with_defaults(described, inner),
            (None, Some(default)) => {
                fields.insert(key.clone(), default.clone());
            }
            (None, None) => {}
        }
    }
}

struct SchemaCheck<'a> {
    root: &'a Value,
    /// How many there were so far.
    checks: Cell<usize>,
}

impl SchemaCheck<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        self.checks.set(self.checks.get() + 1);
        if depth > DEEPEST || self.checks.get() > MOST_CHECKS {
            return Err(format!("{}: the schema leads too deep", named(at)));
        }
        let rules = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Object(rules) => rules,
            _ => return Err(format!("{} is not wanted", named(at))),
        };
        if let Some(reference) = rules.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            let target = target.ok_or_else(|| format!("{}: the schema refers to {reference}", named(at)))?;
            self.check(target, value, at, depth + 1)?;
        }
        kinds(rules, value, at)?;
        if let Some(one) = rules.get("const").filter(|one| !same(one, value)) {
            return Err(format!("{} must be {one}", named(at)));
        }
        if let Some(all) = rules.get("enum").and_then(Value::as_array)
            && !all.iter().any(|one| same(one, value))
        {
            let all: Vec<_> = all.iter().map(Value::to_string).collect();
            return Err(format!("{} must be one of {}", named(at), all.join(", ")));
        }
        self.combined(rules, value, at, depth)?;
        match value {
            Value::Object(fields) => self.fields(rules, fields, at, depth),
            Value::Array(items) => self.items(rules, items, at, depth),
            Value::String(text) => words(rules, text, at),
            Value::Number(number) => amount(rules, number.as_f64().unwrap_or(f64::NAN), at),
            Value::Null | Value::Bool(_) => Ok(()),
        }
    }

    fn combined(&self, rules: &Map<String, Value>, value: &Value, at: &str, depth: usize) -> Result<(), String> {
        let list = |key: &str| rules.get(key).and_then(Value::as_array).map(Vec::as_slice);
        let tried = |one: &Value| self.check(one, value, at, depth + 1);
        for one in list("allOf").unwrap_or_default() {
            tried(one)?;
        }
        if let Some(any) = list("anyOf") {
            let errors: Vec<_> = any.iter().map_while(|one| tried(one).err()).collect();
            if errors.len() == any.len() {
                return Err(errors.into_iter().next().unwrap_or_else(|| format!("{} fits nothing", named(at))));
            }
        }
        if let Some(one_of) = list("oneOf") {
            let mut errors = one_of.iter().filter_map(|one| tried(one).err());
            match (one_of.len(), errors.next(), errors.count() + 1) {
                (all, Some(first), wrong) if wrong == all => return Err(first),
                (all, Some(_), wrong) if wrong + 1 == all => {}
                (1, None, _) => {}
                _ => return Err(format!("{} fits more than one of the possible shapes", named(at))),
            }
        }
        if rules.get("not").is_some_and(|not| tried(not).is_ok()) {
            return Err(format!("{} has a shape it must not have", named(at)));
        }
        Ok(())
    }

    fn fields(
        &self,
        rules: &Map<String, Value>,
        fields: &Map<String, Value>,
        at: &str,
        depth: usize,
    ) -> Result<(), String> {
        for key in rules.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(key) {
                return Err(format!("missing field `{}`", below(at, key)));
            }
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let patterns = rules.get("patternProperties").and_then(Value::as_object);
        let others = rules.get("additionalProperties");
        for (key, value) in fields {
            let place = below(at, key);
            let mut described = false;
            if let Some(schema) = known.and_then(|known| known.get(key)) {
                described = true;
                self.check(schema, value, &place, depth + 1)?;
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                if matches(pattern, key) {
                    described = true;
                    self.check(schema, value, &place, depth + 1)?;
                }
            }
            match others {
                Some(Value::Bool(false)) if !described => return Err(format!("unknown field `{place}`")),
                Some(schema) if !described => self.check(schema, value, &place, depth + 1)?,
                _ => {}
            }
        }
        count(rules, ["minProperties", "maxProperties"], fields.len(), "fields", at)
    }

    fn items(&self, rules: &Map<String, Value>, items: &[Value], at: &str, depth: usize) -> Result<(), String> {
        // Older schemas write a list of positions as `items`.
        let places = ["prefixItems", "items"].iter().find_map(|key| rules.get(*key)?.as_array());
        let rest = rules.get("items").filter(|items| !items.is_array());
        for (index, item) in items.iter().enumerate() {
            let place = below(at, &index.to_string());
            match (places.and_then(|places| places.get(index)), rest) {
                (Some(schema), _) | (None, Some(schema)) => self.check(schema, item, &place, depth + 1)?,
                (None, None) => {}
            }
        }
        if rules.get("uniqueItems") == Some(&Value::Bool(true)) {
            let mut seen = std::collections::HashSet::new();
            if !items.iter().all(|item| seen.insert(item.to_string())) {
                return Err(format!("{} has something twice", named(at)));
            }
        }
        count(rules, ["minItems", "maxItems"], items.len(), "items", at)
    }
}

fn kinds(rules: &Map<String, Value>, value: &Value, at: &str) -> Result<(), String> {
    let wanted: Vec<&str> = match rules.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let fits = wanted.iter().any(|kind| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        // `5.0` is a whole number too.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    });
    if fits { Ok(()) } else { Err(format!("{} must be {}, not {}", named(at), article(&wanted), kind(value))) }
}

fn words(rules: &Map<String, Value>, text: &str, at: &str) -> Result<(), String> {
    if let Some(pattern) = rules.get("pattern").and_then(Value::as_str)
        && !matches(pattern, text)
    {
        return Err(format!("{} must match {pattern}", named(at)));
    }
    count(rules, ["minLength", "maxLength"], text.chars().count(), "characters", at)
}

fn amount(rules: &Map<String, Value>, number: f64, at: &str) -> Result<(), String> {
    let limit = |key: &str| rules.get(key).and_then(Value::as_f64);
    let broken = [
        (limit("minimum"), "at least", (|number, limit| number >= limit) as fn(f64, f64) -> bool),
        (limit("maximum"), "at most", |number, limit| number <= limit),
        (limit("exclusiveMinimum"), "more than", |number, limit| number > limit),
        (limit("exclusiveMaximum"), "less than", |number, limit| number < limit),
        (limit("multipleOf"), "a multiple of", |number, limit| {
            ((number / limit).round() * limit - number).abs() < 1e-9
        }),
    ]
    .into_iter()
    .find_map(|(limit, words, holds)| limit.filter(|limit| !holds(number, *limit)).map(|limit| (words, limit)));
    match broken {
        Some((words, limit)) => Err(format!("{} must be {words} {limit}", named(at))),
        None => Ok(()),
    }
}

fn count(rules: &Map<String, Value>, keys: [&str; 2], found: usize, what: &str, at: &str) -> Result<(), String> {
    let limit = |key: &str| rules.get(key).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok());
    match (limit(keys[0]), limit(keys[1])) {
        (Some(least), _) if found < least => Err(format!("{} must have at least {least} {what}", named(at))),
        (_, Some(most)) if found > most => Err(format!("{} must have at most {most} {what}", named(at))),
        _ => Ok(()),
    }
}

/// As JavaScript reads a pattern, which is what schemas mean.
fn matches(pattern: &str, text: &str) -> bool {
    regress::Regex::with_flags(pattern, "u").is_ok_and(|pattern| pattern.find(text).is_some())
}

/// `1` and `1.0` are the same number.
fn same(one: &Value, other: &Value) -> bool {
    one == other || matches!((one.as_f64(), other.as_f64()), (Some(one), Some(other)) if one == other)
}

fn named(at: &str) -> String {
    if at.is_empty() { "the input".into() } else { format!("`{at}`") }
}

fn below(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn article(kinds: &[&str]) -> String {
    let with = |kind: &&str| match *kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        kind => format!("a {kind}"),
    };
    kinds.iter().map(with).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_misfit_is_one_sentence_that_names_the_key() {
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 1, "pattern": "^[a-z]+$"},
                "mode": {"enum": ["a", "b"]},
                "many": {"type": "array", "items": {"type": "integer", "minimum": 1}, "maxItems": 2, "uniqueItems": true},
                "either": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "one": {"oneOf": [{"type": "number"}, {"minimum": 5}]},
                "same": {"$ref": "#/$defs/tag"},
            },
            "$defs": {"tag": {"const": "t"}},
            "required": ["name"],
            "additionalProperties": false,
        });
        let cases = [
            (json!({"name": "ab", "mode": "a", "many": [1, 2.0], "either": null, "one": 3, "same": "t"}), None),
            (json!([]), Some("the input must be an object, not an array")),
            (json!({}), Some("missing field `name`")),
            (json!({"name": 1}), Some("`name` must be a string, not a number")),
            (json!({"name": ""}), Some("`name` must match ^[a-z]+$")),
            (json!({"name": "a", "mode": "c"}), Some("`mode` must be one of \"a\", \"b\"")),
            (json!({"name": "a", "many": [0]}), Some("`many.0` must be at least 1")),
            (json!({"name": "a", "many": [1, 1.5]}), Some("`many.1` must be an integer, not a number")),
            (json!({"name": "a", "many": [1, 2, 3]}), Some("`many` must have at most 2 items")),
            (json!({"name": "a", "many": [1, 1]}), Some("`many` has something twice")),
            (json!({"name": "a", "either": 1}), Some("`either` must be a string, not a number")),
            (json!({"name": "a", "one": 6}), Some("`one` fits more than one of the possible shapes")),
            (json!({"name": "a", "same": "u"}), Some("`same` must be \"t\"")),
            (json!({"name": "a", "x": 1}), Some("unknown field `x`")),
        ];
        for (value, wrong) in cases {
            let found = validate(&schema, &value).map_err(|bad| bad.to_string());
            assert_eq!(found.err().as_deref(), wrong, "{value}");
        }
    }

    #[test]
    fn what_is_not_said_has_its_default() {
        let schema = json!({"properties": {
            "a": {"default": 1}, "b": {"default": 2}, "c": {}, "d": {"properties": {"e": {"default": [3]}}},
        }});
        let mut value = json!({"b": null, "d": {}});
        with_defaults(&schema, &mut value);
        assert_eq!(value, json!({"b": null, "d": {"e": [3]}, "a": 1}));
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_ends() {
        let schema = json!({"$ref": "#"});
        assert!(validate(&schema, &json!(1)).is_err());
        let doubling = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        assert!(validate(&doubling, &json!(1)).is_err(), "and at once");
        let tree = json!({"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": false});
        assert!(validate(&tree, &json!({"next": {"next": {}}})).is_ok());
        assert!(validate(&tree, &json!({"next": {"other": {}}})).is_err());
    }
}
