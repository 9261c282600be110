//! What a PermissionRequest hook may answer, and what of it lasts (DEC-078).

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};

fn answering(decision: Value) -> Value {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}});
    json!({"hook_event_name": "PermissionRequest", "command": format!("printf '%s' '{answer}'"), "shell": "sh"})
}

/// Without the operator's privileges every ask needs an answer.
fn agent(ona: &mut Ona, settings: Value) {
    ona.settings(settings);
    let db = ona.db().to_string_lossy().into_owned();
    ona.env("ONA_AGENT_DB", db);
}

#[test]
fn a_hook_can_answer_in_place_of_a_person() {
    let mut ona = ona();
    agent(
        &mut ona,
        json!({"permissions": {"deny": ["Bash(rm *)"]}, "hooks": [answering(json!({"behavior": "allow"}))]}),
    );
    assert_eq!(ona.eval("Bash", json!({"command": "echo hi"}))["content"], "hi\n");
    assert_eq!(
        ona.rows("SELECT decision, json_extract(reason_json,'$.source') FROM tool_permission_log"),
        [[json!("allow"), json!("hook")]]
    );
    assert_eq!(ona.eval("Bash", json!({"command": "rm x"}))["content"], "Denied by permission rule Bash(rm *)");
}

#[test]
fn a_denial_carries_the_message() {
    let mut ona = ona();
    agent(&mut ona, json!({"hooks": [answering(json!({"behavior": "deny", "message": "not that"}))]}));
    assert_eq!(
        ona.eval("Bash", json!({"command": "touch x"}))["content"],
        "Denied by PermissionRequest hook\nnot that"
    );
    assert!(!ona.exists("x"));
}

#[test]
fn an_allow_that_rewrites_is_judged_again() {
    let mut ona = ona();
    let rewrite = |command: &str| answering(json!({"behavior": "allow", "updatedInput": {"command": command}}));
    agent(&mut ona, json!({"permissions": {"deny": ["Bash(rm *)"]}, "hooks": [rewrite("rm -f a.txt")]}));
    ona.file("a.txt", "a");
    assert_eq!(ona.eval("Bash", json!({"command": "ls"}))["content"], "Denied by permission rule Bash(rm *)");
    assert!(ona.exists("a.txt"));
    ona.settings(json!({"hooks": [rewrite("echo instead")]}));
    assert_eq!(ona.eval("Bash", json!({"command": "ls"}))["content"], "instead\n");
}

#[test]
fn rules_meant_to_last_reach_the_row_and_the_file() {
    let mut ona = ona();
    let update = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "echo *"}], "behavior": "allow", "destination": "localSettings"});
    agent(&mut ona, json!({"hooks": [answering(json!({"behavior": "allow", "updatedPermissions": [update]}))]}));
    ona.eval("Bash", json!({"command": "echo one"}));
    assert_eq!(ona.value("SELECT json_extract(json,'$.permissions.allow[0]') FROM settings_snapshot"), "Bash(echo *)");
    let file: Value = serde_json::from_str(&ona.read(".ona/settings.local.json")).unwrap();
    assert_eq!(file["permissions"]["allow"], json!(["Bash(echo *)"]));
    ona.eval("Bash", json!({"command": "echo two"}));
    assert_eq!(ona.value("SELECT count(*) FROM tool_permission_log"), 1, "the second call needed no answer");
}

#[test]
fn rules_of_the_session_end_with_it() {
    let mut ona = ona();
    let update = json!({"type": "setMode", "mode": "bypassPermissions", "destination": "session"});
    let hook = answering(json!({"behavior": "allow", "updatedPermissions": [update]}));
    agent(
        &mut ona,
        json!({"hooks": [hook, {"hook_event_name": "PreToolUse", "command": "cat >> stdin", "shell": "sh"}]}),
    );
    let calls = json!({"tool": "Bash", "input": {"command": "true"}}).to_string().repeat(2);
    ona.run_with_stdin(["--eval", "-"], calls.as_bytes()).expect_code(0);
    let modes: Vec<_> = ona
        .read("stdin")
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["permission_mode"].clone())
        .collect();
    assert_eq!(modes, ["default", "bypassPermissions"]);
    assert_eq!(ona.value("SELECT json_extract(json,'$.permissions') FROM settings_snapshot"), Value::Null);
}
