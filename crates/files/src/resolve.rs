//! What links make of a path.
//!
//! A path is resolved component by component, as the kernel does it, so that a
//! link to something that does not exist yet still leads to that something
//! (F-3). When a component cannot be looked at, there is no resolved form, and
//! callers that need one have to refuse: the written form never stands in for it.

use ona_api::path::lexical;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// As many as Linux follows.
const LINKS: usize = 40;

/// A path as it was written and as it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathForms {
    pub given: PathBuf,
    /// `None` when resolution failed.
    pub real: Option<PathBuf>,
}

impl PathForms {
    pub fn of(path: &Path) -> Self {
        Self::with(path, &mut Links::default())
    }

    /// As `of`, remembering what was looked at.
    pub fn with(path: &Path, links: &mut Links) -> Self {
        Self { given: lexical(path), real: links.resolve(path) }
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

/// What was found at the paths looked at so far. Lives for one call: the next
/// one looks again.
#[derive(Default)]
pub struct Links(HashMap<PathBuf, Entry>);

#[derive(Clone)]
enum Entry {
    Link(PathBuf),
    /// Anything else that is there.
    There,
    Missing,
    Unreadable,
}

impl Links {
    /// Where opening the path would lead. `..` follows links, unlike in `lexical`.
    fn resolve(&mut self, path: &Path) -> Option<PathBuf> {
        let mut todo: VecDeque<OsString> = parts(path);
        let mut real = PathBuf::from("/");
        let mut followed = 0;
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
            match self.look(&real) {
                Entry::Link(target) => {
                    followed += 1;
                    if followed > LINKS {
                        return None;
                    }
                    real.pop();
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    for part in parts(&target).into_iter().rev() {
                        todo.push_front(part);
                    }
                }
                Entry::There => {}
                Entry::Missing => missing = true,
                Entry::Unreadable => return None,
            }
        }
        Some(real)
    }

    fn look(&mut self, path: &Path) -> Entry {
        if let Some(entry) = self.0.get(path) {
            return entry.clone();
        }
        let entry = match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => std::fs::read_link(path).map_or(Entry::Unreadable, Entry::Link),
            Ok(_) => Entry::There,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Entry::Missing,
            Err(_) => Entry::Unreadable,
        };
        self.0.insert(path.to_path_buf(), entry.clone());
        entry
    }
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
        let real = |path: &str| Links::default().resolve(&root.join(path));
        assert_eq!(real("link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("link/../x"), Some(root.join("a/x")), "`..` of a link is the parent of its target");
        assert_eq!(real("dangling"), Some(root.join("elsewhere/key")));
        assert_eq!(real("missing/../link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("loop/x"), None);
        assert_eq!(PathForms::of(&root.join("link/../x")).given, root.join("x"));
    }
}
