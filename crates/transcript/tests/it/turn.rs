//! What a turn does next, and what a crash left to answer.

use crate::support::*;
use ona_api::{Entry, ToolCall};
use ona_transcript::{INTERRUPTED, Step, Trigger, TurnState, answer_open_calls, collapse_entry, next, repair};
use serde_json::json;

fn flat(parts: impl IntoIterator<Item = Vec<Entry>>) -> Vec<Entry> {
    parts.into_iter().flatten().collect()
}

fn state(entries: impl IntoIterator<Item = Entry>) -> TurnState {
    let mut state = TurnState::default();
    Session::of(entries).records().iter().for_each(|record| state.push(record));
    state
}

fn run(ids: &[&str]) -> Step {
    let call = |id: &&str| ToolCall {
        id: (*id).into(),
        name: "Read".into(),
        input: json!({"file_path": format!("{id}.txt")}),
    };
    Step::RunTools(ids.iter().map(call).collect())
}

#[test]
fn the_step_is_read_off_the_rows() {
    let go = || vec![user("go")];
    let hook = |event: &str| vec![context(event, "go on")];
    let stopped = || vec![hook_stopped()];
    let wakes =
        |wakes: bool| vec![attachment(json!({"kind": "custom_message", "content": "x", "trigger_turn": wakes}))];
    let table: Vec<(&str, Vec<Entry>, Step)> = vec![
        ("nothing was said", vec![], Step::End),
        ("only a session began", hook("SessionStart"), Step::End),
        ("a prompt", go(), Step::AskModel),
        ("a picture", vec![Entry::User { uuid: "u".into(), content: vec![] }, picture("P", None)], Step::AskModel),
        ("a reply without calls", flat([go(), vec![says("x")]]), Step::End),
        ("another prompt", flat([go(), vec![says("x")], go()]), Step::AskModel),
        ("calls", flat([go(), calls("", &["a", "b"])]), run(&["a", "b"])),
        ("one of them answered", flat([go(), calls("", &["a", "b"]), vec![result("a", "")]]), run(&["b"])),
        ("all of them", flat([go(), calls("", &["a"]), vec![result("a", ""), snapshot("a")]]), Step::AskModel),
        ("a word while tools run", flat([go(), calls("", &["a"]), go()]), run(&["a"])),
        ("the final reply", flat([go(), calls("", &["a"]), vec![result("a", ""), says("x")]]), Step::End),
        ("an older call is open", flat([go(), calls("", &["a"]), vec![says("x")]]), Step::End),
        ("an older call is open and calls", flat([calls("", &["a"]), calls("", &["b"])]), run(&["b"])),
        ("an id used again", flat([calls("", &["a"]), vec![result("a", "")], calls("", &["a"])]), run(&["a"])),
        ("only an eval", vec![call("e"), result("e", "x")], Step::End),
        ("an open eval", flat([go(), vec![says("x"), call("e")]]), Step::End),
        ("a Stop hook speaks", flat([go(), vec![says("x")], hook("Stop")]), Step::AskModel),
        ("another hook speaks", flat([go(), vec![says("x")], hook("Notification")]), Step::End),
        ("a hook ends the turn", flat([go(), calls("", &["a"]), stopped(), vec![result("a", "")]]), Step::End),
        ("and the user speaks", flat([go(), vec![says("x")], stopped(), go()]), Step::AskModel),
        ("a message that can wait", flat([go(), vec![says("x")], wakes(false)]), Step::End),
        ("a message that cannot", flat([go(), vec![says("x")], wakes(true)]), Step::AskModel),
        ("a summary after the end", vec![user("go"), says("x"), collapse_entry(Trigger::Manual, "S", 1)], Step::End),
        (
            "a summary amid a turn",
            flat([go(), calls("", &["a"]), vec![result("a", ""), collapse_entry(Trigger::Auto, "S", 3)]]),
            Step::AskModel,
        ),
    ];
    for (what, rows, step) in table {
        assert_eq!(state(rows.clone()).next(), step, "{what}");
        assert_eq!(next(&Session::of(rows).records()), step, "{what}");
    }
}

#[test]
fn a_user_row_of_results_answers_and_asks_nothing() {
    let session = Session::of(flat([vec![user("go")], calls("", &["a", "b"])]))
        .sql("user", r#"{"content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}"#);
    assert_eq!(next(&session.records()), run(&["b"]));
}

/// DEC-024
#[test]
fn every_open_call_is_answered_in_declared_order() {
    let rows = flat([
        vec![call("e")],
        calls("", &["a"]),
        vec![user("go")],
        calls("", &["b", "c", "d"]),
        vec![result("c", "done")],
    ]);
    let state = state(rows.clone());
    let expected: Vec<_> = ["e", "a", "b", "d"].map(|id| failure(id, INTERRUPTED)).into();
    assert_eq!(repair(&state), expected);
    assert_eq!(INTERRUPTED, "[SDLC_INTERNAL] interrupted before a result was recorded");
    assert_eq!(answer_open_calls(&state, "stopped")[0], failure("e", "stopped"));

    let mut repaired = rows;
    repaired.extend(expected);
    assert_eq!(self::state(repaired.clone()).next(), Step::AskModel);
    assert_eq!(repair(&self::state(repaired)), []);
}

#[test]
fn a_sound_session_needs_no_repair() {
    assert_eq!(repair(&state([])), []);
    assert_eq!(repair(&state(flat([vec![user("go")], calls("", &["a"]), vec![result("a", ""), says("x")]]))), []);
    let covered = flat([calls("", &["a"]), vec![collapse_entry(Trigger::Manual, "S", 1)]]);
    assert_eq!(repair(&state(covered)), []);
}

#[test]
fn the_newest_row_is_known() {
    assert_eq!(state([]).last_sequence(), None);
    assert_eq!(state([user("a"), note()]).last_sequence(), Some(1));
}
