//! QuickJS inside the program: one thread and one runtime per module.
//!
//! The thread sleeps until a message or a timer is due. Time spent in JavaScript is
//! measured from message to message; waiting for an answer of ona does not count.

use crate::engine::{Engine, EngineHandle, ModuleProgram, Sink};
use crate::frame::{Frame, Overrun};
use crate::graph::ImportTarget;
use crate::host::HostFuture;
use crate::source::Linked;
use crate::spin_wait::spin_wait;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::{Context, Ctx, Error, Function, Module, Object, Runtime, TypedArray};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

pub struct QuickJs;

const PRELUDE: &[(&str, &str)] = &[
    ("core.js", include_str!("../js/core.js")),
    ("embedded/globals.js", include_str!("../js/embedded/globals.js")),
    ("schema.js", include_str!("../js/schema.js")),
    ("toolkit.js", include_str!("../js/toolkit.js")),
    ("host.js", include_str!("../js/host.js")),
    ("embedded/path.js", include_str!("../js/embedded/path.js")),
    ("embedded/fs.js", include_str!("../js/embedded/fs.js")),
    ("embedded/modules.js", include_str!("../js/embedded/modules.js")),
];

/// QuickJS counts its own frames; the thread has room beyond that for native ones.
const THREAD_STACK: usize = 8 << 20;

impl Engine for QuickJs {
    fn name(&self) -> &str {
        "embedded"
    }

    fn start<'a>(
        &'a self,
        program: &'a ModuleProgram,
        sink: Sink,
    ) -> HostFuture<'a, Result<Box<dyn EngineHandle>, String>> {
        let (to, from) = channel();
        let ended = Arc::new(AtomicBool::new(false));
        let (program, flag) = (program.clone(), Arc::clone(&ended));
        let thread = std::thread::Builder::new().name("hook module".into()).stack_size(THREAD_STACK);
        let started = thread.spawn(move || {
            if let Err(why) = live(&program, &from, &sink, flag) {
                (sink.frame)(Frame::Gone { why });
            }
        });
        Box::pin(async move {
            started.map_err(|error| format!("no thread for the module: {error}"))?;
            Ok(Box::new(Thread { to, ended }) as Box<dyn EngineHandle>)
        })
    }
}

struct Thread {
    to: Sender<String>,
    ended: Arc<AtomicBool>,
}

impl EngineHandle for Thread {
    fn send(&self, message: String) {
        // A thread that is gone has said so in a frame.
        self.to.send(message).ok();
    }

    fn is_beside_us(&self) -> bool {
        true
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// How long JavaScript has run since it was last given something to do.
struct Meter {
    since: Cell<Instant>,
    used: Cell<Duration>,
    budget: Duration,
    tripped: Cell<bool>,
    /// Calls of ona that are not answered yet.
    open: Cell<u32>,
}

impl Meter {
    fn begin(&self) {
        self.since.set(Instant::now());
        if self.open.get() == 0 {
            self.used.set(Duration::ZERO);
        }
    }

    fn end(&self) {
        self.used.set(self.used.get() + self.since.get().elapsed());
    }

    fn is_over(&self) -> bool {
        let over = self.used.get() + self.since.get().elapsed() > self.budget;
        if over {
            self.tripped.set(true);
        }
        over
    }
}

fn live(program: &ModuleProgram, from: &Receiver<String>, sink: &Sink, ended: Arc<AtomicBool>) -> Result<(), String> {
    let says = |error: Error| error.to_string();
    let runtime = Runtime::new().map_err(says)?;
    runtime.set_memory_limit(program.limits.heap);
    runtime.set_max_stack_size(program.limits.stack);
    let meter = Rc::new(Meter {
        since: Cell::new(Instant::now()),
        used: Cell::new(Duration::ZERO),
        budget: program.limits.cpu,
        tripped: Cell::new(false),
        open: Cell::new(0),
    });
    let watch = Rc::clone(&meter);
    let flag = Arc::clone(&ended);
    runtime.set_interrupt_handler(Some(Box::new(move || flag.load(Ordering::Relaxed) || watch.is_over())));
    let texts = program.graph.emit(|target| match target {
        ImportTarget::File(path) => Linked::Specifier(path.to_string_lossy().into_owned()),
        ImportTarget::Host(name)
        | ImportTarget::Builtin(name)
        | ImportTarget::Package(name)
        | ImportTarget::Missing(name) => Linked::Provided(name.clone()),
    });
    let texts: HashMap<_, _> =
        texts.into_iter().map(|(path, text)| (path.to_string_lossy().into_owned(), text)).collect();
    runtime.set_loader(Files, Texts(texts));
    let context = Context::full(&runtime).map_err(says)?;
    let world = World { runtime, context, meter, sink: sink.clone() };
    world.prepare(program)?;
    world.meter.open.set(1);
    world.enter(|ctx| {
        let entry = Value::from(program.graph.entry.to_string_lossy()).to_string();
        ctx.eval::<(), _>(format!("__ona.start(() => import({entry}));"))
    });
    world.serve(from, &ended);
    Ok(())
}

struct World {
    runtime: Runtime,
    context: Context,
    meter: Rc<Meter>,
    sink: Sink,
}

impl World {
    fn prepare(&self, program: &ModuleProgram) -> Result<(), String> {
        self.context.with(|ctx| {
            let ready = self.bridge(&ctx, program).and_then(|()| {
                for (_, text) in PRELUDE {
                    ctx.eval::<(), _>(*text)?;
                }
                Ok(())
            });
            ready.map_err(|error| match error {
                Error::Exception => format!("the prelude failed: {:?}", ctx.catch()),
                other => other.to_string(),
            })
        })
    }

    fn bridge<'js>(&self, ctx: &Ctx<'js>, program: &ModuleProgram) -> rquickjs::Result<()> {
        let bridge = Object::new(ctx.clone())?;
        let (sink, meter) = (self.sink.clone(), Rc::clone(&self.meter));
        let post = move |text: String| {
            if let Some(frame) = Frame::read(&text) {
                match &frame {
                    Frame::Done { .. } | Frame::Threw { .. } | Frame::Loaded(_) | Frame::Failed { .. } => {
                        meter.open.set(meter.open.get().saturating_sub(1));
                    }
                    _ => {}
                }
                (sink.frame)(frame);
            }
        };
        bridge.set("post", Function::new(ctx.clone(), post)?)?;
        let (sink, meter) = (self.sink.clone(), Rc::clone(&self.meter));
        let ask = move |text: String| -> String {
            #[derive(serde::Deserialize)]
            struct Ask {
                name: String,
                args: Vec<Value>,
            }
            let Ok(Ask { name, args }) = ona_api::text::json(&text) else {
                return json!({"error": {"message": "unreadable request"}}).to_string();
            };
            meter.end();
            let reply = (sink.ask)(name, args);
            meter.since.set(Instant::now());
            reply
        };
        bridge.set("ask", Function::new(ctx.clone(), ask)?)?;
        let computed = "(async (path, what) => { try { return __ona.provided(what.replace(/^node:/, '')); } catch { \
             throw new Error(`the embedded engine cannot import ${what}: its name is made while the module runs`); } })";
        bridge.set("importFrom", ctx.eval::<Function, _>(computed)?)?;
        bridge.set("outOfMemoryIsNull", true)?;
        ctx.globals().set("__bridge", bridge)?;

        let native = Object::new(ctx.clone())?;
        let began = Instant::now();
        native.set("now", Function::new(ctx.clone(), move || began.elapsed().as_secs_f64() * 1000.0)?)?;
        native.set(
            "encode",
            Function::new(ctx.clone(), |ctx: Ctx<'js>, text: String| TypedArray::<u8>::new(ctx, text.into_bytes()))?,
        )?;
        native.set("surroundings", surroundings(program).to_string())?;
        ctx.globals().set("__native", native)
    }

    /// Runs JavaScript and everything it set in motion.
    fn enter(&self, work: impl for<'js> FnOnce(Ctx<'js>) -> rquickjs::Result<()>) {
        self.meter.begin();
        let done = self.context.with(work);
        let mut failed = done.is_err();
        loop {
            match self.runtime.execute_pending_job() {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) if self.meter.tripped.get() => break,
                Err(_) => failed = true,
            }
        }
        self.meter.end();
        if self.meter.tripped.get() {
            (self.sink.frame)(Frame::Overrun { what: Overrun::Cpu });
        } else if failed {
            // Every error a module makes is caught in the prelude; what gets here could
            // not even be told.
            (self.sink.frame)(Frame::Overrun { what: Overrun::Memory });
        }
    }

    fn serve(&self, from: &Receiver<String>, ended: &AtomicBool) {
        while !ended.load(Ordering::Relaxed) && !self.meter.tripped.get() {
            // Events come in groups: the next one may be on its way.
            let message = match (spin_wait(|| from.try_recv().ok()), self.next_timer()) {
                (Some(message), _) => Ok(message),
                (None, Some(wait)) => from.recv_timeout(wait),
                (None, None) => from.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match message {
                Ok(message) => {
                    if message.starts_with("{\"t\":\"invoke\"") {
                        self.meter.used.set(Duration::ZERO);
                        self.meter.open.set(self.meter.open.get() + 1);
                    }
                    self.enter(|ctx| {
                        let ona: Object = ctx.globals().get("__ona")?;
                        ona.get::<_, Function>("receive")?.call((message,))
                    });
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Runs the timers that are due; how long until the next.
    fn next_timer(&self) -> Option<Duration> {
        let mut next = -1.0;
        let tick = &mut next;
        self.enter(move |ctx| {
            let ona: Object = ctx.globals().get("__ona")?;
            *tick = ona.get::<_, Function>("tick")?.call(())?;
            Ok(())
        });
        (next >= 0.0).then(|| Duration::from_secs_f64(next / 1000.0))
    }
}

fn surroundings(program: &ModuleProgram) -> Value {
    let env: serde_json::Map<_, _> = program
        .env
        .iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), Value::from(value.to_string_lossy())))
        .collect();
    // A system without this file has no name to show.
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    json!({
        "env": env,
        "cwd": program.cwd.to_string_lossy(),
        "module": program.graph.entry.to_string_lossy(),
        "home": program.env.home().to_string_lossy(),
        "pid": std::process::id(),
        "uid": rustix::process::getuid().as_raw(),
        "platform": if cfg!(target_os = "macos") { "darwin" } else { "linux" },
        "arch": if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" },
        "hostname": if hostname.trim().is_empty() { "localhost" } else { hostname.trim() },
        "cpus": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// Every import was resolved when the files were read.
struct Files;

impl Resolver for Files {
    fn resolve<'js>(
        &mut self,
        _: &Ctx<'js>,
        _: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        Ok(name.to_owned())
    }
}

struct Texts(HashMap<String, String>);

impl Loader for Texts {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js>> {
        match self.0.remove(name) {
            Some(text) => Module::declare(ctx.clone(), name, text),
            None => Err(Error::new_loading(name)),
        }
    }
}
