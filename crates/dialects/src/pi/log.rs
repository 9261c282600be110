//! The log entry of one run, and the message for the operator (000, section 5).
//!
//! Keys and their order are fixed. The stdin of a hook and its environment are never
//! logged.

use super::answer::{self, PiDecision};
use super::redact::{self, Shown};
use super::source::PiSource;
use super::{builtin, is_own};
use ona_api::EventName;
use ona_hookplane::{Exit, Hook, HookExecution, LogEntry};
use serde_json::{Map, Value};
use std::time::Duration;

/// Characters of a reason in a line for people.
const LINE: usize = 160;

pub(super) fn entry(source: PiSource, hook: &Hook, ran: &HookExecution, took: Duration) -> LogEntry {
    let end = End::of(hook, ran);
    let stdout = redact::shown(&ran.stdout);
    let stderr = redact::shown(match &ran.exit {
        Exit::NotStarted(why) => why,
        _ => &ran.stderr,
    });
    let reason = end.reason.as_deref().map(redact::shown);
    let command = redact::redact(hook.command());
    let warnings = end.warnings(source, hook, &command, reason.as_ref());

    let mut record = Map::new();
    let mut put = |key: &str, value: Value| drop(record.insert(key.to_owned(), value));
    put("eventName", hook.event.as_str().into());
    put("command", command.as_ref().into());
    put("configSourceName", source.as_str().into());
    put("code", end.code.into());
    put("durationMs", u64::try_from(took.as_millis()).unwrap_or(u64::MAX).into());
    let both = [&stdout, &stderr];
    let streams_redacted = both.iter().any(|shown| shown.redacted);
    let streams_truncated = both.iter().any(|shown| shown.truncated);
    let (stdout_truncated, stderr_truncated) = (stdout.truncated, stderr.truncated);
    put("stdout", stdout.text.into());
    put("stderr", stderr.text.into());
    put("timedOut", end.timed_out().into());
    put("failed", end.failed().into());
    if let Some(decision) = end.decision {
        put("decision", decision.as_str().into());
    }
    if let Some(reason) = &reason {
        put("reason", reason.text.clone().into());
    }
    let command_redacted = matches!(command, std::borrow::Cow::Owned(_));
    let reason_redacted = reason.as_ref().is_some_and(|reason| reason.redacted);
    put("redacted", (streams_redacted || command_redacted || reason_redacted).into());
    put("stdoutTruncated", stdout_truncated.into());
    put("stderrTruncated", stderr_truncated.into());
    put("truncated", (streams_truncated || reason.as_ref().is_some_and(|reason| reason.truncated)).into());
    LogEntry { record, warnings }
}

/// How a run ended, as the log writes it.
struct End<'a> {
    exit: &'a Exit,
    /// 1 for what has no exit code.
    code: i32,
    decision: Option<PiDecision>,
    reason: Option<String>,
    /// The hook stops the call.
    blocks: bool,
    complaints: Vec<String>,
}

impl<'a> End<'a> {
    fn of(hook: &Hook, ran: &'a HookExecution) -> Self {
        let code = match ran.exit {
            Exit::Code(code) => code,
            Exit::TimedOut { .. } | Exit::NotStarted(_) | Exit::Cancelled => 1,
        };
        let answer = match code {
            0 if is_own(hook.event) => answer::answer(hook.event, &ran.stdout),
            _ => Default::default(),
        };
        let mut end = Self {
            exit: &ran.exit,
            code,
            decision: answer.decision,
            reason: answer.reason,
            blocks: false,
            complaints: answer.warnings,
        };
        if hook.detached {
            // Whatever it says, it has no say (DEC-047).
            end.decision = (hook.event == EventName::PreToolUse).then_some(PiDecision::Allow);
        } else if hook.event == EventName::PreToolUse {
            end.blocks = code == 2 || answer.decision == Some(PiDecision::Deny) || (code != 0 && hook.fail_closed);
            end.decision =
                Some(if end.blocks { PiDecision::Deny } else { answer.decision.unwrap_or(PiDecision::Allow) });
            if end.blocks && code == 2 {
                end.reason = Some(answer::block_message(ran));
            } else if end.blocks && code != 0 {
                end.reason = Some(answer::failure_message(ran));
            }
        }
        end
    }

    fn timed_out(&self) -> bool {
        matches!(self.exit, Exit::TimedOut { .. })
    }

    fn failed(&self) -> bool {
        !matches!(self.code, 0 | 2)
    }

    fn warnings(&self, source: PiSource, hook: &Hook, command: &str, reason: Option<&Shown>) -> Vec<String> {
        let about = format!("Warning: {} hook ({})", hook.event, source.plain());
        let mut lines = Vec::new();
        let how = match self.exit {
            Exit::Code(code) => format!("failed with exit code {code}"),
            Exit::TimedOut { after } => format!("timed out after {} ms", after.as_millis()),
            Exit::NotStarted(_) => "could not be started".to_owned(),
            Exit::Cancelled => "was interrupted".to_owned(),
        };
        let why = reason.map(|reason| format!(": {}", one_line(&reason.text))).unwrap_or_default();
        // Nobody can bring that command back.
        let expected = source == PiSource::GastownBuiltin && hook.command() == builtin::GONE;
        match (self.failed(), self.blocks) {
            (true, true) => lines.push(format!("{about} {how} and blocked the call: {command}{why}")),
            (false, true) => lines.push(format!("{about} blocked the call: {command}{why}")),
            (true, false) if !expected => lines.push(format!("{about} {how}: {command}")),
            (true, false) | (false, false) => {}
        }
        if self.decision == Some(PiDecision::Ask) && hook.event == EventName::PreToolUse {
            lines.push(format!(
                "{about} said ask; it has no permission dialog, so this counts as allow: {command}{why}"
            ));
        }
        lines.extend(self.complaints.iter().map(|complaint| format!("{about}: {}: {command}", one_line(complaint))));
        lines
    }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (head, cut) = ona_api::text::head(&line, LINE);
    if cut { format!("{head}...") } else { line }
}
