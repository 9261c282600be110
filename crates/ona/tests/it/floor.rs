//! What the floor asks is answered by a person only, and what it refuses by nobody (DEC-183).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

fn hook(event: &str, fields: Value) -> Value {
    let mut specific = json!({"hookEventName": event});
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let answer = json!({"hookSpecificOutput": specific});
    json!({"hook_event_name": event, "command": format!("printf '%s' '{answer}'"), "shell": "sh"})
}

fn request(decision: Value) -> Value {
    hook("PermissionRequest", json!({ "decision": decision }))
}

/// Everything that says yes without being a person.
fn yes_men(mode: &str, ask: Value) -> Value {
    json!({
        "permissions": {"allow": ["Bash", "Write", "Edit"], "ask": ask, "defaultMode": mode},
        "hooks": [
            hook("PreToolUse", json!({"permissionDecision": "allow"})),
            request(json!({"behavior": "allow", "updatedPermissions":
                [{"type": "addRules", "rules": [{"toolName": "Glob"}], "behavior": "allow", "destination": "session"}]})),
        ],
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    })
}

fn decisions(ona: &Ona) -> Vec<Vec<Value>> {
    ona.rows(
        "SELECT decision, json_extract(reason_json,'$.source'), json_extract(reason_json,'$.message')
         FROM tool_permission_log ORDER BY id",
    )
}

const HOOK: &str = ".git/hooks/pre-commit";

fn write_hook() -> Value {
    json!({"file_path": HOOK, "content": "#!/bin/sh\ncurl evil\n"})
}

fn remove_home() -> Value {
    json!({"command": "rm -rf ~"})
}

#[test]
fn no_hook_and_no_rule_answers_the_floor() {
    for (mode, ask, tool, input, runs) in [
        ("default", json!([]), "Write", write_hook(), false),
        ("acceptEdits", json!([]), "Write", write_hook(), false),
        ("default", json!([]), "Bash", json!({"command": format!("echo x > {HOOK}")}), false),
        ("default", json!([]), "Bash", remove_home(), false),
        ("bypassPermissions", json!([]), "Bash", remove_home(), false),
        // The question of a rule would be a hook's to answer.
        ("default", json!(["Write", "Bash"]), "Write", write_hook(), false),
        ("default", json!(["Bash(rm *)"]), "Bash", remove_home(), false),
        ("bypassPermissions", json!(["Bash(rm *)"]), "Bash", remove_home(), false),
        // The floor does not ask about this in bypassPermissions (P-02).
        ("bypassPermissions", json!([]), "Write", write_hook(), true),
    ] {
        let mut ona = ona();
        ona.settings(yes_men(mode, ask.clone()));
        ona.file(".git/HEAD", "ref: refs/heads/main\n");
        let kept = ona.home_file("kept", "x");
        let _model = ona.model(Wire::Messages, [call(tool, input.clone()), say("done")]);
        ona.run(["-p", "go"]).expect_code(0);
        let what = format!("{mode} {ask} {tool} {input}");
        assert_eq!(ona.exists(HOOK), runs, "{what}");
        assert!(kept.exists(), "{what}");
        if !runs {
            let rows = decisions(&ona);
            assert_eq!(rows[0][..2], [json!("deny"), json!("headless")], "{what}");
            let message = rows[0][2].as_str().unwrap();
            assert!(message.contains("only a person can allow this"), "{message}");
            assert!(message.contains("The allow of PermissionRequest hook 1 does not answer this."), "{message}");
        }
    }
}

#[test]
fn a_hook_may_still_refuse_what_the_floor_asks() {
    let ona = ona();
    ona.settings(json!({"hooks": [request(json!({"behavior": "deny", "message": "never"}))]}));
    let line = ona.eval_with("Write", write_hook(), &["--yes"]);
    assert_eq!(line["content"], "Denied by PermissionRequest hook\nnever");
    assert!(!ona.exists(HOOK));
}

#[test]
fn an_allow_that_leads_to_the_floor_or_away_from_it_is_judged_again() {
    let rewriting = |input: Value| json!({"hooks": [request(json!({"behavior": "allow", "updatedInput": input}))]});
    let away = ona();
    away.settings(rewriting(json!({"file_path": "a.txt", "content": "a"})));
    assert_eq!(away.eval("Write", write_hook())["is_error"], false);
    assert!(away.exists("a.txt") && !away.exists(HOOK));
    for from in [json!({"file_path": "a.txt", "content": "a"}), json!({"file_path": HOOK, "content": "b"})] {
        let ona = ona();
        ona.settings(rewriting(write_hook()));
        assert_eq!(ona.eval("Write", from)["is_error"], true);
        assert!(!ona.exists(HOOK));
        assert_eq!(decisions(&ona)[0][..2], [json!("deny"), json!("no_operator")]);
    }
}

#[test]
fn eval_with_yes_and_a_driving_program_are_the_person_and_rows_name_them() {
    let mut ona = ona();
    ona.settings(yes_men("default", json!([])));
    assert_eq!(ona.eval("Write", write_hook())["is_error"], true, "nobody is there");
    assert_eq!(ona.eval_with("Write", write_hook(), &["--yes"])["is_error"], false);
    let rows = decisions(&ona);
    assert_eq!(rows[1][..2], [json!("allow"), json!("eval_operator")]);
    assert!(rows[1][2].as_str().unwrap().contains("takes part in running programs"), "{rows:?}");
    std::fs::remove_file(ona.project().join(HOOK)).unwrap();

    let _model = ona.model(Wire::Messages, [call("Write", write_hook()), say("done")]);
    let mut talk = ona.attended();
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert_eq!(asked["request"]["decision_reason_type"], "safetyCheck");
    assert_eq!(asked["request"]["permission_suggestions"], json!([]), "no rule would help");
    talk.answer(&asked, json!({"behavior": "allow"}));
    talk.until_result();
    talk.finish();
    assert!(ona.exists(HOOK));
    assert_eq!(decisions(&ona)[2][..2], [json!("allow"), json!("human")]);
}

#[test]
fn what_the_floor_refuses_is_refused_to_everybody() {
    let ona = ona();
    ona.settings(yes_men("bypassPermissions", json!([])));
    let database = ona.db().to_string_lossy().into_owned();
    let line = ona.eval_with("Write", json!({"file_path": database, "content": ""}), &["--yes"]);
    assert!(line["content"].as_str().unwrap().starts_with("Denied: "), "{line}");
    assert_eq!(decisions(&ona)[0][..2], [json!("deny"), json!("rule")]);
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE hook_event='PermissionRequest'"), 0);
}
