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

/// The process that left its id behind is gone, or waits for the collector of orphans.
fn ended(ona: &Ona) {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", ona.read("pid"))).unwrap_or_default();
    assert!(stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'), "{stat}");
}

#[test]
fn it_is_off_unless_asked_for_and_a_wrong_value_leaves_an_ordinary_hook() {
    let ona = world("sdlc", "return {'exit_code': 2}", json!({"persistent": "yes", "command": "echo no >&2; exit 2"}));
    assert_eq!(contents(&ona, 1), ["Denied by PreToolUse hook\n[0] no"]);
    let why = ona.value("SELECT json_extract(detail, '$.why') FROM events WHERE event_type='hook_config_rejected'");
    assert_eq!(why, "persistent must be true or false, not \"yes\"; the hook is started each time");
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
