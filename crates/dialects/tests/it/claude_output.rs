//! What hooks of Claude Code settings print and exit with, the way hooks in the wild do it, on every
//! event.

use crate::{World, bash, print};
use ona_api::{EventKind, EventName, Ruling};
use ona_hookplane::HookOutcome;
use serde_json::{Value, json};

async fn fire(world: &World, event: EventName, handlers: Value, fields: Value) -> HookOutcome {
    let settings = json!({"hooksDialect": "claude", "hooks": {event.as_str(): [{"matcher": "", "hooks": handlers}]}});
    world.fire(settings, event, fields).await
}

async fn one(event: EventName, command: &str, fields: Value) -> HookOutcome {
    fire(&World::new(), event, json!([{"type": "command", "command": command}]), fields).await
}

async fn pre(command: &str) -> HookOutcome {
    one(EventName::PreToolUse, command, bash("ls")).await
}

fn specific(event: &str, fields: Value) -> Value {
    let mut output = json!({ "hookEventName": event });
    output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "hookSpecificOutput": output })
}

fn notes(outcome: &HookOutcome) -> Vec<EventKind> {
    outcome.notes.iter().map(|note| note.kind).collect()
}

#[tokio::test]
async fn what_is_not_one_object_decides_nothing() {
    let deny = specific("PreToolUse", json!({"permissionDecision": "deny"})).to_string();
    let twice = format!("echo '{deny}'; echo '{deny}'");
    let truncated = format!("printf '%s' '{}'", &deny[..40]);
    for (hook, noted) in [
        (twice, 1),
        (truncated, 1),
        (format!("echo '[{deny}]'"), 0),
        (format!("echo 'result: {deny}'"), 0),
        ("echo plain".into(), 0),
    ] {
        let outcome = pre(&hook).await;
        assert_eq!((outcome.is_denied(), outcome.notes.len()), (false, noted), "{hook}");
    }
}

#[tokio::test]
async fn the_older_word_and_a_bare_deny() {
    let outcome = pre(&print(json!({"decision": "approve"}))).await;
    assert_eq!(outcome.ruling.map(|(ruling, ..)| ruling), Some(Ruling::Allow));
    let bare = pre(&print(specific("PreToolUse", json!({"permissionDecision": "deny"})))).await;
    assert_eq!((bare.is_denied(), bare.message().as_str()), (true, ""));
}

#[tokio::test]
async fn exit_2_without_stderr_takes_the_reason_of_a_decision_and_never_reads_stderr_as_json() {
    let reason = specific("PreToolUse", json!({"permissionDecision": "deny", "permissionDecisionReason": "because"}));
    assert_eq!(pre(&format!("{}; exit 2", print(reason))).await.message(), "[0] because");
    let on_stderr = format!("{} >&2; exit 2", print(json!({"reason": "because"})));
    assert_eq!(pre(&on_stderr).await.message(), "[0] {\"reason\":\"because\"}");
}

#[tokio::test]
async fn names_of_prototypes_never_reach_an_input() {
    let update = r#"{"__proto__":{"command":"x"},"constructor":1,"command":"echo B"}"#;
    let hook = format!(
        r#"printf '%s' '{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{update}}}}}'"#
    );
    assert_eq!(pre(&hook).await.input, Some(json!({"command": "echo B"})));
}

#[tokio::test]
async fn a_foreign_envelope_decides_nothing() {
    for answer in [
        specific("PostToolUse", json!({"permissionDecision": "deny"})),
        json!({"hookSpecificOutput": {"permissionDecision": "deny"}}),
    ] {
        let outcome = pre(&print(answer.clone())).await;
        assert_eq!((outcome.is_denied(), notes(&outcome)), (false, vec![EventKind::HookOutputInvalid]), "{answer}");
    }
}

#[tokio::test]
async fn every_wrongly_typed_key_is_named() {
    let mut answer = json!({"continue": "false", "suppressOutput": 1, "systemMessage": ["x"], "decision": "maybe"});
    answer["hookSpecificOutput"] = json!({"hookEventName": "PreToolUse", "permissionDecision": "deny",
        "permissionDecisionReason": 5, "updatedInput": [], "strange": 1});
    let outcome = pre(&print(answer)).await;
    assert!(outcome.is_denied(), "what is right still counts");
    let why: Vec<_> = outcome.notes.iter().map(|note| note.why.as_str()).collect();
    let named = ["systemMessage", "continue", "suppressOutput", "decision", "permissionDecisionReason", "updatedInput"];
    assert_eq!(why.len(), named.len(), "{why:?}");
    assert!(named.iter().all(|name| why.iter().any(|why| why.contains(name))), "{why:?}");
}

#[tokio::test]
async fn null_means_absent_and_an_empty_envelope_is_valid() {
    let nulls = json!({"continue": null, "decision": null, "reason": null, "systemMessage": null, "stopReason": null,
        "suppressOutput": null, "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": null, "updatedInput": null}});
    let outcome = pre(&print(nulls)).await;
    assert_eq!((outcome.is_denied(), outcome.stop.is_none(), outcome.notes.len()), (false, true, 0));
    for (event, fields) in [
        (EventName::Stop, json!({"stop_hook_active": false})),
        (EventName::PreCompact, json!({"trigger": "auto", "custom_instructions": null})),
    ] {
        let outcome = one(event, &print(specific(event.as_str(), json!({}))), fields).await;
        assert_eq!((outcome.runs.len(), outcome.notes.len(), outcome.is_denied()), (1, 0, false), "{event:?}");
    }
}

#[tokio::test]
async fn an_answer_that_wants_to_be_asynchronous_is_rejected_whole() {
    let mut answer = specific("PreToolUse", json!({"permissionDecision": "deny"}));
    answer["async"] = true.into();
    answer["continue"] = false.into();
    let outcome = pre(&print(answer)).await;
    assert_eq!((outcome.is_denied(), outcome.stop.is_none()), (false, true));
    assert_eq!(notes(&outcome), [EventKind::HookAsyncRejected]);
}

#[tokio::test]
async fn a_hook_configured_as_asynchronous_runs_in_its_place_and_decides_nothing() {
    let world = World::new();
    let detached = |key: &str, command: &str| json!({"type": "command", "command": command, key: true});
    let deny = print(specific("PreToolUse", json!({"permissionDecision": "deny"})));
    let handlers = json!([
        detached("async", "cat > seen; exit 2"),
        detached("asyncRewake", &format!("echo second >> order; {deny}")),
        {"type": "command", "command": "echo third >> order"},
    ]);
    let outcome = fire(&world, EventName::PreToolUse, handlers, bash("ls")).await;
    assert!(!outcome.is_denied());
    assert_eq!(world.read("order"), "second\nthird\n");
    assert!(world.read("seen").contains(r#""tool_name":"Bash""#));
}

#[tokio::test]
async fn plain_text_is_context_where_a_session_or_a_prompt_begins() {
    let start = |text: &'static str| one(EventName::SessionStart, text, json!({"source": "startup"}));
    let context = start("echo You are the mayor").await.context;
    assert_eq!(context[0].context.text, "You are the mayor");
    let mixed = start(r#"printf 'The package:\n{"name":"x"}\n'"#).await.context;
    assert!(mixed[0].context.text.contains("The package:") && mixed[0].context.text.contains("\"name\""), "{mixed:?}");
    let prompt =
        one(EventName::UserPromptSubmit, "echo '<system-reminder>mail</system-reminder>'", json!({"prompt": "p"}));
    assert_eq!(prompt.await.context[0].context.text, "<system-reminder>mail</system-reminder>");
    let stop = one(EventName::Stop, "echo only logged", json!({"stop_hook_active": false})).await;
    assert_eq!((stop.context.len(), stop.runs[0].stdout.as_deref()), (0, Some("only logged\n")));
}

/// Text of `count` characters, printed as plain context.
fn long(character: &str, count: usize) -> String {
    format!("head -c {count} /dev/zero | sed 's/\\x00/{character}/g'")
}

#[tokio::test]
async fn context_has_limits_of_its_event() {
    // (event, character, how many, whether all of it goes to the model)
    let cases = [
        (EventName::UserPromptSubmit, "x", 10_000, true),
        (EventName::UserPromptSubmit, "é", 10_001, false),
        (EventName::SessionStart, "s", 60_000, true),
        (EventName::SessionStart, "z", 65_536, true),
        (EventName::SessionStart, "é", 33_000, false),
    ];
    for (event, character, count, whole) in cases {
        let fields =
            if event == EventName::SessionStart { json!({"source": "startup"}) } else { json!({"prompt": "p"}) };
        let outcome = one(event, &long(character, count), fields).await;
        let context = &outcome.context[0].context;
        let shown = context.text.matches(character).count();
        assert_eq!(shown >= count, whole, "{event:?} {character}");
        if !whole {
            assert!(context.text.contains(&format!("{count} characters in all")), "{}", context.text);
            assert_eq!(context.whole.as_ref().unwrap().chars().count(), count);
        }
    }
}

fn fields_of(event: EventName) -> Value {
    match event {
        EventName::Notification => json!({"message": "m", "notification_type": "idle_prompt"}),
        EventName::PreCompact => json!({"trigger": "manual", "custom_instructions": null}),
        EventName::PostCompact => json!({"trigger": "manual", "compact_summary": "s"}),
        EventName::ConfigChange => json!({"source": "user_settings", "file_path": "/x"}),
        EventName::StopFailure => json!({"error": "rate_limit"}),
        EventName::CwdChanged => json!({"old_cwd": "/a", "new_cwd": "/b"}),
        EventName::TaskCreated => json!({"task_id": "t", "task_subject": "s"}),
        EventName::Elicitation => json!({"mcp_server_name": "m", "message": "q"}),
        EventName::ElicitationResult => json!({"mcp_server_name": "m", "action": "accept"}),
        EventName::SessionStart => json!({"source": "startup"}),
        EventName::SessionEnd => json!({"reason": "other"}),
        EventName::UserPromptSubmit => json!({"prompt": "p"}),
        _ => unreachable!("not a case of these tests"),
    }
}

#[tokio::test]
async fn exit_2_does_on_each_event_what_the_event_can_do() {
    let cases = [
        (EventName::Notification, false),
        (EventName::PreCompact, true),
        (EventName::PostCompact, false),
        (EventName::ConfigChange, true),
        (EventName::StopFailure, false),
        (EventName::CwdChanged, false),
        (EventName::TaskCreated, true),
        (EventName::Elicitation, true),
        (EventName::ElicitationResult, true),
        (EventName::SessionStart, false),
        (EventName::SessionEnd, false),
        (EventName::UserPromptSubmit, true),
    ];
    for (event, blocks) in cases {
        let outcome = one(event, "echo stop it >&2; exit 2", fields_of(event)).await;
        assert_eq!(outcome.is_denied(), blocks, "{event:?}");
        let kept = if blocks { outcome.message() } else { format!("{:?}", outcome.messages) };
        assert!(kept.contains("stop it"), "{event:?}: the words are kept: {kept}");
    }
    let prompt = print(json!({"decision": "block", "reason": "secret plans"}));
    let outcome = one(EventName::UserPromptSubmit, &prompt, fields_of(EventName::UserPromptSubmit)).await;
    assert!(outcome.is_denied() && outcome.message().contains("secret plans"));
}

#[tokio::test]
async fn a_hook_that_reads_nothing_of_a_large_input_is_fine() {
    let handlers = json!([{"type": "command", "command": "true"}, {"type": "command", "command": "exec 0<&-; exit 0"}]);
    let fields = json!({"tool_name": "Write", "tool_input": {"file_path": "big", "content": "x".repeat(100_000)}, "tool_use_id": "t"});
    let outcome = fire(&World::new(), EventName::PreToolUse, handlers, fields).await;
    assert_eq!((outcome.runs.len(), outcome.notes.len(), outcome.is_denied()), (2, 0, false));
}
