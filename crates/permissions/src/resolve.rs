//! What permission decisions look at in the file system: where links lead
//! (`ona_files`), and what lies below a directory.

pub(crate) use ona_files::{LinkCache, PathForms as Forms};
use std::path::Path;

pub(crate) fn is_link(path: &Path) -> bool {
    path.is_symlink()
}

/// The result of a search below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchBelow {
    Found,
    Nothing,
    /// Too many files to look at them all.
    TooMany,
}

/// Returns whether a file at most `levels` below `dir` is wanted. Looks at a bounded number
/// of names and does not follow links, as recursive search programs do not.
pub(crate) fn search_below(dir: &Path, levels: usize, mut wanted: impl FnMut(&Path) -> bool) -> SearchBelow {
    const NAMES: usize = 5_000;
    let mut dirs = vec![(dir.to_path_buf(), levels)];
    let mut seen = 0;
    while let Some((dir, levels)) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > NAMES {
                return SearchBelow::TooMany;
            }
            let path = entry.path();
            if wanted(&path) {
                return SearchBelow::Found;
            }
            if levels > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push((path, levels - 1));
            }
        }
    }
    SearchBelow::Nothing
}
