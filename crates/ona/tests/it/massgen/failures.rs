//! Programs, timeouts, failures, and several hooks together.

use super::*;

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
