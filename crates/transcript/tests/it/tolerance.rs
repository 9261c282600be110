//! Rows an operator wrote by SQL, and rows that make no sense together.

use crate::support::*;
use ona_api::Entry;
use ona_api::row::Block;
use ona_transcript::{Body, RawRow, Record};

#[test]
fn a_row_is_read_whatever_its_small_differences() {
    let session = Session::default()
        .sql("user", r#"{"content":"plain"}"#)
        .sql("assistant", r#"{"content":[{"type":"text","text":"x","extra":1},{"type":"tool_use","id":"a","name":"Bash"}]}"#)
        .sql("tool_result", r#"{"tool_use_id":"a","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}],"is_error":1}"#)
        .sql("assistant", r#"{"_t":"user","content":[{"type":"tool_use","id":"b","name":"Bash","input":"ls"},{"type":"thinking"}]}"#)
        .sql("user", r#"{"_t":"user","content":[{"type":"tool_result","tool_use_id":"b","content":null}, {"type":"text","text":"so?"}]}"#);
    assert_shown(
        &shown(&session),
        r#"
        user
          text: plain
        assistant
          text: x
          call a: Bash {}
        user
          result a, error: 1
            2
        assistant
          call b: Bash {"_raw":"ls"}
        user
          result b:
          text: so?
        "#,
    );
}

#[test]
fn the_column_names_the_call_if_the_payload_does_not() {
    let raw = RawRow {
        sequence: 4,
        entry_type: "tool_result",
        payload: r#"{"content":{"a":1}}"#,
        tool_use_id: Some("c1"),
        created_at: "",
    };
    let expected = Body::ToolResult { id: "c1".into(), content: r#"{"a":1}"#.into(), is_error: false };
    assert_eq!(Record::parse(raw), Ok(Record { sequence: 4, body: expected }));
}

#[test]
fn what_cannot_be_read_is_named_and_left_out() {
    let session = Session::of([user("go")])
        .sql("user", "not json")
        .sql("user", "[]")
        .sql("user", "{}")
        .sql("assistant", r#"{"content":7}"#)
        .sql("tool_use", r#"{"name":"Read"}"#)
        .sql("tool_use", r#"{"id":"a"}"#)
        .sql("tool_result", r#"{"content":"x"}"#)
        .sql("progress", "{}")
        .sql("attachment", r#"{"attachment":"x"}"#)
        .sql("collapse_commit", r#"{"covers_to_sequence":0}"#)
        .sql("ai_title", "{}")
        .sql("dream", "{}")
        .sql("internal_hook", r#"{"additional_context":["x"]}"#)
        .sql("progress", r#"{"data":{"kind":"exit_code","exit_code":"1"}}"#)
        .sql("attachment", r#"{"attachment":{"kind":"image","data":1}}"#);
    assert_shown(
        &shown(&session),
        r#"
        user
          text: go
        ! row 1: the payload cannot be read: expected ident at line 1 column 2
        ! row 2: the payload is not an object
        ! row 3: a message without content
        ! row 4: a message without content
        ! row 5: a tool_use without an id
        ! row 6: a tool_use without a name
        ! row 7: a tool_result without a tool_use_id
        ! row 8: a progress without data
        ! row 9: an attachment without an attachment
        ! row 10: a collapse_commit without a summary
        ! row 11: an ai_title without a title
        ! row 12: the entry type "dream" is unknown
        "#,
    );
}

#[test]
fn every_entry_type_of_the_specification_is_known() {
    let types = "user assistant system tool_use tool_result progress attachment internal_hook content_replacement \
                 collapse_commit file_history_snapshot attribution_snapshot queue_operation speculation_accept ai_title";
    let payload =
        r#"{"content":"","id":"a","name":"b","tool_use_id":"a","data":{},"attachment":{},"summary":"","title":""}"#;
    for entry_type in types.split_whitespace() {
        let raw = RawRow { sequence: 0, entry_type, payload, tool_use_id: None, created_at: "" };
        assert!(Record::parse(raw).is_ok(), "{entry_type}");
    }
    assert_eq!(types.split_whitespace().count(), 15);
}

#[test]
fn what_makes_no_sense_is_never_sent_as_it_is() {
    let twice = Entry::Assistant { uuid: "a".into(), content: vec![block("a"), block("a")] };
    let wrong = Entry::Assistant {
        uuid: "a".into(),
        content: vec![
            Block::Text("x".into()),
            Block::ToolResult { id: "a".into(), content: "mine".into(), is_error: false },
        ],
    };
    let calling = Entry::User { uuid: "u".into(), content: vec![block("z")] };
    let rows = [result("nobody", "what?"), twice, result("a", "1"), result("a", "2"), wrong, calling];
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: Result of an earlier call that is not shown:
            what?
        assistant
          call a: Read {"file_path":"a.txt"}
        user
          result a: 1
        assistant
          text: x
        ! row 0: a result without its call was taken as text
        ! row 1: a second call with the same id was left out
        ! row 3: a second result for the same call was left out
        ! row 4: a result in a message of the assistant was left out
        ! row 5: a call in a message of the user was left out
        "#,
    );
}

/// Some servers count their calls from 0 in every reply.
#[test]
fn an_id_may_be_used_again_by_a_later_reply() {
    let rows: Vec<_> = (0..2).flat_map(|_| calls("", &["0"]).into_iter().chain([result("0", "x")])).collect();
    assert_shown(
        &mapped(rows),
        r#"
        assistant
          call 0: Read {"file_path":"0.txt"}
        user
          result 0: x
        assistant
          call 0: Read {"file_path":"0.txt"}
        user
          result 0: x
        "#,
    );
}

#[test]
fn a_summary_cannot_hide_what_is_still_to_come() {
    let session = Session::of([user("one"), says("1")])
        .sql("collapse_commit", r#"{"summary":"S","covers_to_sequence":99}"#)
        .sql("user", r#"{"content":"two"}"#)
        .sql("collapse_commit", r#"{"summary":"T"}"#)
        .sql("user", r#"{"content":"three"}"#);
    assert_shown(
        &shown(&session),
        "
        user
          text: The conversation up to here was replaced by this summary:

            T
          text: three
        ",
    );
}

#[test]
fn a_result_whose_call_a_summary_covers_becomes_text() {
    let mut rows = vec![user("go")];
    rows.extend(calls("", &["a"]));
    let mut session = Session::of(rows);
    session.add(&result("a", "42"));
    let session = session.sql("collapse_commit", r#"{"summary":"S","covers_to_sequence":2}"#);
    assert_shown(
        &shown(&session),
        "
        user
          text: The conversation up to here was replaced by this summary:

            S
          text: Result of an earlier call that is not shown:
            42
        ",
    );
}
