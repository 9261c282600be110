//! PreToolUse hooks: what they may decide, and what stays above them.

use crate::scene::*;
use ona_api::Authority;
use serde_json::json;

const BYPASS: &str = "bypassPermissions";

#[tokio::test]
async fn an_allow_stands_in_for_the_mode() {
    let mut scene = setting().rules_with("allow", "fine").open();
    let finished = scene.bash("echo hi > out").await;
    assert!(!finished.denied && scene.exists("out"));
    assert!(scene.asked().is_empty());
    assert_eq!(scene.sql("SELECT json_extract(detail,'$.decision.source') FROM events"), ["hook"]);
}

#[tokio::test]
async fn a_deny_ends_the_call_with_its_reason() {
    let mut scene = setting().rules_with("deny", "not today").hook("PermissionDenied", "touch told").open();
    let finished = scene.bash("touch ran").await;
    assert_eq!(finished.result.content, "Denied by PreToolUse hook\nnot today");
    assert!(finished.denied && finished.result.is_error());
    assert!(!scene.ran() && !scene.exists("ran"));
    assert_eq!(scene.decisions(), ["deny hook"]);
    assert!(!scene.exists("told"), "the hooks have decided, and do not hear about it");
    assert_eq!(scene.entries(), ["tool_use", "tool_result"]);
}

#[tokio::test]
async fn a_deny_without_a_reason_says_who_denied() {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}});
    let mut scene = setting().hook("PreToolUse", print(answer)).open();
    assert_eq!(scene.bash("ls").await.result.content, "Denied by PreToolUse hook");
}

#[tokio::test]
async fn exit_two_denies_with_the_numbers_and_words_of_its_hooks() {
    let mut scene = setting().hook("PreToolUse", "exit 0").hook("PreToolUse", "echo 'no rm' >&2; exit 2").open();
    let finished = scene.bash("rm x").await;
    assert_eq!(finished.result.content, "Denied by PreToolUse hook\n[1] no rm");
    let reason = scene.sql("SELECT json_extract(reason_json,'$.hook_ordinal') FROM tool_permission_log");
    assert_eq!(reason, ["1"]);
}

#[tokio::test]
async fn the_account_has_a_line_for_every_hook_and_the_decision() {
    let mut scene = setting().hook("PreToolUse", "exit 0").rules_with("deny", "no").hook("PreToolUse", "true").open();
    let finished = scene.bash("ls").await;
    let lines: Vec<_> = finished.account.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines[..3], ["PreToolUse hook 0 exit 0", "PreToolUse hook 1 exit 0", "PreToolUse hook 2 skipped"]);
    assert_eq!(
        finished.account[3],
        r#"deny {"source":"hook","hook_ordinal":1,"message":"Denied by PreToolUse hook\nno"}"#
    );
}

#[tokio::test]
async fn continue_false_denies_and_stops_the_turn() {
    let stop = json!({"continue": false, "stopReason": "enough for today"});
    let mut scene = setting().hook("PreToolUse", print(stop)).open();
    let finished = scene.bash("ls").await;
    assert_eq!(finished.result.content, "Stopped by hook: enough for today");
    assert_eq!(finished.stop.as_deref(), Some("enough for today"));
    assert_eq!(scene.decisions(), ["deny hook"]);
    assert_eq!(scene.newest("system")["stop_reason"], "enough for today");
}

fn rewrites(input: serde_json::Value) -> String {
    print(json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": input,
    }}))
}

#[tokio::test]
async fn a_rewritten_input_is_what_runs_and_both_are_on_record() {
    let mut scene = setting().hook("PreToolUse", rewrites(json!({"command": "echo new"}))).open();
    let finished = scene.bash("echo old").await;
    assert_eq!(finished.result.content.trim(), "new");
    let row = scene.newest("internal_hook");
    assert_eq!(
        (&row["requested_input"]["command"], &row["effective_input"]["command"]),
        (&json!("echo old"), &json!("echo new"))
    );
    assert_eq!(scene.newest("tool_use")["input"]["command"], "echo old", "the model's own words stay");
}

#[tokio::test]
async fn an_input_rewritten_to_one_that_does_not_fit_does_not_run() {
    let mut scene = setting().hook("PreToolUse", rewrites(json!({"command": 7}))).open();
    let finished = scene.bash("echo old").await;
    assert!(finished.result.content.starts_with("A hook changed the input: "), "{}", finished.result.content);
    assert!(!scene.ran());
}

#[tokio::test]
async fn a_rewritten_input_is_judged_like_any_other() {
    let mut scene = setting()
        .hook("PreToolUse", rewrites(json!({"command": "rm precious"})))
        .permissions(json!({"deny": ["Bash(rm:*)"], "allow": ["Bash(ls:*)"]}))
        .open();
    let finished = scene.bash("ls").await;
    assert!(finished.denied && !scene.ran());
    assert_eq!(scene.decisions(), ["deny rule"]);
}

#[tokio::test]
async fn no_allow_of_a_hook_lifts_a_rule_that_denies_or_asks() {
    for (rules, asked) in [(json!({"deny": ["Bash"]}), 0), (json!({"ask": ["Bash"]}), 1)] {
        let mut scene = setting().rules_with("allow", "").permissions(rules.clone()).open();
        assert!(scene.bash("ls").await.denied, "{rules}");
        assert_eq!(scene.asked().len(), asked, "{rules}");
    }
}

#[tokio::test]
async fn no_allow_of_a_hook_reaches_the_agents_own_record() {
    let mut scene = setting().rules_with("allow", "").open();
    let database = scene.database.clone();
    let finished = scene.call("Write", json!({"file_path": database, "content": ""})).await;
    assert!(finished.denied && scene.asked().is_empty());
    assert_eq!(scene.decisions(), ["deny rule"]);
}

#[tokio::test]
async fn an_ask_is_put_to_the_person_also_where_the_mode_allows_everything() {
    let mut scene =
        setting().rules_with("ask", "sure?").permissions(json!({"defaultMode": BYPASS})).open().answers([yes()]);
    let finished = scene.bash("touch out").await;
    assert!(!finished.denied && scene.exists("out"));
    assert_eq!(scene.asked().len(), 1);
    assert!(scene.asked()[0].message.ends_with("] sure?"), "{}", scene.asked()[0].message);
    assert!(matches!(scene.asked()[0].by, Authority::Hook(_)));
    assert_eq!(scene.decisions(), ["allow human"]);
}

#[tokio::test]
async fn an_ask_without_a_reason_says_where_the_hook_comes_from() {
    let mut scene = setting().rules_with("ask", "").open();
    scene.bash("ls").await;
    assert!(scene.asked()[0].message.ends_with("] A hook asks."), "{}", scene.asked()[0].message);
}

#[tokio::test]
async fn an_ask_lifts_no_rule_that_denies() {
    let mut scene = setting().rules_with("ask", "?").permissions(json!({"deny": ["Bash"]})).open();
    assert!(scene.bash("ls").await.denied);
    assert!(scene.asked().is_empty());
}

#[tokio::test]
async fn the_stricter_of_two_hooks_decides() {
    let mut scene = setting().rules_with("allow", "").rules_with("ask", "really?").open().answers([no("no")]);
    assert!(scene.bash("ls").await.denied);
    assert_eq!(scene.asked().len(), 1);
}

#[tokio::test]
async fn hooks_see_absolute_paths_and_the_call() {
    let mut scene = setting().hook("PreToolUse", "exit 0").permissions(json!({"allow": ["Read(./**)"]})).open();
    scene.file("a.txt", "text");
    scene.call("Read", json!({"file_path": "a.txt"})).await;
    let read = scene.hook_input("PreToolUse");
    assert_eq!(read["tool_input"]["file_path"], json!(scene.path("a.txt")));
    assert_eq!((&read["tool_name"], &read["permission_mode"]), (&json!("Read"), &json!("default")));
    assert!(read["tool_use_id"].is_string());
}

#[tokio::test]
async fn context_for_the_model_and_messages_for_the_operator_are_rows() {
    let answer = json!({
        "systemMessage": "look here",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "additionalContext": "mind the gap"},
    });
    let mut scene = setting().hook("PreToolUse", print(answer)).open();
    let finished = scene.bash("true").await;
    assert_eq!(finished.messages, ["look here"]);
    assert_eq!(scene.newest("internal_hook")["additional_context"], "mind the gap");
    assert_eq!(scene.newest("system")["message"], "look here");
}

#[tokio::test]
async fn what_led_to_the_call_is_committed_before_its_hooks_run() {
    let hook = "sqlite3 \"$AGENT_SDLC_DB\" 'SELECT entry_type FROM transcript_entries' > seen";
    let mut scene = setting().hook("PreToolUse", hook).open();
    scene.bash("true").await;
    assert_eq!(scene.read("seen").trim(), "tool_use");
}

#[tokio::test]
async fn a_matcher_names_the_tools_a_hook_is_for() {
    let mut scene = setting()
        .hook_for("PreToolUse", "Write|Edit", "touch write")
        .hook_for("PreToolUse", "Bash", "touch bash")
        .open();
    scene.bash("true").await;
    assert!(scene.exists("bash") && !scene.exists("write"));
}
