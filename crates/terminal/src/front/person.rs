//! The other things a person is asked, and shown, while something runs: forms of MCP servers, dialogs of
//! hook modules.

use super::questions::{ModuleAsk, OpenQuestions, Question, Reply};
use super::{EventSender, SessionEvent};
use ona_commands::{CommandAnswer, CommandQuestion, CommandScreen, ScreenAction};
use ona_modules::rules::Emitter;
use ona_modules::{HostCall, HostFuture};
use ona_orchestration::{ElicitationPrompter, ModuleUi};
use ona_process::TurnCancellation;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

pub(super) struct Person {
    pub questions: Arc<OpenQuestions>,
    pub cancellation: TurnCancellation,
    pub events: EventSender,
    /// Modules that draw their own messages, once they are loaded, and where that is waited for.
    pub emitter: OnceLock<(Arc<Emitter>, tokio::runtime::Handle)>,
}

impl Person {
    /// A message of a module: as its renderer draws it, or as text.
    fn message(&self, message: &Value) {
        let kind = message["customType"].as_str().unwrap_or("message").to_owned();
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            other => {
                let texts = other.as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
        };
        let plain = move |kind: &str| format!("{kind}: {text}").lines().map(str::to_owned).collect();
        let Some((emitter, handle)) = self.emitter.get() else {
            return self.events.send(SessionEvent::ModuleMessage(plain(&kind)));
        };
        let (emitter, events, message) = (Arc::clone(emitter), self.events.clone(), message.clone());
        handle.spawn(async move {
            let width = crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width));
            let drawn = emitter.render(&kind, &message, false, width).await;
            events.send(SessionEvent::ModuleMessage(drawn.unwrap_or_else(|| plain(&kind))));
        });
    }
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
                "ui.input" => ModuleAsk::Input { title: text(0), placeholder: text(1), text: String::new() },
                "ui.editor" => ModuleAsk::Input { title: text(0), placeholder: String::new(), text: text(1) },
                "ui.custom" => {
                    let lines = call.arg(0).as_array().into_iter().flatten();
                    let lines = lines.map(|line| line.as_str().unwrap_or_default().to_owned());
                    ModuleAsk::Custom { lines: lines.collect() }
                }
                "ui.getEditorText" => {
                    let (sender, receiver) = tokio::sync::oneshot::channel();
                    self.events.send(SessionEvent::WantsText(sender));
                    return receiver.await.unwrap_or_default().into();
                }
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
            "sendMessage" => self.message(call.arg(0)),
            "ui.notify" => self.events.send(SessionEvent::Note(text(0))),
            "ui.setStatus" => {
                let shown = Some(text(1)).filter(|text| !text.is_empty());
                self.events.send(SessionEvent::Status { key: text(0), text: shown });
            }
            "ui.setWorkingMessage" => {
                self.events.send(SessionEvent::WorkingMessage(Some(text(0)).filter(|text| !text.trim().is_empty())));
            }
            "ui.setTitle" => self.events.send(SessionEvent::Name(Some(text(0)).filter(|text| !text.is_empty()))),
            "ui.setEditorText" => self.events.send(SessionEvent::SetText(text(0))),
            // The documented answers of an agent without such a thing.
            _ => {}
        }
    }
}
