//! The copy of a database that is kept when it is upgraded.
//!
//! SQLite makes it through its backup interface, from a second connection that reads
//! what the writer has locked. It grows under another name and gets its own when it is
//! complete and on disk, so that a file with the name of a backup is one. What a killed
//! process left behind is removed by the next upgrade.

use crate::error::StoreError;
use crate::open;
use rusqlite::OpenFlags;
use rusqlite::backup::{Backup as Copying, StepResult};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A complete backup. Removed when dropped, unless it is kept: a failed upgrade leaves
/// the database as it was, and the next attempt makes another one.
#[derive(Debug)]
pub(crate) struct Backup {
    path: PathBuf,
}

impl Backup {
    /// Copies the database at `path`, whose version is `version`. The caller holds the
    /// write lock, so that nothing changes meanwhile and nobody else makes a backup.
    pub(crate) fn make(path: &Path, version: i64) -> Result<Backup, StoreError> {
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let target = free_name(&real, version);
        let failed = |reason: String| StoreError::Backup { path: target.clone(), reason };
        let partial = Partial::new(&real).map_err(|error| failed(error.to_string()))?;
        copy(&real, &partial.path).map_err(|error| failed(error.to_string()))?;
        fs::rename(&partial.path, &target).map_err(|error| failed(error.to_string()))?;
        let backup = Backup { path: target.clone() };
        sync_directory(&target).map_err(|error| failed(error.to_string()))?;
        Ok(backup)
    }

    pub(crate) fn keep(mut self) -> PathBuf {
        std::mem::take(&mut self.path)
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            // One backup too many does no harm.
            if let Err(error) = fs::remove_file(&self.path) {
                tracing::debug!(path = %self.path.display(), %error, "a backup that is not needed stays");
            }
        }
    }
}

/// A backup that is being written. Removed when dropped; once renamed it is not there any more.
struct Partial {
    path: PathBuf,
}

impl Partial {
    fn new(real: &Path) -> io::Result<Partial> {
        let path = beside(real, ".backup-partial");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        Ok(Partial { path })
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Renamed is the usual case; of what is left the next upgrade makes an end.
        fs::remove_file(&self.path).unwrap_or_default();
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), StoreError> {
    let source = open::reader(from, open::BUSY_TIMEOUT)?;
    let mut target = open::private(to, OpenFlags::SQLITE_OPEN_NOFOLLOW)?;
    // No second file that a killed process could leave behind.
    target.pragma_update(None, "journal_mode", "MEMORY")?;
    target.pragma_update(None, "synchronous", "FULL")?;
    match Copying::new(&source, &mut target)?.step(-1)? {
        StepResult::Done => {}
        // Nobody else has the target, and the source is read in WAL mode.
        _ => return Err(StoreError::Busy),
    }
    target.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// The first name that is not taken: a backup of an earlier upgrade is never replaced.
fn free_name(real: &Path, version: i64) -> PathBuf {
    let mut name = beside(real, &format!(".schema-{version}.backup"));
    let mut number = 1;
    while fs::symlink_metadata(&name).is_ok() {
        number += 1;
        name = beside(real, &format!(".schema-{version}.backup-{number}"));
    }
    name
}

/// So that the name survives a power failure that the upgrade survives.
fn sync_directory(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), |directory| File::open(directory)?.sync_all())
}

fn beside(real: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(real);
    name.push(suffix);
    PathBuf::from(name)
}
