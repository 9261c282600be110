//! Where hooks stand and how they are written down.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};
use std::os::unix::fs::PermissionsExt;

#[test]
fn c31_a_plugins_hook_finds_its_folder() {
    let ona = ona();
    let root = ona.home().join("plugins/one");
    ona.home_file(
        "plugins/one/guard.sh",
        "#!/bin/sh\nprintf '%s|%s' \"$CLAUDE_PLUGIN_ROOT\" \"$CLAUDE_PLUGIN_DATA\" > seen\n",
    );
    let script = ona.home().join("plugins/one/guard.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let exec = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/guard.sh", "args": []});
    for handler in [json!({"type": "command", "command": "\"${CLAUDE_PLUGIN_ROOT}\"/guard.sh"}), exec] {
        ona.settings(json!({"plugins": {"one": {"root": root, "data": "/data",
            "hooks": {"description": "d", "PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}}}));
        ona.eval("Bash", json!({"command": "true"}));
        assert_eq!(ona.read("seen"), format!("{}|/data", root.display()), "{handler}");
        std::fs::remove_file(ona.project().join("seen")).unwrap();
    }
}

#[test]
fn c37_an_edit_while_a_session_runs_counts_in_the_next_and_the_file_stays() {
    let mut ona = ona();
    let bash = |command: &str| call("Bash", json!({ "command": command }));
    let script = [bash("echo one"), say("a"), bash("echo two"), say("b"), bash("echo three"), say("c")];
    let _server = ona.model(Wire::Messages, script);
    install_with(
        &ona,
        json!({"PreToolUse": [group("Bash", &["echo old >> log"])]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    let mut talk = ona.attended();
    talk.say("go");
    talk.until_result();
    let mut edited = group("Bash", &["echo new >> log"]);
    edited["_gstack_source"] = "question-log".into();
    let text = serde_json::to_string_pretty(&json!({"custom": {"keep": [1, 2]}, "permissions": {"allow": ["Bash"]},
        "hooks": {"PreToolUse": [edited]}}))
    .unwrap();
    let path = ona.home_file(".claude/settings.json", &text);
    talk.say("again");
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    assert_eq!(ona.read("log"), "old\nold\n", "not in the session that runs");

    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ona.read("log"), "old\nold\nnew\n");
    assert_eq!(std::fs::read_to_string(path).unwrap(), text, "nobody touched the file");
}

#[test]
fn a_rewrite_of_somebodys_file_keeps_unknown_keys_and_its_mode() {
    let mut ona = ona();
    let update = json!({"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "echo *"}], "behavior": "allow", "destination": "localSettings"});
    let grant = says("PermissionRequest", json!({"decision": {"behavior": "allow", "updatedPermissions": [update]}}));
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "echo x"})), say("done")]);
    install(&ona, json!({"PermissionRequest": [group("Bash", &[&grant])]}));
    let path = ona
        .file(".ona/settings.local.json", r#"{"zeta": 1, "_tool": {"b": 2, "a": 1}, "permissions": {"custom": true}}"#);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    ona.run(["-p", "go"]).expect_code(0);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(
        written,
        json!({"zeta": 1, "_tool": {"b": 2, "a": 1}, "permissions": {"custom": true, "allow": ["Bash(echo *)"]}})
    );
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn hooks_of_all_places_add_up_in_their_order() {
    let ona = ona();
    let hooks =
        |word: &str| json!({"hooks": {"PreToolUse": [group("Bash", &[&format!("echo {word} >> log")])]}}).to_string();
    ona.home_file(".claude/settings.json", hooks("user"));
    ona.file(".claude/settings.json", hooks("project"));
    ona.file(".claude/settings.local.json", hooks("local"));
    ona.file("extra.json", hooks("flag"));
    ona.eval_with("Bash", json!({"command": "true"}), &["--settings", "extra.json"]);
    assert_eq!(ona.read("log"), "user\nproject\nlocal\nflag\n");
    let dialects = ona.column(
        "SELECT DISTINCT json_extract(h.value,'$.dialect') FROM settings_snapshot s, json_each(s.json,'$.hooks') h",
    );
    assert_eq!(dialects, ["claude"]);
}

#[test]
fn the_users_file_may_be_somewhere_else() {
    let mut ona = ona();
    let elsewhere = ona.home().join("elsewhere");
    ona.home_file(
        "elsewhere/settings.json",
        json!({"hooks": {"PreToolUse": [group("Bash", &["touch ran"])]}}).to_string(),
    );
    ona.env("CLAUDE_CONFIG_DIR", elsewhere.to_str().unwrap());
    ona.eval("Bash", json!({"command": "true"}));
    assert!(ona.exists("ran"));
}

#[test]
fn what_is_malformed_is_left_out_and_the_rest_runs() {
    let ona = ona();
    let hooks = json!({
        "Stop": null,
        "PostToolUse": [{"matcher": "Bash", "hooks": null}],
        "SessionStart": "echo hi",
        "PreToolUse": [
            null,
            "echo",
            {"matcher": "Bash", "hooks": "echo"},
            {"matcher": 7, "hooks": [{"type": "command", "command": "touch number"}]},
            {"matcher": "Bash", "hooks": [null, {"type": "command"}, {"type": "command", "command": 5}, {"command": "touch untyped"}]},
            {"matcher": null, "_gstack_source": "x", "id": "i", "description": "d", "hooks": [{"type": "command", "command": "touch ran", "description": "d", "_x": {}}]},
        ],
    });
    install(&ona, hooks);
    let ran = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"echo fine"}}"#]).expect_code(0);
    assert_eq!(ran.json()["content"], "fine\n");
    assert!(ona.exists("ran") && ona.exists("untyped") && !ona.exists("number"), "{}", ran.stderr);
    install(&crate::ona(), Value::Null);
}

#[test]
fn the_exec_form_starts_the_program_itself() {
    let ona = ona();
    ona.file("my guard.sh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > words\n");
    let script = ona.project().join("my guard.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let exec = json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/my guard.sh", "args": ["a b", "$HOME", "${CLAUDE_PROJECT_DIR}/x", "*"]});
    install(&ona, json!({"PreToolUse": [{"matcher": "Bash", "hooks": [exec]}]}));
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(ona.read("words"), format!("a b\n$HOME\n{}/x\n*\n", ona.project().display()));
}

#[test]
fn a_shell_can_be_named_and_a_strange_one_is_refused() {
    let ona = ona();
    let with =
        |shell: &str| json!({"type": "command", "shell": shell, "command": "echo ${BASH_VERSION:+bash}x >> log"});
    install(&ona, json!({"PreToolUse": [{"matcher": "Bash", "hooks": [with("bash"), with("sh"), with("fish")]}]}));
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(ona.read("log").lines().next(), Some("bashx"));
    assert_eq!(notices(&ona), ["hook_config_rejected"]);
}

#[test]
fn hooks_run_in_the_sessions_directory_with_the_projects_in_their_environment() {
    let ona = ona();
    ona.file(".git/HEAD", "");
    ona.file("sub/a", "");
    ona.file("bin/where.sh", "#!/bin/sh\npwd > \"$CLAUDE_PROJECT_DIR/where\"\nenv > \"$CLAUDE_PROJECT_DIR/env\"\n");
    let script = ona.project().join("bin/where.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    install(&ona, json!({"PreToolUse": [group("Bash", &["\"$CLAUDE_PROJECT_DIR\"/bin/where.sh"])]}));
    ona.run_in(&ona.project().join("sub"), ["--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#]).expect_code(0);
    assert_eq!(ona.read("where").trim(), ona.project().join("sub").to_str().unwrap());
    let env = ona.read("env");
    assert!(env.lines().any(|line| line.starts_with("CLAUDE_CODE_SESSION_ID=")), "{env}");
    assert!(!env.contains("CLAUDE_CODE_REMOTE") && !env.contains("CLAUDE_PLUGIN_ROOT"), "{env}");
}

#[test]
fn a_hook_may_leave_a_process_behind() {
    let ona = ona();
    install(
        &ona,
        json!({"PreToolUse": [group("Bash", &["(while [ ! -e go ]; do sleep 0.05; done; touch later) & echo $! > pid"])]}),
    );
    assert_eq!(ona.eval("Bash", json!({"command": "echo ran"}))["content"], "ran\n");
    assert_eq!(ona.value("SELECT exit_code FROM hook_invocations"), 0);
    let waited =
        ona.lenient_shell("touch go; for _ in $(seq 200); do [ -e later ] && exit 0; sleep 0.05; done; exit 1");
    assert_eq!(waited.code, 0, "it was left alone");
}

#[test]
fn all_hooks_can_be_switched_off() {
    let ona = ona();
    install_with(&ona, json!({"PreToolUse": [group("Bash", &["touch ran"])]}), json!({"disableAllHooks": true}));
    ona.eval("Bash", json!({"command": "true"}));
    assert!(!ona.exists("ran"));
    assert_eq!(ona.value("SELECT skipped_reason FROM hook_invocations"), "all_hooks_disabled");
}

#[test]
fn each_hook_has_its_time() {
    let ona = ona();
    let handler = |more: Value| {
        let mut handler = json!({"type": "command", "command": "true"});
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{"matcher": "", "hooks": [handler]}])
    };
    install(
        &ona,
        json!({"Stop": handler(json!({})), "PreToolUse": handler(json!({"timeout": 5})), "PostToolUse": handler(json!({"async": true})),
            "UserPromptSubmit": handler(json!({"async": true, "timeout": 60})), "SessionEnd": handler(json!({}))}),
    );
    let doctor = ona.run(["doctor", "--json"]).json();
    let times: Vec<_> = doctor["hooks"].as_array().unwrap().iter().map(|hook| hook["timeout_ms"].clone()).collect();
    assert_eq!(times, [600_000, 5_000, 10_000, 60_000, 1_500]);
}

#[test]
fn effort_is_the_configured_one() {
    let ona = ona();
    install_with(&ona, json!({"PreToolUse": [group("Bash", &["cat > pre"])]}), json!({"effortLevel": "high"}));
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(dumped(&ona, "pre")[0]["effort"], json!({"level": "high"}));
    assert_eq!(ona.read("pre").matches('\n').count(), 1, "one line and its end");
}
