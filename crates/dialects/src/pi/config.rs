//! From the text of a configuration to its hooks, or to the one reason why it is
//! invalid as a whole (DEC-140).
//!
//! Two forms: the dialect's own, an object of arrays by event, and the same or a
//! Claude-shaped object below a key `hooks`, which is what programs have at hand that
//! already keep such settings.

use crate::entries::flatten;
use crate::lint::{FIELDS, unknown_keys};
use ona_api::EventName;
use serde_json::{Map, Value};
use std::time::Duration;

/// Nobody waits longer for a hook; more would not fit a clock.
const LONGEST_MS: f64 = 1e12;

/// One configured hook.
#[derive(Clone, Debug, PartialEq)]
pub struct PiDefinition {
    pub event: EventName,
    pub command: String,
    /// Started without a shell if there are any.
    pub args: Option<Vec<String>>,
    pub matching: PiMatch,
    /// A permission rule, "" when absent.
    pub condition: String,
    pub timeout: Option<Duration>,
    pub fail_open: bool,
    /// Configured as asynchronous (DEC-047).
    pub detached: bool,
    /// Keys that mean nothing here. They are ignored.
    pub unknown: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PiMatch {
    All,
    /// Native or pi names, exactly.
    Tools(Vec<String>),
    /// The text of a Claude-shaped group.
    Text(String),
}

impl PiDefinition {
    pub fn new(event: EventName, command: &str, matching: PiMatch) -> Self {
        Self {
            event,
            command: command.to_owned(),
            args: None,
            matching,
            condition: String::new(),
            timeout: None,
            fail_open: true,
            detached: false,
            unknown: Vec::new(),
        }
    }
}

/// What a definition may say in the dialect's own form.
const KEYS: [&str; 4] = ["command", "matcher", "timeoutMs", "failOpen"];

pub fn parse(text: &str) -> Result<Vec<PiDefinition>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let config: Value = serde_json::from_str(text).map_err(|_| "invalid JSON".to_owned())?;
    let Value::Object(config) = config else { return Err("hooks must be an object".into()) };
    let Some(Value::Object(wrapped)) = config.get("hooks") else { return events(&config, DefinitionForm::Native) };
    // Whatever else such a settings file holds is not for us, but hooks are never dropped in silence.
    if let Some(event) = config.keys().find(|key| key.parse::<EventName>().is_ok()) {
        return Err(format!("{event} must stand inside hooks"));
    }
    let is_group = |item: &Value| item.get("hooks").is_some();
    let nested = wrapped.values().filter_map(Value::as_array).flatten().any(is_group);
    events(wrapped, if nested { DefinitionForm::Nested } else { DefinitionForm::Flat })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DefinitionForm {
    Native,
    /// As native, below `hooks`.
    Flat,
    /// Groups with a matcher and handlers, below `hooks`.
    Nested,
}

fn events(config: &Map<String, Value>, form: DefinitionForm) -> Result<Vec<PiDefinition>, String> {
    let mut definitions = Vec::new();
    for (name, items) in config {
        let known =
            name.parse::<EventName>().ok().filter(|event| form == DefinitionForm::Nested || super::is_own(*event));
        let event = known.ok_or_else(|| format!("unsupported hook event: {name}"))?;
        let items_list = items.as_array().ok_or_else(|| format!("hooks.{name} must be an array"))?;
        if form == DefinitionForm::Nested {
            nested(event, items, &mut definitions)?;
            continue;
        }
        for (index, item) in items_list.iter().enumerate() {
            let at = ConfigPath(format!("hooks.{name}[{index}]"));
            let item = item.as_object().ok_or_else(|| at.must("be an object"))?;
            definitions.push(flat(event, item, form, &at)?);
        }
    }
    Ok(definitions)
}

/// Where in the configuration something is wrong.
struct ConfigPath(String);

impl ConfigPath {
    fn must(&self, what: &str) -> String {
        format!("{} must {what}", self.0)
    }

    fn key_must(&self, key: &str, what: &str) -> String {
        format!("{}.{key} must {what}", self.0)
    }
}

fn flat(
    event: EventName,
    item: &Map<String, Value>,
    form: DefinitionForm,
    at: &ConfigPath,
) -> Result<PiDefinition, String> {
    let matching = match item.get("matcher") {
        None => PiMatch::All,
        Some(Value::Object(matcher)) => tools(matcher, at)?,
        Some(Value::String(text)) if form == DefinitionForm::Flat => PiMatch::Text(text.clone()),
        Some(_) => return Err(at.key_must("matcher", "be an object")),
    };
    let mut definition = common(event, item, matching, at)?;
    match form {
        DefinitionForm::Native => definition.unknown = unknown_keys(item, &KEYS).cloned().collect(),
        DefinitionForm::Flat | DefinitionForm::Nested => extras(&mut definition, item, at)?,
    }
    definition.timeout = match item.get("timeoutMs") {
        Some(value) => Some(millis(value, 1.0).ok_or_else(|| at.key_must("timeoutMs", "be a positive number"))?),
        None if form == DefinitionForm::Flat => seconds(item, at)?,
        None => None,
    };
    Ok(definition)
}

fn tools(matcher: &Map<String, Value>, at: &ConfigPath) -> Result<PiMatch, String> {
    let wrong = || at.key_must("matcher.toolNames", "be an array of strings");
    match matcher.get("toolNames") {
        None => Ok(PiMatch::All),
        Some(names) => {
            let names = names.as_array().ok_or_else(wrong)?.iter();
            let names: Option<Vec<_>> = names.map(|name| name.as_str().map(str::to_owned)).collect();
            names.map(PiMatch::Tools).ok_or_else(wrong)
        }
    }
}

/// The handlers below one event of a Claude-shaped object.
fn nested(event: EventName, items: &Value, definitions: &mut Vec<PiDefinition>) -> Result<(), String> {
    let (entries, misshapen) = flatten(&Value::Object(Map::from_iter([(event.as_str().to_owned(), items.clone())])));
    if let Some(bad) = misshapen.first() {
        return Err(format!("hooks.{event}: {}", bad.why));
    }
    for (index, entry) in entries.iter().enumerate() {
        let at = ConfigPath(format!("hooks.{event} handler {index}"));
        let matching = match entry.matcher.as_ref().or(entry.handler.get("matcher")) {
            None | Some(Value::Null) => PiMatch::All,
            Some(Value::String(text)) => PiMatch::Text(text.clone()),
            Some(Value::Object(matcher)) => tools(matcher, &at)?,
            Some(_) => return Err(at.key_must("matcher", "be a string")),
        };
        let mut definition = common(event, &entry.handler, matching, &at)?;
        extras(&mut definition, &entry.handler, &at)?;
        definition.timeout = seconds(&entry.handler, &at)?;
        definitions.push(definition);
    }
    Ok(())
}

fn common(
    event: EventName,
    item: &Map<String, Value>,
    matching: PiMatch,
    at: &ConfigPath,
) -> Result<PiDefinition, String> {
    let command = item.get("command").and_then(Value::as_str).filter(|command| !command.trim().is_empty());
    let command = command.ok_or_else(|| at.key_must("command", "be a non-empty string"))?;
    let mut definition = PiDefinition::new(event, command, matching);
    definition.fail_open = match item.get("failOpen") {
        None => true,
        Some(value) => value.as_bool().ok_or_else(|| at.key_must("failOpen", "be a boolean"))?,
    };
    Ok(definition)
}

/// What handlers in settings files can say beyond the dialect's own words.
fn extras(definition: &mut PiDefinition, item: &Map<String, Value>, at: &ConfigPath) -> Result<(), String> {
    definition.condition = match item.get("if") {
        None | Some(Value::Null) => String::new(),
        Some(rule) => rule.as_str().ok_or_else(|| at.key_must("if", "be a string"))?.to_owned(),
    };
    if let Some(args) = item.get("args").filter(|args| !args.is_null()) {
        let words = args.as_array().map(|words| words.iter().map(|word| word.as_str().map(str::to_owned)).collect());
        let words: Option<Vec<_>> = words.unwrap_or_default();
        definition.args = Some(words.ok_or_else(|| at.key_must("args", "be an array of strings"))?);
    }
    let known = [&FIELDS[..], &KEYS].concat();
    definition.unknown = unknown_keys(item, &known).cloned().collect();
    definition.detached = ["async", "asyncRewake"].iter().any(|key| item.get(*key) == Some(&Value::Bool(true)));
    Ok(())
}

fn seconds(item: &Map<String, Value>, at: &ConfigPath) -> Result<Option<Duration>, String> {
    match item.get("timeout").filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => {
            let wrong = || at.key_must("timeout", "be a positive number");
            millis(value, 1000.0).map(Some).ok_or_else(wrong)
        }
    }
}

fn millis(value: &Value, unit: f64) -> Option<Duration> {
    let number = value.as_f64().filter(|number| number.is_finite() && *number > 0.0)?;
    Some(Duration::from_secs_f64((number * unit).min(LONGEST_MS) / 1000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_its_default_and_its_type() {
        let config = r#"{"PreToolUse":[{"command":"g","matcher":{"toolNames":["bash"]},"timeoutMs":300,"failOpen":false},
            {"command":"h","matcher":{},"note":1}],"SessionStart":[]}"#;
        let pre = |command, matching| PiDefinition::new(EventName::PreToolUse, command, matching);
        let first = PiDefinition {
            timeout: Some(Duration::from_millis(300)),
            fail_open: false,
            ..pre("g", PiMatch::Tools(vec!["bash".into()]))
        };
        let second = PiDefinition { unknown: vec!["note".into()], ..pre("h", PiMatch::All) };
        assert_eq!(parse(config), Ok(vec![first, second]));
        assert_eq!(parse("{}"), Ok(vec![]));
    }

    /// P6, P7 and the rest of the schema: one bad word invalidates the whole.
    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        let in_pre = |fields: &str| format!(r#"{{"PreToolUse":[{{"command":"true"}},{{{fields}}}]}}"#);
        let cases = [
            ("{".to_owned(), "invalid JSON"),
            ("{} x".to_owned(), "invalid JSON"),
            ("[]".to_owned(), "hooks must be an object"),
            (r#"{"UnknownEvent":[]}"#.to_owned(), "unsupported hook event: UnknownEvent"),
            (r#"{"pretooluse":[]}"#.to_owned(), "unsupported hook event: pretooluse"),
            (r#"{"Stop":[]}"#.to_owned(), "unsupported hook event: Stop"),
            (r#"{"hooks":[]}"#.to_owned(), "unsupported hook event: hooks"),
            (r#"{"PreToolUse":{}}"#.to_owned(), "hooks.PreToolUse must be an array"),
            (r#"{"PreToolUse":["x"]}"#.to_owned(), "hooks.PreToolUse[0] must be an object"),
            (in_pre(r#""command":"  ""#), "hooks.PreToolUse[1].command must be a non-empty string"),
            (in_pre(r#""command":7"#), "hooks.PreToolUse[1].command must be a non-empty string"),
            (in_pre(""), "hooks.PreToolUse[1].command must be a non-empty string"),
            (in_pre(r#""command":"x","timeoutMs":0"#), "hooks.PreToolUse[1].timeoutMs must be a positive number"),
            (in_pre(r#""command":"x","timeoutMs":"5""#), "hooks.PreToolUse[1].timeoutMs must be a positive number"),
            (in_pre(r#""command":"x","failOpen":"no""#), "hooks.PreToolUse[1].failOpen must be a boolean"),
            (in_pre(r#""command":"x","matcher":"Bash""#), "hooks.PreToolUse[1].matcher must be an object"),
            (
                in_pre(r#""command":"x","matcher":{"toolNames":[1]}"#),
                "hooks.PreToolUse[1].matcher.toolNames must be an array of strings",
            ),
            (
                in_pre(r#""command":"x","matcher":{"toolNames":"Bash"}"#),
                "hooks.PreToolUse[1].matcher.toolNames must be an array of strings",
            ),
            (r#"{"hooks":{"Stop":[{"command":"x"}]}}"#.to_owned(), "unsupported hook event: Stop"),
            (r#"{"hooks":{"Nope":[{"hooks":[]}]}}"#.to_owned(), "unsupported hook event: Nope"),
            (
                r#"{"hooks":{"Stop":[{"hooks":[{"type":"http","url":"u"}]}]}}"#.to_owned(),
                "hooks.Stop handler 0.command must be a non-empty string",
            ),
            (r#"{"hooks":{},"PreToolUse":[]}"#.to_owned(), "PreToolUse must stand inside hooks"),
        ];
        for (config, reason) in cases {
            assert_eq!(parse(&config), Err(reason.to_owned()), "{config}");
        }
    }

    #[test]
    fn wrapped_configurations_are_read_in_both_shapes() {
        let flat = r#"{"hooks":{"PreToolUse":[{"command":"x","matcher":"Bash","timeoutMs":10}]},"permissions":{}}"#;
        let expected = PiDefinition {
            timeout: Some(Duration::from_millis(10)),
            ..PiDefinition::new(EventName::PreToolUse, "x", PiMatch::Text("Bash".into()))
        };
        assert_eq!(parse(flat), Ok(vec![expected]));
        let nested = r#"{"hooks":{"Stop":[{"matcher":"","hooks":[{"type":"command","command":"x","timeout":2}]}]}}"#;
        let expected = PiDefinition {
            timeout: Some(Duration::from_secs(2)),
            ..PiDefinition::new(EventName::Stop, "x", PiMatch::Text(String::new()))
        };
        assert_eq!(parse(nested), Ok(vec![expected]));
    }
}
