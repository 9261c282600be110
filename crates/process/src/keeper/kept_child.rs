//! A child of the keeper as the program sees it.

use super::message::KeeperNote;
use super::tree::descendants_in_group;
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use tokio::io::Interest;

#[derive(Debug)]
pub(crate) struct KeptChild {
    id: Pid,
    /// The keeper's id.
    keeper: i32,
    notes: tokio::net::UnixStream,
    /// What has arrived of the note about its end.
    note: Vec<u8>,
    ended: Option<ExitStatus>,
}

impl KeptChild {
    /// Must be called inside a runtime.
    pub(super) fn new(id: Pid, keeper: i32, notes: UnixStream) -> io::Result<Self> {
        notes.set_nonblocking(true)?;
        Ok(Self { id, keeper, notes: tokio::net::UnixStream::from_std(notes)?, note: Vec::new(), ended: None })
    }

    pub(crate) fn group(&self) -> Pid {
        self.id
    }

    /// Returns its id, `None` once it has ended: the number may belong to another process then.
    pub(crate) fn id(&mut self) -> Option<Pid> {
        self.try_wait().is_none().then_some(self.id)
    }

    /// Returns how it ended. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        loop {
            if let Some(ended) = self.try_wait() {
                return Ok(ended);
            }
            self.notes.readable().await?;
            // Has the runtime wait for more where nothing is there after all.
            let is_there =
                self.notes.try_io(Interest::READABLE, || Ok(recv(&self.notes, &mut [0; 1], RecvFlags::PEEK)?));
            tracing::trace!(?is_there, "a note about a child");
        }
    }

    /// Asks the socket itself: the runtime hears of what arrives only when it next looks.
    pub(crate) fn try_wait(&mut self) -> Option<ExitStatus> {
        while self.ended.is_none() {
            let mut bytes = [0; KeeperNote::LENGTH];
            let missing = KeeperNote::LENGTH - self.note.len();
            match recv(&self.notes, &mut bytes[..missing], RecvFlags::DONTWAIT) {
                Ok((0, _)) => self.ended = Some(self.lost()),
                Ok((count, _)) => self.note.extend_from_slice(&bytes[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return None,
                Err(_) => self.ended = Some(self.lost()),
            }
            if let Ok(note) = <[u8; KeeperNote::LENGTH]>::try_from(self.note.as_slice()) {
                self.ended = Some(match KeeperNote::from_bytes(note) {
                    Some(KeeperNote::Ended { status }) => ExitStatus::from_raw(status),
                    _ => self.lost(),
                });
            }
        }
        self.ended
    }

    /// Kills it, and what is left of its group.
    pub(crate) fn kill_group(&mut self) {
        if self.try_wait().is_none() {
            // Gone in the meantime is what we want.
            kill_process_group(self.id, Signal::KILL).ok();
            return;
        }
        // Its number may be a stranger's by now, so only what descends from the keeper is meant.
        for id in
            descendants_in_group(self.keeper, self.id.as_raw_nonzero().get()).into_iter().filter_map(Pid::from_raw)
        {
            kill_process(id, Signal::KILL).ok();
        }
    }

    /// The keeper was killed, and its children with it; not those in their groups.
    fn lost(&self) -> ExitStatus {
        // Gone in the meantime is what we want.
        kill_process_group(self.id, Signal::KILL).ok();
        ExitStatus::from_raw(Signal::KILL.as_raw())
    }
}
