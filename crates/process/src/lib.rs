//! Starts every child process of the program: hooks, shells, helpers.
//!
//! A child gets its own session (so that it has no terminal and its whole group
//! can be ended), stdin that is written and closed, bounded capture of both
//! streams, and a deadline. Those that must not outlive the program are started by
//! another process, the keeper. Which program, which environment and what an exit
//! code means is for the caller to decide.

mod cancellation;
mod capture;
mod child;
mod exit;
mod foreground;
mod groups;
#[cfg(target_os = "linux")]
pub mod keeper;
#[cfg(not(target_os = "linux"))]
#[path = "keeper/without.rs"]
pub mod keeper;
pub mod mark;
mod persistent;
mod running;
pub mod scratch;
pub mod secrets;
mod spawn;
pub mod wall;

pub use cancellation::{REPORT_TIME, TurnCancellation};
pub use capture::Captured;
pub use exit::ChildExit;
pub use foreground::{hand_over, run_in_terminal};
pub use groups::kill_all;
pub use persistent::{ChildHandle, ChildIoError, ChildReader, ChildWriter, PersistentChild};
pub use running::{ChildOutput, Running};
pub use spawn::{ChildCommand, OnDeath, SpawnError};
pub use wall::WallOrder;

use running::Descendants;
use tokio_util::sync::CancellationToken;

/// Starts a child that goes on by itself; see [`Running`].
pub fn start(command: ChildCommand) -> Result<Running, SpawnError> {
    Running::start(command, Descendants::Keep)
}

/// Runs a child to its end.
pub async fn run(command: ChildCommand, cancel: &CancellationToken) -> Result<ChildOutput, SpawnError> {
    wait_or_stop(start(command)?, cancel).await
}

/// Runs a child to its end and ends whatever of its group is left then.
pub async fn run_and_clear(command: ChildCommand, cancel: &CancellationToken) -> Result<ChildOutput, SpawnError> {
    wait_or_stop(Running::start(command, Descendants::Kill)?, cancel).await
}

/// Runs a child to its end where nothing can be awaited, on a thread of its own.
pub fn run_blocking(command: ChildCommand) -> Result<ChildOutput, SpawnError> {
    let run_alone = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(run_and_clear(command, &CancellationToken::new()))
    };
    std::thread::scope(|scope| {
        let ended = scope.spawn(run_alone).join();
        ended.unwrap_or_else(|_| Err(std::io::Error::other("the thread of the child panicked").into()))
    })
}

async fn wait_or_stop(running: Running, cancel: &CancellationToken) -> Result<ChildOutput, SpawnError> {
    let end = tokio::select! {
        end = running.wait() => end,
        () = cancel.cancelled() => {
            running.stop();
            running.wait().await
        }
    };
    Ok(running.finish(end))
}

/// Returns the first of these absolute paths that exists, else the bare name for `PATH` to resolve.
pub fn first_existing<'a>(paths: &[&'a str], fallback: &'a str) -> &'a str {
    paths.iter().find(|path| std::path::Path::new(path).exists()).unwrap_or(&fallback)
}

/// Returns the first directory of a `PATH` value that holds an executable of this name.
pub fn find_in_path(path: &str, name: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    path.split(':')
        .filter(|dir| dir.starts_with('/'))
        .map(|dir| std::path::Path::new(dir).join(name))
        .find(|file| std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0))
}
