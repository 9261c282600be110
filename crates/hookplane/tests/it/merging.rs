//! What several hooks say, folded into one outcome (section 5.6).

use crate::support::*;
use ona_api::{EventKind, EventName, Ordinal, Row, Ruling};
use ona_hookplane::{HookOutcome, Injection, RequestDecision};
use serde_json::{Map, Value, json};

fn specific(fields: Value) -> Map<String, Value> {
    fields.as_object().unwrap().clone()
}

#[tokio::test]
async fn the_strictest_ruling_wins_in_any_order() {
    let cases = [
        (["allow", "ask"], Ruling::Ask, 1),
        (["ask", "allow"], Ruling::Ask, 0),
        (["allow", "deny"], Ruling::Deny, 1),
        (["ask", "deny"], Ruling::Deny, 1),
        (["allow", "allow"], Ruling::Allow, 0),
    ];
    for (said, ruling, by) in cases {
        let table = Table::default()
            .says("0", json!({"ruling": said[0], "reason": "zero"}))
            .says("1", json!({"ruling": said[1], "reason": "one"}));
        let reason = ["zero", "one"][by as usize].to_owned();
        assert_eq!(fire_pre(&["0", "1"], table).await.ruling, Some((ruling, Ordinal(by), reason)), "{said:?}");
    }
}

#[tokio::test]
async fn the_reason_of_the_first_hook_with_the_ruling_is_the_message() {
    let table = Table::default()
        .says("a", json!({"ruling": "ask", "reason": "first"}))
        .says("b", json!({"ruling": "ask", "reason": "second"}));
    let outcome = fire_pre(&["a", "b"], table).await;
    assert_eq!((outcome.message().as_str(), outcome.is_denied()), ("first", false));
}

#[tokio::test]
async fn blocks_are_joined_with_the_ordinals_of_their_hooks() {
    let table = Table::default().with("a", exited(2, "", "not like\nthis\n")).says("b", json!({"block": "nor that"}));
    let hooks = ["a", "b"].map(|command| hook(EventName::UserPromptSubmit, command));
    let outcome = fire(hooks, table, firing(EventName::UserPromptSubmit, json!({"prompt": "p"}))).await;
    assert!(outcome.is_denied());
    assert_eq!(outcome.message(), "[0] not like\nthis\n[1] nor that");
}

#[tokio::test]
async fn a_block_outweighs_the_reason_of_a_ruling() {
    let table = Table::default().with("a", exited(2, r#"{"ruling":"allow","reason":"fine"}"#, "no"));
    let outcome = fire_pre(&["a"], table).await;
    assert!(outcome.is_denied());
    assert_eq!(outcome.message(), "[0] no");
}

#[tokio::test]
async fn context_keeps_its_order_hook_and_dialect() {
    let table = Table::default().says("a", json!({"context": "A"})).says("b", json!({"context": "B"}));
    let other = Plain { name: "other", ..Plain::default() };
    let hooks = [pre("a"), hook_of(other, EventName::PreToolUse, "b")];
    let outcome = fire(hooks, table, bash("ls")).await;
    let given: Vec<_> =
        outcome.context.iter().map(|one| (one.ordinal.0, one.dialect, one.context.text.as_str())).collect();
    assert_eq!(given, [(0, "plain", "A"), (1, "other", "B")]);
}

#[tokio::test]
async fn the_last_result_counts_and_every_injection() {
    let table = Table::default()
        .says("a", json!({"result": "one", "inject": "x"}))
        .says("b", json!({"result": "two", "inject": "y"}));
    let hooks = ["a", "b"].map(|command| hook(EventName::PostToolUse, command));
    let outcome = fire(hooks, table, call(EventName::PostToolUse, "ls")).await;
    let (ordinal, change) = outcome.result.unwrap();
    assert_eq!((ordinal.0, change.content.as_deref()), (1, Some("two")));
    let expected = [(Ordinal(0), Injection::ToolResult("x".into())), (Ordinal(1), Injection::ToolResult("y".into()))];
    assert_eq!(outcome.injected, expected);
}

#[tokio::test]
async fn the_first_stop_counts_and_every_message() {
    let table = Table::default()
        .says("a", json!({"message": "look"}))
        .says("b", json!({"stop": "first", "message": "here"}))
        .says("c", json!({"stop": "second"}));
    let outcome = fire_pre(&["a", "b", "c"], table).await;
    assert_eq!(outcome.stop, Some((Ordinal(1), "first".into())));
    assert_eq!(outcome.messages, [(Ordinal(0), "look".into()), (Ordinal(1), "here".into())]);
    assert!(!outcome.is_denied(), "a stop is the turn's matter");
}

#[tokio::test]
async fn a_handler_may_end_the_turn_beside_what_it_says() {
    let mut ends = exited(2, "", "no");
    ends.ends_turn = Some("over".into());
    let outcome = fire_pre(&["a"], Table::default().with("a", ends)).await;
    assert_eq!((outcome.message().as_str(), outcome.stop), ("[0] no", Some((Ordinal(0), "over".into()))));
}

#[tokio::test]
async fn what_exit_code_two_does_depends_on_the_event() {
    let mut tells_operator = Vec::new();
    for event in EventName::ALL {
        let table = Table::default().with("a", exited(2, "", "no"));
        let outcome = fire([hook(*event, "a")], table, call(*event, "ls")).await;
        assert_eq!(outcome.runs[0].exit_code, Some(2));
        if outcome.is_denied() {
            assert_eq!((outcome.blocks, outcome.messages.len()), (vec![(Ordinal(0), "no".into())], 0), "{event}");
        } else {
            assert_eq!(outcome.messages, [(Ordinal(0), "no".into())], "{event}");
            tells_operator.push(event.as_str());
        }
    }
    tells_operator.sort_unstable();
    assert_eq!(
        tells_operator,
        [
            "CwdChanged",
            "FileChanged",
            "InstructionsLoaded",
            "Notification",
            "PermissionDenied",
            "PostCompact",
            "SessionEnd",
            "SessionStart",
            "Setup",
            "StopFailure",
            "SubagentStart",
            "WorktreeRemove",
        ]
    );
}

#[tokio::test]
async fn a_failure_fails_the_creation_of_a_worktree_and_nothing_else() {
    for event in EventName::ALL {
        for result in [exited(1, "", ""), exited(0, "garbage", "")] {
            let outcome = fire([hook(*event, "a")], Table::default().with("a", result), call(*event, "ls")).await;
            assert_eq!(outcome.failed, *event == EventName::WorktreeCreate, "{event}");
        }
    }
}

fn requests(answers: &[(u32, Value)]) -> HookOutcome {
    HookOutcome {
        specific: answers
            .iter()
            .map(|(ordinal, decision)| (Ordinal(*ordinal), specific(json!({ "decision": decision }))))
            .collect(),
        ..HookOutcome::default()
    }
}

#[test]
fn a_deny_of_a_permission_request_outweighs_every_allow() {
    let allow = json!({"behavior": "allow"});
    let deny = json!({"behavior": "deny", "message": "no", "interrupt": true});
    let denied = RequestDecision::Deny { message: "no".into(), interrupt: true };
    for answers in [[(0, allow.clone()), (1, deny.clone())], [(0, deny.clone()), (1, allow.clone())]] {
        let by = answers.iter().find(|(_, answer)| *answer == deny).unwrap().0;
        assert_eq!(requests(&answers).permission_request(), Some((Ordinal(by), denied.clone())));
    }
    let mut blocked = requests(&[(0, allow)]);
    blocked.blocks = vec![(Ordinal(3), "exit two".into())];
    let denied = RequestDecision::Deny { message: "exit two".into(), interrupt: false };
    assert_eq!(blocked.permission_request(), Some((Ordinal(3), denied)));
}

#[test]
fn an_allow_of_a_permission_request_brings_input_and_rules() {
    let update = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let allow = json!({"behavior": "allow", "updatedInput": {"command": "ls"}, "updatedPermissions": [update]});
    let (ordinal, decision) = requests(&[(2, allow)]).permission_request().unwrap();
    let RequestDecision::Allow { input, updates } = decision else { panic!("{decision:?}") };
    assert_eq!((ordinal, input.unwrap()["command"].as_str(), updates.len()), (Ordinal(2), Some("ls"), 1));
}

#[test]
fn an_answer_without_a_decision_answers_no_request() {
    assert_eq!(requests(&[(0, json!({"behavior": "maybe"})), (1, json!("allow"))]).permission_request(), None);
    assert_eq!(HookOutcome::default().permission_request(), None);
}

#[tokio::test]
async fn rows_of_a_chain_are_runs_then_incidents_then_keys() {
    let mut once = pre("fails");
    once.once = Some("k".into());
    let outcome = fire([once, pre("b")], Table::default().with("fails", exited(3, "", "")), bash("ls")).await;
    let kinds: Vec<_> = outcome
        .rows()
        .0
        .iter()
        .map(|row| match row {
            Row::Hook(run) => format!("run {}", run.ordinal),
            Row::Event(event) => format!("{} {}", event.kind().as_str(), event.detail()),
            Row::State { key, value } => format!("{key}={value}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        kinds,
        [
            "run 0",
            "run 1",
            "hook_error {\"hook_event\":\"PreToolUse\",\"hook_ordinal\":0,\"command\":\"fails\",\
             \"why\":\"[SDLC] hook failed with exit code 3\"}",
            "hook_spent:s1:k=1",
        ]
    );
}

#[tokio::test]
async fn the_log_of_a_dialect_is_an_event_with_a_level() {
    for (warnings, level) in [(vec![], "info"), (vec!["odd".to_owned()], "warn")] {
        let dialect = Plain { log: Some(warnings.clone()), ..Plain::default() };
        let outcome = fire([hook_of(dialect, EventName::PreToolUse, "a")], Table::default(), bash("ls")).await;
        let Some(Row::Event(event)) = outcome.rows().0.pop() else { panic!("no event") };
        let (kind, detail) = (event.kind(), event.detail());
        assert_eq!(kind, EventKind::HookExec);
        assert_eq!(detail, json!({"level": level, "warnings": warnings, "hook_ordinal": 0, "dialect": "plain"}));
    }
}
