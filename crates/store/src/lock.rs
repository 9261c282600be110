//! Locks between processes, as files beside the database.
//!
//! One process at a time runs turns in a session (DEC-019), and settings are not
//! replaced under a process that works with them (DEC-025). The system releases
//! these locks when a process dies, however it dies, so none goes stale; only a child
//! that was forked and is not yet its own program keeps them a moment longer, which is
//! why a lock in use is tried again for [`PATIENCE`].
//!
//! The file of a session is removed by its holder, and by `remove_unheld` where the holder was killed. Both
//! hold the lock while they do, and a lock counts only on the file that its path names: who waited
//! for a file that was removed meanwhile opens the path again. The file names its holder.

use ona_api::SessionId;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
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
    #[error("{what} is in use by another process{}", holder.map(|pid| format!(" (process {pid})")).unwrap_or_default())]
    InUse { what: String, holder: Option<u32> },
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
    path: PathBuf,
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // Still held. A file that is gone, or cannot be removed, locks nothing.
        std::fs::remove_file(&self.path).ok();
    }
}

impl SessionLock {
    pub fn acquire(db: &Path, session: &SessionId) -> Result<SessionLock, LockError> {
        let name = session.as_str();
        if !is_file_name(name) {
            return Err(LockError::BadSessionId(name.to_owned()));
        }
        let mut held = hold(db, name, Kind::Exclusive, || format!("session {name}"))?;
        let path = directory(db).join(name);
        // For people; the lock is the file's, not the text's.
        let named = held.set_len(0).and_then(|()| write!(held, "{}", std::process::id()));
        if let Err(error) = named {
            tracing::debug!(path = %path.display(), %error, "a lock does not name its holder");
        }
        Ok(SessionLock { _held: held, path })
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
    let since = Instant::now();
    loop {
        let file = open(&path).map_err(failed)?;
        let tried = match kind {
            Kind::Shared => file.try_lock_shared(),
            Kind::Exclusive => file.try_lock(),
        };
        match tried {
            Ok(()) if is_at(&file, &path) => return Ok(file),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => std::thread::sleep(STEP),
            Err(TryLockError::WouldBlock) => return Err(LockError::InUse { what: what(), holder: holder(&path) }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(false).mode(0o600);
    // A link would have a file made wherever it leads.
    let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    options.custom_flags(no_links).open(path)
}

/// Whether the path still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), std::fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

/// The process that a lock file names, if its text is a process id.
fn holder(path: &Path) -> Option<u32> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Whether a process works in the session.
pub fn is_held(db: &Path, session: &SessionId) -> bool {
    if !is_file_name(session.as_str()) {
        return false;
    }
    let Ok(file) = File::open(directory(db).join(session.as_str())) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Removes the lock files of sessions that no process works in. Returns how many these were.
pub fn remove_unheld(db: &Path) -> usize {
    // Without the directory there are none.
    let Ok(entries) = std::fs::read_dir(directory(db)) else { return 0 };
    let sessions = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_file_name));
    sessions.filter(|entry| remove_if_unheld(&entry.path())).count()
}

fn remove_if_unheld(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    file.try_lock().is_ok() && is_at(&file, path) && std::fs::remove_file(path).is_ok()
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
