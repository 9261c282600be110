//! Reports when hooks start and end, while they run as everywhere (`--include-hook-events`).

use super::messages::{HookId, Level, StreamMessage, SystemMessage};
use super::printer::Printer;
use super::translate::informational;
use ona_api::{EventName, text};
use ona_hookplane::{Exit, HookExecution, HookFailure, HookObserver, ObservedHook};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// What a message repeats of a stream of a hook; the row has all of it. Clients give up
/// on lines of a megabyte.
const TOLD: usize = 32_768;

/// Tells the program that reads the stream of hooks.
pub(crate) struct HookReporter {
    pub printer: Arc<Printer>,
    /// Report hooks of all events, not only those of SessionStart.
    pub all_events: bool,
}

impl HookObserver for HookReporter {
    fn started(&self, run: &ObservedHook<'_>) {
        if self.reports(run.firing.event) {
            self.printer.send(&StreamMessage::System(SystemMessage::HookStarted(hook_id(run))));
        }
    }

    fn ended(&self, run: &ObservedHook<'_>, ran: &HookExecution, _: Duration) {
        if self.reports(run.firing.event) {
            self.printer.send(&response(hook_id(run), ran));
        }
    }
}

impl HookReporter {
    fn reports(&self, event: EventName) -> bool {
        match event {
            EventName::SessionStart => true,
            EventName::InstructionsLoaded | EventName::CwdChanged | EventName::SessionEnd => false,
            _ => self.all_events,
        }
    }
}

/// A hook that failed for the first time: for the person on stderr and for the program that
/// reads the stream.
pub(crate) fn report_failure(printer: &Printer, failure: &HookFailure) {
    if !failure.logged {
        printer.note(&format!("ona: {}", failure.text));
    }
    printer.send(&informational(failure.text.clone(), Level::Warning));
}

fn hook_id(run: &ObservedHook<'_>) -> HookId {
    let firing = run.firing;
    let event = firing.event.as_str();
    let of = match firing.event {
        EventName::SessionStart => firing.fields.get("source").and_then(Value::as_str),
        _ => firing.tool(),
    };
    HookId {
        hook_id: run.id.0.clone(),
        hook_name: of.map_or_else(|| event.to_owned(), |of| format!("{event}:{of}")),
        hook_event: event,
    }
}

fn response(hook: HookId, ran: &HookExecution) -> StreamMessage {
    let told = |stream: &str| text::head(stream, TOLD).0.to_owned();
    let (exit_code, outcome) = match &ran.exit {
        Exit::Code(0) => (Some(0), "success"),
        Exit::Code(code) => (Some(*code), "error"),
        Exit::NotStarted(_) => (None, "error"),
        Exit::TimedOut { .. } | Exit::Cancelled => (None, "cancelled"),
    };
    StreamMessage::System(SystemMessage::HookResponse {
        hook,
        output: told(&format!("{}{}", ran.stdout, ran.stderr)),
        stdout: told(&ran.stdout),
        stderr: told(&ran.stderr),
        exit_code,
        outcome,
    })
}
