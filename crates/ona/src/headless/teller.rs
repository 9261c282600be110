//! Tells what happens to whoever follows the run: messages to programs, notes to people.

use super::bill::Bill;
use super::messages::Message;
use super::printer::{Form, Printer};
use super::result::{Setting, Tally, shown};
use super::translate::{Translator, Wanted};
use ona_api::ToolCall;
use ona_orchestration::{Events, TurnEvent, TurnOutcome};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub struct Teller {
    pub printer: Arc<Printer>,
    /// Tokens of the newest request and its answer.
    pub context: Arc<Mutex<u64>>,
    verbose: bool,
    translator: Mutex<Translator>,
    tally: Mutex<Tally>,
}

impl Teller {
    pub fn new(printer: Arc<Printer>, wanted: Wanted, verbose: bool, bill: Bill) -> Arc<Self> {
        let translator = Mutex::new(Translator::new(wanted, printer.redactor()));
        Arc::new(Self { printer, context: Arc::default(), verbose, translator, tally: Mutex::new(Tally::new(bill)) })
    }

    pub fn events(self: &Arc<Self>) -> Events {
        let teller = Arc::clone(self);
        Arc::new(move |event| teller.tell(event))
    }

    /// After the last result: for people only, because programs have read to the end.
    pub fn afterwards(self: &Arc<Self>) -> Events {
        let teller = Arc::clone(self);
        Arc::new(move |event| {
            if let TurnEvent::Message(text) = event {
                teller.printer.note(&text);
            }
        })
    }

    fn tell(&self, event: TurnEvent) {
        lock(&self.tally).count(&event);
        if let TurnEvent::Assistant { usage, .. } = &event {
            let read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
            *lock(&self.context) = read + usage.output_tokens;
        }
        if self.printer.form() == Form::Text {
            self.note(&event);
            return;
        }
        if let (Form::Object, TurnEvent::Message(text)) = (self.printer.form(), &event) {
            // One object at the end has no place for it.
            self.printer.note(text);
        }
        for message in lock(&self.translator).messages(event) {
            self.printer.say(&message);
        }
    }

    /// For a person who watches stderr while stdout waits for the text.
    fn note(&self, event: &TurnEvent) {
        match event {
            TurnEvent::Message(text) => self.printer.note(text),
            TurnEvent::Inside { event, .. } => self.note(event),
            TurnEvent::Retrying { attempt, limit, wait, failure } if self.verbose => {
                let (class, wait, message) = (failure.class.as_str(), wait.as_millis(), &failure.message);
                self.printer
                    .note(&format!("ona: {class}: {message}; trying again in {wait} ms ({attempt} of {limit})"));
            }
            TurnEvent::ToolFinished { call: ToolCall { name, .. }, account, .. } if self.verbose => {
                account.iter().for_each(|line| self.printer.note(&format!("ona: {name}: {line}")));
            }
            TurnEvent::Compacted(made) if self.verbose => {
                let (before, after) = (made.before, made.after);
                self.printer.note(&format!("ona: a summary took the place of about {before} tokens; {after} are left"));
            }
            TurnEvent::NotCompacted { why } if self.verbose => {
                self.printer.note(&format!("ona: the conversation could not be summarised: {why}"));
            }
            _ => {}
        }
    }

    pub fn say(&self, message: &Message) {
        self.printer.say(message);
    }

    pub fn want_subagent_text(&self) {
        lock(&self.translator).wanted.subagent_text = true;
    }

    pub fn begin(&self) {
        lock(&self.tally).begin();
    }

    pub fn result(&self, outcome: &TurnOutcome, setting: &Setting<'_>) {
        let message = lock(&self.tally).result(outcome, setting);
        let text = shown(outcome);
        self.printer.result(&message, text.as_deref().map_err(String::as_str));
    }

    /// The run broke off; who reads the stream must not wait for more.
    pub fn broken(&self, why: &str, setting: &Setting<'_>) {
        let message = lock(&self.tally).broken(why.to_owned(), setting);
        if self.printer.form() != Form::Text {
            self.printer.result(&message, Err(why));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
