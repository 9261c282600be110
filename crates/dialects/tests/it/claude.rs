//! What hooks written for Claude Code settings rely on.

use crate::{World, bash, print, rows};
use ona_api::{EventKind, EventName, Ruling};
use serde_json::{Value, json};

fn settings(commands: &[&str]) -> Value {
    let handlers: Vec<_> = commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
    json!({"hooksDialect": "claude", "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}})
}

async fn pre(world: &World, commands: &[&str]) -> ona_hookplane::HookOutcome {
    world.fire(settings(commands), EventName::PreToolUse, bash("ls")).await
}

fn specific(fields: Value) -> String {
    let mut output = json!({"hookEventName": "PreToolUse"});
    output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    print(json!({ "hookSpecificOutput": output }))
}

#[tokio::test]
async fn a_handler_without_a_shell_runs_in_plain_sh() {
    let world = World::new();
    let outcome = pre(&world, &["tr '\\0' ' ' < /proc/$$/cmdline; :"]).await;
    assert!(outcome.runs[0].stdout.as_deref().unwrap().starts_with("/bin/sh -c "));
    assert!(outcome.runs[0].input_json.contains(r#""effort":{"level":"medium"}"#));
    assert!(!outcome.runs[0].input_json.contains("transcript_path"));
}

#[tokio::test]
async fn identical_handlers_run_once_and_different_ones_all() {
    let world = World::new();
    let twice = json!({"hooksDialect": "claude", "hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [{"command": "echo x >> log"}]},
        {"matcher": "*", "hooks": [{"command": "true"}, {"command": "echo x >> log"}]},
    ]}});
    let outcome = world.fire(twice, EventName::PreToolUse, bash("ls")).await;
    assert_eq!((world.read("log"), outcome.runs.len()), ("x\n".into(), 2));
}

#[tokio::test]
async fn a_timeout_passes() {
    let world = World::new();
    let hooks = json!({"hooksDialect": "claude", "hooks": [{"hook_event_name": "PreToolUse", "command": "sleep 9", "timeout": 0.1}]});
    let outcome = world.fire(hooks, EventName::PreToolUse, bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, None, None)]);
    assert!(!outcome.is_denied());
}

#[tokio::test]
async fn updated_input_counts_only_beside_an_allow() {
    let world = World::new();
    let with = |decision: &'static str| {
        let command = specific(json!({"permissionDecision": decision, "updatedInput": {"command": "echo A"}}));
        let world = &world;
        async move { pre(world, &[&command]).await }
    };
    assert_eq!(with("allow").await.input, Some(json!({"command": "echo A"})));
    assert_eq!(with("ask").await.input, None);
    assert_eq!(with("defer").await.input, None);
    let without = pre(&world, &[&specific(json!({"updatedInput": {"command": "x"}}))]).await;
    assert_eq!((without.input, without.notes[0].kind), (None, EventKind::HookOutputInvalid));
}

#[tokio::test]
async fn defer_has_no_effect_and_keeps_its_context() {
    let world = World::new();
    let outcome = pre(&world, &[&specific(json!({"permissionDecision": "defer", "additionalContext": "c"}))]).await;
    assert_eq!((outcome.ruling, outcome.context.len(), outcome.notes.len()), (None, 1, 0));
}

#[tokio::test]
async fn a_wrongly_typed_key_voids_itself_only() {
    let world = World::new();
    let answer = json!({"continue": "no", "systemMessage": "hi", "hookSpecificOutput":
        {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": 5}});
    let outcome = pre(&world, &[&print(answer)]).await;
    assert_eq!(outcome.ruling.map(|(ruling, _, reason)| (ruling, reason)), Some((Ruling::Deny, "hi".into())));
    assert_eq!(outcome.notes.len(), 2);
}

#[tokio::test]
async fn an_unknown_decision_is_an_error_not_an_allow() {
    let world = World::new();
    let outcome = pre(&world, &[&specific(json!({"permissionDecision": "Allow"}))]).await;
    assert_eq!((outcome.ruling, outcome.notes[0].kind), (None, EventKind::HookOutputInvalid), "I-18");
}

#[tokio::test]
async fn noise_of_a_profile_before_the_json_is_skipped() {
    let world = World::new();
    let command = format!("echo 'welcome {{name}}'; {}", specific(json!({"permissionDecision": "deny"})));
    assert!(pre(&world, &[&command]).await.is_denied());
    assert!(!pre(&world, &["echo '{}'; echo '{}'"]).await.is_denied());
}

#[tokio::test]
async fn other_output_has_no_effect() {
    let world = World::new();
    for stdout in ["{}", r#"{"action":"continue"}"#, r#"{"permissionDecision":"deny"}"#, "[1]", "\"x\"", "plain"] {
        let outcome = pre(&world, &[&format!("printf '%s' '{stdout}'")]).await;
        assert_eq!((outcome.ruling.as_ref(), outcome.notes.len()), (None, 0), "{stdout}");
    }
    assert!(!pre(&world, &["cat"]).await.is_denied(), "stdin echoed back");
}

#[tokio::test]
async fn an_empty_stderr_takes_the_message_from_stdout() {
    let world = World::new();
    assert_eq!(pre(&world, &["echo said; exit 2"]).await.message(), "[0] said");
    assert_eq!(pre(&world, &[r#"echo '{"reason":"because"}'; exit 2"#]).await.message(), "[0] because");
    assert_eq!(pre(&world, &["echo out; echo err >&2; exit 2"]).await.message(), "[0] err");
}

#[tokio::test]
async fn former_tool_names_still_match() {
    let world = World::new();
    let hooks = json!({"hooksDialect": "claude", "hooks": {"PreToolUse": [{"matcher": "Task", "hooks": [{"command": "exit 2"}]}]}});
    let fields = json!({"tool_name": "Agent", "tool_input": {}, "tool_use_id": "t"});
    assert!(world.fire(hooks, EventName::PreToolUse, fields).await.is_denied());
}

#[tokio::test]
async fn long_context_becomes_a_preview_with_the_whole_kept() {
    let world = World::new();
    let hooks = json!({"hooksDialect": "claude", "hooks": [{"hook_event_name": "UserPromptSubmit", "command": "head -c 20000 /dev/zero | tr '\\0' x"}]});
    let outcome = world.fire(hooks, EventName::UserPromptSubmit, json!({"prompt": "p"})).await;
    let context = &outcome.context[0].context;
    assert!(context.text.len() < 3_000 && context.whole.as_ref().unwrap().len() == 20_000);
}

#[tokio::test]
async fn two_dialects_share_one_chain() {
    let world = World::new();
    let hooks = json!({"hooks": [
        {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "exit 2", "dialect": "claude"},
        {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "touch late"},
    ]});
    let outcome = world.fire(hooks, EventName::PreToolUse, bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, Some(2), None), (1, None, Some("prior_block_or_deny"))]);
}
