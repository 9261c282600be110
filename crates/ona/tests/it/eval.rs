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
