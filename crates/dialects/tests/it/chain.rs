//! Merging, skipping, chaining: section 5.6 with real processes.

use crate::{World, bash, decide, pre, print, rows};
use ona_api::{EventKind, EventName, Ordinal, Ruling};
use serde_json::json;

#[tokio::test]
async fn deny_beats_ask_beats_allow_in_any_order() {
    let world = World::new();
    let merged = |first: &'static str, second: &'static str| {
        let hooks = json!([pre(&decide(first, "one")), pre(&decide(second, "two"))]);
        let world = &world;
        async move { world.pre(hooks).await.ruling.map(|(ruling, ..)| ruling) }
    };
    assert_eq!(merged("allow", "ask").await, Some(Ruling::Ask));
    assert_eq!(merged("ask", "allow").await, Some(Ruling::Ask));
    assert_eq!(merged("ask", "deny").await, Some(Ruling::Deny));
    assert_eq!(merged("allow", "deny").await, Some(Ruling::Deny));
}

#[tokio::test]
async fn exit_2_denies_with_the_ordinal_and_skips_the_rest() {
    let world = World::new();
    let outcome = world.pre(json!([pre("true"), pre("echo no >&2; exit 2"), pre("touch late")])).await;
    assert!(outcome.is_denied());
    assert_eq!(outcome.message(), "[1] no");
    assert_eq!(rows(&outcome), [(0, Some(0), None), (1, Some(2), None), (2, None, Some("prior_block_or_deny"))]);
    assert!(!world.exists("late"));
    let skipped = &outcome.runs[2];
    assert!(skipped.stdout.is_none() && skipped.stderr.is_none() && skipped.completed_at.is_none());
    assert!(skipped.input_json.contains("\"tool_use_id\":\"t1\""));
}

#[tokio::test]
async fn exit_2_beside_an_allow_still_denies() {
    let world = World::new();
    let outcome = world.pre(json!([pre(&format!("{}; exit 2", decide("allow", "")))])).await;
    assert!(outcome.is_denied());
    assert_eq!(outcome.message(), "[0] ");
}

#[tokio::test]
async fn the_reason_shown_is_that_of_the_lowest_ordinal_that_gave_the_merged_ruling() {
    let world = World::new();
    let hooks = json!([pre(&decide("allow", "a")), pre(&decide("ask", "first")), pre(&decide("ask", "second"))]);
    assert_eq!(world.pre(hooks).await.ruling, Some((Ruling::Ask, Ordinal(1), "first".into())));
}

#[tokio::test]
async fn other_exit_codes_are_logged_and_the_chain_goes_on() {
    let world = World::new();
    let outcome = world.pre(json!([pre("exit 1"), pre("touch next")])).await;
    assert!(!outcome.is_denied() && world.exists("next"));
    assert_eq!(rows(&outcome), [(0, Some(1), None), (1, Some(0), None)]);
    assert_eq!(outcome.notes[0].kind, EventKind::HookError);
}

#[tokio::test]
async fn a_hook_that_fails_closed_blocks_on_any_failure() {
    let world = World::new();
    for command in ["exit 1", "yes | head -c 5000000", "printf '{broken'"] {
        let mut hook = pre(command);
        hook["fail_closed"] = true.into();
        assert!(world.pre(json!([hook])).await.is_denied(), "{command}");
        assert!(!world.pre(json!([pre(command)])).await.is_denied(), "{command}");
    }
    let mut slow = pre("sleep 60");
    slow["dialect"] = "claude".into();
    slow["timeout"] = 0.2.into();
    assert!(!world.pre(json!([slow])).await.is_denied());
    slow["fail_closed"] = true.into();
    assert!(world.pre(json!([slow])).await.is_denied(), "also where a timeout would pass");
}

#[tokio::test]
async fn a_setting_makes_every_hook_fail_closed() {
    let world = World::new();
    for dialect in ["sdlc", "claude"] {
        let mut failing = pre("exit 3");
        failing["dialect"] = dialect.into();
        // What is neither true nor false was meant to restrict.
        for (setting, blocked) in [(json!(true), true), (json!(false), false), (json!("yes"), true)] {
            let settings = json!({"hooks": [failing], "hooksFailClosed": setting});
            let outcome = world.fire(settings, EventName::PreToolUse, bash("ls")).await;
            assert_eq!(outcome.is_denied(), blocked, "{dialect} {setting}");
        }
    }
}

#[tokio::test]
async fn updated_input_is_merged_and_seen_by_the_next_hook() {
    let world = World::new();
    let update = |input| print(json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": input}}));
    let hooks =
        json!([pre(&update(json!({"command": "echo A"}))), pre("cat > seen"), pre(&update(json!({"timeout": 5})))]);
    let outcome = world.pre(hooks).await;
    assert_eq!(outcome.input, Some(json!({"command": "echo A", "timeout": 5})));
    assert!(world.read("seen").contains(r#""tool_input":{"command":"echo A"}"#));
}

#[tokio::test]
async fn the_input_of_a_hook_that_denies_is_not_applied() {
    let world = World::new();
    let answer = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "updatedInput": {"command": "x"}}});
    assert_eq!(world.pre(json!([pre(&print(answer))])).await.input, None);
}

#[tokio::test]
async fn continue_false_stops_after_the_rest_has_run() {
    let world = World::new();
    let outcome =
        world.pre(json!([pre(&print(json!({"continue": false, "stopReason": "enough"}))), pre("touch ran")])).await;
    assert_eq!(outcome.stop, Some((Ordinal(0), "enough".into())));
    assert!(world.exists("ran") && !outcome.is_denied());
}

#[tokio::test]
async fn decision_means_what_the_event_makes_of_it() {
    let world = World::new();
    let block = print(json!({"decision": "block", "reason": "why"}));
    let entry = |event: &str| json!([{"hook_event_name": event, "command": block, "shell": "sh"}]);
    let denied = world.fire(json!({"hooks": entry("PreToolUse")}), EventName::PreToolUse, bash("ls")).await;
    assert_eq!((denied.is_denied(), denied.message()), (true, "why".into()));
    let prompt = world
        .fire(json!({"hooks": entry("UserPromptSubmit")}), EventName::UserPromptSubmit, json!({"prompt": "p"}))
        .await;
    assert_eq!(prompt.message(), "[0] why");
    let start = world
        .fire(json!({"hooks": entry("SessionStart")}), EventName::SessionStart, json!({"source": "startup"}))
        .await;
    assert!(!start.is_denied());
}

#[tokio::test]
async fn post_tool_use_hooks_are_never_skipped_and_their_messages_are_joined() {
    let world = World::new();
    let entry = |command: &str| json!({"hook_event_name": "PostToolUse", "command": command, "shell": "sh"});
    let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}, "tool_use_id": "t1"});
    let hooks = json!({"hooks": [entry("echo one >&2; exit 2"), entry("echo two >&2; exit 2")]});
    let outcome = world.fire(hooks, EventName::PostToolUse, fields).await;
    assert_eq!(outcome.message(), "[0] one\n[1] two");
    assert_eq!(rows(&outcome), [(0, Some(2), None), (1, Some(2), None)]);
}

#[tokio::test]
async fn exit_2_where_nothing_can_be_blocked_tells_the_operator() {
    let world = World::new();
    let hooks = json!({"hooks": [{"hook_event_name": "SessionStart", "command": "echo careful >&2; exit 2"}]});
    let outcome = world.fire(hooks, EventName::SessionStart, json!({"source": "startup"})).await;
    assert!(outcome.blocks.is_empty());
    assert_eq!(outcome.messages, [(Ordinal(0), "careful".into())]);
}

#[tokio::test]
async fn plain_text_is_context_on_prompt_and_session_start_only() {
    let world = World::new();
    let context = |event: &'static str, fields: serde_json::Value| {
        let hooks = json!({"hooks": [{"hook_event_name": event, "command": "echo hello"}]});
        let world = &world;
        async move {
            let outcome = world.fire(hooks, event.parse().unwrap(), fields).await;
            outcome.context.into_iter().map(|delivered| delivered.context.text).collect::<Vec<_>>()
        }
    };
    assert_eq!(context("SessionStart", json!({"source": "clear"})).await, ["hello"]);
    assert_eq!(context("UserPromptSubmit", json!({"prompt": "x"})).await, ["hello"]);
    assert!(context("Stop", json!({"stop_hook_active": false})).await.is_empty());
}

#[tokio::test]
async fn invalid_output_applies_nothing_and_is_noted() {
    let world = World::new();
    let invalid = [
        r#"{"continue":false} {"continue":true}"#.to_owned(),
        json!({"decision": "Block"}).to_string(),
        json!({"continue": "no"}).to_string(),
        json!({"hookSpecificOutput": {"hookEventName": "Stop", "permissionDecision": "deny"}}).to_string(),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "Allow"}}).to_string(),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "defer"}}).to_string(),
        "{".to_owned(),
    ];
    for text in invalid {
        let outcome = world.pre(json!([pre(&format!("printf '%s' '{text}'"))])).await;
        assert_eq!((outcome.ruling.as_ref(), outcome.stop.as_ref()), (None, None), "{text}");
        assert_eq!(
            outcome.notes.iter().map(|note| note.kind).collect::<Vec<_>>(),
            [EventKind::HookOutputInvalid],
            "{text}"
        );
        assert_eq!(outcome.runs[0].exit_code, Some(0));
    }
}

#[tokio::test]
async fn a_deny_behind_a_blank_line_or_bom_still_denies() {
    let world = World::new();
    let outcome = world.pre(json!([pre(&format!("printf '\\357\\273\\277\\n \\n'; {}", decide("deny", "r")))])).await;
    assert!(outcome.is_denied());
}

#[tokio::test]
async fn the_async_stub_is_rejected_whole_but_exit_2_blocks() {
    let world = World::new();
    let stub = print(json!({"async": true, "decision": "block"}));
    let outcome = world.pre(json!([pre(&stub)])).await;
    assert!(!outcome.is_denied());
    assert_eq!(outcome.notes[0].kind, EventKind::HookAsyncRejected);
    assert!(world.pre(json!([pre(&format!("{stub}; exit 2"))])).await.is_denied());
}

#[tokio::test]
async fn a_hook_configured_as_asynchronous_runs_in_its_place_and_decides_nothing() {
    let world = World::new();
    let mut hook = pre("touch ran; exit 2");
    hook["async"] = true.into();
    let outcome = world.pre(json!([hook])).await;
    assert!(world.exists("ran") && !outcome.is_denied());
    assert_eq!((outcome.runs[0].exit_code, outcome.notes[0].kind), (Some(2), EventKind::HookAsyncRejected));
}

#[tokio::test]
async fn hooks_never_overlap() {
    let world = World::new();
    let hook = |n: u32| pre(&format!("echo start {n} >> log; sleep 0.05; echo end {n} >> log"));
    world.pre(json!([hook(1), hook(2), hook(3)])).await;
    assert_eq!(world.read("log"), "start 1\nend 1\nstart 2\nend 2\nstart 3\nend 3\n");
}

#[tokio::test]
async fn permission_request_hooks_merge_deny_over_allow() {
    let world = World::new();
    let answer = |decision| {
        let command =
            print(json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}));
        json!({"hook_event_name": "PermissionRequest", "command": command, "shell": "sh"})
    };
    let fields = || json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let both = json!({"hooks": [answer(json!({"behavior": "allow"})), answer(json!({"behavior": "deny", "message": "no", "interrupt": true}))]});
    let outcome = world.fire(both, EventName::PermissionRequest, fields()).await;
    let expected = ona_hookplane::RequestDecision::Deny { message: "no".into(), interrupt: true };
    assert_eq!(outcome.permission_request(), Some((Ordinal(1), expected)));
    let malformed = json!({"hooks": [answer(json!({"behavior": "maybe"}))]});
    let outcome = world.fire(malformed, EventName::PermissionRequest, fields()).await;
    assert_eq!(outcome.permission_request(), None);
}
