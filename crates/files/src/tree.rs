//! The files below some folders at one moment, by their metadata.
//!
//! Two such looks show which files a command changed, without reading any. A change leaves a
//! later change time (ctime), which a program cannot set back, so a file whose metadata is the same
//! is the same. Files that `.gitignore` excludes are not looked at, because builds write there; nor is
//! what lies in `.git`. The work is bounded by a number of files and by a time: where the tree is too
//! large nothing is answered at all, never half of one.
//!
//! What is done with a difference is the caller's business; `snapshot` is the same question
//! answered by content.

use crate::FileType;
use ignore::{WalkBuilder, WalkState};
use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Threads that look; more than the disk can serve help nobody.
const THREADS: usize = 4;

/// How much a look may cost.
#[derive(Clone, Copy, Debug)]
pub struct TreeLimits {
    pub files: usize,
    pub time: Duration,
}

/// The metadata of a file by which a change is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStamp {
    pub kind: FileType,
    pub len: u64,
    /// Permission bits.
    pub mode: u32,
    pub links: u64,
    /// Seconds and nanoseconds.
    pub modified: (i64, i64),
    pub changed: (i64, i64),
    pub dev: u64,
    pub ino: u64,
}

impl FileStamp {
    pub fn of(meta: &Metadata) -> Self {
        Self {
            kind: FileType::from_raw_mode(meta.mode() as _),
            len: meta.len(),
            mode: meta.mode() & 0o7777,
            links: meta.nlink(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            dev: meta.dev(),
            ino: meta.ino(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TreeTooLarge {
    #[error("there are more than {0} files")]
    Files(usize),
    #[error("looking at all files takes longer than {} ms", .0.as_millis())]
    Time(Duration),
}

/// Files by path; folders are not in it.
pub type FileTree = HashMap<PathBuf, FileStamp>;

/// Looks at all files below these folders, which may lie in each other.
pub fn look_at_tree(roots: &[PathBuf], skip: &[PathBuf], limits: TreeLimits) -> Result<FileTree, TreeTooLarge> {
    // The filter below is not asked about the folders themselves.
    let roots: Vec<_> = roots.iter().filter(|root| crate::check_ignore_files(root).is_ok()).collect();
    let Some((first, others)) = roots.split_first() else { return Ok(FileTree::default()) };
    let since = Instant::now();
    let skip = skip.to_vec();
    let mut walk = WalkBuilder::new(first);
    others.iter().for_each(|root| {
        walk.add(root);
    });
    let walk = walk
        .hidden(false)
        .ignore(false)
        .parents(false)
        .git_global(false)
        .git_exclude(false)
        .require_git(false)
        .follow_links(false)
        .same_file_system(true)
        .threads(THREADS)
        .filter_entry(move |entry| {
            entry.file_name() != ".git"
                && !skip.iter().any(|path| path == entry.path())
                // What `.gitignore` is may be anything; a pipe there would be waited for.
                && (!entry.file_type().is_some_and(|kind| kind.is_dir())
                    || crate::check_ignore_files(entry.path()).is_ok())
        })
        .build_parallel();
    let (count, late) = (AtomicUsize::new(0), AtomicBool::new(false));
    let found = Mutex::new(FileTree::default());
    walk.run(|| {
        let mut part = Part { files: Vec::new(), whole: &found };
        let (count, late) = (&count, &late);
        Box::new(move |entry| {
            // A folder that cannot be read has no files that can be told apart.
            let Ok(entry) = entry else { return WalkState::Continue };
            if entry.file_type().is_none_or(|kind| kind.is_dir()) {
                return WalkState::Continue;
            }
            if count.fetch_add(1, Ordering::Relaxed) >= limits.files {
                return WalkState::Quit;
            }
            if since.elapsed() > limits.time {
                late.store(true, Ordering::Relaxed);
                return WalkState::Quit;
            }
            if let Ok(meta) = entry.path().symlink_metadata() {
                part.files.push((entry.into_path(), FileStamp::of(&meta)));
            }
            WalkState::Continue
        })
    });
    if late.into_inner() {
        return Err(TreeTooLarge::Time(limits.time));
    }
    if count.into_inner() > limits.files {
        return Err(TreeTooLarge::Files(limits.files));
    }
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What one thread has found; added to the whole when the thread is done.
struct Part<'a> {
    files: Vec<(PathBuf, FileStamp)>,
    whole: &'a Mutex<FileTree>,
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.whole.lock().unwrap_or_else(PoisonError::into_inner).extend(self.files.drain(..));
    }
}

/// Returns the files that differ between two looks, sorted.
pub fn differing<'t>(before: &'t FileTree, after: &'t FileTree) -> Vec<&'t Path> {
    let changed = after.iter().filter(|(path, stamp)| before.get(*path) != Some(stamp));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let mut paths: Vec<&Path> = changed.map(|(path, _)| path.as_path()).chain(gone.map(PathBuf::as_path)).collect();
    paths.sort_unstable();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const LIMITS: TreeLimits = TreeLimits { files: 100, time: Duration::from_secs(60) };

    fn names(root: &Path, tree: &FileTree) -> Vec<String> {
        let mut names: Vec<_> =
            tree.keys().map(|path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_look_finds_what_git_would_and_a_second_one_what_changed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        for folder in [".git", "src/deep", "target", "nested/.git", "own"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in
            [".git/HEAD", "src/a", "src/deep/b", "target/x", "nested/.git/HEAD", "nested/c", "own/db", ".hidden"]
        {
            fs::write(root.join(file), file).unwrap();
        }
        fs::write(root.join(".gitignore"), "target/\n").unwrap();
        symlink("src/a", root.join("link")).unwrap();
        let look = || look_at_tree(&[root.to_owned(), root.join("src")], &[root.join("own")], LIMITS).unwrap();
        let before = look();
        assert_eq!(names(root, &before), [".gitignore", ".hidden", "link", "nested/c", "src/a", "src/deep/b"]);
        assert!(differing(&before, &look()).is_empty());

        fs::write(root.join("src/a"), "SRC/a").unwrap();
        fs::remove_file(root.join("src/deep/b")).unwrap();
        fs::write(root.join("src/new"), "").unwrap();
        fs::write(root.join("target/y"), "").unwrap();
        fs::set_permissions(root.join("nested/c"), fs::Permissions::from_mode(0o755)).unwrap();
        let after = look();
        let expected = ["nested/c", "src/a", "src/deep/b", "src/new"].map(|name| root.join(name));
        assert_eq!(differing(&before, &after), expected);
    }

    #[test]
    fn a_tree_that_is_too_large_has_no_answer() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..5 {
            fs::write(dir.path().join(n.to_string()), "").unwrap();
        }
        let look = |limits| look_at_tree(&[dir.path().to_owned()], &[], limits);
        assert_eq!(look(TreeLimits { files: 4, ..LIMITS }), Err(TreeTooLarge::Files(4)));
        assert_eq!(look(TreeLimits { files: 5, ..LIMITS }).unwrap().len(), 5);
        let none = Duration::ZERO;
        assert_eq!(look(TreeLimits { time: none, ..LIMITS }), Err(TreeTooLarge::Time(none)));
    }

    #[test]
    fn a_pipe_in_place_of_an_ignore_file_is_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("sub/.gitignore")).unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        let found = look_at_tree(&[dir.path().to_owned()], &[], LIMITS).unwrap();
        assert_eq!(names(dir.path(), &found), ["a"]);
    }
}
