//! kill -9 at random points, and many processes at once.

use crate::ona;
use serde_json::json;
use std::time::{Duration, Instant};

/// Each group is whole or absent: no hook row of a call without its result, no
/// result without its tool_use, and a database that opens and is sound.
#[test]
fn a_kill_at_any_moment_leaves_whole_groups() {
    let ona = ona();
    let hook = |event: &str| json!({"hook_event_name": event, "command": "true", "shell": "sh"});
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [hook("PreToolUse"), hook("PostToolUse")]}));
    let call = json!({"tool": "Bash", "input": {"command": "echo hi"}}).to_string();
    let began = Instant::now();
    ona.run(["--eval", &call]).expect_code(0);
    let whole = began.elapsed().as_micros() as u64;
    let mut killed = 0;
    // A fixed low-discrepancy sequence over a whole run, until 300 runs were really cut short.
    for round in 0..3_000u64 {
        let mut child = ona.command(["--eval", &call]).spawn().unwrap();
        std::thread::sleep(Duration::from_micros((round * 618_034 % 1_000_000) * whole / 1_000_000));
        killed += u32::from(child.try_wait().unwrap().is_none());
        child.kill().ok();
        child.wait().unwrap();
        if killed == 300 {
            break;
        }
    }
    assert_eq!(killed, 300);
    assert_eq!(ona.value("PRAGMA integrity_check"), "ok");
    assert_eq!(ona.run(["db", "check"]).code, 0);
    let torn = "SELECT count(*) FROM hook_invocations h WHERE NOT EXISTS (SELECT 1 FROM transcript_entries t
                WHERE t.tool_use_id = h.tool_use_id AND t.entry_type = 'tool_result')";
    assert_eq!(ona.value(torn), 0);
    let halves = "SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_result'
                  AND (SELECT count(*) FROM hook_invocations h WHERE h.tool_use_id = t.tool_use_id) <> 2";
    assert_eq!(ona.value(halves), 0);
    let unasked = "SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_result' AND NOT EXISTS
                   (SELECT 1 FROM transcript_entries u WHERE u.entry_type='tool_use' AND u.tool_use_id = t.tool_use_id)";
    assert_eq!(ona.value(unasked), 0);
    let undecided = "SELECT count(*) FROM transcript_entries t WHERE entry_type='tool_result' AND NOT EXISTS
                     (SELECT 1 FROM events e WHERE e.event_type='tool_started' AND json_extract(e.detail,'$.tool_use_id') = t.tool_use_id)";
    assert_eq!(ona.value(undecided), 0);
    assert_eq!(ona.eval("Bash", json!({"command": "echo after"}))["content"], "after\n");
}
