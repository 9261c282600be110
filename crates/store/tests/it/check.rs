//! What an examination finds, and that it changes nothing.

use crate::support::{Db, plain, user, write};
use ona_store::{CheckFinding, CheckReport, SCHEMA, check};
use std::fs;

#[test]
fn a_database_in_use_is_clean() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("a"), user("b")]);
    let (schema_version, sdlc_schema_version) = (Some("1".to_owned()), Some("3".to_owned()));
    let clean = CheckReport { schema_version, sdlc_schema_version, ..CheckReport::default() };
    assert_eq!(check(&db.path), clean);
    drop(store);
    assert_eq!(check(&db.path), clean);
}

#[test]
fn tables_of_others_are_listed_and_are_no_finding() {
    let db = Db::new();
    let more = "CREATE TABLE _litestream_seq (id); CREATE TABLE sdlc_later (id); CREATE TABLE memories_fts2 (id);";
    plain(&db.path).execute_batch(&format!("{SCHEMA} {more}")).unwrap();
    let report = check(&db.path);
    assert_eq!(report.foreign_tables, ["_litestream_seq", "memories_fts2"]);
    assert!(report.is_clean(), "{report:?}");
}

#[test]
fn everything_wrong_with_the_rows_is_found() {
    let db = Db::new();
    drop(db.started());
    plain(&db.path)
        .execute_batch(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES
               ('s', 3, 'user', '{}'), ('s', 5, 'user', '{\"a\":'), ('s', 6, 'thinking', '{}'),
               ('ghost', -1, 'user', '{}'), ('ghost', 0, 'user', '{}');
             UPDATE schema_meta SET value = '2' WHERE key = 'schema_version';
             UPDATE schema_meta SET value = '7' WHERE key = 'sdlc_schema_version';",
        )
        .unwrap();
    let orphan = |rowid| CheckFinding::ForeignKey {
        table: "transcript_entries".into(),
        rowid: Some(rowid),
        parent: "sessions".into(),
    };
    assert_eq!(
        check(&db.path),
        CheckReport {
            schema_version: Some("2".into()),
            sdlc_schema_version: Some("7".into()),
            foreign_tables: vec![],
            findings: vec![
                CheckFinding::SchemaVersion(Some("2".into())),
                CheckFinding::OwnVersion(
                    "this database was written by a newer ona (schema 7, this one knows 3)".into()
                ),
                orphan(4),
                orphan(5),
                CheckFinding::SequenceGap { session: "s".into(), after: 3, found: 5 },
                CheckFinding::NegativeSequence { session: "ghost".into(), found: -1 },
                CheckFinding::NotJson { id: 2 },
                CheckFinding::UnknownEntryType { id: 3, entry_type: "thinking".into() },
            ],
        }
    );
}

#[test]
fn everything_wrong_with_the_tables_is_found() {
    let db = Db::new();
    plain(&db.path)
        .execute_batch(&format!(
            "{SCHEMA} DROP TABLE task_ratings; DROP INDEX idx_hook_inv_session; DROP TABLE transcript_entries;
             CREATE TABLE transcript_entries (id INTEGER PRIMARY KEY, session_id, sequence, parent_entry_id,
               entry_type, payload_json, tool_use_id, mood);
             PRAGMA journal_mode = DELETE;"
        ))
        .unwrap();
    let before = fs::read(&db.path).unwrap();
    assert_eq!(
        check(&db.path).findings,
        [
            CheckFinding::Missing("task_ratings"),
            CheckFinding::Missing("idx_transcript_session"),
            CheckFinding::Missing("idx_hook_inv_session"),
            CheckFinding::Missing("idx_sdlc_transcript_call"),
            CheckFinding::Missing("idx_sdlc_transcript_reply"),
            CheckFinding::MissingColumn { table: "transcript_entries", column: "created_at" },
            CheckFinding::ExtraColumn { table: "transcript_entries", column: "mood".into() },
            CheckFinding::JournalMode("delete".into()),
        ]
    );
    assert_eq!(fs::read(&db.path).unwrap(), before);
}

#[test]
fn an_empty_file_lacks_everything() {
    let db = Db::new();
    fs::write(&db.path, "").unwrap();
    let report = check(&db.path);
    let missing = report.findings.iter().filter(|finding| matches!(finding, CheckFinding::Missing(_))).count();
    assert_eq!((report.schema_version, missing), (None, 30));
    assert_eq!(fs::metadata(&db.path).unwrap().len(), 0);
}

#[test]
fn what_cannot_be_examined_is_one_finding() {
    let db = Db::new();
    let unreadable = |path| match check(path).findings.as_slice() {
        [CheckFinding::Unreadable(words)] => words.clone(),
        other => panic!("{other:?}"),
    };
    assert!(unreadable(&db.path).starts_with("the database cannot be opened"));
    assert!(!db.path.exists(), "an examination makes no file");
    fs::write(&db.path, "hello").unwrap();
    assert_eq!(unreadable(&db.path), "the file is not a SQLite database");
    assert!(unreadable(db.dir.path()).starts_with("the path of the database is a directory"));
}

#[test]
fn a_page_that_is_not_what_it_should_be_is_found() {
    let db = Db::new();
    let store = db.started();
    write(&store, (0..200).map(|_| user(&"x".repeat(200))));
    drop(store);
    let mut bytes = fs::read(&db.path).unwrap();
    let last = bytes.len() - 4096;
    bytes[last..].fill(0x3c);
    fs::write(&db.path, bytes).unwrap();
    let report = check(&db.path);
    let damaged = |finding: &CheckFinding| {
        matches!(finding, CheckFinding::Integrity(_)) || finding.to_string().contains("damaged")
    };
    assert!(report.findings.iter().any(damaged), "{report:?}");
}
