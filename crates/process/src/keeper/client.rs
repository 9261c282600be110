//! The program's side: starts the keeper when it is first needed, and asks it for children.

use super::NAME;
use super::kept_child::KeptChild;
use super::message::{KeeperNote, send_farewell, send_start};
use crate::spawn::{ChildSpec, OnDeath, own_session};
use rustix::process::Pid;
use std::io::{self, Read};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

static KEEPER: Mutex<KeeperState> = Mutex::new(KeeperState::Disabled);

enum KeeperState {
    /// A program that does not serve as its own keeper: children are started directly.
    Disabled,
    /// Nothing needed it yet.
    Idle,
    Running(Keeper),
}

struct Keeper {
    control: UnixStream,
    process: Child,
}

/// Why the keeper did not start a child.
pub(crate) enum StartError {
    /// This program has none: start it directly.
    NoKeeper,
    Child(io::Error),
}

/// Lets children be started by a keeper. The program must call [`super::serve`] first thing
/// where [`super::is_keeper`] says so.
pub fn enable() {
    let mut state = state();
    if matches!(*state, KeeperState::Disabled) {
        *state = KeeperState::Idle;
    }
}

/// Says farewell: the program ends, and what it has left running may stay.
pub fn release() {
    if let KeeperState::Running(keeper) = std::mem::replace(&mut *state(), KeeperState::Disabled) {
        // One that is gone needs no farewell.
        send_farewell(&keeper.control).ok();
    }
}

/// Has a child started. Must be called inside a runtime.
pub(crate) fn start(spec: &ChildSpec, streams: [BorrowedFd<'_>; 3]) -> Result<KeptChild, StartError> {
    let (mut notes, theirs) = UnixStream::pair().map_err(StartError::Child)?;
    let keeper = request(spec, streams, &theirs)?;
    drop(theirs);
    let mut note = [0; KeeperNote::LENGTH];
    notes.read_exact(&mut note).map_err(StartError::Child)?;
    match KeeperNote::from_bytes(note) {
        Some(KeeperNote::Started { id }) => {
            let id = Pid::from_raw(id).ok_or_else(|| StartError::Child(io::ErrorKind::InvalidData.into()))?;
            KeptChild::new(id, keeper, notes).map_err(StartError::Child)
        }
        Some(KeeperNote::Failed { error }) => Err(StartError::Child(io::Error::from_raw_os_error(error))),
        _ => Err(StartError::Child(io::ErrorKind::InvalidData.into())),
    }
}

/// Sends the request, to a new keeper if the one before was killed. Returns the keeper's id.
fn request(spec: &ChildSpec, streams: [BorrowedFd<'_>; 3], notes: &UnixStream) -> Result<i32, StartError> {
    let mut state = state();
    // The second time it is a new one.
    for _ in 0..2 {
        let keeper = match std::mem::replace(&mut *state, KeeperState::Disabled) {
            KeeperState::Disabled => break,
            KeeperState::Running(keeper) => Ok(keeper),
            KeeperState::Idle => Keeper::start(),
        };
        match keeper {
            Ok(keeper) => match send_start(&keeper.control, spec, streams, notes) {
                Ok(()) => {
                    let id = keeper.process.id().cast_signed();
                    *state = KeeperState::Running(keeper);
                    return Ok(id);
                }
                Err(error) => {
                    tracing::warn!(%error, "the keeper of the children is gone; starting another");
                    keeper.bury();
                    *state = KeeperState::Idle;
                }
            },
            Err(error) => tracing::warn!(%error, "no keeper: children outlive this program if it is killed"),
        }
    }
    Err(StartError::NoKeeper)
}

impl Keeper {
    fn start() -> io::Result<Self> {
        let (control, theirs) = UnixStream::pair()?;
        // The link leads to this very build, also while an update replaces the file.
        #[expect(clippy::disallowed_methods, reason = "this is the one place that starts the keeper")]
        let mut command = Command::new("/proc/self/exe");
        command
            .arg0(NAME)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        own_session(&mut command, None, true, OnDeath::Leave);
        let process = command.spawn()?;
        tracing::debug!(pid = process.id(), "started the keeper of the children");
        Ok(Self { control, process })
    }

    /// Takes note of its end, which may be about to come.
    fn bury(mut self) {
        drop(self.control);
        // Without an exit status there is nothing to take note of.
        std::thread::spawn(move || self.process.wait().ok());
    }
}

fn state() -> MutexGuard<'static, KeeperState> {
    // Every change is one assignment.
    KEEPER.lock().unwrap_or_else(PoisonError::into_inner)
}
