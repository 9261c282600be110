//! What hooks print, the way hooks in the wild print it.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

#[test]
fn c26_a_hook_that_echoes_its_stdin_has_no_effect_on_any_event() {
    let mut ona = ona();
    ona.file("CLAUDE.md", "Be kind.\n");
    let agent = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
    let script = [
        call("Bash", json!({"command": "exit 3"})),
        call("Bash", json!({"command": "echo fine"})),
        call("Write", json!({"file_path": "a", "content": "x"})),
        call("Agent", agent),
        say("report"),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    let events = ona_api_events();
    let hooks: serde_json::Map<_, _> =
        events.iter().map(|event| (event.clone(), json!([group("", &["cat"])]))).collect();
    install_with(&ona, hooks.into(), json!({"permissions": {"allow": ["Bash"]}}));
    let ran = ona.run(["-p", "go", "--init"]).expect_code(0);
    assert_eq!((ran.stdout.as_str(), server.request_count()), ("done\n", 6), "{ran:?}");
    for request in server.requests() {
        assert!(!String::from_utf8_lossy(&request.body).contains("hook-context"), "{}", request.last_message());
    }
    assert_eq!(notices(&ona), Vec::<Value>::new());
    let fired = ona.column("SELECT DISTINCT hook_event FROM hook_invocations WHERE exit_code=0 ORDER BY 1");
    let expected = [
        "InstructionsLoaded",
        "PermissionDenied",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "PreToolUse",
        "SessionEnd",
        "SessionStart",
        "Setup",
        "Stop",
        "SubagentStart",
        "SubagentStop",
        "UserPromptSubmit",
    ];
    assert_eq!(fired, expected);
    // The events no run like this one has.
    for (event, stdin) in event_fields() {
        let fired = ona.run(["--fire-hook", &stdin.to_string()]).expect_code(0).json();
        assert_eq!(
            (&fired["denied"], fired["notes"].as_array().map(Vec::len)),
            (&json!(false), Some(0)),
            "{event}: {fired}"
        );
    }
}

/// Every event there is, from the program itself.
fn ona_api_events() -> Vec<String> {
    let schema = ona().run(["--hook-schema"]).expect_code(0).json();
    let events = schema["events"].as_array().expect("a list of events");
    events.iter().map(|event| event["hook_event_name"].as_str().unwrap().to_owned()).collect()
}

fn event_fields() -> Vec<(&'static str, Value)> {
    [
        ("Notification", json!({"message": "m", "notification_type": "idle_prompt"})),
        ("PreCompact", json!({"trigger": "manual", "custom_instructions": null})),
        ("PostCompact", json!({"trigger": "manual", "compact_summary": "s"})),
        ("ConfigChange", json!({"source": "user_settings", "file_path": "/x"})),
        ("StopFailure", json!({"error": "rate_limit"})),
        ("CwdChanged", json!({"old_cwd": "/a", "new_cwd": "/b"})),
        ("TaskCreated", json!({"task_id": "t", "task_subject": "s"})),
        ("Elicitation", json!({"mcp_server_name": "m", "message": "q"})),
        ("ElicitationResult", json!({"mcp_server_name": "m", "action": "accept"})),
    ]
    .into_iter()
    .map(|(event, mut fields)| {
        fields["hook_event_name"] = event.into();
        (event, fields)
    })
    .collect()
}

/// Text of `count` characters `what`, printed as plain context.
fn long(what: &str, count: usize) -> String {
    format!("head -c {count} /dev/zero | sed 's/\\x00/{what}/g'")
}

#[test]
fn context_over_ten_thousand_characters_is_a_preview_with_the_whole_attached() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done")]);
    let session_start = long("s", 60_000);
    install(
        &ona,
        json!({"UserPromptSubmit": [group("", &[&long("x", 10_000), &long("é", 10_001)])], "SessionStart": [group("", &[&session_start])]}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    let told = server.request(0).last_message();
    assert_eq!((told.matches('x').count() / 10_000, told.matches('s').count() / 60_000), (1, 1), "both whole");
    assert!(told.matches('é').count() < 10_000 && told.contains("10001 characters in all"), "a preview with a pointer");
    let kept = ona.column("SELECT length(json_extract(payload_json,'$.attachment.text')) FROM transcript_entries WHERE entry_type='attachment'");
    assert_eq!(kept, [10_001]);
}

#[test]
fn a_hook_can_stop_a_session_before_it_begins() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("never")]);
    install(
        &ona,
        json!({"SessionStart": [group("", &[&print(&json!({"continue": false, "stopReason": "no licence"}))])]}),
    );
    let ran = ona.run(["-p", "go"]);
    assert_eq!(server.request_count(), 0);
    assert!(ran.stderr.contains("no licence"), "{ran:?}");
}

#[test]
fn a_cancelled_compaction_says_why() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("one"), say("never")]);
    install(&ona, json!({"PreCompact": [group("manual", &["echo not while we test >&2; exit 2"])]}));
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    let ran = ona.run(["-p", "/compact", "-r", "s"]).expect_code(0);
    assert!(ran.stderr.contains("not while we test"), "{ran:?}");
    assert_eq!(server.request_count(), 1);
}
