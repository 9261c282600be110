//! The dialect of Claude Code settings files (DEC-160).
//!
//! It differs from `sdlc` where hooks written for that product rely on it: plain
//! names match exactly, a timeout passes, output is read leniently, `updatedInput`
//! counts only beside an allow, identical handlers of settings files run once.

use crate::lenient::{self, LenientOutput, OutputShape};
use crate::output::{shallow_merge, trimmed, whole};
use crate::sdlc::unreadable;
use ona_api::{EventKind, EventName, Ruling, text};
use ona_hookplane::{
    Dialect, Exit, FailureEffect, Firing, Hook, HookContext, HookExecution, HookOutput, OnTimeout, Timeouts, contract,
};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Longer context is replaced by a preview: characters, and bytes where a session starts.
const CONTEXT_LIMIT: usize = 10_000;
const SESSION_START_CONTEXT_LIMIT: usize = 64 * 1024;
const PREVIEW: usize = 2_000;

#[derive(Debug)]
pub struct Claude {
    /// `effort.level` in stdin.
    pub effort: String,
}

impl Dialect for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        let mut stdin = firing.stdin(input);
        stdin.insert("effort".into(), json!({ "level": self.effort }));
        if let (Some(code), Some(Value::String(error))) = (firing.exit_code, stdin.get_mut("error")) {
            // Hooks of this dialect look for the code in the first line; a result's text has none.
            *error = format!("Exit code {code}\n{error}").trim_end().to_owned();
        }
        Value::Object(stdin)
    }

    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput {
        if ran.exit != Exit::Code(0) {
            return HookOutput::default();
        }
        let mut output = match lenient::read(event, &ran.stdout) {
            OutputShape::Object(answer) => translate(event, answer),
            OutputShape::Async => unreadable(EventKind::HookAsyncRejected, "async:true is not valid control".into()),
            OutputShape::Broken(why) => unreadable(EventKind::HookOutputInvalid, why),
            OutputShape::PlainText => {
                let counts = contract::of(event).plain_text_is_context || event == EventName::Setup;
                let text = trimmed(&ran.stdout);
                HookOutput {
                    context: (counts && !text.is_empty()).then(|| whole(text.to_owned())),
                    ..HookOutput::default()
                }
            }
        };
        output.context = output.context.map(|context| bounded(event, context.text));
        output
    }

    fn updated(&self, current: &Value, update: Map<String, Value>) -> Value {
        shallow_merge(current, update)
    }

    fn timeout(&self, event: EventName, _: &Timeouts) -> Duration {
        // The environment overrides the defaults of sdlc hooks only (DEC-054).
        contract::of(event).default_timeout
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        OnTimeout::Pass
    }

    /// Identical handlers of several settings files count as one, whatever their conditions.
    /// Handlers of a plugin, a skill or an agent are separate, and a handler that is switched
    /// off does not replace another (DEC-043).
    fn is_duplicate(&self, one: &Hook, other: &Hook) -> bool {
        let same = one.action == other.action && one.disabled == other.disabled;
        let origin = one.plugin == other.plugin && one.registered == other.registered;
        same && origin && one.dialect.name() == other.dialect.name()
    }

    /// Adds the first line of the hook's own message, and the fix for a missing transcript,
    /// which such hooks expect and which is off by default.
    fn failing(&self, hook: &Hook, _: EventName, ran: &HookExecution, why: String) -> FailureEffect {
        let first_line = ran.stderr.lines().map(str::trim).find(|line| !line.is_empty());
        let mut why = first_line.map_or_else(|| why.clone(), |line| format!("{why}: {line}"));
        if ran.stderr.contains("transcript_path") {
            why.push_str(" (hooks that read a transcript need the setting claudeCompat.transcriptPath)");
        }
        if hook.fail_closed { FailureEffect::Block(why) } else { FailureEffect::Pass(why) }
    }

    fn reads_transcripts(&self) -> bool {
        true
    }

    /// stderr; if that is empty the reason in valid JSON, else stdout.
    fn truncated_answer_denies(&self) -> bool {
        true
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        let stderr = ran.stderr.trim_end_matches('\n');
        if !stderr.is_empty() {
            return stderr.to_owned();
        }
        let stdout = trimmed(&ran.stdout);
        let reason = text::json::<Value>(stdout).ok().and_then(|answer| {
            let specific = &answer["hookSpecificOutput"]["permissionDecisionReason"];
            specific.as_str().or(answer["reason"].as_str()).map(str::to_owned)
        });
        reason.unwrap_or_else(|| stdout.to_owned())
    }
}

fn translate(event: EventName, answer: LenientOutput) -> HookOutput {
    let system_message = answer.sync.system_message.clone();
    let mut output = answer.sync.into_hook_output(event);
    output.notes = answer.ignored.into_iter().map(|why| (EventKind::HookOutputInvalid, why)).collect();
    if answer.deferred {
        output.ruling = None;
    }
    if output.input.is_some() && output.ruling != Some(Ruling::Allow) {
        output.input = None;
        output
            .notes
            .push((EventKind::HookOutputInvalid, "updatedInput counts only beside permissionDecision allow".into()));
    }
    if output.ruling == Some(Ruling::Deny) && output.reason.is_empty() {
        output.reason = system_message.unwrap_or_default();
    }
    output
}

fn bounded(event: EventName, context: String) -> HookContext {
    let length = context.chars().count();
    let fits = match event {
        EventName::SessionStart => context.len() <= SESSION_START_CONTEXT_LIMIT,
        _ => length <= CONTEXT_LIMIT,
    };
    if fits {
        return whole(context);
    }
    let (preview, _) = text::head(&context, PREVIEW);
    let preview = format!("{preview}\n[{length} characters in all; the session's record has the complete text]");
    HookContext { text: preview, whole: Some(context) }
}
