//! `ona -p` with one prompt: what it prints, in every case, and which flags it knows.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Gate, Wire, call, say, say_and_call};
use serde_json::{Value, json};

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn stream(ona: &Ona, more: &[&str]) -> (i32, Vec<Value>) {
    let ran = ona.run(["-p", "go", "--output-format", "stream-json"].iter().chain(more));
    (ran.code, lines(&ran.stdout))
}

fn kinds(lines: &[Value]) -> Vec<String> {
    let kind = |line: &Value| {
        line["subtype"].as_str().filter(|_| line["type"] == "system").or(line["type"].as_str()).unwrap().to_owned()
    };
    lines.iter().map(kind).collect()
}

const MODEL: &str = r#"{"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}"#;

fn settings(ona: &Ona, mut settings: Value) {
    settings["model_config"] = serde_json::from_str(MODEL).unwrap();
    ona.settings(settings);
}

#[test]
fn hooks_are_told_when_asked_for_and_those_of_the_start_always() {
    let mut ona = ona();
    let script = || [call("Glob", json!({"pattern": "*"})), say("done")];
    let _server = ona.model(Wire::Messages, script().into_iter().chain(script()));
    let hook = |event: &str, command: &str| json!({"hook_event_name": event, "command": command, "shell": "sh"});
    settings(
        &ona,
        json!({"permissions": {"allow": ["Glob"]}, "hooks": [
            hook("SessionStart", "true"), hook("SessionEnd", "true"), hook("PreToolUse", "echo hello; echo oh >&2; exit 3"),
        ]}),
    );
    let (_, told) = stream(&ona, &[]);
    let kinds_of_all =
        ["hook_started", "hook_response", "init", "assistant", "informational", "user", "assistant", "result"];
    assert_eq!(kinds(&told), kinds_of_all, "a hook that fails is told without being asked for");
    assert_eq!((&told[0]["hook_name"], &told[1]["outcome"]), (&json!("SessionStart:startup"), &json!("success")));
    let (_, told) = stream(&ona, &["--include-hook-events"]);
    assert_eq!(
        kinds(&told),
        [
            "hook_started",
            "hook_response",
            "init",
            "assistant",
            "hook_started",
            "hook_response",
            "informational",
            "user",
            "assistant",
            "result"
        ]
    );
    let (started, ended) = (&told[4], &told[5]);
    assert_eq!((&started["hook_name"], &started["hook_id"]), (&json!("PreToolUse:Glob"), &ended["hook_id"]));
    assert_eq!(
        (&ended["stdout"], &ended["stderr"], &ended["exit_code"], &ended["outcome"]),
        (&json!("hello\n"), &json!("oh\n"), &json!(3), &json!("error"))
    );
}

#[test]
fn a_summary_of_the_conversation_is_told() {
    let mut ona = ona();
    let _server = ona.model(Wire::Chat, [say("one"), say("THE SUMMARY"), say("two")]);
    ona.use_provider("lm_studio_local", "lm_studio_server_routed");
    let long = "many words ".repeat(12_000);
    ona.run_with_stdin(["-p", "--session-id", "s"], long.as_bytes()).expect_code(0);
    let ran = ona.run(["-p", "b", "--output-format", "stream-json", "-r", "s"]).expect_code(0);
    let told = lines(&ran.stdout);
    assert_eq!(kinds(&told), ["init", "status", "status", "compact_boundary", "assistant", "result"], "{ran:?}");
    assert_eq!(
        (&told[1]["status"], &told[2]["status"], &told[2]["compact_result"]),
        (&json!("compacting"), &Value::Null, &json!("success"))
    );
    let data = &told[3]["compact_metadata"];
    assert_eq!(data["trigger"], "auto");
    assert!(data["pre_tokens"].as_u64() > data["post_tokens"].as_u64(), "{data}");
}

#[test]
fn a_database_that_breaks_in_the_middle_still_leaves_a_result() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("lost")]);
    let db = ona.db();
    server.on_request(move |_| {
        #[expect(clippy::disallowed_methods, reason = "a test breaks the file as an accident would")]
        std::process::Command::new("sqlite3").arg(&db).arg("DROP TABLE transcript_entries").status().unwrap();
    });
    let (code, told) = stream(&ona, &[]);
    let result = told.last().unwrap();
    assert_ne!(code, 0);
    assert_eq!((&result["type"], &result["subtype"]), (&json!("result"), &json!("error_during_execution")), "{result}");
    assert!(result["errors"][0].as_str().unwrap().contains("transcript_entries"), "{result}");
}

#[test]
fn pieces_of_a_reply_come_as_the_events_of_the_api() {
    for wire in [Wire::Messages, Wire::Chat] {
        let mut ona = ona();
        let _server = ona.model(wire, [say_and_call("Let me see.", [("Glob", json!({"pattern": "*"}))]), say("done")]);
        let (_, told) = stream(&ona, &["--include-partial-messages"]);
        let events: Vec<_> =
            told.iter().filter(|line| line["type"] == "stream_event").map(|line| line["event"].clone()).collect();
        let mut text = String::new();
        let mut input = String::new();
        for event in &events {
            text += event["delta"]["text"].as_str().unwrap_or_default();
            input += event["delta"]["partial_json"].as_str().unwrap_or_default();
        }
        assert_eq!(
            (text.as_str(), serde_json::from_str::<Value>(&input).unwrap()),
            ("Let me see.done", json!({"pattern": "*"}))
        );
        let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert_eq!(
            (count("message_start"), count("content_block_start"), count("content_block_stop"), count("message_stop")),
            (2, 3, 3, 2),
            "{wire:?}"
        );
        let id = |line: &Value| line["message"]["id"].clone();
        let whole = told.iter().find(|line| line["type"] == "assistant").unwrap();
        assert_eq!(events[0]["message"]["id"], id(whole));
    }
}

#[test]
fn what_subagents_do_carries_the_call_that_started_them() {
    let mut ona = ona();
    let script = || {
        [
            call("Agent", json!({"description": "look", "prompt": "look", "subagent_type": "explore"})),
            say_and_call("I look.", [("Glob", json!({"pattern": "*"}))]),
            say("Nothing."),
            say("done"),
        ]
    };
    let _server = ona.model(Wire::Messages, script().into_iter().chain(script()));
    let (_, told) = stream(&ona, &[]);
    let inside: Vec<_> = told.iter().filter(|line| line["parent_tool_use_id"].is_string()).cloned().collect();
    let started = told.iter().find(|line| line["message"]["content"][0]["name"] == "Agent").unwrap();
    assert_eq!(kinds(&inside), ["assistant", "user"], "{inside:?}");
    assert!(inside.iter().all(|line| line["parent_tool_use_id"] == started["message"]["content"][0]["id"]));
    assert_eq!(inside[0]["message"]["content"][0]["type"], "tool_use");
    let result = told.last().unwrap();
    assert_eq!(result["num_turns"], 2, "the agent's own calls are not the session's: {result}");
    let (_, told) = stream(&ona, &["--forward-subagent-text"]);
    let text = json!({"type": "text", "text": "Nothing."});
    assert!(told.iter().any(|line| line["parent_tool_use_id"].is_string() && line["message"]["content"][0] == text));
}

#[test]
fn agents_in_the_background_are_announced_and_waited_for() {
    let mut ona = ona();
    let gate = Gate::new();
    let held = gate.clone();
    let _unused = ona.model(Wire::Messages, []);
    let server = ona_testkit::model::ModelServer::answering(Wire::Messages, move |request| {
        let said = request.last_message();
        if said.contains("write it down") {
            call("Write", json!({"file_path": "note.txt", "content": "x"})).hold(&held)
        } else if said.contains("Started task") {
            held.open();
            say("It is on its way.")
        } else if said.contains("A background task has ended") {
            say(&format!("The agent says: {}", said.lines().last().unwrap()))
        } else if said.contains("note.txt") {
            say("Written.")
        } else {
            call("Agent", json!({"description": "note", "prompt": "write it down", "run_in_background": true}))
        }
    });
    ona.talk_to(&server);
    settings(&ona, json!({"permissions": {"allow": ["Write", "Agent"]}}));
    let (code, told) = stream(&ona, &[]);
    let started = told.iter().find(|line| line["subtype"] == "task_started").unwrap();
    let ended = told.iter().find(|line| line["subtype"] == "task_notification").unwrap();
    assert_eq!((&started["task_id"], &started["task_type"]), (&ended["task_id"], &json!("local_agent")));
    assert_eq!((&ended["status"], &ended["summary"]), (&json!("completed"), &json!("Written.")));
    assert_eq!((code, ona.exists("note.txt")), (0, true));
    // The only result there is comes after what the agent found.
    let results: Vec<_> = told.iter().filter(|line| line["type"] == "result").map(|line| &line["result"]).collect();
    assert_eq!(results, ["The agent says: Written."]);
}

#[test]
fn the_session_can_work_as_an_agent() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("a"), say("b")]);
    ona.file(
        ".ona/agents/reviewer.md",
        "---\nname: reviewer\ndescription: reviews\ntools: Read, Grep\nmodel: opus\n---\nBe strict.\n",
    );
    settings(
        &ona,
        json!({"permissions": {"allow": ["Read"]}, "hooks": [{"hook_event_name": "SessionStart", "command": "cat > start", "shell": "sh"}]}),
    );
    let (code, told) = stream(&ona, &["--trust", "--agent", "reviewer"]);
    assert_eq!((code, &told[2]["tools"]), (0, &json!(["Read", "Grep"])), "{told:?}");
    let request = server.request(0);
    assert!(request.system().starts_with("Be strict.") && !request.system().contains("You are ona"));
    assert_eq!(
        (request.tool_names(), &request.json()["model"]),
        (vec!["Read".into(), "Grep".into()], &json!("claude-opus-4-20250514"))
    );
    assert_eq!(serde_json::from_str::<Value>(&ona.read("start")).unwrap()["agent_type"], "reviewer");
    ona.file("agents.json", r#"{"poet": {"description": "d", "prompt": "Rhyme."}}"#);
    stream(&ona, &["--agents", "agents.json", "--agent", "poet"]);
    assert!(server.request(1).system().starts_with("Rhyme."));
    let ran = ona.run(["-p", "go", "--agent", "nobody"]).expect_code(2);
    assert!(
        ran.stderr.contains("agent nobody does not exist; the agents are explore, general-purpose, plan"),
        "{ran:?}"
    );
    ona.run(["-p", "go", "--agents", "[1]"]).expect_code(2);
}

#[test]
fn instructions_and_tools_come_from_flags_and_files() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, (0..4).map(|_| say("ok")));
    ona.file("instead.txt", "Only this.");
    ona.file("also.txt", "And that.");
    ona.run([
        "-p",
        "x",
        "--system-prompt-file",
        "instead.txt",
        "--append-system-prompt-file",
        "also.txt",
        "--tools",
        "Read,Grep",
    ])
    .expect_code(0);
    let request = server.request(0);
    assert!(request.system().starts_with("Only this.") && request.system().ends_with("And that."));
    assert_eq!(request.tool_names(), ["Read", "Grep"]);
    ona.run(["-p", "x", "--tools", ""]).expect_code(0);
    assert_eq!(server.request(1).tool_names(), [""; 0]);
    ona.run(["-p", "--tools", "Task", "Bash", "--output-format", "json", "--", "x"]).expect_code(0);
    assert_eq!(server.request(2).tool_names(), ["Bash", "Agent"]);
    let ran = ona.run(["-p", "x", "--tools", "Dance"]).expect_code(2);
    assert!(ran.stderr.contains("--tools names Dance"), "{ran:?}");
    ona.run(["-p", "x", "--system-prompt-file", "nowhere"]).expect_code(2);
}

#[test]
fn setup_hooks_run_when_asked_for_and_verbose_says_what_rules_did() {
    let mut ona = ona();
    let server =
        ona.model(Wire::Messages, [say("a"), say("b"), call("Bash", json!({"command": "touch a"})), say("done")]);
    settings(&ona, json!({"hooks": [{"hook_event_name": "Setup", "command": "cat >> setup", "shell": "sh"}]}));
    ona.run(["-p", "x"]).expect_code(0);
    assert!(!ona.exists("setup"));
    ona.run(["--init-only"]).expect_code(0);
    ona.run(["-p", "x", "--maintenance"]).expect_code(0);
    let triggers: Vec<_> = lines(&ona.read("setup")).iter().map(|line| line["trigger"].clone()).collect();
    assert_eq!((triggers, server.request_count()), (vec![json!("init"), json!("maintenance")], 2));
    let ran = ona.run(["-p", "go", "--verbose"]).expect_code(0);
    assert!(ran.stderr.contains("Bash: deny"), "{ran:?}");
}

#[test]
fn the_prompt_may_stand_anywhere() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, (0..4).map(|_| say("ok")));
    ona.run(["-p", "--output-format", "json", "at the end"]).expect_code(0);
    ona.run(["--output-format", "json", "-p", "after the flag"]).expect_code(0);
    ona.run(["in front", "-p"]).expect_code(0);
    // Without a terminal the program answers it, too.
    ona.run(["no flag"]).expect_code(0);
    for (index, text) in ["at the end", "after the flag", "in front", "no flag"].iter().enumerate() {
        assert!(server.request(index).last_message().contains(text));
    }
    for wrong in [
        &["-p", "one", "two"][..],
        &["-p", "--verbose", "demo"],
        &["-p", "x", "--input-format", "stream-json", "--output-format", "stream-json"],
    ] {
        let ran = ona.run(wrong).expect_code(2);
        assert!(!ran.stderr.is_empty() && ran.stdout.is_empty(), "{ran:?}");
    }
}

#[test]
fn every_flag_of_the_reference_is_honoured_or_refused_with_a_sentence() {
    let ona = ona();
    let refused = [
        "--json-schema {}",
        "--max-budget-usd 1",
        "--task-budget 1",
        "--fallback-model sonnet",
        "--effort high",
        "--thinking-display full",
        "--thinking adaptive",
        "--max-thinking-tokens 1000",
        "--betas x",
        "--prompt-suggestions",
        "--prompt-suggestions true",
        "--exclude-dynamic-system-prompt-sections",
        "--system-prompt-snapshot on",
        "--plugin-url x",
        "--resume-session-at x",
        "--resume-session-at=x",
        "--resume-drops-turn x",
        "--session-mirror",
        "--no-session-persistence",
        "-n x",
        "--name x",
        "--tmux",
        "--safe-mode",
        "--restricted",
        "--brief --tools Read",
        "--autocompact auto",
        "--from-pr 1",
        "--teleport x",
        "--bg",
        "--cloud",
        "--desktop",
        "--environment x",
        "--remote-control",
        "--file x",
        "--chrome",
        "--no-chrome",
        "--ide",
        "--ax-screen-reader",
        "--permission-prompt-tool mcp__a__b",
        "--permission-prompt-tool stdio",
        "--permission-prompts host",
        "--permission-mode auto",
        "--include-hook-events",
        "--include-partial-messages",
        "--replay-user-messages",
        "--forward-subagent-text",
        "--mcp-config {",
        "--mcp-config [1]",
        "--mcp-config nowhere.json",
        "--nonsense",
    ];
    for flags in refused {
        let ran = ona.run(["-p", "x"].into_iter().chain(flags.split(' '))).expect_code(2);
        let flag = flags.split([' ', '=']).next().unwrap();
        let named =
            ran.stderr.contains(flag) || ["-n", "-w", "-d"].contains(&flag) || ran.stderr.contains("permission");
        assert!(named && ran.stdout.is_empty(), "{flags}: {ran:?}");
    }
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 0, "nothing was begun");
}

#[test]
fn flags_that_ask_for_what_is_so_anyway_are_taken() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, (0..10).map(|_| say("ok")));
    for flags in [
        "--disable-slash-commands",
        "--strict-mcp-config",
        "--mcp-config {\"mcpServers\":{}}",
        "--thinking disabled",
        "--max-thinking-tokens 0",
        "--prompt-suggestions false",
        "--permission-prompts none",
        "--permission-mode manual",
    ] {
        ona.run(["-p", "x"].into_iter().chain(flags.split(' '))).expect_code(0);
    }
    let version = ona.run(["-v"]).expect_code(0).stdout;
    let major: u32 = version.split('.').next().unwrap().parse().unwrap();
    assert!(major >= 2 && version.contains("(ona "), "clients read the version of the protocol: {version}");
}
