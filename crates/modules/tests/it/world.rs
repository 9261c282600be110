//! A folder with modules, a host that notes what it is asked, and an engine.

use ona_api::Env;
use ona_modules::{
    CallOutcome, Emission, Engine, EngineLimits, Graph, HostCall, HostCallError, HostFuture, Module, ModuleContext,
    ModuleHost, ModuleProgram, ModuleRequest, SystemCalls,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) struct World {
    pub dir: tempfile::TempDir,
    pub host: Arc<Noting>,
    pub engine: Arc<dyn Engine>,
    pub limits: EngineLimits,
}

/// Answers what a test told it to and keeps what modules said.
pub(crate) struct Noting {
    pub system: SystemCalls,
    pub told: Mutex<Vec<(String, Vec<Value>)>>,
    pub answers: Mutex<Vec<(String, Value)>>,
    /// Dialogs wait until this is cancelled.
    pub person: CancellationToken,
}

impl ModuleHost for Noting {
    fn call<'a>(&'a self, _: &'a Path, call: HostCall) -> HostFuture<'a, Result<Value, HostCallError>> {
        Box::pin(async move {
            if SystemCalls::serves(&call.name) {
                return self.system.call(call).await;
            }
            if call.is_dialog() {
                self.person.cancelled().await;
            }
            let known = self.answers.lock().unwrap().iter().find(|(name, _)| *name == call.name).cloned();
            self.told.lock().unwrap().push((call.name.clone(), call.args));
            known.map(|(_, value)| value).ok_or_else(|| HostCallError::unknown(&call.name))
        })
    }

    fn tell(&self, _: &Path, call: HostCall) {
        self.told.lock().unwrap().push((call.name, call.args));
    }
}

impl Noting {
    pub(crate) fn told(&self, name: &str) -> Vec<Vec<Value>> {
        self.told.lock().unwrap().iter().filter(|(one, _)| one == name).map(|(_, args)| args.clone()).collect()
    }

    pub(crate) fn answer(&self, name: &str, value: Value) {
        self.answers.lock().unwrap().push((name.to_owned(), value));
    }
}

#[expect(clippy::disallowed_methods, reason = "tests run programs of this machine")]
pub(crate) fn path_variable() -> String {
    std::env::var("PATH").unwrap_or_default()
}

impl World {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::default().with("PATH", path_variable()).with("HOME", dir.path()).with("GREETING", "hello");
        let system = SystemCalls { env, cwd: dir.path().to_owned() };
        let host =
            Noting { system, told: Mutex::default(), answers: Mutex::default(), person: CancellationToken::new() };
        Self { dir, host: Arc::new(host), engine, limits: EngineLimits::default() }
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) async fn load(&self, name: &str, text: &str) -> Result<Module, String> {
        let path = self.file(name, text);
        let graph = Graph::read(&path).map_err(|error| format!("Failed to load hook: {error}"))?;
        let program = ModuleProgram {
            graph,
            cwd: self.dir.path().to_owned(),
            env: self.host.system.env.clone(),
            limits: self.limits,
        };
        Module::load(program, Arc::clone(&self.engine), Arc::clone(&self.host) as Arc<dyn ModuleHost>).await
    }

    /// Loads a module whose `tool_call` handler is this body, and fires it.
    pub(crate) async fn run(&self, name: &str, body: &str) -> CallOutcome {
        let text = format!("export default (pi) => {{ pi.on(\"tool_call\", async (event, ctx) => {{ {body} }}); }};");
        match self.load(name, &text).await {
            Ok(module) => fire(&module, "tool_call", 0, &json!({"type": "tool_call"}), None).await,
            Err(why) => panic!("{why}"),
        }
    }
}

pub(crate) fn moment() -> ModuleContext {
    ModuleContext { has_ui: false, cwd: "/work".into(), model: None }
}

pub(crate) async fn fire(
    module: &Module,
    event: &str,
    nth: usize,
    payload: &Value,
    limit: Option<Duration>,
) -> CallOutcome {
    fire_in(module, event, nth, payload, &moment(), limit).await
}

pub(crate) async fn fire_in(
    module: &Module,
    event: &str,
    nth: usize,
    payload: &Value,
    moment: &ModuleContext,
    limit: Option<Duration>,
) -> CallOutcome {
    let payload = payload.to_string();
    let emission = Emission { event, nth, payload: &payload, number: 1, signal: false, absent: &[] };
    module.invoke(ModuleRequest::Event(emission), moment, limit, &CancellationToken::new()).await
}
