//! A database of another user is refused, one that others can read is made private.

use crate::ona;
use ona_testkit::Ona;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

const NOBODY: u32 = 65534;

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn beside(db: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", db.display()))
}

/// A world with a database in it.
fn with_database() -> Ona {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    ona
}

/// A regular file of another user: one we give away, or where that is not possible one of root's.
fn foreign(at: &Path) -> PathBuf {
    if !is_root() {
        return "/etc/passwd".into();
    }
    if !at.exists() {
        fs::write(at, "").unwrap();
    }
    chown(at, Some(NOBODY), Some(NOBODY)).unwrap();
    at.to_owned()
}

/// Every form refuses it with this sentence and a remedy, and leaves it as it is.
fn refused(ona: &Ona, sentence: &str, remedy: &str) {
    for args in [
        &["db", "init"][..],
        &["db", "check"],
        &["--eval", r#"{"tool":"Glob","input":{"pattern":"*"}}"#],
        &["--transition", "planning", "--conversation", "c"],
        &["-p", "hello"],
        &["sessions", "list"],
    ] {
        let ran = ona.run(args);
        assert!(ran.stderr.contains(sentence) && ran.stderr.contains(remedy), "{args:?}: {}", ran.stderr);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
    }
}

#[test]
fn a_database_of_another_user_is_refused_also_through_a_link() {
    let ona = with_database();
    if is_root() {
        foreign(&ona.db());
        let before = fs::read(ona.db()).unwrap();
        refused(&ona, "the database belongs to another user (uid 65534)", "sudo -u '#65534' ona");
        assert_eq!(fs::read(ona.db()).unwrap(), before);
        assert!(!beside(&ona.db(), "-wal").exists(), "SQLite has not opened it");
    }
    let file = foreign(&ona.root().join("theirs.db"));
    let uid = fs::metadata(&file).unwrap().uid();
    fs::remove_file(ona.db()).unwrap();
    symlink(&file, ona.db()).unwrap();
    refused(&ona, &format!("the database belongs to another user (uid {uid})"), "AGENT_SDLC_DB=");

    // One's own behind a link is fine, unless another user made the link.
    let ona = with_database();
    let own = ona.root().join("own.db");
    fs::rename(ona.db(), &own).unwrap();
    symlink(&own, ona.db()).unwrap();
    ona.run(["db", "check"]).expect_code(0);
    if is_root() {
        std::os::unix::fs::lchown(ona.db(), Some(NOBODY), Some(NOBODY)).unwrap();
        refused(&ona, "the database belongs to another user (uid 65534)", "AGENT_SDLC_DB=");
    }
}

#[test]
fn log_files_that_lead_elsewhere_are_refused() {
    for suffix in ["-wal", "-shm", "-journal"] {
        let ona = with_database();
        let log = beside(&ona.db(), suffix);
        let target = ona.root().join("target");
        symlink(&target, &log).unwrap();
        refused(&ona, "a file SQLite would write is a link", "rm '");
        assert!(!target.exists());
        fs::remove_file(&log).unwrap();
        if is_root() {
            foreign(&log);
            refused(&ona, "the database belongs to another user (uid 65534)", "sudo -u '#65534' ona");
        }
    }
}

#[test]
fn a_directory_in_which_everybody_can_replace_the_file_is_refused() {
    let ona = with_database();
    let directory = ona.db().parent().unwrap().to_owned();
    fs::set_permissions(&directory, Permissions::from_mode(0o777)).unwrap();
    refused(&ona, "every user can replace files in the directory of the database", "chmod o-w");
    for fine in [0o1777, 0o775, 0o700] {
        fs::set_permissions(&directory, Permissions::from_mode(fine)).unwrap();
        ona.run(["db", "check"]).expect_code(0);
        assert_eq!(ona.run(["db", "init"]).expect_code(0).stderr, "", "{fine:o}");
    }
}

#[test]
fn what_others_can_read_is_made_private_and_that_is_said_once() {
    for open in [0o644, 0o666, 0o640, 0o602] {
        let ona = with_database();
        fs::set_permissions(ona.db(), Permissions::from_mode(open)).unwrap();
        let ran = ona.run(["--eval", r#"{"tool":"Glob","input":{"pattern":"*"}}"#]).expect_code(0);
        let line = format!("ona: other users could use {} (mode {open:04o}); its mode is 0600 now", ona.db().display());
        assert_eq!(ran.stderr.lines().filter(|one| *one == line).count(), 1, "{}", ran.stderr);
        assert_eq!(mode(&ona.db()), 0o600);
        assert_eq!(ona.run(["db", "init"]).expect_code(0).stderr, "");
    }
    // While another process has it open, its log is there too.
    let ona = with_database();
    let mut other = ona.command(["--eval", r#"{"tool":"Bash","input":{"command":"touch begun; cat fifo"}}"#, "--yes"]);
    ona.lenient_shell("mkfifo fifo");
    let mut other = other.spawn().unwrap();
    ona.wait_for("begun", &mut other);
    for file in [beside(&ona.db(), "-wal"), beside(&ona.db(), "-shm")] {
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let ran = ona.run(["db", "init"]).expect_code(0);
        assert!(ran.stderr.contains("(mode 0644); its mode is 0600 now"), "{}", ran.stderr);
        assert_eq!(mode(&file), 0o600);
    }
    ona.lenient_shell("echo > fifo");
    assert!(other.wait().unwrap().success());
}

#[test]
fn lock_files_are_not_made_where_a_link_leads() {
    let ona = with_database();
    let elsewhere = ona.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let locks = beside(&ona.db(), ".locks");
    fs::remove_dir_all(&locks).ok();
    symlink(&elsewhere, &locks).unwrap();
    let ran = ona.run(["-p", "hello"]);
    assert!(ran.stderr.contains("is not a directory of this user"), "{}", ran.stderr);
    assert_eq!((ran.code, fs::read_dir(&elsewhere).unwrap().count()), (2, 0));
}
