//! Who wrote the settings row, and databases that are only looked at.

use crate::support::{Db, place};
use ona_api::{Group, Redactor, Row};
use ona_store::{Reader, Store};
use serde_json::json;

fn is_ours(store: &Store) -> bool {
    store.reader().unwrap().settings_row().unwrap().unwrap().is_ours
}

#[test]
fn a_row_is_ours_until_an_operator_changes_it() {
    let db = Db::new();
    let store = db.started();
    let commit = |row| store.commit_now(&place("s"), Group(vec![row])).map(drop).unwrap();
    commit(Row::ImportedSettings(json!({"a": 1})));
    assert!(is_ours(&store));
    commit(Row::Settings(json!({"a": 2})));
    assert!(is_ours(&store), "a change of our own renews the digest");
    db.sql("UPDATE settings_snapshot SET json = '{\"a\":3}'");
    assert!(!is_ours(&store));
    commit(Row::Settings(json!({"a": 3, "b": 1})));
    assert!(!is_ours(&store), "a change of our own does not take the row over");
    commit(Row::ImportedSettings(json!({"a": 4})));
    assert!(is_ours(&store), "an import does");
    db.sql("DELETE FROM schema_meta WHERE key = 'settings_effective_sha256'");
    assert!(!is_ours(&store), "no digest");
}

#[test]
fn the_digest_is_that_of_the_text_as_it_is_stored() {
    let db = Db::new();
    let secret = "canary-canary-canary";
    let store = Store::open(&db.path, Redactor::new([("A_TOKEN", secret)])).unwrap();
    let row = Row::ImportedSettings(json!({"env": {"X": secret}}));
    store.commit_now(&place("s"), Group(vec![row])).unwrap();
    let row = store.reader().unwrap().settings_row().unwrap().unwrap();
    assert!(row.is_ours && !row.json.contains(secret), "{row:?}");
}

#[test]
fn looking_makes_no_database() {
    let db = Db::new();
    let store = Store::open_read_only(&db.path, Redactor::default()).unwrap();
    assert_eq!(store.reader().unwrap().settings().unwrap(), None);
    assert!(store.commit_now(&place("s"), Group(vec![Row::Settings(json!({}))])).is_err());
    assert!(Reader::open_read_only(&db.path).unwrap().is_none());
    drop(store);
    let left = std::fs::read_dir(db.path.parent().unwrap()).map(|all| all.count()).unwrap_or(0);
    assert_eq!(left, 0, "no file, no log, no lock");
    // An empty file is what another process has just begun.
    std::fs::create_dir_all(db.path.parent().unwrap()).unwrap();
    std::fs::write(&db.path, "").unwrap();
    assert!(Reader::open_read_only(&db.path).unwrap().is_none());
    assert_eq!(std::fs::metadata(&db.path).unwrap().len(), 0);
}

#[test]
fn looking_changes_no_database() {
    let db = Db::new();
    let store = db.started();
    store.commit_now(&place("s"), Group(vec![Row::ImportedSettings(json!({"a": 1}))])).unwrap();
    let looking = Store::open_read_only(&db.path, Redactor::default()).unwrap();
    assert!(looking.commit_now(&place("s"), Group(vec![Row::Settings(json!({}))])).is_err());
    assert!(is_ours(&looking));
    store.commit_now(&place("s"), Group(vec![Row::Settings(json!({"a": 2}))])).unwrap();
    let row = Reader::open_read_only(&db.path).unwrap().unwrap().settings_row().unwrap().unwrap();
    assert_eq!(row.json, r#"{"a":2}"#);
}
