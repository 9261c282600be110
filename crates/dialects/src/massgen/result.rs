//! HookResult: what a hook of this framework answers (DEC-151). Pure.
//!
//! Read key by key: one that is wrong does not count and is noted, but never takes a
//! deny beside it away.

use ona_api::{EventKind, EventName, Ruling};
use ona_hookplane::{HookOutput, Injection};
use serde_json::{Map, Value, json};

pub(super) struct HookResult {
    pub decision: MassgenDecision,
    reason: Option<String>,
    input: Option<Map<String, Value>>,
    injection: Option<Injection>,
    /// Fields that were ignored, and why.
    ignored: Vec<String>,
    /// What the hook itself reports.
    errors: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MassgenDecision {
    /// No objection. Rules and the permission dialog apply as without the hook.
    Allow,
    Ask,
    Deny,
}

impl HookResult {
    pub(super) fn read(fields: &Map<String, Value>) -> Self {
        let mut ignored = Vec::new();
        let decision = decision(fields, &mut ignored);
        let reason = text(fields.get("reason"), "reason", &mut ignored)
            .or_else(|| fields.get("metadata")?.get("reason")?.as_str().map(str::to_owned))
            .filter(|reason| !reason.is_empty());
        let input = input(fields, &mut ignored);
        let injection = injection(fields.get("inject"), &mut ignored);
        let errors = fields.get("hook_errors").and_then(Value::as_array).into_iter().flatten();
        let errors = errors.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned)).collect();
        Self { decision, reason, input, injection, ignored, errors }
    }

    /// `name` is the hook's display name.
    pub(super) fn into_hook_output(self, event: EventName, name: &str) -> HookOutput {
        let mut output = HookOutput { unreadable: !self.ignored.is_empty(), ..HookOutput::default() };
        output.notes.extend(self.ignored.into_iter().map(|why| (EventKind::HookOutputInvalid, why)));
        output.notes.extend(self.errors.into_iter().map(|why| (EventKind::HookError, why)));
        match event {
            EventName::PreToolUse => {
                output.reason = self.reason.unwrap_or_default();
                match self.decision {
                    MassgenDecision::Allow => output.input = self.input,
                    MassgenDecision::Ask => {
                        output.ruling = Some(Ruling::Ask);
                        output.input = self.input;
                    }
                    MassgenDecision::Deny => {
                        output.ruling = Some(Ruling::Deny);
                        // What is wrong besides a no changes nothing about the no.
                        output.unreadable = false;
                        if output.reason.is_empty() {
                            output.reason = format!("Denied by hook {name}");
                        }
                    }
                }
            }
            _ => {
                output.injected.extend(self.injection);
                if self.decision == MassgenDecision::Deny {
                    let why = "the tool has run already: a deny has no effect here".to_owned();
                    output.notes.push((EventKind::HookOutputInvalid, why));
                }
            }
        }
        output
    }
}

fn decision(fields: &Map<String, Value>, ignored: &mut Vec<String>) -> MassgenDecision {
    let decision = match fields.get("decision") {
        None | Some(Value::Null) => MassgenDecision::Allow,
        Some(Value::String(word)) => match word.as_str() {
            "allow" => MassgenDecision::Allow,
            "ask" => MassgenDecision::Ask,
            "deny" => MassgenDecision::Deny,
            other => {
                ignored.push(format!("the decision {other:?} is not allow, deny or ask; it counts as allow"));
                MassgenDecision::Allow
            }
        },
        Some(other) => {
            ignored.push(format!("decision must be a string, not {other}"));
            MassgenDecision::Allow
        }
    };
    match fields.get("allowed") {
        // The older word for the same thing; either of the two is enough for a no.
        Some(Value::Bool(false)) => MassgenDecision::Deny,
        Some(Value::Number(number)) if number.as_f64() == Some(0.0) => MassgenDecision::Deny,
        None | Some(Value::Null | Value::Bool(true)) => decision,
        Some(other) => {
            ignored.push(format!("allowed must be true or false, not {other}"));
            decision
        }
    }
}

fn input(fields: &Map<String, Value>, ignored: &mut Vec<String>) -> Option<Map<String, Value>> {
    if let Some(text) = text(fields.get("modified_args"), "modified_args", ignored) {
        return Some(match serde_json::from_str(&text) {
            Ok(Value::Object(input)) => input,
            _ if text.trim().is_empty() => Map::new(),
            // Any tool rejects an input that is not an object, and reports that to the agent.
            _ => Map::from_iter([("raw".to_owned(), json!(text))]),
        });
    }
    match fields.get("updated_input") {
        None | Some(Value::Null) => None,
        Some(Value::Object(input)) => Some(input.clone()),
        Some(other) => {
            ignored.push(format!("updated_input must be an object, not {other}"));
            None
        }
    }
}

fn injection(inject: Option<&Value>, ignored: &mut Vec<String>) -> Option<Injection> {
    let inject = inject.filter(|inject| !inject.is_null())?;
    let Some(content) = inject.get("content").and_then(Value::as_str) else {
        ignored.push("inject must be an object with a content that is a string".into());
        return None;
    };
    let content = Some(content.to_owned()).filter(|content| !content.is_empty())?;
    Some(match inject.get("strategy").and_then(Value::as_str) {
        Some("user_message") => Injection::UserMessage(content),
        _ => Injection::ToolResult(content),
    })
}

fn text(value: Option<&Value>, name: &str, ignored: &mut Vec<String>) -> Option<String> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => {
            ignored.push(format!("{name} must be a string, not {other}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(event: EventName, result: Value) -> HookOutput {
        HookResult::read(result.as_object().unwrap()).into_hook_output(event, "python_m.f")
    }
    fn pre(result: Value) -> HookOutput {
        parsed(EventName::PreToolUse, result)
    }

    #[test]
    fn mg_5_1b_either_word_for_a_no_denies_and_without_a_reason_the_hook_is_named() {
        let deny = |reason: &str| (Some(Ruling::Deny), reason.to_owned());
        let cases = [
            (json!({"decision": "deny", "reason": "R"}), deny("R")),
            (json!({"decision": "deny"}), deny("Denied by hook python_m.f")),
            (json!({"allowed": false}), deny("Denied by hook python_m.f")),
            (json!({"allowed": false, "decision": "allow", "metadata": {"reason": "M"}}), deny("M")),
            (json!({"allowed": true, "decision": "deny", "reason": 5}), deny("Denied by hook python_m.f")),
            (json!({"decision": "ask", "reason": "why"}), (Some(Ruling::Ask), "why".to_owned())),
            (json!({"decision": "allow"}), (None, String::new())),
            (json!({}), (None, String::new())),
            (json!({"decision": "DENY"}), (None, String::new())),
        ];
        for (result, expected) in cases {
            let output = pre(result.clone());
            assert_eq!((output.ruling, output.reason), expected, "{result}");
        }
    }

    #[test]
    fn mg_x7_modified_args_win_and_a_deny_changes_no_input() {
        let output = pre(json!({"updated_input": {"a": 1}, "modified_args": "{\"b\": 2}"}));
        assert_eq!(output.input, json!({"b": 2}).as_object().cloned());
        assert_eq!(pre(json!({"modified_args": "no"})).input, json!({"raw": "no"}).as_object().cloned());
        assert_eq!(pre(json!({"decision": "deny", "updated_input": {"a": 1}})).input, None);
    }

    #[test]
    fn a_wrong_key_is_noted_and_the_others_count() {
        let output = pre(json!({"decision": "deny", "reason": "R", "updated_input": "x", "inject": 3}));
        assert_eq!((output.ruling, output.unreadable, output.notes.len()), (Some(Ruling::Deny), false, 2));
        assert!(pre(json!({"updated_input": "x"})).unreadable);
    }

    #[test]
    fn after_the_tool_only_an_injection_counts() {
        let result = json!({"decision": "deny", "updated_input": {"a": 1}, "inject": {"content": "C"}});
        let output = parsed(EventName::PostToolUse, result);
        assert_eq!((output.ruling, output.input), (None, None));
        assert_eq!(output.injected, [Injection::ToolResult("C".into())]);
        assert_eq!(output.notes.len(), 1);
        assert_eq!(pre(json!({"inject": {"content": "C"}})).injected, []);
    }

    #[test]
    fn an_unknown_strategy_is_tool_result_and_empty_content_is_nothing() {
        let injected = |inject: Value| parsed(EventName::PostToolUse, json!({"inject": inject})).injected;
        assert_eq!(injected(json!({"content": "C", "strategy": "x"})), [Injection::ToolResult("C".into())]);
        let user = [Injection::UserMessage("C".into())];
        assert_eq!(injected(json!({"content": "C", "strategy": "user_message"})), user);
        assert_eq!(injected(json!({"content": ""})), []);
    }
}
