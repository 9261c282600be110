//! Prints what happens in a turn: messages for programs, notes for people.

use super::live::LiveView;
use super::messages::StreamMessage;
use super::printer::{OutputForm, Printer};
use super::run_cost::RunCost;
use super::translate::{StreamContent, Translator};
use super::turn_result::{FinalWords, ResultContext, TurnCounters};
use ona_api::{CallId, ToolCall, tool::canonical};
use ona_mcp::{CallProgress, ProgressListener};
use ona_orchestration::{Events, TurnEvent, TurnOutcome};
use ona_permissions::printable_lines;
use ona_tools::brief_message;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct EventPrinter {
    pub printer: Arc<Printer>,
    /// Tokens of the newest request and its answer.
    pub context: Arc<Mutex<u64>>,
    verbose: bool,
    live: Option<LiveView>,
    translator: Mutex<Translator>,
    tally: Mutex<TurnCounters>,
}

impl EventPrinter {
    pub(crate) fn new(
        printer: Arc<Printer>,
        wanted: StreamContent,
        verbose: bool,
        live: Option<LiveView>,
        bill: RunCost,
    ) -> Arc<Self> {
        let translator = Mutex::new(Translator::new(wanted, printer.redactor()));
        Arc::new(Self {
            printer,
            context: Arc::default(),
            verbose,
            live,
            translator,
            tally: Mutex::new(TurnCounters::new(bill)),
        })
    }

    pub(crate) fn events(self: &Arc<Self>) -> Events {
        let event_printer = Arc::clone(self);
        Arc::new(move |event| event_printer.tell(event))
    }

    /// Prints what servers say about running calls: a message for programs, with --verbose a note for people.
    pub(crate) fn progress_listener(self: &Arc<Self>) -> ProgressListener {
        let event_printer = Arc::clone(self);
        let began: Mutex<HashMap<CallId, Instant>> = Mutex::default();
        Arc::new(move |call: &CallId, tool: &str, told: CallProgress| {
            let elapsed = lock(&began).entry(call.clone()).or_insert_with(Instant::now).elapsed();
            event_printer.progress(call, tool, elapsed, told);
        })
    }

    fn progress(&self, call: &CallId, tool: &str, elapsed: Duration, told: CallProgress) {
        let CallProgress { progress, total, message } = told;
        match self.printer.form() {
            OutputForm::Text if self.verbose => {
                let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
                let words = message.map(|words| format!(" {}", printable_lines(&words))).unwrap_or_default();
                self.printer.note(&format!("ona: {tool}: {progress}{of}{words}"));
            }
            OutputForm::Text | OutputForm::Object => {}
            _ => self.printer.send(&StreamMessage::ToolProgress {
                tool_use_id: call.clone(),
                tool_name: tool.to_owned(),
                parent_tool_use_id: None,
                elapsed_time_seconds: elapsed.as_secs(),
                progress,
                total,
                message,
            }),
        }
    }

    /// For events after the last result: only notes for people, because programs have stopped reading.
    pub(crate) fn notes_only(self: &Arc<Self>) -> Events {
        let event_printer = Arc::clone(self);
        Arc::new(move |event| {
            if let TurnEvent::Message(text) = event {
                event_printer.printer.note(&text);
            }
        })
    }

    fn tell(&self, event: TurnEvent) {
        lock(&self.tally).count(&event);
        if let TurnEvent::Assistant { usage, .. } = &event {
            let read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
            *lock(&self.context) = read + usage.output_tokens;
        }
        if self.printer.form() == OutputForm::Text {
            if let Some(live) = &self.live {
                live.tell(&event);
            }
            self.note(&event);
            return;
        }
        if self.printer.form() == OutputForm::Object {
            // One object at the end has no place for these.
            match &event {
                TurnEvent::Message(text) => self.printer.note(text),
                event => self.brief(event),
            }
        }
        for message in lock(&self.translator).messages(event) {
            self.printer.send(&message);
        }
    }

    /// Prints what the model tells the operator while it works (DEC-134).
    fn brief(&self, event: &TurnEvent) {
        if let TurnEvent::ToolFinished { call, result, .. } = event
            && canonical(&call.name) == "Brief"
            && !result.is_error()
        {
            self.printer.note(&printable_lines(&brief_message(result)));
        }
    }

    /// Prints a note on stderr, while stdout waits for the final text.
    fn note(&self, event: &TurnEvent) {
        self.brief(event);
        match event {
            TurnEvent::Message(text) => self.printer.note(text),
            TurnEvent::Inside { event, .. } => self.note(event),
            TurnEvent::Retrying { attempt, limit, wait, failure } if self.verbose && self.live.is_none() => {
                let (class, wait, message) = (failure.class.as_str(), wait.as_millis(), &failure.message);
                self.printer
                    .note(&format!("ona: {class}: {message}; trying again in {wait} ms ({attempt} of {limit})"));
            }
            TurnEvent::ToolFinished { call: ToolCall { name, .. }, account, .. } if self.verbose => {
                account.iter().for_each(|line| self.printer.note(&format!("ona: {name}: {line}")));
            }
            TurnEvent::Compacted(made) if self.verbose && self.live.is_none() => {
                let (before, after) = (made.before, made.after);
                self.printer.note(&format!("ona: about {before} tokens were summarised to {after}"));
            }
            TurnEvent::NotCompacted { why } if self.verbose => {
                self.printer.note(&format!("ona: the conversation could not be summarised: {why}"));
            }
            _ => {}
        }
    }

    pub(crate) fn send(&self, message: &StreamMessage) {
        self.printer.send(message);
    }

    pub(crate) fn include_subagent_text(&self) {
        lock(&self.translator).wanted.subagent_text = true;
    }

    pub(crate) fn begin(&self) {
        lock(&self.tally).begin();
    }

    pub(crate) fn result(&self, outcome: &TurnOutcome, setting: &ResultContext<'_>) {
        let message = lock(&self.tally).result(outcome, setting);
        match (&self.live, &message) {
            (Some(live), StreamMessage::Result(result)) => live.finish(&FinalWords::of(outcome), result),
            _ => self.printer.result(&message, &FinalWords::of(outcome)),
        }
    }

    /// The run was aborted; readers of the stream must not wait for more.
    pub(crate) fn aborted(&self, why: &str, setting: &ResultContext<'_>) {
        let message = lock(&self.tally).aborted(why.to_owned(), setting);
        if self.printer.form() != OutputForm::Text {
            self.printer.result(&message, &FinalWords { text: None, problem: Some(why.to_owned()) });
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
