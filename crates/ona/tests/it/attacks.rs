//! Attack cases that need the whole program: hooks, trust, phases, store. Each test
//! carries the id of its case; the rule and path cases are in `crates/permissions`.

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};

fn user(ona: &Ona, settings: Value) {
    ona.home_file(".claude/settings.json", settings.to_string());
}

fn pre_hook(handler: Value) -> Value {
    json!({"permissions": {"allow": ["Bash"]}, "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}})
}

fn print(fields: Value) -> Value {
    let mut specific = json!({"hookEventName": "PreToolUse"});
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"type": "command", "command": format!("echo '{}'", json!({"hookSpecificOutput": specific}))})
}

/// Amends DEC-055: an answer that was cut off may have been a no.
#[test]
fn an_answer_too_long_to_be_read_refuses_the_call() {
    let filler = "head -c 4200000 /dev/zero | tr '\\0' ' '";
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"#;
    let shell = json!({"type": "command", "command": format!("printf ' %s' '{deny}'; {filler}; printf '\"}}}}'")});
    let persistent = json!({"type": "command", "persistent": true, "command":
        format!("while read -r line; do printf '%s' '{deny}'; {filler}; printf '\"}}}}\\n'; done")});
    for handler in [shell.clone(), persistent] {
        for dialect in ["claude", "sdlc"] {
            let ona = ona();
            let mut settings = pre_hook(handler.clone());
            settings["hooksDialect"] = dialect.into();
            ona.settings(settings);
            let line = ona.eval("Bash", json!({"command": "touch canary"}));
            let text = "Denied by PreToolUse hook\n[0] [SDLC] hook answer is longer than 4194304 bytes and was cut off";
            assert_eq!(line["content"], text, "{dialect} {handler}");
            assert!(!ona.exists("canary"));
        }
    }
    let ona = ona();
    let request = json!([{"matcher": "Bash", "hooks": [shell]}]);
    ona.settings(
        json!({"hooksDialect": "claude", "permissions": {"ask": ["Bash"]}, "hooks": {"PermissionRequest": request}}),
    );
    let line = ona.eval_with("Bash", json!({"command": "touch canary"}), &["--yes"]);
    assert_eq!((&line["is_error"], ona.exists("canary")), (&json!(true), false), "{line}");
    // Text that is not an answer blocks nothing.
    ona.settings(pre_hook(json!({"type": "command", "command": "yes | head -c 4200000"})));
    assert_eq!(ona.eval("Bash", json!({"command": "echo ran"}))["content"], "ran\n");
}

#[test]
fn i_7_and_i_8_rules_hold_against_hooks() {
    let managed = |ona: &Ona, rule: &str| {
        std::fs::write(ona.root().join("managed-settings.json"), json!({"permissions": {"deny": [rule]}}).to_string())
            .unwrap();
    };
    let asking = ona();
    managed(&asking, "Bash(curl:*)");
    user(&asking, pre_hook(print(json!({"permissionDecision": "ask"}))));
    let line = asking.eval_with("Bash", json!({"command": "curl https://a.test"}), &["--yes"]);
    assert_eq!(line["content"], "Denied by permission rule Bash(curl:*)", "I-7");
    let rewriting = crate::ona();
    managed(&rewriting, "Bash(rm:*)");
    user(&rewriting, pre_hook(print(json!({"permissionDecision": "allow", "updatedInput": {"command": "rm -rf x"}}))));
    assert_eq!(
        rewriting.eval("Bash", json!({"command": "ls"}))["content"],
        "Denied by permission rule Bash(rm:*)",
        "I-8"
    );
}

#[test]
fn i_11_every_tool_passes_the_plane() {
    let ona = ona();
    ona.file("a.txt", "a");
    ona.file("n.ipynb", r#"{"cells":[],"metadata":{},"nbformat":4,"nbformat_minor":5}"#);
    ona.settings(json!({"permissions": {"defaultMode": "bypassPermissions"}, "hooks": [{"hook_event_name": "PreToolUse", "matcher": "*", "command": "exit 2", "shell": "sh"}]}));
    let calls = [
        ("Read", json!({"file_path": "a.txt"})),
        ("Write", json!({"file_path": "b.txt", "content": "x"})),
        ("Edit", json!({"file_path": "a.txt", "old_string": "a", "new_string": "b"})),
        (
            "NotebookEdit",
            json!({"notebook_path": "n.ipynb", "new_source": "1", "cell_type": "code", "edit_mode": "insert"}),
        ),
        ("Bash", json!({"command": "touch canary"})),
        ("Glob", json!({"pattern": "*"})),
        ("Grep", json!({"pattern": "a"})),
        ("TaskOutput", json!({"task_id": "x"})),
        ("TaskStop", json!({"task_id": "x"})),
    ];
    for (tool, input) in calls {
        assert_eq!(ona.eval(tool, input)["content"], "Denied by PreToolUse hook\n[0] ", "{tool}");
    }
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='tool_started'"), 0);
}

#[test]
fn i_14_the_agent_can_not_edit_its_guards() {
    let ona = ona();
    ona.file("guard.sh", "exit 0\n");
    ona.file("new.json", "{}");
    ona.home_file(
        ".claude/settings.json",
        pre_hook(json!({"type": "command", "command": "sh ./guard.sh"})).to_string(),
    );
    let settings = ona.home().join(".claude/settings.json");
    let guard = ona.project().join("guard.sh");
    let before = (std::fs::read(&settings).unwrap(), std::fs::read(&guard).unwrap());
    let s = settings.display();
    let local = ona.project().join(".ona/settings.local.json");
    let mut commands = vec![
        format!("tee {s} < new.json"),
        format!("sed -i s/a/b/ {s}"),
        format!("cp new.json {s}"),
        format!("mv new.json {s}"),
        format!("ln -sf new.json {s}"),
        format!("echo '{{}}' > {s}"),
        format!("python3 -c 'open(\"{s}\",\"w\")'"),
        format!("mkdir -p .ona; echo '{{}}' > {}", local.display()),
        "cd ~/.claude && echo '{}' > settings.json".to_owned(),
        "echo 'exit 0' > guard.sh".to_owned(),
        "rm guard.sh".to_owned(),
    ];
    commands.push(format!("git checkout -- {s}"));
    for command in &commands {
        let line =
            ona.eval_with("Bash", json!({"command": command}), &["--permission-mode", "bypassPermissions", "--yes"]);
        assert_eq!(line["is_error"], true, "I-14 {command}: {line}");
    }
    for (tool, input) in [
        ("Write", json!({"file_path": settings, "content": "{}"})),
        ("Write", json!({"file_path": local, "content": "{}"})),
        ("Edit", json!({"file_path": guard, "old_string": "exit", "new_string": "true"})),
        ("Write", json!({"file_path": ona.db(), "content": ""})),
    ] {
        let line = ona.eval_with(tool, input.clone(), &["--permission-mode", "bypassPermissions", "--yes"]);
        assert_eq!(line["is_error"], true, "{tool} {input}: {line}");
    }
    assert_eq!((std::fs::read(&settings).unwrap(), std::fs::read(&guard).unwrap()), before);
    assert!(!local.exists());
}

#[test]
fn e_7_searches_do_not_show_what_may_not_be_read() {
    let ona = ona();
    ona.file(".env", "KEY=1\n");
    ona.file("open.txt", "KEY=2\n");
    ona.settings(json!({"permissions": {"allow": ["Grep", "Glob"], "deny": ["Read(./.env)"]}}));
    let content = |tool: &str, input: Value| ona.eval(tool, input)["content"].as_str().unwrap().to_owned();
    let found = content("Grep", json!({"pattern": "KEY", "path": ".", "output_mode": "content"}));
    assert!(found.contains("KEY=2") && !found.contains("KEY=1"), "{found}");
    assert!(!content("Glob", json!({"pattern": "**/*"})).contains(".env"));
    assert!(!content("Glob", json!({"pattern": "**/.env"})).contains(".env"));
}

#[test]
fn n_9_and_n_10_what_is_shown_of_a_record_is_harmless() {
    let mut ona = ona();
    ona.env("OPENAI_API_KEY", "canary-in-a-record");
    let call = json!({"tool": "Bash", "input": {"command": "printf '\\033]52;c;eA==\\007\\033[2Jcanary-in-a-record'"}, "session_id": "s"}).to_string();
    ona.run(["--eval", &call]).expect_code(0);
    let shown = ona.run(["sessions", "show", "s"]).expect_code(0).stdout;
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "N-9 {shown:?}");
    assert!(!shown.contains("canary-in-a-record") && shown.contains("[REDACTED:"), "N-10 {shown}");
}
