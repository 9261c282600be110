//! What the file system of a path says: whether WAL is unsafe on it, and whether it is full or
//! read-only when SQLite only says that something failed.
//!
//! WAL needs memory shared between all processes that have the file open, and
//! locks that bind them. Network and pass-through file systems give neither
//! reliably; other agents lost databases on them. Only known types are refused:
//! a new file system of a kernel is not refused.

use crate::error::StoreError;
use std::path::Path;

/// Returns the name of the network file system that `path`, or where it would be made,
/// lies on.
pub(crate) fn network_at(path: &Path) -> Option<&'static str> {
    path.ancestors().find(|part| part.exists()).and_then(magic).and_then(network)
}

#[cfg(target_os = "linux")]
fn magic(path: &Path) -> Option<u32> {
    // The kernel's numbers have 32 bits; the width and sign of the field vary.
    rustix::fs::statfs(path).ok().map(|found| found.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn magic(_: &Path) -> Option<u32> {
    None
}

/// SQLite's words for a failed open, read or write leave open what to do about it.
/// The state of the file system says it.
pub(crate) fn explain(path: &Path, error: StoreError) -> StoreError {
    let unclear = matches!(error, StoreError::CannotOpen(_) | StoreError::ReadOnly(_) | StoreError::InputOutput(_));
    if !unclear {
        return error;
    }
    let Some(found) = path.ancestors().find(|part| part.exists()).and_then(|part| rustix::fs::statvfs(part).ok())
    else {
        return error;
    };
    let space = found.f_blocks > 0 && found.f_bavail.saturating_mul(found.f_frsize) < LEAST_SPACE;
    let full = space || (found.f_files > 0 && found.f_favail == 0);
    match error {
        _ if found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY) => {
            StoreError::ReadOnlyFileSystem(path.to_owned())
        }
        StoreError::CannotOpen(_) | StoreError::InputOutput(_) if full => StoreError::DiskFull,
        error => error,
    }
}

/// The index of the log alone needs this much.
const LEAST_SPACE: u64 = 32 << 10;

/// By the magic numbers of `statfs(2)` and `linux/magic.h`.
fn network(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "nfs",
        0x517b => "smb",
        0xff53_4d42 => "cifs",
        0xfe53_4d42 => "smb2",
        0x564c => "ncp",
        0x0102_1997 => "9p",
        // Also what virtiofs and the shared folders of Docker Desktop report.
        0x6573_5546 => "fuse",
        0x00c3_6400 => "ceph",
        0x5346_414f | 0x6b41_4653 => "afs",
        0x7375_7245 => "coda",
        0x0bd0_0bd0 => "lustre",
        0x4750_4653 => "gpfs",
        0x7461_636f => "ocfs2",
        0x0116_1970 => "gfs2",
        0x786f_4256 => "vboxsf",
        0xbacb_acbc => "vmhgfs",
        0x7c7c_6673 => "prl_fs",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_and_everything_else_is_accepted() {
        let table = [
            ("ext4", 0xef53, None),
            ("xfs", 0x5846_5342, None),
            ("btrfs", 0x9123_683e, None),
            ("zfs", 0x2fc1_2fc1, None),
            ("tmpfs", 0x0102_1994, None),
            ("overlayfs", 0x794c_7630, None),
            ("ecryptfs", 0xf15f, None),
            ("not invented yet", 0xdead_beef, None),
            ("nfs", 0x6969, Some("nfs")),
            ("smb", 0x517b, Some("smb")),
            ("cifs", 0xff53_4d42, Some("cifs")),
            ("smb2", 0xfe53_4d42, Some("smb2")),
            ("9p", 0x0102_1997, Some("9p")),
            ("fuse, virtiofs", 0x6573_5546, Some("fuse")),
            ("ceph", 0x00c3_6400, Some("ceph")),
            ("afs", 0x5346_414f, Some("afs")),
            ("kernel afs", 0x6b41_4653, Some("afs")),
        ];
        for (name, magic, expected) in table {
            assert_eq!(network(magic), expected, "{name}");
        }
    }

    #[test]
    fn a_path_that_does_not_exist_counts_as_its_nearest_ancestor() {
        assert_eq!(magic(Path::new("/proc")), Some(0x9fa0));
        assert_eq!(network_at(Path::new("/proc/none/such/ona.db")), None);
    }
}
