//! Events around a session: what starts it, what ends a turn, what hooks leave behind.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

#[test]
fn c27_plain_text_at_start_and_prompt_is_context() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done")]);
    install(
        &ona,
        json!({"SessionStart": [group("", &["echo You are the mayor"])],
            "UserPromptSubmit": [group("", &["echo '<system-reminder>check your mail</system-reminder>'"])],
            "Stop": [group("", &["echo only logged"])]}),
    );
    ona.run(["-p", "hello"]).expect_code(0);
    let told = server.request(0).last_message();
    for text in ["You are the mayor", "<system-reminder>check your mail</system-reminder>", "hello"] {
        assert!(told.contains(text), "{text}: {told}");
    }
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%only logged%'"), 0);
    assert_eq!(ona.value("SELECT stdout_text FROM hook_invocations WHERE hook_event='Stop'"), "only logged\n");
}

#[test]
fn c28_a_matcher_on_the_start_knows_how_it_came_about() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("one"), say("two"), say("a summary"), say("three")]);
    install(&ona, json!({"SessionStart": [group("startup|clear|compact", &["cat >> starts"])]}));
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "on", "-r", "s"]).expect_code(0);
    let sources = |ona: &Ona| dumped(ona, "starts").iter().map(|event| event["source"].clone()).collect::<Vec<_>>();
    assert_eq!(sources(&ona), ["startup"], "not on resume");
    ona.run(["-p", "/compact", "-r", "s"]).expect_code(0);
    assert_eq!(sources(&ona), ["startup", "compact"]);
    drop(server);
}

#[test]
fn c29_a_stop_hook_sends_the_agent_back_with_its_reason() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("I am done"), say("really done")]);
    let block =
        r#"tee -a stops | jq -c 'if .stop_hook_active then {} else {decision:"block",reason:"run the tests"} end'"#;
    install(&ona, json!({"Stop": [group("", &[block])]}));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ran.stdout, "really done\n");
    assert!(server.request(1).last_message().contains("run the tests"));
    let stops = dumped(&ona, "stops");
    let seen: Vec<_> = stops.iter().map(|stop| (&stop["stop_hook_active"], &stop["last_assistant_message"])).collect();
    assert_eq!(seen, [(&json!(false), &json!("I am done")), (&json!(true), &json!("really done"))]);
}

#[test]
fn a_stop_hook_that_never_gives_in_is_heard_eight_times_and_the_turn_has_failed() {
    for form in ["text", "json"] {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, (0..12).map(|n| say(&format!("done {n}"))).collect::<Vec<_>>());
        install(&ona, json!({"Stop": [group("", &["echo never >&2; exit 2"])]}));
        let ran = ona.run(["-p", "go", "--output-format", form]).expect_code(1);
        assert_eq!(server.request_count(), 9);
        let why = "Stop hooks blocked 8 times in a row; the turn was ended";
        if form == "text" {
            assert_eq!((ran.stdout.as_str(), ran.stderr), ("", format!("ona: {why}\n")));
            continue;
        }
        let result = ran.json();
        assert_eq!(
            (&result["subtype"], &result["is_error"], &result["terminal_reason"], &result["errors"], &result["result"]),
            (
                &json!("error_during_execution"),
                &json!(true),
                &json!("stop_hook_prevented"),
                &json!([why]),
                &json!("done 8")
            )
        );
    }
}

#[test]
fn an_agent_whose_stop_hook_never_gives_in_has_failed() {
    let mut ona = ona();
    let agent = call("Agent", json!({"description": "d", "prompt": "work"}));
    let work = (0..9).map(|n| say(&format!("report {n}")));
    let server =
        ona.model(Wire::Messages, std::iter::once(agent).chain(work).chain([say("noted")]).collect::<Vec<_>>());
    install(&ona, json!({"SubagentStop": [group("", &["echo never >&2; exit 2"])]}));
    let ran = ona.run(["-p", "go", "--allowedTools", "Agent"]).expect_code(0);
    assert_eq!(ran.stdout, "noted\n");
    let told = server.request(10).last_message();
    assert!(told.contains("SubagentStop hooks blocked 8 times in a row") && told.contains("report 8"), "{told}");
    let failed = "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND json_extract(payload_json,'$.is_error')";
    assert_eq!(ona.value(failed), 1);
}

#[test]
fn continue_false_beats_a_block_of_the_stop() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done"), say("never")]);
    let both = print(&json!({"continue": false, "stopReason": "enough", "decision": "block", "reason": "go on"}));
    install(&ona, json!({"Stop": [group("", &[&both])]}));
    let ran = ona.run(["-p", "go"]);
    assert_eq!(server.request_count(), 1);
    assert!(ran.stderr.contains("enough"), "{ran:?}");
    assert!(!ran.stderr.contains("times in a row"), "{}", ran.stderr);
}

#[test]
fn c30_exported_variables_reach_later_shells() {
    let mut ona = ona();
    let script = [
        call("Bash", json!({"command": "echo a=$A"})),
        call("Bash", json!({"command": "mkdir -p d && cd d"})),
        call("Bash", json!({"command": "echo a=$A b=$B"})),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    install_with(
        &ona,
        json!({"SessionStart": [group("", &["echo 'export A=1' >> \"$CLAUDE_ENV_FILE\""])],
            "CwdChanged": [group("", &["echo 'export B=2' >> \"$CLAUDE_ENV_FILE\""])],
            "PreToolUse": [group("", &["test -z \"$CLAUDE_ENV_FILE\""])]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert!(server.request(1).last_message().contains("a=1"), "{}", server.request(1).last_message());
    assert!(server.request(3).last_message().contains("a=1 b=2"), "{}", server.request(3).last_message());
    assert_eq!(notices(&ona), Vec::<Value>::new(), "the tool events have no such file");
}

/// The fifteen events public configurations use (K25), each with what it brings. Nobody is asked
/// and nothing configured in such a run, so Notification and ConfigChange come by `--fire-hook`.
#[test]
fn k25_fifteen_events_are_told_with_their_fields() {
    let mut ona = ona();
    ona.file("CLAUDE.md", "Be kind.\n");
    let agent = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
    let script = [
        call("Bash", json!({"command": "echo fine"})),
        call("Bash", json!({"command": "exit 3"})),
        call("Write", json!({"file_path": "a", "content": "x"})),
        call("Agent", agent),
        say("report"),
        say("done"),
        say("a summary"),
    ];
    let _server = ona.model(Wire::Messages, script);
    let events = [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
        "SessionStart",
        "SessionEnd",
        "Stop",
        "SubagentStop",
        "SubagentStart",
        "PreCompact",
        "PermissionRequest",
        "Notification",
        "ConfigChange",
        "Setup",
        "InstructionsLoaded",
    ];
    let hooks: serde_json::Map<_, _> =
        events.iter().map(|event| ((*event).into(), json!([group("", &["cat >> all"])]))).collect();
    install_with(&ona, hooks.into(), json!({"permissions": {"allow": ["Bash"]}}));
    ona.run(["-p", "go", "--init", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "/compact keep names", "-r", "s"]).expect_code(0);
    ona.run(["--fire-hook", r#"{"hook_event_name":"Notification","message":"m","notification_type":"idle_prompt"}"#])
        .expect_code(0);
    ona.run(["--fire-hook", r#"{"hook_event_name":"ConfigChange","source":"user_settings","file_path":"/x"}"#])
        .expect_code(0);
    let all = dumped(&ona, "all");
    let own: [(&str, &[&str]); 15] = [
        ("PreToolUse", &["tool_name", "tool_input", "tool_use_id"]),
        ("PostToolUse", &["tool_name", "tool_input", "tool_response", "tool_use_id"]),
        ("PostToolUseFailure", &["tool_name", "tool_input", "tool_use_id", "error"]),
        ("UserPromptSubmit", &["prompt"]),
        ("SessionStart", &["source"]),
        ("SessionEnd", &["reason"]),
        ("Stop", &["stop_hook_active", "last_assistant_message"]),
        ("SubagentStop", &["stop_hook_active", "agent_id", "agent_type", "last_assistant_message"]),
        ("SubagentStart", &["agent_id", "agent_type"]),
        ("PreCompact", &["trigger", "custom_instructions"]),
        ("PermissionRequest", &["tool_name", "tool_input", "permission_suggestions"]),
        ("Notification", &["message", "notification_type"]),
        ("ConfigChange", &["source", "file_path"]),
        ("Setup", &["trigger"]),
        ("InstructionsLoaded", &["file_path", "memory_type", "load_reason"]),
    ];
    for (event, fields) in own {
        let told = all.iter().find(|told| told["hook_event_name"] == event).unwrap_or_else(|| panic!("no {event}"));
        let base = ["session_id", "conversation_id", "runtime_db_path", "cwd"];
        for field in base.iter().chain(fields) {
            assert!(told.get(field).is_some(), "{event} has no {field}: {told}");
        }
        assert!(told.get("transcript_path").is_none() && told["permission_mode"] != "auto", "{told}");
        assert_eq!(told["effort"], json!({"level": "medium"}), "{event}");
    }
    let of = |event: &str| all.iter().filter(|told| told["hook_event_name"] == event).cloned().collect::<Vec<_>>();
    assert!(of("PostToolUseFailure")[0]["error"].is_string());
    assert!(of("PermissionRequest")[0].get("tool_use_id").is_none(), "the event has none");
    assert_eq!(of("PreCompact")[0]["custom_instructions"], "keep names");
    let ids = |event: &str| of(event).iter().map(|told| told["tool_use_id"].clone()).collect::<Vec<_>>();
    assert!(ids("PreToolUse").contains(&ids("PostToolUse")[0]), "the same id before and after");
    let mut sessions: Vec<_> = of("PreToolUse").iter().map(|told| told["session_id"].clone()).collect();
    sessions.dedup();
    assert_eq!(sessions, ["s"]);
}

#[test]
fn a_failed_command_is_told_with_its_exit_code() {
    let ona = ona();
    install(&ona, json!({"PostToolUseFailure": [group("Bash", &["cat >> failed"])]}));
    ona.file(
        ".ona/settings.json",
        json!({"hooks": [{"hook_event_name": "PostToolUseFailure", "command": "cat >> sdlc", "shell": "sh"}]})
            .to_string(),
    );
    for command in ["exit 3", "echo half; exit 4"] {
        ona.eval("Bash", json!({ "command": command }));
    }
    let errors = |file: &str| dumped(&ona, file).iter().map(|event| event["error"].clone()).collect::<Vec<_>>();
    assert_eq!(errors("failed"), ["Exit code 3", "Exit code 4\nhalf"]);
    assert_eq!(errors("sdlc")[1], "half\n", "elsewhere the text of the result");
}

#[test]
fn inside_a_subagent_hooks_are_told_which() {
    let mut ona = ona();
    let agent = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
    let script = [call("Agent", agent), call("Bash", json!({"command": "true"})), say("report"), say("done")];
    let _server = ona.model(Wire::Messages, script);
    install_with(
        &ona,
        json!({"PreToolUse": [group("", &["cat >> pre"])], "SubagentStart": [group("general-purpose", &["cat >> sub"])],
            "SubagentStop": [group("general-purpose", &["cat >> sub"]), group("explore", &["touch never"])]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    let pre = dumped(&ona, "pre");
    assert!(pre[0].get("agent_id").is_none(), "{}", pre[0]);
    assert_eq!(pre[1]["agent_type"], "general-purpose", "{}", pre[1]);
    let sub = dumped(&ona, "sub");
    assert_eq!((&sub[0]["agent_id"], &sub[1]["agent_id"]), (&pre[1]["agent_id"], &pre[1]["agent_id"]));
    assert!(!ona.exists("never"));
}
