//! A child that is started once and then exchanges lines with the program.
//!
//! The caller owns the exchange: a line that was sent and not
//! answered in time leaves the two out of step, so the only thing to do then is to
//! drop the child and start another. Dropping it ends its whole group.

use crate::capture::{CaptureBuffer, Captured, RecentOutput, capture};
use crate::child::{ChildProcess, ChildWaiter};
use crate::exit::ChildExit;
use crate::groups::GroupRegistration;
use crate::spawn::{ChildCommand, ChildInput, SpawnError, spawn};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};

pub struct PersistentChild {
    leader: GroupLeader,
    speaker: ChildWriter,
    listener: ChildReader,
    stderr: CaptureBuffer,
}

/// The stdin of a persistent child.
pub struct ChildWriter {
    stdin: ChildStdin,
    /// Once split: the child ends when this is dropped.
    #[expect(dead_code, reason = "held for its drop")]
    leader: Option<GroupLeader>,
}

/// The stdout of a persistent child.
pub struct ChildReader {
    lines: BufReader<ChildStdout>,
    /// Maximum length of a line.
    cap: usize,
}

/// The child whose group ends with it.
struct GroupLeader {
    exit: ChildWaiter,
    _registered: GroupRegistration,
}

/// Why a line could not be exchanged.
#[derive(Debug, thiserror::Error)]
pub enum ChildIoError {
    #[error("it ended")]
    Ended,
    #[error("its answer is longer than {0} bytes")]
    TooLong(usize),
    #[error("its answer is not UTF-8")]
    NotText,
    #[error("{0}")]
    Io(#[from] std::io::Error),
}

impl PersistentChild {
    /// Starts it. Of the command, `stdin` is sent first; the deadline and the grace
    /// are ignored: how long an answer may take is for the caller to decide.
    pub async fn start(command: &ChildCommand) -> Result<Self, SpawnError> {
        let (child, registered) = spawn(command, ChildInput::Piped)?;
        let ChildProcess { group: _, stdin, stdout, stderr, exit } = child;
        let (stderr, _reader) = capture(stderr, command.cap, RecentOutput::default());
        let mut worker = Self {
            leader: GroupLeader { exit, _registered: registered },
            speaker: ChildWriter { stdin: stdin.expect("stdin is piped"), leader: None },
            listener: ChildReader { lines: BufReader::new(stdout), cap: command.cap },
            stderr,
        };
        if !command.stdin.is_empty() {
            worker.speaker.stdin.write_all(&command.stdin).await?;
        }
        Ok(worker)
    }

    /// Splits it into both ends, for a child that also writes unasked. It ends when the
    /// writer is dropped.
    pub fn split(self) -> (ChildWriter, ChildReader) {
        (ChildWriter { leader: Some(self.leader), ..self.speaker }, self.listener)
    }

    /// Returns the streams, for a protocol of the caller, and a handle on the child.
    pub fn streams(self) -> (ChildStdout, ChildStdin, ChildHandle) {
        let rest = ChildHandle { leader: self.leader, stderr: self.stderr };
        // Nothing was read yet, so that no byte is lost with the buffer.
        (self.listener.lines.into_inner(), self.speaker.stdin, rest)
    }

    /// Sends one line; the text must not hold a line break.
    pub async fn send(&mut self, line: &str) -> Result<(), ChildIoError> {
        self.speaker.send(line).await
    }

    /// Returns the next line the child writes, without its line end.
    pub async fn receive(&mut self) -> Result<String, ChildIoError> {
        self.listener.receive().await
    }

    /// Returns what the child wrote to stderr since the last call.
    pub fn take_stderr(&self) -> Captured {
        self.stderr.take()
    }

    /// Returns whether it has written something that was not read yet. Between a request and
    /// the next one, that means that the two are out of step.
    pub fn has_unread_output(&self) -> bool {
        self.listener.has_more()
    }

    pub fn is_alive(&mut self) -> bool {
        self.leader.exit.try_wait().is_ok_and(|status| status.is_none())
    }
}

/// A child whose streams the caller has. It ends when this value is dropped, at the latest.
pub struct ChildHandle {
    leader: GroupLeader,
    stderr: CaptureBuffer,
}

impl ChildHandle {
    /// Returns what the child has written to stderr so far.
    pub fn stderr_so_far(&self) -> Captured {
        self.stderr.snapshot()
    }

    /// Waits for the end of a child that was asked to end: after `grace` it gets
    /// SIGTERM, after the same time again it is killed, with the rest of its group. `None`: it
    /// had to be killed.
    pub async fn end(&mut self, grace: Duration) -> Option<ChildExit> {
        let group = self.leader.group();
        let mut ended = tokio::time::timeout(grace, self.leader.exit.wait()).await.ok();
        if let (None, Some(group)) = (&ended, group) {
            // Gone in the meantime is what we want.
            kill_process_group(group, Signal::TERM).ok();
            ended = tokio::time::timeout(grace, self.leader.exit.wait()).await.ok();
        }
        if let Some(group) = group {
            // Usually no process is left.
            kill_process_group(group, Signal::KILL).ok();
        }
        ended.and_then(Result::ok).map(ChildExit::from)
    }
}

impl ChildWriter {
    /// Sends one line; the text must not hold a line break.
    pub async fn send(&mut self, line: &str) -> Result<(), ChildIoError> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        self.stdin.write_all(&bytes).await.map_err(|error| match error.kind() {
            std::io::ErrorKind::BrokenPipe => ChildIoError::Ended,
            _ => ChildIoError::Io(error),
        })
    }
}

impl ChildReader {
    fn has_more(&self) -> bool {
        // Asked of the system: a runtime hears of new bytes only when it next looks.
        !self.lines.buffer().is_empty() || ioctl_fionread(self.lines.get_ref().as_fd()).is_ok_and(|bytes| bytes > 0)
    }

    /// Returns the next line the child writes, without its line end.
    pub async fn receive(&mut self) -> Result<String, ChildIoError> {
        let mut line = Vec::new();
        let limit = u64::try_from(self.cap).unwrap_or(u64::MAX).saturating_add(1);
        (&mut self.lines).take(limit).read_until(b'\n', &mut line).await?;
        if line.last() != Some(&b'\n') {
            return Err(if line.len() > self.cap { ChildIoError::TooLong(self.cap) } else { ChildIoError::Ended });
        }
        line.pop();
        String::from_utf8(line).map_err(|_| ChildIoError::NotText)
    }
}

impl GroupLeader {
    /// `None` once it was waited for: the number may belong to another process by now.
    fn group(&mut self) -> Option<Pid> {
        self.exit.id()
    }
}

impl Drop for GroupLeader {
    fn drop(&mut self) {
        self.exit.kill_group();
    }
}
