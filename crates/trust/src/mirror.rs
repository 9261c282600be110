//! A permission update written into the settings file of its scope (DEC-078).
//!
//! The row is what a turn reads; the file is why "always allow" survives the
//! next import. Only ona's own files are written, atomically, keeping their mode.

use crate::discover::ABSENT;
use crate::edit::{EditError, RuleAnchors, apply};
use crate::permissions::{DEFAULT_MODE, DIRECTORIES};
use crate::read::{self, FileRead};
use ona_api::permission_update::{Destination, PermissionUpdate};
use ona_api::{Env, Mode, digest};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was written, for `ImportRecord::after`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredFile {
    pub file: PathBuf,
    /// The file's state before, as discovery marks it.
    pub before: String,
    /// And after.
    pub after: String,
}

#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    #[error("{}: {source}", .file.display())]
    Edit { file: PathBuf, source: EditError },
    #[error("{}: {problem}", .file.display())]
    Unreadable { file: PathBuf, problem: String },
    #[error("{}: {source}", .file.display())]
    Write { file: PathBuf, source: io::Error },
    /// A link in a project could lead the rule into another scope's file.
    #[error("{} is a link, or stands behind one; it is not written", .file.display())]
    Link { file: PathBuf },
    #[error("`permissions.{key}` would not count in {}; put it into your own settings", .file.display())]
    NotFromHere { file: PathBuf, key: &'static str },
}

/// Writes the update where it belongs. `None`: session and cliArg live in
/// memory only.
pub fn mirror(update: &PermissionUpdate, env: &Env, project_root: &Path) -> Result<Option<MirroredFile>, MirrorError> {
    let (dir, name) = match update.destination() {
        Destination::Session | Destination::CliArg => return Ok(None),
        Destination::UserSettings => (env.home().join(".ona"), "settings.json"),
        Destination::ProjectSettings => (project_root.join(".ona"), "settings.json"),
        Destination::LocalSettings => (project_root.join(".ona"), "settings.local.json"),
    };
    let file = dir.join(name);
    let of_user = update.destination() == Destination::UserSettings;
    if !of_user {
        let ignored = match update {
            PermissionUpdate::AddDirectories { .. } => Some(DIRECTORIES),
            PermissionUpdate::SetMode { mode: Mode::BypassPermissions, .. } => Some(DEFAULT_MODE),
            _ => None,
        };
        if let Some(key) = ignored {
            return Err(MirrorError::NotFromHere { file, key });
        }
        if [&dir, &file].iter().any(|path| path.is_symlink()) {
            return Err(MirrorError::Link { file });
        }
    }
    let anchors = RuleAnchors { row: project_root, file: if of_user { &dir } else { project_root } };
    let io = |source| MirrorError::Write { file: file.clone(), source };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(io)?;
    // Two processes may do this at once; the folder itself is the lock.
    let lock = File::open(&dir).map_err(io)?;
    lock.lock().map_err(io)?;

    let (text, before) = match read::read(&file) {
        FileRead::Text(text) => {
            let mark = digest::sha256_hex(text.as_bytes());
            (text, mark)
        }
        FileRead::Absent => ("{}\n".to_owned(), ABSENT.to_owned()),
        FileRead::Unreadable(problem) | FileRead::Unfit(problem) => {
            return Err(MirrorError::Unreadable { file, problem });
        }
    };
    let edited = apply(&text, update, anchors).map_err(|source| MirrorError::Edit { file: file.clone(), source })?;
    if edited == text {
        return Ok(Some(MirroredFile { file, after: before.clone(), before }));
    }
    replace_file(&file, &edited).map_err(io)?;
    Ok(Some(MirroredFile { file, before, after: digest::sha256_hex(edited.as_bytes()) }))
}

/// Writes beside the file and renames, so that a reader sees the old or the new text.
pub fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    // A user's file may be a link into a folder of dotfiles; the link stays.
    let target = match fs::canonicalize(file) {
        Ok(target) => target,
        Err(_) => file.to_path_buf(),
    };
    let mode = fs::metadata(&target).ok().map(|metadata| metadata.permissions());
    let beside = target.with_extension(format!("json.{}.tmp", std::process::id()));
    let written = write_new(&beside, text, mode).and_then(|()| fs::rename(&beside, &target));
    if written.is_err() {
        // Nothing depends on it; the error that is reported is the first one.
        fs::remove_file(&beside).ok();
    }
    written
}

fn write_new(path: &Path, text: &str, mode: Option<fs::Permissions>) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.sync_all()
}
