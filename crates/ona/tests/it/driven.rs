//! `ona -p` driven by another program: lines in, lines out, while turns run.

use crate::ona;
use ona_testkit::model::{Gate, ModelServer, Wire, call, calls, say};
use ona_testkit::{DrivenProcess, Ona};
use serde_json::{Value, json};

/// What the reference's own library starts it with: no -p.
const DRIVEN: [&str; 5] = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];

fn driven(ona: &Ona, more: &[&str]) -> DrivenProcess {
    ona.talk(DRIVEN.iter().chain(more))
}

fn asking(ona: &Ona) -> DrivenProcess {
    driven(ona, &["--permission-prompt-tool", "stdio"])
}

fn with_permissions(ona: &Ona, permissions: Value) {
    ona.settings(json!({"permissions": permissions,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
}

fn is_tool_result(line: &Value) -> bool {
    line["type"] == "user" && line["message"]["content"][0]["type"] == "tool_result"
}

const OPEN_CALLS: &str = "SELECT count(*) FROM transcript_entries u WHERE u.entry_type='tool_use' AND NOT EXISTS
    (SELECT 1 FROM transcript_entries r WHERE r.tool_use_id=u.tool_use_id AND r.entry_type='tool_result')";

#[test]
fn a_library_of_the_reference_finds_what_it_expects() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("hello")]);
    let mut args = vec!["--system-prompt", "", "--tools", "default", "--permission-mode", "manual"];
    args.extend(["--setting-sources=", "--strict-mcp-config", "--thinking", "disabled", "--model", "sonnet"]);
    let mut talk = driven(&ona, &args);
    let answer = talk
        .ask(json!({"subtype": "initialize", "hooks": null, "agents": {"mine": {"description": "d", "prompt": "p"}}}));
    assert_eq!(answer["subtype"], "success");
    let names: Vec<_> =
        answer["response"]["agents"].as_array().unwrap().iter().map(|agent| agent["name"].clone()).collect();
    assert_eq!(names, ["explore", "general-purpose", "mine", "plan"]);
    talk.say("hi");
    let init = talk.until(|line| line["subtype"] == "init");
    assert_eq!((&init["permissionMode"], &init["apiKeySource"]), (&json!("default"), &json!("ANTHROPIC_API_KEY")));
    assert_eq!(init["agents"], json!(["explore", "general-purpose", "mine", "plan"]));
    assert!(init["tools"].as_array().unwrap().contains(&json!("Task")), "{init}");
    assert!(init["uuid"].is_string() && init["session_id"].is_string());
    let reply = talk.until(|line| line["type"] == "assistant");
    assert_eq!(reply["message"]["content"], json!([{"type": "text", "text": "hello"}]));
    assert_eq!((&reply["message"]["model"], &reply["parent_tool_use_id"]), (&init["model"], &Value::Null));
    let result = talk.until_result();
    for field in ["duration_ms", "duration_api_ms", "num_turns"] {
        assert!(result[field].is_u64(), "{field}: {result}");
    }
    assert_eq!((&result["subtype"], &result["terminal_reason"]), (&json!("success"), &json!("completed")));
    assert_eq!(result["stop_reason"], "end_turn");
    assert!(result["modelUsage"][init["model"].as_str().unwrap()]["inputTokens"].is_u64(), "{result}");
    assert_eq!(talk.finish().0, 0);
    assert!(!server.request(0).system().contains("You are ona"), "--system-prompt \"\" replaces it");
}

#[test]
fn an_interrupt_ends_a_tool_and_leaves_no_call_open() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [
            calls([
                ("Bash", json!({"command": "touch began; sleep 600"})),
                ("Bash", json!({"command": "touch second"})),
            ]),
            say("I see."),
        ],
    );
    with_permissions(&ona, json!({"allow": ["Bash"]}));
    let mut talk = driven(&ona, &[]);
    talk.say("go");
    ona.wait_for("began", &mut talk.child);
    assert_eq!(talk.ask(json!({"subtype": "interrupt", "cancel_queued": true}))["response"]["cancelled"], json!([]));
    assert_eq!(talk.until_result()["terminal_reason"], "aborted_tools");
    assert_eq!(ona.value(OPEN_CALLS), 0);
    talk.say("what happened?");
    assert_eq!(talk.until_result()["result"], "I see.");
    assert!(!ona.exists("second"));
    assert!(
        server.request(1).last_message().contains("Interrupted by the operator"),
        "{}",
        server.request(1).last_message()
    );
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn an_interrupt_ends_a_hook_and_a_guard_cut_short_has_not_said_yes() {
    let mut ona = ona();
    let write = call("Write", json!({"file_path": "a.txt", "content": "x"}));
    let _server = ona.model(Wire::Messages, [write, say("on")]);
    let hook = json!({"hook_event_name": "PreToolUse", "command": "touch began; sleep 600", "shell": "sh"});
    ona.settings(json!({"hooks": [hook], "permissions": {"allow": ["Write"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let mut talk = driven(&ona, &[]);
    talk.say("go");
    ona.wait_for("began", &mut talk.child);
    talk.ask(json!({"subtype": "interrupt"}));
    assert_eq!(talk.until_result()["subtype"], "error_during_execution");
    assert_eq!(talk.finish().0, 1, "the last turn was interrupted");
    assert!(!ona.exists("a.txt"));
}

#[test]
fn the_mode_can_be_changed_while_a_turn_runs() {
    let mut ona = ona();
    let gate = Gate::new();
    let write = |name: &str| call("Write", json!({"file_path": name, "content": "x"}));
    let _server = ona.model(Wire::Messages, [write("a.txt"), write("b.txt").hold(&gate), say("done")]);
    let mut talk = driven(&ona, &[]);
    assert_eq!(talk.ask(json!({"subtype": "set_permission_mode", "mode": "dance"}))["subtype"], "error");
    let bypass = talk.ask(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}));
    assert!(bypass["error"].as_str().unwrap().contains("--allow-dangerously-skip-permissions"), "{bypass}");
    talk.say("write");
    talk.until(is_tool_result);
    gate.wait_until_reached();
    assert_eq!(
        talk.ask(json!({"subtype": "set_permission_mode", "mode": "acceptEdits"}))["response"]["mode"],
        "acceptEdits"
    );
    assert_eq!(talk.until(|line| line["subtype"] == "status")["permissionMode"], "acceptEdits");
    gate.open();
    let result = talk.until_result();
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 1, "{result}");
    assert!(!ona.exists("a.txt") && ona.exists("b.txt"));
    drop(talk);
    let mut talk = driven(&ona, &["--allow-dangerously-skip-permissions"]);
    assert_eq!(talk.ask(json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}))["subtype"], "success");
    assert_eq!(talk.finish().0, 0, "a program that only introduced itself");
}

#[test]
fn the_model_can_be_changed_for_the_next_call() {
    let mut ona = ona();
    let gate = Gate::new();
    let server = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*"})).hold(&gate), say("a"), say("b")]);
    let mut talk = driven(&ona, &["--model", "claude_sonnet_4"]);
    talk.say("one");
    gate.wait_until_reached();
    assert_eq!(talk.ask(json!({"subtype": "set_model", "model": 4}))["subtype"], "error");
    assert_eq!(talk.ask(json!({"subtype": "set_model", "model": "gpt-9"}))["subtype"], "error");
    assert_eq!(talk.ask(json!({"subtype": "set_model", "model": "claude_opus_4"}))["subtype"], "success");
    gate.open();
    let result = talk.until_result();
    assert_eq!(result["modelUsage"].as_object().unwrap().len(), 2, "{result}");
    talk.ask(json!({"subtype": "set_model", "model": null}));
    talk.say("two");
    talk.until_result();
    let asked: Vec<_> = server.requests().iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(asked, ["claude-sonnet-4-20250514", "claude-opus-4-20250514", "claude-sonnet-4-20250514"]);
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn a_model_of_another_wire_can_take_over() {
    let mut ona = ona();
    let first = ona.model(Wire::Messages, [say("from one")]);
    let second = ModelServer::start(Wire::Chat, [say("from the other")]);
    for (name, value) in second.env() {
        ona.env(name, value);
    }
    let mut talk = driven(&ona, &["--model", "claude_sonnet_4"]);
    talk.say("one");
    assert_eq!(talk.until_result()["result"], "from one");
    talk.ask(json!({"subtype": "set_model", "model": "gpt_4o"}));
    talk.say("two");
    assert_eq!(talk.until_result()["result"], "from the other");
    assert_eq!((first.request_count(), second.request_count()), (1, 1));
    let body = String::from_utf8(second.request(0).body.clone()).unwrap();
    assert!(body.contains("from one") && body.contains("two"), "the whole conversation: {body}");
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn hooks_hear_that_somebody_is_asked_and_may_add_to_the_context() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [
            call("Bash", json!({"command": "true"})),
            say("asked"),
            call("Bash", json!({"command": "true"})),
            say("denied"),
        ],
    );
    let said = json!({"hookSpecificOutput": {"hookEventName": "Notification", "additionalContext": "he was called"}});
    let command = format!("cat >> told; echo '{said}'");
    ona.settings(json!({"model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": [{"hook_event_name": "Notification", "matcher": "permission_prompt", "command": command, "shell": "sh"}]}));
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    talk.answer(&asked, json!({"behavior": "allow"}));
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    let told: Value = serde_json::from_str(&ona.read("told")).unwrap();
    let fields = (&told["message"], &told["title"], &told["notification_type"]);
    assert_eq!(fields, (&json!("ona needs your permission to use Bash"), &json!("ona"), &json!("permission_prompt")));
    assert!(server.request(1).last_message().contains("he was called"));
    // Where nobody can be asked, nobody is called.
    ona.run(["-p", "again"]).expect_code(0);
    assert_eq!(ona.read("told").lines().count(), 1);
}

#[test]
fn questions_of_the_model_are_answered_by_the_other_side() {
    let mut ona = ona();
    let ask = json!({"questions": [{"question": "Which?", "header": "H", "options": [{"label": "A", "description": ""}, {"label": "B", "description": ""}]}]});
    let server = ona.model(Wire::Messages, [call("AskUserQuestion", ask), say("done")]);
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert_eq!(asked["request"]["requires_user_interaction"], true, "{asked}");
    let mut input = asked["request"]["input"].clone();
    input["answers"] = json!({"Which?": "B"});
    talk.answer(&asked, json!({"behavior": "allow", "updatedInput": input}));
    talk.until_result();
    assert!(server.request(1).last_message().contains("\"Which?\" = \"B\""), "{}", server.request(1).last_message());
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn the_other_side_can_not_lift_a_deny_rule() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch a"})), say("done")]);
    with_permissions(&ona, json!({"deny": ["Bash(rm:*)"]}));
    ona.file("kept", "x");
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    let update = json!({"type": "removeRules", "rules": [{"toolName": "Bash", "ruleContent": "rm:*"}], "behavior": "deny", "destination": "session"});
    talk.answer(
        &asked,
        json!({"behavior": "allow", "updatedInput": {"command": "rm kept"}, "updatedPermissions": [update]}),
    );
    assert_eq!(talk.until_result()["permission_denials"].as_array().unwrap().len(), 1);
    assert!(ona.exists("kept") && !ona.exists("a"));
}

#[test]
fn an_answer_can_settle_the_questions_after_it() {
    let mut ona = ona();
    let bash = |command: &str| call("Bash", json!({"command": command}));
    let _server = ona.model(Wire::Messages, [bash("touch a"), bash("touch b"), say("done")]);
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow", "destination": "session"});
    talk.answer(&asked, json!({"behavior": "allow", "updatedPermissions": [{"type": "nonsense"}, rule]}));
    talk.until(|line| line["subtype"] == "informational" && line["level"] == "warning");
    assert_eq!(talk.until_result()["permission_denials"], json!([]));
    assert!(ona.exists("a") && ona.exists("b"));
    let asked = talk.seen.iter().filter(|line| line["type"] == "control_request").count();
    assert_eq!(asked, 1);
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn a_no_can_end_the_turn() {
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [calls([("Bash", json!({"command": "touch a"})), ("Bash", json!({"command": "touch b"}))]), say("again")],
    );
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    talk.answer(&asked, json!({"behavior": "deny", "message": "stop it", "interrupt": true}));
    let result = talk.until_result();
    assert_eq!(
        (&result["subtype"], &result["terminal_reason"]),
        (&json!("error_during_execution"), &json!("aborted_tools"))
    );
    assert_eq!((server.request_count(), ona.value(OPEN_CALLS)), (1, json!(0)));
    talk.say("go on");
    assert_eq!(talk.until_result()["result"], "again");
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn a_question_nobody_answers_any_more_is_a_no() {
    let mut ona = ona();
    let bash = || call("Bash", json!({"command": "touch a"}));
    let _server = ona.model(Wire::Messages, [bash(), bash(), say("I could not."), say("done")]);
    let mut talk = asking(&ona);
    talk.say("one");
    let asked = talk.until_asked("can_use_tool");
    talk.ask(json!({"subtype": "interrupt"}));
    let taken_back = talk.until(|line| line["type"] == "control_cancel_request");
    assert_eq!(taken_back["request_id"], asked["request_id"]);
    talk.until_result();
    // Too late, and twice.
    talk.answer(&asked, json!({"behavior": "allow"}));
    talk.answer(&asked, json!({"behavior": "allow"}));
    talk.say("two");
    talk.until_asked("can_use_tool");
    talk.close();
    assert_eq!(talk.until_result()["result"], "I could not.");
    assert_eq!(talk.finish().0, 0);
    assert!(!ona.exists("a"));
}

#[test]
fn an_answer_that_can_not_be_read_is_a_no() {
    let mut ona = ona();
    let bash = || call("Bash", json!({"command": "touch a"}));
    let _server = ona.model(Wire::Messages, [bash(), bash(), bash(), say("done")]);
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    talk.answer(&asked, json!({"behaviour": "allow"}));
    let asked = talk.until_asked("can_use_tool");
    talk.answer(&asked, json!({"behavior": "allow", "updatedInput": {"no": "command"}}));
    let asked = talk.until_asked("can_use_tool");
    let id = &asked["request_id"];
    talk.send(json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "the callback broke"}}));
    assert_eq!(talk.until_result()["permission_denials"].as_array().unwrap().len(), 3);
    assert!(!ona.exists("a"));
}

#[test]
fn a_secret_in_a_call_is_shown_to_nobody_and_still_runs() {
    let mut ona = ona();
    let _server = ona.model(
        Wire::Messages,
        [call("Write", json!({"file_path": "a.txt", "content": "my canary-word-here"})), say("done")],
    );
    ona.env("OPENAI_API_KEY", "canary-word-here");
    let mut talk = asking(&ona);
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert!(!asked.to_string().contains("canary-word"), "{asked}");
    talk.answer(&asked, json!({"behavior": "allow", "updatedInput": asked["request"]["input"]}));
    talk.until_result();
    assert_eq!(ona.read("a.txt"), "my canary-word-here");
    assert!(!format!("{:?}", talk.seen).contains("canary-word"));
}

#[test]
fn hooks_of_the_other_side_decide_like_any_other() {
    let mut ona = ona();
    let bash = |command: &str| call("Bash", json!({"command": command}));
    let server = ona.model(Wire::Messages, [bash("touch a"), bash("touch b"), bash("touch c"), say("done")]);
    with_permissions(&ona, json!({"allow": ["Bash"]}));
    let mut talk = driven(&ona, &[]);
    let hooks = json!({
        "PreToolUse": [{"matcher": "Bash", "hookCallbackIds": ["guard"]}, {"matcher": "Read", "hookCallbackIds": ["other"]}],
        "UserPromptSubmit": [{"hookCallbackIds": ["greet"]}],
        "MessageDisplay": [{"hookCallbackIds": ["never"]}],
    });
    assert_eq!(talk.ask(json!({"subtype": "initialize", "hooks": hooks}))["subtype"], "success");
    talk.until(|line| line["content"].as_str().is_some_and(|text| text.contains("MessageDisplay")));
    talk.say("go");
    let asked = talk.until_asked("hook_callback");
    assert_eq!(
        (&asked["request"]["callback_id"], &asked["request"]["input"]["prompt"]),
        (&json!("greet"), &json!("go"))
    );
    talk.answer(
        &asked,
        json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "be kind"}}),
    );

    let asked = talk.until_asked("hook_callback");
    let input = &asked["request"]["input"];
    assert_eq!(
        (&asked["request"]["callback_id"], &input["tool_input"]["command"]),
        (&json!("guard"), &json!("touch a"))
    );
    assert_eq!(
        (&input["hook_event_name"], &asked["request"]["tool_use_id"]),
        (&json!("PreToolUse"), &input["tool_use_id"])
    );
    talk.answer(&asked, json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not a"}}));
    let asked = talk.until_asked("hook_callback");
    talk.answer(&asked, json!({}));
    let asked = talk.until_asked("hook_callback");
    let id = &asked["request_id"];
    talk.send(
        json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": "it broke"}}),
    );
    talk.until_result();
    assert!(
        !ona.exists("a") && ona.exists("b") && ona.exists("c"),
        "an error of a hook passes, as an exit code 1 does"
    );
    assert!(server.request(0).last_message().contains("be kind") && server.request(1).last_message().contains("not a"));
    let rows = ona.rows("SELECT command, exit_code FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY id");
    assert_eq!(rows, [[json!("guard"), json!(0)], [json!("guard"), json!(0)], [json!("guard"), json!(1)]]);

    assert_eq!(talk.ask(json!({"subtype": "initialize", "hooks": null}))["subtype"], "success", "hooks are replaced");
    talk.say("again");
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn a_guard_on_the_other_side_that_has_left_has_not_said_yes() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch a"})), say("done")]);
    with_permissions(&ona, json!({"allow": ["Bash"]}));
    let mut talk = driven(&ona, &[]);
    talk.ask(json!({"subtype": "initialize", "hooks": {"PreToolUse": [{"hookCallbackIds": ["guard"]}]}}));
    talk.say("go");
    talk.until_asked("hook_callback");
    talk.close();
    assert_eq!(talk.until_result()["permission_denials"].as_array().unwrap().len(), 1);
    assert!(!ona.exists("a"));
}

#[test]
fn a_hook_of_the_other_side_that_takes_too_long_is_taken_back() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch a"})), say("done")]);
    with_permissions(&ona, json!({"allow": ["Bash"]}));
    let mut talk = driven(&ona, &["--include-hook-events"]);
    talk.ask(
        json!({"subtype": "initialize", "hooks": {"PreToolUse": [{"hookCallbackIds": ["slow"], "timeout": 0.05}]}}),
    );
    talk.say("go");
    let asked = talk.until_asked("hook_callback");
    assert_eq!(talk.until(|line| line["type"] == "control_cancel_request")["request_id"], asked["request_id"]);
    assert_eq!(talk.until(|line| line["subtype"] == "hook_response")["outcome"], "cancelled");
    talk.until_result();
    assert!(ona.exists("a"), "a timeout of such a hook passes");
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn every_request_is_answered_and_no_line_is_lost() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("one")]);
    let mut talk = driven(&ona, &[]);
    let error = |talk: &mut DrivenProcess, request: Value| {
        let answer = talk.ask(request);
        assert_eq!(answer["subtype"], "error", "{answer}");
        answer
    };
    assert_eq!(error(&mut talk, json!({"subtype": "dance"}))["error_code"], "unsupported_request");
    for wrong in [
        json!({}),
        json!("initialize"),
        json!({"subtype": "initialize", "hooks": []}),
        json!({"subtype": "initialize", "jsonSchema": {}}),
        json!({"subtype": "initialize", "agents": []}),
        json!({"subtype": "set_permission_mode"}),
        json!({"subtype": "mcp_message", "server_name": "s", "message": {}}),
        json!({"subtype": "mcp_reconnect", "serverName": "s"}),
        json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": true}),
        json!({"subtype": "stop_task"}),
    ] {
        error(&mut talk, wrong);
    }
    talk.ask(json!({"subtype": "initialize", "sdkMcpServers": ["calc"]}));
    assert_eq!(talk.ask(json!({"subtype": "mcp_status"}))["response"]["mcpServers"][0]["status"], "pending");
    let set = talk.ask(json!({"subtype": "mcp_set_servers", "servers": {"s": {}}}));
    assert!(set["response"]["errors"]["s"].as_str().unwrap().contains("neither a `command` nor a `url`"), "{set}");
    let refused = talk.ask(json!({"subtype": "rewind_files", "user_message_id": "u"}));
    assert_eq!(refused["response"], json!({"canRewind": false, "error": "no session has begun yet"}));
    assert_eq!(talk.ask(json!({"subtype": "get_settings"}))["subtype"], "success");
    for (line, about) in [
        ("not json\n", "line 17 of stdin is not JSON"),
        ("[1]\n", "no type"),
        ("{\"type\":\"dance\"}\n", "unknown type \"dance\""),
        ("{\"type\":\"user\",\"message\":{}}\n", "without content"),
    ] {
        talk.send_text(line);
        let told = talk.until(|line| line["level"] == "error");
        assert!(told["content"].as_str().unwrap().contains(about), "{told}");
    }
    talk.send_text("{\"type\":\"keep_alive\"}\n\n  \n{\"type\":\"control_cancel_request\",\"request_id\":\"x\"}\n");
    let (head, tail) = ("{\"type\":\"user\",\"message\":{\"role\":\"user\",", "\"content\":\"ü\"}}");
    talk.send_text(head);
    talk.send_text(tail);
    talk.close();
    let init = talk.until(|line| line["subtype"] == "init");
    assert_eq!(
        (&init["mcp_servers"][0]["name"], &init["mcp_servers"][0]["status"]),
        (&json!("calc"), &json!("failed"))
    );
    assert_eq!(talk.until_result()["result"], "one", "a last line without a newline counts");
    let (code, stderr) = talk.finish();
    assert_eq!(code, 0);
    assert!(stderr.contains("line 17 of stdin is not JSON"), "{stderr}");
}

#[test]
fn user_messages_can_be_repeated_noted_and_called_off() {
    let mut ona = ona();
    let gate = Gate::new();
    let server = ona.model(Wire::Messages, [say("one").hold(&gate), say("two")]);
    let mut talk = driven(&ona, &["--replay-user-messages"]);
    let user =
        |uuid: &str, text: &str| json!({"type": "user", "uuid": uuid, "message": {"role": "user", "content": text}});
    talk.send(user("u-1", "first"));
    gate.wait_until_reached();
    talk.send(user("u-2", "never mind"));
    talk.send(json!({"type": "user", "shouldQuery": false, "message": {"role": "user", "content": "by the way"}}));
    talk.send(user("u-3", "second"));
    assert_eq!(
        talk.ask(json!({"subtype": "cancel_async_message", "message_uuid": "u-2"}))["response"]["cancelled"],
        true
    );
    assert_eq!(
        talk.ask(json!({"subtype": "cancel_async_message", "message_uuid": "u-2"}))["response"]["cancelled"],
        false
    );
    gate.open();
    talk.until_result();
    assert_eq!(talk.until_result()["result"], "two");
    let repeated: Vec<_> =
        talk.seen.iter().filter(|line| line["isReplay"] == true).map(|line| line["uuid"].clone()).collect();
    assert_eq!(repeated, ["u-1", "u-3"]);
    let said = server.request(1).last_message();
    assert!(said.contains("by the way") && said.contains("second") && !said.contains("never mind"), "{said}");
    assert_eq!(talk.ask(json!({"subtype": "end_session"}))["subtype"], "success");
    assert_eq!(talk.finish().0, 0);
}

#[test]
fn a_refusal_of_the_other_side_is_stored_as_the_operators_with_what_it_said() {
    let mut ona = ona();
    let bash = || call("Bash", json!({"command": "touch a"}));
    let server = ona.model(Wire::Messages, [bash(), bash(), say("done")]);
    with_permissions(&ona, json!({}));
    let mut talk = asking(&ona);
    talk.say("go");
    for answer in
        [json!({"behavior": "deny", "message": "use the other one"}), json!({"behavior": "deny", "message": ""})]
    {
        let asked = talk.until_asked("can_use_tool");
        talk.answer(&asked, answer);
    }
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    let results = ona.column(
        "SELECT json_extract(payload_json,'$.content') FROM transcript_entries WHERE entry_type='tool_result' ORDER BY id",
    );
    assert_eq!(results, ["Denied by operator\nuse the other one", "Denied by operator"]);
    let logged = ona.rows("SELECT decision, json_extract(reason_json,'$.source'), json_extract(reason_json,'$.message') FROM tool_permission_log ORDER BY id");
    assert_eq!(logged[0], [json!("deny"), json!("human"), json!("Denied by operator\nuse the other one")]);
    assert!(server.request(1).last_message().contains("use the other one"));
}
