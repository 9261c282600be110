//! One holder per session, and settings that do not change while they are in use.

use crate::support::Db;
use ona_store::{LockError, SessionLock, SettingsLock};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_session_has_one_holder_at_a_time() {
    let db = Db::new();
    let held = SessionLock::acquire(&db.path, &"s".into()).unwrap();
    let error = SessionLock::acquire(&db.path, &"s".into()).unwrap_err();
    assert!(matches!(error, LockError::InUse { .. }));
    assert_eq!(error.to_string(), format!("session s is in use by another process (process {})", std::process::id()));
    SessionLock::acquire(&db.path, &"other".into()).unwrap();
    drop(held);
    SessionLock::acquire(&db.path, &"s".into()).unwrap();
}

#[test]
fn the_lock_file_goes_with_the_lock_and_names_its_holder() {
    let db = Db::new();
    let directory = db.dir.path().join("ona.db.locks");
    let held = SessionLock::acquire(&db.path, &"s".into()).unwrap();
    assert_eq!(fs::read_to_string(directory.join("s")).unwrap(), std::process::id().to_string());
    let error = SessionLock::acquire(&db.path, &"s".into()).unwrap_err();
    assert_eq!(error.to_string(), format!("session s is in use by another process (process {})", std::process::id()));
    drop(held);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn only_files_that_nobody_holds_are_removed() {
    let db = Db::new();
    let directory = db.dir.path().join("ona.db.locks");
    let _settings = SettingsLock::shared(&db.path).unwrap();
    let _held = SessionLock::acquire(&db.path, &"held".into()).unwrap();
    fs::write(directory.join("killed"), "1").unwrap();
    assert_eq!(ona_store::remove_unheld_locks(&db.path), 1);
    let mut left: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["held", "settings"]);
    assert_eq!(ona_store::remove_unheld_locks(&db.dir.path().join("none.db")), 0);
}

/// A file that is removed and made again must not let two in.
#[test]
fn many_threads_never_hold_one_lock_together() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let db = Db::new();
    let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    // In use for longer than it waits: another thread had its turn.
                    let Ok(_lock) = SessionLock::acquire(&db.path, &"s".into()) else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    entered.fetch_add(1, Ordering::SeqCst);
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
        scope.spawn(|| (0..500).map(|_| ona_store::remove_unheld_locks(&db.path)).sum::<usize>());
    });
    assert!(entered.load(Ordering::SeqCst) > 200);
}

#[test]
fn a_session_cannot_take_the_settings_lock_or_leave_the_directory() {
    let db = Db::new();
    for id in ["settings", "../ona.db", "", ".x"] {
        let error = SessionLock::acquire(&db.path, &id.into()).unwrap_err();
        assert!(matches!(error, LockError::BadSessionId(_)), "{id}");
    }
}

#[test]
fn settings_are_shared_or_exclusive() {
    let db = Db::new();
    let one = SettingsLock::shared(&db.path).unwrap();
    let two = SettingsLock::shared(&db.path).unwrap();
    assert!(matches!(SettingsLock::exclusive(&db.path), Err(LockError::InUse { .. })));
    drop(one);
    assert!(matches!(SettingsLock::exclusive(&db.path), Err(LockError::InUse { .. })));
    drop(two);
    let alone = SettingsLock::exclusive(&db.path).unwrap();
    assert!(matches!(SettingsLock::shared(&db.path), Err(LockError::InUse { .. })));
    drop(alone);
    SettingsLock::shared(&db.path).unwrap();
}

#[test]
fn a_directory_that_cannot_be_created_is_an_error_of_its_own() {
    let error = SessionLock::acquire("/proc/ona.db".as_ref(), &"s".into()).unwrap_err();
    assert!(matches!(error, LockError::Io { .. }), "{error:?}");
}
