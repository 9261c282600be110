//! Programs, timeouts, failures, and several hooks together.

use super::*;

#[test]
fn mg_7_1_a_program_gets_the_event_and_the_base_on_stdin() {
    // Section L: the eight fields of HookEvent and the fields every hook gets, not exactly eight.
    let ona = program("PreToolUse", "cat > stdin.json", "");
    fire(&ona, pre("Write"), &[]);
    let event: Value = serde_json::from_str(&ona.read("stdin.json")).unwrap();
    let place = ona.rows("SELECT session_id, conversation_id FROM sessions")[0].clone();
    for (key, value) in [
        ("hook_type", json!("PreToolUse")),
        ("session_id", place[0].clone()),
        ("orchestrator_id", place[1].clone()),
        ("agent_id", Value::Null),
        ("tool_name", json!("Write")),
        ("tool_input", json!({"a": 1})),
        ("tool_output", Value::Null),
        ("hook_event_name", json!("PreToolUse")),
        ("conversation_id", place[1].clone()),
        ("cwd", json!(ona.project())),
        ("tool_use_id", json!("t1")),
    ] {
        assert_eq!(event[key], value, "{key}");
    }
    let timestamp = event["timestamp"].as_str().unwrap();
    assert!(timestamp.ends_with("+00:00") && timestamp.as_bytes()[10] == b'T', "{timestamp}");
    assert_eq!(event.get("transcript_path"), None);
    assert_eq!(hook_rows(&ona, "input_json")[0][0].as_str().unwrap(), ona.read("stdin.json").trim_end());
}

#[test]
fn mg_7_2_a_programs_result_is_applied() {
    let update = r#"{"updated_input":{"file_path":"b.txt","content":"y"}}"#;
    let ona = program("PreToolUse", &format!("echo '{update}'"), "");
    write(&ona);
    assert_eq!((ona.exists("a.txt"), ona.read("b.txt").as_str()), (false, "y"));
    let ona = program("PostToolUse", r#"echo '{"inject":{"content":"C"}}'"#, "");
    assert!(said(&write(&ona)).ends_with("\nC"));
}

#[test]
fn mg_7_3_a_program_is_told_in_its_environment_whose_call_it_is() {
    let script = "env | grep -E '^(MASSGEN|SDLC_HOOK|AGENT_SDLC_DB)' | sort > env";
    let ona = program("PreToolUse", script, "");
    let outcome = fire(&ona, pre("Write"), &[]);
    let of = |key: &str| outcome[key].as_str().unwrap().to_owned();
    let expected = |agent: &str| {
        vec![
            format!("AGENT_SDLC_DB={}", ona.db().display()),
            format!("MASSGEN_AGENT_ID={agent}"),
            "MASSGEN_HOOK_TYPE=PreToolUse".to_owned(),
            format!("MASSGEN_ORCHESTRATOR_ID={}", of("conversation_id")),
            format!("MASSGEN_SESSION_ID={}", of("session_id")),
            "MASSGEN_TOOL_NAME=Write".to_owned(),
            "SDLC_HOOK=1".to_owned(),
        ]
    };
    assert_eq!(lines(&ona, "env"), expected(""));
    let mut again = pre("Write");
    again["session_id"] = json!(of("session_id"));
    again["conversation_id"] = json!(of("conversation_id"));
    fire(&ona, again, &["--agent-id", "agent_x"]);
    assert_eq!(lines(&ona, "env"), expected("agent_x"));
}

#[test]
fn mg_8_3_a_hook_that_takes_too_long_is_ended_with_its_children_and_the_tool_runs() {
    let ona = program("PreToolUse", "sleep 7654.1 & sleep 7654.2", "      timeout: 0.3\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(ona.exists("a.txt"));
    assert!(!runs("7654."));
    let row = &hook_rows(&ona, "exit_code, stderr_text, skipped_reason")[0];
    assert_eq!(row, &[Value::Null, json!("[SDLC] hook timed out after 300 ms"), Value::Null]);
    assert_eq!(errors(&ona), ["Hook command_hook.sh timed out"]);

    let body = "import subprocess\nsubprocess.Popen(['sleep', '7655.1'])\nwhile True: pass";
    let ona = python(body, "      timeout: 0.3\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(!runs("7655."));
    assert_eq!(hook_rows(&ona, "exit_code")[0][0], Value::Null);
    assert_eq!(errors(&ona), ["Hook python_hooks.f timed out"]);
}

#[test]
fn mg_8_1_the_timeout_is_30_seconds_unless_an_entry_says_otherwise() {
    // The waiting itself is in the acceptance checks; C1 is overruled by DEC-054.
    let mut ona = world(
        "hooks:\n  PreToolUse:\n    - {handler: a.b}\n    - {handler: c.d, timeout: 60}\n    - {handler: e.f, timeout: 0.5}\n",
    );
    ona.env("SDLC_HOOK_TIMEOUT_MS", "5");
    let doctor: Value = serde_json::from_str(&ona.run(["doctor", "--json"]).stdout).unwrap();
    let timeouts: Vec<_> = doctor["hooks"].as_array().unwrap().iter().map(|hook| hook["timeout_ms"].clone()).collect();
    assert_eq!(timeouts, [json!(30_000), json!(60_000), json!(500)], "{doctor}");
    assert_eq!(doctor["hooks"][0]["dialect"], "massgen");
}

/// The other half of the fact, that 31 seconds are waited for, is in the acceptance checks.
#[test]
fn mg_8_2_a_timeout_of_its_own_is_what_a_hook_gets() {
    let late =
        "i=0; while [ $i -lt 5 ]; do i=$((i+1)); sleep 0.2; done; echo '{\"decision\":\"deny\",\"reason\":\"late\"}'";
    denied(&write(&program("PreToolUse", late, "      timeout: 60\n")), "late");
    let ona = program("PreToolUse", late, "      timeout: 0.5\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "stderr_text"), [["[SDLC] hook timed out after 500 ms"]]);
}

#[test]
fn mg_9_1_an_exception_is_logged_and_everything_goes_on() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: hooks.log}\n");
    ona.file("hooks.py", function("f", "print('before')\nraise ValueError('boom')") + LOG);
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(lines(&ona, "log").len(), 1);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: ValueError: boom"]);
    let row = &hook_rows(&ona, "exit_code, stderr_text")[0];
    assert_eq!(row[0], 1);
    let text = row[1].as_str().unwrap();
    assert!(text.starts_with("before\n") && text.contains("hooks.py") && text.ends_with("ValueError: boom"), "{text}");
    // Leaving the interpreter is an exception as well.
    let ona = python("import sys\nsys.exit(3)", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: SystemExit: 3"]);
}

#[test]
fn mg_9_2_output_that_is_no_json_object_is_logged_and_the_tool_runs() {
    for script in ["echo not json", "echo '[1]'", "echo '{} {}'", "echo '{\"decision\":'"] {
        let ona = program("PreToolUse", script, "");
        assert_eq!(write(&ona)["is_error"], false, "{script}");
        assert_eq!(logged(&ona, "hook_output_invalid").len(), 1, "{script}");
    }
}

#[test]
fn mg_9_3_what_can_not_be_imported_denies_before_and_after_the_tool() {
    let cases = [
        ("no_such.mod", "ModuleNotFoundError: No module named 'no_such'"),
        ("hooks.nothing", "AttributeError: module 'hooks' has no attribute 'nothing'"),
        ("nodot", "ImportError: 'nodot' is not module.function"),
        ("hooks.K.f", "ModuleNotFoundError: No module named 'hooks.K'; 'hooks' is not a package"),
        ("hooks.number", "ImportError: hooks.number cannot be called"),
        ("broken.f", "ZeroDivisionError: division by zero"),
        ("massgen.hooks.log", "ModuleNotFoundError: No module named 'massgen'"),
    ];
    for event in ["PreToolUse", "PostToolUse"] {
        for (handler, why) in cases {
            let ona = world(&format!("hooks:\n  {event}:\n    - handler: {handler}\n"));
            ona.file("hooks.py", "number = 5\nclass K:\n    def f(event): pass\n");
            ona.file("broken.py", "1/0\n");
            denied(&write(&ona), &format!("Hook import failed: {why}"));
            assert!(!ona.exists("a.txt"), "{event} {handler}");
            assert_eq!(errors(&ona), [format!("Hook import failed: {why}")], "{event} {handler}");
            if event == "PreToolUse" {
                assert_eq!(hook_rows(&ona, "exit_code, skipped_reason")[0], [Value::Null, Value::Null]);
            }
        }
    }
}

#[test]
fn without_an_interpreter_nothing_can_be_imported() {
    let mut ona = python("pass", "");
    ona.env("ONA_PYTHON", "/no/such/python");
    denied(&write(&ona), "Hook import failed: the program /no/such/python was not found");
}

#[test]
fn an_import_that_failed_is_tried_again_and_one_that_worked_is_kept() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: late.f, matcher: Glob}\n");
    let make = json!({"tool": "Bash", "input": {"command": "printf 'def f(e): return None' > late.py"}});
    let results = evals(&ona, &[glob(), make, glob()]);
    let failed: Vec<_> = results.iter().map(|result| result["is_error"].clone()).collect();
    assert_eq!(failed, [true, false, false]);
}

#[test]
fn mg_10_1_any_deny_denies_and_the_rest_is_skipped() {
    for order in [["allow", "deny", "last"], ["deny", "allow", "last"]] {
        let entries: String = order.iter().map(|name| format!("    - handler: hooks.{name}\n")).collect();
        let ona = world(&format!("hooks:\n  PreToolUse:\n{entries}"));
        let allow = "return {'decision': 'allow'}";
        let deny = "return {'decision': 'deny', 'reason': 'no'}";
        ona.file("hooks.py", function("allow", allow) + &function("deny", deny) + &function("last", allow));
        denied(&write(&ona), "no");
        let skipped = hook_rows(&ona, "skipped_reason");
        assert_eq!(skipped[2][0], "prior_block_or_deny", "{order:?}");
    }
}

#[test]
fn mg_10_2_each_hook_receives_the_input_as_the_one_before_left_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n");
    let two = "assert event.tool_input == {'a': 2}, event.tool_input\nreturn {'updated_input': {**event['tool_input'], 'b': 3}}";
    ona.file("hooks.py", function("one", "return {'updated_input': {'a': 2}}") + &function("two", two));
    let outcome = fire(&ona, pre("Write"), &[]);
    assert_eq!(outcome["updated_input"], json!({"a": 2, "b": 3}), "{outcome}");
    let inputs = hook_rows(&ona, "json_extract(input_json, '$.tool_input')");
    assert_eq!(inputs, [[json!(r#"{"a":1}"#)], [json!(r#"{"a":2}"#)]]);
}

#[test]
fn mg_10_3_all_injections_are_there_in_order() {
    let (ona, _) = injecting(&[("A", "tool_result"), ("B", "tool_result")], one_glob(), Wire::Messages);
    assert!(results(&ona)[0].as_str().unwrap().ends_with("\nA\nB"), "{:?}", results(&ona));
}

#[test]
fn mg_x12_mixed_injections_land_each_at_its_own_place() {
    let injections = [("A", "tool_result"), ("U", "user_message"), ("B", "tool_result"), ("V", "user_message")];
    let (ona, model) = injecting(&injections, one_glob(), Wire::Messages);
    assert!(results(&ona)[0].as_str().unwrap().ends_with("\nA\nB"), "{:?}", results(&ona));
    let body = model.request(1).json().clone();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let texts: Vec<_> = last.as_array().unwrap()[1..].iter().map(|part| part["text"].clone()).collect();
    assert_eq!(texts, ["U", "V"], "{last}");
}

#[test]
fn mg_x1_fail_closed_turns_every_failure_into_a_denial() {
    let closed = "      fail_closed: true\n      timeout: 0.3\n";
    let pythons = [
        ("raise ValueError('boom')", "Hook python_hooks.f failed: ValueError: boom"),
        ("while True: pass", "Hook python_hooks.f timed out"),
        ("import os\nos._exit(0)", "Hook python_hooks.f failed: the Python process was lost: it ended"),
        (
            "return {'updated_input': float('nan')}",
            "Hook python_hooks.f failed: updated_input cannot be passed on: ValueError: Out of range float values are not JSON compliant",
        ),
    ];
    for (body, reason) in pythons {
        let ona = python(body, closed);
        denied(&write(&ona), reason);
        // A timeout that denies is recorded as exit 2 (DEC-054).
        let code = if reason.ends_with("timed out") { 2 } else { 1 };
        assert_eq!(hook_rows(&ona, "exit_code"), [[code]], "{body}");
        assert_eq!(errors(&ona), [reason]);
    }
    let programs = [
        ("exit 1", "Hook command_hook.sh exited with code 1"),
        ("exit 2", "Hook command_hook.sh exited with code 2"),
        ("sleep 7656", "Hook command_hook.sh timed out"),
        ("echo not json", "Hook command_hook.sh failed: its output could not be read"),
    ];
    for (script, reason) in programs {
        denied(&write(&program("PreToolUse", script, closed)), reason);
    }
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: ./gone.sh, type: command, fail_closed: true}\n");
    let reason = "Hook command_./gone.sh failed: [SDLC] hook not started: the program ./gone.sh was not found";
    denied(&write(&ona), reason);
    // A value that is no result is a warning and no failure.
    assert_eq!(write(&python("return 42", closed))["is_error"], false);
}

#[test]
fn a_program_that_is_not_there_is_logged_and_the_tool_runs() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: ./gone.sh, type: command}\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "exit_code")[0][0], Value::Null);
    assert_eq!(errors(&ona).len(), 1);
}

#[test]
fn fail_closed_after_the_tool_denies_nothing() {
    let ona = program("PostToolUse", "exit 1", "      fail_closed: true\n");
    let result = write(&ona);
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(errors(&ona), ["Hook command_hook.sh exited with code 1"]);
}
