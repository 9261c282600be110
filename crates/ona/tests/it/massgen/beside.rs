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
