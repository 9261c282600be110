//! No credential reaches a column, whichever row carries it.

use crate::support::{Db, begin, place, plain, query};
use ona_api::LoggedEvent;
use ona_api::row::{Block, Memory, SequenceStart, SessionKey};
use ona_api::{Authority, Entry, EventName, Group, HookRun, Ordinal, Redactor, Row, Ruling, Verdict};
use ona_store::{Store, StoreError};
use serde_json::{Map, json};
use std::fs;

const KEY: &str = "tok_\"quoted\"/slash";

fn everything() -> Group {
    let dirty = || format!("a {KEY} b");
    let some = || Some(dirty());
    let fields = || Map::from_iter([(dirty(), json!([dirty()]))]);
    let mut group = Group(vec![
        Row::Conversation { project_dir: dirty() },
        Row::Session,
        Row::Transcript(Entry::User { uuid: dirty(), content: vec![Block::Text(dirty())] }),
        Row::Transcript(Entry::ToolUse { id: KEY.into(), name: dirty(), input: json!({"k": dirty()}) }),
        Row::Transcript(Entry::ToolResult { id: KEY.into(), content: dirty(), is_error: true }),
        Row::Transcript(Entry::InternalHook { fields: fields(), call: None }),
        Row::Hook(HookRun {
            event: EventName::PreToolUse,
            ordinal: Ordinal(3),
            matcher: dirty(),
            command: dirty(),
            call: Some(KEY.into()),
            tool: some(),
            input_json: json!({"prompt": dirty()}).to_string(),
            exit_code: Some(2),
            stdout: some(),
            stderr: some(),
            started_at: "2026-01-01 00:00:00.000".into(),
            completed_at: some(),
            skipped: None,
        }),
        Row::Permission {
            call: KEY.into(),
            tool: dirty(),
            verdict: Verdict::new(Ruling::Deny, Authority::Rule(dirty()), dirty()),
        },
        Row::Settings(json!({"env": {"X": dirty()}})),
        Row::Meta { key: dirty(), value: dirty() },
        Row::State { key: dirty(), value: json!({"curl": format!("-H \"Authorization: Bearer {KEY}\"")}).to_string() },
        Row::PlanDraft { content: dirty(), file_path: some() },
        Row::Memory(Memory {
            id: dirty(),
            kind: dirty(),
            title: dirty(),
            content: some(),
            keywords: some(),
            anticipated_queries: some(),
            concept_tags: some(),
            project_scope: some(),
        }),
    ]);
    group.log(LoggedEvent::HookConfigInvalid(json!({"detail": dirty()})));
    group
}

#[test]
fn the_file_holds_no_spelling_of_a_known_secret() {
    let db = Db::new();
    let store = Store::open(&db.path, Redactor::new([("TOKEN", KEY)])).unwrap();
    store.commit_now(&place("s"), everything()).unwrap();
    drop(store);
    let bytes = fs::read(&db.path).unwrap();
    let escaped = serde_json::to_string(KEY).unwrap();
    for spelling in [KEY, escaped.trim_matches('"'), "quoted\\"] {
        let found = bytes.windows(spelling.len()).any(|part| part == spelling.as_bytes());
        assert!(!found, "{spelling}");
    }
}

#[test]
fn every_text_column_shows_where_a_secret_was() {
    let db = Db::new();
    let store = Store::open(&db.path, Redactor::new([("TOKEN", KEY)])).unwrap();
    store.commit_now(&place("s"), everything()).unwrap();
    let eyes = plain(&db.path);
    let shows = |table: &str, column: &str| {
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} LIKE '%[REDACTED:%'");
        query(&eyes, &sql) != ["0"]
    };
    let columns = [
        ("conversations", "project_dir"),
        ("transcript_entries", "payload_json tool_use_id"),
        ("hook_invocations", "matcher command tool_use_id tool_name input_json stdout_text stderr_text completed_at"),
        ("tool_permission_log", "tool_use_id tool_name reason_json"),
        ("settings_snapshot", "json"),
        ("schema_meta", "key value"),
        ("state", "key value"),
        ("plans", "content file_path"),
        ("memories", "id type title content keywords anticipated_queries concept_tags project_scope"),
        ("memories_fts", "title content keywords anticipated_queries"),
        ("events", "detail"),
    ];
    for (table, columns) in columns {
        for column in columns.split(' ') {
            assert!(shows(table, column), "{table}.{column}");
        }
    }
    assert_eq!(db.sql("SELECT count(*) FROM transcript_entries WHERE NOT json_valid(payload_json)"), ["0"]);
    assert_eq!(db.sql("SELECT json_valid(input_json) FROM hook_invocations"), ["1"]);
    assert_eq!(db.sql("SELECT value FROM state"), [r#"{"curl":"-H \"[REDACTED:authorization]\""}"#]);
    // A redacted call id still links a result to its call.
    assert_eq!(db.sql("SELECT parent_entry_id FROM transcript_entries WHERE entry_type = 'tool_result'"), ["2"]);
}

#[test]
fn the_hash_of_a_plan_is_that_of_the_stored_text() {
    let db = Db::new();
    let store = Store::open(&db.path, Redactor::new([("TOKEN", KEY)])).unwrap();
    store.commit_now(&place("s"), everything()).unwrap();
    let plan = store.reader().unwrap().plan(1).unwrap().unwrap();
    assert_eq!(plan.content, "a [REDACTED:TOKEN] b");
    assert_eq!(plan.hash, ona_api::digest::sha256_hex(plan.content.as_bytes()));
}

#[test]
fn an_id_that_looks_like_a_credential_is_refused() {
    let db = Db::new();
    let store = Store::open(&db.path, Redactor::new([("TOKEN", KEY)])).unwrap();
    let at = |conversation: &str, session: &str| SessionKey {
        conversation: conversation.into(),
        session: session.into(),
        start: SequenceStart::Zero,
    };
    for (place, what) in [(at(KEY, "s"), "conversation"), (at("k", KEY), "session")] {
        let error = store.commit_now(&place, begin()).unwrap_err();
        assert!(matches!(&error, StoreError::SecretInId { what: found } if *found == what), "{error:?}");
    }
    assert_eq!(db.sql("SELECT count(*) FROM conversations"), ["0"]);
}
