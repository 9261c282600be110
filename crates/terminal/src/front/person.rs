//! The other things a person is asked, and shown, while something runs: forms of MCP servers, dialogs of
//! hook modules.

use super::questions::{ModuleAsk, OpenQuestions, Question, Reply};
use super::{EventSender, SessionEvent};
use ona_commands::{CommandAnswer, CommandQuestion, CommandScreen, ScreenAction};
use ona_modules::{HostCall, HostFuture};
use ona_orchestration::{ElicitationPrompter, ModuleUi};
use ona_process::TurnCancellation;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(super) struct Person {
    pub questions: Arc<OpenQuestions>,
    pub cancellation: TurnCancellation,
    pub events: EventSender,
}

impl ElicitationPrompter for Person {
    fn prompt(
        &self,
        fields: Map<String, Value>,
    ) -> Pin<Box<dyn Future<Output = Option<Map<String, Value>>> + Send + '_>> {
        Box::pin(async move {
            let reply = self.questions.ask(Question::Elicitation(fields), &self.cancellation.token()).await?;
            let answer = match reply {
                Reply::Value(Value::Object(content)) => json!({"action": "accept", "content": content}),
                _ => json!({"action": "decline"}),
            };
            answer.as_object().cloned()
        })
    }
}

impl CommandScreen for Person {
    fn ask<'a>(&'a self, question: CommandQuestion, cancel: &'a CancellationToken) -> CommandAnswer<'a> {
        Box::pin(async move {
            match self.questions.ask(Question::Command(question), cancel).await? {
                Reply::Command(reply) => Some(reply),
                _ => None,
            }
        })
    }

    fn act(&self, action: ScreenAction) {
        self.events.send(SessionEvent::Act(action));
    }
}

impl ModuleUi for Person {
    fn prompt<'a>(&'a self, call: &'a HostCall) -> HostFuture<'a, Value> {
        Box::pin(async move {
            let text = |at| call.text(at).to_owned();
            let ask = match call.name.as_str() {
                "ui.confirm" => ModuleAsk::Confirm { title: text(0), message: text(1) },
                "ui.select" => {
                    let options = call.arg(1).as_array().into_iter().flatten();
                    let options = options.filter_map(|option| option.as_str().map(str::to_owned)).collect();
                    ModuleAsk::Select { title: text(0), options }
                }
                "ui.input" | "ui.editor" => ModuleAsk::Input { title: text(0), placeholder: text(1) },
                other => {
                    let text =
                        format!("A hook module asked for {other}, which this terminal does not have; it was told no.");
                    self.events.send(SessionEvent::Note(text));
                    return Value::Null;
                }
            };
            let is_confirm = matches!(ask, ModuleAsk::Confirm { .. });
            match self.questions.ask(Question::Module(ask), &call.cancel).await {
                Some(Reply::Value(value)) if !value.is_null() => value,
                _ if is_confirm => Value::Bool(false),
                _ => Value::Null,
            }
        })
    }

    fn show(&self, call: &HostCall) {
        let text = |at| call.text(at).to_owned();
        match call.name.as_str() {
            "ui.notify" => self.events.send(SessionEvent::Note(text(0))),
            "ui.setStatus" => {
                let shown = Some(text(1)).filter(|text| !text.is_empty());
                self.events.send(SessionEvent::Status { key: text(0), text: shown });
            }
            "ui.setEditorText" => self.events.send(SessionEvent::SetText(text(0))),
            // The documented answers of an agent without such a thing.
            _ => {}
        }
    }
}
