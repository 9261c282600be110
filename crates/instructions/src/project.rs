//! Which files a project has, and a digest of each (DEC-123).
//!
//! Two looks at a project tell which files an implementation touched, and whether
//! anything changed since its tests ran. What `.gitignore` leaves out is left out
//! here, because builds write there; `.git` and the caller's own files are too.
//! A look is bounded: large files, and all files once `BUDGET` is spent, are told apart by
//! size and time instead of content, and a project of more than `MOST` files is refused.

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

/// Files a look takes in.
const MOST: usize = 100_000;
/// Bytes a look reads.
const BUDGET: u64 = 256 << 20;
/// Source files are smaller.
const LARGE: u64 = 8 << 20;

/// The files of a project at one moment, by path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    pub files: Vec<ProjectFile>,
    executable: BTreeSet<String>,
}

impl Look {
    /// Of all files, and of which of them can be executed.
    pub fn sha256(&self) -> String {
        let line = |file: &ProjectFile| {
            let executable = self.executable.contains(&file.path);
            format!("{}\0{}\0{}\0{executable}\n", file.path, file.size, file.sha256)
        };
        digest::sha256_hex(self.files.iter().map(line).collect::<String>().as_bytes())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LookError {
    #[error("the project has more than {MOST} files that .gitignore does not leave out: {}", .0.display())]
    TooMany(PathBuf),
    #[error("the project can not be read: {0}")]
    Unreadable(String),
}

/// Looks at a project, leaving out these files and folders.
pub fn look(root: &Path, leave_out: &[PathBuf]) -> Result<Look, LookError> {
    let leave_out = leave_out.to_vec();
    // A folder that was left out because of it would be one whose changes nobody sees.
    let unfit = Arc::new(Mutex::new(None));
    let check = {
        let unfit = Arc::clone(&unfit);
        move |folder: &Path| match ona_files::check_ignore_files(folder) {
            Ok(()) => true,
            Err((file, why)) => {
                *unfit.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("{} {why}", file.display()));
                false
            }
        }
    };
    if !check(root) {
        let why = unfit.lock().unwrap_or_else(PoisonError::into_inner).take();
        return Err(LookError::Unreadable(why.unwrap_or_default()));
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
                && !leave_out.iter().any(|path| path == entry.path())
                && (!entry.file_type().is_some_and(|kind| kind.is_dir()) || check(entry.path()))
        })
        .sort_by_file_path(Ord::cmp)
        .build();
    let mut look = Look::default();
    let mut budget = BUDGET;
    for entry in walk {
        // A folder that may not be read now may be readable at the next look, which then differs.
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if look.files.is_empty() && !root.is_dir() => {
                return Err(LookError::Unreadable(error.to_string()));
            }
            Err(_) => continue,
        };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        if look.files.len() == MOST {
            return Err(LookError::TooMany(root.to_owned()));
        }
        let Some((file, executable)) = described(root, entry.path(), &mut budget) else { continue };
        look.executable.extend(executable.then(|| file.path.clone()));
        look.files.push(file);
    }
    match unfit.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(why) => Err(LookError::Unreadable(why)),
        None => Ok(look),
    }
}

/// None for what is gone already, and for pipes, sockets and devices.
fn described(root: &Path, path: &Path, budget: &mut u64) -> Option<(ProjectFile, bool)> {
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
    let read = || -> io::Result<String> { digest::sha256_of(ona_files::open_found(path).map_err(io::Error::other)?) };
    if meta.len() > LARGE.min(*budget) {
        return format!("time:{}.{:09}", meta.mtime(), meta.mtime_nsec());
    }
    *budget -= meta.len();
    read().unwrap_or_else(|error| format!("unreadable:{}", error.kind()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(look: &Look) -> Vec<&str> {
        look.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn a_look_sees_what_git_would_and_changes_with_it() {
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
        let leave_out = [root.join("ona.db"), root.join("out")];
        let first = look(root, &leave_out).unwrap();
        assert_eq!(paths(&first), [".gitignore", ".hidden", "link", "src/main.rs", "z"]);
        assert_eq!(first.files[3].sha256, digest::sha256_hex(b"src/main.rs"));
        assert_eq!(first.files[3].size, 11);

        fs::write(root.join("target/app"), "rebuilt").unwrap();
        fs::write(root.join("out/log"), "longer").unwrap();
        assert_eq!(look(root, &leave_out).unwrap(), first);

        let differs = |change: &dyn Fn()| {
            let before = look(root, &leave_out).unwrap().sha256();
            change();
            assert_ne!(look(root, &leave_out).unwrap().sha256(), before);
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
            let error = look(dir.path(), &[]).unwrap_err().to_string();
            assert!(error.contains(".gitignore is a socket, not a regular file"), "{error}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_can_not_be_looked_at() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(look(&dir.path().join("nowhere"), &[]), Err(LookError::Unreadable(_))));
        assert_eq!(look(dir.path(), &[]).unwrap().files, []);
    }
}
