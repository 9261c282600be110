//! Locks between processes, as files beside the database.
//!
//! One process at a time runs turns in a session (DEC-019), and settings are not
//! replaced under a process that works with them (DEC-025). The system releases
//! these locks when a process dies, however it dies, so none goes stale; only a child
//! that was forked and is not yet its own program keeps them a moment longer, which is
//! why a lock in use is tried again for [`PATIENCE`]. A lock file is never removed:
//! a process that waits for a removed file and one that creates it again would both hold the lock.

use ona_api::SessionId;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Name of the settings lock, which therefore no session may have.
const SETTINGS: &str = "settings";

const MAX_SESSION_ID: usize = 128;

/// How long to wait for a lock whose holder may just have died.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(5);

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error("{what} is in use by another process")]
    InUse { what: String },
    #[error("{0:?} is not a session id: up to 128 of the characters A-Z a-z 0-9 . _ : - and no dot in front")]
    BadSessionId(String),
    #[error("the directory of the lock files is not a directory of this user: {}", .0.display())]
    ForeignDirectory(PathBuf),
    #[error("the lock file {} cannot be used: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// The right to run turns in a session, until dropped.
#[derive(Debug)]
pub struct SessionLock {
    _held: File,
}

impl SessionLock {
    pub fn acquire(db: &Path, session: &SessionId) -> Result<SessionLock, LockError> {
        let name = session.as_str();
        if !is_file_name(name) {
            return Err(LockError::BadSessionId(name.to_owned()));
        }
        let held = hold(db, name, Kind::Exclusive, || format!("session {name}"))?;
        Ok(SessionLock { _held: held })
    }
}

/// Shared by those who work with the settings; exclusive for replacing them.
#[derive(Debug)]
pub struct SettingsLock {
    _held: File,
}

impl SettingsLock {
    pub fn shared(db: &Path) -> Result<SettingsLock, LockError> {
        Self::take(db, Kind::Shared)
    }

    /// Only while no shared lock is held, including by this process.
    pub fn exclusive(db: &Path) -> Result<SettingsLock, LockError> {
        Self::take(db, Kind::Exclusive)
    }

    fn take(db: &Path, kind: Kind) -> Result<SettingsLock, LockError> {
        let held = hold(db, SETTINGS, kind, || "the database".to_owned())?;
        Ok(SettingsLock { _held: held })
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Shared,
    Exclusive,
}

fn hold(db: &Path, name: &str, kind: Kind, what: impl FnOnce() -> String) -> Result<File, LockError> {
    let directory = directory(db);
    let path = directory.join(name);
    let failed = |source| LockError::Io { path: path.clone(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
    let found = std::fs::symlink_metadata(&directory).map_err(failed)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(LockError::ForeignDirectory(directory));
    }
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).mode(0o600);
    // A link would have a file made wherever it leads.
    let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = options.custom_flags(no_links).open(&path).map_err(failed)?;
    let since = Instant::now();
    loop {
        let tried = match kind {
            Kind::Shared => file.try_lock_shared(),
            Kind::Exclusive => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => std::thread::sleep(STEP),
            Err(TryLockError::WouldBlock) => return Err(LockError::InUse { what: what() }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
}

/// `<db>.locks`
pub(crate) fn directory(db: &Path) -> PathBuf {
    let mut name = OsString::from(db);
    name.push(".locks");
    PathBuf::from(name)
}

/// Returns whether a session id can be a file name of its own in the lock directory.
/// Case is ignored for the reserved name, because some file systems do.
fn is_file_name(session: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    (1..=MAX_SESSION_ID).contains(&session.len())
        && session.bytes().all(allowed)
        && !session.starts_with('.')
        && !session.eq_ignore_ascii_case(SETTINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_that_are_harmless_file_names_can_be_locked() {
        let longest = "x".repeat(128);
        for good in ["a", "eval:0f", "A_b-c.d", "a..b", &longest] {
            assert!(is_file_name(good), "{good}");
        }
        let too_long = "x".repeat(129);
        for bad in ["", ".", "..", ".hidden", "a/b", "a b", "a\0b", "é", "settings", "Settings", &too_long] {
            assert!(!is_file_name(bad), "{bad}");
        }
    }

    #[test]
    fn the_lock_directory_stands_beside_the_database() {
        assert_eq!(directory(Path::new("/a/ona.db")), Path::new("/a/ona.db.locks"));
    }
}
