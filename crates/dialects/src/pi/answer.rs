//! What the output of a hook means (000, sections 2 to 4; DEC-142).

use super::redact;
use crate::output::{trimmed, whole};
use ona_api::{EventKind, EventName, Ruling, text};
use ona_hookplane::{HookExecution, HookOutput};
use serde_json::{Map, Value};

const BLOCKED: &str = "Tool call blocked by hook";
const BLOCKED_BY_FAILURE: &str = "Tool call blocked by hook failure";

/// Bytes of plain text that become context; structured context has no limit.
const PLAIN_CONTEXT: usize = 16 * 1024;

/// From mild to strict, so that `max` is the stricter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PiDecision {
    Allow,
    Ask,
    Deny,
}

impl PiDecision {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            PiDecision::Allow => "allow",
            PiDecision::Ask => "ask",
            PiDecision::Deny => "deny",
        }
    }

    /// Also accepts the words of the other dialects.
    fn read(word: &Value) -> Option<Self> {
        match word.as_str()? {
            "allow" | "approve" => Some(PiDecision::Allow),
            "ask" => Some(PiDecision::Ask),
            "deny" | "block" => Some(PiDecision::Deny),
            _ => None,
        }
    }
}

/// What stdout of a successful run holds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct PiAnswer {
    pub decision: Option<PiDecision>,
    pub reason: Option<String>,
    /// `Some("")`: asked for none, not even the plain text.
    pub context: Option<String>,
    pub update: Option<Map<String, Value>>,
    /// An object was printed: control, not text.
    pub structured: bool,
    /// What was there and did not count.
    pub warnings: Vec<String>,
}

pub(super) fn answer(event: EventName, stdout: &str) -> PiAnswer {
    let text = trimmed(stdout);
    if event == EventName::PreToolUse
        && let Some(object) = behind_noise(text)
    {
        return fields(event, &object);
    }
    if event == EventName::PreCompact || !text.starts_with('{') {
        return PiAnswer::default();
    }
    match text::json::<Map<String, Value>>(text) {
        Ok(object) => fields(event, &object),
        Err(error) => PiAnswer {
            warnings: vec![format!("its output starts with {{ but is not JSON: {error}")],
            ..PiAnswer::default()
        },
    }
}

/// A login shell's profile may print something first. A deny must not get lost behind it,
/// and before a tool plain text means nothing.
fn behind_noise(text: &str) -> Option<Map<String, Value>> {
    let at = text.find("\n{").filter(|_| !text.starts_with('{'))?;
    text::json(&text[at + 1..]).ok()
}

fn fields(event: EventName, object: &Map<String, Value>) -> PiAnswer {
    let mut warnings = Vec::new();
    let nothing = Map::new();
    let nested = match object.get("hookSpecificOutput") {
        None => &nothing,
        Some(Value::Object(arm)) if arm.get("hookEventName").and_then(Value::as_str) == Some(event.as_str()) => arm,
        Some(_) => {
            warnings.push(format!("hookSpecificOutput is ignored: its hookEventName is not {event}"));
            &nothing
        }
    };
    let decides = event != EventName::SessionStart;
    let mut decision = |from: &Map<String, Value>, key: &str| {
        let word = from.get(key).filter(|_| decides)?;
        let read = PiDecision::read(word);
        if read.is_none() && word != "defer" {
            let word = redact::redact(&word.to_string()).into_owned();
            warnings.push(format!("{key} {word} is ignored: it must be allow, deny or ask"));
        }
        read
    };
    let plain = decision(object, "decision");
    let specific = decision(nested, "permissionDecision");
    let mut text = |from: &Map<String, Value>, key: &str| match from.get(key) {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => {
            warnings.push(format!("{key} is ignored: it must be a string"));
            None
        }
    };
    let reason = text(object, "reason");
    let nested_reason = text(nested, "permissionDecisionReason");
    let context = text(nested, "additionalContext").or_else(|| text(object, "additionalContext"));
    let update = nested.get("updatedInput").or(object.get("updatedInput"));
    let update = match update.filter(|_| event == EventName::PreToolUse) {
        None => None,
        Some(Value::Object(update)) => Some(update.clone()),
        Some(_) => {
            warnings.push("updatedInput is ignored: it must be an object".into());
            None
        }
    };
    let decision = plain.max(specific);
    let reason = if specific == decision { nested_reason.or(reason) } else { reason.or(nested_reason) };
    PiAnswer { decision, reason, context, update, structured: true, warnings }
}

pub(super) fn translate(event: EventName, ran: &HookExecution) -> HookOutput {
    let answer = answer(event, &ran.stdout);
    let denies = answer.decision == Some(PiDecision::Deny);
    let mut context = context(event, &answer, ran);
    let mut output = HookOutput {
        notes: answer.warnings.into_iter().map(|why| (EventKind::HookOutputInvalid, why)).collect(),
        ..HookOutput::default()
    };
    if event == EventName::PreToolUse {
        if denies {
            output.ruling = Some(Ruling::Deny);
            output.reason = redact::shown(answer.reason.as_deref().unwrap_or(BLOCKED)).text;
        } else {
            output.input = answer.update;
        }
    } else if denies {
        // Too late to stop anything: the model hears why it should not have been done.
        context.extend(answer.reason.filter(|reason| !reason.is_empty()));
    }
    output.context = (!context.is_empty()).then(|| whole(context.join("\n\n")));
    output
}

/// Returns the hook's one contribution, if it has any.
fn context(event: EventName, answer: &PiAnswer, ran: &HookExecution) -> Vec<String> {
    if let Some(text) = &answer.context {
        return Some(text.clone()).filter(|text| !text.is_empty()).into_iter().collect();
    }
    let counts = matches!(event, EventName::SessionStart | EventName::PostToolUse | EventName::PostToolUseFailure);
    if answer.structured || !counts {
        return Vec::new();
    }
    let text = joined(ran);
    if text.len() <= PLAIN_CONTEXT {
        return Some(text).filter(|text| !text.is_empty()).into_iter().collect();
    }
    let end = text.floor_char_boundary(PLAIN_CONTEXT);
    vec![format!("{}{}", &text[..end], redact::TRUNCATED)]
}

/// Both streams, stdout first.
fn joined(ran: &HookExecution) -> String {
    let parts = [trimmed(&ran.stdout), ran.stderr.trim()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

pub(super) fn block_message(ran: &HookExecution) -> String {
    let reason = text::json::<Value>(trimmed(&ran.stdout)).ok();
    let reason = reason.and_then(|answer| answer.get("reason")?.as_str().map(str::to_owned));
    message(reason.unwrap_or_else(|| joined(ran)), BLOCKED)
}

pub(super) fn failure_message(ran: &HookExecution) -> String {
    message(joined(ran), BLOCKED_BY_FAILURE)
}

fn message(text: String, otherwise: &str) -> String {
    redact::shown(if text.is_empty() { otherwise } else { &text }).text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_hookplane::{Exit, HookContext};

    fn ran(stdout: &str, stderr: &str) -> HookExecution {
        HookExecution::ended(String::new(), Exit::Code(0), stdout.to_owned(), stderr.to_owned())
    }

    fn answer(event: EventName, stdout: &str) -> HookOutput {
        translate(event, &ran(stdout, ""))
    }

    fn text(output: HookOutput) -> Option<String> {
        output.context.map(|HookContext { text, .. }| text)
    }

    /// P40 to P45 as far as stdout decides; the rest is exit codes, which are not read here.
    #[test]
    fn a_decision_denies_or_has_no_effect() {
        let deny = |reason: &str| (Some(Ruling::Deny), reason.to_owned(), 0);
        let none = |warnings: usize| (None, String::new(), warnings);
        let arm = |decision: &str| {
            format!(
                r#""hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":"n"}}"#
            )
        };
        let cases = [
            (r#"{"decision":"deny","reason":"no"}"#.to_owned(), deny("no")),
            (r#"{"decision":"block","reason":"no"}"#.to_owned(), deny("no")),
            (r#"{"decision":"deny"}"#.to_owned(), deny(BLOCKED)),
            ("\u{feff} \n{\"decision\":\"deny\"}\n".to_owned(), deny(BLOCKED)),
            ("Welcome to {host}\n{\"decision\":\"deny\"}".to_owned(), deny(BLOCKED)),
            ("usage:\n{a|b}\n".to_owned(), none(0)),
            (r#"{"decision":"allow"}"#.to_owned(), none(0)),
            (r#"{"decision":"approve"}"#.to_owned(), none(0)),
            (r#"{"decision":"ask","reason":"r"}"#.to_owned(), none(0)),
            (r#"{"decision":"maybe"}"#.to_owned(), none(1)),
            (r#"{"decision":7}"#.to_owned(), none(1)),
            (r#"{"decision":"#.to_owned(), none(1)),
            (r#"["deny"]"#.to_owned(), none(0)),
            ("plain text".to_owned(), none(0)),
            (format!("{{{}}}", arm("deny")), deny("n")),
            (format!(r#"{{"decision":"allow",{}}}"#, arm("deny")), deny("n")),
            (format!(r#"{{"decision":"deny","reason":"p",{}}}"#, arm("allow")), deny("p")),
            (r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#.to_owned(), none(1)),
        ];
        for (stdout, expected) in cases {
            let output = answer(EventName::PreToolUse, &stdout);
            assert_eq!((output.ruling, output.reason, output.notes.len()), expected, "{stdout}");
        }
    }

    /// P46, P48, P49, P51.
    #[test]
    fn an_update_is_an_object_beside_anything_but_a_deny() {
        let update = |stdout: &str| answer(EventName::PreToolUse, stdout).input.map(Value::Object);
        let expected = Some(serde_json::json!({"command": "echo B"}));
        assert_eq!(update(r#"{"updatedInput":{"command":"echo B"}}"#), expected);
        assert_eq!(update(r#"{"decision":"ask","tool_name":"Write","updatedInput":{"command":"echo B"}}"#), expected);
        assert_eq!(update(r#"{"decision":"deny","updatedInput":{"command":"echo B"}}"#), None);
        assert_eq!(update(r#"{"updatedInput":["x"]}"#), None);
        assert_eq!(answer(EventName::PreToolUse, r#"{"updatedInput":["x"]}"#).notes.len(), 1);
        assert_eq!(answer(EventName::PostToolUse, r#"{"updatedInput":{"a":1}}"#).input, None);
    }

    /// P52, P53.
    #[test]
    fn context_is_the_field_else_the_text_where_text_counts() {
        use EventName::{PostToolUse, PostToolUseFailure, PreCompact, PreToolUse, SessionStart};
        let field = r#"{"additionalContext":"one"}"#;
        for event in [SessionStart, PreToolUse, PostToolUse, PostToolUseFailure] {
            assert_eq!(text(answer(event, field)).as_deref(), Some("one"), "{event}");
            assert_eq!(text(answer(event, r#"{"additionalContext":""}"#)), None, "{event}");
            assert_eq!(text(answer(event, r#"{"decision":"allow"}"#)), None, "{event}");
        }
        for (event, counts) in [
            (SessionStart, true),
            (PostToolUse, true),
            (PostToolUseFailure, true),
            (PreToolUse, false),
            (PreCompact, false),
        ] {
            let found = text(translate(event, &ran(" out \n", " err\n")));
            assert_eq!(found.as_deref(), counts.then_some("out\nerr"), "{event}");
        }
        assert_eq!(text(answer(PostToolUse, "{broken")).as_deref(), Some("{broken"));
        assert_eq!(text(answer(PreCompact, field)), None);
        let denied = answer(PostToolUse, r#"{"decision":"deny","reason":"why","additionalContext":"one"}"#);
        assert_eq!((denied.ruling, text(denied).as_deref()), (None, Some("one\n\nwhy")));
    }

    #[test]
    fn plain_context_has_a_limit_and_structured_context_has_none() {
        let long = "é".repeat(PLAIN_CONTEXT);
        let plain = text(answer(EventName::SessionStart, &long)).unwrap();
        assert_eq!(plain, format!("{}{}", "é".repeat(PLAIN_CONTEXT / 2), redact::TRUNCATED));
        let field = serde_json::json!({ "additionalContext": long }).to_string();
        assert_eq!(text(answer(EventName::SessionStart, &field)), Some(long));
    }

    #[test]
    fn a_block_says_the_reason_else_both_streams_else_the_fixed_words() {
        assert_eq!(block_message(&ran(r#"{"reason":"why"}"#, "err")), "why");
        assert_eq!(block_message(&ran("out\n", "err\n")), "out\nerr");
        assert_eq!(block_message(&ran("", "")), BLOCKED);
        assert_eq!(failure_message(&ran("", "")), BLOCKED_BY_FAILURE);
    }
}
