//! Replacing a file's content so that a reader, or a crash, sees the old bytes or
//! the new ones and nothing between.
//!
//! The new bytes go to a temporary file beside the target, are flushed to disk
//! and renamed over it. A link is written through: its target is replaced, the
//! link stays. Where a rename can not work (a directory one may not write to, a
//! single file mounted into a container) the file is written in place.

use crate::files::{Refused, io_refusal, regular};
use rustix::fs::{Access, access};
use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

/// Longest chain of links followed to a file that does not exist yet.
const MAX_LINKS: usize = 40;

/// Whether, and as what, `path` exists. Refuses what is no regular file and what
/// may not be written.
pub(crate) fn writable(path: &Path) -> Result<Option<Metadata>, Refused> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_refusal(path, &error)),
    };
    regular(path, metadata.file_type())?;
    // The first test also holds for root, whom the system would let through.
    if metadata.permissions().readonly() || access(path, Access::WRITE_OK).is_err() {
        return Err(format!("{} is read-only.", path.display()).into());
    }
    Ok(Some(metadata))
}

/// Puts `bytes` at `path`. Parent directories are created.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), Refused> {
    let refusal = |error| io_refusal(path, &error);
    let target = behind_links(path).map_err(refusal)?;
    let old = writable(&target)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory).map_err(|error| io_refusal(directory, &error))?;
    match by_rename(&target, directory, old.as_ref(), bytes) {
        Err(error) if old.is_some() && blocks_rename(&error) => in_place(&target, bytes).map_err(refusal),
        other => other.map_err(refusal),
    }
}

fn by_rename(target: &Path, directory: &Path, old: Option<&Metadata>, bytes: &[u8]) -> io::Result<()> {
    // A new file gets what the umask leaves of 0666.
    let mut temporary =
        tempfile::Builder::new().prefix(".ona-").permissions(Permissions::from_mode(0o666)).tempfile_in(directory)?;
    temporary.write_all(bytes)?;
    if let Some(old) = old {
        let file = temporary.as_file();
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            fchown(file, Some(old.uid()), Some(old.gid()))?;
        }
        // After the owner, because changing that clears set-id bits.
        file.set_permissions(old.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(target).map_err(|error| error.error)?;
    // Makes the rename itself durable; some file systems can not sync a directory.
    File::open(directory).and_then(|directory| directory.sync_all()).or(Ok(()))
}

fn blocks_rename(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ResourceBusy | ErrorKind::CrossesDevices)
}

fn in_place(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(target)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// The path a chain of links ends at, whether or not something is there.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(link) => path = path.parent().unwrap_or(Path::new("/")).join(link),
            // Not a link, or nothing there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many levels of links"))
}
