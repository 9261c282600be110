//! Paths the store refuses. Each has its own error, and nothing there changes.

use crate::support::{Db, plain};
use ona_api::Redactor;
use ona_store::{SCHEMA, Store, StoreError};
use std::fs;
use std::path::Path;

fn refused(path: &Path) -> StoreError {
    Store::open(path, Redactor::default()).unwrap_err()
}

#[test]
fn a_relative_path_is_refused() {
    for path in ["ona.db", "", ":memory:", "file:/tmp/x?mode=memory"] {
        assert!(matches!(refused(Path::new(path)), StoreError::NotAbsolute(_)), "{path}");
    }
}

#[test]
fn a_directory_is_refused() {
    let db = Db::new();
    let error = refused(db.dir.path());
    assert!(matches!(error, StoreError::Directory(_)));
    assert_eq!(error.to_string(), format!("the path of the database is a directory: {}", db.dir.path().display()));
}

#[test]
fn a_device_is_refused() {
    assert!(matches!(refused(Path::new("/dev/null")), StoreError::NotAFile(_)));
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_kept() {
    for content in [b"hello".to_vec(), vec![0x41; 10_000], vec![0; 4096]] {
        let db = Db::new();
        fs::write(&db.path, &content).unwrap();
        let error = refused(&db.path);
        assert!(matches!(error, StoreError::NotADatabase), "{error}");
        assert_eq!(fs::read(&db.path).unwrap(), content);
    }
}

#[test]
fn a_damaged_database_is_refused_and_kept() {
    let db = Db::new();
    plain(&db.path).execute_batch(SCHEMA).unwrap();
    let mut bytes = fs::read(&db.path).unwrap();
    bytes[100..4096].fill(0xa5);
    fs::write(&db.path, &bytes).unwrap();
    let error = refused(&db.path);
    assert!(matches!(error, StoreError::Corrupt(_)), "{error}");
    assert_eq!(fs::read(&db.path).unwrap(), bytes);
}

/// Tests may run as root, whom mode bits do not bind; `/sys` and `/proc` do.
#[test]
fn what_cannot_be_written_is_refused() {
    for path in ["/sys/ona.db", "/sys/kernel/uevent_seqnum"] {
        let error = refused(Path::new(path));
        assert!(matches!(error, StoreError::ReadOnly(_)), "{path}: {error:?}");
    }
    let error = refused(Path::new("/proc/ona.db"));
    assert!(matches!(error, StoreError::CannotOpen(_)), "{error:?}");
    let error = refused(Path::new("/proc/ona/ona.db"));
    assert!(matches!(error, StoreError::NoDirectory { .. }), "{error:?}");
}

#[test]
fn a_file_in_place_of_a_directory_is_refused() {
    let db = Db::new();
    fs::write(&db.path, "").unwrap();
    let error = refused(&db.path.join("below/ona.db"));
    assert!(matches!(&error, StoreError::NoDirectory { path, .. } if path.ends_with("below")), "{error:?}");
}

#[test]
fn a_newer_schema_is_refused_and_kept() {
    let db = Db::new();
    let newer = "UPDATE schema_meta SET value = '2'; DROP TABLE task_ratings;";
    plain(&db.path).execute_batch(&format!("{SCHEMA} {newer}")).unwrap();
    let error = refused(&db.path);
    assert!(matches!(error, StoreError::SchemaTooNew { found: 2 }), "{error:?}");
    assert_eq!(db.sql("SELECT count(*) FROM sqlite_master WHERE name = 'task_ratings'"), ["0"]);
}

#[test]
fn an_unreadable_schema_version_is_refused() {
    let db = Db::new();
    plain(&db.path).execute_batch(&format!("{SCHEMA} UPDATE schema_meta SET value = 'next';")).unwrap();
    assert_eq!(refused(&db.path).to_string(), "the database has the unknown schema version \"next\"");
}

#[test]
fn a_table_of_the_same_name_with_other_columns_is_refused() {
    let db = Db::new();
    plain(&db.path).execute_batch("CREATE TABLE sessions (session_id TEXT, owner TEXT)").unwrap();
    let before = fs::read(&db.path).unwrap();
    let error = refused(&db.path);
    assert_eq!(error.to_string(), "the table sessions is not ours: it lacks conversation_id, started_at");
    assert_eq!(fs::read(&db.path).unwrap(), before, "not even the journal mode");
}

#[test]
fn a_view_in_place_of_a_table_is_refused() {
    let db = Db::new();
    plain(&db.path).execute_batch("CREATE VIEW schema_meta AS SELECT 1 AS key, 2 AS value").unwrap();
    let error = refused(&db.path);
    assert!(matches!(error, StoreError::Schema { table: "schema_meta", .. }), "{error:?}");
}
