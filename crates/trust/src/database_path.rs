//! Finds the project folder and the database of a session.

use ona_api::{Env, Variable, digest, environment};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns the folder a session belongs to: the nearest ancestor with a `.git`, else
/// the start directory (DEC-014). The path is canonical.
///
/// Whatever `.git` is (a directory, a worktree's pointer file, a broken link),
/// the folder that holds it is a root of its own. Where a pointer points is never
/// followed, so that a folder cannot borrow another folder's trust with one (B-1).
pub fn project_root(start: &Path) -> PathBuf {
    let start = std::fs::canonicalize(start).unwrap_or_else(|_| start.to_path_buf());
    let root = start.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok());
    root.unwrap_or(&start).to_path_buf()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabasePath {
    pub path: PathBuf,
    pub source: DatabaseSource,
}

/// Who named the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseSource {
    Flag,
    Environment,
    ProjectDefault,
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{name} must be an absolute path, not {value:?}")]
pub struct BadDatabasePath {
    /// `AGENT_SDLC_DB` or `--db`.
    pub name: &'static str,
    pub value: String,
}

const VARIABLE: Variable = environment::AGENT_SDLC_DB;
const FLAG: &str = "--db";

impl BadDatabasePath {
    /// Returns a line that can be copied as it is.
    pub fn hint(&self) -> String {
        let plain = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/".contains(&b));
        let path = match self.value.strip_prefix("~/") {
            Some(below) if !below.is_empty() && plain(below) => format!("$HOME/{below}"),
            None if !self.value.is_empty() && plain(&self.value) => format!("$PWD/{}", self.value),
            _ => "$PWD/ona.db".to_owned(),
        };
        match self.name {
            FLAG => format!("{FLAG} \"{path}\""),
            name => format!("export {name}=\"{path}\""),
        }
    }
}

/// Returns the database of a session: `--db`, else AGENT_SDLC_DB, else one file per
/// project below the user's state directory (DEC-010).
pub fn database_path(flag: Option<&str>, env: &Env, project_root: &Path) -> Result<DatabasePath, BadDatabasePath> {
    let absolute = |name, value: &str, source| match Path::new(value).is_absolute() {
        true => Ok(DatabasePath { path: value.into(), source }),
        false => Err(BadDatabasePath { name, value: value.to_owned() }),
    };
    if let Some(value) = flag {
        return absolute(FLAG, value, DatabaseSource::Flag);
    }
    if env.is_set(VARIABLE) {
        // Hooks get this path as JSON text, so bytes that are not UTF-8 count as no path at all.
        return absolute(VARIABLE.name(), env.get(VARIABLE).unwrap_or_default(), DatabaseSource::Environment);
    }
    let path = state_dir(env).join("ona").join(folder_name(project_root)).join("ona.db");
    Ok(DatabasePath { path, source: DatabaseSource::ProjectDefault })
}

/// Returns the user's state directory. A relative XDG_STATE_HOME is ignored, as its specification requires.
fn state_dir(env: &Env) -> PathBuf {
    match env.non_empty(environment::XDG_STATE_HOME).map(PathBuf::from) {
        Some(dir) if dir.is_absolute() => dir,
        _ => env.home().join(".local/state"),
    }
}

/// `<project-name>-<8 hex of sha256(project root)>`: the name for people, the
/// digest so that two folders of one name do not share a database.
fn folder_name(root: &Path) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let kept = |c: char| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().take(60).map(kept).collect();
    let digest = digest::sha256_hex(root.as_os_str().as_bytes());
    format!("{}-{}", if name.is_empty() { "root" } else { &name }, &digest[..8])
}
