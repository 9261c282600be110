//! The dialect of pi with Gastown and Beads: hooks passed at run time.
//!
//! It differs from the others in who supplies the hooks (a flag, a variable or the
//! built-in defaults of gastown mode, never a settings file), in how they run (a login
//! shell, five seconds, failures pass unless `failOpen` is false) and in its log, which
//! hides secrets and cuts what is long. A `decision` can refuse a call and nothing more:
//! `allow` has no effect, and `ask` counts as `allow`, because this dialect has no
//! permission dialog.
//!
//! Not demanded of it: a permission dialog, a sandbox for hooks, a matcher language,
//! new events. Where a configuration comes from and which one counts is `source`; what
//! it may look like is `config`.

mod answer;
mod builtin;
mod config;
mod hooks;
mod invalid;
mod log;
mod redact;
mod source;

pub use builtin::{Installed, PROBES};
pub use config::{PiDefinition, PiMatch, parse};
pub(crate) use hooks::tool_names;
pub use hooks::{PiContext, hooks};
pub use invalid::InvalidDefinition;
pub use source::{ClaudeFiles, PiLayer, PiOffer, PiSource, choose};

use crate::claude::Claude;
use crate::output::shallow_merge;
use ona_api::EventName;
use ona_hookplane::{Dialect, Exit, Firing, Hook, HookExecution, HookOutput, LogEntry, OnTimeout, Timeouts};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);

/// The six tools that pi knows under names of its own.
const ALIASES: [(&str, &str); 6] =
    [("Bash", "bash"), ("Read", "read"), ("Write", "write"), ("Edit", "edit"), ("Grep", "grep"), ("Glob", "find")];

pub(crate) fn alias(tool: &str) -> Option<&'static str> {
    ALIASES.iter().find(|(native, _)| *native == tool).map(|(_, alias)| *alias)
}

/// Returns whether it is one of the five events this dialect defines itself. Hooks of a wrapped
/// configuration may name others; those behave as they do in the file it was taken from.
fn is_own(event: EventName) -> bool {
    use EventName as E;
    matches!(event, E::SessionStart | E::PreToolUse | E::PostToolUse | E::PostToolUseFailure | E::PreCompact)
}

pub(crate) fn is_on_tool(event: EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::PostToolUse | EventName::PostToolUseFailure)
}

#[derive(Debug)]
pub struct Pi {
    pub source: PiSource,
    /// For the events that are not this dialect's own.
    pub others: Claude,
}

impl Dialect for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        let mut stdin = firing.stdin(input);
        if let Some(error) = stdin.get("error").filter(|_| firing.event == EventName::PostToolUseFailure).cloned() {
            stdin.insert("tool_error".into(), error);
        }
        if let Some(alias) = firing.tool().and_then(alias) {
            stdin.insert("tool_name_pi".into(), alias.into());
        }
        Value::Object(stdin)
    }

    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput {
        match ran.exit {
            Exit::Code(0) if is_own(event) => answer::translate(event, ran),
            Exit::Code(0) => self.others.parse_output(event, ran),
            _ => HookOutput::default(),
        }
    }

    fn updated(&self, current: &Value, update: Map<String, Value>) -> Value {
        shallow_merge(current, update)
    }

    fn timeout(&self, _: EventName, _: &Timeouts) -> Duration {
        TIMEOUT
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        OnTimeout::Pass
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        answer::block_message(ran)
    }

    fn ignores_exit_code(&self, event: EventName, code: i32) -> bool {
        code == 2 && is_own(event) && event != EventName::PreToolUse
    }

    fn failure_message(&self, ran: &HookExecution) -> Option<String> {
        Some(answer::failure_message(ran))
    }

    fn recorded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        redact::redact(text)
    }

    fn log(&self, hook: &Hook, ran: &HookExecution, took: Duration) -> Option<LogEntry> {
        Some(log::entry(self.source, hook, ran, took))
    }
}
