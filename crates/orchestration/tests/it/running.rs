//! The tool at work, and the hooks behind it.

use crate::scene::*;
use ona_api::{EventName, Ordinal};
use ona_hookplane::{
    Dialect, Exit, Firing, HandlerFuture, Hook, HookAction, HookExecution, HookHandler, HookInvocation, HookOutput,
    Injection, OnTimeout, ResultChange, Timeouts,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

fn free() -> Setting {
    setting().permissions(json!({"defaultMode": "bypassPermissions"}))
}

#[tokio::test]
async fn no_tool_runs_before_its_decision_is_on_disk() {
    let mut scene = setting().permissions(json!({"allow": ["mcp__db__sql"]})).open();
    let sql = "SELECT json_extract(detail,'$.tool_name') || ' ' || json_extract(detail,'$.decision.rule') FROM events";
    let finished = scene.call("mcp__db__sql", json!({ "sql": sql })).await;
    assert_eq!(finished.result.content, "mcp__db__sql mcp__db__sql");
    let finished = scene.call("mcp__db__sql", json!({"sql": "SELECT entry_type FROM transcript_entries"})).await;
    assert_eq!(finished.result.content, "tool_use\ntool_result\ntool_use", "and so is what led to it");
}

#[tokio::test]
async fn a_call_nobody_hears_of_leaves_its_rows_and_no_others() {
    let mut scene = free().open();
    let finished = scene.bash("echo hi").await;
    assert_eq!(finished.result.content.trim(), "hi");
    assert_eq!(scene.entries(), ["tool_use", "tool_result"]);
    assert_eq!(scene.events(), ["tool_started"]);
    assert!(scene.decisions().is_empty() && scene.hook_runs().is_empty());
    assert_eq!(finished.account, [r#"allow {"source":"mode","mode":"bypassPermissions"}"#]);
}

#[tokio::test]
async fn hooks_behind_a_success_read_what_the_tool_returned() {
    let mut scene = free().hook("PostToolUse", "exit 0").hook("PostToolUseFailure", "exit 0").open();
    scene.bash("echo hi").await;
    assert_eq!(scene.hook_runs(), ["PostToolUse 0 0"]);
    let read = scene.hook_input("PostToolUse");
    assert_eq!(
        (&read["tool_response"]["is_error"], &read["tool_input"]["command"]),
        (&json!(false), &json!("echo hi"))
    );
    assert_eq!(read["tool_response"]["content"].as_str().unwrap().trim(), "hi");
}

#[tokio::test]
async fn hooks_behind_a_failure_are_others() {
    let mut scene = free().hook("PostToolUse", "exit 0").hook("PostToolUseFailure", "exit 0").open();
    let finished = scene.bash("echo oops; exit 3").await;
    assert!(finished.result.is_error() && !finished.denied);
    assert_eq!(scene.hook_runs(), ["PostToolUseFailure 1 0"]);
    let read = scene.hook_input("PostToolUseFailure");
    assert!(read["error"].as_str().unwrap().contains("oops"));
    assert!(read.get("is_interrupt").is_none());
}

#[tokio::test]
async fn the_exit_code_of_a_shell_that_failed_is_a_row() {
    let mut scene = free().open();
    scene.bash("exit 3").await;
    assert_eq!(scene.entries(), ["tool_use", "tool_result", "progress"]);
    assert_eq!(scene.newest("progress")["data"]["exit_code"], 3);
}

#[tokio::test]
async fn exit_two_behind_a_tool_is_told_to_the_model_and_the_result_stays() {
    let mut scene = free().hook("PostToolUse", "echo 'run the linter' >&2; exit 2").open();
    let finished = scene.bash("echo hi").await;
    assert!(!finished.result.is_error());
    let row = scene.newest("internal_hook");
    assert_eq!(row["additional_context"], "[0] run the linter");
    assert_eq!(scene.entries(), ["tool_use", "tool_result", "internal_hook"]);
}

#[tokio::test]
async fn context_of_several_hooks_follows_the_result_in_their_order() {
    let says =
        |text: &str| print(json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": text}}));
    let mut scene = free().hook("PostToolUse", says("one")).hook("PostToolUse", says("two")).open();
    scene.bash("true").await;
    let texts = scene.sql(
        "SELECT json_extract(payload_json,'$.additional_context') FROM transcript_entries \
         WHERE entry_type='internal_hook' ORDER BY sequence",
    );
    assert_eq!(texts, ["one", "two"]);
    assert_eq!(scene.entries()[..2], ["tool_use", "tool_result"]);
}

#[tokio::test]
async fn what_blocking_hooks_say_is_one_row_behind_the_context_of_others() {
    let context =
        print(json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "note well"}}));
    let mut scene = free()
        .hook("PostToolUse", context)
        .hook("PostToolUse", "echo one >&2; exit 2")
        .hook("PostToolUse", "echo two >&2; exit 2")
        .open();
    let finished = scene.bash("echo hi").await;
    assert_eq!((finished.result.content.trim(), finished.result.is_error()), ("hi", false));
    let texts = scene.sql(
        "SELECT json_extract(payload_json,'$.additional_context') FROM transcript_entries \
         WHERE entry_type='internal_hook' ORDER BY sequence",
    );
    assert_eq!(texts, ["note well", "[1] one\n[2] two"]);
}

#[tokio::test]
async fn continue_false_behind_a_tool_stops_the_turn_and_keeps_the_result() {
    let mut scene = free().hook("PostToolUse", print(json!({"continue": false, "stopReason": "done"}))).open();
    let finished = scene.bash("echo hi").await;
    assert_eq!((finished.result.content.trim(), finished.stop.as_deref()), ("hi", Some("done")));
}

#[tokio::test]
async fn a_hook_that_fails_behind_a_tool_changes_nothing() {
    let mut scene = free().hook("PostToolUse", "exit 1").open();
    assert!(!scene.bash("echo hi").await.result.is_error());
    assert_eq!(scene.events(), ["tool_started", "hook_error"]);
}

/// A hook whose output is a change of the result and texts beside it.
struct Changes(ResultChange, Vec<Injection>);

impl Dialect for Changes {
    fn name(&self) -> &'static str {
        "changes"
    }

    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        firing.stdin(input).into()
    }

    fn parse_output(&self, _: EventName, _: &HookExecution) -> HookOutput {
        HookOutput { result: Some(self.0.clone()), injected: self.1.clone(), ..HookOutput::default() }
    }

    fn updated(&self, current: &Value, _: Map<String, Value>) -> Value {
        current.clone()
    }

    fn timeout(&self, _: EventName, _: &Timeouts) -> Duration {
        Duration::from_secs(60)
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        OnTimeout::Pass
    }

    fn block_message(&self, _: &HookExecution) -> String {
        String::new()
    }
}

impl HookHandler for Changes {
    fn label(&self) -> &str {
        "test:changes"
    }

    fn run<'a>(&'a self, _: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(std::future::ready(HookExecution::ended("t".into(), Exit::Code(0), String::new(), String::new())))
    }
}

fn changing(change: ResultChange, injected: Vec<Injection>) -> Hook {
    let changes = Arc::new(Changes(change, injected));
    Hook {
        ordinal: Ordinal(0),
        event: EventName::PostToolUse,
        matcher: String::new(),
        condition: String::new(),
        action: HookAction::Handler(Arc::clone(&changes) as _),
        timeout: None,
        dialect: changes,
        source: "user:test".into(),
        disabled: None,
        fail_closed: false,
        detached: false,
        plugin: None,
        once: None,
        registered: None,
        applies: Arc::new(|_, _| true),
    }
}

#[tokio::test]
async fn a_hook_may_give_the_model_another_result_and_the_tools_own_is_kept() {
    let change = ResultChange { content: Some("other".into()), is_error: Some(true) };
    let injected = vec![Injection::ToolResult("mind this".into()), Injection::UserMessage("and this".into())];
    let mut scene = free().made(changing(change, injected)).open();
    let finished = scene.bash("echo hi").await;
    assert_eq!(finished.result.content, "other\nmind this");
    assert!(finished.result.is_error());
    assert_eq!(scene.newest("tool_result")["content"], "other\nmind this");
    let original = scene.newest("content_replacement");
    assert_eq!((original["content"].as_str().map(str::trim), &original["is_error"]), (Some("hi"), &json!(false)));
    assert_eq!(scene.newest("user")["content"][0]["text"], "and this");
}

#[tokio::test]
async fn the_output_of_a_servers_tool_may_be_replaced() {
    let replaces = print(json!({"hookSpecificOutput": {
        "hookEventName": "PostToolUse", "updatedMCPToolOutput": "nothing to see",
    }}));
    let mut scene = free().hook("PostToolUse", replaces).open();
    let finished = scene.call("mcp__db__sql", json!({"sql": "SELECT 1"})).await;
    assert_eq!(finished.result.content, "nothing to see");
    assert_eq!(scene.bash("echo hi").await.result.content.trim(), "hi", "a built-in tool's may not");
}

#[tokio::test]
async fn a_shell_that_moves_moves_the_session_and_hooks_hear_of_it() {
    let mut scene = free().hook("CwdChanged", "pwd").open();
    std::fs::create_dir(scene.path("sub")).unwrap();
    scene.bash("cd sub").await;
    assert_eq!(scene.session.cx.cwd, scene.path("sub"));
    let read = scene.hook_input("CwdChanged");
    assert_eq!((&read["old_cwd"], &read["new_cwd"]), (&json!(scene.project), &json!(scene.path("sub"))));
    assert_eq!(read["cwd"], json!(scene.path("sub")));
    scene.bash("true").await;
    assert_eq!(scene.hook_runs(), ["CwdChanged 0 0"], "only when it moves");
}

#[tokio::test]
async fn variables_a_hook_exports_reach_the_next_shell() {
    let mut scene = free().hook("CwdChanged", "echo 'export COLOUR=red' >> \"$CLAUDE_ENV_FILE\"").open();
    std::fs::create_dir(scene.path("sub")).unwrap();
    assert_eq!(scene.bash("cd sub; echo \"<$COLOUR>\"").await.result.content.trim(), "<>");
    assert_eq!(scene.bash("echo \"<$COLOUR>\"").await.result.content.trim(), "<red>");
}

#[tokio::test]
async fn a_call_after_an_interrupt_does_not_run() {
    let mut scene = free().open();
    scene.cancel.cancel();
    let finished = scene.bash("touch out").await;
    assert_eq!(finished.result.content, "Interrupted by the operator");
    assert!(!scene.ran() && !scene.exists("out"));
    assert_eq!(scene.entries(), ["tool_use", "tool_result"]);
}

#[tokio::test]
async fn hooks_in_front_of_an_interrupted_call_have_not_said_yes() {
    let mut scene = free().hook("PreToolUse", "touch hook").open();
    scene.cancel.cancel();
    let finished = scene.bash("touch out").await;
    assert_eq!(finished.result.content, "Denied by PreToolUse hook\n[0] [SDLC] hook interrupted");
    assert!(!scene.exists("hook") && !scene.exists("out"));
}

#[tokio::test]
async fn an_interrupt_between_question_and_answer_runs_nothing() {
    let mut scene = setting().open().answers([yes()]);
    let cancel = scene.cancel.clone();
    *scene.operator.meanwhile.lock().unwrap() = Some(Box::new(move || cancel.cancel()));
    assert_eq!(scene.bash("touch out").await.result.content, "Interrupted by the operator");
    assert_eq!((scene.exists("out"), scene.decisions()), (false, vec!["allow human".to_owned()]));
}

#[tokio::test]
async fn an_interrupted_tool_is_reported_to_hooks_as_one() {
    let mut scene = free().hook("PostToolUseFailure", "exit 0").open();
    let (cancel, started) = (scene.cancel.clone(), scene.path("started"));
    let watching = async move {
        while !started.exists() {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (finished, ()) = tokio::join!(scene.bash("touch started; sleep 60"), watching);
    assert!(finished.result.is_error());
    assert_eq!(scene.hook_runs(), ["PostToolUseFailure 0 0"], "the report is not cut short");
    assert_eq!(scene.hook_input("PostToolUseFailure")["is_interrupt"], true);
}

#[tokio::test]
async fn the_state_of_files_a_call_saw_is_on_record() {
    let mut scene = free().open();
    scene.file("a.txt", "text");
    scene.call("Read", json!({"file_path": scene.path("a.txt")})).await;
    assert_eq!(scene.newest("file_history_snapshot")["path"], json!(scene.path("a.txt")));
}

#[tokio::test]
async fn hooks_of_an_agent_are_told_which() {
    let mut scene = free().hook("PreToolUse", "exit 0").open();
    scene.session.agent_id = Some("a1".into());
    scene.session.agent_type = Some("explore".into());
    scene.bash("true").await;
    let read = scene.hook_input("PreToolUse");
    assert_eq!((&read["agent_id"], &read["agent_type"]), (&json!("a1"), &json!("explore")));
}
