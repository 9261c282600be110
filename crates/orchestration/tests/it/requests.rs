//! PermissionRequest hooks, which answer before the person.

use crate::scene::*;
use ona_api::Mode;
use serde_json::{Value, json};

fn decides(decision: Value) -> Setting {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    setting().hook("PermissionRequest", print(answer))
}

#[tokio::test]
async fn an_allow_answers_the_question() {
    let mut scene = decides(json!({"behavior": "allow"})).open();
    assert!(!scene.bash("touch out").await.denied);
    assert!(scene.exists("out") && scene.asked().is_empty());
    assert_eq!(scene.decisions(), ["allow hook"]);
}

#[tokio::test]
async fn a_deny_answers_the_question_with_its_message() {
    let mut scene = decides(json!({"behavior": "deny", "message": "never on Mondays"})).open();
    let finished = scene.bash("touch out").await;
    assert_eq!(finished.result.content, "Denied by PermissionRequest hook\nnever on Mondays");
    assert!(finished.denied && finished.stop.is_none() && scene.asked().is_empty());
    assert_eq!(scene.decisions(), ["deny hook"]);
}

#[tokio::test]
async fn a_deny_may_stop_the_turn() {
    let mut scene = decides(json!({"behavior": "deny", "message": "stop", "interrupt": true})).open();
    assert_eq!(scene.bash("ls").await.stop.as_deref(), Some("stop"));
}

#[tokio::test]
async fn exit_two_denies() {
    let mut scene = setting().hook("PermissionRequest", "echo no >&2; exit 2").open();
    assert_eq!(scene.bash("ls").await.result.content, "Denied by PermissionRequest hook\nno");
}

#[tokio::test]
async fn without_a_decision_the_person_is_asked() {
    let mut scene = setting().hook("PermissionRequest", "exit 0").open().answers([yes()]);
    scene.bash("touch out").await;
    assert!(scene.exists("out"));
    assert_eq!(scene.decisions(), ["allow human"]);
}

#[tokio::test]
async fn nobody_is_asked_about_what_is_allowed_or_denied() {
    for permissions in [json!({"allow": ["Bash"]}), json!({"deny": ["Bash"]})] {
        let mut scene = setting().permissions(permissions).hook("PermissionRequest", "exit 0").open();
        scene.bash("true").await;
        assert!(scene.hook_runs().is_empty());
    }
}

#[tokio::test]
async fn the_hooks_read_the_call_and_what_would_answer_it_for_good() {
    let mut scene = setting().hook("PermissionRequest", "exit 0").open();
    scene.bash("npm test").await;
    let read = scene.hook_input("PermissionRequest");
    assert_eq!(read["tool_input"]["command"], "npm test");
    assert_eq!(read["permission_suggestions"][0]["type"], "addRules");
    assert!(read.get("tool_use_id").is_none(), "the event has no such field");
    assert_eq!(scene.sql("SELECT count(tool_use_id) FROM hook_invocations"), ["1"], "its row has");
}

#[tokio::test]
async fn an_allow_with_another_input_runs_that() {
    let mut scene = decides(json!({"behavior": "allow", "updatedInput": {"command": "echo new"}})).open();
    let finished = scene.bash("echo old").await;
    assert_eq!(finished.result.content.trim(), "new");
    let row = scene.newest("internal_hook");
    assert_eq!(
        (&row["hook_event"], &row["effective_input"]["command"]),
        (&json!("PermissionRequest"), &json!("echo new"))
    );
}

#[tokio::test]
async fn another_input_is_judged_before_it_runs() {
    let rewrite = || decides(json!({"behavior": "allow", "updatedInput": {"command": "rm x"}}));
    let mut scene = rewrite().permissions(json!({"deny": ["Bash(rm:*)"]})).open();
    assert!(scene.bash("ls -l").await.denied);
    assert_eq!(scene.decisions(), ["deny rule"]);
    let mut scene = rewrite().permissions(json!({"ask": ["Bash(rm:*)"]})).open().answers([no("no")]);
    assert!(scene.bash("npm test").await.denied);
    assert_eq!(scene.asked().len(), 1, "a rule of its own asks about the new input");
}

#[tokio::test]
async fn another_input_that_does_not_fit_does_not_run() {
    let mut scene = decides(json!({"behavior": "allow", "updatedInput": {"command": 7}})).open();
    let finished = scene.bash("ls").await;
    assert!(finished.result.content.starts_with("A hook changed the input: "), "{}", finished.result.content);
    assert!(!scene.ran());
}

#[tokio::test]
async fn rules_that_come_with_an_allow_hold_from_then_on() {
    let rule = json!({
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow",
        "destination": "session",
    });
    let mut scene = decides(json!({"behavior": "allow", "updatedPermissions": [rule]})).open();
    scene.bash("touch a").await;
    scene.bash("touch b").await;
    assert!(scene.exists("a") && scene.exists("b"));
    assert_eq!(scene.hook_runs().len(), 1, "the second call is not in question");
}

#[tokio::test]
async fn an_allow_does_not_answer_what_only_a_person_may() {
    let mut scene =
        decides(json!({"behavior": "allow"})).permissions(json!({"defaultMode": "bypassPermissions"})).open();
    let finished = scene.bash("rm -rf ~").await;
    assert!(finished.denied && !scene.ran());
    assert_eq!(scene.asked().len(), 1);
    let message = &scene.asked()[0].message;
    assert!(message.ends_with("The allow of PermissionRequest hook 0 does not answer this."), "{message}");
}

#[tokio::test]
async fn what_comes_with_such_an_allow_does_not_count_either() {
    let mode = json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"});
    for input in [json!(null), json!({"command": "rm -rf ~/."})] {
        let mut decision = json!({"behavior": "allow", "updatedPermissions": [mode]});
        if input.is_object() {
            decision["updatedInput"] = input.clone();
        }
        let mut scene = decides(decision).open();
        assert!(scene.bash("rm -rf ~").await.denied && !scene.ran());
        assert_eq!(
            (scene.asked().len(), scene.session.with_rules(|rules| rules.mode())),
            (1, Mode::Default),
            "{input}"
        );
    }
}
