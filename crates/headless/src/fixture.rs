//! Real parts for the tests of this crate: an output that keeps what is written to it, and the
//! state of a session that has not begun.

use crate::control::ControlState;
use crate::host_connection::HostConnection;
use crate::options::OutputFormat;
use crate::output::Output;
use crate::printer::{OutputForm, Printer};
use ona_api::{Env, Mode, Redactor};
use ona_hookplane::{HookEngine, HookEnvironment, HookList, ProcessRunner, Timeouts};
use ona_instructions::Agents;
use ona_mcp::{Environments, ServerContext, Servers};
use ona_orchestration::KeepLimits;
use ona_permissions::{GuardedFiles, PermissionEngine, Rules, SessionDirs};
use ona_process::TurnCancellation;
use ona_runtime::session_start::SessionOverrides;
use ona_settings::{PermissionSettings, Settings};
use ona_store::Store;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLock};
use tokio_util::sync::CancellationToken;

#[derive(Default)]
pub(crate) struct Recorded {
    lines: Mutex<Vec<String>>,
    notes: Mutex<Vec<String>>,
}

impl Output for Recorded {
    fn write_line(&self, line: &str) -> io::Result<()> {
        self.lines.lock().unwrap().push(line.to_owned());
        Ok(())
    }

    fn write_text(&self, text: &str) -> io::Result<()> {
        self.write_line(text)
    }

    fn end_line(&self) {}

    fn is_closed(&self) -> bool {
        false
    }

    fn note(&self, sentence: &str) {
        self.notes.lock().unwrap().push(sentence.to_owned());
    }
}

impl Recorded {
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    /// Takes the messages written since the last call.
    pub(crate) fn take_messages(&self) -> Vec<Value> {
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// One side of the protocol, with nothing behind it yet.
pub(crate) struct Protocol {
    pub(crate) output: Arc<Recorded>,
    pub(crate) printer: Arc<Printer>,
    pub(crate) host: Arc<HostConnection>,
}

impl Protocol {
    pub(crate) fn new() -> Self {
        let output = Arc::new(Recorded::default());
        let form = OutputForm::of(OutputFormat::StreamJson, false);
        let printer = Arc::new(Printer::new(form, "session".into(), Redactor::default(), Arc::clone(&output) as _));
        Self { output, host: Arc::new(HostConnection::new(Arc::clone(&printer))), printer }
    }

    pub(crate) fn control(&self) -> ControlState {
        let cancellation = TurnCancellation::new(CancellationToken::new());
        let (env, project) = (Env::default(), PathBuf::from("/nonexistent"));
        let environment = HookEnvironment::new(env.clone(), project.clone(), Timeouts::from_env(&env).0);
        let runner = Arc::new(ProcessRunner::new(environment.clone(), cancellation.clone()));
        let dirs =
            SessionDirs { project: project.clone(), start: project.clone(), home: project.clone(), extra: Vec::new() };
        let (settings, _) = PermissionSettings::parse(&json!({})).unwrap();
        let rules = PermissionEngine::new(Rules::parse(&settings).0, Mode::Default, dirs, GuardedFiles::default());
        ControlState {
            cancellation,
            rules: Arc::new(RwLock::new(rules)),
            hooks: Arc::new(HookEngine::new(HookList::default(), environment, runner, Redactor::default())),
            host: Arc::clone(&self.host),
            tasks: Arc::default(),
            env: Env::default(),
            settings: Settings::read(&json!({"apiKeyHelper": "secret"})),
            row: json!({"theme": "dark"}),
            agents: Agents::default(),
            skills: Arc::default(),
            output_style: "default".into(),
            output_styles: Vec::new(),
            may_bypass: false,
            current_model: None,
            overrides: SessionOverrides::default(),
            subagent_text: false,
            context: Arc::default(),
            changed: None,
            notices: Vec::new(),
            servers: Arc::new(Servers::new(
                Vec::new(),
                ServerContext::new(Environments::one(&env), project, Vec::new()),
            )),
            store: Arc::new(Store::open_read_only(Path::new("/nonexistent/ona.db"), Redactor::default()).unwrap()),
            limits: KeepLimits { file_bytes: 0, session_bytes: 0, database_bytes: 0, memory_bytes: 0 },
            place: None,
            busy: false,
            went_back: false,
        }
    }
}
