//! What a PreToolUse hook decides, alone and among others, and what rules and modes make of it.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

/// A Bash call under these hooks, typed by the operator.
fn bash(ona: &Ona, command: &str, hooks: &[&str]) -> Value {
    install(ona, json!({"PreToolUse": [group("Bash", hooks)]}));
    ona.eval("Bash", json!({ "command": command }))
}

fn content(line: &Value) -> &str {
    line["content"].as_str().unwrap()
}

#[test]
fn c8_allow_ask_and_defer_together_ask() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("done")]);
    let hooks = [decides("allow"), decides("ask"), decides("defer")];
    install(&ona, json!({"PreToolUse": [group("Bash", &hooks.each_ref().map(String::as_str))]}));
    let mut talk = ona.attended();
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert_eq!(asked["request"]["decision_reason_type"], "hook");
    let why = asked["request"]["decision_reason"].as_str().unwrap();
    assert!(why.contains("ask it") && why.contains("[User]"), "the reason and whose hook it is: {why}");
    talk.answer(&asked, json!({"behavior": "allow", "updatedInput": asked["request"]["input"]}));
    talk.until_result();
    assert!(ona.exists("ran"));
}

#[test]
fn c9_a_deny_after_a_rewrite_refuses_and_nothing_runs() {
    let ona = ona();
    let rewrite =
        says("PreToolUse", json!({"permissionDecision": "allow", "updatedInput": {"command": "touch other"}}));
    let denied = bash(&ona, "touch ran", &[&rewrite, &decides("deny")]);
    assert_eq!(content(&denied), "Denied by PreToolUse hook\ndeny it");
    assert!(!ona.exists("ran") && !ona.exists("other"));
}

#[test]
fn c10_hooks_behind_a_deny_are_skipped_and_say_so() {
    let ona = ona();
    bash(&ona, "true", &[&decides("deny"), "touch late"]);
    let rows = ona.rows("SELECT hook_ordinal, exit_code, skipped_reason FROM hook_invocations ORDER BY id");
    assert_eq!(rows, [[json!(0), json!(0), Value::Null], [json!(1), Value::Null, json!("prior_block_or_deny")]]);
    assert!(!ona.exists("late"));
}

#[test]
fn c11_an_allow_does_not_carry_a_rewrite_past_a_deny_rule() {
    let ona = ona();
    let rewrite = says("PreToolUse", json!({"permissionDecision": "allow", "updatedInput": {"command": "rm -f a"}}));
    ona.file("a", "");
    install_with(
        &ona,
        json!({"PreToolUse": [group("Bash", &[&rewrite])]}),
        json!({"permissions": {"deny": ["Bash(rm *)"]}}),
    );
    assert_eq!(content(&ona.eval("Bash", json!({"command": "ls"}))), "Denied by permission rule Bash(rm *)");
    assert!(ona.exists("a"));
}

/// C12 and C13 differ in the hook alone.
fn run_in_default_mode(hook: &str) -> (bool, bool) {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("done")]);
    install(&ona, json!({"PreToolUse": [group("Bash", &[hook])]}));
    let mut talk = ona.attended();
    talk.say("go");
    let line = talk.until(|line| line["type"] == "result" || line["request"]["subtype"] == "can_use_tool");
    let asked = line["type"] != "result";
    if asked {
        talk.answer(&line, json!({"behavior": "deny", "message": "no"}));
        talk.until_result();
    }
    (asked, ona.exists("ran"))
}

#[test]
fn c12_an_allow_runs_without_a_prompt() {
    assert_eq!(run_in_default_mode(&decides("allow")), (false, true));
    assert_eq!(run_in_default_mode(&print(&json!({"decision": "approve"}))), (false, true), "the older word");
}

#[test]
fn c13_without_a_decision_the_mode_asks() {
    assert_eq!(run_in_default_mode("true"), (true, false));
}

#[test]
fn c14_updated_input_keeps_other_keys() {
    let ona = ona();
    let rewrite = says("PreToolUse", json!({"permissionDecision": "allow", "updatedInput": {"command": "echo B"}}));
    install(
        &ona,
        json!({"PreToolUse": [group("Bash", &[&rewrite])], "PostToolUse": [group("Bash", &["cat >> post"])]}),
    );
    let ran = ona.eval("Bash", json!({"command": "echo A", "description": "d", "timeout": 9000}));
    assert_eq!(content(&ran), "B\n");
    assert_eq!(
        dumped(&ona, "post")[0]["tool_input"],
        json!({"command": "echo B", "description": "d", "timeout": 9000})
    );
}

#[test]
fn c15_a_later_hook_reads_what_an_earlier_one_wrote() {
    let ona = ona();
    let rewrite = says("PreToolUse", json!({"permissionDecision": "allow", "updatedInput": {"command": "echo B"}}));
    assert_eq!(content(&bash(&ona, "echo A", &[&rewrite, "cat >> second"])), "B\n");
    assert_eq!(dumped(&ona, "second")[0]["tool_input"]["command"], "echo B");
}

#[test]
fn c16_exit_2_refuses_whatever_stdout_says() {
    let ona = ona();
    let hook = format!("{}; echo no >&2; exit 2", decides("allow"));
    assert_eq!(content(&bash(&ona, "touch ran", &[&hook])), "Denied by PreToolUse hook\n[0] no");
    assert!(!ona.exists("ran"));
}

#[test]
fn c17_an_exit_2_without_stderr_speaks_through_stdout() {
    let plain = ona();
    assert_eq!(content(&bash(&plain, "true", &["echo why; exit 2"])), "Denied by PreToolUse hook\n[0] why");
    for answer in [
        json!({"reason": "because"}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "because"}}),
    ] {
        let ona = ona();
        let hook = format!("{}; exit 2", print(&answer));
        assert_eq!(content(&bash(&ona, "true", &[&hook])), "Denied by PreToolUse hook\n[0] because", "{answer}");
    }
    let on_stderr = ona();
    let hook = format!("{} >&2; exit 2", print(&json!({"reason": "because"})));
    assert_eq!(content(&bash(&on_stderr, "true", &[&hook])), "Denied by PreToolUse hook\n[0] {\"reason\":\"because\"}");
}

#[test]
fn c18_another_exit_code_lets_the_call_run_with_one_notice() {
    let ona = ona();
    install(&ona, json!({"PreToolUse": [group("Bash", &["echo 'guard: no such file' >&2; echo second >&2; exit 1"])]}));
    let ran = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"echo ran"}}"#]).expect_code(0);
    assert_eq!(content(&ran.json()), "ran\n");
    assert_eq!(notices(&ona), ["hook_error"]);
    let why = ona.value("SELECT json_extract(detail,'$.why') FROM events WHERE event_type='hook_error'");
    assert_eq!(why, "[SDLC] hook failed with exit code 1: guard: no such file", "the first line of what it said");
    assert_eq!(
        ran.stderr.matches("exit code 1: guard: no such file").count(),
        1,
        "and the operator is told: {}",
        ran.stderr
    );
}

#[test]
fn c25_a_decision_at_the_top_level_is_none() {
    let ona = ona();
    assert_eq!(content(&bash(&ona, "echo ran", &[&print(&json!({"permissionDecision": "deny"}))])), "ran\n");
    assert_eq!(notices(&ona), Vec::<Value>::new());
}

#[test]
fn c33_hooks_see_absolute_paths() {
    let ona = ona();
    ona.file("dir/a.txt", "one\n");
    ona.home_file("h.txt", "one\n");
    install(&ona, json!({"PreToolUse": [group("Read|Edit", &["cat >> pre"])]}));
    for path in ["dir/a.txt", "./dir/../dir/a.txt", "~/h.txt"] {
        ona.eval("Read", json!({ "file_path": path }));
    }
    ona.eval("Edit", json!({"file_path": "dir/a.txt", "old_string": "one", "new_string": "two"}));
    let seen: Vec<_> = dumped(&ona, "pre").iter().map(|event| event["tool_input"]["file_path"].clone()).collect();
    let (in_project, in_home) = (ona.project().join("dir/a.txt"), ona.home().join("h.txt"));
    assert_eq!(seen, [json!(in_project), json!(in_project), json!(in_home), json!(in_project)]);
}

/// K7 is closed by DEC-054: such a hook ran, so its row has no skip.
#[test]
fn c34_a_hook_that_takes_too_long_is_ended_and_passes() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("done")]);
    let slow = json!({"type": "command", "command": "sleep 30; touch late; exit 2", "timeout": 1});
    install_with(
        &ona,
        json!({"PreToolUse": [{"matcher": "Bash", "hooks": [slow]}]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert!(ona.exists("ran") && !ona.exists("late"), "{}", server.request(1).last_message());
    let row = ona.rows("SELECT exit_code, skipped_reason, stderr_text FROM hook_invocations").remove(0);
    assert_eq!(row, [Value::Null, Value::Null, json!("[SDLC] hook timed out after 1000 ms")]);
    assert_eq!(notices(&ona), ["hook_error"]);
}

#[test]
fn c35_a_refused_call_fires_no_event_after_the_tool() {
    let ona = ona();
    install(
        &ona,
        json!({"PreToolUse": [group("Write", &["exit 2"])], "PostToolUse": [group("*", &["touch post"])],
            "PostToolUseFailure": [group("*", &["touch failed"])]}),
    );
    let denied = ona.eval("Write", json!({"file_path": "a.txt", "content": "x"}));
    assert_eq!(denied["is_error"], true);
    assert!(!ona.exists("a.txt") && !ona.exists("post") && !ona.exists("failed"));
}

/// Overruled by DEC-051: 002 names `allow` alone (K28 would add `ask`).
#[test]
fn an_update_beside_anything_but_allow_is_ignored_and_reported() {
    for decision in [json!("ask"), json!("defer"), json!("deny"), Value::Null] {
        let ona = ona();
        let mut fields = json!({"updatedInput": {"command": "touch other"}});
        if !decision.is_null() {
            fields["permissionDecision"] = decision.clone();
        }
        install(&ona, json!({"PreToolUse": [group("Bash", &[&says("PreToolUse", fields)])]}));
        ona.eval_with("Bash", json!({"command": "true"}), &["--yes"]);
        assert!(!ona.exists("other"), "{decision}");
        let why = ona.column("SELECT detail FROM events WHERE event_type='hook_output_invalid'");
        assert_eq!(why.len(), 1, "{decision}: {why:?}");
        assert!(why[0].to_string().contains("updatedInput counts only beside permissionDecision allow"), "{why:?}");
    }
}

#[test]
fn a_deny_without_a_reason_still_has_words() {
    let ona = ona();
    let with_message = json!({"systemMessage": "from the guard", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}});
    assert_eq!(content(&bash(&ona, "true", &[&print(&with_message)])), "Denied by PreToolUse hook\nfrom the guard");
    let silent = crate::ona();
    let bare = says("PreToolUse", json!({"permissionDecision": "deny"}));
    assert_eq!(content(&bash(&silent, "true", &[&bare])), "Denied by PreToolUse hook");
}

#[test]
fn names_of_prototypes_never_reach_an_input() {
    let ona = ona();
    let hook = r#"printf '%s' '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"__proto__":{"command":"x"},"constructor":1,"command":"echo B"}}}'"#;
    assert_eq!(content(&bash(&ona, "echo A", &[hook])), "B\n", "an unknown key would have been refused");
}
