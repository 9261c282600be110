//! A child that was started, by this process or by the keeper of its children.

use crate::spawn::{ChildInput, ChildSpec, OnDeath, prepared};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

#[cfg(target_os = "linux")]
use crate::keeper::{self, KeptChild, StartError};
#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::{AsFd, OwnedFd};

pub(crate) struct ChildProcess {
    /// Its process group, which is also its id as long as it runs.
    pub group: Pid,
    pub stdin: Option<ChildStdin>,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
    pub exit: ChildWaiter,
}

/// Waits for a child.
pub(crate) enum ChildWaiter {
    Direct(tokio::process::Child),
    #[cfg(target_os = "linux")]
    Kept(KeptChild),
}

impl ChildProcess {
    pub(crate) fn start_directly(command: Command, input: ChildInput) -> io::Result<Self> {
        let mut command = tokio::process::Command::from(command);
        command.stdin(match input {
            ChildInput::Nothing => Stdio::null(),
            ChildInput::Piped => Stdio::piped(),
        });
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("nobody has waited for it yet");
        Ok(Self {
            group,
            stdin: child.stdin.take(),
            stdout: child.stdout.take().expect("stdout is piped"),
            stderr: child.stderr.take().expect("stderr is piped"),
            exit: ChildWaiter::Direct(child),
        })
    }

    /// Started by the keeper, if this program has one.
    #[cfg(target_os = "linux")]
    pub(crate) fn start_kept(spec: &ChildSpec, input: ChildInput) -> io::Result<Self> {
        let (child_stdin, stdin) = match input {
            ChildInput::Nothing => (OwnedFd::from(File::open("/dev/null")?), None),
            ChildInput::Piped => {
                let (theirs, ours) = io::pipe()?;
                let ours = std::process::ChildStdin::from(OwnedFd::from(ours));
                (theirs.into(), Some(ChildStdin::from_std(ours)?))
            }
        };
        let ((stdout, child_stdout), (stderr, child_stderr)) = (io::pipe()?, io::pipe()?);
        match keeper::start(spec, [child_stdin.as_fd(), child_stdout.as_fd(), child_stderr.as_fd()]) {
            Ok(child) => Ok(Self {
                group: child.group(),
                stdin,
                stdout: ChildStdout::from_std(OwnedFd::from(stdout).into())?,
                stderr: ChildStderr::from_std(OwnedFd::from(stderr).into())?,
                exit: ChildWaiter::Kept(child),
            }),
            Err(StartError::NoKeeper) => Self::start_directly(prepared(spec, OnDeath::Leave)?, input),
            Err(StartError::Child(error)) => Err(error),
        }
    }

    /// Only Linux has what a keeper needs.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn start_kept(spec: &ChildSpec, input: ChildInput) -> io::Result<Self> {
        Self::start_directly(prepared(spec, OnDeath::Leave)?, input)
    }
}

impl ChildWaiter {
    /// Returns its id, `None` once its end is known: the number may belong to another process then.
    pub(crate) fn id(&mut self) -> Option<Pid> {
        match self {
            Self::Direct(child) => child.id().and_then(|id| Pid::from_raw(id.cast_signed())),
            #[cfg(target_os = "linux")]
            Self::Kept(child) => child.id(),
        }
    }

    /// Kills it, with the rest of its group. One that is known to have ended is left alone if
    /// its number may belong to another process.
    pub(crate) fn kill_group(&mut self) {
        match self {
            Self::Direct(_) => {
                if let Some(group) = self.id() {
                    // Already gone is what we want.
                    kill_process_group(group, Signal::KILL).ok();
                }
            }
            #[cfg(target_os = "linux")]
            Self::Kept(child) => child.kill_group(),
        }
    }

    /// May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Direct(child) => child.wait().await,
            #[cfg(target_os = "linux")]
            Self::Kept(child) => child.wait().await,
        }
    }

    pub(crate) fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        match self {
            Self::Direct(child) => child.try_wait(),
            #[cfg(target_os = "linux")]
            Self::Kept(child) => Ok(child.try_wait()),
        }
    }
}
