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
    assert_eq!(error.to_string(), "session s is in use by another process");
    SessionLock::acquire(&db.path, &"other".into()).unwrap();
    drop(held);
    SessionLock::acquire(&db.path, &"s".into()).unwrap();
}

#[test]
fn the_lock_file_stays_when_the_lock_is_gone() {
    let db = Db::new();
    drop(SessionLock::acquire(&db.path, &"s".into()).unwrap());
    let directory = db.dir.path().join("ona.db.locks");
    assert!(directory.join("s").exists());
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o777, 0o700);
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
