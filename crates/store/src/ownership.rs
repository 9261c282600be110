//! Who owns the files of the database, and who else can read them.
//!
//! The rows decide what runs: settings, hooks, rules. A database of another user is
//! therefore refused, also for root, whose log files the owner could not use afterwards.
//! One that other users can read is made private. Files are looked at and their modes
//! changed by name; opening them here would drop SQLite's locks.

use crate::error::StoreError;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What SQLite keeps beside a database.
const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];
/// What other users must not have of a file.
const OTHERS: u32 = 0o077;

/// Device and inode of a file.
pub(crate) type Identity = (u64, u64);

/// Refuses a database that is, or can be replaced by, another user's. Changes nothing.
/// Returns which file it is, if there is one yet.
pub(crate) fn judge(path: &Path) -> Result<Option<Identity>, StoreError> {
    let own = geteuid().as_raw();
    let foreign = |path: &Path, meta: &Metadata| StoreError::ForeignOwner { path: path.to_owned(), uid: meta.uid() };
    // A link can be changed by its owner at any time.
    if let Ok(link) = fs::symlink_metadata(path)
        && link.is_symlink()
        && ![own, 0].contains(&link.uid())
    {
        return Err(foreign(path, &link));
    }
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(directory) = real.parent()
        && let Ok(found) = fs::metadata(directory)
        && found.mode() & 0o1002 == 0o0002
    {
        return Err(StoreError::OpenDirectory(directory.to_owned()));
    }
    let Ok(file) = fs::metadata(path) else { return Ok(None) };
    if file.uid() != own {
        return Err(foreign(&real, &file));
    }
    for companion in companions(&real) {
        match fs::symlink_metadata(&companion) {
            Ok(found) if found.is_symlink() => return Err(StoreError::LinkedCompanion(companion)),
            Ok(found) if found.uid() != own => return Err(foreign(&companion, &found)),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(Some(identity_of(&file)))
}

/// Returns whether the file is still the one that was judged.
pub(crate) fn is_same(path: &Path, judged: Option<Identity>) -> bool {
    judged.is_none() || identity(path) == judged
}

pub(crate) fn identity(path: &Path) -> Option<Identity> {
    fs::metadata(path).ok().as_ref().map(identity_of)
}

pub(crate) fn identity_of(file: &Metadata) -> Identity {
    (file.dev(), file.ino())
}

/// Makes private what other users can read or write; returns a sentence on the first
/// such file. The path has been judged, and what is there is a database of ours.
pub(crate) fn repair(path: &Path) -> Option<String> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let files = std::iter::once(real.clone()).chain(companions(&real));
    let said: Vec<_> = files.filter_map(|file| make_private(&file)).collect();
    said.into_iter().next()
}

fn make_private(file: &Path) -> Option<String> {
    let mode = || fs::symlink_metadata(file).ok().filter(Metadata::is_file).map(|meta| meta.mode() & 0o7777);
    let before = mode().filter(|mode| mode & OTHERS != 0)?;
    let found = format!("other users could use {} (mode {before:04o})", file.display());
    let private = before & !OTHERS;
    let changed = fs::set_permissions(file, Permissions::from_mode(private));
    Some(match (changed, mode()) {
        // A file SQLite removed in the meantime needs nothing.
        (_, None) => return None,
        (Ok(()), Some(mode)) if mode == private => format!("{found}; its mode is {private:04o} now"),
        (Ok(()), Some(_)) => format!("{found}, and its file system does not keep another mode"),
        (Err(error), Some(_)) => format!("{found}, and its mode cannot be changed: {error}"),
    })
}

pub(crate) fn companions(real: &Path) -> [PathBuf; 3] {
    COMPANIONS.map(|suffix| {
        let mut name = OsString::from(real);
        name.push(suffix);
        PathBuf::from(name)
    })
}
