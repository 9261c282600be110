//! Determines which files a project has, and a digest of each (DEC-123).
//!
//! Two snapshots of a project show which files an implementation changed, and whether
//! anything changed since its tests ran. Files that `.gitignore` excludes are not part of
//! a snapshot, because builds write there; nor are `.git` and the caller's own files.
//! The work is bounded: large files, and all files once `READ_LIMIT` is used up, are compared
//! by size and time instead of content, and a project of more than `MAX_FILES` files is refused.

use ignore::WalkBuilder;
use ona_api::digest;
use ona_api::testing::ProjectFile;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of files in a snapshot.
const MAX_FILES: usize = 100_000;
/// Bytes read for one snapshot.
const READ_LIMIT: u64 = 256 << 20;
/// Larger files are compared by size and time; source files are smaller.
const LARGE: u64 = 8 << 20;

/// The files of a project at one moment, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectSnapshot {
    pub files: Vec<ProjectFile>,
    executable: BTreeSet<String>,
}

impl ProjectSnapshot {
    /// Returns a digest over all files and over which of them are executable.
    pub fn sha256(&self) -> String {
        let line = |file: &ProjectFile| {
            let executable = self.executable.contains(&file.path);
            format!("{}\0{}\0{}\0{executable}\n", file.path, file.size, file.sha256)
        };
        digest::sha256_hex(self.files.iter().map(line).collect::<String>().as_bytes())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("the project has more than {MAX_FILES} files that .gitignore does not exclude: {}", .0.display())]
    TooMany(PathBuf),
    #[error("cannot read the project: {0}")]
    Unreadable(String),
}

/// Takes a snapshot of a project without these files and folders.
pub fn snapshot(root: &Path, exclude: &[PathBuf]) -> Result<ProjectSnapshot, SnapshotError> {
    let exclude = exclude.to_vec();
    // Skipping a folder with an unreadable ignore file would hide its changes.
    let unfit = Arc::new(Mutex::new(None));
    let check = {
        let unfit = Arc::clone(&unfit);
        move |folder: &Path| match crate::check_ignore_files(folder) {
            Ok(()) => true,
            Err((file, why)) => {
                *unfit.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{} {why}", file.display()));
                false
            }
        }
    };
    if !check(root) {
        let why = unfit.lock().unwrap_or_else(PoisonError::into_inner).take();
        return Err(SnapshotError::Unreadable(why.unwrap_or_default()));
    }
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .parents(false)
        .git_global(false)
        .require_git(false)
        .follow_links(false)
        .same_file_system(true)
        .filter_entry(move |entry| {
            entry.file_name() != ".git"
                && !exclude.iter().any(|path| path == entry.path())
                && (!entry.file_type().is_some_and(|kind| kind.is_dir()) || check(entry.path()))
        })
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut snapshot = ProjectSnapshot::default();
    let mut budget = READ_LIMIT;
    for entry in walk {
        // If the folder is readable the next time, that snapshot differs from this one.
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if snapshot.files.is_empty() && !root.is_dir() => {
                return Err(SnapshotError::Unreadable(error.to_string()));
            }
            Err(_) => continue,
        };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        if snapshot.files.len() == MAX_FILES {
            return Err(SnapshotError::TooMany(root.to_owned()));
        }
        let Some((file, executable)) = describe(root, entry.path(), &mut budget) else { continue };
        snapshot.executable.extend(executable.then(|| file.path.clone()));
        snapshot.files.push(file);
    }
    match unfit.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(why) => Err(SnapshotError::Unreadable(why)),
        None => Ok(snapshot),
    }
}

/// Returns `None` for a file that no longer exists, and for pipes, sockets and devices.
fn describe(root: &Path, path: &Path, budget: &mut u64) -> Option<(ProjectFile, bool)> {
    let meta = fs::symlink_metadata(path).ok()?;
    let sha256 = if meta.is_symlink() {
        digest::sha256_hex(fs::read_link(path).ok()?.as_os_str().as_bytes())
    } else if meta.is_file() {
        content(path, &meta, budget)
    } else {
        return None;
    };
    let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let executable = meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    Some((ProjectFile { path, size: meta.len(), sha256 }, executable))
}

fn content(path: &Path, meta: &fs::Metadata, budget: &mut u64) -> String {
    let read = || -> io::Result<String> { digest::sha256_of(crate::open_regular(path).map_err(io::Error::other)?) };
    if meta.len() > LARGE.min(*budget) {
        return format!("time:{}.{:09}", meta.mtime(), meta.mtime_nsec());
    }
    *budget -= meta.len();
    read().unwrap_or_else(|error| format!("unreadable:{}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(snapshot: &ProjectSnapshot) -> Vec<&str> {
        snapshot.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn a_snapshot_has_the_files_git_sees_and_changes_with_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in [".git", "src", "target", "out"] {
            fs::create_dir(root.join(folder)).unwrap();
        }
        let files = [".git/HEAD", ".gitignore", ".hidden", "src/main.rs", "target/app", "out/log", "ona.db", "z"];
        for file in files {
            fs::write(root.join(file), if file == ".gitignore" { "target/\n" } else { file }).unwrap();
        }
        std::os::unix::fs::symlink("z", root.join("link")).unwrap();
        let exclude = [root.join("ona.db"), root.join("out")];
        let first = snapshot(root, &exclude).unwrap();
        assert_eq!(paths(&first), [".gitignore", ".hidden", "link", "src/main.rs", "z"]);
        assert_eq!(first.files[3].sha256, digest::sha256_hex(b"src/main.rs"));
        assert_eq!(first.files[3].size, 11);

        fs::write(root.join("target/app"), "rebuilt").unwrap();
        fs::write(root.join("out/log"), "longer").unwrap();
        assert_eq!(snapshot(root, &exclude).unwrap(), first);

        let differs = |change: &dyn Fn()| {
            let before = snapshot(root, &exclude).unwrap().sha256();
            change();
            assert_ne!(snapshot(root, &exclude).unwrap().sha256(), before);
        };
        differs(&|| fs::write(root.join("src/main.rs"), "src/main.rt").unwrap());
        differs(&|| fs::write(root.join("new"), "").unwrap());
        differs(&|| fs::rename(root.join("new"), root.join("newer")).unwrap());
        differs(&|| fs::set_permissions(root.join("z"), fs::Permissions::from_mode(0o755)).unwrap());
        differs(&|| fs::remove_file(root.join("link")).unwrap());
    }

    #[test]
    fn a_pipe_in_place_of_an_ignore_file_is_an_error_and_not_waited_for() {
        for folder in ["", "sub"] {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir(dir.path().join("sub")).unwrap();
            let _socket = std::os::unix::net::UnixListener::bind(dir.path().join(folder).join(".gitignore")).unwrap();
            let error = snapshot(dir.path(), &[]).unwrap_err().to_string();
            assert!(error.contains(".gitignore is a socket, not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_missing_folder_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(snapshot(&dir.path().join("nowhere"), &[]), Err(SnapshotError::Unreadable(_))));
        assert_eq!(snapshot(dir.path(), &[]).unwrap().files, []);
    }
}
