//! Numbers, parents and text form of transcript rows.

use crate::support::{Db, begin, call, calls, place, result, says, user, write};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{CallId, Entry, Group, Row, SystemEntry};
use serde_json::{Map, Value, json};

const ROWS: &str = "SELECT session_id, sequence, id, parent_entry_id, entry_type, tool_use_id \
                    FROM transcript_entries ORDER BY id";

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn a_turn_is_numbered_and_linked() {
    let db = Db::new();
    let store = db.started();
    let c2 = || Some(CallId::from("c2"));
    let committed = write(&store, [user("do it")]);
    assert_eq!(committed.entries, [1]);
    write(&store, [calls(&["c1", "c2"]), call("c1"), call("c2")]);
    write(&store, [Entry::InternalHook { fields: Map::new(), call: Some("c1".into()) }, result("c1")]);
    write(
        &store,
        [
            Entry::ContentReplacement { fields: Map::new(), call: c2() },
            result("c2"),
            Entry::Attachment { attachment: Map::new(), call: c2() },
            Entry::FileHistorySnapshot { fields: Map::new(), call: c2() },
            Entry::Attachment { attachment: Map::new(), call: None },
        ],
    );
    let committed =
        write(&store, [says("done"), Entry::System(SystemEntry::Command { typed: String::new() }), user("more")]);
    assert_eq!(committed.entries, [12, 13, 14]);
    assert_eq!(
        db.sql(ROWS),
        [
            "s|0|1|NULL|user|NULL",
            "s|1|2|1|assistant|NULL",
            "s|2|3|2|tool_use|c1",
            "s|3|4|2|tool_use|c2",
            "s|4|5|3|internal_hook|c1",
            "s|5|6|3|tool_result|c1",
            "s|6|7|4|content_replacement|c2",
            "s|7|8|4|tool_result|c2",
            "s|8|9|4|attachment|c2",
            "s|9|10|4|file_history_snapshot|c2",
            "s|10|11|NULL|attachment|NULL",
            "s|11|12|8|assistant|NULL",
            "s|12|13|NULL|system|NULL",
            "s|13|14|12|user|NULL",
        ]
    );
}

#[test]
fn a_call_no_reply_holds_has_no_parent() {
    let db = Db::new();
    let store = db.started();
    write(&store, [says("no call in here"), call("c1"), result("c1"), result("unheard of")]);
    assert_eq!(
        db.sql(ROWS),
        [
            "s|0|1|NULL|assistant|NULL",
            "s|1|2|NULL|tool_use|c1",
            "s|2|3|2|tool_result|c1",
            "s|3|4|NULL|tool_result|unheard of"
        ]
    );
}

#[test]
fn parents_are_looked_for_in_the_same_session_only() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("a"), calls(&["c1"]), call("c1")]);
    store.commit_now(&place("child"), begin()).unwrap();
    let rows = [user("b"), result("c1"), says("c")].map(Row::Transcript);
    store.commit_now(&place("child"), Group(rows.into())).unwrap();
    let child = "SELECT sequence, parent_entry_id, entry_type FROM transcript_entries WHERE session_id = 'child'";
    assert_eq!(db.sql(child), ["0|NULL|user", "1|NULL|tool_result", "2|5|assistant"]);
}

/// Template 8.8.1 looks for the newest result over all sessions.
#[test]
fn a_session_may_start_above_all_others() {
    let db = Db::new();
    let store = db.open();
    let eval = |session: &str| {
        let at = SessionKey { start: SequenceStart::AboveAll, ..place(session) };
        let mut group = begin();
        group.append(Group([call("c"), result("c")].map(Row::Transcript).into()));
        store.commit_now(&at, group).unwrap();
    };
    eval("e1");
    eval("e2");
    eval("e1");
    eval("e3");
    let found = db.sql("SELECT session_id, sequence FROM transcript_entries ORDER BY id");
    assert_eq!(found, ["e1|0", "e1|1", "e2|2", "e2|3", "e1|2", "e1|3", "e3|4", "e3|5"]);
    let newest =
        "SELECT session_id FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1";
    assert_eq!(db.sql(newest), ["e3"]);
}

#[test]
fn numbering_goes_on_after_rows_an_operator_wrote() {
    let db = Db::new();
    let store = db.started();
    db.sql("INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s', 7, 'assistant', 'no json')");
    write(&store, [user("a"), call("c1")]);
    assert_eq!(db.sql(ROWS), ["s|7|1|NULL|assistant|NULL", "s|8|2|1|user|NULL", "s|9|3|NULL|tool_use|c1"]);
}

#[test]
fn payloads_are_compact_json() {
    let db = Db::new();
    let store = db.started();
    write(
        &store,
        [result("c1"), Entry::CollapseCommit { fields: fields(json!({"summary": "é", "covers_to_sequence": 3})) }],
    );
    assert_eq!(
        db.sql("SELECT payload_json FROM transcript_entries ORDER BY id"),
        [
            r#"{"_t":"tool_result","tool_use_id":"c1","content":"ok","is_error":false}"#,
            r#"{"_t":"collapse_commit","summary":"é","covers_to_sequence":3}"#,
        ]
    );
}

#[test]
fn transcript_rows_touch_the_conversation_and_others_do_not() {
    let db = Db::new();
    let store = db.started();
    let old = "2001-01-01 00:00:00";
    db.sql(&format!("UPDATE conversations SET last_active = '{old}'"));
    store.commit_now(&place("s"), Group(vec![Row::Meta { key: "a".into(), value: "b".into() }])).unwrap();
    assert_eq!(db.sql("SELECT last_active FROM conversations"), [old]);
    write(&store, [user("a")]);
    assert_eq!(db.sql("SELECT last_active > datetime('now', '-1 minute') FROM conversations"), ["1"]);
}
