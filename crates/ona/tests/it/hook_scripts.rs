//! Scripts that are hooks: running and reading them is judged like anything else, changing them is
//! refused, and so is changing what the shells of hooks read first (DEC-189, P-03).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A project with a guard in a file.
fn guarded(script: &str) -> Ona {
    let ona = ona();
    ona.file("hooks/guard.sh", script);
    ona.file("hooks/guard.py", "print('from python')\n");
    ona.settings(
        json!({"permissions": {"allow": ["Bash", "Write", "Edit"], "defaultMode": "bypassPermissions"}, "hooks": [
            {"hook_event_name": "PreToolUse", "matcher": "Never", "command": "bash hooks/guard.sh"},
            {"hook_event_name": "PreToolUse", "matcher": "Never", "command": "python3 hooks/guard.py"},
        ]}),
    );
    ona
}

fn bash(ona: &Ona, command: &str) -> Value {
    ona.eval_with("Bash", json!({ "command": command }), &["--yes"])["content"].clone()
}

fn is_refused(said: &Value) -> bool {
    said.as_str().unwrap().contains("is part of ona's own record and guards")
}

#[test]
fn running_and_reading_a_guard_is_judged_like_any_other_command() {
    let ona = guarded("echo from bash $1\n");
    for (command, said) in [
        ("bash hooks/guard.sh a", "from bash a\n"),
        ("sh -eu hooks/guard.sh b", "from bash b\n"),
        (". hooks/guard.sh c", "from bash c\n"),
        ("python3 -u hooks/guard.py", "from python\n"),
        ("cat hooks/guard.sh", "echo from bash $1\n"),
        ("bash -n hooks/guard.sh", ""),
    ] {
        assert_eq!(bash(&ona, command), said, "{command}");
    }
    let rules = json!({"deny": ["Bash(bash:*)"], "allow": ["Bash"]});
    ona.settings(
        json!({"permissions": rules, "hooks": [{"hook_event_name": "Stop", "command": "bash hooks/guard.sh"}]}),
    );
    assert_eq!(bash(&ona, "bash hooks/guard.sh"), "Denied by permission rule Bash(bash:*)");
}

#[test]
fn changing_a_guard_is_refused_to_everybody() {
    let ona = guarded("exit 0\n");
    ona.file("other.sh", "echo > \"$1\"\n");
    for command in [
        "echo > hooks/guard.sh",
        "bash other.sh hooks/guard.sh",
        "bash -c 'echo > hooks/guard.sh'",
        "bash -o pipefail hooks/guard.sh",
        "python3 -m edit hooks/guard.py",
        "perl -i hooks/guard.sh",
        "sed -i s/0/1/ hooks/guard.sh",
        "rm hooks/guard.py",
    ] {
        let said = bash(&ona, command);
        assert!(is_refused(&said), "{command}: {said}");
    }
    assert_eq!(ona.read("hooks/guard.sh"), "exit 0\n");
}

#[test]
fn start_up_files_of_shells_are_part_of_the_guard_while_there_are_hooks() {
    let mut ona = guarded("exit 0\n");
    ona.home_file("env.sh", "");
    ona.env("BASH_ENV", "$HOME/env.sh");
    for name in [".bash_profile", ".bash_login", ".profile", ".bashrc", ".zshenv", ".bash_aliases", "env.sh"] {
        let path = ona.home().join(name);
        let written = ona.eval_with("Write", json!({"file_path": path, "content": "exit 0"}), &["--yes"]);
        assert!(is_refused(&written["content"]), "{name}: {written}");
        let said = bash(&ona, &format!("echo exit >> ~/{name}"));
        assert!(is_refused(&said), "{name}: {said}");
    }
    assert!(is_refused(&bash(&ona, "echo exit > /etc/profile.d/ona-test.sh")));
    assert_eq!(bash(&ona, "echo ok > ~/.profile.d; cat ~/.profile.d"), "ok\n");
    ona.home_file(".bashrc", "# mine\n");
    assert_eq!(bash(&ona, "cat ~/.bashrc; . ~/.bashrc"), "# mine\n");
    // Without hooks the floor asks: the person decides.
    ona.settings(json!({"permissions": {"allow": ["Bash"]}}));
    assert_eq!(ona.eval("Bash", json!({"command": "echo x >> ~/.bashrc"}))["is_error"], true);
    assert_eq!(bash(&ona, "echo x >> ~/.bashrc"), "");
    assert_eq!(std::fs::read_to_string(ona.home().join(".bashrc")).unwrap(), "# mine\nx\n");
}

/// Several calls in one process, after the first of which something rewrites `file`.
fn calls(ona: &Ona, flags: &[&str]) -> Vec<Value> {
    let call = json!({"tool": "Bash", "input": {"command": "echo ran"}}).to_string();
    let text = [call.clone(), call.clone(), call].join("\n");
    let args: Vec<_> = ["--eval", &text].iter().chain(flags).map(|arg| (*arg).to_owned()).collect();
    let ran = ona.run(args).expect_code(0);
    ran.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["content"].clone()).collect()
}

fn skipped(ona: &Ona) -> Vec<Value> {
    ona.column("SELECT coalesce(skipped_reason, 'ran') FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY id")
}

fn notes(ona: &Ona) -> Vec<Value> {
    ona.column("SELECT json_extract(detail,'$.why') FROM events WHERE event_type='hook_script_changed' ORDER BY id")
}

/// A shell script that changes itself when it runs; what it was changed into leaves a mark.
const RESTLESS: &str = "#!/bin/sh\ncp hooks/next.sh hooks/guard.sh\n";

fn restless(dialect: &str, command: &str) -> Ona {
    let ona = ona();
    let script = ona.file("hooks/guard.sh", RESTLESS);
    ona.file("hooks/next.sh", "#!/bin/sh\ntouch new-one-ran\n");
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let hook = json!({"hook_event_name": "PreToolUse", "command": command, "dialect": dialect});
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [hook]}));
    ona
}

#[test]
fn a_script_that_changed_since_the_session_began_is_not_run() {
    for (dialect, command) in [
        ("sdlc", "hooks/guard.sh"),
        ("sdlc", "sh ./hooks/guard.sh --flag"),
        ("claude", "\"$CLAUDE_PROJECT_DIR\"/hooks/guard.sh"),
    ] {
        let ona = restless(dialect, command);
        let path = ona.project().join("hooks/guard.sh");
        let denied = format!(
            "Denied by PreToolUse hook\n[0] [SDLC] hook script {} changed since the session began",
            path.display()
        );
        assert_eq!(calls(&ona, &[]), [json!("ran\n"), json!(denied), json!(denied)], "{command}");
        assert_eq!(skipped(&ona), ["ran", "script_changed", "script_changed"]);
        assert!(!ona.exists("new-one-ran"), "{command}");
        assert_eq!(notes(&ona).len(), 1, "said once");
        // The next session takes it as it is.
        assert_eq!(calls(&ona, &[]), ["ran\n"; 3]);
        assert!(ona.exists("new-one-ran"));
    }
}

/// A script that is missing when the session begins is a failing hook; one that appears later is
/// not run. Which files of a command are pinned, also while they do not exist, is decided in
/// `runtime`.
#[test]
fn a_script_that_appears_during_the_session_is_not_run() {
    let ona = restless("sdlc", "true");
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
        {"hook_event_name": "PreToolUse", "command": "hooks/late.sh"},
        {"hook_event_name": "PostToolUse", "command": "cp hooks/guard.sh hooks/late.sh"},
    ]}));
    let said = calls(&ona, &[]);
    assert_eq!(said[0], "ran\n");
    assert!(said[1].as_str().unwrap().contains("was not there when the session began"), "{said:?}");
}

#[test]
fn a_person_is_asked_once_and_the_new_version_is_pinned() {
    let ona = restless("sdlc", "hooks/guard.sh");
    assert_eq!(calls(&ona, &["--yes"]), ["ran\n"; 3]);
    assert!(ona.exists("new-one-ran"));
    assert_eq!(skipped(&ona), ["ran"; 3]);
    let notes = notes(&ona);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].as_str().unwrap().ends_with("its new version is allowed by eval_operator"), "{notes:?}");
}

#[test]
fn a_driving_program_is_asked_about_the_script() {
    let mut ona = restless("sdlc", "hooks/guard.sh");
    let command = || call("Bash", json!({"command": "echo ran"}));
    let _model = ona.model(Wire::Messages, [command(), command(), command(), say("done")]);
    ona.use_provider("claude_code_subscription", "claude_sonnet_4");
    let args = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"];
    let mut talk = ona.talk(args.iter().chain(&["--permission-prompt-tool", "stdio"]));
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    assert_eq!(asked["request"]["tool_name"], "ChangedHookScript", "{asked}");
    assert_eq!(asked["request"]["input"]["path"], json!(ona.project().join("hooks/guard.sh")));
    assert_ne!(asked["request"]["input"]["sha256_before"], asked["request"]["input"]["sha256_now"]);
    talk.answer(&asked, json!({"behavior": "allow"}));
    talk.until_result();
    talk.finish();
    assert!(ona.exists("new-one-ran"));
    assert_eq!(skipped(&ona), ["ran"; 3]);
}

/// What each dialect runs that is a file, and the flags that bring it in.
#[test]
fn files_of_all_dialects_are_watched() {
    let changed = |ona: &Ona, flags: &[&str], file: &str| {
        let said = calls(ona, flags);
        assert_eq!(said[0], "ran\n", "{flags:?}");
        let text = said[1].as_str().unwrap();
        assert!(text.contains("changed since the session began") && text.contains(file), "{flags:?}: {text}");
        assert_eq!(skipped(ona)[1], "script_changed", "{flags:?}");
    };
    // Rewrites a file after the first call.
    let rewriting = |ona: &Ona, file: &str| {
        let command = format!("echo '# {file}' >> {file}");
        ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
            {"hook_event_name": "PostToolUse", "command": command, "shell": "sh"},
        ]}));
    };
    let write = |ona: &Ona, path: &str, text: &str| -> PathBuf { ona.file(path, text) };

    let omp = ona();
    write(&omp, "lib.js", "export const x = 1;\n//\n");
    write(
        &omp,
        "guard.ts",
        "import { x } from './lib.js'; export default (pi) => { pi.on('tool_call', () => { x; }); };\n",
    );
    omp.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": [
        {"hook_event_name": "PostToolUse", "command": "echo '// more' >> lib.js", "shell": "sh"},
    ]}));
    changed(&omp, &["--hook", "guard.ts"], "lib.js");

    let pi = ona();
    write(&pi, "guard.sh", "exit 0\n");
    write(&pi, "pi.json", &json!({"hooks": {"PreToolUse": [{"command": "sh guard.sh"}]}}).to_string());
    rewriting(&pi, "guard.sh");
    changed(&pi, &["--hooks-config", "pi.json"], "guard.sh");

    let massgen = ona();
    write(&massgen, "guards.py", "def fine(event):\n    return None\n");
    write(
        &massgen,
        "massgen.yaml",
        "hooks:\n  PreToolUse:\n    - {type: python, handler: guards.fine, matcher: '*'}\n",
    );
    rewriting(&massgen, "guards.py");
    changed(&massgen, &["--massgen-config", "massgen.yaml"], "guards.py");
}
