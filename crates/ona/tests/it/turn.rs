//! `ona -p` against a scripted model that speaks the real wires.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, calls, hang, overloaded, rate_limited, reset, say, say_and_call, status};
use serde_json::{Value, json};

fn result(ona: &Ona, args: &[&str]) -> (i32, Value) {
    let mut all = vec!["--output-format", "json"];
    all.extend(args);
    let ran = ona.run(all);
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")))
}

const PROVIDERS: [(Wire, &str, &str); 3] = [
    (Wire::Messages, "claude_code_subscription", "claude_sonnet_4"),
    (Wire::Chat, "openai_compatible", "gpt_4o"),
    (Wire::Chat, "lm_studio_local", "lm_studio_server_routed"),
];

#[test]
fn a_turn_with_tools_leaves_the_same_rows_with_every_provider() {
    let mut shapes = Vec::new();
    for (wire, provider, model) in PROVIDERS {
        let mut ona = ona();
        ona.file("a.txt", "one\ntwo\n");
        let script = [say_and_call("Let me look.", [("Read", json!({"file_path": "a.txt"}))]), say("Two lines.")];
        let server = ona.model(wire, script);
        ona.use_provider(provider, model);
        let ran = ona.run(["-p", "how many lines?"]).expect_code(0);
        assert_eq!(ran.stdout, "Two lines.\n", "{provider}: {ran:?}");
        assert_eq!(server.requests().len(), 2, "{provider}");
        assert!(server.request(1).last_message().contains("(2 lines)"), "{}", server.request(1).last_message());
        assert!(server.requests().iter().all(|request| !request.overlapped));
        shapes.push(ona.rows("SELECT sequence, entry_type FROM transcript_entries ORDER BY sequence"));
        assert_eq!(
            ona.value("SELECT count(*) FROM transcript_entries WHERE json_extract(payload_json,'$._t') <> entry_type"),
            0
        );
    }
    assert_eq!(shapes[0], shapes[1]);
    assert_eq!(shapes[1], shapes[2]);
    let kinds: Vec<_> = shapes[0].iter().map(|row| row[1].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["user", "assistant", "progress", "tool_use", "tool_result", "file_history_snapshot", "assistant", "progress"]
    );
}

#[test]
fn the_same_rows_make_the_same_request_twice() {
    let mut ona = ona();
    ona.file("CLAUDE.md", "Be kind.\n");
    let server = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*"})), say("ok"), say("a"), say("b")]);
    ona.run(["-p", "first", "--session-id", "s-1"]).expect_code(0);
    let copy = std::fs::read(ona.db()).unwrap();
    ona.run(["-p", "again", "-r", "s-1"]).expect_code(0);
    std::fs::write(ona.db(), copy).unwrap();
    for ending in ["-wal", "-shm"] {
        std::fs::remove_file(format!("{}{ending}", ona.db().display())).ok();
    }
    ona.run(["-p", "again", "-r", "s-1"]).expect_code(0);
    let bodies: Vec<_> = server.requests().iter().map(|request| request.body.clone()).collect();
    assert_eq!(bodies[2], bodies[3]);
    assert!(server.request(0).system().contains("Be kind."));
    assert!(String::from_utf8_lossy(&bodies[2]).contains("first"));
}

#[test]
fn calls_run_in_declared_order_and_rows_are_there_before_the_next_request() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [
            calls([("Bash", json!({"command": "echo 1 >> log"})), ("Bash", json!({"command": "echo 2 >> log"}))]),
            say("done"),
        ],
    );
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let db = ona.db();
    let (tell, seen) = std::sync::mpsc::channel();
    server.on_request(move |_| {
        let query = "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result'";
        #[expect(clippy::disallowed_methods, reason = "a test asks as an operator would")]
        let output = std::process::Command::new("sqlite3").arg(&db).arg(query).output();
        tell.send(String::from_utf8_lossy(&output.unwrap().stdout).trim().to_owned()).ok();
    });
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ona.read("log"), "1\n2\n");
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), ["0", "2"]);
}

#[test]
fn without_anybody_to_ask_an_ask_is_a_no() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), say("I could not.")]);
    let (code, result) = result(&ona, &["-p", "do it"]);
    assert_eq!((code, &result["result"]), (0, &json!("I could not.")));
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash", "Q-1");
    assert!(!ona.exists("ran"));
    assert!(server.request(1).last_message().contains("(error)"), "{}", server.request(1).last_message());
    assert_eq!(ona.value("SELECT json_extract(reason_json,'$.source') FROM tool_permission_log"), "headless");
}

#[test]
fn failures_are_classified_recorded_and_the_session_goes_on() {
    let cases = [
        (vec![status(401)], "authentication_failed"),
        (vec![status(402)], "billing_error"),
        (vec![status(400)], "invalid_request"),
        (vec![rate_limited(0), rate_limited(0)], "rate_limit"),
        (vec![overloaded(), status(500)], "server_error"),
        (vec![reset(), reset()], "server_error"),
    ];
    for (faults, class) in cases {
        let mut ona = ona();
        ona.env("ONA_MAX_RETRIES", "1");
        let mut script = faults;
        script.push(say("back again"));
        let _server = ona.model(Wire::Messages, script);
        ona.settings(json!({"hooks": [{"hook_event_name": "StopFailure", "matcher": class, "command": "cat > failure", "shell": "sh"}],
            "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
        let (code, failed) = result(&ona, &["-p", "hello", "--session-id", "s"]);
        assert_eq!((code, &failed["is_error"], &failed["error"]), (1, &json!(true), &json!(class)), "{failed}");
        assert_eq!(
            ona.value("SELECT json_extract(detail,'$.error') FROM events WHERE event_type='StopFailure'"),
            class
        );
        let stdin: Value = serde_json::from_str(&ona.read("failure")).unwrap();
        assert_eq!(stdin["error"], class);
        let (code, next) = result(&ona, &["-p", "again", "-r", "s"]);
        assert_eq!((code, &next["result"]), (0, &json!("back again")), "{class}");
    }
}

#[test]
fn a_silent_server_does_not_hang_a_run() {
    let mut ona = ona();
    ona.env("ONA_READ_TIMEOUT_MS", "200").env("ONA_MAX_RETRIES", "0");
    let _server = ona.model(Wire::Chat, [hang()]);
    let (code, failed) = result(&ona, &["-p", "hello"]);
    assert_eq!((code, &failed["error"]), (1, &json!("server_error")), "{failed}");
}

#[test]
fn missing_configuration_never_reaches_the_network() {
    let ona = ona();
    let (code, failed) = result(&ona, &["-p", "hello"]);
    assert_eq!((code, &failed["error"]), (1, &json!("authentication_failed")), "{failed}");
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='StopFailure'"), 1);
    ona.settings(json!({"model_config": {"provider": "openai_compatible", "model_id": "claude_opus_4"}}));
    ona.run(["-p", "hello"]).expect_code(2);
    ona.run(["-p", "hello", "--model", "gpt-9"]).expect_code(2);
    let (code, failed) = result(&ona, &["-p", "hello", "--model", "lm_studio_server_routed"]);
    assert_eq!((code, &failed["error"]), (1, &json!("invalid_request")), "LM_STUDIO_MODEL is missing: {failed}");
}

#[test]
fn a_blocked_prompt_is_not_sent_and_not_stored() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("never")]);
    ona.settings(json!({"hooks": [{"hook_event_name": "UserPromptSubmit", "command": "echo 'no such talk' >&2; exit 2", "shell": "sh"}],
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let (code, blocked) = result(&ona, &["-p", "secret plan"]);
    assert_eq!((code, &blocked["result"]), (1, &json!("[0] no such talk")));
    assert_eq!(server.requests().len(), 0);
    assert_eq!(ona.column("SELECT entry_type FROM transcript_entries"), ["system"]);
}

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
fn stream_json_tells_what_happens_and_ends_with_a_result() {
    let mut ona = ona();
    ona.file("a.txt", "x\n");
    let _server = ona.model(Wire::Messages, [call("Read", json!({"file_path": "a.txt"})), say("read")]);
    let ran = ona.run(["-p", "read it", "--output-format", "stream-json"]).expect_code(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "user", "assistant", "result"]);
    assert!(lines.iter().all(|line| line["session_id"] == lines[0]["session_id"]));
    assert_eq!((&lines[4]["result"], &lines[4]["num_turns"]), (&json!("read"), &json!(2)));
}

#[test]
fn max_turns_ends_a_run() {
    let mut ona = ona();
    let again = || call("Glob", json!({"pattern": "*"}));
    let _server = ona.model(Wire::Messages, [again(), again(), again()]);
    let (code, ended) = result(&ona, &["-p", "go", "--max-turns", "2"]);
    assert_eq!((code, &ended["subtype"], &ended["num_turns"]), (1, &json!("error_max_turns"), &json!(2)));
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
    let ran = ona.run(["-p", "ask somebody", "--session-id", "main"]).expect_code(0);
    assert_eq!(ran.stdout, "The agent says: x.\n");
    assert_eq!(ona.value("SELECT count(DISTINCT session_id) FROM transcript_entries"), 2);
    let child = server.request(1);
    assert_eq!(child.tool_names(), ["Read", "Glob", "Grep"], "explore can not write");
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

/// Killed in the model call, between tools and inside a tool: resuming works every
/// time and no call runs twice.
#[test]
fn a_turn_killed_anywhere_can_be_resumed() {
    let mut ona = ona();
    let _unused = ona.model(Wire::Messages, []);
    let server = ona_testkit::model::ModelServer::answering(Wire::Messages, |request| {
        let said = request.last_message();
        if said.contains("again") || said.contains("second") {
            say("done")
        } else if said.contains("first") {
            call("Bash", json!({"command": "echo second; echo b >> log"}))
        } else {
            call("Bash", json!({"command": "echo first; echo a >> log"}))
        }
    });
    ona.talk_to(&server);
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": [{"hook_event_name": "PostToolUse", "command": "true", "shell": "sh"}]}));
    let began = std::time::Instant::now();
    ona.run(["-p", "go", "--session-id", "whole"]).expect_code(0);
    let whole = began.elapsed().as_micros() as u64;
    let mut killed = 0;
    for round in 0..1_000u64 {
        let session = format!("s-{round}");
        let mut child = ona.command(["-p", "go", "--session-id", &session]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros((round * 618_034 % 1_000_000) * whole / 1_000_000));
        let running = child.try_wait().unwrap().is_none();
        child.kill().ok();
        child.wait().unwrap();
        if !running {
            continue;
        }
        killed += 1;
        let known = ona.value(&format!("SELECT count(*) FROM sessions WHERE session_id='{session}'"));
        if known == 1 {
            let ran = ona.run(["-p", "again", "-r", &session]).expect_code(0);
            assert_eq!(ran.stdout, "done\n", "round {round}: {ran:?}");
        }
        if killed == 100 {
            break;
        }
    }
    assert_eq!(killed, 100);
    assert_eq!(ona.run(["db", "check"]).code, 0);
    let twice = "SELECT count(*) FROM (SELECT json_extract(detail,'$.tool_use_id') id, session_id, count(*) n FROM events WHERE event_type='tool_started' GROUP BY 1, 2 HAVING n > 1)";
    assert_eq!(ona.value(twice), 0);
    let open = "SELECT count(*) FROM transcript_entries u WHERE u.entry_type='tool_use' AND u.session_id IN (SELECT session_id FROM transcript_entries WHERE payload_json LIKE '%\"again\"%')
                AND NOT EXISTS (SELECT 1 FROM transcript_entries r WHERE r.session_id=u.session_id AND r.tool_use_id=u.tool_use_id AND r.entry_type='tool_result')";
    assert_eq!(ona.value(open), 0);
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
fn messages_can_be_streamed_in() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("one"), say("two")]);
    let user = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let blocks =
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "b"}]}}).to_string();
    let control = json!({"type": "control_request", "request_id": "r", "request": {"subtype": "dance"}}).to_string();
    let input = format!("{}\nnot json\n{control}\n{blocks}\n", user("a"));
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
    let ran = ona.run_with_stdin(args, input.as_bytes()).expect_code(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let results: Vec<_> =
        lines.iter().filter(|line| line["type"] == "result").map(|line| line["result"].clone()).collect();
    assert_eq!(results, ["one", "two"]);
    assert!(lines.iter().any(|line| line["response"]["error_code"] == "unsupported_request"));
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 1);
}

#[test]
fn tools_run_with_what_the_model_said_not_with_what_was_redacted() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [call("Write", json!({"file_path": "a.txt", "content": "my canary-word-here\n"})), say("ok")],
    );
    ona.env("OPENAI_API_KEY", "canary-word-here");
    ona.settings(json!({"permissions": {"allow": ["Write"]}, "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.run(["-p", "write it"]).expect_code(0);
    assert_eq!(ona.read("a.txt"), "my canary-word-here\n");
    let rows = format!("{:?}", ona.rows("SELECT payload_json FROM transcript_entries"));
    assert!(!rows.contains("canary-word"), "{rows}");
    assert!(!String::from_utf8_lossy(&server.request(1).body).contains("canary-word"));
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
