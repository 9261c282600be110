//! PermissionDenied hooks.

use crate::scene::*;
use serde_json::json;

fn denying() -> Setting {
    setting().permissions(json!({"deny": ["Bash"]}))
}

#[tokio::test]
async fn the_hooks_read_the_call_and_the_reason() {
    let mut scene = denying().hook("PermissionDenied", "exit 0").open();
    let finished = scene.bash("ls").await;
    let read = scene.hook_input("PermissionDenied");
    assert_eq!(read["reason"], json!(finished.result.content));
    assert_eq!(read["tool_input"]["command"], "ls");
    assert!(read["tool_use_id"].is_string());
}

#[tokio::test]
async fn no_hook_of_a_question_or_a_result_runs_for_a_call_that_a_rule_denies() {
    let mut scene = denying()
        .hook("PermissionDenied", "exit 0")
        .hook("PermissionRequest", "exit 0")
        .hook("PostToolUse", "exit 0")
        .hook("PostToolUseFailure", "exit 0")
        .open();
    assert!(scene.bash("ls").await.denied);
    assert_eq!(scene.hook_runs(), ["PermissionDenied 0 0"]);
}

#[tokio::test]
async fn a_hook_may_tell_the_model_to_try_again() {
    let retry = json!({"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": true}});
    let mut scene = denying().hook("PermissionDenied", print(retry)).open();
    assert!(scene.bash("ls").await.denied);
    assert_eq!(scene.newest("internal_hook")["additional_context"], "A hook says this call may be tried again.");
}

#[tokio::test]
async fn exit_two_is_told_to_the_operator_and_changes_nothing() {
    let mut scene = denying().hook("PermissionDenied", "echo noted >&2; exit 2").open();
    let finished = scene.bash("ls").await;
    assert_eq!(finished.messages, ["noted"]);
    assert!(finished.denied);
}

#[tokio::test]
async fn the_refusal_and_its_rows_are_one_commit_behind_the_call() {
    let hook = "sqlite3 \"$AGENT_SDLC_DB\" 'SELECT entry_type FROM transcript_entries; SELECT decision FROM tool_permission_log' > seen";
    let mut scene = denying().hook("PermissionDenied", hook).open();
    scene.bash("ls").await;
    assert_eq!(scene.read("seen").trim(), "tool_use", "the call is there, the rest comes when all is known");
    assert_eq!((scene.entries().len(), scene.decisions().len()), (2, 1));
}

#[tokio::test]
async fn nobody_to_ask_is_a_refusal_like_another() {
    let mut scene = setting().hook("PermissionDenied", "exit 0").open();
    let finished = scene.bash("npm test").await;
    assert_eq!(finished.result.content, "Nobody is there to answer");
    assert_eq!(scene.hook_runs(), ["PermissionDenied 0 0"]);
    assert_eq!(scene.decisions().len(), 1);
}
