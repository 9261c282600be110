//! Programs modules run: `pi.exec` and what `node:child_process` stands on.

use super::SystemCalls;
use crate::host::{HostCall, HostCallError};
use ona_api::digest::{base64, from_base64};
use ona_api::{Env, environment, text};
use ona_process::{ChildCommand, ChildExit, OnDeath, SpawnError, find_in_path};
use serde_json::{Value, json};
use std::time::Duration;

/// Bytes kept of each stream.
const CAPTURE: usize = 16 << 20;
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

impl SystemCalls {
    /// No shell; a missing program or directory is an error, an exit code is not.
    pub(super) async fn exec(&self, call: &HostCall) -> Result<Value, HostCallError> {
        let ran = ona_process::run(self.command(call)?, &call.cancel).await.map_err(|error| refused(&error, call))?;
        let (code, killed) = match ran.end {
            ChildExit::Exited(code) => (code, false),
            ChildExit::Signalled(signal) => (128 + signal, false),
            ChildExit::TimedOut | ChildExit::Cancelled => (0, true),
        };
        Ok(json!({
            "stdout": text::decode(&ran.stdout.bytes), "stderr": text::decode(&ran.stderr.bytes),
            "code": code, "killed": killed,
        }))
    }

    /// Like the above, with bytes instead of text.
    pub(super) async fn run(&self, call: &HostCall) -> Result<Value, HostCallError> {
        let ran = ona_process::run(self.command(call)?, &call.cancel).await.map_err(|error| refused(&error, call))?;
        let (code, signal, killed) = match ran.end {
            ChildExit::Exited(code) => (Some(code), None, false),
            ChildExit::Signalled(signal) => (None, Some(name(signal)), false),
            ChildExit::TimedOut | ChildExit::Cancelled => (None, None, true),
        };
        Ok(json!({
            "stdout": base64(&ran.stdout.bytes), "stderr": base64(&ran.stderr.bytes),
            "code": code, "signal": signal, "killed": killed,
        }))
    }

    pub(super) fn which(&self, program: &str) -> Option<String> {
        let found = find_in_path(self.env.get(environment::PATH).unwrap_or_default(), program)?;
        Some(found.to_string_lossy().into_owned())
    }

    fn command(&self, call: &HostCall) -> Result<ChildCommand, HostCallError> {
        let options = call.arg(2);
        let args = call.arg(1).as_array().into_iter().flatten();
        let args = args.map(|arg| arg.as_str().map_or_else(|| arg.to_string(), str::to_owned).into()).collect();
        let env = match options["env"].as_object() {
            None => self.env.clone(),
            Some(vars) => {
                let mut env = Env::default();
                for (name, value) in vars {
                    env.set(name, value.as_str().unwrap_or_default());
                }
                env
            }
        };
        let stdin = match options["input"].as_str() {
            None => Vec::new(),
            Some(input) => from_base64(input).ok_or_else(|| HostCallError::new("unreadable bytes"))?,
        };
        Ok(ChildCommand {
            program: call.text(0).into(),
            args,
            cwd: options["cwd"].as_str().map_or_else(|| self.cwd.clone(), |cwd| self.path(cwd)),
            env,
            stdin,
            cap: CAPTURE,
            deadline: options["timeout"].as_f64().filter(|ms| *ms > 0.0).map(|ms| Duration::from_secs_f64(ms / 1000.0)),
            grace: GRACE,
            on_death: OnDeath::Kill,
            wall: None,
        })
    }
}

fn refused(error: &SpawnError, call: &HostCall) -> HostCallError {
    let code = match error {
        SpawnError::MissingDirectory(_) | SpawnError::MissingProgram(_) => "ENOENT",
        SpawnError::Io(error) => super::files::code(error),
    };
    HostCallError::new(error.to_string()).with("code", code).with("syscall", format!("spawn {}", call.text(0)))
}

fn name(signal: i32) -> String {
    match signal {
        1 => "SIGHUP".into(),
        2 => "SIGINT".into(),
        6 => "SIGABRT".into(),
        9 => "SIGKILL".into(),
        11 => "SIGSEGV".into(),
        13 => "SIGPIPE".into(),
        15 => "SIGTERM".into(),
        other => format!("SIG{other}"),
    }
}
