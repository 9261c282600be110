//! Runs the user's status line command: when something it is told has changed, shortly after it.
//!
//! One run at a time; a newer one ends the one before. Nothing waits for it: what it prints arrives in the
//! channel of the loop. A command that fails is named once, until it works again.

use crate::input::Wake;
use ona_api::Env;
use ona_process::{ChildCommand, ChildExit, OnDeath};
use ona_settings::StatusLineSettings;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long changes are collected.
const DEBOUNCE: Duration = Duration::from_millis(300);
const DEADLINE: Duration = Duration::from_secs(5);
/// Bytes of output that are read.
const OUTPUT: usize = 16_384;
/// Lines of it that are shown.
const LINES: usize = 3;

/// What a run printed, or why it failed.
pub(crate) type StatusOutput = Result<Vec<String>, String>;

#[derive(Debug)]
pub(crate) struct StatusCommand {
    env: Env,
    cwd: PathBuf,
    wakes: Sender<Wake>,
    /// What the last run was told, without what changes by itself.
    told: Option<Value>,
    due: Option<Duration>,
    running: Option<CancellationToken>,
    generation: u64,
    refresh: Option<Duration>,
    last_run: Duration,
}

impl StatusCommand {
    pub(crate) fn new(env: Env, cwd: PathBuf, wakes: Sender<Wake>) -> Self {
        Self {
            env,
            cwd,
            wakes,
            told: None,
            due: None,
            running: None,
            generation: 0,
            refresh: None,
            last_run: Duration::ZERO,
        }
    }

    /// Looks whether there is something new to tell it.
    pub(crate) fn look(&mut self, settings: &StatusLineSettings, facts: &Value, now: Duration) {
        self.refresh = settings.refresh;
        let mut compared = facts.clone();
        compared["cost"]["total_duration_ms"] = Value::Null;
        if self.told.as_ref() != Some(&compared) {
            // The first run does not wait.
            let wait = if self.told.is_none() { Duration::ZERO } else { DEBOUNCE };
            self.told = Some(compared);
            self.due = Some(now + wait);
        }
        let refresh = self.refresh.map(|every| self.last_run + every);
        if self.due.or(refresh).is_some_and(|due| due <= now) {
            self.due = None;
            self.last_run = now;
            self.start(settings, facts);
        }
    }

    /// When it has to be looked at again.
    pub(crate) fn deadline(&self) -> Option<Duration> {
        let refresh = self.refresh.map(|every| self.last_run + every);
        match (self.due, refresh) {
            (Some(due), Some(refresh)) => Some(due.min(refresh)),
            (one, other) => one.or(other),
        }
    }

    /// Whether an output is that of the newest run.
    pub(crate) fn is_current(&self, generation: u64) -> bool {
        self.generation == generation
    }

    fn start(&mut self, settings: &StatusLineSettings, facts: &Value) {
        if let Some(before) = self.running.take() {
            before.cancel();
        }
        self.generation += 1;
        let (generation, wakes, stop) = (self.generation, self.wakes.clone(), CancellationToken::new());
        self.running = Some(stop.clone());
        let project = facts["workspace"]["project_dir"].as_str().unwrap_or_default().to_owned();
        let child = ChildCommand {
            program: "sh".into(),
            args: vec!["-c".into(), settings.command.clone().into()],
            cwd: self.cwd.clone(),
            env: self.env.clone().with("CLAUDE_PROJECT_DIR", project),
            stdin: facts.to_string().into_bytes(),
            cap: OUTPUT,
            deadline: Some(DEADLINE),
            grace: Duration::from_millis(200),
            on_death: OnDeath::Kill,
            wall: None,
        };
        let run = move || {
            let output = run(child, &stop);
            if let (Some(output), false) = (output, stop.is_cancelled()) {
                // The loop is gone only while the program ends.
                wakes.send(Wake::StatusLine { generation, output }).ok();
            }
        };
        if let Err(error) = std::thread::Builder::new().name("status line".into()).spawn(run) {
            let output = Err(error.to_string());
            self.wakes.send(Wake::StatusLine { generation: self.generation, output }).ok();
        }
    }
}

impl Drop for StatusCommand {
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.cancel();
        }
    }
}

/// `None`: it was ended for a newer one.
fn run(child: ChildCommand, stop: &CancellationToken) -> Option<StatusOutput> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return Some(Err(error.to_string())),
    };
    let ran = match runtime.block_on(ona_process::run_and_clear(child, stop)) {
        Ok(ran) => ran,
        Err(error) => return Some(Err(error.to_string())),
    };
    let text = String::from_utf8_lossy(&ran.stdout.bytes).into_owned();
    let error = String::from_utf8_lossy(&ran.stderr.bytes).into_owned();
    let first = error.lines().find(|line| !line.trim().is_empty()).map(|line| format!(": {}", line.trim()));
    let failed = |what: String| Some(Err(format!("{what}{}", first.clone().unwrap_or_default())));
    match ran.end {
        ChildExit::Exited(0) => Some(Ok(text.lines().take(LINES).map(str::to_owned).collect())),
        ChildExit::Exited(code) => failed(format!("exit code {code}")),
        ChildExit::Signalled(signal) => failed(format!("ended by signal {signal}")),
        ChildExit::TimedOut => failed(format!("it took longer than {} s", DEADLINE.as_secs())),
        ChildExit::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::sync::mpsc::channel;

    fn settings(command: &str) -> StatusLineSettings {
        StatusLineSettings { command: command.into(), padding: 0, refresh: None }
    }

    #[test]
    fn it_runs_when_what_it_is_told_changes() {
        let (wakes, arrived) = channel();
        let env = Env::default().with("PATH", "/usr/bin:/bin");
        let mut command = StatusCommand::new(env, std::env::temp_dir(), wakes);
        let settings = settings("tr -d ' ' | grep -o '\"phase\":\"[a-z]*\"'; echo two; echo three; echo four");
        let told = |command: &mut StatusCommand, phase: &str, now: u64| {
            let facts = json!({"phase": phase, "cost": {"total_duration_ms": now}, "workspace": {"project_dir": "/p"}});
            command.look(&settings, &facts, Duration::from_millis(now));
        };
        let next = || match arrived.recv_timeout(Duration::from_secs(20)) {
            Ok(Wake::StatusLine { generation, output }) => (generation, output),
            other => panic!("{other:?}"),
        };
        told(&mut command, "idle", 0);
        assert_eq!(next(), (1, Ok(vec!["\"phase\":\"idle\"".into(), "two".into(), "three".into()])));
        told(&mut command, "idle", 1_000);
        assert_eq!(command.deadline(), None, "time alone changes nothing");
        told(&mut command, "planning", 2_000);
        assert_eq!(command.deadline(), Some(Duration::from_millis(2_300)), "changes are collected");
        told(&mut command, "planning", 2_300);
        let (generation, output) = next();
        assert_eq!((generation, output.unwrap()[0].as_str()), (2, "\"phase\":\"planning\""));
        assert!(command.is_current(2) && !command.is_current(1));
    }

    #[test]
    fn a_failure_is_a_sentence() {
        for (command, why) in [("echo boom >&2; exit 3", "exit code 3: boom"), ("kill -9 $$", "ended by signal 9")] {
            let child = ChildCommand {
                program: "sh".into(),
                args: vec!["-c".into(), command.into()],
                cwd: std::env::temp_dir(),
                env: Env::default().with("PATH", "/usr/bin:/bin"),
                stdin: Vec::new(),
                cap: OUTPUT,
                deadline: None,
                grace: Duration::ZERO,
                on_death: OnDeath::Kill,
                wall: None,
            };
            assert_eq!(run(child, &CancellationToken::new()), Some(Err(why.to_owned())), "{command}");
        }
    }
}
