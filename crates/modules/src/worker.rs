//! An installed runtime in a process of its own, one per module.
//!
//! The module's files are written, stripped of their types, into a folder that mirrors
//! their places, with links to the `node_modules` beside them: packages are found as they
//! would be from where the module lies. The host script is part of this program.

use crate::engine::{Engine, EngineHandle, ModuleProgram, Sink};
use crate::frame::{Frame, Overrun};
use crate::graph::ImportTarget;
use crate::host::HostFuture;
use crate::js_runtime::JsRuntime;
use crate::source::Linked;
use ona_process::scratch::{self, Purpose};
use ona_process::{ChildCommand, ChildReader, OnDeath, PersistentChild};
use serde_json::json;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_util::sync::{CancellationToken, DropGuard};

pub struct WorkerEngine {
    name: String,
    runtime: JsRuntime,
    /// Where files for the runtime may be written.
    scratch: PathBuf,
}

const SCRIPT: &str = include_str!("../js/worker.mjs");
const PRELUDE: &[(&str, &str)] = &[
    ("core.js", include_str!("../js/core.js")),
    ("schema.js", include_str!("../js/schema.js")),
    ("toolkit.js", include_str!("../js/toolkit.js")),
    ("host.js", include_str!("../js/host.js")),
];
/// Longest line a worker may say.
const LONGEST: usize = 64 << 20;

impl WorkerEngine {
    pub fn new(runtime: JsRuntime, scratch: PathBuf) -> Self {
        Self { name: runtime.kind.as_str().to_owned(), runtime, scratch }
    }

    async fn begin(&self, program: &ModuleProgram, sink: Sink) -> Result<Box<dyn EngineHandle>, String> {
        let says = |error: io::Error| format!("the module could not be laid out for {}: {error}", self.name);
        let dir = scratch::folder(Purpose::Modules, &self.scratch).map_err(says)?;
        let config = lay_out(program, dir.path()).map_err(says)?;
        let args =
            self.runtime.kind.args().iter().map(|arg| (*arg).into()).chain([dir.path().join("worker.mjs").into()]);
        let command = ChildCommand {
            program: self.runtime.program.clone().into(),
            args: args.collect(),
            cwd: program.cwd.clone(),
            env: program.env.clone(),
            stdin: format!("{config}\n").into_bytes(),
            cap: LONGEST,
            deadline: None,
            grace: Duration::ZERO,
            on_death: OnDeath::Kill,
            wall: None,
        };
        let child = PersistentChild::start(&command).await.map_err(|error| error.to_string())?;
        let (mut speaker, listener) = child.split();
        let (to, mut lines) = unbounded_channel::<String>();
        let pulse = Arc::new(Pulse::default());
        let ended = CancellationToken::new();
        let end = ended.clone();
        tokio::spawn(async move {
            // The speaker ends the process when it goes, and the folder goes after it.
            let _dir = dir;
            loop {
                tokio::select! {
                    biased;
                    () = end.cancelled() => return,
                    line = lines.recv() => match line {
                        Some(line) if speaker.send(&line).await.is_ok() => {}
                        Some(_) | None => return,
                    },
                }
            }
        });
        tokio::spawn(listen(listener, sink.clone(), Arc::clone(&pulse)));
        let guard = ended.clone().drop_guard();
        tokio::spawn(watch(to.clone(), ended, sink, Arc::clone(&pulse), program.limits.cpu));
        Ok(Box::new(Line { to, pulse, _end: guard }))
    }
}

impl Engine for WorkerEngine {
    fn name(&self) -> &str {
        &self.name
    }

    fn start<'a>(
        &'a self,
        program: &'a ModuleProgram,
        sink: Sink,
    ) -> HostFuture<'a, Result<Box<dyn EngineHandle>, String>> {
        Box::pin(self.begin(program, sink))
    }
}

struct Line {
    to: UnboundedSender<String>,
    pulse: Arc<Pulse>,
    _end: DropGuard,
}

impl EngineHandle for Line {
    fn send(&self, message: String) {
        let mut now = self.pulse.lock();
        if message.starts_with("{\"t\":\"invoke\"") {
            now.busy += 1;
            now.heard = now.heard.map(|_| Instant::now());
        } else if message.starts_with("{\"t\":\"answer\"") {
            now.asking = false;
            now.heard = Some(Instant::now());
        }
        drop(now);
        // A process that is gone has said so in a frame.
        self.to.send(message).ok();
    }
}

/// Signs of life of the thread the module runs on.
#[derive(Default)]
struct Pulse(Mutex<Now>);

struct Now {
    /// Calls that are not answered yet; loading is the first.
    busy: u32,
    /// It waits for us.
    asking: bool,
    heard: Option<Instant>,
}

impl Default for Now {
    fn default() -> Self {
        Self { busy: 1, asking: false, heard: None }
    }
}

impl Pulse {
    fn lock(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hear(&self, frame: &Frame) {
        let mut now = self.lock();
        now.heard = Some(Instant::now());
        match frame {
            Frame::Ask { .. } => now.asking = true,
            Frame::Done { .. } | Frame::Threw { .. } | Frame::Loaded(_) | Frame::Failed { .. } => {
                now.busy = now.busy.saturating_sub(1);
            }
            _ => {}
        }
    }

    fn is_silent(&self, budget: Duration) -> bool {
        let now = self.lock();
        now.busy > 0 && !now.asking && now.heard.is_some_and(|heard| heard.elapsed() > budget)
    }
}

async fn listen(mut listener: ChildReader, sink: Sink, pulse: Arc<Pulse>) {
    let why = loop {
        match listener.receive().await {
            // What a child of the module prints on our line is not for us.
            Ok(line) => {
                if let Some(frame) = Frame::read(&line) {
                    pulse.hear(&frame);
                    (sink.frame)(frame);
                }
            }
            Err(lost) => break lost.to_string(),
        }
    };
    (sink.frame)(Frame::Gone { why });
}

/// A thread that answers no ping for as long as its budget is spinning.
async fn watch(to: UnboundedSender<String>, ended: CancellationToken, sink: Sink, pulse: Arc<Pulse>, budget: Duration) {
    let pause = (budget / 4).max(Duration::from_millis(20));
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        if pulse.is_silent(budget) {
            (sink.frame)(Frame::Overrun { what: Overrun::Cpu });
            ended.cancel();
            return;
        }
        if pulse.lock().busy > 0 {
            // The next look at the process finds that it is gone.
            to.send("{\"t\":\"ping\"}".into()).ok();
        }
    }
}

/// Writes all files the runtime needs; returns the first message to it.
fn lay_out(program: &ModuleProgram, dir: &Path) -> io::Result<serde_json::Value> {
    std::fs::write(dir.join("worker.mjs"), SCRIPT)?;
    let mut prelude = Vec::new();
    for (name, text) in PRELUDE {
        let path = dir.join(name);
        std::fs::write(&path, text)?;
        prelude.push(path);
    }
    let mirror = dir.join("files");
    let place = |path: &Path| {
        let within = path.strip_prefix("/").unwrap_or(path).to_string_lossy();
        // An ending all runtimes take for a module that needs nothing done to it.
        mirror.join(format!("{within}.mjs"))
    };
    let url = |path: &Path| format!("file://{}", escaped(&place(path).to_string_lossy()));
    let texts = program.graph.emit(|target| match target {
        ImportTarget::File(path) => Linked::Specifier(url(path)),
        ImportTarget::Builtin(name) if name == "bun" => Linked::Specifier("bun".into()),
        ImportTarget::Builtin(name) => Linked::Specifier(format!("node:{name}")),
        ImportTarget::Package(name) => Linked::Specifier(name.clone()),
        ImportTarget::Host(name) | ImportTarget::Missing(name) => Linked::Provided(name.clone()),
    });
    for (path, text) in texts {
        let file = place(&path);
        std::fs::create_dir_all(file.parent().unwrap_or(&mirror))?;
        std::fs::write(file, text)?;
    }
    link_packages(program, &mirror)?;
    Ok(json!({
        "entry": url(&program.graph.entry),
        "prelude": prelude,
        "heap": program.limits.heap >> 20,
    }))
}

/// Every `node_modules` above a file is also above its copy.
fn link_packages(program: &ModuleProgram, mirror: &Path) -> io::Result<()> {
    let folders: BTreeSet<_> = program.graph.files().flat_map(|file| file.ancestors().skip(1)).collect();
    for folder in folders {
        let packages = folder.join("node_modules");
        if packages.is_dir() {
            let there = mirror.join(folder.strip_prefix("/").unwrap_or(folder));
            std::fs::create_dir_all(&there)?;
            std::os::unix::fs::symlink(packages, there.join("node_modules"))?;
        }
    }
    Ok(())
}

fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
