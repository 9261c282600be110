//! Writes messages in the requested format: the final text, one object, an array, or one line
//! each. Everything that is written passes the redactor.

use super::messages::StreamMessage;
use super::turn_result::FinalWords;
use crate::options::OutputFormat;
use crate::output::Output;
use ona_api::{CallId, Redactor};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct Printer {
    form: OutputForm,
    /// Changes when the session is cleared.
    session: Mutex<String>,
    redactor: Redactor,
    output: Arc<dyn Output>,
    /// The messages of an array so far.
    kept: Mutex<Vec<Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputForm {
    Text,
    Object,
    Array,
    Lines,
}

impl OutputForm {
    pub(crate) fn of(format: OutputFormat, verbose: bool) -> Self {
        match (format, verbose) {
            (OutputFormat::Text, _) => OutputForm::Text,
            (OutputFormat::Json, false) => OutputForm::Object,
            (OutputFormat::Json, true) => OutputForm::Array,
            (OutputFormat::StreamJson, _) => OutputForm::Lines,
        }
    }
}

impl Printer {
    pub(crate) fn new(form: OutputForm, session: String, redactor: Redactor, output: Arc<dyn Output>) -> Self {
        Self { form, session: Mutex::new(session), redactor, output, kept: Mutex::default() }
    }

    pub(crate) fn form(&self) -> OutputForm {
        self.form
    }

    /// Returns whether the reader has gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.output.is_closed()
    }

    /// Writes a message, or keeps it for the array.
    pub(crate) fn send(&self, message: &StreamMessage) {
        match self.form {
            OutputForm::Lines => self.line(&self.stamped(message).to_string()),
            OutputForm::Array => self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(self.stamped(message)),
            OutputForm::Text | OutputForm::Object => {}
        }
    }

    /// Writes the last message of a turn. `words` is what people read instead.
    pub(crate) fn result(&self, message: &StreamMessage, words: &FinalWords) {
        match self.form {
            OutputForm::Text => {
                if let Some(text) = &words.text {
                    self.line(&self.redactor.apply(text));
                }
                // A reader who went away has ended the run, and knows.
                if let Some(why) = words.problem.as_ref().filter(|_| !self.is_closed()) {
                    self.note(&format!("ona: {why}"));
                }
            }
            OutputForm::Object | OutputForm::Lines => self.line(&self.stamped(message).to_string()),
            OutputForm::Array => {
                self.send(message);
                let all = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
                self.line(&Value::Array(all).to_string());
            }
        }
    }

    /// Announces that the next messages belong to another session.
    pub(crate) fn reset(&self, session: &str) {
        self.send(&StreamMessage::ConversationReset { new_conversation_id: session.to_owned() });
        session.clone_into(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Writes a note for people.
    pub(crate) fn note(&self, text: &str) {
        self.output.note(&self.redactor.apply(text));
    }

    /// Returns a value without its secrets.
    pub(crate) fn redacted(&self, value: &Value) -> Value {
        let mut value = value.clone();
        self.redactor.apply_to_json(&mut value);
        value
    }

    /// Returns the redactor, which knows the secrets of this run.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }

    fn stamped(&self, message: &StreamMessage) -> Value {
        let mut value = serde_json::to_value(message).expect("messages are plain data");
        self.redactor.apply_to_json(&mut value);
        if message.is_provisional() {
            value["provisional"] = true.into();
        }
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
        // The output ends the run when nobody reads it; nobody else could be told.
        self.output.write_line(text).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Recorded;
    use crate::messages::{HookId, Level, StreamMessage, SystemMessage};
    use crate::translate::informational;

    fn written(format: OutputFormat, verbose: bool) -> Vec<String> {
        let output = Arc::new(Recorded::default());
        let redactor = Redactor::new([("KEY", "hunter2hunter2")]);
        let form = OutputForm::of(format, verbose);
        let printer = Printer::new(form, "s1".into(), redactor, Arc::clone(&output) as Arc<dyn Output>);
        let message = || informational("the key is hunter2hunter2".into(), Level::Info);
        printer.send(&message());
        printer.reset("s2");
        let text = Some("done with hunter2hunter2".to_owned());
        printer.result(&message(), &FinalWords { text, problem: None });
        output.lines()
    }

    #[test]
    fn each_format_has_its_lines_and_none_has_a_secret() {
        for (format, verbose, lines) in [
            (OutputFormat::Text, false, 1),
            (OutputFormat::Json, false, 1),
            (OutputFormat::Json, true, 1),
            (OutputFormat::StreamJson, false, 3),
        ] {
            let written = written(format, verbose);
            assert_eq!(written.len(), lines, "{format:?}: {written:?}");
            assert!(!written.concat().contains("hunter2"), "{written:?}");
        }
        let array: Value = serde_json::from_str(&written(OutputFormat::Json, true)[0]).unwrap();
        assert_eq!(array.as_array().unwrap().len(), 3);
    }

    #[test]
    fn what_precedes_its_commit_says_so() {
        let output = Arc::new(Recorded::default());
        let printer =
            Printer::new(OutputForm::Lines, "s".into(), Redactor::default(), Arc::clone(&output) as Arc<dyn Output>);
        let hook = HookId { hook_id: "h".into(), hook_name: "Stop".into(), hook_event: "Stop" };
        let request = |subtype: &str| StreamMessage::ControlRequest {
            request_id: "r".into(),
            request: serde_json::json!({ "subtype": subtype }),
        };
        for (message, provisional) in [
            (StreamMessage::StreamEvent { event: Value::Null, parent_tool_use_id: None, ttft_ms: None }, true),
            (StreamMessage::System(SystemMessage::HookStarted(hook)), true),
            (request("can_use_tool"), true),
            (request("elicitation"), true),
            (request("mcp_message"), false),
            (informational("words".into(), Level::Info), false),
        ] {
            printer.send(&message);
            let line = output.take_messages().remove(0);
            assert_eq!(line.get("provisional"), provisional.then_some(&Value::Bool(true)), "{line}");
        }
    }

    #[test]
    fn messages_carry_the_session_they_belong_to() {
        let lines = written(OutputFormat::StreamJson, false);
        let sessions: Vec<Value> =
            lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["session_id"].clone()).collect();
        assert_eq!(sessions, ["s1", "s1", "s2"]);
        assert!(StreamMessage::ControlCancelRequest { request_id: "r".into() }.is_control());
    }
}
