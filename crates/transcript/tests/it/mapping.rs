//! What a model is sent for the rows of a session.

use crate::support::*;
use ona_api::Entry;
use ona_api::row::Block;
use ona_transcript::{Trigger, collapse_entry};
use serde_json::json;

fn flat(parts: impl IntoIterator<Item = Vec<Entry>>) -> Vec<Entry> {
    parts.into_iter().flatten().collect()
}

#[test]
fn a_turn_with_calls_is_replies_and_results_in_turn() {
    let rows = flat([
        vec![user("what is in a and b?")],
        calls("I will look.", &["a", "b"]),
        vec![result("a", "one"), snapshot("a"), result("b", "two"), snapshot("b")],
        vec![says("One and two."), note(), user("thanks")],
    ]);
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: what is in a and b?
        assistant
          text: I will look.
          call a: Read {"file_path":"a.txt"}
          call b: Read {"file_path":"b.txt"}
        user
          result a: one
          result b: two
        assistant
          text: One and two.
        user
          text: thanks
        "#,
    );
}

#[test]
fn a_call_no_reply_made_is_a_message_of_its_own() {
    let rows = [call("e1"), result("e1", "x"), call("e2"), failure("e2", "no"), user("what was that?")];
    assert_shown(
        &mapped(rows),
        r#"
        assistant
          call e1: Read {"file_path":"e1.txt"}
        user
          result e1: x
        assistant
          call e2: Read {"file_path":"e2.txt"}
        user
          result e2, error: no
          text: what was that?
        "#,
    );
}

#[test]
fn an_exit_code_is_sent_with_its_result() {
    let rows = flat([
        vec![user("build")],
        calls("", &["a", "b"]),
        vec![failure("a", "error: no"), exit_code("a", 101), result("b", "fine")],
    ]);
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: build
        assistant
          call a: Read {"file_path":"a.txt"}
          call b: Read {"file_path":"b.txt"}
        user
          result a, error, exit code 101: error: no
          result b: fine
        "#,
    );
}

#[test]
fn pictures_stand_beside_what_they_belong_to() {
    let rows = flat([
        vec![user("like this"), picture("P1", None), picture("P2", None)],
        calls("", &["a", "b"]),
        vec![result("a", "a picture"), picture("A1", Some("a")), picture("A2", Some("a")), snapshot("a")],
        vec![result("b", "another"), picture("B1", Some("b")), user("and this"), picture("P3", None)],
    ]);
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: like this
          image: image/png P1
          image: image/png P2
        assistant
          call a: Read {"file_path":"a.txt"}
          call b: Read {"file_path":"b.txt"}
        user
          result a: a picture
          image: image/png A1
          image: image/png A2
          result b: another
          image: image/png B1
          text: and this
          image: image/png P3
        "#,
    );
}

#[test]
fn a_prompt_without_words_is_its_picture() {
    let rows = [Entry::User { uuid: "u".into(), content: vec![] }, picture("P", None)];
    assert_shown(
        &mapped(rows),
        "
        user
          image: image/png P
        ",
    );
}

/// DEC-033: one block, after the results, with everything since the last reply.
#[test]
fn context_of_hooks_is_one_part_at_the_end_of_the_last_message() {
    let rewritten = json!({"hook_event": "PreToolUse", "requested_input": {}, "effective_input": {"x": 1}});
    let rows = flat([
        vec![context("UserPromptSubmit", "before the prompt"), user("go"), context("UserPromptSubmit", "after it")],
        calls("", &["a", "b"]),
        vec![context("PreToolUse", "pre a"), Entry::InternalHook { fields: fields(rewritten), call: None }],
        vec![result("a", "1"), context("PostToolUse", "post a")],
        vec![context("PreToolUse", "pre b"), context("PreToolUse", "  "), result("b", "2")],
        vec![says("done"), context("Stop", "not yet: run the tests")],
    ]);
    assert_shown(
        &mapped(rows.clone()),
        r#"
        user
          text: go
          hooks: before the prompt

            after it
        assistant
          call a: Read {"file_path":"a.txt"}
          call b: Read {"file_path":"b.txt"}
        user
          result a: 1
          result b: 2
          hooks: pre a

            post a

            pre b
        assistant
          text: done
        user
          hooks: not yet: run the tests
        "#,
    );
    let last = mapped(flat([rows, vec![user("never mind")]]));
    assert!(last.ends_with("user\n  text: never mind\n  hooks: not yet: run the tests\n"), "{last}");
}

#[test]
fn context_of_the_session_goes_to_its_first_message() {
    let rows = [
        context("Setup", "set up"),
        context("SessionStart", "started"),
        user("one"),
        context("UserPromptSubmit", "seen one"),
        says("1"),
        context("SessionStart", "resumed"),
        user("two"),
        context("UserPromptSubmit", "seen two"),
    ];
    assert_shown(
        &mapped(rows),
        "
        user
          text: one
          hooks: set up

            started

            seen one

            resumed
        assistant
          text: 1
        user
          text: two
          hooks: seen two
        ",
    );
}

/// Between two `--eval` records no model is called, so the context moves on.
#[test]
fn context_waits_for_the_next_call_to_the_model() {
    let rows = [
        context("SubagentStart", "you are a helper"),
        context("PreToolUse", "pre 1"),
        call("e1"),
        result("e1", "x"),
        context("PostToolUse", "post 1"),
        call("e2"),
        result("e2", "y"),
        user("go on"),
        says("ok"),
        context("Notification", "n"),
        call("e3"),
        result("e3", "z"),
    ];
    assert_shown(
        &mapped(rows),
        r#"
        user
          hooks: you are a helper
        assistant
          call e1: Read {"file_path":"e1.txt"}
        user
          result e1: x
        assistant
          call e2: Read {"file_path":"e2.txt"}
        user
          result e2: y
          text: go on
          hooks: pre 1

            post 1
        assistant
          text: ok
        assistant
          call e3: Read {"file_path":"e3.txt"}
        user
          result e3: z
          hooks: n
        "#,
    );
}

/// DEC-154: a `user` row after a result is a text block after it, and providers
/// want every result before any text.
#[test]
fn what_is_said_while_tools_run_stands_behind_the_results() {
    let rows =
        flat([vec![user("go")], calls("", &["a", "b"]), vec![result("a", "1"), user("hurry"), result("b", "2")]]);
    assert!(mapped(rows).ends_with("user\n  result a: 1\n  result b: 2\n  text: hurry\n"));
}

#[test]
fn messages_of_hooks_are_text_of_the_user_and_their_entries_are_not_sent() {
    let rows = [
        user("go"),
        attachment(json!({"kind": "custom_message", "customType": "t", "content": "from a hook", "display": false})),
        attachment(json!({"kind": "custom_message", "content": [
            {"type": "text", "text": "in blocks"},
            {"type": "image", "data": "I", "mimeType": "image/png"},
        ]})),
        attachment(json!({"kind": "custom_entry", "content": "kept"})),
        attachment(json!({"kind": "hook_context", "text": "the whole of a preview"})),
        attachment(json!({"kind": "text", "text": "the text of a file"})),
    ];
    assert_shown(
        &mapped(rows),
        "
        user
          text: go
          text: from a hook
          text: in blocks
          image: image/png I
          text: the text of a file
        ",
    );
}

/// DEC-035
#[test]
fn a_summary_takes_the_place_of_the_rows_it_covers() {
    let before = flat([
        vec![context("SessionStart", "started"), user("one")],
        calls("", &["a"]),
        vec![result("a", "1"), picture("A", Some("a")), says("done one")],
    ]);
    let kept = flat([
        vec![user("two"), picture("P", None), context("UserPromptSubmit", "seen two")],
        calls("", &["b"]),
        vec![context("PreToolUse", "pre b"), failure("b", "2"), picture("B", Some("b")), exit_code("b", 3)],
    ]);
    let covered = i64::try_from(before.len()).unwrap() - 1;
    let collapse = collapse_entry(Trigger::Auto, "One is done.", covered);
    let after = vec![context("SessionStart", "compacted"), says("done two")];
    assert_shown(
        &mapped(flat([before.clone(), kept.clone(), vec![collapse], after.clone()])),
        r#"
        user
          text: The conversation up to here was replaced by this summary:

            One is done.
          text: two
          image: image/png P
          hooks: seen two

            compacted
        assistant
          call b: Read {"file_path":"b.txt"}
        user
          result b, error, exit code 3: 2
          image: image/png B
          hooks: pre b
        assistant
          text: done two
        "#,
    );

    let everything = i64::try_from(before.len() + kept.len()).unwrap() - 1;
    let collapse = collapse_entry(Trigger::Manual, "All of it.", everything);
    let again = collapse_entry(Trigger::Manual, "Shorter still.", everything + 3);
    let rows = flat([before, kept, vec![collapse], after, vec![again, user("three")]]);
    assert_shown(
        &mapped(rows),
        "
        user
          text: The conversation up to here was replaced by this summary:

            Shorter still.
          text: three
        ",
    );
}

#[test]
fn open_calls_at_the_end_stay_open() {
    let rows = flat([vec![user("go")], calls("", &["a", "b"]), vec![result("a", "1")]]);
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: go
        assistant
          call a: Read {"file_path":"a.txt"}
          call b: Read {"file_path":"b.txt"}
        user
          result a: 1
        "#,
    );
}

/// A result was deleted, and a repair wrote one at the end.
#[test]
fn a_late_result_answers_its_call_where_it_was_made() {
    let rows = flat([vec![user("go")], calls("", &["a"]), calls("", &["b"]), vec![result("b", "2")]]);
    let middle = r#"
        user
          text: go
        assistant
          call a: Read {"file_path":"a.txt"}
        user
          result a, error: [SDLC_INTERNAL] interrupted before a result was recorded
        assistant
          call b: Read {"file_path":"b.txt"}
        user
          result b: 2
        "#;
    assert_shown(&mapped(rows.clone()), middle);
    let late = flat([rows, vec![result("a", "here after all"), exit_code("a", 1)]]);
    let found = mapped(late);
    assert!(found.contains("user\n  result a, exit code 1: here after all\nassistant"), "{found}");
    assert!(found.ends_with("user\n  result b: 2\n"), "{found}");
}

#[test]
fn texts_of_nothing_but_space_are_not_sent() {
    let content = vec![Block::Text(" \n".into()), block("a")];
    let rows = [user(" "), user("go"), Entry::Assistant { uuid: "a".into(), content }, result("a", ""), says("\n")];
    assert_shown(
        &mapped(rows),
        r#"
        user
          text: go
        assistant
          call a: Read {"file_path":"a.txt"}
        user
          result a:
        "#,
    );
}
