//! Where the framework and the main specification differ.

use super::*;

/// A world with one hook of the settings before the framework's.
fn beside(settings_hook: Value, yaml: &str, module: &str) -> Ona {
    let ona = world(yaml);
    ona.file("hooks.py", module);
    ona.settings(json!({"hooks": [settings_hook], "permissions": {"allow": ["Write", "Glob", "NotebookEdit"]}}));
    ona
}

fn settings_hook(matcher: &str, command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "matcher": matcher, "command": command, "shell": "sh"})
}

#[test]
fn c1_a_timeout_passes_here_and_blocks_in_the_settings_of_the_same_session() {
    let mut ona = beside(
        settings_hook("Read", "true"),
        "hooks:\n  PreToolUse:\n    - {handler: hooks.f, timeout: 0.3}\n",
        &function("f", "while True: pass"),
    );
    ona.env("SDLC_HOOK_TIMEOUT_MS", "200");
    assert_eq!(write(&ona)["is_error"], false);
    ona.settings(json!({"hooks": [settings_hook("Write", "sleep 30")], "permissions": {"allow": ["Write"]}}));
    assert_eq!(said(&write(&ona)), "Denied by PreToolUse hook\n[0] [SDLC] hook timed out after 200 ms");
}

#[test]
fn c2_exit_2_is_a_failure_here_and_a_block_in_the_settings() {
    let ona = program("PreToolUse", "echo no >&2; exit 2", "");
    assert_eq!(write(&ona)["is_error"], false);
    ona.settings(
        json!({"hooks": [settings_hook("Write", "echo no >&2; exit 2")], "permissions": {"allow": ["Write"]}}),
    );
    assert_eq!(said(&write(&ona)), "Denied by PreToolUse hook\n[0] no");
}

#[test]
fn c3_c4_a_deny_is_a_plain_reason_and_skips_the_rest_and_allow_is_no_opinion() {
    let yaml = "hooks:\n  PreToolUse:\n    - {handler: hooks.ask}\n    - {handler: hooks.allow}\n    - {handler: hooks.deny}\n    - {handler: hooks.allow, matcher: W*}\n";
    let module = function("ask", "return {'decision': 'ask', 'reason': 'sure?'}")
        + &function("allow", "return {'decision': 'allow'}")
        + &function("deny", "return {'decision': 'deny', 'reason': 'R'} if event.tool_name == 'Write' else None");
    let ona = beside(settings_hook("Read", "true"), yaml, &module);
    denied(&write(&ona), "R");
    assert_eq!(hook_rows(&ona, "skipped_reason")[3][0], "prior_block_or_deny");
    // The ask of the first stands, whatever the second allows.
    let outcome = fire(&ona, pre("Glob"), &[]);
    assert_eq!((&outcome["permission"], &outcome["message"]), (&json!("ask"), &json!("sure?")), "{outcome}");
}

#[test]
fn c5_the_same_matcher_is_a_glob_here_and_an_expression_in_the_settings() {
    let ona = beside(
        settings_hook("Edit", "true"),
        "hooks:\n  PreToolUse:\n    - {handler: hooks.f, matcher: Edit}\n",
        "def f(event): pass\n",
    );
    let ran = |tool: &str| ran_commands(&fire(&ona, pre(tool), &[])).len();
    assert_eq!((ran("Edit"), ran("NotebookEdit")), (2, 1));
}

#[test]
fn c6_settings_plugins_global_agent_and_nothing_is_one_entry_across_dialects() {
    let ona = world(
        "hooks:\n  PreToolUse:\n    - {handler: ./log.sh, type: command}\nagents:\n  - id: a\n    backend:\n      hooks:\n        PreToolUse:\n          - {handler: ./log.sh, type: command}\n",
    );
    ona.file("log.sh", "");
    let hook = settings_hook("", "./log.sh");
    ona.settings(json!({"hooks": [hook], "plugins": {"p": {"hooks": [settings_hook("", "true")]}}}));
    let outcome = fire(&ona, pre("Write"), &[]);
    let own = "massgen:command:./log.sh";
    assert_eq!(ran_commands(&outcome), ["./log.sh", "true", own, own]);
}

#[test]
fn c7_a_session_keeps_the_configuration_it_began_with() {
    let ona = python(
        "open('hooks.yaml', 'w').write('hooks: {}')\nreturn {'decision': 'deny', 'reason': 'R'}",
        "      matcher: Glob\n",
    );
    let results = evals(&ona, &[glob(), glob()]);
    denied(&results[0], "R");
    denied(&results[1], "R");
    assert_eq!(ona.eval("Glob", json!({"pattern": "*.none"}))["is_error"], false, "the next one reads it anew");
}

#[test]
fn c8_no_shell_stands_between_a_program_and_its_words() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: './args.sh $HOME; touch made', type: command}\n");
    ona.file("args.sh", "printf '%s|' \"$@\" > args\n");
    write(&ona);
    assert_eq!((ona.read("args").as_str(), ona.exists("made")), ("$HOME;|touch|made|", false));
}

#[test]
fn c10_after_a_failure_only_the_failure_event_of_the_settings_fires() {
    let ona = world("hooks:\n  PostToolUse:\n    - {handler: hooks.f}\n");
    ona.file("hooks.py", "def f(event): pass\n");
    let failure = json!({"hook_event_name": "PostToolUseFailure", "matcher": "", "command": "true", "shell": "sh"});
    ona.settings(json!({"hooks": [failure], "permissions": {"allow": ["Edit"]}}));
    ona.eval("Edit", json!({"file_path": "no", "old_string": "a", "new_string": "b"}));
    assert_eq!(hook_rows(&ona, "hook_event, command"), [["PostToolUseFailure", "true"]]);
}

#[test]
fn c11_gate_and_rules_stand_behind_an_allow() {
    let ona = python("return {'decision': 'allow'}", "");
    ona.run(["db", "init"]).expect_code(0);
    ona.execute(
        "INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?1, 'planning')",
        [ona.project().display().to_string()],
    );
    let input = json!({"file_path": "a.txt", "content": "x"});
    let result = ona.eval_with("Write", input.clone(), &["--conversation", "c"]);
    assert_eq!(said(&result), "Denied: phase is planning and no approved plan exists");
    ona.settings(json!({"permissions": {"deny": ["Write"]}}));
    assert_eq!(said(&ona.eval("Write", input)), "Denied by permission rule Write");
    assert!(!ona.exists("a.txt"));
}

#[test]
fn c12_a_folder_nobody_trusts_brings_no_functions() {
    let ona = ona();
    ona.file("hooks.yaml", "hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n");
    ona.file("hooks.py", "open('imported', 'w')\ndef f(event): return {'decision': 'deny', 'reason': 'R'}\n");
    ona.file(".ona/settings.json", r#"{"massgenConfig": "hooks.yaml", "permissions": {"allow": ["Glob"]}}"#);
    denied(&ona.eval("Glob", json!({"pattern": "*.none"})), "R");
    std::fs::remove_file(ona.project().join("imported")).unwrap();
    ona.eval_with("Glob", json!({"pattern": "*.none"}), &["--no-trust"]);
    assert!(!ona.exists("imported"));
}
