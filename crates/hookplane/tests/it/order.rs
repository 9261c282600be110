//! Which hooks run, in which order, with which input.

use crate::support::*;
use ona_api::{Env, EventName, Redactor, SkipReason};
use ona_hookplane::{Firing, HookEngine, HookList, contract};
use serde_json::json;
use std::sync::Arc;

#[tokio::test]
async fn hooks_of_an_event_run_in_the_order_of_the_list() {
    let table = Arc::new(Table::default());
    let hooks = [pre("b"), hook(EventName::PostToolUse, "other"), pre("a"), pre("c")];
    let outcome = engine(hooks, &table).fire(bash("ls")).await;
    assert_eq!(table.commands(), ["b", "a", "c"]);
    assert_eq!(rows(&outcome), [(0, Some(0), None), (2, Some(0), None), (3, Some(0), None)]);
}

#[tokio::test]
async fn a_hook_that_does_not_apply_neither_runs_nor_leaves_a_row() {
    let mut elsewhere = pre("elsewhere");
    elsewhere.applies = Arc::new(|firing, _| firing.tool() == Some("Read"));
    let outcome = fire([elsewhere, pre("here")], Table::default(), bash("ls")).await;
    assert_eq!(rows(&outcome), [(1, Some(0), None)]);
}

#[tokio::test]
async fn each_hook_reads_the_input_as_the_one_before_left_it() {
    let table = Arc::new(
        Table::default()
            .says("first", json!({"input": {"command": "ls -l"}}))
            .says("second", json!({"input": {"timeout": 5}})),
    );
    let outcome = engine([pre("first"), pre("second"), pre("third")], &table).fire(bash("ls")).await;
    assert_eq!(table.stdin(0)["tool_input"], json!({"command": "ls"}));
    assert_eq!(table.stdin(1)["tool_input"], json!({"command": "ls -l"}));
    assert_eq!(table.stdin(2)["tool_input"], json!({"command": "ls -l", "timeout": 5}));
    assert_eq!(outcome.input, Some(json!({"command": "ls -l", "timeout": 5})));
}

#[tokio::test]
async fn whether_a_hook_applies_is_decided_on_the_input_as_it_is_now() {
    let mut guard = pre("guard");
    guard.applies = Arc::new(|_, input| input["command"] == "rm x");
    let table = Table::default().says("rewrite", json!({"input": {"command": "rm x"}}));
    let outcome = fire([guard.clone(), pre("rewrite"), guard], table, bash("ls")).await;
    assert_eq!(rows(&outcome), [(1, Some(0), None), (2, Some(0), None)]);
}

#[tokio::test]
async fn after_a_deny_or_a_block_the_hooks_of_a_call_are_skipped_with_a_row() {
    for table in [
        Table::default().says("guard", json!({"ruling": "deny"})),
        Table::default().with("guard", exited(2, "", "no")),
        Table::default().says("guard", json!({"block": "no"})),
    ] {
        let outcome = fire_pre(&["guard", "later"], table).await;
        let skipped = Some("prior_block_or_deny");
        assert_eq!(rows(&outcome).last(), Some(&(1, None, skipped)));
        assert!(outcome.runs[1].completed_at.is_none() && outcome.runs[1].stdout.is_none());
    }
}

#[tokio::test]
async fn ask_allow_and_stop_skip_nothing() {
    for said in [json!({"ruling": "ask"}), json!({"ruling": "allow"}), json!({"stop": "enough"})] {
        let outcome = fire_pre(&["first", "later"], Table::default().says("first", said)).await;
        assert_eq!(rows(&outcome).last(), Some(&(1, Some(0), None)));
    }
}

#[tokio::test]
async fn only_before_a_tool_does_a_block_skip_the_rest() {
    for event in EventName::ALL {
        let table = Table::default().with("guard", exited(2, "", "no"));
        let outcome = fire([hook(*event, "guard"), hook(*event, "later")], table, call(*event, "ls")).await;
        let skips = outcome.runs[1].skipped.is_some();
        assert_eq!(skips, *event == EventName::PreToolUse, "{event}");
        assert_eq!(skips, contract::of(*event).skips_rest);
    }
}

#[tokio::test]
async fn a_duplicate_runs_once_in_a_firing_and_leaves_no_row() {
    let twin = |name| hook_of(Plain { name, deduplicates: true, ..Plain::default() }, EventName::PreToolUse, "same");
    let hooks = [twin("one"), pre("between"), twin("one")];
    assert_eq!(rows(&fire(hooks, Table::default(), bash("ls")).await), [(0, Some(0), None), (1, Some(0), None)]);
}

#[tokio::test]
async fn fire_to_reaches_the_hooks_it_names() {
    let other = Plain { name: "other", ..Plain::default() };
    let table = Arc::new(Table::default());
    let engine = engine([pre("a"), hook_of(other, EventName::PreToolUse, "b")], &table);
    let outcome = engine.fire_to(bash("ls"), |hook| hook.dialect.name() == "other").await;
    assert_eq!((rows(&outcome), table.commands()), (vec![(1, Some(0), None)], vec!["b".to_owned()]));
}

#[tokio::test]
async fn a_disabled_hook_leaves_a_row_with_its_reason() {
    let mut untrusted = pre("a");
    untrusted.disabled = Some(SkipReason::UntrustedWorkspace);
    let outcome = fire([untrusted, pre("b")], Table::default(), bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, None, Some("untrusted_workspace")), (1, Some(0), None)]);
}

#[tokio::test]
async fn one_variable_disables_all_hooks() {
    for (value, disabled) in [("1", true), ("true", false), ("", false)] {
        let table = Arc::new(Table::default());
        let environment = environment(Env::default().with("SDLC_DISABLE_ALL_HOOKS", value));
        let engine =
            HookEngine::new(HookList::new([pre("a")]), environment, Arc::clone(&table) as _, Redactor::default());
        let skipped = engine.fire(bash("ls")).await.runs[0].skipped;
        assert_eq!(skipped == Some(SkipReason::AllHooksDisabled), disabled, "{value:?}");
        assert_eq!(table.commands().is_empty(), disabled, "{value:?}");
    }
}

#[tokio::test]
async fn a_hook_that_runs_once_runs_once_in_each_session() {
    let mut once = pre("once");
    once.once = Some("k".into());
    let table = Arc::new(Table::default());
    let engine = engine([once], &table);
    let in_session = |session: &str| {
        let mut firing = bash("ls");
        firing.base.session = session.into();
        firing
    };
    assert_eq!(engine.fire(in_session("s1")).await.spent, ["hook_spent:s1:k"]);
    let again = engine.fire(in_session("s1")).await;
    assert!(again.runs.is_empty() && again.spent.is_empty());
    assert_eq!(engine.fire(in_session("s2")).await.spent, ["hook_spent:s2:k"]);
    engine.mark_used("hook_spent:s3:k".into());
    assert!(engine.fire(in_session("s3")).await.runs.is_empty(), "an earlier process ran it");
}

#[tokio::test]
async fn a_skipped_hook_keeps_its_only_run() {
    let mut once = pre("once");
    once.once = Some("k".into());
    let table = Table::default().says("guard", json!({"ruling": "deny"}));
    let mut guard = pre("guard");
    guard.applies = Arc::new(|_, input| input["command"] == "rm x");
    let engine = engine([guard, once], &Arc::new(table));
    assert!(engine.fire(bash("rm x")).await.spent.is_empty());
    assert_eq!(engine.fire(bash("ls")).await.spent, ["hook_spent:s1:k"]);
}

#[tokio::test]
async fn a_detached_hook_runs_in_its_place_and_decides_nothing() {
    let mut detached = pre("detached");
    detached.detached = true;
    let table = Arc::new(Table::default().with("detached", exited(2, "{\"ruling\":\"deny\"}", "no")));
    let engine = engine([detached, pre("later")], &table);
    let first = engine.fire(bash("ls")).await;
    assert_eq!(rows(&first), [(0, Some(2), None), (1, Some(0), None)]);
    assert!(!first.is_denied() && first.ruling.is_none());
    assert_eq!(
        incidents(&first),
        [("hook_async_rejected", "configured as asynchronous: it ran in its place and its result has no effect")]
    );
    assert!(engine.fire(bash("ls")).await.notes.is_empty(), "noted once");
}

#[tokio::test]
async fn a_firing_keeps_the_list_it_began_with() {
    let table = Arc::new(Table::default());
    let engine = Arc::new(engine([pre("a"), pre("b")], &table));
    let changed = Arc::clone(&engine);
    *table.meanwhile.lock().unwrap() = Some(Box::new(move || changed.set_list(HookList::new([pre("new")]))));
    engine.fire(bash("ls")).await;
    assert_eq!(table.commands(), ["a", "b"]);
    engine.fire(bash("ls")).await;
    assert_eq!(table.commands(), ["a", "b", "new"]);
}

#[tokio::test]
async fn a_hook_reads_the_fields_of_its_event_behind_those_of_every_event() {
    let table = Arc::new(Table::default());
    let mut firing = bash("ls");
    firing.base.agent_id = Some("a1".into());
    firing.base.agent_type = Some("explore".into());
    engine([pre("a")], &table).fire(firing).await;
    assert_eq!(
        table.stdin(0).to_string(),
        json!({
            "hook_event_name": "PreToolUse", "session_id": "s1", "conversation_id": "c1",
            "runtime_db_path": "/db/ona.db", "cwd": "/", "permission_mode": "default", "agent_id": "a1",
            "agent_type": "explore", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1",
        })
        .to_string()
    );
}

#[tokio::test]
async fn a_transcript_path_reaches_the_dialects_that_know_one() {
    let knows = Plain { transcripts: true, ..Plain::default() };
    let table = Arc::new(Table::default());
    let engine = engine([hook_of(knows, EventName::PreToolUse, "a"), pre("b")], &table)
        .with_transcript(Some(Arc::new(|base| Some(format!("/t/{}.jsonl", base.session)))));
    engine.fire(bash("ls")).await;
    assert_eq!(table.stdin(0)["transcript_path"], "/t/s1.jsonl");
    assert!(table.stdin(1).get("transcript_path").is_none());
}

#[tokio::test]
async fn secrets_are_taken_out_of_what_a_hook_reads_and_of_its_row() {
    let table = Arc::new(Table::default());
    let redactor = Redactor::new([("TOKEN", "correct-horse-battery")]);
    let engine =
        HookEngine::new(HookList::new([pre("a")]), environment(Env::default()), Arc::clone(&table) as _, redactor);
    let outcome = engine.fire(bash("echo correct-horse-battery")).await;
    assert!(!table.stdin(0).to_string().contains("correct-horse"));
    assert!(!outcome.runs[0].input_json.contains("correct-horse"));
}

#[tokio::test]
async fn the_row_of_a_run_names_call_tool_matcher_and_command() {
    let mut named = pre("guard --strict");
    named.matcher = "Bash|Edit".into();
    let outcome = fire([named], Table::default().with("guard --strict", exited(0, "out", "err")), bash("ls")).await;
    let run = &outcome.runs[0];
    assert_eq!((run.call.as_ref().unwrap().as_str(), run.tool.as_deref()), ("t1", Some("Bash")));
    assert_eq!((run.matcher.as_str(), run.command.as_str()), ("Bash|Edit", "guard --strict"));
    assert_eq!((run.stdout.as_deref(), run.stderr.as_deref()), (Some("out"), Some("err")));
    assert_eq!(run.started_at, "2026-01-01T00:00:00.000Z");
    assert!(run.completed_at.is_some());
}

#[tokio::test]
async fn an_event_nobody_listens_to_is_known_beforehand() {
    let engine = engine([pre("a")], &Arc::new(Table::default()));
    assert!(engine.listens_to(EventName::PreToolUse) && !engine.listens_to(EventName::Stop));
    let outcome = engine.fire(firing(EventName::Stop, json!({}))).await;
    assert_eq!(outcome, ona_hookplane::HookOutcome::default());
}

#[test]
fn the_input_as_written_counts_until_a_hook_changes_it() {
    let input = json!({"file_path": "/p/a"});
    let written = json!({"file_path": "a"});
    let firing: Firing =
        firing(EventName::PreToolUse, json!({"tool_name": "Read", "tool_input": input})).written(&written);
    assert_eq!(firing.as_written(&input), &written);
    let changed = json!({"file_path": "/p/b"});
    assert_eq!(firing.as_written(&changed), &changed);
}
