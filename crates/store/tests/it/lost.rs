//! The file is deleted, moved, replaced or cut short while it is in use.

use crate::support::{Db, begin, place, plain, query, says, user, write};
use ona_api::{Group, Phase, Redactor, Row};
use ona_store::{FileLoss, LostDatabase, RescuedRows, Store, StoreError};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn add(store: &Store, text: &str) -> Result<(), StoreError> {
    store.commit_now(&place("s"), Group(vec![Row::Transcript(user(text))])).map(drop)
}

fn lost(done: Result<(), StoreError>) -> LostDatabase {
    match done {
        Err(StoreError::Lost(lost)) => *lost,
        other => panic!("{other:?}"),
    }
}

fn complete(lost: &LostDatabase) -> PathBuf {
    match &lost.rows {
        RescuedRows::WithAll(path) => path.clone(),
        other => panic!("{other:?}"),
    }
}

fn texts(path: &Path) -> Vec<String> {
    query(&plain(path), "SELECT json_extract(payload_json, '$.content[0].text') FROM transcript_entries ORDER BY id")
}

#[test]
fn the_rows_of_a_deleted_database_are_in_a_copy_with_all_that_was_before() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("one")]);
    fs::remove_file(&db.path).unwrap();
    let first = lost(add(&store, "two"));
    assert_eq!(first.loss, FileLoss::Deleted);
    let rescue = complete(&first);
    assert_eq!(texts(&rescue), ["one", "two"]);
    assert_eq!(query(&plain(&rescue), "PRAGMA integrity_check"), ["ok"]);
    assert_eq!(fs::metadata(&rescue).unwrap().permissions().mode() & 0o777, 0o600);
    // What was running then and ends now goes to the same file.
    assert_eq!(lost(add(&store, "three")).rows, first.rows);
    drop(store);
    assert_eq!(texts(&rescue), ["one", "two", "three"]);
    assert!(!db.path.exists(), "nothing is made anew");
    assert!(first.to_string().contains(&format!("mv '{}' '{}'", rescue.display(), db.path.display())), "{first}");
}

#[test]
fn the_remedy_that_is_printed_brings_everything_back() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("one")]);
    fs::remove_file(&db.path).unwrap();
    let text = lost(add(&store, "two")).to_string();
    drop(store);
    let error = Store::open(&db.path, Redactor::default()).unwrap_err();
    assert!(matches!(&error, StoreError::LogWithoutDatabase { .. }), "{error}");
    let (_, command) = text.split_once("then: ").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the operator's own shell")]
    let done = std::process::Command::new("sh").arg("-c").arg(command).status().unwrap();
    assert!(done.success());
    let store = db.open();
    add(&store, "three").unwrap();
    assert_eq!(texts(&db.path), ["one", "two", "three"]);
    assert!(ona_store::check(&db.path).is_clean(), "{:?}", ona_store::check(&db.path));
}

#[test]
fn a_database_that_was_moved_is_named_with_its_new_place() {
    let db = Db::new();
    let store = db.started();
    let to = db.dir.path().join("moved.db");
    fs::rename(&db.path, &to).unwrap();
    let found = lost(add(&store, "two"));
    if cfg!(target_os = "linux") {
        assert_eq!(found.loss, FileLoss::Moved(Some(fs::canonicalize(to).unwrap())));
    }
    assert_eq!(texts(&complete(&found)), ["two"]);
}

#[test]
fn another_file_in_its_place_is_not_written_to() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("one")]);
    let other = Db::new();
    drop(other.started());
    fs::rename(&other.path, &db.path).unwrap();
    let before = fs::read(&db.path).unwrap();
    let found = lost(add(&store, "two"));
    assert_eq!(found.loss, FileLoss::Replaced);
    assert!(found.to_string().contains("Decide which of the two files to keep"), "{found}");
    assert!(matches!(store.reader(), Err(StoreError::Replaced)), "a reader would see other rows");
    drop(store);
    assert_eq!(texts(&complete(&found)), ["one", "two"]);
    assert_eq!(fs::read(&db.path).unwrap(), before);
}

#[test]
fn rows_that_were_only_in_the_log_survive_its_deletion() {
    for replaced in [false, true] {
        let db = Db::new();
        let store = db.started();
        write(&store, [user("one")]);
        let wal = db.dir.path().join("ona.db-wal");
        fs::remove_file(&wal).unwrap();
        if replaced {
            File::create(&wal).unwrap();
        }
        let found = lost(add(&store, "two"));
        assert_eq!(found.loss, FileLoss::Log(fs::canonicalize(db.dir.path()).unwrap().join("ona.db-wal")));
        assert_eq!(texts(&complete(&found)), ["one", "two"]);
        let before = fs::read(&db.path).unwrap();
        drop(store);
        assert_eq!(fs::read(&db.path).unwrap(), before, "closing wrote to a file others may have changed");
    }
}

fn cut(path: &Path, size: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(size).unwrap();
}

#[test]
fn the_rows_for_a_file_that_was_cut_short_are_kept_alone() {
    for left in [0, 8192] {
        let db = Db::new();
        drop(db.started());
        let store = db.open();
        write(&store, [user("one")]);
        plain(&db.path).execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        add(&store, "two").unwrap();
        cut(&db.path, left);
        let found = lost(add(&store, "three"));
        assert_eq!(found.loss, FileLoss::Truncated);
        let RescuedRows::Alone(rescue) = &found.rows else { panic!("{found:?}") };
        assert_eq!(texts(rescue), ["three"]);
        // A row that needs others is kept as text; the next one goes on.
        let change = Row::Phase { from: Phase::Idle, to: Phase::Planning };
        let group = Group(vec![change, Row::Transcript(says("four"))]);
        let next = store.commit_now(&place("s"), group).map(drop);
        assert_eq!(lost(next).rows, found.rows);
        assert_eq!(texts(rescue), ["three", "four"]);
        let kept = query(&plain(rescue), "SELECT value FROM state WHERE key = 'rescued_row:0'");
        assert_eq!(kept, ["Phase { from: Idle, to: Planning }"]);
        drop(store);
        assert_eq!(fs::metadata(&db.path).unwrap().len(), left, "closing wrote to it");
    }
}

#[test]
fn vacuum_by_another_process_is_no_loss() {
    let db = Db::new();
    let store = db.started();
    write(&store, (0..200).map(|n| user(&format!("{n}{}", "x".repeat(2000)))));
    let other = plain(&db.path);
    other.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    add(&store, "before").unwrap();
    other
        .execute_batch("DELETE FROM transcript_entries WHERE sequence < 200; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    add(&store, "after").unwrap();
    assert_eq!(texts(&db.path), ["before", "after"]);
}

#[test]
fn what_is_rescued_is_redacted() {
    let db = Db::new();
    let store = Store::open(&db.path, Redactor::new([("OPENAI_API_KEY", "hunter2hunter2")])).unwrap();
    store.commit_now(&place("s"), begin()).unwrap();
    fs::remove_file(&db.path).unwrap();
    let rescue = complete(&lost(add(&store, "hunter2hunter2")));
    assert_eq!(texts(&rescue), ["[REDACTED:OPENAI_API_KEY]"]);
}

#[test]
fn an_empty_file_is_new_unless_something_of_a_database_lies_beside_it() {
    let db = Db::new();
    File::create(&db.path).unwrap();
    drop(db.started());
    cut(&db.path, 0);
    fs::create_dir(db.dir.path().join("ona.db.locks")).unwrap();
    let refused = || Store::open(&db.path, Redactor::default()).unwrap_err();
    assert!(matches!(refused(), StoreError::Emptied { beside, .. } if beside.ends_with("ona.db.locks")));
    fs::write(db.dir.path().join("ona.db-wal"), "frames").unwrap();
    assert!(matches!(refused(), StoreError::Emptied { beside, .. } if beside.ends_with("ona.db-wal")));
    assert_eq!(fs::metadata(&db.path).unwrap().len(), 0);
    assert!(refused().remedy().is_some());
}
