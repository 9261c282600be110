//! Folders for files of one call, below TMPDIR.
//!
//! TMPDIR is usually shared with other users. So a folder is made with mode 0700, under
//! a name that did not exist before: `mkdir` does not follow a link that was placed
//! there. It is removed with the value.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use tempfile::TempDir;

/// Makes a folder only this user can enter.
pub fn folder(prefix: &str, below: impl AsRef<Path>) -> io::Result<TempDir> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that makes them")]
    tempfile::Builder::new().prefix(prefix).permissions(Permissions::from_mode(0o700)).tempdir_in(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_can_enter_whatever_the_umask() {
        let tmp = tempfile::tempdir().unwrap();
        let before = rustix::process::umask(rustix::fs::Mode::empty());
        let made = folder("ona-x-", tmp.path());
        rustix::process::umask(before);
        let made = made.unwrap();
        assert_eq!(made.path().metadata().unwrap().permissions().mode() & 0o7777, 0o700);
        assert!(made.path().file_name().unwrap().to_str().unwrap().starts_with("ona-x-"));
    }
}
