//! `ona -p` against a scripted model that speaks the real wires.

use crate::ona;
use ona_testkit::model::{Wire, call, calls, say};
use serde_json::{Value, json};

#[test]
fn hooks_around_a_turn_fire_in_order_and_their_words_reach_the_model() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("one"), say("two")]);
    let log = |event: &str, more: &str| json!({"hook_event_name": event, "command": format!("echo {event} >> log; {more}"), "shell": "sh"});
    ona.settings(json!({"hooks": [
        log("SessionStart", "echo from-start"), log("UserPromptSubmit", "echo from-prompt"), log("InstructionsLoaded", "true"), log("SessionEnd", "true"),
        log("Stop", "grep -q '\"stop_hook_active\":true' || { echo once-more >&2; exit 2; }"),
    ], "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.file("CLAUDE.md", "x");
    let ran = ona.run(["-p", "hello"]).expect_code(0);
    assert_eq!(ran.stdout, "two\n");
    assert_eq!(ona.read("log"), "SessionStart\nInstructionsLoaded\nUserPromptSubmit\nStop\nStop\nSessionEnd\n");
    let first = server.request(0).last_message();
    assert!(first.contains("from-start") && first.contains("from-prompt"), "{first}");
    assert!(server.request(1).last_message().contains("once-more"));
}

#[test]
fn a_resumed_session_answers_what_a_crash_left_open() {
    let mut ona = ona();
    let server =
        ona.model(Wire::Messages, [call("Bash", json!({"command": "touch started; sleep 30"})), say("I see.")]);
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let mut child = ona.command(["-p", "go", "--session-id", "s"]).spawn().unwrap();
    ona.wait_for("started", &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = ona.run(["-p", "what happened?", "-r", "s"]).expect_code(0);
    assert_eq!(ran.stdout, "I see.\n");
    assert!(server.request(1).last_message().contains("interrupted before a result was recorded"));
    assert_eq!(
        ona.value("SELECT count(*) FROM events WHERE event_type='tool_started'"),
        1,
        "the call did not run twice"
    );
}

#[test]
fn sessions_can_be_listed_shown_and_exported() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*"})), say("Nothing here.")]);
    ona.run(["-p", "what is here?", "--session-id", "s-1"]).expect_code(0);
    let list = ona.run(["sessions", "list", "--json"]).expect_code(0).json();
    assert_eq!((&list[0]["session_id"], &list[0]["first_user_text"]), (&json!("s-1"), &json!("what is here?")));
    let shown = ona.run(["sessions", "show", "s-1"]).expect_code(0).stdout;
    assert!(shown.contains("what is here?") && shown.contains("Nothing here."), "{shown}");
    let lines = ona.run(["sessions", "export", "s-1", "--format", "jsonl"]).expect_code(0).stdout;
    let kinds: Vec<_> =
        lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].clone()).collect();
    assert!(kinds.contains(&json!("user")) && kinds.contains(&json!("assistant")), "{kinds:?}");
    ona.run(["sessions", "show", "nobody"]).expect_code(2);
}

#[test]
fn a_subagent_has_a_session_of_its_own_and_the_same_rules() {
    let mut ona = ona();
    ona.file("a.txt", "x\n");
    let server = ona.model(
        Wire::Messages,
        [
            call("Agent", json!({"description": "look", "prompt": "look at a.txt", "subagent_type": "explore"})),
            calls([("Read", json!({"file_path": "a.txt"})), ("Bash", json!({"command": "touch ran"}))]),
            say("It says x."),
            say("The agent says: x."),
        ],
    );
    ona.settings(json!({"permissions": {"allow": ["Read", "Agent"], "deny": ["Bash(touch *)"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": [
            {"hook_event_name": "SubagentStart", "matcher": "explore", "command": "cat >> lifecycle; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SubagentStart\",\"additionalContext\":\"be quick\"}}'", "shell": "sh"},
            {"hook_event_name": "SubagentStop", "command": "cat >> lifecycle", "shell": "sh"},
            {"hook_event_name": "PreToolUse", "matcher": "Read", "command": "cat > inside", "shell": "sh"},
        ]}));
    let ran = ona.run(["-p", "ask a helper", "--session-id", "main"]).expect_code(0);
    assert_eq!(ran.stdout, "The agent says: x.\n");
    assert_eq!(ona.value("SELECT count(DISTINCT session_id) FROM transcript_entries"), 2);
    let child = server.request(1);
    assert_eq!(child.tool_names(), ["Read", "Glob", "Grep"], "explore cannot write");
    assert!(child.last_message().contains("look at a.txt") && child.last_message().contains("be quick"));
    assert!(server.request(2).last_message().contains("Unknown tool Bash"), "{}", server.request(2).last_message());
    assert!(server.request(3).last_message().contains("It says x."));
    let inside: Value = serde_json::from_str(&ona.read("inside")).unwrap();
    assert_eq!((&inside["agent_type"], &inside["agent_id"]), (&json!("explore"), &inside["session_id"]));
    let lifecycle: Vec<Value> = ona.read("lifecycle").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lifecycle[0]["session_id"], &lifecycle[0]["agent_id"]), (&json!("main"), &inside["agent_id"]));
    assert_eq!(
        (&lifecycle[1]["agent_transcript_path"], &lifecycle[1]["last_assistant_message"]),
        (&json!(""), &json!("It says x."))
    );
    assert!(!ona.exists("ran"));
}

#[test]
fn denies_and_the_phase_hold_inside_a_subagent() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [
            call("Agent", json!({"description": "do", "prompt": "do it"})),
            calls([
                ("Bash", json!({"command": "rm -rf x"})),
                ("Bash", json!({"command": "touch a"})),
                ("Write", json!({"file_path": "b", "content": "x"})),
            ]),
            say("no luck"),
            say("no luck either"),
        ],
    );
    ona.settings(json!({"permissions": {"allow": ["Bash", "Write", "Agent"], "deny": ["Bash(rm:*)"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', '/tmp', 'planning')", []);
    ona.run(["-p", "go", "--conversation", "c"]).expect_code(0);
    let told = server.request(2).last_message();
    assert_eq!(told.matches("(error)").count(), 3, "H-10, I-10, M-4: {told}");
    assert!(!ona.exists("a") && !ona.exists("b"));
    assert_eq!(ona.value("SELECT count(*) FROM tool_permission_log WHERE decision='deny'"), 3);
}

#[test]
fn agents_can_work_in_the_background_and_be_asked_for_their_report() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, []);
    let server = ona_testkit::model::ModelServer::answering(Wire::Messages, |request| {
        let said = request.last_message();
        if said.contains("look around") {
            say("All quiet.")
        } else if said.contains("Started task") {
            call("TaskOutput", json!({"task_id": "a1"}))
        } else if said.contains("All quiet.") {
            say("It reports: all quiet.")
        } else {
            call("Agent", json!({"description": "watch", "prompt": "look around", "run_in_background": true}))
        }
    });
    ona.talk_to(&server);
    let ran = ona.run(["-p", "keep watch"]).expect_code(0);
    assert_eq!(ran.stdout, "It reports: all quiet.\n");
}

#[test]
fn a_fork_goes_on_by_itself() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*"})), say("one"), say("two")]);
    ona.run(["-p", "first", "--session-id", "s"]).expect_code(0);
    let before = ona.value("SELECT count(*) FROM transcript_entries WHERE session_id='s'");
    ona.run(["-p", "second", "-r", "s", "--fork-session", "--session-id", "f"]).expect_code(0);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE session_id='s'"), before);
    let body = String::from_utf8(server.request(2).body.clone()).unwrap();
    assert!(body.contains("first") && body.contains("second"));
    let strays = "SELECT count(*) FROM transcript_entries t JOIN transcript_entries p ON p.id = t.parent_entry_id WHERE t.session_id = 'f' AND p.session_id <> 'f'";
    assert_eq!((ona.value(strays), ona.run(["db", "check"]).code), (json!(0), 0));
    assert_eq!(ona.value("SELECT content FROM summaries"), "two");
}

#[test]
fn the_operators_own_settings_may_supply_the_environment() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("hello")]);
    let url = server.url();
    ona.env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9").env("ANTHROPIC_API_KEY", "");
    ona.home_file(
        ".ona/settings.json",
        json!({"env": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_AUTH_TOKEN": "canary-from-settings"}}).to_string(),
    );
    assert_eq!(ona.run(["-p", "hi"]).expect_code(0).stdout, "hello\n");
    assert_eq!(server.request(0).header("authorization"), Some("Bearer canary-from-settings"));
    assert!(!format!("{:?}", ona.rows("SELECT json FROM settings_snapshot")).contains("canary"));
}
