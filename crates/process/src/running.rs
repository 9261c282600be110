//! A child while it runs: waiting, deadline, stopping, and what it printed.

use crate::capture::{CaptureBuffer, Captured, RecentOutput, capture};
use crate::child::{ChildProcess, ChildWaiter};
use crate::exit::ChildExit;
use crate::groups::GroupRegistration;
use crate::spawn::{ChildCommand, ChildInput, SpawnError, spawn};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long pipes are still read once the child itself is gone. Descendants that
/// hold them (`cmd &` in a hook is normal) are left alone.
const LINGER: Duration = Duration::from_millis(200);
/// How often a group is looked at between SIGTERM and SIGKILL.
const POLL: Duration = Duration::from_millis(10);

pub struct Running {
    stdout: CaptureBuffer,
    stderr: CaptureBuffer,
    recent: RecentOutput,
    end: watch::Receiver<Option<ChildExit>>,
    stop: CancellationToken,
    /// Cancelled: no deadline counts any more.
    unlimited: CancellationToken,
    started: Instant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildOutput {
    pub end: ChildExit,
    pub stdout: Captured,
    pub stderr: Captured,
    pub took: Duration,
}

/// What becomes of descendants in the child's group when the child itself has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Descendants {
    /// `cmd &` in a hook is normal.
    Keep,
    Kill,
}

impl Running {
    pub(crate) fn start(command: ChildCommand, descendants: Descendants) -> Result<Self, SpawnError> {
        // Who is told nothing gets /dev/null: programs tell an interactive pipe from none.
        let input = if command.stdin.is_empty() { ChildInput::Nothing } else { ChildInput::Piped };
        let (child, registered) = spawn(&command, input)?;
        let ChildProcess { group, stdin, stdout, stderr, exit } = child;
        tracing::debug!(program = %command.program.display(), pid = group.as_raw_nonzero(), "started a child");
        let started = Instant::now();
        if let Some(mut stdin) = stdin {
            let bytes = command.stdin;
            tokio::spawn(async move {
                // A child that never reads closes its end; that is its right.
                if stdin.write_all(&bytes).await.is_ok() {
                    // The same: it may have closed its end since.
                    stdin.shutdown().await.ok();
                }
            });
        }
        let recent = RecentOutput::default();
        let (stdout, out) = capture(stdout, command.cap, recent.clone());
        let (stderr, err) = capture(stderr, command.cap, recent.clone());
        let (stop, unlimited) = (CancellationToken::new(), CancellationToken::new());
        let (tell, end) = watch::channel(None);
        let (deadline, grace) = (command.deadline, command.grace);
        let watcher = Watcher {
            group,
            exit,
            deadline,
            grace,
            descendants,
            stop: stop.clone(),
            unlimited: unlimited.clone(),
            _registered: registered,
        };
        tokio::spawn(async move {
            let how = watcher.wait().await;
            drain(out, err).await;
            tell.send_replace(Some(how));
        });
        Ok(Self { stdout, stderr, recent, end, stop, unlimited, started })
    }

    /// Returns what was printed so far.
    pub fn snapshot(&self) -> (Captured, Captured) {
        (self.stdout.snapshot(), self.stderr.snapshot())
    }

    /// Returns the newest of what was printed, both streams together.
    pub fn recent(&self) -> Vec<u8> {
        self.recent.bytes()
    }

    /// From now on it may run as long as it likes.
    pub fn lift_deadline(&self) {
        self.unlimited.cancel();
    }

    /// Returns how it ended, if it has.
    pub fn end(&self) -> Option<ChildExit> {
        *self.end.borrow()
    }

    pub async fn wait(&self) -> ChildExit {
        let mut end = self.end.clone();
        match end.wait_for(Option::is_some).await {
            Ok(known) => known.expect("waited for it"),
            // The runtime is going down and took the watcher with it.
            Err(_) => ChildExit::Cancelled,
        }
    }

    /// Asks for the end of the whole group; `wait` tells when it has come.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Takes what was printed, once it has ended.
    pub fn finish(&self, end: ChildExit) -> ChildOutput {
        ChildOutput { end, stdout: self.stdout.take(), stderr: self.stderr.take(), took: self.started.elapsed() }
    }
}

struct Watcher {
    group: Pid,
    exit: ChildWaiter,
    deadline: Option<Duration>,
    grace: Duration,
    descendants: Descendants,
    stop: CancellationToken,
    unlimited: CancellationToken,
    /// Until the child was waited for.
    _registered: GroupRegistration,
}

impl Watcher {
    async fn wait(mut self) -> ChildExit {
        let deadline = async {
            let Some(after) = self.deadline else { return std::future::pending().await };
            tokio::select! {
                () = tokio::time::sleep(after) => {}
                () = self.unlimited.cancelled() => std::future::pending().await,
            }
        };
        let end = tokio::select! {
            status = self.exit.wait() => {
                if self.descendants == Descendants::Kill {
                    // Usually no process is left.
                    kill_process_group(self.group, Signal::KILL).ok();
                }
                return status.map_or(ChildExit::Signalled(0), ChildExit::from);
            }
            () = deadline => ChildExit::TimedOut,
            () = self.stop.cancelled() => ChildExit::Cancelled,
        };
        end_group(&mut self.exit, self.group, self.grace).await;
        end
    }
}

/// Sends SIGTERM to the group, and SIGKILL to the processes that are left after `grace`.
async fn end_group(child: &mut ChildWaiter, group: Pid, grace: Duration) {
    // A signal fails where nobody is left, which is what we want.
    if !grace.is_zero() {
        kill_process_group(group, Signal::TERM).ok();
        let give_up = Instant::now() + grace;
        while Instant::now() < give_up {
            let reaped = child.try_wait().is_ok_and(|status| status.is_some());
            if reaped && !is_alive(group) {
                return;
            }
            tokio::time::sleep(POLL).await;
        }
    }
    kill_process_group(group, Signal::KILL).ok();
    // It has been waited for already.
    child.wait().await.ok();
}

/// Returns whether anyone of the group still runs. Orphans that have ended but were not
/// collected by their new parent yet still count for the kernel, not for us.
fn is_alive(group: Pid) -> bool {
    if test_kill_process_group(group).is_err() {
        return false;
    }
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // After the name in parentheses: state, parent, group.
        let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let (state, leader) = (fields.next(), fields.nth(1));
        leader == Some(&group.as_raw_nonzero().to_string()) && state != Some("Z")
    })
}

/// Waits for both readers, but not for descendants that keep the pipes open.
async fn drain(out: JoinHandle<()>, err: JoinHandle<()>) {
    // A reader that panicked or is too slow has captured what it has captured.
    let both = async {
        out.await.ok();
        err.await.ok();
    };
    tokio::time::timeout(LINGER, both).await.ok();
}
