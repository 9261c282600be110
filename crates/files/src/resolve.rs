//! Resolves the links in a path.
//!
//! A path is resolved component by component, as the kernel does it, so that a
//! link to a target that does not exist yet still resolves to that target
//! (F-3). When a component cannot be read, a resolved form does not exist, and
//! callers that need one have to refuse: the written form never stands in for it.

use ona_api::path::lexical;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// As many as Linux follows.
const LINKS: usize = 40;

/// A path as it was written and as it resolves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathForms {
    pub given: PathBuf,
    /// `None` when resolution failed.
    pub real: Option<PathBuf>,
    /// The innermost folder on the way that exists.
    folder: Option<Folder>,
}

/// A folder as it was found: another one may have its name later, without any link.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Folder {
    path: PathBuf,
    id: FileId,
}

/// Device and inode.
type FileId = (u64, u64);

impl PathForms {
    pub fn of(path: &Path) -> Self {
        Self::with(path, &mut LinkCache::default())
    }

    /// As `of`, remembering what was looked at.
    pub fn with(path: &Path, links: &mut LinkCache) -> Self {
        let real = links.resolve(path);
        let folder = real.as_deref().and_then(|real| links.innermost(real));
        Self { given: lexical(path), real, folder }
    }

    /// A path that was not looked at.
    pub fn unresolved(given: PathBuf) -> Self {
        Self { given, real: None, folder: None }
    }

    /// Returns the folder on the way that has been exchanged for another one, or is gone.
    pub fn replaced_folder(&self) -> Option<&Path> {
        let folder = self.folder.as_ref()?;
        let now = std::fs::symlink_metadata(&folder.path).ok().map(|meta| (meta.dev(), meta.ino()));
        (now != Some(folder.id)).then_some(&folder.path)
    }

    pub fn each(&self) -> impl Iterator<Item = &Path> {
        let real = self.real.as_deref().filter(|real| *real != self.given);
        std::iter::once(self.given.as_path()).chain(real)
    }

    /// The same below both forms.
    pub fn join(&self, name: &str) -> Self {
        let real = self.real.as_ref().map(|real| real.join(name));
        Self { given: self.given.join(name), real, folder: self.folder.clone() }
    }
}

/// What was found at the paths looked at so far. Lives for one call: the next
/// one looks again.
#[derive(Default)]
pub struct LinkCache(HashMap<PathBuf, Entry>);

#[derive(Clone)]
enum Entry {
    Link(PathBuf),
    Folder(FileId),
    /// Anything else that is there.
    There,
    Missing,
    Unreadable,
}

impl LinkCache {
    /// Returns where opening the path would lead. `..` follows links, unlike in `lexical`.
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
                Entry::Folder(_) | Entry::There => {}
                Entry::Missing => missing = true,
                Entry::Unreadable => return None,
            }
        }
        Some(real)
    }

    /// Returns the last folder of a resolved path that was found.
    fn innermost(&self, real: &Path) -> Option<Folder> {
        real.ancestors().find_map(|path| match self.0.get(path)? {
            Entry::Folder(id) => Some(Folder { path: path.to_owned(), id: *id }),
            _ => None,
        })
    }

    fn look(&mut self, path: &Path) -> Entry {
        if let Some(entry) = self.0.get(path) {
            return entry.clone();
        }
        let entry = match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_symlink() => std::fs::read_link(path).map_or(Entry::Unreadable, Entry::Link),
            Ok(meta) if meta.is_dir() => Entry::Folder((meta.dev(), meta.ino())),
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
        let real = |path: &str| LinkCache::default().resolve(&root.join(path));
        assert_eq!(real("link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("link/../x"), Some(root.join("a/x")), "`..` of a link is the parent of its target");
        assert_eq!(real("dangling"), Some(root.join("elsewhere/key")));
        assert_eq!(real("missing/../link/x"), Some(root.join("a/b/x")));
        assert_eq!(real("loop/x"), None);
        assert_eq!(PathForms::of(&root.join("link/../x")).given, root.join("x"));
    }

    #[test]
    fn a_folder_that_another_one_replaced_is_noticed_without_any_link() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["a/b", "other/b", "empty"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("a/b/file"), "").unwrap();
        let paths = ["a/b/file", "a/b/new", "a/b", "a/b/missing/new"].map(|path| PathForms::of(&root.join(path)));
        let apart = PathForms::of(&root.join("empty/new"));
        // Files and new folders inside may come and go.
        std::fs::remove_file(root.join("a/b/file")).unwrap();
        std::fs::create_dir(root.join("a/b/missing")).unwrap();
        assert!(paths.iter().all(|path| path.replaced_folder().is_none()));
        std::fs::rename(root.join("a"), root.join("gone")).unwrap();
        assert!(paths.iter().all(|path| path.replaced_folder() == Some(&root.join("a/b"))));
        std::fs::rename(root.join("other"), root.join("a")).unwrap();
        assert!(paths.iter().all(|path| path.replaced_folder() == Some(&root.join("a/b"))));
        assert_eq!(apart.replaced_folder(), None);
    }
}
