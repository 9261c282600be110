//! Tells the screen which hooks run, how long they took and how they ended.

use super::{EventSender, SessionEvent};
use ona_api::EventName;
use ona_hookplane::{Exit, HookExecution, HookObserver, ObservedHook};
use std::time::Duration;

/// One hook that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookRun {
    pub event: EventName,
    /// It belongs to a call, whose block says what its hooks did.
    pub of_call: bool,
    pub took: Duration,
    /// What went wrong, or was said by a hook that blocks.
    pub problem: Option<String>,
    pub blocked: bool,
}

pub(super) struct HookListener(pub EventSender);

impl HookObserver for HookListener {
    fn started(&self, run: &ObservedHook<'_>) {
        self.0.send(SessionEvent::HookStarted(run.firing.event));
    }

    fn ended(&self, run: &ObservedHook<'_>, ran: &HookExecution, took: Duration) {
        let first_line = |text: &str| text.lines().next().map(str::to_owned).filter(|line| !line.is_empty());
        let (problem, blocked) = match &ran.exit {
            Exit::Code(0) => (None, false),
            Exit::Code(2) => (first_line(&ran.stderr), true),
            Exit::Code(code) => (first_line(&ran.stderr).or(Some(format!("exit code {code}"))), false),
            Exit::NotStarted(why) => (Some(why.to_string()), false),
            Exit::TimedOut { .. } => (Some("timed out".to_owned()), false),
            Exit::Cancelled => (Some("interrupted".to_owned()), false),
        };
        let of_call = run.firing.call.is_some();
        let event = run.firing.event;
        self.0.send(SessionEvent::Hook(HookRun { event, of_call, took, problem, blocked }));
    }
}
