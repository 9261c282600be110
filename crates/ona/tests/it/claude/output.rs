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

fn bash_under(hook: &str) -> (Ona, Value) {
    let ona = ona();
    install(&ona, json!({"PreToolUse": [group("Bash", &[hook])]}));
    let ran = ona.eval("Bash", json!({"command": "echo ran"}));
    (ona, ran)
}

#[test]
fn what_is_not_one_object_decides_nothing_and_breaks_nothing() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;
    let twice = format!("echo '{deny}'; echo '{deny}'");
    let truncated = format!("printf '%s' '{}'", &deny[..40]);
    let array = format!("echo '[{deny}]'");
    let text = format!("echo 'result: {deny}'");
    for (hook, noted) in [(twice, 1), (truncated, 1), (array, 0), (text, 0), ("echo plain".into(), 0)] {
        let (ona, ran) = bash_under(&hook);
        assert_eq!((&ran["content"], notices(&ona).len()), (&json!("ran\n"), noted), "{hook}");
    }
}

/// DEC-048: where the sheet would take no decision, noise of a login shell is skipped.
#[test]
fn an_object_behind_lines_of_noise_is_still_read() {
    let (_, ran) = bash_under(&format!("echo 'Welcome {{you}}'; {}", decides("deny")));
    assert_eq!(ran["content"], "Denied by PreToolUse hook\ndeny it");
}

#[test]
fn a_text_with_json_in_it_stays_context() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done")]);
    let hook = r#"printf 'The package:\n{"name":"x"}\n'"#;
    install(&ona, json!({"SessionStart": [group("", &[hook])]}));
    ona.run(["-p", "go"]).expect_code(0);
    let told = server.request(0).last_message();
    assert!(told.contains("The package:") && told.contains("\"name\""), "{told}");
}

#[test]
fn a_wrongly_typed_key_voids_itself_and_is_noted() {
    let answer = json!({"continue": "false", "suppressOutput": 1, "systemMessage": ["x"], "decision": "maybe",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": 5, "updatedInput": [], "strange": 1}});
    let (ona, ran) = bash_under(&print(&answer));
    assert_eq!(ran["content"], "Denied by PreToolUse hook", "what is right still counts");
    let why = ona
        .column("SELECT json_extract(detail,'$.why') FROM events WHERE event_type='hook_output_invalid' ORDER BY id");
    let named = ["systemMessage", "continue", "suppressOutput", "decision", "permissionDecisionReason", "updatedInput"];
    assert_eq!(why.len(), named.len(), "{why:?}");
    assert!(named.iter().all(|name| why.iter().any(|why| why.as_str().unwrap().contains(name))), "{why:?}");
}

#[test]
fn a_foreign_envelope_decides_nothing() {
    for name in [json!("PostToolUse"), Value::Null] {
        let mut answer = json!({"hookSpecificOutput": {"permissionDecision": "deny"}});
        if !name.is_null() {
            answer["hookSpecificOutput"]["hookEventName"] = name.clone();
        }
        let (ona, ran) = bash_under(&print(&answer));
        assert_eq!((&ran["content"], notices(&ona)), (&json!("ran\n"), vec![json!("hook_output_invalid")]), "{name}");
    }
}

#[test]
fn continue_false_ends_the_turn_and_its_reason_is_the_users() {
    for event in ["PreToolUse", "PostToolUse"] {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("never asked")]);
        let stop = print(&json!({"continue": false, "stopReason": "build is broken",
            "hookSpecificOutput": {"hookEventName": event, "permissionDecision": "allow"}}));
        let mut hooks = json!({});
        hooks[event] = json!([group("Bash", &[&stop])]);
        install_with(&ona, hooks, json!({"permissions": {"allow": ["Bash"]}}));
        let ran = ona.run(["-p", "go"]);
        assert_eq!((server.request_count(), ona.exists("ran")), (1, event == "PostToolUse"), "{event}");
        assert!(ran.stderr.contains("build is broken"), "{event}: {ran:?}");
        assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%hook_stopped%'"), 1);
    }
}

#[test]
fn a_system_message_is_the_users_and_never_the_models() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "true"})), say("done")]);
    let hook = print(&json!({"systemMessage": "disk almost full", "suppressOutput": true}));
    install_with(&ona, json!({"PostToolUse": [group("Bash", &[&hook])]}), json!({"permissions": {"allow": ["Bash"]}}));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ran.stderr.matches("disk almost full").count(), 1, "{}", ran.stderr);
    assert!(!String::from_utf8_lossy(&server.request(1).body).contains("disk almost full"));
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%disk almost full%'"), 1);
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
fn the_start_of_a_session_may_say_64_kib_and_no_more() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("a"), say("b")]);
    install(
        &ona,
        json!({"SessionStart": [group("startup", &[&long("z", 65_536)]), group("resume", &[&long("é", 33_000)])]}),
    );
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    assert!(server.request(0).last_message().matches('z').count() >= 65_536);
    ona.run(["-p", "on", "-r", "s"]).expect_code(0);
    let told = String::from_utf8_lossy(&server.request(1).body).into_owned();
    assert!(told.matches('é').count() < 33_000, "66000 bytes");
}

#[test]
fn a_hook_configured_as_asynchronous_runs_in_its_place_and_decides_nothing() {
    let ona = ona();
    let detached = |key: &str, command: &str| json!({"type": "command", "command": command, key: true});
    let handlers = json!([
        detached("async", "cat > seen; exit 2"),
        detached("asyncRewake", &format!("echo second >> order; {}", decides("deny"))),
        {"type": "command", "command": "echo third >> order"},
    ]);
    install(&ona, json!({"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}));
    let calls = json!({"tool": "Bash", "input": {"command": "echo ran"}}).to_string().repeat(2);
    let ran = ona.run_with_stdin(["--eval", "-"], calls.as_bytes()).expect_code(0);
    assert_eq!(ran.stdout.matches("ran\\n").count(), 2, "{ran:?}");
    assert_eq!(ona.read("order"), "second\nthird\nsecond\nthird\n");
    assert_eq!(dumped(&ona, "seen")[0]["tool_name"], "Bash");
    assert_eq!(
        ona.value("SELECT count(*) FROM events WHERE event_type='hook_async_rejected'"),
        2,
        "one row for each such hook"
    );
}

#[test]
fn an_answer_that_wants_to_be_asynchronous_is_rejected_whole() {
    let (ona, ran) = bash_under(&print(
        &json!({"async": true, "continue": false, "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}),
    ));
    assert_eq!((&ran["content"], notices(&ona)), (&json!("ran\n"), vec![json!("hook_async_rejected")]));
}

#[test]
fn exit_2_does_on_each_event_what_the_event_can_do() {
    let ona = ona();
    let events = ona_api_events();
    let hooks: serde_json::Map<_, _> =
        events.iter().map(|event| (event.clone(), json!([group("", &["echo stop it >&2; exit 2"])]))).collect();
    install(&ona, hooks.into());
    let blocks = ["ConfigChange", "PreCompact", "TaskCreated", "Elicitation", "ElicitationResult"];
    for (event, stdin) in event_fields() {
        let fired = ona.run(["--fire-hook", &stdin.to_string()]).expect_code(0).json();
        assert_eq!(fired["denied"], blocks.contains(&event), "{event}: {fired}");
        assert!(fired.to_string().contains("stop it"), "{event}: the words are kept: {fired}");
    }
}

#[test]
fn exit_2_around_a_turn() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [call("Bash", json!({"command": "echo fine"})), call("Bash", json!({"command": "exit 3"})), say("done")],
    );
    let says = |what: &str| format!("echo {what} >&2; exit 2");
    install_with(
        &ona,
        json!({"SessionStart": [group("", &[&says("at-start")])], "PostToolUse": [group("", &[&says("after-success")])],
            "PostToolUseFailure": [group("", &[&says("after-failure")])], "SessionEnd": [group("", &[&says("at-end")])]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert!(server.request(1).last_message().contains("after-success"), "{}", server.request(1).last_message());
    assert!(server.request(2).last_message().contains("after-failure"), "{}", server.request(2).last_message());
    assert!(ran.stderr.contains("at-start") && ran.stderr.contains("at-end"), "the operator's: {}", ran.stderr);
    assert!(!String::from_utf8_lossy(&server.request(2).body).contains("at-start"));
}

#[test]
fn a_rejected_prompt_is_erased_and_its_reason_is_the_users() {
    for hook in
        ["echo secret plans >&2; exit 2".to_owned(), print(&json!({"decision": "block", "reason": "secret plans"}))]
    {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, [say("never")]);
        install(&ona, json!({"UserPromptSubmit": [group("", &[&hook])]}));
        let ran = ona.run(["-p", "the launch code is canary-7"]).expect_code(1);
        assert!(ran.stderr.contains("secret plans"), "{}", ran.stderr);
        assert_eq!(server.request_count(), 0);
        assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%canary-7%'"), 0);
    }
}

#[test]
fn a_request_can_be_refused_or_granted_by_a_hook() {
    let allow = says("PermissionRequest", json!({"decision": {"behavior": "allow"}}));
    for (hook, runs) in [("exit 2", false), (allow.as_str(), true), ("true", false)] {
        let mut ona = ona();
        let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("done")]);
        install(&ona, json!({"PermissionRequest": [group("Bash", &[hook])]}));
        ona.run(["-p", "go"]).expect_code(0);
        assert_eq!(ona.exists("ran"), runs, "{hook}");
    }
}

#[test]
fn what_is_null_is_not_there_and_an_empty_envelope_is_no_mistake() {
    let nulls = json!({"continue": null, "decision": null, "reason": null, "systemMessage": null, "stopReason": null,
        "suppressOutput": null, "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": null, "updatedInput": null}});
    let (ona, ran) = bash_under(&print(&nulls));
    assert_eq!((&ran["content"], notices(&ona)), (&json!("ran\n"), vec![]));
    let ona = crate::ona();
    install(
        &ona,
        json!({"Stop": [group("", &[&says("Stop", json!({}))])], "PreCompact": [group("", &[&says("PreCompact", json!({}))])]}),
    );
    ona.run(["--fire-hook", r#"{"hook_event_name":"Stop","stop_hook_active":false}"#]).expect_code(0);
    ona.run(["--fire-hook", r#"{"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":null}"#])
        .expect_code(0);
    assert_eq!((hook_rows(&ona, "Stop"), notices(&ona)), (1, vec![]));
}

#[test]
fn a_hook_that_reads_nothing_of_a_large_input_is_fine() {
    let ona = ona();
    install(&ona, json!({"PreToolUse": [group("Write", &["true", "exec 0<&-; exit 0"])]}));
    let ran = ona.eval_with("Write", json!({"file_path": "big", "content": "x".repeat(100_000)}), &[]);
    assert_eq!((&ran["is_error"], notices(&ona)), (&json!(false), vec![]));
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
