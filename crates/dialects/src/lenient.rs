//! Parses stdout the way existing hooks need it: a known key of a wrong type loses that
//! key only, and output of a login shell before the JSON is skipped.
//!
//! Lenient does not mean permissive: a misspelled decision does not count, and what was
//! ignored is reported.

use crate::output::SyncOutput;
use crate::strict::{as_decision, request_decision};
use ona_api::{EventName, text};
use serde_json::{Map, Value};

#[derive(Debug, Default, PartialEq)]
pub(crate) struct LenientOutput {
    pub sync: SyncOutput,
    /// Fields that were ignored, and why.
    pub ignored: Vec<String>,
    /// `permissionDecision: "defer"`: no opinion, on purpose (DEC-161).
    pub deferred: bool,
}

pub(crate) enum OutputShape {
    Object(LenientOutput),
    Async,
    /// No JSON object.
    PlainText,
    Broken(String),
}

/// Every known key at the top level.
const KEYS: [&str; 7] =
    ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason", "hookSpecificOutput"];

pub(crate) fn read(event: EventName, stdout: &str) -> OutputShape {
    let text = crate::output::trimmed(stdout);
    let json = if text.starts_with('{') { Some(text) } else { from_first_brace_line(text) };
    let Some(json) = json else { return OutputShape::PlainText };
    match text::json::<Map<String, Value>>(json) {
        Ok(object) if object.get("async") == Some(&Value::Bool(true)) => OutputShape::Async,
        // A text that quotes some object is a text; noise is followed by an answer.
        Ok(object) if !text.starts_with('{') && !KEYS.iter().any(|key| object.contains_key(*key)) => {
            OutputShape::PlainText
        }
        Ok(object) => OutputShape::Object(fields(event, object)),
        // Text that merely has a line with a brace in it is text.
        Err(_) if !text.starts_with('{') => OutputShape::PlainText,
        Err(error) => OutputShape::Broken(format!("not one JSON value: {error}")),
    }
}

fn from_first_brace_line(text: &str) -> Option<&str> {
    text.match_indices("\n{").next().map(|(at, _)| &text[at + 1..])
}

fn fields(event: EventName, mut object: Map<String, Value>) -> LenientOutput {
    // Many serialisers write absent values as null.
    object.retain(|_, value| !value.is_null());
    let mut ignored = Vec::new();
    let mut take = |name: &str, expected: &str, fits: bool| {
        if !fits {
            ignored.push(format!("{name} must be {expected}"));
        }
    };
    let get = |name: &str| object.get(name);
    let text = |name: &str| get(name).and_then(Value::as_str).map(str::to_owned);
    for name in ["stopReason", "systemMessage", "reason"] {
        take(name, "a string", get(name).is_none_or(Value::is_string));
    }
    for name in ["continue", "suppressOutput"] {
        take(name, "true or false", get(name).is_none_or(Value::is_boolean));
    }
    take("decision", "approve or block", get("decision").is_none_or(|value| as_decision(value).is_some()));
    let (specific, deferred) = specific(event, get("hookSpecificOutput"), &mut ignored);
    let sync = SyncOutput {
        go_on: get("continue").and_then(Value::as_bool),
        suppress_output: get("suppressOutput").and_then(Value::as_bool).unwrap_or_default(),
        stop_reason: text("stopReason"),
        decision: get("decision").and_then(as_decision),
        system_message: text("systemMessage"),
        reason: text("reason"),
        specific,
    };
    LenientOutput { sync, ignored, deferred }
}

fn specific(event: EventName, arm: Option<&Value>, ignored: &mut Vec<String>) -> (Map<String, Value>, bool) {
    let mut known = Map::new();
    let Some(arm) = arm else { return (known, false) };
    let Some(arm) = arm.as_object() else {
        ignored.push("hookSpecificOutput must be an object".to_owned());
        return (known, false);
    };
    if arm.get("hookEventName").and_then(Value::as_str) != Some(event.as_str()) {
        ignored.push(format!("hookSpecificOutput.hookEventName must be {event}"));
        return (known, false);
    }
    let Some(fields) = event.output_arm() else {
        // The name alone has no effect, and that is not a mistake.
        if arm.len() > 1 {
            ignored.push(format!("hookSpecificOutput has no effect on {event}"));
        }
        return (known, false);
    };
    let deferred = arm.get("permissionDecision").and_then(Value::as_str) == Some("defer");
    for field in fields {
        let Some(value) = arm.get(field.name).filter(|value| !value.is_null()) else { continue };
        let usable = field.kind.accepts(value) && (field.name != "decision" || request_decision(value).is_ok());
        if usable {
            known.insert(field.name.to_owned(), value.clone());
        } else if !(deferred && field.name == "permissionDecision") {
            ignored.push(format!("hookSpecificOutput.{} must be {}", field.name, field.kind));
        }
    }
    (known, deferred)
}
