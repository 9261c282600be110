//! The one place that reads the file system: what links make of a path.
//!
//! A path is resolved component by component, as the kernel does it, so that a
//! link to something that does not exist yet still leads to that something
//! (F-3). When a component can not be looked at, there is no resolved form, and
//! whoever needs one has to refuse: the written form never stands in for it.

use crate::place::lexical;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// As many as Linux follows.
const LINKS: usize = 40;

/// A path as it was written and as it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    pub given: PathBuf,
    /// `None` when resolution failed.
    pub real: Option<PathBuf>,
}

impl Forms {
    pub fn of(path: &Path) -> Self {
        Self { given: lexical(path), real: resolve(path) }
    }

    pub fn each(&self) -> impl Iterator<Item = &Path> {
        let real = self.real.as_deref().filter(|real| *real != self.given);
        std::iter::once(self.given.as_path()).chain(real)
    }

    /// The same below both forms.
    pub fn join(&self, name: &str) -> Self {
        Self { given: self.given.join(name), real: self.real.as_ref().map(|real| real.join(name)) }
    }
}

/// Where opening the path would lead. `..` follows links, unlike in `lexical`.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut todo: VecDeque<OsString> = parts(path);
    let mut real = PathBuf::from("/");
    let mut links = 0;
    // Below something missing nothing can be a link.
    let mut missing = false;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            real.pop();
            missing = false;
            continue;
        }
        real.push(&part);
        if missing {
            continue;
        }
        match std::fs::symlink_metadata(&real) {
            Ok(meta) if meta.is_symlink() => {
                links += 1;
                if links > LINKS {
                    return None;
                }
                let target = std::fs::read_link(&real).ok()?;
                real.pop();
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Ok(_) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => missing = true,
            Err(_) => return None,
        }
    }
    Some(real)
}

fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect()
}

/// What a look below a directory found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Below {
    Found,
    Nothing,
    /// Too many files to look at them all.
    TooMany,
}

/// Whether a file below `dir` is wanted. Looks at a bounded number of names and
/// does not follow links, as recursive search programs do not.
pub(crate) fn look_below(dir: &Path, mut wanted: impl FnMut(&Path) -> bool) -> Below {
    const NAMES: usize = 5_000;
    let mut dirs = vec![dir.to_path_buf()];
    let mut seen = 0;
    while let Some(dir) = dirs.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > NAMES {
                return Below::TooMany;
            }
            let path = entry.path();
            if wanted(&path) {
                return Below::Found;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                dirs.push(path);
            }
        }
    }
    Below::Nothing
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_as_the_kernel_does_also_to_what_does_not_exist() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        symlink("a/b", root.join("link")).unwrap();
        symlink(root.join("elsewhere/key"), root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let real = |path: &str| resolve(&root.join(path));
        assert_eq!(real("link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("link/../x"), Some(root.join("a/x")), "`..` of a link is the parent of its target");
        assert_eq!(real("dangling"), Some(root.join("elsewhere/key")));
        assert_eq!(real("missing/../link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("loop/x"), None);
        assert_eq!(Forms::of(&root.join("link/../x")).given, root.join("x"));
    }
}
