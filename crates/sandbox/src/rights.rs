//! Rights of the folders above guarded files.
//!
//! A mount keeps such a folder from being renamed or removed, but its owner may still
//! change its mode, and a hook in a folder that cannot be entered does not run. So the rights
//! are remembered before a command and put back after it.

use crate::policy::WallPolicy;
use std::collections::BTreeMap;
use std::fs::{Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;

#[derive(Debug)]
pub struct FolderRights(BTreeMap<PathBuf, Metadata>);

impl FolderRights {
    pub fn remember(policy: &WallPolicy) -> Self {
        let guarded = policy.read_only.iter().chain(&policy.hidden);
        let folders = guarded.flat_map(|path| path.ancestors().skip(1));
        Self(folders.filter_map(|folder| Some((folder.to_owned(), folder.metadata().ok()?))).collect())
    }

    /// Returns the folders whose rights had changed, outer ones first: what is inside could not be reached before.
    pub fn restore(&self) -> Vec<PathBuf> {
        let mut restored = Vec::new();
        for (folder, before) in &self.0 {
            let Ok(now) = folder.metadata() else { continue };
            let is_same = (now.mode(), now.uid(), now.gid()) == (before.mode(), before.uid(), before.gid());
            // Another folder in its place is not ours to change.
            if is_same || (now.dev(), now.ino()) != (before.dev(), before.ino()) {
                continue;
            }
            let owned = chown(folder, Some(before.uid()), Some(before.gid()));
            if owned.and_then(|()| std::fs::set_permissions(folder, Permissions::from_mode(before.mode()))).is_ok() {
                restored.push(folder.clone());
            }
        }
        restored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_of_folders_above_are_put_back() {
        let dir = tempfile::tempdir().unwrap();
        let (above, beside) = (dir.path().join("a/b"), dir.path().join("c"));
        std::fs::create_dir_all(&above).unwrap();
        std::fs::create_dir(&beside).unwrap();
        std::fs::write(above.join("guarded"), "").unwrap();
        let rights =
            FolderRights::remember(&WallPolicy { read_only: vec![above.join("guarded")], ..WallPolicy::default() });
        assert_eq!(rights.restore(), Vec::<PathBuf>::new());
        for folder in [&above, above.parent().unwrap(), &beside] {
            std::fs::set_permissions(folder, Permissions::from_mode(0o000)).unwrap();
        }
        assert_eq!(rights.restore(), [above.parent().unwrap(), &above]);
        assert_eq!(above.metadata().unwrap().mode() & 0o777, 0o755);
        assert_eq!(beside.metadata().unwrap().mode() & 0o777, 0o000);
    }
}
