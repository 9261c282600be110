//! One of the ways hooks are written down and spoken to.
//!
//! A dialect translates; order, skipping and merging belong to the engine.

use crate::environment::Timeouts;
use crate::firing::Firing;
use crate::hook::Hook;
use crate::runner::HookExecution;
use ona_api::{EventKind, EventName, Ruling};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::time::Duration;

pub trait Dialect: Send + Sync {
    fn name(&self) -> &'static str;

    /// The object written to the hook's stdin.
    fn stdin(&self, firing: &Firing, input: &Value) -> Value;

    /// What a hook that ran to its end said, in the words all dialects share.
    /// Called for exit codes only; timeouts and failures to start are the engine's.
    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput;

    /// The input after a hook's `updatedInput`.
    fn updated(&self, current: &Value, update: Map<String, Value>) -> Value;

    fn timeout(&self, event: EventName, timeouts: &Timeouts) -> Duration;

    fn on_timeout(&self, event: EventName) -> OnTimeout;

    /// The block message of an exit code 2.
    fn block_message(&self, ran: &HookExecution) -> String;

    /// Whether exit code 2 is a block; elsewhere it is one failure among others.
    fn exit_two_blocks(&self) -> bool {
        true
    }

    /// Whether an answer that begins as a JSON object and was cut off refuses a call. It may have
    /// been a deny (amends DEC-055).
    fn truncated_answer_denies(&self) -> bool {
        false
    }

    /// Whether an exit code other than 0 is neither a block nor a failure in this event.
    fn ignores_exit_code(&self, _event: EventName, _code: i32) -> bool {
        false
    }

    /// What is said when a failure of a hook that may not fail blocks; `None` leaves the
    /// words to the engine.
    fn failure_message(&self, _ran: &HookExecution) -> Option<String> {
        None
    }

    /// A command or an output as rows keep it.
    fn recorded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    /// What the dialect's own log says of a run, beside the row that every run leaves.
    fn log(&self, _hook: &Hook, _ran: &HookExecution, _took: Duration) -> Option<LogEntry> {
        None
    }

    /// Returns the effect of a failed run; `why` is the engine's message.
    fn failing(&self, hook: &Hook, _event: EventName, ran: &HookExecution, why: String) -> FailureEffect {
        if hook.fail_closed {
            FailureEffect::Block(self.failure_message(ran).unwrap_or(why))
        } else {
            FailureEffect::Pass(why)
        }
    }

    /// Whether its hooks get the path of a transcript file, where one is kept.
    fn reads_transcripts(&self) -> bool {
        false
    }

    /// Whether an exit code says more than `said` has made of the run already.
    fn uses_exit_codes(&self) -> bool {
        true
    }

    /// Whether two hooks that match one firing are one and the same, so that only the first
    /// of them runs (DEC-043).
    fn is_duplicate(&self, _one: &Hook, _other: &Hook) -> bool {
        false
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnTimeout {
    /// As exit code 2.
    Block,
    /// As if the hook were not there, but logged.
    Pass,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureEffect {
    /// As exit code 2 with this message.
    Block(String),
    /// As a hook that said no for this reason; logged as well.
    Deny(String),
    /// As if the hook were not there, but logged.
    Pass(String),
}

/// What one hook said (DEC-067).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutput {
    pub ruling: Option<Ruling>,
    /// Accompanies a ruling or a block.
    pub reason: String,
    /// The event's own kind of stop: a rejected prompt, "do not stop", a message to the model.
    pub block: Option<String>,
    pub input: Option<Map<String, Value>>,
    pub context: Option<HookContext>,
    /// After a tool ran: another result for the model.
    pub result: Option<ResultChange>,
    /// After a tool ran: text beside its result.
    pub injected: Vec<Injection>,
    /// `continue: false` with its `stopReason`.
    pub stop: Option<String>,
    pub system_message: Option<String>,
    pub suppress_output: bool,
    /// The fields of `hookSpecificOutput` the event's owner acts on.
    pub specific: Map<String, Value>,
    /// What is worth an `events` row, with why.
    pub notes: Vec<(EventKind, String)>,
    /// The output could not be read, so nothing of it counts.
    pub unreadable: bool,
}

/// What replaces a tool's result; what is `None` stays as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultChange {
    pub content: Option<String>,
    pub is_error: Option<bool>,
}

/// Text a hook puts beside a result (DEC-154).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Injection {
    /// On a line of its own at the end of the result.
    ToolResult(String),
    /// As words of the user after the result.
    UserMessage(String),
}

/// Text for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookContext {
    pub text: String,
    /// The whole text, when `text` is only a preview of it.
    pub whole: Option<String>,
}

/// One run in a dialect's own log (000, section 5).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogEntry {
    /// For who wants to know everything; also an `events` row.
    pub record: Map<String, Value>,
    /// For everybody, a line each.
    pub warnings: Vec<String>,
}
