//! Handlers that are Python functions, served by one interpreter that stays
//! (DEC-152): modules are imported once and keep their state.
//!
//! A call that takes too long takes the interpreter with it, since nothing else stops
//! Python code; the next call starts another and imports again. Importing has a budget of
//! its own: it happens once and is often slow.

use super::result::{HookResult, MassgenDecision};
use ona_api::{Env, EventName, clock, environment};
use ona_hookplane::{CAPTURE, Exit, HandlerFuture, HookExecution, HookHandler, HookInvocation, decode};
use ona_process::{ChildCommand, ChildIoError, OnDeath, PersistentChild, SpawnError};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

const SERVER: &str = include_str!("worker.py");
const IMPORT_BUDGET: Duration = Duration::from_secs(60);

pub(super) struct PythonHook {
    /// The files its function may be loaded from.
    pub files: Vec<PathBuf>,
    pub label: String,
    pub handler: String,
    pub python: Arc<Python>,
}

impl HookHandler for PythonHook {
    fn label(&self) -> &str {
        &self.label
    }

    fn files(&self) -> Vec<PathBuf> {
        self.files.clone()
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started_at = clock::utc_millis(clock::now());
            let (exit, stdout, stderr) = self.python.call(&self.handler, called).await;
            HookExecution::ended(started_at, exit, stdout, stderr)
        })
    }

    fn ready(&self) -> HandlerFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let mut place = self.python.live.lock().await;
            match self.python.imported(&mut place, &self.handler, &self.python.cancel).await {
                Ok(live) => {
                    *place = Some(live);
                    Ok(())
                }
                Err(Unusable::Missing { why, .. }) => Err(why),
                Err(Unusable::Cancelled) => Err("interrupted while a hook was imported".into()),
            }
        })
    }
}

/// The interpreter, started when it is first needed.
pub(super) struct Python {
    /// Where the configuration is.
    pub folder: PathBuf,
    /// Where the session starts.
    pub cwd: PathBuf,
    pub env: Env,
    /// Ends an import that no firing waits for.
    pub cancel: CancellationToken,
    /// Taken out while in use, so that an exchange that is cancelled does not leave an
    /// interpreter with an unread answer.
    live: Mutex<Option<Live>>,
}

struct Live {
    worker: PersistentChild,
    imported: HashSet<String>,
}

enum Unusable {
    /// Why, and what was printed in the meantime.
    Missing {
        why: String,
        said: String,
    },
    Cancelled,
}

/// What the server answers; see `worker.py`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    missing: Option<String>,
    result: Option<Value>,
    other: Option<Value>,
    raised: Option<String>,
    trace: String,
    lost: Vec<String>,
    prints: String,
}

impl Python {
    pub(super) fn new(folder: &Path, cwd: &Path, env: Env, cancel: CancellationToken) -> Self {
        Self { folder: folder.to_owned(), cwd: cwd.to_owned(), env, cancel, live: Mutex::new(None) }
    }

    /// How one call ended, with what goes into its row.
    async fn call(&self, handler: &str, called: HookInvocation<'_>) -> (Exit, String, String) {
        let mut place = self.live.lock().await;
        let mut live = match self.imported(&mut place, handler, called.cancel).await {
            Ok(live) => live,
            Err(Unusable::Cancelled) => return (Exit::Cancelled, String::new(), String::new()),
            Err(Unusable::Missing { why, said }) => return (Exit::NotStarted(why), String::new(), said),
        };
        let cwd = called.firing.base.cwd.to_string_lossy();
        let line = format!(r#"{{"call":{},"cwd":{},"event":{}}}"#, json!(handler), json!(cwd), called.stdin);
        let answer = tokio::select! {
            answer = tokio::time::timeout(called.timeout, live.request(&line)) => answer,
            () = called.cancel.cancelled() => return (Exit::Cancelled, String::new(), live.take_stderr()),
        };
        match answer {
            Err(_) => (Exit::TimedOut { after: called.timeout }, String::new(), live.take_stderr()),
            Ok(Err(lost)) => {
                let said = joined(live.take_stderr(), &format!("the Python process was lost: {lost}"));
                (Exit::Code(1), String::new(), said)
            }
            Ok(Ok(reply)) => {
                let said = joined(live.take_stderr(), &reply.prints);
                *place = Some(live);
                reply.ended(said, called.firing.event)
            }
        }
    }

    /// Returns an interpreter that has imported this handler. One that could not import it is
    /// kept for the next handler.
    async fn imported(
        &self,
        place: &mut Option<Live>,
        handler: &str,
        cancel: &CancellationToken,
    ) -> Result<Live, Unusable> {
        let missing = |why: &str, said| Unusable::Missing { why: format!("Hook import failed: {why}"), said };
        let living = place.take().and_then(|mut live| live.worker.is_alive().then_some(live));
        let mut live = match living {
            Some(live) => live,
            None => self.start().await.map_err(|error| missing(&error.to_string(), String::new()))?,
        };
        if live.imported.contains(handler) {
            return Ok(live);
        }
        let line = json!({ "import": handler }).to_string();
        let answer = tokio::select! {
            answer = tokio::time::timeout(IMPORT_BUDGET, live.request(&line)) => answer,
            () = cancel.cancelled() => return Err(Unusable::Cancelled),
        };
        match answer {
            Err(_) => Err(missing(&format!("it took longer than {} s", IMPORT_BUDGET.as_secs()), live.take_stderr())),
            Ok(Err(lost)) => Err(missing(&format!("the Python process was lost: {lost}"), live.take_stderr())),
            Ok(Ok(Reply { missing: Some(why), prints, .. })) => {
                let said = joined(live.take_stderr(), &prints);
                *place = Some(live);
                Err(missing(&why, said))
            }
            Ok(Ok(_)) => {
                live.imported.insert(handler.to_owned());
                Ok(live)
            }
        }
    }

    async fn start(&self) -> Result<Live, SpawnError> {
        let command = ChildCommand {
            program: interpreter(&self.env).into(),
            // Hooks leave no compiled files in a project.
            args: ["-B".into(), "-c".into(), SERVER.into(), self.folder.clone().into(), self.cwd.clone().into()].into(),
            cwd: self.cwd.clone(),
            env: self.env.clone(),
            stdin: Vec::new(),
            cap: CAPTURE,
            deadline: None,
            grace: Duration::ZERO,
            on_death: OnDeath::Kill,
            wall: None,
        };
        Ok(Live { worker: PersistentChild::start(&command).await?, imported: HashSet::new() })
    }
}

impl Live {
    async fn request(&mut self, line: &str) -> Result<Reply, ChildIoError> {
        self.worker.send(line).await?;
        let answer = self.worker.receive().await?;
        serde_json::from_str(&answer).map_err(|error| ChildIoError::Io(error.into()))
    }

    /// Returns what went past Python's own streams.
    fn take_stderr(&self) -> String {
        decode(self.worker.take_stderr())
    }
}

impl Reply {
    /// Exit codes of the audit row: 0 done, 1 an error, 2 a deny.
    fn ended(self, said: String, event: EventName) -> (Exit, String, String) {
        if let Some(why) = self.raised {
            return (Exit::Code(1), String::new(), joined(joined(said, &self.trace), &why));
        }
        let result = self.result.or(self.other).unwrap_or_else(|| json!({}));
        let decision = result.as_object().map(|fields| HookResult::read(fields).decision);
        let code = match decision {
            Some(MassgenDecision::Deny) if event == EventName::PreToolUse => 2,
            // Half an answer is none, unless it is a no.
            _ if !self.lost.is_empty() => 1,
            _ => 0,
        };
        let said = self.lost.iter().fold(said, |said, lost| joined(said, lost));
        (Exit::Code(code), result.to_string(), said)
    }
}

fn joined(mut text: String, more: &str) -> String {
    if !text.is_empty() && !text.ends_with('\n') && !more.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
    text
}

/// `ONA_PYTHON`, the active virtual environment, `python3`.
pub(super) fn interpreter(env: &Env) -> String {
    let virtual_one = || {
        let folder = Path::new(env.non_empty(environment::VIRTUAL_ENV)?).join("bin");
        ["python3", "python"].into_iter().map(|name| folder.join(name)).find(|file| file.is_file())
    };
    match env.non_empty(environment::ONA_PYTHON) {
        Some(named) => named.to_owned(),
        None => virtual_one().map_or_else(|| "python3".to_owned(), |file| file.to_string_lossy().into_owned()),
    }
}

/// Returns the files a dotted path may be loaded from below a folder.
pub(super) fn module_files(handler: &str, folder: &Path) -> Vec<PathBuf> {
    let mut parts: Vec<_> = handler.split('.').collect();
    parts.pop();
    let mut files = Vec::new();
    let mut at = folder.to_owned();
    for part in parts {
        files.push(at.join(format!("{part}.py")));
        at.push(part);
        files.push(at.join("__init__.py"));
    }
    files.retain(|file| file.is_file());
    files
}
