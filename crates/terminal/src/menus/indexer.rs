//! The thread that makes the index of files.
//!
//! It walks the project as `git` and `rg` would, honouring ignore files, and hands out the index twice on
//! large trees: early with what it has, and at the end with everything. Dropping the
//! [`FileIndexer`] ends the walk.

use super::file_index::FileIndex;
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Clone, Debug)]
pub struct IndexOptions {
    pub root: PathBuf,
    /// Leave out what `.gitignore` names.
    pub respect_gitignore: bool,
}

/// A walk in progress.
#[derive(Debug)]
pub struct FileIndexer {
    stop: Arc<AtomicBool>,
}

/// After so many files the first index is handed out.
const EARLY: usize = 2_000;
/// Nobody finds a file among more by typing a few letters.
const MOST: usize = 500_000;

impl FileIndexer {
    /// Starts the walk. `deliver` is called from the walking thread.
    pub fn start(
        options: IndexOptions,
        deliver: impl Fn(Arc<FileIndex>) + Send + 'static,
    ) -> std::io::Result<FileIndexer> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::Builder::new().name("file-index".into()).spawn(move || walk(&options, &stopped, &deliver))?;
        Ok(FileIndexer { stop })
    }
}

impl Drop for FileIndexer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn walk(options: &IndexOptions, stop: &AtomicBool, deliver: &dyn Fn(Arc<FileIndex>)) {
    let respect = options.respect_gitignore;
    let walker = WalkBuilder::new(&options.root)
        .hidden(false)
        .require_git(false)
        .git_ignore(respect)
        .git_global(respect)
        .git_exclude(respect)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut paths = Vec::new();
    let mut cut = false;
    // What cannot be read is not offered; the rest is.
    for entry in walker.flatten() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let Some(path) = relative(entry.path(), &options.root) else { continue };
        let folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        paths.push(if folder { format!("{path}/") } else { path });
        if paths.len() == EARLY {
            deliver(Arc::new(FileIndex::new(paths.clone())));
        }
        if paths.len() == MOST {
            cut = true;
            break;
        }
    }
    let mut index = FileIndex::new(paths);
    index.cut |= cut;
    deliver(Arc::new(index));
}

/// Names that are not Unicode cannot be typed, and names with line ends cannot be shown.
fn relative(path: &Path, root: &Path) -> Option<String> {
    let path = path.strip_prefix(root).ok()?.to_str()?;
    (!path.is_empty() && !path.contains(char::is_control)).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FileIndexer, IndexOptions};
    use crate::menus::FileQuery;
    use std::sync::mpsc;

    #[test]
    fn ignored_files_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        file(".gitignore", "/target\n*.log\n");
        file(".git/config", "");
        file("src/main.rs", "");
        file("target/debug/main", "");
        file("out.log", "");
        let names = |respect_gitignore| {
            let (send, receive) = mpsc::channel();
            let options = IndexOptions { root: root.path().to_owned(), respect_gitignore };
            let indexer = FileIndexer::start(options, move |index| send.send(index).unwrap()).unwrap();
            let index = receive.recv().unwrap();
            drop(indexer);
            let found = FileQuery::default().search(&index, "", 50);
            found.into_iter().map(|found| found.path).collect::<Vec<_>>()
        };
        assert_eq!(names(true), ["src/", ".gitignore", "src/main.rs"]);
        assert_eq!(
            names(false),
            ["src/", "out.log", "target/", ".gitignore", "src/main.rs", "target/debug/", "target/debug/main"]
        );
    }
}
