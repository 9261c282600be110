//! Typed queries, on databases an operator may have written to.

use crate::support::{Db, begin, call, place, result, user, write};
use ona_api::row::SessionKey;
use ona_api::{Entry, Group, Phase, Row};
use ona_store::{Conversation, StoreError};
use serde_json::{Value, json};

#[test]
fn absent_things_are_none() {
    let db = Db::new();
    let store = db.open();
    let reader = store.reader().unwrap();
    assert_eq!(reader.settings().unwrap(), None);
    assert_eq!(reader.meta("x").unwrap(), None);
    assert_eq!(reader.state(&"k".into(), "x").unwrap(), None);
    assert_eq!(reader.conversation(&"k".into()).unwrap(), None);
    assert_eq!(reader.conversation_of(&"s".into()).unwrap(), None);
    assert_eq!(reader.plan(1).unwrap(), None);
    assert_eq!(reader.plans(&"k".into()).unwrap(), []);
    assert!(reader.file_digests(&"s".into()).unwrap().is_empty());
}

#[test]
fn values_are_read_back_and_replaced() {
    let db = Db::new();
    let store = db.started();
    let reader = store.reader().unwrap();
    for value in ["one", "two"] {
        let rows = vec![
            Row::Meta { key: "m".into(), value: value.into() },
            Row::State { key: "s".into(), value: value.into() },
            Row::Settings(json!({"z": 1, "a": value})),
        ];
        store.commit_now(&place("s"), Group(rows)).unwrap();
        assert_eq!(reader.meta("m").unwrap().as_deref(), Some(value));
        assert_eq!(reader.state(&"k".into(), "s").unwrap().as_deref(), Some(value));
        assert_eq!(reader.state(&"other".into(), "s").unwrap(), None);
        let (settings, updated_at) = reader.settings().unwrap().unwrap();
        assert_eq!(settings, format!(r#"{{"z":1,"a":"{value}"}}"#));
        assert_eq!(updated_at.len(), "2026-01-01 00:00:00".len());
    }
    assert_eq!(reader.conversation_of(&"s".into()).unwrap(), Some("k".into()));
}

#[test]
fn the_conversation_used_last_is_listed_first() {
    let db = Db::new();
    let store = db.open();
    for conversation in ["a", "b", "c"] {
        store.commit_now(&SessionKey { conversation: conversation.into(), ..place(conversation) }, begin()).unwrap();
    }
    db.sql("UPDATE conversations SET created_at = '2001-01-01 00:00:00', last_active = '2002-02-02 00:00:00'");
    db.sql("UPDATE conversations SET last_active = '2003-03-03 00:00:00', phase = 'verify' WHERE id = 'b'");
    let listed = store.reader().unwrap().conversations().unwrap();
    let ids: Vec<_> = listed.iter().map(|conversation| conversation.id.as_str()).collect();
    assert_eq!(ids, ["b", "c", "a"]);
    let expected = Conversation {
        id: "b".into(),
        project_dir: "/p".into(),
        phase: Ok(Phase::Verify),
        created_at: "2001-01-01 00:00:00".into(),
        last_active: "2003-03-03 00:00:00".into(),
    };
    assert_eq!(listed[0], expected);
}

#[test]
fn an_unknown_phase_is_an_error_but_hides_no_conversation() {
    let db = Db::new();
    let store = db.started();
    db.sql("UPDATE conversations SET phase = 'dreaming'");
    let reader = store.reader().unwrap();
    let error = reader.phase(&"k".into()).unwrap_err();
    assert_eq!(error.to_string(), "conversations.phase holds the unknown value \"dreaming\"");
    assert!(reader.conversations().unwrap()[0].phase.is_err());
}

#[test]
fn an_unknown_plan_status_is_an_error() {
    let db = Db::new();
    let store = db.started();
    db.sql("INSERT INTO plans(conversation_id, content, hash, status) VALUES ('k', '', '', 'perhaps')");
    let error = store.reader().unwrap().plans(&"k".into()).unwrap_err();
    assert!(matches!(error, StoreError::UnknownValue { column: "plans.status", .. }), "{error:?}");
}

#[test]
fn the_newest_digest_of_each_file_counts() {
    let db = Db::new();
    let store = db.started();
    let seen = |fields: Value| Entry::FileHistorySnapshot { fields: fields.as_object().unwrap().clone(), call: None };
    let entries = [
        seen(json!({"path": "/a", "sha256": "1"})),
        seen(json!({"path": "/b", "sha256": "2"})),
        seen(json!({"path": "/a", "sha256": "3"})),
        seen(json!({"path": "/c"})),
        user("/d"),
    ];
    write(&store, entries);
    let digests = store.reader().unwrap().file_digests(&"s".into()).unwrap();
    assert_eq!(Vec::from_iter(digests), [("/a".into(), "3".into()), ("/b".into(), "2".into())]);
    assert!(store.reader().unwrap().file_digests(&"other".into()).unwrap().is_empty());
}

#[test]
fn a_reader_sees_what_was_just_committed() {
    let db = Db::new();
    let store = db.started();
    let reader = store.reader().unwrap();
    for n in 1..=3 {
        write(&store, [user("a")]);
        assert!(reader.counts().unwrap().contains(&("transcript_entries", n)));
    }
    assert_eq!(db.sql("PRAGMA integrity_check"), ["ok"]);
}

/// Results may stand far behind their calls, or nowhere; an id may be used twice.
#[test]
fn the_calls_of_a_session_are_read_in_parts_with_what_is_about_them() {
    let db = Db::new();
    let store = db.started();
    let ids: Vec<_> = (0..450).map(|number| format!("c{number}")).collect();
    write(&store, ids.iter().map(|id| call(id)));
    write(&store, ids.iter().filter(|id| *id != "c7").map(|id| result(id)));
    write(&store, [call("c7"), result("c7"), call("c7")]);
    let mut calls = store.reader().unwrap().calls(&"s".into()).unwrap();
    assert_eq!(calls.count(), 452);
    let mut found = Vec::new();
    loop {
        let part = calls.next_part().unwrap();
        if part.is_empty() {
            break;
        }
        assert!(part.len() <= 200);
        found.extend(part.into_iter().map(|call| (call.id.0, call.name, call.result.is_some())));
    }
    let mut expected: Vec<_> = ids.iter().map(|id| (id.clone(), "Read".to_owned(), id != "c7")).collect();
    expected.extend([("c7".to_owned(), "Read".to_owned(), true), ("c7".to_owned(), "Read".to_owned(), false)]);
    assert_eq!(found, expected);
    let one = store.reader().unwrap().call(&"s".into(), &"c8".into()).unwrap().unwrap();
    assert_eq!((one.sequence, one.result.is_some()), (8, true));
}
