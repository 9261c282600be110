//! The record against its chain: every kind of tampering shows, and nothing else does.

use crate::support::{Db, begin, call, calls, place, plain, query, result, user};
use ona_api::{
    Authority, EventName, Group, HookRun, LoggedEvent, Ordinal, Phase, Redactor, Row, Ruling, SessionId, Verdict,
};
use ona_store::{
    Anchor, AuditDifference, AuditReport, ExportTarget, FileLoss, RecordFormat, RecordRow, Store, StoreError,
    export_record, newest_anchor, verify_record,
};
use std::path::Path;

fn hook(id: &str) -> Row {
    Row::Hook(HookRun {
        event: EventName::PreToolUse,
        ordinal: Ordinal(1),
        matcher: "*".into(),
        command: "true".into(),
        call: Some(id.into()),
        tool: Some("Read".into()),
        input_json: format!("{{\"id\":{id:?}}}"),
        exit_code: Some(0),
        stdout: Some(String::new()),
        stderr: None,
        started_at: "2026-01-01T00:00:00.000Z".into(),
        completed_at: Some("2026-01-01T00:00:00.010Z".into()),
        skipped: None,
    })
}

fn decision(id: &str) -> Row {
    Row::Permission {
        call: id.into(),
        tool: "Read".into(),
        verdict: Verdict::new(Ruling::Allow, Authority::Human, "yes"),
    }
}

fn event(number: u64) -> Row {
    Row::Event(LoggedEvent::StopFailure { class: "test", details: format!("{number}") })
}

/// Two sessions, with rows of one call per group: ids are the same in all four tables.
fn add_calls(store: &Store, session: &str, from: u64, to: u64) {
    for number in from..=to {
        let id = format!("c{number}");
        let entries = [calls(&[&id]), call(&id), result(&id)].map(Row::Transcript);
        let rows = entries.into_iter().chain([hook(&id), decision(&id), event(number)]);
        store.commit_now(&place(session), Group(rows.collect())).unwrap();
    }
}

fn recorded() -> Db {
    let db = Db::new();
    let store = db.open();
    for (session, from, to) in [("s", 1, 4), ("t", 5, 6)] {
        store.commit_now(&place(session), begin()).unwrap();
        add_calls(&store, session, from, to);
    }
    db
}

fn audit(path: &Path) -> AuditReport {
    verify_record(path, None, &[]).unwrap().unwrap()
}

fn anchor(path: &Path) -> Anchor {
    newest_anchor(path).unwrap().unwrap().0
}

fn against(path: &Path, anchor: &Anchor) -> AuditReport {
    verify_record(path, None, std::slice::from_ref(anchor)).unwrap().unwrap()
}

/// The first difference, as its kind, table and id or row of the chain.
fn first(report: &AuditReport) -> String {
    let Some(first) = report.differences.first() else { return "none".to_owned() };
    let at = match (first.row(), first.group()) {
        (Some(row), _) => format!(" {} {}", row.table, row.id),
        (None, Some(group)) => format!(" {group}"),
        (None, None) => String::new(),
    };
    format!("{}{at}", first.kind())
}

/// Makes the hashes of the chain fit again from a group on, as an attacker would who knows the format.
/// It is an independent implementation of what the head of `chain` says.
fn compute_again(path: &Path) {
    fn add(bytes: &mut Vec<u8>, class: u8, value: &[u8]) {
        bytes.push(class);
        bytes.extend((value.len() as u64).to_be_bytes());
        bytes.extend(value);
    }
    let connection = plain(path);
    let mut before = vec![0; 32];
    let groups: Vec<i64> = query(&connection, "SELECT group_id FROM sdlc_chain ORDER BY group_id")
        .iter()
        .map(|text| text.parse().unwrap())
        .collect();
    for group in groups {
        let mut bytes = Vec::new();
        add(&mut bytes, 3, b"ona group 1");
        add(&mut bytes, 4, &before);
        connection
            .query_row("SELECT * FROM sdlc_chain WHERE group_id = ?1", [group], |row| {
                for column in 0..11 {
                    match row.get_ref(column)? {
                        rusqlite::types::ValueRef::Null => bytes.push(0),
                        rusqlite::types::ValueRef::Integer(number) => {
                            bytes.push(1);
                            bytes.extend(number.to_be_bytes());
                        }
                        rusqlite::types::ValueRef::Text(text) => add(&mut bytes, 3, text),
                        rusqlite::types::ValueRef::Blob(blob) => add(&mut bytes, 4, blob),
                        other => panic!("{other:?}"),
                    }
                }
                Ok(())
            })
            .unwrap();
        before = sha256(&bytes);
        connection.execute("UPDATE sdlc_chain SET hash = ?1 WHERE group_id = ?2", (&before, group)).unwrap();
    }
}

fn sha256(bytes: &[u8]) -> Vec<u8> {
    let text = ona_api::digest::sha256_hex(bytes);
    (0..32).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Groups of `recorded`: 1 start, 2 to 5 session s, 6 and 7 session t. Three transcript rows each.
const TAMPERING: &[(&str, &str, &str)] = &[
    (
        "text of a message",
        "UPDATE transcript_entries SET payload_json = replace(payload_json, 'ok', 'no') WHERE id = 6",
        "changed transcript_entries 6",
    ),
    (
        "a row moved to another session",
        "UPDATE transcript_entries SET session_id = 't', sequence = 99 WHERE id = 4",
        "changed transcript_entries 4",
    ),
    (
        "time of a row",
        "UPDATE transcript_entries SET created_at = '2020-01-01 00:00:00' WHERE id = 1",
        "changed transcript_entries 1",
    ),
    ("a parent", "UPDATE transcript_entries SET parent_entry_id = NULL WHERE id = 5", "changed transcript_entries 5"),
    ("empty text for NULL", "UPDATE hook_invocations SET stderr_text = '' WHERE id = 2", "changed hook_invocations 2"),
    ("output of a hook", "UPDATE hook_invocations SET stdout_text = '{}' WHERE id = 3", "changed hook_invocations 3"),
    ("exit code of a hook", "UPDATE hook_invocations SET exit_code = 2 WHERE id = 1", "changed hook_invocations 1"),
    (
        "a number stored as text",
        "UPDATE hook_invocations SET hook_ordinal = CAST('1' AS BLOB) WHERE id = 5",
        "changed hook_invocations 5",
    ),
    ("a decision", "UPDATE tool_permission_log SET decision = 'deny' WHERE id = 4", "changed tool_permission_log 4"),
    ("an event", "UPDATE events SET detail = '{}' WHERE id = 6", "changed events 6"),
    ("a row deleted", "DELETE FROM transcript_entries WHERE id = 9", "deleted transcript_entries 9"),
    ("the last row deleted", "DELETE FROM events WHERE id = 6", "deleted events 6"),
    (
        "the last row deleted, counter set back",
        "DELETE FROM events WHERE id = 6; UPDATE sqlite_sequence SET seq = 5 WHERE name = 'events'",
        "deleted events 6",
    ),
    (
        "a whole session deleted",
        "DELETE FROM transcript_entries WHERE session_id = 't'",
        "deleted transcript_entries 13",
    ),
    ("a table emptied", "DELETE FROM tool_permission_log", "deleted tool_permission_log 1"),
    ("a table dropped", "DROP TABLE hook_invocations", "table_missing"),
    (
        "a row put into a gap",
        "INSERT INTO events(id, conversation_id, event_type) VALUES (0, 'k', 'made_up')",
        "inserted events 0",
    ),
    (
        "a row deleted and another put in its place",
        "DELETE FROM events WHERE id = 3; INSERT INTO events(id, conversation_id, event_type) VALUES (3, 'k', 'made_up')",
        "changed events 3",
    ),
    (
        "two rows exchanged",
        "UPDATE events SET id = -1 WHERE id = 2; UPDATE events SET id = 2 WHERE id = 4; UPDATE events SET id = 4 WHERE id = -1",
        "reordered events 2",
    ),
    (
        "a row of the chain changed",
        "UPDATE sdlc_chain SET written_at = '2020-01-01T00:00:00.000Z' WHERE group_id = 3",
        "chain_changed 3",
    ),
    ("a hash changed", "UPDATE sdlc_chain SET hash = randomblob(32) WHERE group_id = 4", "chain_changed 4"),
    ("a hash removed", "UPDATE sdlc_chain SET hash = 'none' WHERE group_id = 7", "chain_changed 7"),
    (
        "a listed row removed from the chain",
        "UPDATE sdlc_chain SET rows = substr(rows, 1, length(rows) - 41) WHERE group_id = 5; DELETE FROM events WHERE id = 4",
        "chain_changed 5",
    ),
    ("a list made unreadable", "UPDATE sdlc_chain SET rows = x'00' WHERE group_id = 2", "chain_changed 2"),
    (
        "a row declared foreign",
        "UPDATE sdlc_chain SET rows = x'81' || substr(rows, 2) WHERE group_id = 2",
        "chain_changed 2",
    ),
    ("a row of the chain removed", "DELETE FROM sdlc_chain WHERE group_id = 3", "chain_rows_missing 3"),
    (
        "a row of the chain removed with its rows",
        "DELETE FROM sdlc_chain WHERE group_id = 6; DELETE FROM events WHERE id = 5; DELETE FROM hook_invocations WHERE id = 5; DELETE FROM tool_permission_log WHERE id = 5; DELETE FROM transcript_entries WHERE id IN (13, 14, 15)",
        "chain_rows_missing 6",
    ),
    ("the beginning of the chain removed", "DELETE FROM sdlc_chain WHERE group_id = 1", "chain_rows_missing 1"),
    ("the end of the chain removed", "DELETE FROM sdlc_chain WHERE group_id > 5", "chain_end_removed 6"),
    (
        "the end of chain and tables removed",
        "DELETE FROM sdlc_chain WHERE group_id = 7; DELETE FROM events WHERE id = 6; DELETE FROM hook_invocations WHERE id = 6; DELETE FROM tool_permission_log WHERE id = 6; DELETE FROM transcript_entries WHERE id > 15",
        "chain_end_removed 7",
    ),
    (
        "two rows of the chain exchanged",
        "UPDATE sdlc_chain SET group_id = -1 WHERE group_id = 3; UPDATE sdlc_chain SET group_id = 3 WHERE group_id = 4; UPDATE sdlc_chain SET group_id = 4 WHERE group_id = -1",
        "chain_changed 3",
    ),
    (
        "a row of the chain made up",
        "INSERT INTO sdlc_chain SELECT 8, kind, database_id, session_id, conversation_id, written_at, transcript_id, hook_id, permission_id, event_id, x'', hash FROM sdlc_chain WHERE group_id = 7",
        "chain_changed 8",
    ),
    ("the chain emptied", "DELETE FROM sdlc_chain", "chain_removed"),
    ("the chain dropped", "DROP TABLE sdlc_chain", "chain_removed"),
    ("another id for the database", "UPDATE sdlc_chain SET database_id = 'ff' WHERE group_id = 1", "chain_changed 1"),
];

#[test]
fn each_kind_of_tampering_is_named() {
    let original = recorded();
    assert_eq!(first(&audit(&original.path)), "none");
    let mut found = Vec::new();
    let mut expected = Vec::new();
    for (what, sql, kind) in TAMPERING {
        let copy = original.dir.path().join("copy.db");
        plain(&original.path).execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
        plain(&copy).execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
        found.push((*what, first(&audit(&copy))));
        expected.push((*what, (*kind).to_owned()));
        std::fs::remove_file(&copy).unwrap();
    }
    assert!(TAMPERING.len() >= 20);
    assert_eq!(found, expected);
}

/// Also when ona went on writing after it was done.
#[test]
fn tampering_still_shows_after_more_groups() {
    for (sql, kind) in [
        (
            "DELETE FROM events WHERE id = 6; UPDATE sqlite_sequence SET seq = 5 WHERE name = 'events'",
            "changed events 6",
        ),
        ("DELETE FROM sdlc_chain WHERE group_id > 5", "chain_rows_missing 6"),
        ("DELETE FROM sdlc_chain", "chain_rows_missing 1"),
        ("DROP TABLE sdlc_chain", "chain_restarted 1"),
        ("UPDATE sdlc_chain SET hash = x'00' WHERE group_id = 7", "chain_changed 7"),
        ("UPDATE transcript_entries SET created_at = '' WHERE id = 1", "changed transcript_entries 1"),
    ] {
        let db = recorded();
        plain(&db.path).execute_batch(sql).unwrap();
        let store = db.open();
        add_calls(&store, "t", 7, 8);
        assert_eq!(first(&audit(&db.path)), kind, "{sql}");
    }
}

/// Attack case N-4 among them: rows removed from the end, counters set back.
#[test]
fn what_leaves_no_trace_in_the_file_shows_against_an_anchor() {
    let last_group = "DELETE FROM sdlc_chain WHERE group_id = 7; DELETE FROM events WHERE id = 6; \
        DELETE FROM hook_invocations WHERE id = 6; DELETE FROM tool_permission_log WHERE id = 6; \
        DELETE FROM transcript_entries WHERE id > 15; \
        UPDATE sqlite_sequence SET seq = (SELECT max(group_id) FROM sdlc_chain) WHERE name = 'sdlc_chain'; \
        UPDATE sqlite_sequence SET seq = 5 WHERE name IN ('events', 'hook_invocations', 'tool_permission_log'); \
        UPDATE sqlite_sequence SET seq = 15 WHERE name = 'transcript_entries';";
    let db = recorded();
    let kept = anchor(&db.path);
    assert_eq!(first(&against(&db.path, &kept)), "none");
    plain(&db.path).execute_batch(&format!("PRAGMA foreign_keys = OFF; {last_group}")).unwrap();
    assert_eq!(first(&audit(&db.path)), "none", "only an anchor can show this");
    assert_eq!(first(&against(&db.path, &kept)), "anchor_removed 7");
    add_calls(&db.open(), "t", 7, 8);
    assert_eq!(first(&against(&db.path, &kept)), "anchor_differs 7");

    let db = recorded();
    let kept = anchor(&db.path);
    let rewrite = "UPDATE sdlc_chain SET written_at = '2020-01-01T00:00:00.000Z' WHERE group_id = 3";
    plain(&db.path).execute_batch(rewrite).unwrap();
    compute_again(&db.path);
    assert_eq!(first(&audit(&db.path)), "none", "every hash was computed again");
    assert_eq!(first(&against(&db.path, &kept)), "anchor_differs 7");

    let other = recorded();
    assert_eq!(first(&against(&other.path, &kept)), "other_database");
}

/// Section 8.4: hooks and templates insert rows by SQL.
#[test]
fn rows_of_other_programs_are_foreign_and_no_difference() {
    let db = recorded();
    let insert = "INSERT INTO events(conversation_id, session_id, event_type) VALUES ('k', 's', 'by_hook')";
    plain(&db.path).execute_batch(insert).unwrap();
    let foreign = |report: &AuditReport| (report.differences.clone(), report.foreign.clone());
    let row = |id| RecordRow { table: "events", id };
    assert_eq!(foreign(&audit(&db.path)), (vec![], vec![row(7)]), "above the end of the chain");
    let store = db.open();
    plain(&db.path).execute_batch(insert).unwrap();
    add_calls(&store, "t", 7, 7);
    plain(&db.path).execute_batch(insert).unwrap();
    assert_eq!(foreign(&audit(&db.path)), (vec![], vec![row(7), row(8), row(10)]), "listed by the next group");
    plain(&db.path).execute_batch("UPDATE events SET detail = 'later' WHERE id = 8").unwrap();
    assert_eq!(first(&audit(&db.path)), "changed events 8");
    let of = |session: &str| {
        let report = verify_record(&db.path, Some(&SessionId::from(session)), &[]).unwrap().unwrap();
        (report.difference_count, report.foreign_count)
    };
    assert_eq!((of("s"), of("t")), ((1, 3), (1, 2)), "by the row's session or that of its group");

    let db = recorded();
    plain(&db.path).execute_batch(&format!("{insert}; DELETE FROM events WHERE id = 7")).unwrap();
    let report = audit(&db.path);
    assert_eq!((report.is_clean(), report.foreign_gone.clone()), (true, vec![("events", 7, 7)]));
    assert!(report.has_foreign_rows());
}

#[test]
fn a_session_is_judged_alone_but_the_chain_as_a_whole() {
    let db = recorded();
    plain(&db.path).execute_batch("UPDATE transcript_entries SET created_at = '' WHERE id = 1").unwrap();
    let of = |session: &str| verify_record(&db.path, Some(&SessionId::from(session)), &[]).unwrap();
    let report = of("s").unwrap();
    assert_eq!((first(&report), report.rows), ("changed transcript_entries 1".to_owned(), 24));
    let report = of("t").unwrap();
    assert_eq!((first(&report), report.rows), ("none".to_owned(), 12));
    assert_eq!(of("nowhere"), None);
    plain(&db.path).execute_batch("UPDATE sdlc_chain SET kind = 'x' WHERE group_id = 2").unwrap();
    assert_eq!(first(&of("t").unwrap()), "chain_changed 2");
}

#[test]
fn what_ona_itself_does_is_no_tampering() {
    // Refused groups, copies of a session, phases, memories.
    let db = recorded();
    let store = db.open();
    let fails = Group(vec![event(1), Row::Phase { from: Phase::Verify, to: Phase::Done }]);
    assert!(store.commit_now(&place("t"), fails).is_err());
    let copy = Group(vec![Row::Session, Row::CopyTranscript { from: "s".into() }]);
    store.commit_now(&place("copy"), copy).unwrap();
    add_calls(&store, "copy", 9, 9);
    drop(store);
    let report = audit(&db.path);
    assert_eq!((report.differences, report.foreign), (vec![], vec![]));

    // A rescue file continues the chain of what was lost.
    let store = db.open();
    std::fs::remove_file(&db.path).unwrap();
    match store.commit_now(&place("t"), Group(vec![event(10)])) {
        Err(StoreError::Lost(lost)) => {
            assert_eq!(lost.loss, FileLoss::Deleted);
            let ona_store::RescuedRows::WithAll(rescue) = lost.rows else { panic!() };
            let report = audit(&rescue);
            assert_eq!((report.differences, report.foreign), (vec![], vec![]));
        }
        other => panic!("{other:?}"),
    }

    // VACUUM keeps ids.
    let db = recorded();
    plain(&db.path).execute_batch("VACUUM").unwrap();
    assert_eq!(first(&audit(&db.path)), "none");
}

#[test]
fn a_database_in_use_is_read_without_changing_it() {
    let db = recorded();
    let store = db.open();
    add_calls(&store, "t", 7, 7);
    let writer = plain(&db.path);
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM events").unwrap();
    let files = || {
        let read = |suffix: &str| std::fs::read(format!("{}{suffix}", db.path.display())).ok();
        (read(""), read("-wal"))
    };
    let before = files();
    assert_eq!(first(&audit(&db.path)), "none");
    assert_eq!(files(), before);
}

#[test]
fn an_older_database_and_one_of_others_are_refused() {
    let db = recorded();
    plain(&db.path)
        .execute_batch("DROP TABLE sdlc_chain; UPDATE schema_meta SET value = '1' WHERE key = 'sdlc_schema_version'")
        .unwrap();
    assert!(matches!(verify_record(&db.path, None, &[]), Err(StoreError::TooOld { found: 1, known: 3 })));
    let other = Db::new();
    plain(&other.path).execute_batch("CREATE TABLE t(x)").unwrap();
    assert!(matches!(verify_record(&other.path, None, &[]), Err(StoreError::NotOurs)));
}

#[test]
fn an_export_has_every_row_as_it_is_stored() {
    let db = Db::new();
    let store = db.started();
    let text = "comma, \"quote\"\nline\u{7}";
    store.commit_now(&place("s"), Group(vec![Row::Transcript(user(text)), event(1)])).unwrap();
    let export = |format, session: Option<&str>| {
        let mut out = Vec::new();
        let session = session.map(SessionId::from);
        let done = export_record(&db.path, format, session.as_ref(), ExportTarget::File, &mut out).unwrap();
        (done, String::from_utf8(out).unwrap())
    };
    let (_, jsonl) = export(RecordFormat::Jsonl, None);
    let rows: Vec<serde_json::Value> = jsonl.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let tables: Vec<_> = rows.iter().map(|row| row["table"].as_str().unwrap()).collect();
    assert_eq!(tables, ["transcript_entries", "events"]);
    let payload: serde_json::Value = serde_json::from_str(rows[0]["payload_json"].as_str().unwrap()).unwrap();
    assert_eq!(payload["content"][0]["text"], text);
    let (_, csv) = export(RecordFormat::Csv, Some("s"));
    let payload = db.sql("SELECT payload_json FROM transcript_entries").remove(0);
    let line = format!("\r\ntranscript_entries,1,s,0,,user,\"{}\",,", payload.replace('"', "\"\""));
    assert!(csv.contains(&line), "{csv}");
    assert_eq!(export(RecordFormat::Jsonl, Some("nowhere")), (false, String::new()));
}

#[test]
fn the_first_differences_are_kept_and_all_are_counted() {
    let db = recorded();
    let store = Store::open(&db.path, Redactor::default()).unwrap();
    let many = (0..1500).map(event).collect();
    store.commit_now(&place("t"), Group(many)).unwrap();
    plain(&db.path).execute_batch("DELETE FROM events").unwrap();
    let report = audit(&db.path);
    assert_eq!((report.difference_count, report.differences.len()), (1506, 1000));
    let deleted = |one: &AuditDifference| matches!(one, AuditDifference::Deleted { .. });
    assert!(report.differences.iter().all(deleted));
}
