//! From a description to a child in its own session.

use crate::child::ChildProcess;
use crate::groups::{self, GroupRegistration};
use crate::wall::{ReadyWall, WallOrder};
use crate::{mark, secrets};
use ona_api::{Env, Variable, environment};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::sync::Arc;
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
    pub on_death: OnDeath,
    /// What the kernel keeps it from.
    pub wall: Option<Arc<WallOrder>>,
}

/// What becomes of a child, with all it started, when this program dies without ending it:
/// of SIGKILL, SIGQUIT, a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDeath {
    /// Killed: tools, servers, workers.
    Kill,
    /// Left alone: hooks, and what runs for a moment.
    Leave,
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

/// What a child may read of its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildInput {
    Nothing,
    Piped,
}

/// A child as it is started, without what happens to it later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChildSpec {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub cwd: PathBuf,
    pub env: Env,
    pub mark: Option<u64>,
    /// The agent decided to start it: it gets no descriptor that is for this program alone.
    pub of_agent: bool,
    pub wall: Option<Arc<WallOrder>>,
}

/// Starts the child and registers it among those that are killed when the program has to end at once.
pub(crate) fn spawn(
    command: &ChildCommand,
    input: ChildInput,
) -> Result<(ChildProcess, GroupRegistration), SpawnError> {
    if !command.cwd.is_dir() {
        return Err(SpawnError::MissingDirectory(command.cwd.clone()));
    }
    let spec = ChildSpec {
        program: command.program.clone(),
        args: command.args.clone(),
        cwd: command.cwd.clone(),
        env: command.env.clone(),
        mark: command.env.non_empty(AGENT_DATABASE).and_then(|file| mark::of_file(file.as_ref())),
        of_agent: command.env.is_set(AGENT_DATABASE),
        wall: command.wall.clone(),
    };
    let started = match command.on_death {
        OnDeath::Kill => ChildProcess::start_kept(&spec, input),
        OnDeath::Leave => {
            prepared(&spec, OnDeath::Leave).and_then(|command| ChildProcess::start_directly(command, input))
        }
    };
    let child = started.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => SpawnError::MissingProgram(command.program.to_string_lossy().into_owned()),
        _ => SpawnError::Io(error),
    })?;
    let registered = groups::register(child.group);
    Ok((child, registered))
}

/// Returns the command as it runs, except for its streams.
pub(crate) fn prepared(spec: &ChildSpec, on_death: OnDeath) -> std::io::Result<std::process::Command> {
    let wall = spec.wall.as_ref().map(|order| order.prepare(&spec.cwd)).transpose()?;
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts children")]
    let mut child = std::process::Command::new(&spec.program);
    child.args(&spec.args).current_dir(&spec.cwd).env_clear().envs(spec.env.iter());
    own_session(&mut child, spec.mark, spec.of_agent, on_death);
    if let Some(wall) = wall {
        behind_wall(&mut child, wall, on_death);
    }
    Ok(child)
}

/// Last of all that is done before the program starts: what came before may need what the wall takes.
#[expect(unsafe_code, reason = "the child is prepared between fork and exec")]
fn behind_wall(child: &mut std::process::Command, mut wall: ReadyWall, on_death: OnDeath) {
    // SAFETY: everything that is allocated was allocated before; what is left are system calls.
    unsafe {
        child.pre_exec(move || {
            wall.enter()?;
            if on_death == OnDeath::Kill {
                // The kernel forgets it where rights change.
                end_with_parent()?;
            }
            Ok(())
        });
    }
}

/// A session of its own: no controlling terminal, and a process group whose id is the child's.
#[expect(unsafe_code, reason = "the child is prepared between fork and exec")]
pub(crate) fn own_session(child: &mut std::process::Command, mark: Option<u64>, of_agent: bool, on_death: OnDeath) {
    // SAFETY: setsid, prctl, getrlimit, setrlimit and fcntl are async-signal-safe and the closure neither allocates nor locks.
    unsafe {
        child.pre_exec(move || {
            rustix::process::setsid()?;
            if on_death == OnDeath::Kill {
                end_with_parent()?;
            }
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

/// Has the calling process killed when the thread that started it ends.
#[cfg(target_os = "linux")]
fn end_with_parent() -> std::io::Result<()> {
    Ok(rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?)
}

/// Only Linux has such a signal.
#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> std::io::Result<()> {
    Ok(())
}
