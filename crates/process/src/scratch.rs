//! Folders for files of one call, below TMPDIR, and what dead programs left of them.
//!
//! TMPDIR is usually shared with other users. So a folder is made with mode 0700, under
//! a name that did not exist before: `mkdir` does not follow a link that was placed
//! there. It is removed with the value.
//!
//! As long as it is in use, its maker holds a lock (`flock`) on it, which ends with the process
//! however that ends. What nobody holds was left by a program that was killed, and
//! `remove_left_over` removes it. A process id would not do: TMPDIR may be shared by containers.

use rustix::fs::{FlockOperation, Mode, OFlags};
use std::fs::{File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// What something is made for; part of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Shell,
    EnvFile,
    Modules,
    Transcript,
    Test,
    PublicApi,
    Probe,
    Edit,
}

impl Purpose {
    const ALL: [Purpose; 8] = [
        Purpose::Shell,
        Purpose::EnvFile,
        Purpose::Modules,
        Purpose::Transcript,
        Purpose::Test,
        Purpose::PublicApi,
        Purpose::Probe,
        Purpose::Edit,
    ];

    fn prefix(self) -> &'static str {
        match self {
            Purpose::Shell => "ona-shell-",
            Purpose::EnvFile => "ona-env-",
            Purpose::Modules => "ona-modules-",
            Purpose::Transcript => "ona-transcript-",
            Purpose::Test => "ona-test-",
            Purpose::PublicApi => "ona-api-",
            Purpose::Probe => "ona-probe-",
            Purpose::Edit => "ona-edit-",
        }
    }
}

/// Between making something and locking it another program may look.
const YOUNG: Duration = Duration::from_secs(60);

/// A folder that is removed with the value.
#[derive(Debug)]
pub struct ScratchFolder {
    // Removed while it is still locked.
    folder: TempDir,
    _lock: Option<File>,
}

impl ScratchFolder {
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Makes a folder only this user can enter.
pub fn folder(purpose: Purpose, below: impl AsRef<Path>) -> io::Result<ScratchFolder> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes them")]
    let folder = tempfile::Builder::new()
        .prefix(purpose.prefix())
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(below)?;
    let lock = locked(folder.path());
    Ok(ScratchFolder { folder, _lock: lock })
}

/// A file that is removed with the value.
#[derive(Debug)]
pub struct ScratchFile {
    path: PathBuf,
    _lock: Option<File>,
}

impl ScratchFile {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // Already gone is what we want.
        std::fs::remove_file(&self.path).ok();
    }
}

/// Makes an empty file only this user can read.
pub fn file(purpose: Purpose, ending: &str, below: impl AsRef<Path>) -> io::Result<ScratchFile> {
    let made = tempfile::Builder::new().prefix(purpose.prefix()).suffix(ending).tempfile_in(below)?;
    let path = made.into_temp_path().keep()?;
    let lock = locked(&path);
    Ok(ScratchFile { path, _lock: lock })
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

/// Locks what was just made. Where the file system has no locks it is not: then nobody can lock
/// it, and nobody removes it but its maker.
fn locked(path: &Path) -> Option<File> {
    let locked = open(path).and_then(|file| {
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(file)
    });
    locked.inspect_err(|error| tracing::debug!(path = %path.display(), %error, "a scratch folder is not locked")).ok()
}

/// Removes what dead programs of this user left below `below`, and returns how many files and
/// folders these were.
pub fn remove_left_over(below: &Path) -> usize {
    // A TMPDIR that cannot be read holds nothing of ours that could be removed.
    let Ok(entries) = std::fs::read_dir(below) else { return 0 };
    let ours = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_ours));
    ours.filter(|entry| remove_unless_held(&entry.path())).count()
}

fn is_ours(name: &str) -> bool {
    Purpose::ALL.iter().any(|purpose| name.starts_with(purpose.prefix()))
}

/// What is young, of another user, or open to others was not made and left here.
fn remove_unless_held(path: &Path) -> bool {
    let Ok(file) = open(path) else { return false };
    let Ok(info) = file.metadata() else { return false };
    let age = info.modified().ok().and_then(|made| ona_api::clock::now().duration_since(made).ok());
    let is_private = info.uid() == rustix::process::geteuid().as_raw() && info.mode() & 0o077 == 0;
    if !is_private || age.is_none_or(|age| age < YOUNG) {
        return false;
    }
    if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return false;
    }
    let removed = if info.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.inspect_err(|error| tracing::debug!(path = %path.display(), %error, "what is left over stays")).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_enter_whatever_the_umask() {
        let tmp = tempfile::tempdir().unwrap();
        let before = rustix::process::umask(Mode::empty());
        let made = (folder(Purpose::Shell, tmp.path()), file(Purpose::EnvFile, ".sh", tmp.path()));
        rustix::process::umask(before);
        let (made, file) = (made.0.unwrap(), made.1.unwrap());
        let mode = |path: &Path| path.metadata().unwrap().mode() & 0o7777;
        assert_eq!((mode(made.path()), mode(file.path())), (0o700, 0o600));
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name(made.path()).starts_with("ona-shell-"));
        assert!(name(file.path()).starts_with("ona-env-") && name(file.path()).ends_with(".sh"));
        drop((made, file));
        assert_eq!(tmp.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_program_left_is_removed_and_nothing_else() {
        let tmp = tempfile::tempdir().unwrap();
        let old = ona_api::clock::now() - 2 * YOUNG;
        let at = |name: &str| tmp.path().join(name);
        let age = |path: &Path| open(path).unwrap().set_modified(old).unwrap();
        let private = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        for (name, mode) in [("ona-shell-left", 0o700), ("ona-modules-open", 0o755), ("ona-demo-x", 0o700)] {
            std::fs::create_dir(at(name)).unwrap();
            std::fs::write(at(name).join("in"), "x").unwrap();
            private(&at(name), mode);
            age(&at(name));
        }
        std::fs::write(at("ona-env-left.sh"), "export A=1").unwrap();
        private(&at("ona-env-left.sh"), 0o600);
        age(&at("ona-env-left.sh"));
        std::fs::create_dir(at("ona-test-young")).unwrap();
        private(&at("ona-test-young"), 0o700);
        std::os::unix::fs::symlink(at("ona-demo-x"), at("ona-shell-link")).unwrap();
        let (held, file) =
            (folder(Purpose::Shell, tmp.path()).unwrap(), file(Purpose::EnvFile, "", tmp.path()).unwrap());
        age(held.path());
        age(file.path());
        assert_eq!(remove_left_over(tmp.path()), 2);
        let mut left: Vec<_> = tmp.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        let mut expected = vec![
            at("ona-modules-open"),
            at("ona-demo-x"),
            at("ona-test-young"),
            at("ona-shell-link"),
            held.path().to_owned(),
            file.path().to_owned(),
        ];
        expected.sort();
        assert_eq!(left, expected);
        assert_eq!(remove_left_over(&at("ona-demo-x/in")), 0);
    }
}
