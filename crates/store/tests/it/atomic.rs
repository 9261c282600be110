//! A group is written whole or not at all.

use crate::support::{Db, begin, place, plain, user, write};
use ona_api::LoggedEvent;
use ona_api::row::{Memory, SequenceStart, SessionKey};
use ona_api::{Authority, Group, Phase, Redactor, Row, Ruling, Verdict};
use ona_store::{Committed, Store, StoreError};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn if_the_last_row_fails_nothing_of_the_group_is_there() {
    let db = Db::new();
    let store = db.started();
    let before = db.sql("SELECT last_active FROM conversations");
    let memory = Memory {
        id: "m".into(),
        kind: "note".into(),
        title: "t".into(),
        content: None,
        keywords: None,
        anticipated_queries: None,
        concept_tags: None,
        project_scope: None,
    };
    let mut group = Group(vec![
        Row::Transcript(user("a")),
        Row::Memory(memory),
        Row::State { key: "a".into(), value: "b".into() },
        Row::PlanDraft { content: "p".into(), file_path: None },
        Row::Settings(json!({})),
    ]);
    group.log(LoggedEvent::ImplementationComplete);
    group.push(Row::Phase { from: Phase::Implement, to: Phase::Test });

    let error = store.commit_now(&place("s"), group).unwrap_err();
    assert!(matches!(error, StoreError::PhaseMoved { expected: Phase::Implement, .. }), "{error:?}");
    let counts = store.reader().unwrap().counts().unwrap();
    let filled: Vec<_> = counts.into_iter().filter(|(_, rows)| *rows > 0).collect();
    assert_eq!(filled, [("schema_meta", 2), ("conversations", 1), ("sessions", 1), ("sdlc_chain", 1)]);
    assert_eq!(db.sql("SELECT last_active FROM conversations"), before);
    assert_eq!(write(&store, [user("next")]).entries.len(), 1);
}

#[test]
fn a_session_needs_its_conversation_and_an_entry_its_session() {
    let db = Db::new();
    let store = db.open();
    let error = store.commit_now(&place("s"), Group(vec![Row::Session])).unwrap_err();
    assert!(matches!(error, StoreError::Orphan), "{error:?}");
    store.commit_now(&place("s"), begin()).unwrap();
    let error = store.commit_now(&place("other"), Group(vec![Row::Transcript(user("a"))])).unwrap_err();
    assert!(matches!(error, StoreError::Orphan), "{error:?}");
    assert_eq!(db.sql("SELECT count(*) FROM transcript_entries"), ["0"]);
}

#[test]
fn a_session_stays_with_its_conversation() {
    let db = Db::new();
    let store = db.started();
    store.commit_now(&place("s"), begin()).unwrap();
    let elsewhere = SessionKey { conversation: "k2".into(), ..place("s") };
    let error = store.commit_now(&elsewhere, begin()).unwrap_err();
    assert_eq!(error.to_string(), "session s belongs to conversation k");
    assert_eq!(db.sql("SELECT id FROM conversations"), ["k"]);
}

#[test]
fn an_open_question_is_not_a_decision() {
    let db = Db::new();
    let store = db.started();
    let verdict = |ruling| Row::Permission {
        call: "c".into(),
        tool: "Bash".into(),
        verdict: Verdict::new(ruling, Authority::Human, "because"),
    };
    let error = store.commit_now(&place("s"), Group(vec![verdict(Ruling::Ask)])).unwrap_err();
    assert!(matches!(error, StoreError::Undecided(_)), "{error:?}");
    store.commit_now(&place("s"), Group(vec![verdict(Ruling::Deny)])).unwrap();
    assert_eq!(
        db.sql("SELECT session_id, tool_use_id, tool_name, decision, reason_json FROM tool_permission_log"),
        [r#"s|c|Bash|deny|{"source":"human","message":"because"}"#]
    );
}

#[test]
fn an_empty_group_writes_nothing() {
    let db = Db::new();
    let store = db.open();
    assert_eq!(store.commit_now(&place("s"), Group::default()).unwrap(), Committed::default());
}

#[test]
fn events_without_a_session_have_none() {
    let db = Db::new();
    let store = db.open();
    let nowhere = SessionKey { conversation: "".into(), session: "".into(), start: SequenceStart::Zero };
    let mut group = Group::default();
    group.log(LoggedEvent::HookConfigInvalid(json!({"b": 1, "a": "é"})));
    store.commit_now(&nowhere, group).unwrap();
    let found = db.sql("SELECT conversation_id, session_id, event_type, detail FROM events");
    assert_eq!(found, [r#"|NULL|hook_config_invalid|{"b":1,"a":"é"}"#]);
}

#[test]
fn a_lock_that_does_not_clear_is_busy_after_two_waits() {
    let db = Db::new();
    drop(db.started());
    let timeout = Duration::from_millis(60);
    let store = Store::open_with_timeout(&db.path, Redactor::default(), timeout).unwrap();
    let other = plain(&db.path);
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let began = Instant::now();
    let group = Group(vec![Row::Transcript(user("a")), Row::Transcript(user("b"))]);
    let error = store.commit_now(&place("s"), group.clone()).unwrap_err();
    assert!(matches!(error, StoreError::Busy), "{error:?}");
    assert!(began.elapsed() >= timeout * 2);
    assert_eq!(store.reader().unwrap().counts().unwrap()[2], ("sessions", 1), "readers do not wait");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(db.sql("SELECT count(*) FROM transcript_entries"), ["0"]);
    assert_eq!(store.commit_now(&place("s"), group).unwrap().entries.len(), 2);
}

#[tokio::test]
async fn commit_is_the_same_for_async_callers() {
    let db = Db::new();
    let store = db.open();
    let mut group = begin();
    group.push(Row::Transcript(user("a")));
    assert_eq!(store.commit(&place("s"), group).await.unwrap().entries, [1]);
    let error = store.commit(&place("other"), Group(vec![Row::Transcript(user("b"))])).await.unwrap_err();
    assert!(matches!(error, StoreError::Orphan));
    // A blocking call inside a runtime must not panic either.
    assert_eq!(store.commit_now(&place("s"), Group(vec![Row::Transcript(user("c"))])).unwrap().entries, [2]);
}

#[test]
fn what_was_handed_over_is_written_before_the_store_is_gone() {
    let db = Db::new();
    let store = db.started();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let at = place("s");
        let commit = store.commit(&at, Group(vec![Row::Transcript(user("a"))]));
        let mut commit = std::pin::pin!(commit);
        let abandoned = std::future::poll_fn(|context| std::task::Poll::Ready(commit.as_mut().poll(context))).await;
        drop(abandoned);
    });
    drop(store);
    assert_eq!(db.sql("SELECT count(*) FROM transcript_entries"), ["1"]);
}

#[test]
fn a_reader_never_sees_half_a_group() {
    let db = Db::new();
    let store = db.started();
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| {
            for _ in 0..50 {
                write(&store, [user("a"), user("b"), user("c")]);
            }
        });
        let eyes = plain(&db.path);
        while !writing.is_finished() {
            let rows: i64 = eyes.query_row("SELECT count(*) FROM transcript_entries", [], |row| row.get(0)).unwrap();
            assert_eq!(rows % 3, 0);
        }
    });
}
