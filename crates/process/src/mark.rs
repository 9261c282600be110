//! A mark on the agent's processes that they cannot remove (DEC-071).
//!
//! A child can drop a variable from its environment and outlive the shell it came from,
//! so neither its variables nor its ancestors show reliably who started it. A hard
//! resource limit is inherited by everything a process starts, and only root can raise
//! it. The limit on file locks is the one without any effect (Linux has ignored it
//! since 2.6); it carries the identity of the database the agent works on.
//!
//! Callers decide who gets which mark and what a mark means.

use std::path::Path;

/// The upper half of a mark: the letters of our name.
#[cfg(target_os = "linux")]
const FORM: u64 = 0x006f_6e61_0000_0000;

/// The mark of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessMark {
    Unmarked,
    Mark(u64),
    /// A limit that only a process trying to remove its mark would set.
    Tampered,
}

/// Returns the mark of a file, by its identity, so that links to it have the same. None if the file does not exist.
#[cfg(target_os = "linux")]
pub fn of_file(file: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(file).ok()?;
    let identity = meta.ino().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ meta.dev().rotate_left(17);
    Some(FORM | (identity >> 32))
}

/// Returns the mark of this process.
#[cfg(target_os = "linux")]
pub fn current() -> ProcessMark {
    match rustix::process::getrlimit(rustix::process::Resource::Locks).maximum {
        None => ProcessMark::Unmarked,
        Some(mark) if mark & !0xffff_ffff == FORM => ProcessMark::Mark(mark),
        Some(_) => ProcessMark::Tampered,
    }
}

/// Marks this process and all it will start. What is marked stays as it is: the outermost agent counts.
#[cfg(target_os = "linux")]
pub(crate) fn set(mark: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    if getrlimit(Resource::Locks).maximum.is_none() {
        // A kernel that does not let us leaves the environment as the only mark.
        setrlimit(Resource::Locks, Rlimit { current: Some(mark), maximum: Some(mark) }).ok();
    }
}

#[cfg(not(target_os = "linux"))]
pub fn of_file(_: &Path) -> Option<u64> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn current() -> ProcessMark {
    ProcessMark::Unmarked
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn set(_: u64) {}
