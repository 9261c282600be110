//! A mount namespace in which guarded files are read-only and hidden ones are covered.
//!
//! A user who is not root gets a user namespace as well, in which they are themselves and
//! nobody else; it allows the mounts. Root keeps its own and loses the capabilities that
//! could undo them. The kernel does not let a namespace made inside remove mounts that came
//! from outside, so a child gains nothing by making another.

use crate::plan::Mount;
use rustix::fs::{Mode, OFlags, StatVfsMountFlags, open, statvfs};
use rustix::io::{Errno, write};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
};
use rustix::process::{chdir, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, unshare_unsafe,
};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What root could undo the wall with: mounts, other processes, memory, devices, file handles.
const TAKEN: [CapabilitySet; 15] = [
    CapabilitySet::SYS_ADMIN,
    CapabilitySet::SYS_PTRACE,
    CapabilitySet::SYS_MODULE,
    CapabilitySet::SYS_RAWIO,
    CapabilitySet::SYS_BOOT,
    CapabilitySet::SYS_TIME,
    CapabilitySet::SYSLOG,
    CapabilitySet::MKNOD,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::MAC_ADMIN,
    CapabilitySet::MAC_OVERRIDE,
    CapabilitySet::AUDIT_CONTROL,
    CapabilitySet::BPF,
    CapabilitySet::PERFMON,
    CapabilitySet::CHECKPOINT_RESTORE,
];

/// The system calls, with all they need.
#[derive(Debug)]
pub(crate) struct Namespace {
    /// Lines for `uid_map` and `gid_map`, for a user namespace.
    own_user: Option<[CString; 2]>,
    mounts: Vec<(CString, How)>,
    cwd: CString,
}

#[derive(Debug)]
enum How {
    Pin,
    ReadOnly(MountFlags),
    CoverFile,
    CoverFolder,
}

impl Namespace {
    pub(crate) fn new(mounts: Vec<(PathBuf, Mount)>, cwd: &Path) -> io::Result<Self> {
        let has_rights = capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN);
        let own_user = if has_rights {
            None
        } else {
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            Some([CString::new(format!("{user} {user} 1"))?, CString::new(format!("{group} {group} 1"))?])
        };
        let mounts = mounts.into_iter().map(|(path, mount)| {
            let how = match mount {
                Mount::Pinned => How::Pin,
                Mount::ReadOnly => How::ReadOnly(flags_of(&path)?),
                Mount::Hidden if path.is_dir() => How::CoverFolder,
                Mount::Hidden => How::CoverFile,
            };
            Ok((c_string(&path)?, how))
        });
        Ok(Self { own_user, mounts: mounts.collect::<io::Result<_>>()?, cwd: c_string(cwd)? })
    }

    /// Must be called in a process with one thread. Neither allocates nor locks.
    #[expect(unsafe_code, reason = "a new namespace for files of a process that is about to become another program")]
    pub(crate) fn enter(&self) -> io::Result<()> {
        let flags = match self.own_user {
            Some(_) => UnshareFlags::NEWUSER | UnshareFlags::NEWNS,
            None => UnshareFlags::NEWNS,
        };
        // SAFETY: descriptors and threads do not depend on what stops being shared.
        unsafe { unshare_unsafe(flags) }?;
        if let Some([user, group]) = &self.own_user {
            set(c"/proc/self/setgroups", b"deny")?;
            set(c"/proc/self/uid_map", user.as_bytes())?;
            set(c"/proc/self/gid_map", group.as_bytes())?;
        }
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        for (path, how) in &self.mounts {
            match how {
                How::Pin | How::ReadOnly(_) => mount_bind_recursive(path, path)?,
                How::CoverFile => mount_bind(c"/dev/null", path)?,
                How::CoverFolder => {
                    let flags = MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
                    mount(c"none", path, c"tmpfs", flags, c"size=4k,mode=555")?;
                }
            }
        }
        // Only now: a mount made over one that is read-only would be read-only too.
        for (path, how) in &self.mounts {
            if let How::ReadOnly(flags) = how {
                mount_remount(path, MountFlags::BIND | MountFlags::RDONLY | *flags, c"")?;
            }
        }
        // Where it is now is below the mounts.
        chdir(&self.cwd)?;
        give_up_rights(self.own_user.is_some())
    }
}

fn give_up_rights(all: bool) -> io::Result<()> {
    for taken in TAKEN {
        match remove_capability_from_bounding_set(taken) {
            // A kernel that does not know it has none to take.
            Ok(()) | Err(Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    clear_ambient_capability_set()?;
    let kept = |set: CapabilitySet| {
        if all { CapabilitySet::empty() } else { TAKEN.iter().fold(set, |set, taken| set - *taken) }
    };
    let now = capabilities(None)?;
    let sets = CapabilitySets {
        effective: kept(now.effective),
        permitted: kept(now.permitted),
        inheritable: kept(now.inheritable),
    };
    Ok(set_capabilities(None, sets)?)
}

fn set(file: &std::ffi::CStr, text: &[u8]) -> io::Result<()> {
    let file = open(file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    write(&file, text)?;
    Ok(())
}

/// What a remount must not take away: the kernel refuses it.
fn flags_of(path: &Path) -> io::Result<MountFlags> {
    let flags = statvfs(path)?.f_flag;
    let kept = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    Ok(kept
        .into_iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .fold(MountFlags::empty(), |all, (_, flag)| all | flag))
}

fn c_string(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
