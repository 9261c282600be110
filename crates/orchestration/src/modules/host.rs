//! Serves what modules ask of the session they run in.
//!
//! Reading goes to the database (`reading`), sending is kept until the next boundary (`sending`): a
//! module is never the one that writes, and no transaction is open while it runs (DEC-017).

use super::records;
use super::sending::{DeliverAt, ModuleMessage};
use super::tools::Toolkit;
use ona_api::row::SessionKey;
use ona_modules::rules::Emitter;
use ona_modules::{HostCall, HostCallError, HostFuture, ModuleHost, SystemCalls};
use ona_store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// Takes a module's log lines: which module, which level, what.
pub type ModuleLog = Arc<dyn Fn(&Path, &str, &str) + Send + Sync>;

/// A person in front of a screen. Without one modules get the documented answers of an
/// unattended agent and never ask.
pub trait ModuleUi: Send + Sync {
    /// `ui.select`, `ui.confirm`, `ui.input`, `ui.editor`, `ui.custom`, `ui.getEditorText`; null is
    /// "cancelled".
    fn prompt<'a>(&'a self, call: &'a HostCall) -> HostFuture<'a, Value>;

    /// `ui.notify`, `ui.setStatus`, `ui.setEditorText`, `ui.setTitle`, …, and `sendMessage` of a message that is
    /// to be seen.
    fn show(&self, call: &HostCall);
}

pub struct SessionHost {
    pub(super) system: SystemCalls,
    pub(super) store: Arc<Store>,
    log: ModuleLog,
    state: Mutex<HostState>,
    idle: watch::Sender<bool>,
    screen: OnceLock<Arc<dyn ModuleUi>>,
    pub(super) emitter: OnceLock<Weak<Emitter>>,
    pub(super) kit: Toolkit,
    /// Values of the flags modules register, as they were given on the command line.
    flags: BTreeMap<String, Value>,
}

pub(super) struct HostState {
    /// The session modules run in, once it is known.
    pub(super) place: Option<SessionKey>,
    /// A session a command has opened, in which the next prompt runs.
    pub(super) switched: Option<SessionKey>,
    /// Ends the turn that runs.
    stop: CancellationToken,
    pub(super) sent: Vec<ModuleMessage>,
    /// Something that was written while nothing ran wants an answer.
    pub(super) woke: bool,
    system: String,
    /// Command lines modules sent as if the user had typed them.
    commands: Vec<String>,
    /// Tokens the model can be sent.
    pub(super) window: Option<usize>,
    /// Compactions modules wish for, with what they are to keep in mind.
    compactions: Vec<CompactionRequest>,
}

/// A compaction a module wished for. Answering it tells the module.
pub struct CompactionRequest {
    pub instructions: Option<String>,
    answer: oneshot::Sender<Result<Value, HostCallError>>,
}

impl CompactionRequest {
    /// Returns the current summary, or the reason why it is missing.
    pub fn answer(self, done: Result<String, &str>) {
        let done = done.map(|summary| json!({ "summary": summary })).map_err(HostCallError::new);
        // A module that is gone waits for nothing.
        self.answer.send(done).ok();
    }
}

impl SessionHost {
    pub fn new(system: SystemCalls, store: Arc<Store>, log: ModuleLog) -> Self {
        let state = HostState {
            place: None,
            switched: None,
            stop: CancellationToken::new(),
            sent: Vec::new(),
            woke: false,
            system: String::new(),
            commands: Vec::new(),
            window: None,
            compactions: Vec::new(),
        };
        Self {
            system,
            store,
            log,
            state: Mutex::new(state),
            idle: watch::Sender::new(true),
            screen: OnceLock::new(),
            emitter: OnceLock::new(),
            kit: Toolkit::default(),
            flags: BTreeMap::new(),
        }
    }

    pub fn with_flags(mut self, flags: BTreeMap<String, Value>) -> Self {
        self.flags = flags;
        self
    }

    /// What modules wanted to register and could not: which module, and a sentence.
    pub fn refused(&self) -> Vec<(PathBuf, String)> {
        self.kit.refused()
    }

    /// Who is asked before a command changes the session.
    pub(super) fn asks(&self, emitter: &Arc<Emitter>) {
        // Set once, when the modules are put together.
        self.emitter.set(Arc::downgrade(emitter)).ok();
    }

    /// From now on a person can be asked. `Moment::has_ui` tells modules.
    pub fn show_on(&self, screen: Arc<dyn ModuleUi>) {
        // A program has one screen.
        self.screen.set(screen).ok();
    }

    /// The session a command has opened since this was last asked.
    pub fn switched(&self) -> Option<SessionKey> {
        self.lock().switched.take()
    }

    /// From now on modules run in this session, and `abort` cancels this token.
    pub fn enter(&self, place: &SessionKey, stop: &CancellationToken) {
        let mut state = self.lock();
        state.place = Some(place.clone());
        state.stop = stop.clone();
    }

    /// Command lines that were sent since this was last asked.
    pub fn command_lines(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().commands)
    }

    fn is_command(&self, text: &str) -> bool {
        let name = text.strip_prefix('/').and_then(|line| line.split_whitespace().next());
        name.is_some_and(|name| self.modules().is_some_and(|modules| modules.command(name).is_some()))
    }

    /// What modules may know of what the model is told.
    pub fn tell_of(&self, system: &str, window: Option<usize>) {
        let mut state = self.lock();
        state.system = system.to_owned();
        state.window = window;
    }

    /// The oldest compaction that was wished for and not done yet.
    pub fn wish(&self) -> Option<CompactionRequest> {
        let mut state = self.lock();
        (!state.compactions.is_empty()).then(|| state.compactions.remove(0))
    }

    pub(super) fn modules(&self) -> Option<Arc<Emitter>> {
        self.emitter.get().and_then(Weak::upgrade)
    }

    /// Reads every module again. What cannot be loaded any more stays as it is.
    async fn reload(&self) -> Result<Value, HostCallError> {
        for module in self.modules().iter().flat_map(|emitter| emitter.modules()) {
            module.reload().await.map_err(|why| HostCallError::new(format!("{}: {why}", module.path().display())))?;
        }
        Ok(Value::Null)
    }

    pub(super) fn set_idle(&self, idle: bool) {
        self.idle.send_replace(idle);
    }

    /// The session modules run in.
    pub(super) fn place(&self) -> Option<SessionKey> {
        self.lock().place.clone()
    }

    pub(super) fn is_idle(&self) -> bool {
        *self.idle.borrow()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModuleHost for SessionHost {
    fn call<'a>(&'a self, module: &'a Path, call: HostCall) -> HostFuture<'a, Result<Value, HostCallError>> {
        Box::pin(async move {
            if SystemCalls::serves(&call.name) {
                return self.system.call(call).await;
            }
            if let (Some(screen), true) = (self.screen.get(), call.name.starts_with("ui.")) {
                return Ok(screen.prompt(&call).await);
            }
            if let Some(what) = call.name.strip_prefix("session.") {
                return self.session(what, &call);
            }
            match call.name.as_str() {
                "context.isIdle" => Ok(self.is_idle().into()),
                "context.hasQueuedMessages" => {
                    Ok(self.lock().sent.iter().any(|sent| !matches!(sent, ModuleMessage::Entry(_))).into())
                }
                "flags.get" => Ok(self.flags.get(call.text(0)).cloned().unwrap_or_default()),
                "tools.register" => Ok(self.kit.register(module, call.text(0), call.arg(1)).into()),
                "tools.check" => match ona_tools::validate(call.arg(0), call.arg(1)) {
                    Ok(()) => Ok(Value::Null),
                    Err(bad) => Err(HostCallError::new(bad.to_string())),
                },
                "tools.all" => Ok(self.all_tools()),
                "tools.active" => Ok(self.active_tools()),
                "tools.setActive" => {
                    let names = call.arg(0).as_array().into_iter().flatten();
                    self.kit.choose(names.filter_map(|name| name.as_str().map(str::to_owned)));
                    Ok(Value::Null)
                }
                "models.find" => Ok(self.model().filter(|model| model["id"] == call.text(1)).unwrap_or_default()),
                "models.available" | "models.all" => Ok(self.model().into_iter().collect::<Vec<_>>().into()),
                "commands.all" => Ok(self.commands()),
                "context.systemPrompt" => Ok(self.lock().system.clone().into()),
                "context.usage" => self.context_usage(),
                "context.compact" => {
                    let (tell, told) = oneshot::channel();
                    let instructions = call.arg(0).as_str().map(str::to_owned);
                    self.lock().compactions.push(CompactionRequest { instructions, answer: tell });
                    told.await.unwrap_or_else(|_| Err(HostCallError::new("the session ended before it was compacted")))
                }
                "command.reload" => self.reload().await,
                "command.waitForIdle" => {
                    // The sender lives as long as this host.
                    self.idle.subscribe().wait_for(|idle| *idle).await.ok();
                    Ok(Value::Null)
                }
                "command.newSession" => self.new_session(call.arg(0)).await,
                "command.branch" => self.branch(call.text(0)).await,
                "command.navigateTree" => self.navigate(call.text(0), call.arg(1)).await,
                "command.switchSession" => self.switch_session(call.text(0)).await,
                "command.enterSession" => self.enter_session(call.text(0)).await,
                name => match name.strip_prefix("setup.") {
                    Some(what) => self.set_up(what, &call),
                    None => Err(HostCallError::unknown(name)),
                },
            }
        })
    }

    fn tell(&self, module: &Path, call: HostCall) {
        let while_idle = self.is_idle();
        let mut state = self.lock();
        match call.name.as_str() {
            "sendMessage" => {
                let options = call.arg(1);
                let when = DeliverAt::of(options);
                let triggers = ona_modules::rules::truthy(&options["triggerTurn"]) && when != DeliverAt::NextPrompt;
                state.sent.push(ModuleMessage::Message { message: call.arg(0).clone(), triggers, when, while_idle });
                drop(state);
                if let Some(screen) = self.screen.get().filter(|_| call.arg(0)["display"] != Value::Bool(false)) {
                    screen.show(&call);
                }
            }
            // The next prompt runs the command.
            "sendUserMessage" if self.is_command(call.text(0)) => state.commands.push(call.text(0).to_owned()),
            "sendUserMessage" => {
                state
                    .sent
                    .push(ModuleMessage::Words { content: call.arg(0).clone(), when: DeliverAt::of(call.arg(1)) });
            }
            "session.setLabel" => state.sent.push(ModuleMessage::Entry(records::label(call.arg(0), call.arg(1)))),
            "session.setName" => state.sent.push(ModuleMessage::Entry(records::name(call.arg(0)))),
            "bus.emit" => {
                drop(state);
                for other in self.modules().iter().flat_map(|all| all.modules()).filter(|one| one.path() != module) {
                    other.hear(call.text(0), call.arg(1));
                }
            }
            "appendEntry" => state.sent.push(ModuleMessage::Entry(records::entry(call.arg(0), call.arg(1)))),
            "context.abort" => state.stop.cancel(),
            "log" => {
                drop(state);
                (self.log)(module, call.text(0), call.text(1));
            }
            name if name.starts_with("ui.") => {
                drop(state);
                if let Some(screen) = self.screen.get() {
                    screen.show(&call);
                }
            }
            // `context.shutdown`: a run without a person ends by itself.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::{Env, Redactor};

    struct Person(Mutex<Vec<String>>);

    impl ModuleUi for Person {
        fn prompt<'a>(&'a self, call: &'a HostCall) -> HostFuture<'a, Value> {
            Box::pin(async move { json!([call.name, call.arg(0)]) })
        }

        fn show(&self, call: &HostCall) {
            self.0.lock().unwrap().push(call.name.clone());
        }
    }

    /// OM-36.
    #[tokio::test]
    async fn a_screen_is_asked_and_shown_to() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("a.db"), Redactor::default()).unwrap();
        let system = SystemCalls { env: Env::default(), cwd: dir.path().to_owned() };
        let host = SessionHost::new(system, Arc::new(store), Arc::new(|_, _, _| ()));
        let call =
            |name: &str| HostCall { name: name.into(), args: vec![json!("t")], cancel: CancellationToken::new() };
        assert!(host.call(Path::new("m"), call("ui.confirm")).await.is_err());
        let person = Arc::new(Person(Mutex::default()));
        host.show_on(Arc::clone(&person) as Arc<dyn ModuleUi>);
        assert_eq!(host.call(Path::new("m"), call("ui.confirm")).await, Ok(json!(["ui.confirm", "t"])));
        host.tell(Path::new("m"), call("ui.setStatus"));
        assert_eq!(*person.0.lock().unwrap(), ["ui.setStatus"]);
    }
}
