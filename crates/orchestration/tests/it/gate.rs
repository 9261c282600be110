//! The planning gate, which stands before rules and behind hooks.

use crate::scene::*;
use ona_api::{Group, Phase, PlanStatus, Row, Ruling};
use ona_settings::Planning;
use serde_json::json;

#[tokio::test]
async fn while_planning_without_an_approved_plan_nothing_is_changed() {
    let mut scene = setting()
        .permissions(json!({"defaultMode": "bypassPermissions"}))
        .hook("PermissionDenied", "touch told")
        .open()
        .in_phase(Phase::Planning);
    for finished in [scene.bash("touch out").await, scene.write("out").await] {
        assert_eq!(finished.result.content, "Denied: phase is planning and no approved plan exists");
        assert!(finished.denied);
    }
    assert!(!scene.exists("out") && !scene.ran() && scene.exists("told"));
    assert_eq!(scene.decisions(), ["deny planning_gate", "deny planning_gate"]);
}

#[tokio::test]
async fn neither_a_hook_nor_a_rule_nor_a_person_opens_the_gate() {
    let mut scene = setting()
        .permissions(json!({"allow": ["Bash"]}))
        .rules_with("allow", "")
        .open()
        .in_phase(Phase::Planning)
        .answers([yes()]);
    assert!(scene.bash("touch out").await.denied);
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn reading_goes_on_while_planning() {
    let mut scene = setting().permissions(json!({"allow": ["Read(./**)"]})).open().in_phase(Phase::Planning);
    scene.file("a.txt", "text");
    assert!(!scene.call("Read", json!({"file_path": scene.path("a.txt")})).await.denied);
}

#[tokio::test]
async fn an_approved_plan_opens_the_gate() {
    let mut scene = setting().permissions(json!({"allow": ["Bash"]})).open().in_phase(Phase::Planning);
    assert!(scene.bash("touch out").await.denied);
    let key = scene.session.place.clone();
    let plan = scene.store.commit_now(&key, Group(vec![Row::PlanDraft { content: "p".into(), file_path: None }]));
    let id = plan.unwrap().plans[0];
    let approve = Row::PlanStatus { id, from: PlanStatus::Draft, to: PlanStatus::Approved };
    scene.store.commit_now(&key, Group(vec![approve])).unwrap();
    assert!(!scene.bash("touch out").await.denied, "the phase and the plan are read for each call");
    assert!(scene.exists("out"));
}

#[tokio::test]
async fn hooks_run_before_the_gate() {
    let mut scene = setting().rules_with("deny", "first").open().in_phase(Phase::Planning);
    assert_eq!(scene.bash("ls").await.result.content, "Denied by PreToolUse hook\nfirst");
}

#[tokio::test]
async fn what_tools_of_servers_meet_while_planning_is_a_setting() {
    for (mcp, phase, asked, denied) in [
        (Some(Ruling::Ask), Phase::Planning, 1, true),
        (Some(Ruling::Deny), Phase::Planning, 0, true),
        (None, Phase::Planning, 0, false),
        (Some(Ruling::Deny), Phase::Implement, 0, false),
    ] {
        let mut scene = setting().permissions(json!({"allow": ["mcp__db__sql"]})).open().in_phase(phase);
        let rules = scene.session.with_rules(Clone::clone);
        let planning = Planning { mcp, ..Planning::default() };
        *scene.session.rules.write().unwrap() = rules.with_planning(planning);
        let finished = scene.call("mcp__db__sql", json!({"sql": "SELECT 1"})).await;
        assert_eq!((scene.asked().len(), finished.denied), (asked, denied), "{mcp:?} {phase}");
    }
}
