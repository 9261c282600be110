//! Writes messages in the format that was asked for: the final text, one object, an array,
//! or a line each.
//!
//! A reader that has gone away ends the run: nobody is left to answer, and tools must not go on
//! for nobody. Everything that leaves passes the redactor.

use super::messages::Message;
use crate::args::OutputFormat;
use crate::interrupt::Interrupt;
use crate::output;
use ona_api::{CallId, Redactor};
use serde_json::Value;
use std::sync::{Mutex, PoisonError};

pub struct Printer {
    form: Form,
    /// Changes when the session is cleared.
    session: Mutex<String>,
    redactor: Redactor,
    /// Ends the program.
    interrupt: Interrupt,
    /// What an array will hold.
    kept: Mutex<Vec<Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Text,
    Object,
    Array,
    Lines,
}

impl Form {
    pub fn of(format: OutputFormat, verbose: bool) -> Self {
        match (format, verbose) {
            (OutputFormat::Text, _) => Form::Text,
            (OutputFormat::Json, false) => Form::Object,
            (OutputFormat::Json, true) => Form::Array,
            (OutputFormat::StreamJson, _) => Form::Lines,
        }
    }
}

impl Printer {
    pub fn new(form: Form, session: String, redactor: Redactor, interrupt: Interrupt) -> Self {
        Self { form, session: Mutex::new(session), redactor, interrupt, kept: Mutex::default() }
    }

    pub fn form(&self) -> Form {
        self.form
    }

    /// Whether nobody reads any more.
    pub fn is_closed(&self) -> bool {
        self.interrupt.is_stdout_closed()
    }

    /// One message on its way.
    pub fn say(&self, message: &Message) {
        match self.form {
            Form::Lines => self.line(&self.stamped(message).to_string()),
            Form::Array => self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(self.stamped(message)),
            Form::Text | Form::Object => {}
        }
    }

    /// The last one of a turn. `text` is what a person reads in its place.
    pub fn result(&self, message: &Message, text: Result<&str, &str>) {
        match self.form {
            Form::Text => match text {
                Ok(text) => self.line(&self.redactor.apply(text)),
                Err(why) => self.note(&format!("ona: {why}")),
            },
            Form::Object | Form::Lines => self.line(&self.stamped(message).to_string()),
            Form::Array => {
                self.say(message);
                let all = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
                self.line(&Value::Array(all).to_string());
            }
        }
    }

    /// From now on in another session.
    pub fn reset(&self, session: &str) {
        self.say(&Message::ConversationReset { new_conversation_id: session.to_owned() });
        session.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// For a person who watches stderr.
    pub fn note(&self, text: &str) {
        output::note(self.redactor.apply(text));
    }

    /// A value as the other side gets to see it.
    pub fn redacted(&self, value: &Value) -> Value {
        let mut value = value.clone();
        self.redactor.apply_to_json(&mut value);
        value
    }

    /// What knows the secrets of this run.
    pub fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    fn stamped(&self, message: &Message) -> Value {
        let mut value = serde_json::to_value(message).expect("messages are plain data");
        self.redactor.apply_to_json(&mut value);
        if !message.is_control() {
            if value.get("uuid").is_none() {
                value["uuid"] = CallId::random().0.into();
            }
            value["session_id"] = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone().into();
        }
        value
    }

    /// `text` is redacted.
    fn line(&self, text: &str) {
        if output::try_line(text).is_err() {
            self.interrupt.stdout_closed();
        }
    }
}
