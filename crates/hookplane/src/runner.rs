//! Turns a hook into a process and its end into text (section 5.11).

use crate::environment::HookEnvironment;
use crate::firing::{Firing, Lifetime};
use crate::handler::HookInvocation;
use crate::hook::{Hook, HookAction, HookShell};
use ona_api::{Env, clock, environment, text};
use ona_process::{
    Captured, ChildCommand, ChildExit, OnDeath, SpawnError, TurnCancellation, find_in_path, first_existing,
};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Bytes kept per stream.
pub const CAPTURE: usize = 4_194_304;
pub(crate) const TRUNCATED: &str = "\n[SDLC_OUTPUT_TRUNCATED]\n";
const GRACE: Duration = Duration::from_secs(1);

/// A run as the engine and dialects see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookExecution {
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
    /// stdout was longer than what was kept. With `NotStarted`: a JSON answer was.
    pub truncated: bool,
    /// The turn ends with this, whatever else the run says; for handlers that are not a process.
    pub ends_turn: Option<String>,
    pub started_at: String,
    pub completed_at: String,
}

impl HookExecution {
    /// The run of a handler that began at `started_at` and ends now.
    pub fn ended(started_at: String, exit: Exit, stdout: String, stderr: String) -> Self {
        let completed_at = clock::utc_millis(clock::now());
        Self { exit, stdout, stderr, truncated: false, ends_turn: None, started_at, completed_at }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    TimedOut {
        after: Duration,
    },
    /// No process: missing directory, missing shell.
    NotStarted(String),
    /// The turn was interrupted.
    Cancelled,
}

/// Runs one hook. Tests put a table here instead of a shell.
pub trait Runner: Send + Sync {
    fn run<'a>(
        &'a self,
        hook: &'a Hook,
        firing: &'a Firing,
        stdin: String,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = HookExecution> + Send + 'a>>;
}

/// Real processes, one at a time in the whole program (DEC-138).
pub struct ProcessRunner {
    pub environment: HookEnvironment,
    pub cancellation: TurnCancellation,
    one_at_a_time: Mutex<()>,
}

impl ProcessRunner {
    pub fn new(environment: HookEnvironment, cancellation: impl Into<TurnCancellation>) -> Self {
        Self { environment, cancellation: cancellation.into(), one_at_a_time: Mutex::new(()) }
    }

    async fn run_hook(&self, hook: &Hook, firing: &Firing, stdin: String, timeout: Duration) -> HookExecution {
        let cancel = match firing.lifetime {
            Lifetime::Turn => self.cancellation.token(),
            Lifetime::Report => self.cancellation.report_token(),
            Lifetime::Own => CancellationToken::new(),
        };
        let called = HookInvocation { firing, stdin, timeout, env: self.environment.of(hook, firing), cancel: &cancel };
        let waits = match &hook.action {
            HookAction::Handler(handler) => handler.is_exclusive(),
            HookAction::Shell { .. } | HookAction::Exec { .. } => true,
        };
        let _turn = if waits { Some(self.one_at_a_time.lock().await) } else { None };
        if cancel.is_cancelled() {
            // Nothing is started only to be ended.
            return HookExecution::ended(
                clock::utc_millis(clock::now()),
                Exit::Cancelled,
                String::new(),
                String::new(),
            );
        }
        match &hook.action {
            HookAction::Handler(handler) => handler.run(called).await,
            HookAction::Shell { .. } | HookAction::Exec { .. } => {
                run_process(argv(&hook.action, &called.env), called).await
            }
        }
    }
}

/// A program with its arguments, or the name of what is missing.
pub type Argv = Result<(String, Vec<String>), String>;

/// Runs a process for one firing and waits for its end.
pub async fn run_process(argv: Argv, called: HookInvocation<'_>) -> HookExecution {
    let HookInvocation { firing, stdin, timeout, env, cancel } = called;
    let started_at = clock::utc_millis(clock::now());
    let ran = match argv {
        Ok((program, args)) => {
            let at_once = firing.event == ona_api::EventName::SessionEnd;
            let command = ChildCommand {
                program: program.into(),
                args: args.into_iter().map(Into::into).collect(),
                cwd: firing.base.cwd.clone(),
                env,
                stdin: (stdin + "\n").into_bytes(),
                cap: CAPTURE,
                deadline: Some(timeout),
                grace: if at_once { Duration::ZERO } else { GRACE },
                on_death: OnDeath::Leave,
                wall: None,
            };
            ona_process::run(command, cancel).await
        }
        Err(missing) => Err(SpawnError::MissingProgram(missing)),
    };
    match ran {
        Err(error) => HookExecution::ended(started_at, not_started(&error), String::new(), String::new()),
        Ok(ran) => {
            let exit = match ran.end {
                ChildExit::Exited(code) => Exit::Code(code),
                // As a shell reports it.
                ChildExit::Signalled(signal) => Exit::Code(128 + signal),
                ChildExit::TimedOut => Exit::TimedOut { after: timeout },
                ChildExit::Cancelled => Exit::Cancelled,
            };
            let truncated = ran.stdout.truncated;
            HookExecution {
                truncated,
                ..HookExecution::ended(started_at, exit, decode(ran.stdout), decode(ran.stderr))
            }
        }
    }
}

/// How a hook ended whose process could not be started.
pub fn not_started(error: &SpawnError) -> Exit {
    Exit::NotStarted(format!("[SDLC] hook not started: {error}"))
}

/// What a shell or exec action starts. The environment is the one the process gets.
pub fn argv(action: &HookAction, env: &Env) -> Argv {
    let words = |program: &str, args: &[&str]| (program.to_owned(), args.iter().map(|a| (*a).to_owned()).collect());
    let path = env.get(environment::PATH).unwrap_or_default();
    match action {
        HookAction::Shell { shell: HookShell::Bash, command } => {
            Ok(words(first_existing(&["/bin/bash", "/usr/bin/bash"], "bash"), &["-lc", command]))
        }
        HookAction::Shell { shell: HookShell::Sh, command } => {
            Ok(words(first_existing(&["/bin/sh", "/usr/bin/sh"], "sh"), &["-c", command]))
        }
        HookAction::Shell { shell: HookShell::LoginSh, command } => {
            let command = format!("{}{command}", login_path(path));
            Ok(words(first_existing(&["/bin/sh", "/usr/bin/sh"], "sh"), &["-lc", &command]))
        }
        HookAction::Shell { shell: HookShell::PowerShell, command } => {
            let found = find_in_path(path, "pwsh").or_else(|| find_in_path(path, "powershell"));
            let program = found.ok_or("pwsh or powershell")?;
            Ok(words(&program.to_string_lossy(), &["-NoProfile", "-NonInteractive", "-Command", command]))
        }
        HookAction::Exec { program, args } => {
            Ok((filled(program, env), args.iter().map(|word| filled(word, env)).collect()))
        }
        HookAction::Handler(_) => unreachable!("a handler runs itself"),
    }
}

/// The exec form has no shell that would expand these names.
fn filled(word: &str, env: &Env) -> String {
    let mut word = word.to_owned();
    for variable in [
        environment::CLAUDE_PROJECT_DIR,
        environment::CLAUDE_PLUGIN_ROOT,
        environment::CLAUDE_PLUGIN_DATA,
        environment::CLAUDE_SKILL_DIR,
    ] {
        if let Some(value) = env.get(variable) {
            word = word.replace(&format!("${{{variable}}}"), value);
        }
    }
    word
}

impl Runner for ProcessRunner {
    fn run<'a>(
        &'a self,
        hook: &'a Hook,
        firing: &'a Firing,
        stdin: String,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = HookExecution> + Send + 'a>> {
        Box::pin(self.run_hook(hook, firing, stdin, timeout))
    }
}

/// Puts the caller's search path behind the profile's. Many systems' `/etc/profile` sets
/// PATH anew, and a program found where `ona` was started would be lost to its hooks.
fn login_path(path: &str) -> String {
    let quoted = path.replace('\'', r"'\''");
    format!("[ \"$PATH\" = '{quoted}' ] || {{ PATH=$PATH:'{quoted}'; export PATH; }}; ")
}

/// The text of a stream, marked where it was cut.
pub fn decode(captured: Captured) -> String {
    let mut decoded = text::decode(&captured.bytes);
    if captured.truncated {
        decoded.push_str(TRUNCATED);
    }
    decoded
}
