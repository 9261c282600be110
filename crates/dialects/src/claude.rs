//! The dialect of Claude Code settings files (DEC-160).
//!
//! It differs from `sdlc` where hooks written for that product rely on it: plain
//! names match exactly, a timeout passes, output is read leniently, `updatedInput`
//! counts only beside an allow, identical handlers of settings files run once.

use crate::lenient::{self, Lenient, Read};
use crate::output::{shallow_merge, trimmed, whole};
use crate::sdlc::unreadable;
use ona_api::{EventKind, EventName, Ruling, text};
use ona_hookplane::{Context, Dialect, Exit, Firing, OnTimeout, Ran, Said, Timeouts, contract};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Longer context is replaced by a preview.
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
        Value::Object(stdin)
    }

    fn said(&self, event: EventName, ran: &Ran) -> Said {
        if ran.exit != Exit::Code(0) {
            return Said::default();
        }
        let mut said = match lenient::read(event, &ran.stdout) {
            Read::Object(answer) => translate(event, answer),
            Read::Async => unreadable(EventKind::HookAsyncRejected, "async:true is not valid control".into()),
            Read::Broken(why) => unreadable(EventKind::HookOutputInvalid, why),
            Read::PlainText => {
                let counts = contract::of(event).plain_text_is_context || event == EventName::Setup;
                let text = trimmed(&ran.stdout);
                Said { context: (counts && !text.is_empty()).then(|| whole(text.to_owned())), ..Said::default() }
            }
        };
        said.context = said.context.map(|context| bounded(event, context.text));
        said
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

    fn runs_twins_once(&self) -> bool {
        true
    }

    fn reads_transcripts(&self) -> bool {
        true
    }

    /// stderr; if that is empty the reason in valid JSON, else stdout.
    fn block_message(&self, ran: &Ran) -> String {
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

fn translate(event: EventName, answer: Lenient) -> Said {
    let system_message = answer.sync.system_message.clone();
    let mut said = answer.sync.said(event);
    said.notes = answer.ignored.into_iter().map(|why| (EventKind::HookOutputInvalid, why)).collect();
    if answer.deferred {
        said.ruling = None;
        said.input = None;
    }
    if said.input.is_some() && said.ruling != Some(Ruling::Allow) {
        said.input = None;
        said.notes
            .push((EventKind::HookOutputInvalid, "updatedInput counts only beside permissionDecision allow".into()));
    }
    if said.ruling == Some(Ruling::Deny) && said.reason.is_empty() {
        said.reason = system_message.unwrap_or_default();
    }
    said
}

fn bounded(event: EventName, context: String) -> Context {
    let limit = if event == EventName::SessionStart { SESSION_START_CONTEXT_LIMIT } else { CONTEXT_LIMIT };
    let length = context.chars().count();
    if length <= limit {
        return whole(context);
    }
    let (preview, _) = text::head(&context, PREVIEW);
    let preview =
        format!("{preview}\n[{length} characters in all; the whole text is attached to the session's record]");
    Context { text: preview, whole: Some(context) }
}
