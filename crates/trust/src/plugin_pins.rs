//! Plugins that `ona plugin install` has copied: where each lies, and the digest its files had then.
//!
//! The list is `~/.ona/plugins/installed.json`, the copies lie beside it. A plugin whose files are
//! not those that were shown when it was installed is not loaded. Installing, and what of a plugin
//! would run, is `runtime/plugins`.

use crate::mirror::replace_file;
use ona_api::{Env, digest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Files of one plugin.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 64 << 20;

/// One installed plugin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledPlugin {
    /// The copy that is loaded.
    pub root: PathBuf,
    /// Digest of all its files.
    pub sha256: String,
    /// Where it was copied from.
    pub source: String,
    pub enabled: bool,
}

/// The list of installed plugins, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstalledPlugins {
    #[serde(default)]
    pub plugins: BTreeMap<String, InstalledPlugin>,
}

/// What became of an installed plugin's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PinState {
    /// As they were when it was installed.
    Same,
    /// They are not, or cannot be read; the end of a sentence that begins with the plugin.
    Changed(String),
}

/// The folder of the list and the copies.
pub fn plugins_folder(env: &Env) -> PathBuf {
    env.home().join(".ona/plugins")
}

/// The list itself.
pub fn installed_list(env: &Env) -> PathBuf {
    plugins_folder(env).join("installed.json")
}

/// Where the copies of installed plugins lie.
pub fn plugin_copies(env: &Env) -> PathBuf {
    plugins_folder(env).join("cache")
}

/// Where a plugin may keep what it writes.
pub fn plugin_data(env: &Env, id: &str) -> PathBuf {
    plugins_folder(env).join("data").join(id)
}

impl InstalledPlugins {
    /// Reads the list; an absent one is empty.
    pub fn read(env: &Env) -> Result<Self, String> {
        let list = installed_list(env);
        match fs::read_to_string(&list) {
            Ok(text) => {
                serde_json::from_str(&text).map_err(|error| format!("{} cannot be read: {error}", list.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(format!("{} cannot be read: {error}", list.display())),
        }
    }

    pub fn write(&self, env: &Env) -> std::io::Result<()> {
        let folder = plugins_folder(env);
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Text, paths that were read as text, and flags always have a JSON form.
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        replace_file(&installed_list(env), &format!("{text}\n"))
    }
}

impl InstalledPlugin {
    pub fn state(&self) -> PinState {
        match plugin_digest(&self.root) {
            Ok(now) if now == self.sha256 => PinState::Same,
            Ok(_) => PinState::Changed("has other files than when it was installed".to_owned()),
            Err(why) => PinState::Changed(why),
        }
    }
}

/// Returns the digest of a plugin's files: their paths, whether they are executable, and their contents.
/// A plugin with a link, or with anything but files and folders, has none.
pub fn plugin_digest(root: &Path) -> Result<String, String> {
    let mut lines = String::new();
    for (path, bytes) in plugin_files(root)? {
        let content = fs::read(root.join(&path)).map_err(|error| format!("has a file that cannot be read: {error}"))?;
        let executable = bytes.executable;
        // Writing to a String cannot fail.
        writeln!(lines, "{}\0{executable}\0{}", path.to_string_lossy(), digest::sha256_hex(&content)).ok();
    }
    Ok(digest::sha256_hex(lines.as_bytes()))
}

/// What of a file counts beside its path and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginFile {
    pub executable: bool,
}

/// Returns the files of a plugin by their paths below its root, in order, without `.git`.
pub fn plugin_files(root: &Path) -> Result<BTreeMap<PathBuf, PluginFile>, String> {
    let mut files = BTreeMap::new();
    let mut bytes = 0;
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(root.join(&folder)).map_err(|error| format!("cannot be read: {error}"))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("cannot be read: {error}"))?;
            let path = folder.join(entry.file_name());
            if folder.as_os_str().is_empty() && entry.file_name() == ".git" {
                continue;
            }
            let found = fs::symlink_metadata(root.join(&path)).map_err(|error| format!("cannot be read: {error}"))?;
            if found.is_dir() {
                folders.push(path);
            } else if found.is_file() {
                bytes += found.len();
                files.insert(path, PluginFile { executable: found.permissions().mode() & 0o100 != 0 });
            } else {
                return Err(format!("has {}, which is neither a file nor a folder", path.display()));
            }
            if files.len() + folders.len() > MOST_FILES || bytes > MOST_BYTES {
                return Err(format!("has more than {MOST_FILES} files or {MOST_BYTES} bytes"));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_file_changes_the_digest() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/x"), "one").unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        let first = plugin_digest(root).unwrap();
        fs::write(root.join(".git/index"), "not part of it").unwrap();
        assert_eq!(plugin_digest(root).unwrap(), first);
        fs::write(root.join("a/b/x"), "two").unwrap();
        let second = plugin_digest(root).unwrap();
        assert_ne!(first, second);
        fs::set_permissions(root.join("a/b/x"), fs::Permissions::from_mode(0o755)).unwrap();
        let third = plugin_digest(root).unwrap();
        assert_ne!(second, third);
        fs::rename(root.join("a/b/x"), root.join("a/b/y")).unwrap();
        assert_ne!(plugin_digest(root).unwrap(), third);
        std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
        assert!(plugin_digest(root).unwrap_err().contains("neither a file nor a folder"));
    }
}
