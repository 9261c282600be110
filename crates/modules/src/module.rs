//! One loaded module, its engine, and the calls into it.
//!
//! A module that overruns its limits, or does not answer in time, is ended and loaded
//! again for the next call: what it kept in memory is lost, the agent is not.

use crate::engine::{Engine, EngineHandle, ModuleProgram, Sink};
use crate::frame::{Frame, Overrun, Registry};
use crate::graph::Graph;
use crate::host::{HostCall, HostCallError, ModuleHost};
use crate::spin_wait::spin_wait;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};
use tokio_util::sync::CancellationToken;

/// The outcome of a call into a module.
#[derive(Clone, Debug, PartialEq)]
pub enum CallOutcome {
    /// `None` is `undefined`.
    Returned(Option<Value>),
    Threw {
        message: String,
        /// Thrown was an `Error`, not just any value.
        is_error: bool,
    },
    TimedOut(Duration),
    Overrun(Overrun),
    Cancelled,
    /// The module could not be started again.
    Lost(String),
}

/// A request to a module.
#[derive(Clone, Debug)]
pub enum ModuleRequest<'a> {
    Event(Emission<'a>),
    Command { name: &'a str, args: &'a str },
    Render { custom_type: &'a str, message: &'a Value, expanded: bool, width: usize },
    Tool { name: &'a str, call: &'a str, args: &'a Value },
    Shortcut { key: &'a str },
}

/// One handler of one event.
#[derive(Clone, Debug)]
pub struct Emission<'a> {
    pub event: &'a str,
    /// Which of the module's handlers of this event.
    pub nth: usize,
    /// The event object as JSON text.
    pub payload: &'a str,
    /// The same for all handlers of one occurrence.
    pub number: u64,
    /// The event carries an `AbortSignal`.
    pub signal: bool,
    /// Fields that are there with the value `undefined`.
    pub absent: &'a [&'a str],
}

/// The values of `ctx`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModuleContext {
    pub has_ui: bool,
    pub cwd: String,
    pub model: Option<Value>,
}

impl ModuleContext {
    fn to_json(&self) -> Value {
        json!({"hasUI": self.has_ui, "cwd": self.cwd, "model": self.model})
    }
}

pub struct Module {
    program: Mutex<Arc<ModuleProgram>>,
    path: PathBuf,
    engine: Arc<dyn Engine>,
    host: Arc<dyn ModuleHost>,
    world: tokio::sync::Mutex<Option<Arc<World>>>,
    registry: Arc<Mutex<Registry>>,
    last_id: AtomicU64,
}

/// How long a module may take to load.
const LOADING: Duration = Duration::from_secs(60);

impl Module {
    /// Loads a module. The error is the text the operator reads.
    pub async fn load(
        program: ModuleProgram,
        engine: Arc<dyn Engine>,
        host: Arc<dyn ModuleHost>,
    ) -> Result<Self, String> {
        let module = Self {
            path: program.graph.entry.clone(),
            program: Mutex::new(Arc::new(program)),
            engine,
            host,
            world: tokio::sync::Mutex::new(None),
            registry: Arc::default(),
            last_id: AtomicU64::new(0),
        };
        let world = module.begin().await?;
        *module.world.lock().await = Some(world);
        Ok(module)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the module and the files it imports.
    pub fn files(&self) -> Vec<PathBuf> {
        let program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        program.graph.files().map(Path::to_owned).collect()
    }

    pub fn engine(&self) -> &str {
        self.engine.name()
    }

    pub fn registry(&self) -> Registry {
        lock(&self.registry).clone()
    }

    /// Returns how many handlers it has for an event.
    pub fn handlers(&self, event: &str) -> usize {
        lock(&self.registry).handlers.get(event).copied().unwrap_or(0)
    }

    /// Delivers a message of another module from the shared bus, without waiting. A module that
    /// is just being started does not receive it.
    pub fn hear(&self, name: &str, data: &Value) {
        let Ok(world) = self.world.try_lock() else { return };
        if let Some(world) = world.as_ref().filter(|world| world.is_alive()) {
            world.send(json!({"t": "bus", "name": name, "data": data}).to_string());
        }
    }

    /// Calls into the module and waits. Time while a dialog is open does not count.
    pub async fn invoke(
        &self,
        request: ModuleRequest<'_>,
        moment: &ModuleContext,
        limit: Option<Duration>,
        cancel: &CancellationToken,
    ) -> CallOutcome {
        let world = match self.current().await {
            Ok(world) => world,
            Err(why) => return CallOutcome::Lost(why),
        };
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let (tell, mut answer) = oneshot::channel();
        lock(&world.waiting).insert(id, tell);
        world.send(message(id, &request, moment));
        if world.is_beside_us()
            && let Some(said) = spin_wait(|| answer.try_recv().ok())
        {
            return said;
        }
        let mut dialogs = world.dialogs.subscribe();
        let mut left = limit.unwrap_or(Duration::MAX);
        loop {
            let paused = *dialogs.borrow_and_update() > 0 || limit.is_none();
            let since = Instant::now();
            tokio::select! {
                biased;
                said = &mut answer => return said.unwrap_or_else(|_| CallOutcome::Lost("the module ended".into())),
                () = cancel.cancelled() => {
                    lock(&world.waiting).remove(&id);
                    world.send(json!({"t": "abort", "id": id}).to_string());
                    return CallOutcome::Cancelled;
                }
                () = tokio::time::sleep(left), if !paused => {
                    world.end(&CallOutcome::TimedOut(limit.unwrap_or_default()));
                    return CallOutcome::TimedOut(limit.unwrap_or_default());
                }
                _ = dialogs.changed() => {
                    if !paused {
                        left = left.saturating_sub(since.elapsed());
                    }
                }
            }
        }
    }

    /// Reads the file again and restarts the module. If that fails, nothing changes.
    pub async fn reload(&self) -> Result<(), String> {
        let graph = Graph::read(&self.path).map_err(|error| format!("Failed to load hook: {error}"))?;
        let old = Arc::clone(&lock(&self.program));
        let (new, before) = (Arc::new(ModuleProgram { graph, ..(*old).clone() }), self.registry());
        *lock(&self.program) = new;
        // The running instance stays until its last caller is done.
        let mut current = self.world.lock().await;
        match self.begin().await {
            Ok(world) => {
                *current = Some(world);
                Ok(())
            }
            Err(why) => {
                *lock(&self.program) = old;
                *lock(&self.registry) = before;
                Err(why)
            }
        }
    }

    /// Returns the running engine, restarted if the last one ended.
    async fn current(&self) -> Result<Arc<World>, String> {
        let mut current = self.world.lock().await;
        if let Some(world) = current.as_ref().filter(|world| world.is_alive()) {
            return Ok(Arc::clone(world));
        }
        // Ended before the next begins: the two must not run side by side.
        *current = None;
        let world = self.begin().await?;
        *current = Some(Arc::clone(&world));
        Ok(world)
    }

    async fn begin(&self) -> Result<Arc<World>, String> {
        let (tell, loaded) = oneshot::channel();
        let program = Arc::clone(&lock(&self.program));
        let world = Arc::new(World {
            path: self.path.clone(),
            host: Arc::clone(&self.host),
            link: OnceLock::new(),
            waiting: Mutex::default(),
            calls: Mutex::default(),
            dialogs: watch::Sender::new(0),
            loading: Mutex::new(Some(tell)),
            registry: Arc::clone(&self.registry),
            dead: AtomicBool::new(false),
            runtime: tokio::runtime::Handle::current(),
        });
        let sink = sink(&world);
        let link = self.engine.start(&program, sink).await.map_err(|why| format!("Failed to load hook: {why}"))?;
        if world.link.set(link).is_err() {
            unreachable!("a world is begun once");
        }
        match tokio::time::timeout(LOADING, loaded).await {
            Ok(Ok(Ok(()))) => Ok(world),
            Ok(Ok(Err(message))) => Err(message),
            Ok(Err(_)) => Err("Failed to load hook: the module ended while it was loaded".into()),
            Err(_) => Err(format!("Failed to load hook: it took longer than {} s", LOADING.as_secs())),
        }
    }
}

fn sink(world: &Arc<World>) -> Sink {
    let weak = Arc::downgrade(world);
    let frames = weak.clone();
    Sink {
        frame: Arc::new(move |frame| {
            if let Some(world) = frames.upgrade() {
                World::take(&world, frame);
            }
        }),
        ask: Arc::new(move |name, args| match weak.upgrade() {
            Some(world) => {
                let call = HostCall { name, args, cancel: CancellationToken::new() };
                let answer = world.host.call(&world.path, call);
                reply(world.runtime.block_on(answer))
            }
            None => reply(Err(HostCallError::new("the module is gone"))),
        }),
    }
}

/// `{"ok":…}` or `{"error":…}`.
fn reply(result: Result<Value, HostCallError>) -> String {
    match result {
        Ok(value) => format!("{{\"ok\":{value}}}"),
        Err(error) => format!("{{\"error\":{}}}", error.to_json()),
    }
}

/// A module while its engine runs.
struct World {
    path: std::path::PathBuf,
    host: Arc<dyn ModuleHost>,
    link: OnceLock<Box<dyn EngineHandle>>,
    waiting: Mutex<HashMap<u64, oneshot::Sender<CallOutcome>>>,
    /// Requests of the module that are being served.
    calls: Mutex<HashMap<u64, CancellationToken>>,
    /// How many dialogs are open.
    dialogs: watch::Sender<usize>,
    loading: Mutex<Option<oneshot::Sender<Result<(), String>>>>,
    registry: Arc<Mutex<Registry>>,
    dead: AtomicBool,
    runtime: tokio::runtime::Handle,
}

impl World {
    fn is_alive(&self) -> bool {
        !self.dead.load(Ordering::Acquire)
    }

    fn send(&self, message: String) {
        if let Some(link) = self.link.get() {
            link.send(message);
        }
    }

    fn is_beside_us(&self) -> bool {
        self.link.get().is_some_and(|link| link.is_beside_us())
    }

    /// Everyone who waits gets this; the engine goes with the last who holds the world.
    fn end(&self, answer: &CallOutcome) {
        self.dead.store(true, Ordering::Release);
        for (_, waiting) in lock(&self.waiting).drain() {
            // Who waited may have given up.
            waiting.send(answer.clone()).ok();
        }
        for (_, call) in lock(&self.calls).drain() {
            call.cancel();
        }
        self.loaded(Err(match answer {
            CallOutcome::Overrun(what) => format!("Failed to load hook: {}", what.as_str()),
            CallOutcome::Lost(why) => format!("Failed to load hook: {why}"),
            _ => "Failed to load hook: the module ended while it was loaded".to_owned(),
        }));
    }

    fn loaded(&self, how: Result<(), String>) {
        if let Some(loading) = lock(&self.loading).take() {
            // Who waited may have given up.
            loading.send(how).ok();
        }
    }

    fn answer(&self, id: u64, answer: CallOutcome) {
        if let Some(waiting) = lock(&self.waiting).remove(&id) {
            // Who waited may have given up.
            waiting.send(answer).ok();
        }
    }

    fn take(world: &Arc<Self>, frame: Frame) {
        match frame {
            Frame::Loaded(registry) => {
                *lock(&world.registry) = registry;
                world.loaded(Ok(()));
            }
            Frame::Failed { message } => world.loaded(Err(message)),
            Frame::Registered(registry) => *lock(&world.registry) = registry,
            Frame::Done { id, value } => world.answer(id, CallOutcome::Returned(value)),
            Frame::Threw { id, error, message, .. } => {
                world.answer(id, CallOutcome::Threw { message, is_error: error })
            }
            Frame::Call { id, name, args } => Self::serve(world, id, name, args, "reply"),
            Frame::Ask { id, name, args } => Self::serve(world, id, name, args, "answer"),
            Frame::Cancel { id } => {
                if let Some(call) = lock(&world.calls).get(&id) {
                    call.cancel();
                }
            }
            Frame::Tell { name, args } => {
                world.host.tell(&world.path, HostCall { name, args, cancel: CancellationToken::new() });
            }
            Frame::Pong => {}
            Frame::Overrun { what } => world.end(&CallOutcome::Overrun(what)),
            Frame::Gone { why } => world.end(&CallOutcome::Lost(why)),
        }
    }

    fn serve(world: &Arc<Self>, id: u64, name: String, args: Vec<Value>, how: &'static str) {
        let cancel = CancellationToken::new();
        lock(&world.calls).insert(id, cancel.clone());
        let weak: Weak<Self> = Arc::downgrade(world);
        let (host, path) = (Arc::clone(&world.host), world.path.clone());
        world.runtime.spawn(async move {
            let call = HostCall { name, args, cancel };
            let dialog = call.is_dialog();
            let count = |by: isize| {
                if let (true, Some(world)) = (dialog, weak.upgrade()) {
                    world.dialogs.send_modify(|open| *open = open.saturating_add_signed(by));
                }
            };
            count(1);
            let result = host.call(&path, call).await;
            count(-1);
            let Some(world) = weak.upgrade() else { return };
            lock(&world.calls).remove(&id);
            let text = reply(result);
            world.send(format!("{{\"t\":\"{how}\",\"id\":{id},{}", &text[1..]));
        });
    }
}

fn message(id: u64, request: &ModuleRequest<'_>, moment: &ModuleContext) -> String {
    let context = moment.to_json();
    match request {
        ModuleRequest::Event(one) => {
            // The payload may be long; it is copied once.
            let mut text = format!(
                "{{\"t\":\"invoke\",\"id\":{id},\"kind\":\"event\",\"event\":{},\"nth\":{},\"emission\":{},\"signal\":{},\"context\":{context},",
                Value::from(one.event),
                one.nth,
                one.number,
                one.signal,
            );
            if !one.absent.is_empty() {
                text.push_str(&format!("\"absent\":{},", json!(one.absent)));
            }
            text.push_str("\"payload\":");
            text.push_str(one.payload);
            text.push('}');
            text
        }
        ModuleRequest::Command { name, args } => {
            json_invoke(id, json!({"kind": "command", "name": name, "args": args, "context": context}))
        }
        ModuleRequest::Tool { name, call, args } => {
            json_invoke(id, json!({"kind": "tool", "name": name, "call": call, "args": args, "context": context}))
        }
        ModuleRequest::Shortcut { key } => {
            json_invoke(id, json!({"kind": "shortcut", "name": key, "context": context}))
        }
        ModuleRequest::Render { custom_type, message, expanded, width } => json_invoke(
            id,
            json!({"kind": "render", "name": custom_type, "message": message, "options": {"expanded": expanded}, "width": width}),
        ),
    }
}

fn json_invoke(id: u64, mut fields: Value) -> String {
    let Value::Object(fields) = &mut fields else { unreachable!("built as an object") };
    let mut all = serde_json::Map::new();
    all.insert("t".into(), "invoke".into());
    all.insert("id".into(), id.into());
    all.append(fields);
    Value::Object(all).to_string()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic leaves behind here are maps of waiting calls, each whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
