//! From a description to a child in its own session.

use crate::groups::{self, GroupRegistration};
use crate::{mark, secrets};
use ona_api::{Env, Variable, environment};
use rustix::process::Pid;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

/// What to run. The environment is complete: nothing is inherited besides it.
#[derive(Clone, Debug)]
pub struct ChildCommand {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Env,
    pub stdin: Vec<u8>,
    /// Bytes kept of each stream.
    pub cap: usize,
    pub deadline: Option<Duration>,
    /// Time between SIGTERM and SIGKILL; zero means SIGKILL at once.
    pub grace: Duration,
}

/// The variable that names an agent's database to its children. Who has it is marked as
/// well, and gets no descriptor that is for this program alone.
const AGENT_DATABASE: Variable = environment::ONA_AGENT_DB;

#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("the working directory {} does not exist", .0.display())]
    MissingDirectory(PathBuf),
    #[error("the program {0} was not found")]
    MissingProgram(String),
    #[error("the program could not be started: {0}")]
    Io(#[from] std::io::Error),
}

/// Starts the child and registers it among those that are killed when the program has to end at once.
pub(crate) fn spawn(
    command: &ChildCommand,
    stdin: Stdio,
) -> Result<(tokio::process::Child, GroupRegistration), SpawnError> {
    if !command.cwd.is_dir() {
        return Err(SpawnError::MissingDirectory(command.cwd.clone()));
    }
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts children")]
    let mut child = tokio::process::Command::new(&command.program);
    child
        .args(&command.args)
        .current_dir(&command.cwd)
        .env_clear()
        .envs(command.env.iter())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mark = command.env.non_empty(AGENT_DATABASE).and_then(|file| mark::of_file(file.as_ref()));
    own_session(&mut child, mark, command.env.is_set(AGENT_DATABASE));
    let child = child.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SpawnError::MissingProgram(command.program.to_string_lossy().into_owned()),
        _ => SpawnError::Io(error),
    })?;
    let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("nobody has waited for it yet");
    Ok((child, groups::register(id)))
}

/// A session of its own: no controlling terminal, and a process group whose id is the child's.
#[expect(unsafe_code, reason = "the child is prepared between fork and exec")]
fn own_session(child: &mut tokio::process::Command, mark: Option<u64>, of_agent: bool) {
    // SAFETY: setsid, getrlimit, setrlimit and fcntl are async-signal-safe and the closure neither allocates nor locks.
    unsafe {
        child.pre_exec(move || {
            rustix::process::setsid()?;
            if let Some(mark) = mark {
                mark::set(mark);
            }
            if of_agent {
                secrets::close_descriptor_on_exec();
            }
            Ok(())
        });
    }
}
