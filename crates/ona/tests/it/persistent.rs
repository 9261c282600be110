//! Hooks whose process stays, from outside: started once, one line in and out per firing.

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};

/// A settings hook with a process that stays and answers each line by `answer(event, n)`.
fn world(dialect: &str, answer: &str, more: Value) -> Ona {
    let ona = ona();
    let body: Vec<_> = answer.lines().map(|line| format!("    {line}")).collect();
    ona.file(
        "guard.py",
        format!(
            "import json, os, sys
def answer(event, n):
{}
with open('starts', 'a') as starts: starts.write('start\\n')
for n, line in enumerate(sys.stdin):
    with open('lines', 'a') as lines: lines.write(line)
    said = answer(json.loads(line), n)
    print(said if isinstance(said, str) else json.dumps(said), flush=True)
",
            body.join("\n")
        ),
    );
    let mut hook = json!({
        "hook_event_name": "PreToolUse", "matcher": "Glob", "command": "exec python3 guard.py", "shell": "sh",
        "dialect": dialect, "persistent": true,
    });
    hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ona.settings(json!({"hooks": [hook], "permissions": {"allow": ["Glob", "Bash"]}}));
    ona
}

fn globs(ona: &Ona, count: usize) -> Vec<Value> {
    let call = json!({"tool": "Glob", "input": {"pattern": "*.none"}}).to_string();
    let ran = ona.run_with_stdin(["--eval", "-"], call.repeat(count).as_bytes()).expect_code(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn contents(ona: &Ona, count: usize) -> Vec<String> {
    globs(ona, count).iter().map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

fn starts(ona: &Ona) -> usize {
    if ona.exists("starts") { ona.read("starts").lines().count() } else { 0 }
}

fn rows(ona: &Ona, columns: &str) -> Vec<Vec<Value>> {
    ona.rows(&format!("SELECT {columns} FROM hook_invocations ORDER BY id"))
}

const DIALECTS: [&str; 2] = ["sdlc", "claude"];

#[test]
fn one_process_serves_all_firings_of_a_session_and_gets_what_stdin_would_hold() {
    for dialect in DIALECTS {
        let ona = world(dialect, "return {}", json!({}));
        globs(&ona, 3);
        assert_eq!((starts(&ona), ona.read("lines").lines().count()), (1, 3), "{dialect}");
        let inputs: Vec<_> =
            rows(&ona, "input_json").into_iter().map(|row| row[0].as_str().unwrap().to_owned()).collect();
        assert_eq!(ona.read("lines").lines().collect::<Vec<_>>(), inputs);
        assert_eq!(
            rows(&ona, "DISTINCT command, exit_code, stdout_text"),
            [[json!("persistent sh exec python3 guard.py"), json!(0), json!("{}"),]]
        );
    }
}

#[test]
fn an_answer_is_the_hooks_output_or_what_a_process_would_leave() {
    let deny = "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny', 'permissionDecisionReason': 'R'}}";
    let cases = [
        (format!("return {deny}"), "Denied by PreToolUse hook\nR"),
        (format!("return {{'stdout': {deny}}}"), "Denied by PreToolUse hook\nR"),
        (format!("return {{'exit_code': 0, 'stdout': json.dumps({deny})}}"), "Denied by PreToolUse hook\nR"),
        ("return {'exit_code': 2, 'stderr': 'no\\n'}".into(), "Denied by PreToolUse hook\n[0] no"),
    ];
    for dialect in DIALECTS {
        for (answer, content) in &cases {
            let ona = world(dialect, answer, json!({}));
            assert_eq!(contents(&ona, 2), [*content, content], "{dialect} {answer}");
            assert_eq!(starts(&ona), 1);
        }
        // Any other code is a failure that passes.
        let ona = world(dialect, "return {'exit_code': 1}", json!({}));
        assert_eq!(globs(&ona, 1)[0]["is_error"], false);
        assert_eq!(rows(&ona, "exit_code"), [[1]]);
    }
}

#[test]
fn a_process_that_ended_is_started_again_once_and_asked_again() {
    let ona = world(
        "sdlc",
        "if not os.path.exists('once'):\n    open('once', 'w').close()\n    os._exit(1)\nreturn {'exit_code': 2, 'stderr': 'no'}",
        json!({}),
    );
    assert_eq!(contents(&ona, 1), ["Denied by PreToolUse hook\n[0] no"]);
    assert_eq!(starts(&ona), 2);
    let lines: Vec<_> = ona.read("lines").lines().map(str::to_owned).collect();
    assert_eq!(lines[0], lines[1]);
}

#[test]
fn one_that_keeps_ending_has_failed_by_its_policy_and_is_tried_anew_at_the_next_firing() {
    for dialect in DIALECTS {
        let ona = world(dialect, "os._exit(1)", json!({}));
        assert!(globs(&ona, 2).iter().all(|result| result["is_error"] == false), "{dialect}");
        assert_eq!(starts(&ona), 4);
        let why = "[SDLC] persistent hook failed: it ended";
        assert_eq!(rows(&ona, "exit_code, stderr_text")[0], [Value::Null, json!(why)]);
        let ona = world(dialect, "os._exit(1)", json!({"fail_closed": true}));
        assert_eq!(contents(&ona, 1), [format!("Denied by PreToolUse hook\n[0] {why}")]);
    }
}

#[test]
fn an_answer_that_can_not_be_read_is_a_failure_and_the_process_is_out_of_step() {
    let cases = [
        ("return 'hello'", "its answer is not one JSON value"),
        ("return '[1]'", "its answer is not a JSON object"),
        ("return {'exit_code': 'two'}", "exit_code must be a whole number"),
        ("return {'stdout': 5}", "stdout must be text or an object"),
        ("return {'stderr': {}}", "stderr must be text"),
    ];
    for (answer, why) in cases {
        let ona = world("sdlc", answer, json!({"fail_closed": true}));
        let said = contents(&ona, 2);
        assert!(said.iter().all(|text| text.contains(why)), "{answer}: {said:?}");
        assert_eq!(starts(&ona), 2, "{answer}");
    }
}

/// The second line would be taken for the answer to the next call.
#[test]
fn an_answer_of_two_lines_is_a_failure_and_answers_no_other_call() {
    let two = "return json.dumps({}) + '\\n' + json.dumps({'exit_code': 2, 'stderr': str(n)})";
    let why = "[SDLC] persistent hook failed: its answer is more than one line";
    for (more, refused) in [(json!({}), false), (json!({"fail_closed": true}), true)] {
        let ona = world("sdlc", two, more);
        let results = globs(&ona, 3);
        assert!(results.iter().all(|result| result["is_error"] == refused), "{results:?}");
        assert_eq!(rows(&ona, "DISTINCT stderr_text"), [[why]]);
        assert_eq!(starts(&ona), 3);
    }
}

#[test]
fn one_that_speaks_unasked_between_two_calls_is_replaced() {
    // The call goes on when the process has said its second piece.
    let late = "import threading
def more():
    while not os.path.exists('running'): pass
    print(json.dumps({'exit_code': 2, 'stderr': 'late'}), flush=True)
    open('said', 'w').close()
threading.Thread(target=more, daemon=True).start()
return {}";
    let ona = world("sdlc", late, json!({"matcher": "Bash"}));
    let wait = "touch running; while ! [ -e said ]; do :; done; rm running said; echo ran";
    let call = json!({"tool": "Bash", "input": {"command": wait}}).to_string();
    let ran = ona.run_with_stdin(["--eval", "-"], call.repeat(3).as_bytes()).expect_code(0);
    for line in ran.stdout.lines() {
        assert_eq!(serde_json::from_str::<Value>(line).unwrap()["content"], "ran\n");
    }
    assert_eq!((ran.stdout.lines().count(), starts(&ona)), (3, 3));
}

#[test]
fn a_flood_on_its_stderr_or_an_unread_stdin_hold_nothing_up() {
    let flood = "sys.stderr.write('x' * 9_000_000)\nreturn {'exit_code': 2, 'stderr': 'no'}";
    let ona = world("sdlc", flood, json!({}));
    assert_eq!(contents(&ona, 2), ["Denied by PreToolUse hook\n[0] no"; 2]);
    assert_eq!(starts(&ona), 1);
    let deaf = json!({"command": "exec sleep 7658", "timeout": 0.5, "matcher": "Bash", "fail_closed": true});
    let ona = world("sdlc", "pass", deaf);
    let long = ona.eval("Bash", json!({"command": format!(": {}", "x".repeat(100_000))}));
    assert_eq!(long["content"], "Denied by PreToolUse hook\n[0] [SDLC] hook timed out after 500 ms");
}

#[test]
fn it_has_no_terminal_and_hears_of_each_firing_on_stdin_only() {
    let look = "try:
    open('/dev/tty')
    tty = True
except OSError:
    tty = False
alone = os.getsid(0) == os.getpid()
of_a_firing = [name for name in ('CLAUDE_ENV_FILE', 'GT_HOOK_SOURCE') if name in os.environ]
return {'exit_code': 2, 'stderr': json.dumps([tty, alone, of_a_firing, event['source']])}";
    let mut ona = world("sdlc", look, json!({"hook_event_name": "SessionStart", "matcher": ""}));
    ona.env("GT_ROLE", "rig/crew/ann");
    let event = json!({"hook_event_name": "SessionStart", "source": "startup"}).to_string();
    let told = ona.run(["--fire-hook", &event]).expect_code(0).json();
    assert_eq!(told["system_messages"][0]["text"], r#"[false, true, [], "startup"]"#, "{told}");
}

/// Interrupted in the middle of an answer: the call is not allowed, the process is gone.
#[test]
fn ctrl_c_ends_it_and_the_call_it_was_asked_about_does_not_run() {
    let slow = "open('pid', 'w').write(str(os.getpid()))\nimport time\ntime.sleep(7659)";
    let ona = world("claude", slow, json!({"matcher": "Bash"}));
    let call = json!({"tool": "Bash", "input": {"command": "touch ran"}}).to_string();
    let mut child = ona.command(["--eval", &call]).spawn().unwrap();
    ona.wait_for("pid", &mut child);
    assert_eq!(ona.shell(&format!("kill -INT {}", child.id())).code, 0);
    let ran = ona_testkit::finish(child, b"");
    assert_eq!((ran.code, ona.exists("ran")), (130, false), "{ran:?}");
    ended(&ona);
}

/// The process that left its id behind is gone, or waits for whoever collects orphans.
fn ended(ona: &Ona) {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", ona.read("pid"))).unwrap_or_default();
    assert!(stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'), "{stat}");
}

#[test]
fn one_that_does_not_answer_is_ended_and_counts_as_a_timeout_of_its_dialect() {
    let slow = "import subprocess, time\nif n == 0 and not os.path.exists('once'):\n    open('once', 'w').close()\n    subprocess.run(['sleep', '7657'])\nreturn {}";
    for (dialect, blocked, code) in [("sdlc", true, json!(2)), ("claude", false, Value::Null)] {
        let ona = world(dialect, slow, json!({"timeout": 0.7}));
        let results = globs(&ona, 2);
        assert_eq!((&results[0]["is_error"], &results[1]["is_error"]), (&json!(blocked), &json!(false)), "{dialect}");
        assert_eq!(rows(&ona, "exit_code, stderr_text")[0], [code, json!("[SDLC] hook timed out after 700 ms")]);
        assert_eq!(starts(&ona), 2);
        let sleeping = std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("7657") && line.starts_with(b"sleep")
        });
        assert!(!sleeping, "{dialect}");
    }
}

#[test]
fn entries_with_the_same_command_share_one_process_and_others_do_not() {
    let ona = world("sdlc", "return {'stdout': ''}", json!({}));
    let entry = |event: &str, args: Value| json!({"hook_event_name": event, "matcher": "Glob", "command": "python3", "args": args, "persistent": true});
    let hooks = json!([
        entry("PreToolUse", json!(["guard.py"])),
        entry("PreToolUse", json!(["guard.py", "other"])),
        entry("PostToolUse", json!(["guard.py"])),
    ]);
    ona.settings(json!({"hooks": hooks, "permissions": {"allow": ["Glob"]}}));
    globs(&ona, 2);
    assert_eq!(rows(&ona, "count(*)"), [[6]]);
    assert_eq!(starts(&ona), 2);
}

#[test]
fn it_is_off_unless_asked_for_and_a_wrong_value_leaves_an_ordinary_hook() {
    let ona = world("sdlc", "return {'exit_code': 2}", json!({"persistent": "yes", "command": "echo no >&2; exit 2"}));
    assert_eq!(contents(&ona, 1), ["Denied by PreToolUse hook\n[0] no"]);
    let why = ona.value("SELECT json_extract(detail, '$.why') FROM events WHERE event_type='hook_config_rejected'");
    assert_eq!(why, "persistent must be true or false, not \"yes\"; the hook is started each time");
}

#[test]
fn a_program_that_is_not_there_is_a_failure() {
    let more = json!({"command": "/no/such/guard", "args": [], "fail_closed": true});
    let ona = world("sdlc", "pass", more);
    let said = contents(&ona, 1);
    assert!(said[0].contains("the program /no/such/guard was not found"), "{said:?}");
}

#[test]
fn a_settings_file_of_either_kind_can_ask_for_it() {
    for file in [".claude/settings.json", ".ona/settings.json"] {
        let ona = world("sdlc", "return {'exit_code': 2, 'stderr': 'no'}", json!({}));
        std::fs::remove_dir_all(ona.db().parent().unwrap()).unwrap();
        let handler = json!({"type": "command", "command": "python3 guard.py", "persistent": true});
        ona.file(file, json!({"hooks": {"PreToolUse": [{"matcher": "Glob", "hooks": [handler]}]}}).to_string());
        assert_eq!(contents(&ona, 2), ["Denied by PreToolUse hook\n[0] no"; 2], "{file}");
        assert_eq!(starts(&ona), 1, "{file}");
    }
}

#[test]
fn its_process_ends_with_the_session() {
    let ona = world("claude", "open('pid', 'w').write(str(os.getpid()))\nreturn {}", json!({}));
    globs(&ona, 1);
    ended(&ona);
}
