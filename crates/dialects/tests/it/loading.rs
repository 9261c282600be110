//! The three shapes, ordinals, deduplication, what is rejected.

use crate::no_others;
use crate::{World, bash};
use ona_api::EventName;
use ona_dialects::load;
use ona_hookplane::HookList;
use ona_settings::Settings;
use serde_json::{Value, json};

/// (ordinal, event, matcher, command) of the effective list.
fn list(settings: Value) -> Vec<(u32, &'static str, String, String)> {
    let world = World::new();
    let loaded = load(&Settings::read(&settings), &world.place(), &no_others);
    let described = |hook: &ona_hookplane::Hook| {
        (hook.ordinal.0, hook.event.as_str(), hook.matcher.clone(), hook.command().to_owned())
    };
    HookList::new(loaded.hooks).iter().map(described).collect()
}

fn commands(settings: Value) -> Vec<String> {
    list(settings).into_iter().map(|(.., command)| command).collect()
}

fn rejected(hooks: Value) -> Vec<String> {
    let world = World::new();
    load(&Settings::read(&json!({ "hooks": hooks })), &world.place(), &no_others)
        .rejected
        .into_iter()
        .map(|bad| bad.why)
        .collect()
}

#[test]
fn the_three_shapes_mean_the_same() {
    let flat = json!([
        {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "a"},
        {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "b"},
        {"hook_event_name": "Stop", "command": "c"},
    ]);
    let groups = json!([
        {"hook_event_name": "PreToolUse", "matcher": "Bash", "hooks": [{"type": "command", "command": "a"}, {"command": "b"}]},
        {"hook_event_name": "Stop", "hooks": [{"command": "c"}]},
    ]);
    let nested = json!({
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "a"}, {"command": "b"}]}],
        "Stop": [{"command": "c"}],
    });
    let expected = list(json!({ "hooks": flat }));
    assert_eq!(expected.iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(list(json!({ "hooks": groups })), expected);
    assert_eq!(list(json!({ "hooks": nested })), expected);
    assert!(list(json!({"hooks": null})).is_empty() && list(json!({})).is_empty());
}

#[test]
fn only_adjacent_repetitions_collapse() {
    let entry = |command: &str| json!({"hook_event_name": "Stop", "command": command});
    assert_eq!(commands(json!({"hooks": [entry("a"), entry("a"), entry("b")]})), ["a", "b"]);
    assert_eq!(commands(json!({"hooks": [entry("a"), entry("b"), entry("a")]})), ["a", "b", "a"]);
    let explicit = json!({"hook_event_name": "Stop", "command": "a", "shell": "bash", "if": "", "matcher": ""});
    assert_eq!(commands(json!({"hooks": [entry("a"), explicit]})), ["a"]);
    let other_shell = json!({"hook_event_name": "Stop", "command": "a", "shell": "sh"});
    assert_eq!(commands(json!({"hooks": [entry("a"), other_shell]})).len(), 2);
}

#[test]
fn plugins_follow_in_the_order_of_their_ids() {
    let hooks = |command: &str| json!({"hooks": [{"hook_event_name": "Stop", "command": command}]});
    let settings = json!({
        "hooks": [{"hook_event_name": "Stop", "command": "own"}],
        "plugins": {"b": hooks("b"), "a": hooks("a"), "Z": hooks("Z")},
    });
    assert_eq!(commands(settings), ["own", "Z", "a", "b"]);
}

#[test]
fn bad_entries_are_named_and_the_rest_stays() {
    let hooks = json!([
        {"hook_event_name": "pretooluse", "command": "x"},
        {"hook_event_name": "Stop", "command": " "},
        {"hook_event_name": "Stop", "command": "x", "shell": "fish"},
        {"hook_event_name": "Stop", "command": "x", "type": "carrier-pigeon"},
        {"hook_event_name": "Stop", "command": "x", "dialect": "klingon"},
        {"command": "x"},
        7,
        {"hook_event_name": "Stop", "command": "good"},
    ]);
    assert_eq!(commands(json!({"hooks": hooks.clone()})), ["good"]);
    let why = rejected(hooks);
    assert_eq!(why.len(), 7, "{why:?}");
    assert!(why.iter().any(|text| text.contains("\"pretooluse\" is not a hook event")));
}

#[test]
fn a_matcher_that_does_not_compile_is_reported_and_matches_nothing() {
    assert!(
        rejected(json!([{"hook_event_name": "PreToolUse", "matcher": "[", "command": "x"}]))[0]
            .contains("matches nothing")
    );
}

#[tokio::test]
async fn events_without_a_query_ignore_the_matcher_and_task_events_need_match_all() {
    let world = World::new();
    let runs = |event: &'static str, matcher: &'static str, fields: Value| {
        let hooks =
            json!({"hooks": [{"hook_event_name": event, "matcher": matcher, "command": "true", "shell": "sh"}]});
        let world = &world;
        async move { world.fire(hooks, event.parse().unwrap(), fields).await.runs.len() }
    };
    let task = || json!({"task_id": "t", "task_subject": "s"});
    assert_eq!(runs("UserPromptSubmit", "x", json!({"prompt": "p"})).await, 1);
    assert_eq!(runs("Stop", "x", json!({"stop_hook_active": false})).await, 1);
    assert_eq!(runs("TaskCreated", "x", task()).await, 0);
    assert_eq!(runs("TaskCreated", ".*", task()).await, 0);
    assert_eq!(runs("TaskCreated", "*", task()).await, 1);
    assert_eq!(runs("FileChanged", "^\\.env$", json!({"file_path": "/x/.env", "event": "change"})).await, 1);
    assert_eq!(runs("SessionStart", "startup", json!({"source": "clear"})).await, 0);
}

#[tokio::test]
async fn a_condition_never_holds_without_a_tool() {
    let world = World::new();
    let hooks = json!({"hooks": [{"hook_event_name": "Stop", "command": "true", "if": "Bash(ls *)"}]});
    assert!(world.fire(hooks, EventName::Stop, json!({"stop_hook_active": false})).await.runs.is_empty());
    let hooks = json!({"hooks": [{"hook_event_name": "PreToolUse", "command": "true", "if": "Bash(git:*)"}]});
    assert!(world.fire(hooks, EventName::PreToolUse, bash("ls")).await.runs.is_empty());
}

#[test]
fn a_command_line_beside_args_is_named() {
    let hooks = json!([
        {"hook_event_name": "Stop", "command": "node guard.js", "args": ["x"]},
        {"hook_event_name": "Stop", "command": "/opt/my tools/guard", "args": []},
    ]);
    let why = rejected(hooks);
    assert_eq!(why.len(), 1, "{why:?}");
    assert!(why[0].contains("\"node guard.js\" is none"), "{why:?}");
}
