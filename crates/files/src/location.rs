//! The location of a file: an open directory and a name in it.
//!
//! The path has been resolved before, so no part of it is a link. If one is now, it
//! was put there in the meantime, and nothing is opened ([`OpenError::Link`]). After
//! the directory is open, renaming or replacing its parents changes nothing.

use rustix::fs::{self as sys, Access, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a descriptor for looking names up in a directory is opened with.
#[cfg(any(target_os = "linux", target_os = "android"))]
const LOOKUP: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const LOOKUP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What files are opened with.
const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A link stands where none was when the path was resolved.
    #[error("a part of the path has become a link")]
    Link,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for OpenError {
    fn from(errno: Errno) -> Self {
        if errno == Errno::LOOP { OpenError::Link } else { OpenError::Io(errno.into()) }
    }
}

/// What a file is, without following a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub kind: FileType,
    pub len: u64,
    /// Permission bits.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub dev: u64,
    pub ino: u64,
    /// How many names it has.
    pub links: u64,
    pub modified: SystemTime,
}

impl FileInfo {
    #[allow(clippy::unnecessary_cast, reason = "the widths differ between platforms")]
    fn of(stat: &Stat) -> Self {
        Self {
            kind: FileType::from_raw_mode(stat.st_mode),
            len: u64::try_from(stat.st_size).unwrap_or(0),
            mode: stat.st_mode as u32 & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            links: stat.st_nlink as u64,
            modified: modified(stat.st_mtime as i64, stat.st_mtime_nsec as u32),
        }
    }

    pub fn of_open(file: impl AsFd) -> io::Result<Self> {
        Ok(Self::of(&sys::fstat(file)?))
    }

    /// Returns whether both are the same file.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }
}

fn modified(seconds: i64, nanos: u32) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let time = if seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
    time.and_then(|time| time.checked_add(Duration::from_nanos(nanos.into()))).unwrap_or(UNIX_EPOCH)
}

#[derive(Debug)]
pub struct FileLocation {
    /// `None` while the directory does not exist.
    dir: Option<OwnedFd>,
    parent: PathBuf,
    name: OsString,
}

impl FileLocation {
    /// Opens the directory of a path that has been resolved.
    pub fn at(real: &Path) -> Result<Self, OpenError> {
        let (parent, name) = match (real.parent(), real.file_name()) {
            (Some(parent), Some(name)) => (parent, name),
            _ => (Path::new("/"), OsStr::new(".")),
        };
        let dir = match open_dir(parent) {
            Ok(dir) => Some(dir),
            Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { dir, parent: parent.to_owned(), name: name.to_owned() })
    }

    /// Returns what is there; `None` if nothing is.
    pub fn info(&self) -> Result<Option<FileInfo>, OpenError> {
        let Some(dir) = &self.dir else { return Ok(None) };
        match sys::statat(dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => Err(OpenError::Link),
            Ok(stat) => Ok(Some(FileInfo::of(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens what is there for reading. Never waits for the other end of a pipe.
    pub fn open(&self) -> Result<File, OpenError> {
        let dir = self.dir.as_ref().ok_or(Errno::NOENT)?;
        Ok(File::from(sys::openat(dir, &self.name, READ, Mode::empty())?))
    }

    /// Returns whether the system would let us write to it.
    pub fn is_writable(&self) -> bool {
        self.dir.as_ref().is_some_and(|dir| sys::accessat(dir, &self.name, Access::WRITE_OK, AtFlags::empty()).is_ok())
    }

    /// Returns the names in its directory, at most `limit`.
    pub fn names(&self, limit: usize) -> Vec<OsString> {
        self.dir.as_ref().map(|dir| names(dir, limit)).unwrap_or_default()
    }

    /// Opens the directory, and creates it if it does not exist.
    pub(crate) fn directory(&mut self) -> Result<BorrowedFd<'_>, OpenError> {
        let dir = match self.dir.take() {
            Some(dir) => dir,
            None => create_dir(&self.parent)?,
        };
        let dir: &OwnedFd = self.dir.insert(dir);
        Ok(dir.as_fd())
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }
}

/// Opens a directory by an absolute path without following any link.
pub fn open_dir(path: &Path) -> Result<OwnedFd, OpenError> {
    match at_once(path, LOOKUP) {
        Some(opened) => Ok(opened?),
        None => walk(path),
    }
}

/// Opens a regular file for reading by an absolute path without following any link.
pub fn open_file(path: &Path) -> Result<File, OpenError> {
    let file = match at_once(path, READ) {
        Some(opened) => File::from(opened?),
        None => FileLocation::at(path)?.open()?,
    };
    match FileInfo::of_open(&file)?.kind {
        FileType::RegularFile => Ok(file),
        _ => Err(io::Error::other("not a regular file").into()),
    }
}

/// Opens the path with one system call where it exists: Linux 5.6 has it, and filters of containers may hide it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn at_once(path: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    let opened = sys::openat2(CWD, path, flags, Mode::empty(), sys::ResolveFlags::NO_SYMLINKS);
    (!matches!(opened, Err(Errno::NOSYS | Errno::PERM))).then_some(opened)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn at_once(_: &Path, _: OFlags) -> Option<Result<OwnedFd, Errno>> {
    None
}

/// Opens the path one name after another.
fn walk(path: &Path) -> Result<OwnedFd, OpenError> {
    let mut dir = sys::openat(CWD, "/", LOOKUP, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::Normal(name) => dir = step(&dir, name)?,
            Component::RootDir | Component::CurDir => {}
            Component::ParentDir | Component::Prefix(_) => return Err(Errno::INVAL.into()),
        }
    }
    Ok(dir)
}

fn step(dir: &OwnedFd, name: &OsStr) -> Result<OwnedFd, OpenError> {
    sys::openat(dir, name, LOOKUP | OFlags::NOFOLLOW, Mode::empty()).map_err(|errno| {
        // Some systems say of a link that it is not a directory.
        let is_link = || {
            sys::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
        };
        if errno == Errno::NOTDIR && is_link() { OpenError::Link } else { errno.into() }
    })
}

/// Returns the names in an open directory, at most `limit`. One that cannot be read has none.
pub fn names(dir: impl AsFd, limit: usize) -> Vec<OsString> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(dir) = sys::openat(dir, ".", flags, Mode::empty()).and_then(sys::Dir::new) else { return Vec::new() };
    let names = dir.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    names.filter(|name| name != "." && name != "..").take(limit).collect()
}

fn create_dir(path: &Path) -> Result<OwnedFd, OpenError> {
    match open_dir(path) {
        Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::NOENT.into()) };
    let dir = create_dir(parent)?;
    match sys::mkdirat(&dir, name, Mode::from_bits_truncate(0o777)) {
        // Another process was faster; whether it is a directory shows when it is opened.
        Ok(()) | Err(Errno::EXIST) => step(&dir, name),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn room() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        (dir, root)
    }

    #[test]
    fn no_part_of_the_path_may_be_a_link() {
        let (_dir, root) = room();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "x").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("file", root.join("a/b/last")).unwrap();
        for open in [open_dir, walk] {
            assert!(open(&root.join("a/b")).is_ok());
            assert!(matches!(open(&root.join("link/b")), Err(OpenError::Link)));
            assert!(matches!(open(&root.join("link")), Err(OpenError::Link)));
            assert!(matches!(open(&root.join("a/b/file")), Err(OpenError::Io(_))));
            assert!(
                matches!(open(&root.join("a/none/b")), Err(OpenError::Io(error)) if error.kind() == io::ErrorKind::NotFound)
            );
        }
        let last = FileLocation::at(&root.join("a/b/last")).unwrap();
        assert!(matches!(last.info(), Err(OpenError::Link)));
        assert!(matches!(last.open(), Err(OpenError::Link)));
        assert!(FileLocation::at(&root.join("a/b/file")).unwrap().open().is_ok());
        assert_eq!(FileLocation::at(Path::new("/")).unwrap().info().unwrap().unwrap().kind, FileType::Directory);
    }

    #[test]
    fn missing_folders_are_created_and_links_in_their_place_are_not_followed() {
        let (_dir, root) = room();
        let mut target = FileLocation::at(&root.join("x/y/z")).unwrap();
        assert_eq!(target.info().unwrap(), None);
        target.directory().unwrap();
        assert!(root.join("x/y").is_dir());

        let mut late = FileLocation::at(&root.join("p/q/r")).unwrap();
        std::fs::create_dir(root.join("elsewhere")).unwrap();
        symlink("elsewhere", root.join("p")).unwrap();
        assert!(matches!(late.directory(), Err(OpenError::Link)));
        assert!(!root.join("elsewhere/q").exists());
    }

    #[test]
    fn an_open_directory_stays_the_same_when_its_path_is_replaced() {
        let (_dir, root) = room();
        std::fs::create_dir(root.join("d")).unwrap();
        std::fs::create_dir(root.join("other")).unwrap();
        std::fs::write(root.join("other/f"), "wrong").unwrap();
        let target = FileLocation::at(&root.join("d/f")).unwrap();
        std::fs::rename(root.join("d"), root.join("moved")).unwrap();
        symlink("other", root.join("d")).unwrap();
        assert_eq!(target.info().unwrap(), None);
    }
}
