//! `ona --eval`: what is recorded, in which order, where.

use crate::ona;
use serde_json::{Value, json};

#[test]
fn a_call_leaves_its_rows_in_order() {
    let ona = ona();
    ona.file("a.txt", "one\ntwo\n");
    let line = ona.eval("Read", json!({"file_path": "a.txt"}));
    assert_eq!(line["content"], format!("{} (2 lines)\n1\tone\n2\ttwo", ona.project().join("a.txt").display()));
    assert_eq!(
        ona.rows("SELECT sequence, entry_type, tool_use_id = (SELECT tool_use_id FROM transcript_entries LIMIT 1) FROM transcript_entries ORDER BY sequence"),
        [[json!(0), json!("tool_use"), json!(1)], [json!(1), json!("tool_result"), json!(1)], [json!(2), json!("file_history_snapshot"), json!(1)]]
    );
    assert_eq!(ona.value("SELECT parent_entry_id FROM transcript_entries WHERE entry_type='tool_result'"), 1);
    assert_eq!(
        ona.column("SELECT event_type FROM events WHERE session_id <> '' ORDER BY id"),
        ["session_created", "tool_started"]
    );
    assert_eq!(ona.value("SELECT phase FROM conversations"), "idle");
}

#[test]
fn the_newest_result_has_the_highest_sequence_over_all_sessions() {
    let ona = ona();
    for text in ["a", "b", "c"] {
        ona.eval("Bash", json!({"command": format!("echo {text}")}));
    }
    let newest = ona.value(
        "SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence DESC LIMIT 1",
    );
    assert!(newest.as_str().unwrap().contains(r#""content":"c\n","is_error":false"#), "{newest}");
    assert_eq!(ona.value("SELECT count(DISTINCT session_id) FROM transcript_entries"), 3);
    assert_eq!(ona.value("SELECT count(*) FROM conversations"), 1);
}

#[test]
fn a_named_session_goes_on_and_knows_what_it_read() {
    let ona = ona();
    ona.file("a.txt", "one\n");
    let call = |tool: &str, input: Value| {
        let call = json!({"tool": tool, "input": input, "session_id": "s-1"}).to_string();
        ona.run(["--eval", &call]).expect_code(0).json()
    };
    call("Read", json!({"file_path": "a.txt"}));
    ona.file("a.txt", "changed behind its back\n");
    let refused = call("Edit", json!({"file_path": "a.txt", "old_string": "changed", "new_string": "x"}));
    assert_eq!(refused["is_error"], true, "{refused}");
    assert_eq!(ona.read("a.txt"), "changed behind its back\n");
    assert_eq!(
        ona.value("SELECT max(sequence) - min(sequence) + 1 = count(*) FROM transcript_entries WHERE session_id='s-1'"),
        1
    );
}

#[test]
fn several_calls_on_stdin_share_a_process() {
    let ona = ona();
    let calls = format!(
        "{}\n{}\n",
        json!({"tool": "Bash", "input": {"command": "sleep 30; echo late", "run_in_background": true}}),
        json!({"tool": "Bash", "input": {"command": "mkdir -p sub && cd sub"}}),
    );
    let ran = ona.run_with_stdin(["--eval", "-"], calls.as_bytes()).expect_code(0);
    assert_eq!(ran.stdout.lines().count(), 2);
    assert!(ran.stderr.contains("background task"), "{}", ran.stderr);
}

#[test]
fn a_directory_that_moved_is_where_the_next_call_starts() {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
        {"hook_event_name": "CwdChanged", "command": "echo 'export FROM_HOOK=yes' >> \"$CLAUDE_ENV_FILE\"; cat > ../stdin", "shell": "sh"},
    ]}));
    let calls = format!(
        "{}{}",
        json!({"tool": "Bash", "input": {"command": "mkdir -p sub && cd sub"}}),
        json!({"tool": "Bash", "input": {"command": "pwd; echo $FROM_HOOK"}}),
    );
    let ran = ona.run_with_stdin(["--eval", "-"], calls.as_bytes()).expect_code(0);
    let second: Value = serde_json::from_str(ran.stdout.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["content"], format!("{}\nyes\n", ona.project().join("sub").display()));
    let stdin: Value = serde_json::from_str(&ona.read("stdin")).unwrap();
    assert_eq!((&stdin["old_cwd"], &stdin["new_cwd"]), (&json!(ona.project()), &json!(ona.project().join("sub"))));
    assert_eq!(std::fs::read_dir(ona.tmp()).unwrap().count(), 0, "the env file is gone");
}

#[test]
fn unknown_tools_and_misfit_inputs_are_results_without_hooks() {
    let ona = ona();
    ona.settings(json!({"hooks": [{"hook_event_name": "PreToolUse", "command": "exit 2"}]}));
    let unknown = ona.eval("Telepathy", json!({}));
    assert_eq!((&unknown["content"], &unknown["is_error"]), (&json!("Unknown tool Telepathy"), &json!(true)));
    for input in [json!({}), json!({"file_path": "a", "extra": 1}), json!({"file_path": 7}), json!("text")] {
        assert_eq!(ona.eval("Read", input.clone())["is_error"], true, "{input}");
    }
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations"), 0);
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='tool_started'"), 0);
}

#[test]
fn an_alias_is_stored_under_its_frozen_name() {
    let ona = ona();
    ona.eval("KillShell", json!({"task_id": "nope"}));
    assert_eq!(
        ona.value("SELECT json_extract(payload_json,'$.name') FROM transcript_entries WHERE entry_type='tool_use'"),
        "TaskStop"
    );
}

#[test]
fn hooks_see_absolute_paths_and_the_effective_input() {
    let ona = ona();
    ona.file("b.txt", "bee\n");
    let rewrite =
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"file_path": "b.txt"}}});
    ona.settings(json!({"permissions": {"allow": ["Read"]}, "hooks": [
        {"hook_event_name": "PreToolUse", "matcher": "Read", "command": format!("cat > pre; printf '%s' '{rewrite}'"), "shell": "sh"},
        {"hook_event_name": "PostToolUse", "matcher": "Read", "command": "cat > post", "shell": "sh"},
    ]}));
    let line = ona.eval("Read", json!({"file_path": "a.txt"}));
    assert!(line["content"].as_str().unwrap().ends_with("1\tbee"), "{line}");
    let stdin = |name: &str| serde_json::from_str::<Value>(&ona.read(name)).unwrap();
    assert_eq!(stdin("pre")["tool_input"]["file_path"], json!(ona.project().join("a.txt")));
    assert_eq!(stdin("post")["tool_input"]["file_path"], json!(ona.project().join("b.txt")));
    assert_eq!(stdin("post")["tool_response"]["is_error"], false);
    let kept = ona.value("SELECT payload_json FROM transcript_entries WHERE entry_type='internal_hook'");
    let kept: Value = serde_json::from_str(kept.as_str().unwrap()).unwrap();
    assert_eq!(
        (&kept["requested_input"]["file_path"], &kept["effective_input"]["file_path"]),
        (&json!("a.txt"), &json!("b.txt"))
    );
}

#[test]
fn a_failure_after_the_start_fires_the_failure_event_and_a_denial_neither() {
    let ona = ona();
    let log = |event: &str| json!({"hook_event_name": event, "command": format!("echo {event} >> log"), "shell": "sh"});
    ona.settings(json!({"permissions": {"allow": ["Bash"], "deny": ["Bash(false *)"]}, "hooks": [
        log("PostToolUse"), log("PostToolUseFailure"), log("PermissionDenied"), log("PermissionRequest"),
    ]}));
    ona.eval("Bash", json!({"command": "true"}));
    ona.eval("Bash", json!({"command": "exit 3"}));
    ona.eval("Bash", json!({"command": "false x"}));
    assert_eq!(ona.read("log"), "PostToolUse\nPostToolUseFailure\nPermissionDenied\n");
}

#[test]
fn what_post_hooks_say_is_kept_for_the_model() {
    let ona = ona();
    let context = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "note well"}});
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
        {"hook_event_name": "PostToolUse", "command": format!("printf '%s' '{context}'"), "shell": "sh"},
        {"hook_event_name": "PostToolUse", "command": "echo one >&2; exit 2", "shell": "sh"},
        {"hook_event_name": "PostToolUse", "command": "echo two >&2; exit 2", "shell": "sh"},
    ]}));
    let line = ona.eval("Bash", json!({"command": "echo hi"}));
    assert_eq!((&line["content"], &line["is_error"]), (&json!("hi\n"), &json!(false)));
    let texts = ona.column("SELECT json_extract(payload_json,'$.additional_context') FROM transcript_entries WHERE entry_type='internal_hook' ORDER BY sequence");
    assert_eq!(texts, ["note well", "[1] one\n[2] two"]);
}

#[test]
fn continue_false_keeps_the_tool_from_running() {
    let ona = ona();
    let stop = json!({"continue": false, "stopReason": "not today"});
    ona.settings(json!({"hooks": [{"hook_event_name": "PreToolUse", "command": format!("printf '%s' '{stop}'"), "shell": "sh"}]}));
    let line = ona.eval("Bash", json!({"command": "touch ran"}));
    assert_eq!((&line["content"], &line["is_error"]), (&json!("Stopped by hook: not today"), &json!(true)));
    assert!(!ona.exists("ran"));
    assert_eq!(
        ona.value("SELECT json_extract(payload_json,'$.subtype') FROM transcript_entries WHERE entry_type='system'"),
        "hook_stopped"
    );
}

#[test]
fn a_hook_may_write_the_database_while_it_runs() {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
        {"hook_event_name": "PreToolUse", "command": "sqlite3 \"$AGENT_SDLC_DB\" \"INSERT INTO state(conversation_id,key,value) SELECT id,'seen','1' FROM conversations\"", "shell": "sh"},
    ]}));
    assert_eq!(ona.eval("Bash", json!({"command": "true"}))["is_error"], false);
    assert_eq!(ona.value("SELECT value FROM state WHERE key='seen'"), "1");
}

#[test]
fn ona_inside_a_hook_stops_at_the_third_level() {
    let ona = ona();
    let nested = format!(
        "{} --eval '{{\"tool\":\"Bash\",\"input\":{{\"command\":\"true\"}}}}' >> log 2>&1",
        env!("CARGO_BIN_EXE_ona")
    );
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [{"hook_event_name": "PreToolUse", "command": nested, "shell": "sh"}]}));
    ona.eval("Bash", json!({"command": "true"}));
    let log = ona.read("log");
    assert!(log.contains("hooks call ona 3 levels deep"), "{log}");
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='tool_use'"), 3);
}
