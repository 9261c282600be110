//! Emits an event to modules, one handler after another.

use super::event::ModuleEvent;
use super::fold::{EventClass, Fold, FoldFlow};
use super::truthy;
use crate::frame::{RegisteredCommand, RegisteredShortcut};
use crate::module::{CallOutcome, Emission, Module, ModuleContext, ModuleRequest};
use serde_json::Value;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Per handler (DEC-054).
pub(super) const HANDLER: Duration = Duration::from_secs(600);
const SHUTDOWN: Duration = Duration::from_millis(1500);

/// All loaded modules, in load order.
pub struct Emitter {
    modules: Vec<Arc<Module>>,
    context: Mutex<ModuleContext>,
    last: AtomicU64,
}

/// The result of running all handlers of one event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EmitOutcome {
    /// The combined result, by the event's rule.
    pub result: Option<Value>,
    /// The system prompt, if handlers replaced it.
    pub system: Option<String>,
    /// One per handler that ran.
    pub runs: Vec<HandlerRun>,
}

impl EmitOutcome {
    /// Returns whether a handler returned `cancel`.
    pub fn is_cancelled(&self) -> bool {
        self.result.as_ref().is_some_and(|result| truthy(&result["cancel"]))
    }
}

/// One run of one handler, for its row.
#[derive(Clone, Debug, PartialEq)]
pub struct HandlerRun {
    pub path: String,
    pub event: &'static str,
    pub nth: usize,
    pub answer: CallOutcome,
}

impl HandlerRun {
    /// Returns why it failed; `None` if it did not.
    pub fn error(&self) -> Option<String> {
        failure(&self.answer)
    }
}

/// Returns the message for an outcome that is not a result.
pub fn failure(answer: &CallOutcome) -> Option<String> {
    match answer {
        CallOutcome::Returned(_) => None,
        CallOutcome::Threw { message, .. } => Some(message.clone()),
        CallOutcome::TimedOut(after) => Some(format!("timed out after {}ms", after.as_millis())),
        CallOutcome::Overrun(what) => Some(format!("the module was stopped: {}", what.as_str())),
        CallOutcome::Cancelled => Some("interrupted".to_owned()),
        CallOutcome::Lost(why) => Some(why.clone()),
    }
}

impl Emitter {
    pub fn new(modules: Vec<Arc<Module>>, context: ModuleContext) -> Self {
        Self { modules, context: Mutex::new(context), last: AtomicU64::new(0) }
    }

    pub fn modules(&self) -> &[Arc<Module>] {
        &self.modules
    }

    pub fn listens_to(&self, event: &str) -> bool {
        self.modules.iter().any(|module| module.handlers(event) > 0)
    }

    /// Sets the values of `ctx` from now on.
    pub fn set_context(&self, context: ModuleContext) {
        *self.context.lock().unwrap_or_else(PoisonError::into_inner) = context;
    }

    pub fn context(&self) -> ModuleContext {
        self.context.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of a new occurrence.
    pub fn number(&self) -> u64 {
        self.last.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs handlers in load and registration order, awaiting each. If a handler fails, a
    /// HookError is recorded and the next one runs.
    pub async fn emit(&self, event: &ModuleEvent, cancel: &CancellationToken) -> EmitOutcome {
        let name = event.name();
        let mut heard = EmitOutcome::default();
        if !self.listens_to(name) {
            return heard;
        }
        let limit = if name == "session_shutdown" { SHUTDOWN } else { HANDLER };
        let (number, context) = (self.number(), self.context());
        let mut payload = event.payload();
        let mut text = payload.to_string();
        let mut fold = Fold::new(EventClass::of(name));
        'round: for module in &self.modules {
            for nth in 0..module.handlers(name) {
                let emission =
                    Emission { event: name, nth, payload: &text, number, signal: event.has_signal(), absent: &[] };
                let answer = module.invoke(ModuleRequest::Event(emission), &context, Some(limit), cancel).await;
                let returned = match &answer {
                    CallOutcome::Returned(value) => value.as_ref(),
                    _ => None,
                };
                let flow = fold.take(returned);
                if let (Some(messages), true) = (fold.messages(), returned.is_some()) {
                    payload["messages"] = messages.clone();
                    text = payload.to_string();
                }
                if let (ModuleEvent::Input { .. }, Some(Value::String(words))) =
                    (event, fold.result.as_ref().map(|result| &result["text"]))
                {
                    payload["text"] = words.as_str().into();
                    text = payload.to_string();
                }
                if let ModuleEvent::BeforeAgentStart { system, .. } = event {
                    fold.reword(returned, system);
                    if let (Some(system), true) = (&fold.system, returned.is_some()) {
                        payload["systemPrompt"] = system.as_str().into();
                        text = payload.to_string();
                    }
                }
                let path = module.path().to_string_lossy().into_owned();
                heard.runs.push(HandlerRun { path, event: name, nth, answer });
                if flow == FoldFlow::Enough {
                    break 'round;
                }
            }
        }
        (heard.result, heard.system) = (fold.result, fold.system);
        heard
    }

    /// Waits until modules have processed earlier messages.
    pub async fn settle(&self) {
        // Answers are sent by tasks of their own; these come first.
        tokio::task::yield_now().await;
        for module in &self.modules {
            let nothing = Emission { event: "", nth: 0, payload: "{}", number: 0, signal: false, absent: &[] };
            module
                .invoke(ModuleRequest::Event(nothing), &self.context(), Some(SHUTDOWN), &CancellationToken::new())
                .await;
        }
    }

    /// Returns every registered command, duplicates included.
    pub fn commands(&self) -> Vec<RegisteredCommand> {
        self.modules.iter().flat_map(|module| module.registry().commands).collect()
    }

    /// Returns every registered key, the first module's first.
    pub fn shortcuts(&self) -> Vec<RegisteredShortcut> {
        self.modules.iter().flat_map(|module| module.registry().shortcuts).collect()
    }

    /// Returns the first module that has the command.
    pub fn command(&self, name: &str) -> Option<&Arc<Module>> {
        self.modules.iter().find(|module| module.registry().commands.iter().any(|one| one.name == name))
    }

    /// Runs a command; returns `None` if no module has it.
    pub async fn run_command(&self, name: &str, args: &str, cancel: &CancellationToken) -> Option<CallOutcome> {
        let module = self.command(name)?;
        Some(module.invoke(ModuleRequest::Command { name, args }, &self.context(), None, cancel).await)
    }

    /// Tells the first module that registered the key that it was pressed; returns `None` if
    /// no module did.
    pub async fn press(&self, key: &str, cancel: &CancellationToken) -> Option<CallOutcome> {
        let has = |module: &&Arc<Module>| module.registry().shortcuts.iter().any(|one| one.key == key);
        let module = self.modules.iter().find(has)?;
        Some(module.invoke(ModuleRequest::Shortcut { key }, &self.context(), Some(HANDLER), cancel).await)
    }

    /// Returns the lines that the first module with a renderer of this type makes of a message.
    pub async fn render(
        &self,
        custom_type: &str,
        message: &Value,
        expanded: bool,
        width: usize,
    ) -> Option<Vec<String>> {
        let has = |module: &&Arc<Module>| module.registry().renderers.iter().any(|one| one == custom_type);
        let module = self.modules.iter().find(has)?;
        let request = ModuleRequest::Render { custom_type, message, expanded, width };
        match module.invoke(request, &self.context(), Some(HANDLER), &CancellationToken::new()).await {
            CallOutcome::Returned(Some(Value::Array(lines))) => {
                Some(lines.iter().map(|line| line.as_str().unwrap_or_default().to_owned()).collect())
            }
            _ => None,
        }
    }
}
