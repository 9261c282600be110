//! Determines which files an implementation touched (DEC-123): those that differ from what the
//! project had when it began, and every path that was given to a tool that writes.
//!
//! The second half matters for files a look does not see, and for those that were
//! written and restored. A file without a digest counts as touched when asking
//! whether it may be shown to a test generator: unknown means no.

use ona_api::path::lexical;
use ona_api::testing::ProjectFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The answer, by paths below the project's root; a path outside is kept whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TouchedFiles {
    changed: BTreeSet<String>,
    /// Files that were there and are the same.
    same: BTreeSet<String>,
}

/// `before` is None if the files were not read when the implementation began. `written` are
/// paths as they were given to tools.
pub fn touched(root: &Path, before: Option<&[ProjectFile]>, now: &[ProjectFile], written: &[String]) -> TouchedFiles {
    let given = written.iter().map(|path| below(root, Path::new(path)));
    let Some(before) = before else {
        return TouchedFiles { changed: given.collect(), same: BTreeSet::new() };
    };
    let mut left: BTreeMap<&str, &ProjectFile> = before.iter().map(|file| (file.path.as_str(), file)).collect();
    let mut touched = TouchedFiles::default();
    for file in now {
        let same = left.remove(file.path.as_str()) == Some(file);
        let set = if same { &mut touched.same } else { &mut touched.changed };
        set.insert(file.path.clone());
    }
    // What is gone was touched too.
    touched.changed.extend(left.into_keys().map(str::to_owned));
    for path in given {
        touched.same.remove(&path);
        touched.changed.insert(path);
    }
    touched
}

impl TouchedFiles {
    /// Returns every touched path, in order.
    pub fn paths(&self) -> Vec<String> {
        self.changed.iter().cloned().collect()
    }

    /// Returns whether a file is known to be as it was before the implementation.
    pub fn is_untouched(&self, root: &Path, path: &Path) -> bool {
        self.same.contains(&below(root, path))
    }
}

fn below(root: &Path, path: &Path) -> String {
    let path = lexical(&root.join(path));
    path.strip_prefix(lexical(root)).unwrap_or(&path).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, sha256: &str) -> ProjectFile {
        ProjectFile { path: path.into(), size: 1, sha256: sha256.into() }
    }

    #[test]
    fn what_differs_is_gone_is_new_or_was_written_is_touched() {
        let before = [file("README.md", "1"), file("gone.rs", "1"), file("put-back.rs", "1"), file("src/a.rs", "1")];
        let now = [file("README.md", "1"), file("new.rs", "1"), file("put-back.rs", "1"), file("src/a.rs", "2")];
        let written = ["/p/put-back.rs", "src/../ignored/x", "/elsewhere/y"].map(str::to_owned);
        let root = Path::new("/p");
        let touched = touched(root, Some(&before), &now, &written);
        assert_eq!(touched.paths(), ["/elsewhere/y", "gone.rs", "ignored/x", "new.rs", "put-back.rs", "src/a.rs"]);
        let untouched = |path: &str| touched.is_untouched(root, Path::new(path));
        assert!(untouched("README.md") && untouched("/p/./README.md"));
        for path in ["src/a.rs", "put-back.rs", "ignored/unseen", "/etc/passwd", "/p/new.rs"] {
            assert!(!untouched(path), "{path}");
        }
    }

    #[test]
    fn without_a_first_look_nothing_is_known_to_be_untouched() {
        let touched = touched(Path::new("/p"), None, &[file("README.md", "1")], &["a.rs".to_owned()]);
        assert_eq!(touched.paths(), ["a.rs"]);
        assert!(!touched.is_untouched(Path::new("/p"), Path::new("README.md")));
    }
}
