//! Settings in, real shells, outcome out.

mod chain;
mod claude;
mod claude_files;
mod claude_output;
mod loading;
mod massgen;
mod persistent;
mod spawn;

use ona_api::{Env, EventName, Mode, Redactor};
use ona_dialects::load;
use ona_hookplane::{Base, Firing, HookEngine, HookEnvironment, HookList, HookOutcome, ProcessRunner, Timeouts};
use ona_permissions::SessionDirs;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A folder, a host environment, and hooks that run in them.
pub(crate) struct World {
    dir: TempDir,
    pub env: Env,
    pub redactor: Redactor,
    /// Interrupts the hooks of all engines.
    pub cancel: CancellationToken,
}

impl World {
    pub(crate) fn new() -> Self {
        let env = Env::default().with("PATH", "/usr/local/bin:/usr/bin:/bin").with("HOME", "/nonexistent");
        Self { dir: tempfile::tempdir().unwrap(), env, redactor: Redactor::default(), cancel: CancellationToken::new() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    pub(crate) fn place(&self) -> SessionDirs {
        SessionDirs { project: self.path(), start: self.path(), home: "/nonexistent".into(), extra: Vec::new() }
    }

    pub(crate) fn engine(&self, settings: Value) -> HookEngine {
        let (timeouts, _) = Timeouts::from_env(&self.env);
        let environment = HookEnvironment::new(self.env.clone(), self.path(), timeouts);
        let runner = Arc::new(ProcessRunner::new(environment.clone(), self.cancel.clone()));
        HookEngine::new(
            HookList::new(load(&ona_settings::Settings::read(&settings), &self.place(), &no_others).hooks),
            environment,
            runner,
            self.redactor.clone(),
        )
    }

    pub(crate) async fn fire(&self, settings: Value, event: EventName, fields: Value) -> HookOutcome {
        self.fire_in(&self.path(), settings, event, fields).await
    }

    pub(crate) async fn fire_in(&self, cwd: &Path, settings: Value, event: EventName, fields: Value) -> HookOutcome {
        self.engine(settings).fire(Firing::new(event, self.base(cwd), fields)).await
    }

    pub(crate) fn base(&self, cwd: &Path) -> Base {
        Base {
            session: "s1".into(),
            conversation: "c1".into(),
            database: "/db/ona.db".into(),
            cwd: cwd.to_owned(),
            mode: Some(Mode::Default),
            agent_id: None,
            agent_type: None,
        }
    }

    /// PreToolUse for a Bash call, with these flat sdlc entries.
    pub(crate) async fn pre(&self, hooks: Value) -> HookOutcome {
        self.fire(json!({ "hooks": hooks }), EventName::PreToolUse, bash("ls")).await
    }
}

pub(crate) fn bash(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t1"})
}

pub(crate) fn pre(command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "matcher": "Bash", "command": command, "shell": "sh"})
}

/// A shell command that prints this JSON.
pub(crate) fn print(answer: Value) -> String {
    format!("printf '%s' '{answer}'")
}

pub(crate) fn decide(decision: &str, reason: &str) -> String {
    print(
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision, "permissionDecisionReason": reason}}),
    )
}

/// (ordinal, exit code, skipped reason) of every row.
pub(crate) fn rows(outcome: &HookOutcome) -> Vec<(u32, Option<i32>, Option<&'static str>)> {
    outcome.runs.iter().map(|run| (run.ordinal.0, run.exit_code, run.skipped.map(|skip| skip.as_str()))).collect()
}

/// The tests here have no hooks that are not a process.
pub fn no_others(wanted: ona_dialects::HandlerSpec) -> Result<std::sync::Arc<dyn ona_hookplane::HookHandler>, String> {
    Err(format!("not made here: {wanted:?}"))
}
