//! How a child ended.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildExit {
    Exited(i32),
    /// By a signal that was not ours.
    Signalled(i32),
    /// The deadline passed and the group was ended.
    TimedOut,
    /// The caller asked it to stop.
    Cancelled,
}

impl From<ExitStatus> for ChildExit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => ChildExit::Exited(code),
            (None, signal) => ChildExit::Signalled(signal.unwrap_or_default()),
        }
    }
}
