//! Turns the fields of a sync object (Appendix B) into the output of a hook.
//!
//! The fields have been checked before.

use ona_api::{EventName, Ruling};
use ona_hookplane::{HookContext, HookOutput};
use serde_json::{Map, Value};

/// The well-formed part of a hook's output.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SyncOutput {
    pub go_on: Option<bool>,
    pub suppress_output: bool,
    pub stop_reason: Option<String>,
    pub decision: Option<BlockDecision>,
    pub system_message: Option<String>,
    pub reason: Option<String>,
    /// The arm of this event, without `hookEventName`.
    pub specific: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockDecision {
    Approve,
    Block,
}

impl SyncOutput {
    pub(crate) fn into_hook_output(mut self, event: EventName) -> HookOutput {
        let mut output = HookOutput {
            suppress_output: self.suppress_output,
            context: self.take_text("additionalContext").filter(|text| !text.is_empty()).map(whole),
            stop: (self.go_on == Some(false)).then(|| self.stop_reason.take().unwrap_or_default()),
            ..HookOutput::default()
        };
        self.decide(event, &mut output);
        output.system_message = self.system_message;
        output.specific = self.specific;
        output
    }

    /// DEC-049: what `decision` does depends on the event.
    fn decide(&mut self, event: EventName, output: &mut HookOutput) {
        let reason = self.reason.clone().unwrap_or_default();
        match event {
            EventName::PreToolUse => {
                let specific = self.take_text("permissionDecision");
                let why = self.take_text("permissionDecisionReason");
                output.input = match self.specific.shift_remove("updatedInput") {
                    Some(Value::Object(update)) => Some(update),
                    _ => None,
                };
                output.ruling = match (specific.as_deref(), self.decision) {
                    (Some("allow"), _) => Some(Ruling::Allow),
                    (Some("ask"), _) => Some(Ruling::Ask),
                    (Some("deny"), _) => Some(Ruling::Deny),
                    (_, Some(BlockDecision::Approve)) => Some(Ruling::Allow),
                    (_, Some(BlockDecision::Block)) => Some(Ruling::Deny),
                    (_, None) => None,
                };
                output.reason = why.unwrap_or(reason);
            }
            EventName::UserPromptSubmit
            | EventName::PostToolUse
            | EventName::PostToolUseFailure
            | EventName::Stop
            | EventName::SubagentStop
            | EventName::ConfigChange => {
                output.block = (self.decision == Some(BlockDecision::Block)).then_some(reason);
            }
            _ => {}
        }
    }

    fn take_text(&mut self, name: &str) -> Option<String> {
        match self.specific.shift_remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }
}

pub(crate) fn whole(text: String) -> HookContext {
    HookContext { text, whole: None }
}

/// Names an update may never set, at any depth: they would reach prototypes in
/// programs that read the input later (DEC-051).
const FORBIDDEN_KEYS: [&str; 3] = ["__proto__", "prototype", "constructor"];

/// Returns the current input with the update's top-level keys laid over it.
pub(crate) fn shallow_merge(current: &Value, update: Map<String, Value>) -> Value {
    let mut merged = current.as_object().cloned().unwrap_or_default();
    for (key, value) in update {
        if !FORBIDDEN_KEYS.contains(&key.as_str()) {
            merged.insert(key, without_forbidden(value));
        }
    }
    Value::Object(merged)
}

pub(crate) fn without_forbidden(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(key, _)| !FORBIDDEN_KEYS.contains(&key.as_str()))
            .map(|(key, value)| (key, without_forbidden(value)))
            .collect(),
        Value::Array(items) => items.into_iter().map(without_forbidden).collect(),
        other => other,
    }
}

/// stdout after what may precede a JSON value: a BOM and ASCII white space (DEC-048).
pub(crate) fn trimmed(stdout: &str) -> &str {
    stdout.trim_start_matches('\u{feff}').trim_matches(|c: char| c.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn merging_keeps_what_the_update_does_not_name_and_drops_prototype_keys() {
        let update = json!({"b": {"__proto__": 1, "c": [{"constructor": 2, "d": 3}]}, "prototype": 4});
        let merged = shallow_merge(&json!({"a": 1, "b": 2}), update.as_object().unwrap().clone());
        assert_eq!(merged, json!({"a": 1, "b": {"c": [{"d": 3}]}}));
    }
}
