//! Reading transcripts back, and the list of sessions.

use crate::support::{Db, begin, call, calls, place, plain, result, says, user, write};
use ona_api::row::{Block, SessionKey};
use ona_api::{Entry, Group, LoggedEvent, Row, SessionOrigin};
use ona_store::{SessionLine, Store, StoredEntry};

fn add(store: &Store, conversation: &str, session: &str, project: &str, entries: impl IntoIterator<Item = Entry>) {
    let at = SessionKey { conversation: conversation.into(), ..place(session) };
    let mut group = Group(vec![Row::Conversation { project_dir: project.into() }, Row::Session]);
    group.append(Group(entries.into_iter().map(Row::Transcript).collect()));
    store.commit_now(&at, group).unwrap();
}

#[test]
fn history_is_one_session_in_order_from_where_one_left_off() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("a"), calls(&["c1"]), call("c1")]);
    store.commit_now(&place("other"), begin()).unwrap();
    store.commit_now(&place("other"), Group(vec![Row::Transcript(user("elsewhere"))])).unwrap();
    write(&store, [result("c1")]);

    let reader = store.reader().unwrap();
    let kinds = |after| {
        let entries = reader.history(&"s".into(), after).unwrap();
        entries.into_iter().map(|entry| format!("{} {}", entry.sequence, entry.entry_type)).collect::<Vec<_>>()
    };
    assert_eq!(kinds(None), ["0 user", "1 assistant", "2 tool_use", "3 tool_result"]);
    assert_eq!(kinds(Some(1)), ["2 tool_use", "3 tool_result"]);
    assert_eq!(kinds(Some(3)), [""; 0]);

    let newest = reader.history(&"s".into(), Some(2)).unwrap().remove(0);
    let expected = StoredEntry {
        sequence: 3,
        entry_type: "tool_result".into(),
        payload: r#"{"_t":"tool_result","tool_use_id":"c1","content":"ok","is_error":false}"#.into(),
        tool_use_id: Some("c1".into()),
        created_at: newest.created_at.clone(),
    };
    assert_eq!(newest, expected);
    assert_eq!(newest.created_at.len(), "2026-01-01 00:00:00".len());
}

#[test]
fn a_row_that_is_not_text_hides_no_other() {
    let db = Db::new();
    let store = db.started();
    write(&store, [user("a")]);
    db.sql(
        "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id) \
         VALUES ('s', 1, 'user', x'7bff', 7)",
    );
    write(&store, [says("b")]);
    let entries = store.reader().unwrap().history(&"s".into(), None).unwrap();
    let shown: Vec<_> = entries.iter().map(|entry| (entry.sequence, entry.tool_use_id.as_deref())).collect();
    assert_eq!(shown, [(0, None), (1, Some("7")), (2, None)]);
    assert_eq!(entries[1].payload, "{\u{fffd}");
}

#[test]
fn every_session_is_listed_the_one_used_last_first() {
    let db = Db::new();
    let store = db.open();
    let picture_only = Entry::User { uuid: "u".into(), content: vec![] };
    add(&store, "k", "one", "/p", [user("first\nquestion"), says("x"), user("second")]);
    add(&store, "k", "child", "/p", [user("look around")]);
    add(&store, "k2", "silent", "/q", [picture_only]);
    add(&store, "k2", "empty", "/q", []);
    add(&store, "k", "one", "/p", [says("y")]);
    let parent = Row::State { key: "session_parent:child".into(), value: "one".into() };
    store.commit_now(&place("child"), Group(vec![parent])).unwrap();
    for (sequence, title) in [(4, "Old"), (5, "New")] {
        db.sql(&format!(
            "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) \
             VALUES ('one', {sequence}, 'ai_title', '{{\"_t\":\"ai_title\",\"title\":\"{title}\"}}')"
        ));
    }
    db.sql("UPDATE sessions SET started_at = '2001-01-01 00:00:00'");
    db.sql("UPDATE transcript_entries SET created_at = '2002-02-02 00:00:00'");

    let reader = store.reader().unwrap();
    let listed = reader.sessions(None).unwrap();
    let expected = SessionLine {
        id: "one".into(),
        conversation: "k".into(),
        parent: None,
        project_dir: "/p".into(),
        started_at: "2001-01-01 00:00:00".into(),
        last_entry_at: Some("2002-02-02 00:00:00".into()),
        entries: 6,
        first_user_text: Some("first\nquestion".into()),
        title: Some("New".into()),
    };
    assert_eq!(listed[0], expected);
    let told = |line: &SessionLine| (line.id.to_string(), line.entries, line.parent.clone().map(|id| id.0));
    assert_eq!(
        listed.iter().map(told).collect::<Vec<_>>(),
        [
            ("one".to_owned(), 6, None),
            ("silent".to_owned(), 1, None),
            ("child".to_owned(), 1, Some("one".to_owned())),
            ("empty".to_owned(), 0, None),
        ]
    );
    let of_k2: Vec<_> = reader.sessions(Some(&"k2".into())).unwrap().into_iter().map(|line| line.id.0).collect();
    assert_eq!(of_k2, ["silent", "empty"]);
    assert_eq!(reader.sessions(Some(&"nobody".into())).unwrap(), []);
}

#[test]
fn a_long_prompt_is_shown_by_its_beginning() {
    let db = Db::new();
    let store = db.open();
    let blocks = vec![
        Block::ToolResult { id: "c".into(), content: "no".into(), is_error: false },
        Block::Text("é".repeat(600)),
        Block::Text("no".into()),
    ];
    add(&store, "k", "s", "/p", [Entry::User { uuid: "u".into(), content: blocks }]);
    let line = store.reader().unwrap().sessions(None).unwrap().remove(0);
    assert_eq!(line.first_user_text, Some("é".repeat(500)));
}

#[test]
fn continue_picks_the_session_with_the_newest_prompt() {
    let db = Db::new();
    let store = db.open();
    let reader = store.reader().unwrap();
    let newest = |project: &str| {
        reader
            .newest_session(project, |id| id.as_str() == "held")
            .unwrap()
            .map(|newest| (newest.id.0, newest.has_prompt))
    };
    assert_eq!(newest("/p"), None);
    add(&store, "k1", "old", "/p", [user("a")]);
    add(&store, "k2", "new", "/p", [user("b")]);
    add(&store, "k3", "elsewhere", "/q", [user("c")]);
    let used = |id: &str| Some((id.to_owned(), true));
    assert_eq!(newest("/p"), used("new"));
    add(&store, "k1", "old", "/p", [says("d")]);
    assert_eq!(newest("/p"), used("old"));

    add(&store, "eval:1", "eval", "/p", [call("c"), result("c")]);
    add(&store, "k1", "child", "/p", [user("do a part of it")]);
    let parent = Row::State { key: "session_parent:child".into(), value: "old".into() };
    store.commit_now(&SessionKey { conversation: "k1".into(), ..place("child") }, Group(vec![parent])).unwrap();
    assert_eq!(newest("/p"), used("old"));

    // Killed before its first row; and one that ended without a prompt.
    let begin = |session: &str, origin| {
        let mut group = Group(vec![Row::Session]);
        group.log(LoggedEvent::SessionCreated(origin));
        store.commit_now(&SessionKey { conversation: "k1".into(), ..place(session) }, group).unwrap();
    };
    begin("eval2", SessionOrigin::Eval);
    assert_eq!(newest("/p"), used("old"));
    begin("killed", SessionOrigin::Print);
    assert_eq!(newest("/p"), Some(("killed".to_owned(), false)));
    begin("held", SessionOrigin::Print);
    assert_eq!(newest("/p"), used("old"));
    let hold = Row::State { key: "session_unused:held".into(), value: "1".into() };
    store.commit_now(&SessionKey { conversation: "k1".into(), ..place("held") }, Group(vec![hold])).unwrap();
    assert_eq!(newest("/p"), Some(("killed".to_owned(), false)));
    let unused = Row::State { key: "session_unused:killed".into(), value: "1".into() };
    store.commit_now(&SessionKey { conversation: "k1".into(), ..place("killed") }, Group(vec![unused])).unwrap();
    assert_eq!(newest("/p"), used("old"));
}

#[test]
fn a_long_history_is_read_in_order_from_any_row() {
    let db = Db::new();
    let store = db.started();
    let connection = plain(&db.path);
    connection
        .execute_batch(
            "BEGIN; WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 19999) \
             INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) \
             SELECT 's', i, 'tool_result', '{\"_t\":\"tool_result\",\"tool_use_id\":\"c' || i || '\",\"content\":\"' \
             || hex(zeroblob(400)) || '\",\"is_error\":false}' FROM n; COMMIT;",
        )
        .unwrap();
    let reader = store.reader().unwrap();
    let entries = |after| reader.history(&"s".into(), after).unwrap();
    assert_eq!(entries(None).len(), 20_000);
    assert!(entries(None).is_sorted_by_key(|entry| entry.sequence));
    assert_eq!(entries(Some(19_998)).len(), 1);
}

#[test]
fn prompts_of_a_project_are_its_users_own_in_order() {
    let db = Db::new();
    let store = db.started();
    add(&store, "c1", "s1", "/p", [user("one"), user(" ")]);
    add(&store, "c2", "s2", "/q", [user("elsewhere")]);
    add(&store, "c3", "s3", "/p", [user("two"), says("reply"), user("three")]);
    add(&store, "c3", "agent", "/p", [user("for an agent")]);
    db.sql("INSERT INTO state(conversation_id, key, value) VALUES ('c3', 'session_parent:agent', 's3')");
    let prompts = |limit| store.reader().unwrap().newest_prompts("/p", limit).unwrap();
    assert_eq!(prompts(9), ["one", "two", "three"]);
    assert_eq!(prompts(2), ["two", "three"]);
}
