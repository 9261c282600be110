//! Files that came with a folder: settings, instructions, skills, agents, modules.
//!
//! They are not trusted. They are read only if they are regular files of
//! a bounded size; a pipe would block the program, a device or a sparse file
//! would fill its memory. A file that an operator names on the command line may be a
//! pipe ([`read_named`]).

use rustix::fs::OFlags;
use std::collections::HashSet;
use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a file that came with a folder.
pub const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes of a file that was named by the operator.
const MAX_NAMED: u64 = 64 * 1024 * 1024;
/// Names in one folder that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// Why a file was not read. The caller adds its name.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("does not exist")]
    Absent,
    /// It is not a regular file.
    #[error("is {0}, not a regular file")]
    Kind(&'static str),
    #[error("is larger than {} MiB", .0 / 1024 / 1024)]
    TooLarge(u64),
    #[error("is not UTF-8 text")]
    NotText,
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

impl ReadError {
    pub fn is_absent(&self) -> bool {
        matches!(self, ReadError::Absent)
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => ReadError::Absent,
            _ => ReadError::Io(error),
        }
    }
}

/// Returns the text of a file that came with a folder.
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    String::from_utf8(read_bytes(path)?).map_err(|_| ReadError::NotText)
}

/// Returns the bytes of a file that came with a folder.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    let file = open_regular(path)?;
    if file.metadata()?.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge(MAX_FILE_BYTES));
    }
    up_to(file, MAX_FILE_BYTES)
}

/// Opens a file that came with a folder.
pub fn open_regular(path: &Path) -> Result<File, ReadError> {
    // Looked at before it is opened, because opening alone wakes some devices.
    regular(std::fs::metadata(path)?.file_type())?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    regular(file.metadata()?.file_type())?;
    Ok(file)
}

/// Returns the text of a file that the operator named: it may be a pipe, and is waited for.
pub fn read_named(path: &Path) -> Result<String, ReadError> {
    String::from_utf8(up_to(File::open(path)?, MAX_NAMED)?).map_err(|_| ReadError::NotText)
}

/// Refuses a folder whose ignore files a walk would read and must not: the first that is not
/// a regular file of a sensible size.
pub fn check_ignore_files(folder: &Path) -> Result<(), (PathBuf, ReadError)> {
    for name in [".gitignore", ".ignore", ".git/info/exclude"] {
        let path = folder.join(name);
        let Some(about) = std::fs::metadata(&path).ok().filter(|about| !about.is_dir()) else { continue };
        if let Err(why) = regular(about.file_type()) {
            return Err((path, why));
        }
        if about.len() > MAX_FILE_BYTES {
            return Err((path, ReadError::TooLarge(MAX_FILE_BYTES)));
        }
    }
    Ok(())
}

fn up_to(file: File, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ReadError::TooLarge(limit)) } else { Ok(bytes) }
}

fn regular(kind: FileType) -> Result<(), ReadError> {
    if kind.is_file() {
        return Ok(());
    }
    Err(ReadError::Kind(if kind.is_dir() {
        "a directory"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }))
}

/// What a folder holds, sorted by name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DirEntries {
    pub paths: Vec<PathBuf>,
    /// There are more than `MAX_ENTRIES`; which ones are missing is up to the file system.
    pub truncated: bool,
}

/// The notice for a folder that was not read completely.
pub const TOO_MANY_ENTRIES: &str = "has more than 10000 entries; the others are ignored";

/// Returns what a folder holds, up to `MAX_ENTRIES` names. A folder that cannot be read holds nothing.
pub fn list_dir(folder: &Path) -> DirEntries {
    list_below(folder, 0, Follow::Links)
}

/// Whether a walk looks into what links lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Follow {
    Links,
    Nothing,
}

/// Returns everything but folders at most `depth` levels below the entries of a folder. Each folder is
/// visited once, and `MAX_ENTRIES` counts for all of them together. Folders at the last level
/// are entries, and links to folders if they are not followed.
pub fn list_below(folder: &Path, depth: usize, follow: Follow) -> DirEntries {
    let mut found = DirEntries::default();
    let mut seen = 0;
    let mut visited = HashSet::new();
    let mut pending = vec![(folder.to_owned(), depth)];
    while let Some((folder, depth)) = pending.pop() {
        let is_new = std::fs::metadata(&folder).is_ok_and(|meta| visited.insert((meta.dev(), meta.ino())));
        let listed = is_new.then(|| std::fs::read_dir(&folder).ok()).flatten();
        for path in listed.into_iter().flatten().flatten().map(|entry| entry.path()) {
            seen += 1;
            if seen > MAX_ENTRIES {
                found.truncated = true;
                break;
            }
            if depth > 0 && path.is_dir() && (follow == Follow::Links || !path.is_symlink()) {
                pending.push((path, depth - 1));
            } else {
                found.paths.push(path);
            }
        }
    }
    found.paths.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn only_regular_files_of_a_sensible_size_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("text"), "words").unwrap();
        symlink("text", at("link")).unwrap();
        std::fs::write(at("bytes"), b"\xff").unwrap();
        File::create(at("limit")).unwrap().set_len(MAX_FILE_BYTES).unwrap();
        File::create(at("sparse")).unwrap().set_len(8 << 30).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let _listener = UnixListener::bind(at("socket")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let told = |name: &str| match read_text(&at(name)) {
            Ok(text) => format!("{} bytes", text.len()),
            Err(why) => why.to_string(),
        };
        for (name, expected) in [
            ("text", "5 bytes"),
            ("link", "5 bytes"),
            ("limit", "4194304 bytes"),
            ("bytes", "is not UTF-8 text"),
            ("sparse", "is larger than 4 MiB"),
            ("fifo", "is a named pipe, not a regular file"),
            ("socket", "is a socket, not a regular file"),
            ("zero", "is a device, not a regular file"),
            (".", "is a directory, not a regular file"),
            ("none", "does not exist"),
            ("text/below", "does not exist"),
        ] {
            assert_eq!(told(name), expected, "{name}");
        }
    }

    #[test]
    fn a_walk_ends_whatever_the_folder_holds() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        std::fs::create_dir_all(root.join("a/b/c")).unwrap();
        std::fs::write(root.join("a/b/c/deep"), "").unwrap();
        std::fs::write(root.join("a/near"), "").unwrap();
        for at in 0..20 {
            symlink("..", root.join(format!("a/loop{at}"))).unwrap();
        }
        let names = |list_dir: DirEntries| -> Vec<String> {
            list_dir.paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
        };
        assert_eq!(names(list_below(root, 8, Follow::Links)), ["a/b/c/deep", "a/near"]);
        assert_eq!(names(list_below(root, 2, Follow::Links)), ["a/b/c", "a/near"]);
        assert_eq!(names(list_dir(root)), ["a"]);
        assert_eq!(list_below(root, 8, Follow::Nothing).paths.len(), 22);
        assert_eq!(list_dir(&root.join("none")), DirEntries::default());

        let many = tempfile::tempdir().unwrap();
        for at in 0..=MAX_ENTRIES {
            File::create(many.path().join(at.to_string())).unwrap();
        }
        let listed = list_dir(many.path());
        assert_eq!((listed.paths.len(), listed.truncated), (MAX_ENTRIES, true));
        assert!(TOO_MANY_ENTRIES.contains(&MAX_ENTRIES.to_string()));
    }

    #[test]
    fn a_file_that_was_named_may_be_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let fifo = dir.path().join("fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let writer = std::thread::spawn({
            let fifo = fifo.clone();
            move || std::fs::write(fifo, "through a pipe")
        });
        assert_eq!(read_named(&fifo).unwrap(), "through a pipe");
        writer.join().unwrap().unwrap();
        assert!(matches!(read_named(Path::new("/dev/zero")), Err(ReadError::TooLarge(_))));
    }
}
