//! A child that is started once and then spoken to, line by line.
//!
//! Whoever speaks to it owns the conversation: a line that was sent and not
//! answered in time leaves the two out of step, so the only thing to do then is to
//! drop the worker and start another. Dropping it ends its whole group.

use crate::capture::{CaptureBuffer, Captured, capture};
use crate::exit::ChildExit;
use crate::groups::GroupRegistration;
use crate::spawn::{ChildCommand, SpawnError, spawn};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::fd::AsFd;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

pub struct PersistentChild {
    leader: GroupLeader,
    speaker: ChildWriter,
    listener: ChildReader,
    stderr: CaptureBuffer,
}

/// The end of a worker that is spoken into.
pub struct ChildWriter {
    stdin: ChildStdin,
    /// Once split: the worker ends with this end.
    #[expect(dead_code, reason = "held for its drop")]
    leader: Option<GroupLeader>,
}

/// The end of a worker that is listened to.
pub struct ChildReader {
    lines: BufReader<ChildStdout>,
    /// Longest line it may answer.
    cap: usize,
}

/// The child whose group ends with it.
struct GroupLeader {
    child: Child,
    _registered: GroupRegistration,
}

/// Why there is no answer.
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
    /// mean nothing here: how long an answer may take is the speaker's business.
    pub async fn start(command: &ChildCommand) -> Result<Self, SpawnError> {
        let (mut child, registered) = spawn(command, Stdio::piped())?;
        let stdin = child.stdin.take().expect("stdin is piped");
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (stderr, _reader) = capture(child.stderr.take().expect("stderr is piped"), command.cap);
        let mut worker = Self {
            leader: GroupLeader { child, _registered: registered },
            speaker: ChildWriter { stdin, leader: None },
            listener: ChildReader { lines, cap: command.cap },
            stderr,
        };
        if !command.stdin.is_empty() {
            worker.speaker.stdin.write_all(&command.stdin).await?;
        }
        Ok(worker)
    }

    /// Both ends for themselves, for a worker that also speaks unasked. It ends when the
    /// speaker is dropped.
    pub fn split(self) -> (ChildWriter, ChildReader) {
        (ChildWriter { leader: Some(self.leader), ..self.speaker }, self.listener)
    }

    /// The streams themselves, for somebody else's protocol, and what is left of the worker.
    pub fn streams(self) -> (ChildStdout, ChildStdin, ChildHandle) {
        let rest = ChildHandle { leader: self.leader, stderr: self.stderr };
        // Nothing was read yet, so that no byte is lost with the buffer.
        (self.listener.lines.into_inner(), self.speaker.stdin, rest)
    }

    /// Sends one line; the text must not hold a line break.
    pub async fn send(&mut self, line: &str) -> Result<(), ChildIoError> {
        self.speaker.send(line).await
    }

    /// The next line it says, without its end.
    pub async fn receive(&mut self) -> Result<String, ChildIoError> {
        self.listener.receive().await
    }

    /// What it has complained about since this was last asked.
    pub fn take_stderr(&self) -> Captured {
        self.stderr.take()
    }

    /// Whether it has said something nobody has listened to yet. Between a question and
    /// the next, that means that the two are out of step.
    pub fn has_unread_output(&self) -> bool {
        self.listener.has_more()
    }

    pub fn is_alive(&mut self) -> bool {
        self.leader.child.try_wait().is_ok_and(|status| status.is_none())
    }
}

/// A worker whose streams somebody else has. It ends with this value at the latest.
pub struct ChildHandle {
    leader: GroupLeader,
    stderr: CaptureBuffer,
}

impl ChildHandle {
    /// What it has complained about so far.
    pub fn stderr_so_far(&self) -> Captured {
        self.stderr.snapshot()
    }

    /// Waits for the end of a worker that was told to end: after `grace` it is told by
    /// SIGTERM, after as long again it is ended, with what is left of its group. `None`: it
    /// had to be ended.
    pub async fn end(&mut self, grace: Duration) -> Option<ChildExit> {
        let group = self.leader.group();
        let mut ended = tokio::time::timeout(grace, self.leader.child.wait()).await.ok();
        if let (None, Some(group)) = (&ended, group) {
            kill_process_group(group, Signal::TERM).ok();
            ended = tokio::time::timeout(grace, self.leader.child.wait()).await.ok();
        }
        if let Some(group) = group {
            // Nobody left is the usual case.
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

    /// The next line it says, without its end.
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
    /// `None` once it was waited for: the number may belong to somebody else by now.
    fn group(&self) -> Option<Pid> {
        self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()))
    }
}

impl Drop for GroupLeader {
    fn drop(&mut self) {
        if let Some(group) = self.group() {
            // Already gone is what we want.
            kill_process_group(group, Signal::KILL).ok();
        }
    }
}
