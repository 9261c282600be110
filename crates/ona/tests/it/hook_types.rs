//! Hooks that are not processes: http, prompt, agent (DEC-047).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, Wire, body, call, hang, say, status};
use serde_json::{Value, json};

fn configure(ona: &Ona, handler: Value, more: Value) {
    let mut settings = json!({
        "permissions": {"allow": ["Bash", "Read"]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ona.settings(settings);
}

/// Command, exit code and stderr of the newest hook row.
fn row(ona: &Ona) -> Vec<Value> {
    ona.rows("SELECT command, exit_code, stderr_text FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY id DESC LIMIT 1").remove(0)
}

#[test]
fn a_server_answers_like_a_process() {
    let mut ona = ona();
    ona.env("HOOK_TOKEN", "let-me-in").env("OTHER_SECRET", "keep-out");
    let deny = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not today"}});
    let rewrite = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "echo B"}}});
    let server = ModelServer::start(
        Wire::Messages,
        [
            body("application/json", deny.to_string()),
            body("application/json", rewrite.to_string()),
            body("text/plain", ""),
            body("text/plain", "hello"),
            status(500),
        ],
    );
    let url = format!("{}/v1/messages", server.url());
    let headers = json!({"x-token": "Bearer $HOOK_TOKEN", "x-other": "<${OTHER_SECRET}>"});
    configure(
        &ona,
        json!({"type": "http", "url": url, "headers": headers, "allowedEnvVars": ["HOOK_TOKEN"]}),
        json!({}),
    );

    let denied = ona.eval("Bash", json!({"command": "echo A"}));
    assert_eq!(denied["is_error"], true);
    assert!(denied["content"].as_str().unwrap().contains("not today"), "{denied}");
    assert_eq!(row(&ona), [json!(format!("http {url}")), json!(2), json!("not today")]);
    let sent = server.request(0);
    assert_eq!(sent.header("x-token"), Some("Bearer let-me-in"));
    assert_eq!(sent.header("x-other"), Some("<>"));
    assert_eq!(sent.json()["tool_input"]["command"], "echo A");

    assert_eq!(ona.eval("Bash", json!({"command": "echo A"}))["content"], "B\n");
    assert_eq!(row(&ona)[1], json!(0));
    assert_eq!(ona.eval("Bash", json!({"command": "echo A"}))["content"], "A\n", "an empty answer is not an opinion");
    for why in ["not a JSON object", "500"] {
        assert_eq!(ona.eval("Bash", json!({"command": "echo A"}))["content"], "A\n");
        let row = row(&ona);
        assert_eq!(row[1], Value::Null);
        assert!(row[2].as_str().unwrap().contains(why), "{row:?}");
    }
}

#[test]
fn a_server_that_says_nothing_or_is_not_allowed_decides_nothing() {
    let ona = ona();
    let server = ModelServer::start(Wire::Messages, [hang()]);
    let handler = json!({"type": "http", "url": format!("{}/v1/messages", server.url()), "timeout": 0.3});
    configure(
        &ona,
        json!({"dialect": "claude", "type": "http", "url": format!("{}/v1/messages", server.url()), "timeout": 0.3}),
        json!({}),
    );
    assert_eq!(ona.eval("Bash", json!({"command": "echo A"}))["content"], "A\n");
    assert!(row(&ona)[2].as_str().unwrap().contains("timed out after 300 ms"));
    configure(&ona, handler, json!({"allowedHttpHookUrls": ["https://hooks.example/*"]}));
    let before = ona.value("SELECT count(*) FROM hook_invocations");
    ona.eval("Bash", json!({"command": "echo A"}));
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations"), before);
    let why = ona.value("SELECT detail FROM events WHERE event_type='hook_config_rejected' ORDER BY id DESC LIMIT 1");
    assert!(why.to_string().contains("allowedHttpHookUrls"), "{why}");
}

#[test]
fn a_model_judges_under_a_session_of_its_own() {
    let mut ona = ona();
    let script = [
        call("Bash", json!({"command": "echo A"})),
        say("```json\n{\"ok\": false, \"reason\": \"echo is not allowed\"}\n```"),
        call("Bash", json!({"command": "echo B"})),
        say("{\"ok\": true}"),
        call("Bash", json!({"command": "echo C"})),
        say("I would rather not say."),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    configure(
        &ona,
        json!({"type": "prompt", "prompt": "May this run? $ARGUMENTS", "continueOnBlock": true}),
        json!({}),
    );
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    let asked = server.request(1);
    assert!(
        asked.last_message().contains("May this run? {\"hook_event_name\":\"PreToolUse\""),
        "{}",
        asked.last_message()
    );
    assert_eq!(asked.tool_names(), Vec::<String>::new());
    assert!(server.request(2).last_message().contains("echo is not allowed"), "{}", server.request(2).last_message());
    let rows = ona.rows("SELECT exit_code, session_id FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY id");
    assert_eq!(rows, [[json!(2), json!("s")], [json!(0), json!("s")], [Value::Null, json!("s")]]);
    assert_eq!(
        ona.value("SELECT count(DISTINCT t.session_id) FROM transcript_entries t JOIN state ON key = 'session_parent:' || t.session_id WHERE value = 's'"),
        3
    );
    let results = ona.rows("SELECT json_extract(payload_json,'$.content') FROM transcript_entries WHERE entry_type='tool_result' AND session_id='s' ORDER BY sequence");
    assert_eq!(results[1..], [[json!("B\n")], [json!("C\n")]], "a failure of the hook is not a verdict");
}

#[test]
fn an_agent_may_look_before_it_judges_and_no_hook_waits_for_itself() {
    let mut ona = ona();
    ona.file("policy.txt", "no echo\n");
    let script = [
        call("Bash", json!({"command": "echo A"})),
        call("Read", json!({"file_path": "policy.txt"})),
        say("{\"ok\": false, \"reason\": \"the policy says no\"}"),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    let judge = json!({"type": "agent", "prompt": "Read policy.txt and judge."});
    configure(&ona, judge.clone(), json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [judge]}]}}));
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(server.request(1).tool_names(), ["Read", "Glob", "Grep"]);
    assert!(server.request(2).last_message().contains("no echo"));
    assert!(server.request(3).last_message().contains("the policy says no"));
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE hook_event='PreToolUse'"), 1);
}

#[test]
fn a_judge_without_a_model_fails_aloud_and_where_it_can_not_run_it_is_refused() {
    let ona = ona();
    let judge = json!({"type": "prompt", "prompt": "ok?", "fail_closed": true});
    configure(&ona, judge.clone(), json!({}));
    let denied = ona.eval("Bash", json!({"command": "echo A"}));
    assert_eq!(denied["is_error"], true, "no key, no model, and the hook is to fail closed: {denied}");
    configure(&ona, judge.clone(), json!({"hooks": {"SessionStart": [{"hooks": [judge]}]}}));
    let listed: Value = serde_json::from_str(&ona.run(["hooks", "list", "--json"]).stdout).unwrap();
    assert!(listed["rejected"][0]["why"].as_str().unwrap().contains("use a command"), "{listed}");
}

#[test]
fn a_no_of_a_prompt_about_a_tool_ends_the_turn() {
    let no = say("{\"ok\": false, \"reason\": \"echo is not allowed\"}");
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), no.clone(), say("never")]);
    configure(&ona, json!({"type": "prompt", "prompt": "May this run?"}), json!({}));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!((server.request_count(), ona.exists("ran")), (2, false));
    assert!(ran.stderr.contains("Stopped by hook: echo is not allowed"), "{}", ran.stderr);
    assert_eq!(row(&ona)[1], json!(2));

    let mut ona = crate::ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch ran"})), no, say("never")]);
    let after = json!({"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "prompt", "prompt": "Was it well?"}]}]});
    configure(&ona, json!({"command": "true"}), json!({ "hooks": after }));
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!((server.request_count(), ona.exists("ran")), (2, true));
}

#[test]
fn a_prompt_may_keep_an_agent_at_work_unless_it_is_in_vain() {
    let mut ona = ona();
    let script = [
        say("finished"),
        say("{\"ok\": false, \"reason\": \"the tests were not run\"}"),
        say("there are none"),
        say("{\"ok\": false, \"reason\": \"no tests\", \"impossible\": true}"),
    ];
    let server = ona.model(Wire::Messages, script);
    let at_the_end = json!({"Stop": [{"hooks": [{"type": "prompt", "prompt": "Were the tests run?"}]}]});
    configure(&ona, json!({"command": "true"}), json!({ "hooks": at_the_end }));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!((ran.stdout.as_str(), server.request_count()), ("there are none\n", 4));
    assert!(server.request(2).last_message().contains("the tests were not run"));
}

#[test]
fn prompts_that_only_begin_alike_are_two() {
    let mut ona = ona();
    let script = [call("Bash", json!({"command": "true"})), say("{\"ok\": true}"), say("{\"ok\": true}"), say("done")];
    let server = ona.model(Wire::Messages, script);
    let long = "x".repeat(150);
    let judge = |end: &str| json!({"type": "prompt", "prompt": format!("{long} {end}"), "dialect": "claude"});
    let hooks = json!({"PreToolUse": [{"matcher": "Bash", "hooks": [judge("one"), judge("two"), judge("one")]}]});
    configure(&ona, json!({"command": "true"}), json!({ "hooks": hooks }));
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(server.request_count(), 4);
}

/// A judge asks the model the session has now, and belongs to the session it was asked in.
#[test]
fn judges_follow_another_model_and_another_session() {
    let mut ona = ona();
    let ok = || say("{\"ok\": true}");
    let bash = || call("Bash", json!({"command": "true"}));
    let script = [bash(), ok(), say("one"), bash(), ok(), say("two"), bash(), ok(), say("three")];
    let server = ona.model(Wire::Messages, script);
    configure(&ona, json!({"type": "prompt", "prompt": "May this run?"}), json!({}));
    let mut talk = ona.talk(["--output-format", "stream-json", "--input-format", "stream-json"]);
    let mut sessions = Vec::new();
    for (prompt, model) in [("go", None), ("go", Some("claude_opus_4")), ("/clear", None), ("go", None)] {
        if let Some(model) = model {
            assert_eq!(talk.ask(json!({"subtype": "set_model", "model": model}))["subtype"], "success");
        }
        talk.say(prompt);
        let result = talk.until_result();
        if prompt == "go" {
            sessions.push(result["session_id"].clone());
        }
    }
    assert_eq!(talk.finish().0, 0);
    let models: Vec<_> = (0..9).map(|n| server.request(n).json()["model"].clone()).collect();
    assert_eq!(models[1], models[0], "the judge asks the session's own model");
    assert_ne!(models[3], models[0]);
    assert_eq!((&models[4], &models[7]), (&models[3], &models[6]), "{models:?}");
    let parents = ona.column(
        "SELECT value FROM state JOIN sessions ON key = 'session_parent:' || session_id ORDER BY sessions.rowid",
    );
    assert_eq!(parents, sessions);
    assert_ne!(sessions[1], sessions[2], "/clear began another session");
}
