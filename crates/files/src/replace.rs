//! Replacing a file's content so that a reader, or a crash, sees the old bytes or
//! the new ones and nothing between.
//!
//! The new bytes go to a temporary file in the same open directory, which has the
//! permissions of the file it replaces before it has any content; it is flushed to
//! disk and renamed. A rename replaces a link instead of following it. Where it cannot
//! work (a directory one may not write to, a single file mounted into a container) the
//! file is written in place, if it is still the same file.

use crate::location::{FileInfo, FileLocation, OpenError};
use rustix::fs::{self as sys, AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

/// How often a free name for the temporary file is looked for.
const ATTEMPTS: usize = 16;
/// How the name of a temporary file begins; 16 hexadecimal digits follow.
const TEMPORARY: &str = ".ona-";

/// Puts `bytes` in the place of `old`, or of nothing. Parent directories are created.
pub fn replace(target: &mut FileLocation, old: Option<&FileInfo>, bytes: &[u8]) -> Result<(), OpenError> {
    replace_as(target, old, bytes, None)
}

/// The same for a file that has these permissions afterwards.
pub fn restore(target: &mut FileLocation, old: Option<&FileInfo>, bytes: &[u8], mode: u32) -> Result<(), OpenError> {
    replace_as(target, old, bytes, Some(mode))
}

/// Removes the file that was looked at; nothing else that may be in its place.
pub fn remove(target: &mut FileLocation, old: &FileInfo) -> Result<(), OpenError> {
    match target.info()? {
        Some(now) if now.is_same_file(old) && now.kind == FileType::RegularFile => {}
        _ => return Err(io::Error::other("another file has been put in its place").into()),
    }
    let name = target.name().to_owned();
    Ok(sys::unlinkat(target.directory()?, &name, AtFlags::empty())?)
}

fn replace_as(
    target: &mut FileLocation,
    old: Option<&FileInfo>,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<(), OpenError> {
    let name = target.name().to_owned();
    let dir = target.directory()?;
    match by_rename(dir, &name, old, bytes, mode) {
        Err(error) if blocks_rename(&error) => match old {
            Some(old) => in_place(dir, &name, old, bytes, mode),
            None => Err(error.into()),
        },
        other => Ok(other?),
    }
}

fn by_rename(
    dir: BorrowedFd<'_>,
    name: &OsString,
    old: Option<&FileInfo>,
    bytes: &[u8],
    mode: Option<u32>,
) -> io::Result<()> {
    let (mut temporary, mut file) = Temporary::create(dir, old)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        sys::fchmod(&file, Mode::from_bits_truncate(mode as _))?;
    }
    file.sync_all()?;
    sys::renameat(dir, &temporary.name, dir, name)?;
    temporary.renamed = true;
    // Makes the rename itself durable; some file systems cannot sync a directory.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    sys::openat(dir, ".", flags, Mode::empty()).and_then(sys::fsync).or(Ok(()))
}

fn blocks_rename(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ResourceBusy | ErrorKind::CrossesDevices)
}

fn in_place(
    dir: BorrowedFd<'_>,
    name: &OsString,
    old: &FileInfo,
    bytes: &[u8],
    mode: Option<u32>,
) -> Result<(), OpenError> {
    // Not truncated by opening it: first it has to be the file that was looked at.
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = File::from(sys::openat(dir, name, flags, Mode::empty())?);
    let now = FileInfo::of_open(&file)?;
    if now.kind != FileType::RegularFile || !now.is_same_file(old) {
        return Err(io::Error::other("another file has been put in its place").into());
    }
    file.set_len(0)?;
    file.write_all(bytes)?;
    if let Some(mode) = mode {
        sys::fchmod(&file, Mode::from_bits_truncate(mode as _))?;
    }
    Ok(file.sync_all()?)
}

/// A file that is removed unless it has been renamed.
struct Temporary<'d> {
    dir: BorrowedFd<'d>,
    name: OsString,
    renamed: bool,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // Already gone is what we want.
            sys::unlinkat(self.dir, &self.name, AtFlags::empty()).ok();
        }
    }
}

impl<'d> Temporary<'d> {
    /// At no time does any user have more access to it than to the old file.
    fn create(dir: BorrowedFd<'d>, old: Option<&FileInfo>) -> io::Result<(Self, File)> {
        // The owner may have to change first: until then only this user has access.
        let mode = match old {
            Some(old) if is_ours(old, dir)? => old.mode & 0o777,
            Some(_) => 0o600,
            // A new file gets what the umask leaves of this.
            None => 0o666,
        };
        let (name, file) = exclusive(dir, mode)?;
        let temporary = Self { dir, name, renamed: false };
        if let Some(old) = old {
            let new = FileInfo::of_open(&file)?;
            if (new.uid, new.gid) != (old.uid, old.gid) {
                sys::fchown(&file, Some(Uid::from_raw(old.uid)), Some(Gid::from_raw(old.gid)))?;
            }
            // After the owner, because changing that clears set-id bits.
            if new.mode != old.mode {
                sys::fchmod(&file, Mode::from_bits_truncate(old.mode as _))?;
            }
        }
        Ok((temporary, file))
    }
}

/// Returns whether a new file in the directory would have the same owner and group.
fn is_ours(old: &FileInfo, dir: BorrowedFd<'_>) -> io::Result<bool> {
    let dir = FileInfo::of_open(dir)?;
    let inherits = dir.mode & 0o2000 != 0 || cfg!(not(target_os = "linux"));
    let group = if inherits { dir.gid } else { rustix::process::getegid().as_raw() };
    Ok(old.uid == rustix::process::geteuid().as_raw() && old.gid == group)
}

/// Holds a temporary file that was just made until it has its name. Returns `false` if another program
/// was faster and removes it. Some file systems have no locks; there nothing is ever removed.
fn is_held(file: &OwnedFd) -> io::Result<bool> {
    match sys::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(false),
        _ => Ok(sys::fstat(file)?.st_nlink > 0),
    }
}

/// Removes the temporary files in a directory that were left by programs which died while they
/// replaced a file. Returns how many these were.
pub fn remove_left_over(dir: &Path) -> usize {
    // A directory that cannot be read holds nothing that could be removed.
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_temporary));
    ours.filter(|entry| remove_unless_held(&entry.path()).is_ok()).count()
}

fn is_temporary(name: &str) -> bool {
    name.strip_prefix(TEMPORARY).is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn remove_unless_held(path: &Path) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(sys::open(path, flags, Mode::empty())?);
    sys::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    std::fs::remove_file(path)
}

fn exclusive(dir: BorrowedFd<'_>, mode: u32) -> io::Result<(OsString, File)> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..ATTEMPTS {
        // The keys of a new state are random.
        let name = OsString::from(format!("{TEMPORARY}{:016x}", RandomState::new().build_hasher().finish()));
        match sys::openat(dir, &name, flags, Mode::from_bits_truncate(mode as _)) {
            Ok(file) if is_held(&file)? => return Ok((name, File::from(file))),
            // Another program took it for left over.
            Ok(_) => {}
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn what_a_dead_program_left_is_removed_unless_it_is_held_or_another_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let names =
            [".ona-0123456789abcdef", ".ona-0123456789abcde", ".ona-0123456789abcdeg", "a.ona-0123456789abcdef"];
        names.iter().for_each(|name| std::fs::write(at(name), "x").unwrap());
        let open = File::open(dir.path()).unwrap();
        let (held, file) = exclusive(std::os::fd::AsFd::as_fd(&open), 0o600).unwrap();
        assert_eq!(remove_left_over(dir.path()), 1);
        assert!(!at(names[0]).exists() && names[1..].iter().all(|name| at(name).exists()));
        drop(file);
        assert_eq!((at(held.to_str().unwrap()).exists(), remove_left_over(dir.path())), (true, 1));
        assert_eq!(remove_left_over(&at("missing")), 0);
    }

    fn put(path: &Path, bytes: &[u8]) -> Result<(), OpenError> {
        let mut target = FileLocation::at(path)?;
        let old = target.info()?;
        replace(&mut target, old.as_ref(), bytes)
    }

    #[test]
    fn the_mode_is_kept_and_nothing_is_left_behind() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let file = root.join("f");
        std::fs::write(&file, "old").unwrap();
        for mode in [0o600, 0o640, 0o777, 0o4755] {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            put(&file, b"new").unwrap();
            assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o7777, mode);
        }
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1);
    }

    #[test]
    fn the_temporary_file_is_never_more_open_than_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("f"), "secret").unwrap();
        std::fs::set_permissions(root.join("f"), std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut target = FileLocation::at(&root.join("f")).unwrap();
        let old = target.info().unwrap().unwrap();
        let (temporary, file) = Temporary::create(target.directory().unwrap(), Some(&old)).unwrap();
        let (now, named) = (file.metadata().unwrap(), std::fs::metadata(root.join(&temporary.name)).unwrap());
        assert_eq!((now.len(), now.mode() & 0o7777, named.ino()), (0, 0o600, now.ino()));
        drop(temporary);
        assert_eq!(std::fs::read_dir(&root).unwrap().count(), 1);
    }

    #[test]
    fn a_restored_file_has_the_permissions_it_is_given() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for (name, mode) in [("old", 0o640), ("new", 0o755)] {
            if name == "old" {
                std::fs::write(root.join(name), "old").unwrap();
            }
            let mut target = FileLocation::at(&root.join(name)).unwrap();
            let old = target.info().unwrap();
            restore(&mut target, old.as_ref(), b"kept", mode).unwrap();
            let found = std::fs::metadata(root.join(name)).unwrap();
            assert_eq!((found.mode() & 0o7777, std::fs::read(root.join(name)).unwrap()), (mode, b"kept".to_vec()));
        }
    }

    #[test]
    fn only_the_file_that_was_looked_at_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("f"), "one").unwrap();
        let mut target = FileLocation::at(&root.join("f")).unwrap();
        let old = target.info().unwrap().unwrap();
        std::fs::write(root.join("g"), "two").unwrap();
        std::fs::rename(root.join("g"), root.join("f")).unwrap();
        assert!(remove(&mut target, &old).is_err());
        symlink("other", root.join("link")).unwrap();
        std::fs::rename(root.join("link"), root.join("f")).unwrap();
        assert!(matches!(remove(&mut target, &old), Err(OpenError::Link)));
        std::fs::remove_file(root.join("f")).unwrap();
        std::fs::write(root.join("f"), "three").unwrap();
        let old = target.info().unwrap().unwrap();
        remove(&mut target, &old).unwrap();
        assert!(!root.join("f").exists());
    }

    #[test]
    fn a_link_that_appears_late_is_replaced_and_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("f"), "old").unwrap();
        std::fs::write(root.join("guarded"), "kept").unwrap();
        let mut target = FileLocation::at(&root.join("f")).unwrap();
        let old = target.info().unwrap();
        std::fs::remove_file(root.join("f")).unwrap();
        symlink("guarded", root.join("f")).unwrap();
        replace(&mut target, old.as_ref(), b"new").unwrap();
        assert_eq!(std::fs::read(root.join("guarded")).unwrap(), b"kept");
        assert!(!root.join("f").is_symlink());
        let dir = target.directory().unwrap();
        let other = in_place(dir, &"guarded".into(), &old.unwrap(), b"new", None);
        assert!(other.is_err() && std::fs::read(root.join("guarded")).unwrap() == b"kept");
    }
}
