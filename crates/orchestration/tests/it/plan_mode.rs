//! EnterPlanMode and ExitPlanMode on the path of a call.

use crate::scene::*;
use ona_api::{Mode, Phase};
use ona_orchestration::PlanModeTools;
use ona_permissions::PermissionEngine;
use serde_json::json;
use std::sync::Arc;

const PLAN: &str = "# Shout\n\n## Success criteria\n- shout.sh prints HELLO\n";

fn planning(setting: Setting) -> Scene {
    let mut scene = setting.open();
    let tools = PlanModeTools::of(&scene.session, &scene.store, Arc::new(|_| None));
    tools.equip(&mut scene.tools);
    scene
}

fn phase(scene: &Scene) -> String {
    scene.sql("SELECT phase FROM conversations").remove(0)
}

fn mode(scene: &Scene) -> Mode {
    scene.session.with_rules(PermissionEngine::mode)
}

#[tokio::test]
async fn a_plan_the_person_approves_is_carried_out_in_the_mode_of_before() {
    let mut scene = planning(setting().permissions(json!({"allow": ["EnterPlanMode"], "defaultMode": "acceptEdits"})));
    assert!(!scene.call("EnterPlanMode", json!({})).await.denied);
    assert_eq!((phase(&scene).as_str(), mode(&scene)), ("planning", Mode::Plan));
    assert!(scene.write("early").await.denied);
    let mut scene = scene.answers([yes()]);
    let finished = scene.call("ExitPlanMode", json!({"plan": PLAN})).await;
    assert!(!finished.result.is_error() && finished.result.content.contains("prints HELLO"), "{finished:?}");
    assert!(scene.asked()[0].message.contains("Plan 1 waits for"), "{}", scene.asked()[0].message);
    assert_eq!(scene.sql("SELECT status FROM plans"), ["approved"]);
    assert!(!scene.write("late").await.denied);
    assert_eq!((phase(&scene).as_str(), mode(&scene)), ("implement", Mode::AcceptEdits));
}

#[tokio::test]
async fn a_plan_the_person_refuses_stays_a_draft_and_planning_goes_on() {
    let mut scene = planning(setting()).in_phase(Phase::Planning).answers([no("name the files")]);
    let finished = scene.call("ExitPlanMode", json!({"plan": PLAN})).await;
    assert_eq!(finished.result.content, "name the files");
    assert_eq!((scene.sql("SELECT status FROM plans"), phase(&scene).as_str()), (vec!["draft".to_owned()], "planning"));
}

#[tokio::test]
async fn no_allow_of_a_hook_approves_a_plan() {
    let mut scene = planning(setting().rules_with("allow", "")).in_phase(Phase::Planning).answers([no("no")]);
    scene.call("ExitPlanMode", json!({"plan": PLAN})).await;
    assert_eq!((scene.asked().len(), phase(&scene).as_str()), (1, "planning"));
}

#[tokio::test]
async fn entering_twice_changes_nothing() {
    let mut scene = planning(setting().permissions(json!({"allow": ["EnterPlanMode"]})));
    scene.call("EnterPlanMode", json!({})).await;
    let before = scene.events();
    assert!(!scene.call("EnterPlanMode", json!({})).await.result.is_error());
    assert_eq!(phase(&scene), "planning");
    assert_eq!(scene.events()[before.len()..], ["tool_started"]);
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_named_and_saves_no_plan() {
    let mut scene = planning(setting()).in_phase(Phase::Planning);
    for (tool, input, words) in [
        ("EnterPlanMode", json!({"plan": "x"}), "unknown field `plan`"),
        ("ExitPlanMode", json!({"allowedPrompts": []}), "unknown field `allowedPrompts`"),
        ("ExitPlanMode", json!({"plan": 3}), "`plan`"),
        ("ExitPlanMode", json!({}), "No plan to submit"),
        ("ExitPlanMode", json!({"plan": " \n"}), "No plan to submit"),
    ] {
        let result = scene.call(tool, input).await.result;
        assert!(result.is_error() && result.content.contains(words), "{}", result.content);
    }
    assert!(scene.sql("SELECT status FROM plans").is_empty());
}

#[tokio::test]
async fn a_plan_is_submitted_from_planning_only() {
    let mut scene = planning(setting());
    let finished = scene.call("ExitPlanMode", json!({"plan": PLAN})).await;
    assert!(finished.result.content.starts_with("The phase is idle"), "{}", finished.result.content);
    assert!(scene.asked().is_empty());
}
