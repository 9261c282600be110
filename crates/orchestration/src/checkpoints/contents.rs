//! Contents of files that a command might change, in memory.
//!
//! The newest files come first: what was changed last is what is likely to be changed next. A
//! content counts only for the metadata it was read with.

use super::{KeepLimits, unfit_as};
use ona_files::{FileStamp, FileTree, FileType, open_file};
use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one reading of files may take.
const TIME: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct KnownContents {
    files: HashMap<PathBuf, (FileStamp, Arc<[u8]>)>,
    bytes: u64,
}

impl KnownContents {
    /// Reads what of the tree is not known yet, as far as it fits.
    pub(super) fn read(&mut self, tree: &FileTree, limits: &KeepLimits) {
        let bytes = &mut self.bytes;
        self.files.retain(|path, (stamp, content)| {
            let same = tree.get(path) == Some(stamp);
            if !same {
                *bytes -= content.len() as u64;
            }
            same
        });
        let fits = |path: &Path, stamp: &FileStamp| {
            unfit_as(path, stamp.kind, stamp.links, stamp.len, limits.file_bytes).is_none()
        };
        let unknown = tree.iter().filter(|(path, stamp)| !self.files.contains_key(*path) && fits(path, stamp));
        let mut unknown: Vec<_> = unknown.collect();
        unknown.sort_unstable_by(|a, b| (b.1.modified, a.0).cmp(&(a.1.modified, b.0)));
        let since = Instant::now();
        for (path, stamp) in unknown {
            if self.bytes + stamp.len > limits.memory_bytes || since.elapsed() > TIME {
                break;
            }
            if let Some(content) = content(path, stamp) {
                self.bytes += content.len() as u64;
                self.files.insert(path.clone(), (*stamp, content));
            }
        }
    }

    /// Returns the content of a file as it was when it had this metadata.
    pub(super) fn get(&self, path: &Path, stamp: &FileStamp) -> Option<Arc<[u8]>> {
        self.files.get(path).filter(|(known, _)| known == stamp).map(|(_, content)| Arc::clone(content))
    }
}

/// Returns the content of a file that is still as it was looked at.
fn content(path: &Path, stamp: &FileStamp) -> Option<Arc<[u8]>> {
    let mut file = open_file(path).ok()?;
    let same = |file: &std::fs::File| file.metadata().is_ok_and(|meta| FileStamp::of(&meta) == *stamp);
    if stamp.kind != FileType::RegularFile || !same(&file) {
        return None;
    }
    let mut content = Vec::with_capacity(usize::try_from(stamp.len).ok()?);
    (&mut file).take(stamp.len + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 == stamp.len && same(&file)).then(|| content.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_files::{TreeLimits, look_at_tree};
    use std::fs;

    const LIMITS: KeepLimits = KeepLimits { file_bytes: 10, session_bytes: 0, database_bytes: 0, memory_bytes: 25 };

    #[test]
    fn the_newest_files_are_read_and_only_while_they_are_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let write = |name: &str, text: &str, age: u64| {
            fs::write(root.join(name), text).unwrap();
            let time = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000 - age);
            fs::File::options().append(true).open(root.join(name)).unwrap().set_modified(time).unwrap();
        };
        for (age, name) in ["a", "b", "c"].into_iter().enumerate() {
            write(name, "1234567890", age as u64);
        }
        write("large", "12345678901", 0);
        write(".env", "K=1", 0);
        let look = || {
            let limits = TreeLimits { files: 100, time: Duration::from_secs(60) };
            look_at_tree(std::slice::from_ref(&root), &[], limits).unwrap()
        };
        let known = |contents: &KnownContents, tree: &FileTree| {
            let has = |name: &&str| contents.get(&root.join(name), &tree[&root.join(name)]).is_some();
            ["a", "b", "c", "large", ".env"].into_iter().filter(has).collect::<Vec<_>>()
        };
        let (mut contents, tree) = (KnownContents::default(), look());
        contents.read(&tree, &LIMITS);
        assert_eq!(known(&contents, &tree), ["a", "b"]);

        write("a", "new", 0);
        let tree = look();
        assert_eq!(known(&contents, &tree), ["b"]);
        contents.read(&tree, &LIMITS);
        assert_eq!(known(&contents, &tree), ["a", "b", "c"]);
        assert_eq!(contents.bytes, 23);
    }
}
