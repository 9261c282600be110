//! Which hooks run for which call: matchers, conditions, twins, types.

use super::*;
use crate::ona;
use ona_testkit::model::{ModelServer, Wire, body, call, say};

const NOTEBOOK: &str = r#"{"cells":[{"cell_type":"code","id":"c","metadata":{},"source":["1"],"outputs":[],"execution_count":null}],"metadata":{},"nbformat":4,"nbformat_minor":5}"#;

/// Whether a hook with this matcher ran for one call of each tool.
fn ran_for(matcher: &str) -> Vec<Value> {
    let ona = ona();
    ona.file("n.ipynb", NOTEBOOK);
    install(&ona, json!({"PreToolUse": [group(matcher, &["true"])]}));
    ona.eval("Read", json!({"file_path": "n.ipynb"}));
    ona.eval("NotebookEdit", json!({"notebook_path": "n.ipynb", "cell_id": "c", "new_source": "2"}));
    ona.eval("Write", json!({"file_path": "a.txt", "content": "x"}));
    ona.eval("Bash", json!({"command": "true"}));
    ona.column("SELECT tool_name FROM hook_invocations ORDER BY id")
}

#[test]
fn c19_a_plain_name_is_that_name() {
    assert_eq!(ran_for("Edit"), Vec::<Value>::new());
}

#[test]
fn c20_a_list_is_its_names() {
    assert_eq!(ran_for("Edit|Write"), ["Write"]);
    assert_eq!(ran_for("Edit, Write ,Bash"), ["Write", "Bash"]);
}

#[test]
fn c21_anything_else_is_an_expression() {
    assert_eq!(ran_for("^Notebook"), ["NotebookEdit"]);
    assert_eq!(ran_for("^(?!Bash|Read).*"), ["NotebookEdit", "Write"]);
    assert_eq!(ran_for("Edit.*"), ["NotebookEdit"], "not anchored");
    assert_eq!(ran_for("(edit|write)"), Vec::<Value>::new(), "case counts");
}

#[test]
fn c22_an_invalid_expression_matches_nothing_and_is_named_once() {
    let ona = ona();
    install(&ona, json!({"PreToolUse": [group("(", &["touch never"]), group("Bash", &["touch other"])]}));
    let first = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#]).expect_code(0);
    assert!(!ona.exists("never") && ona.exists("other"));
    assert_eq!(first.stderr.matches("\"(\" is not a valid expression").count(), 1, "{}", first.stderr);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(notices(&ona), ["hook_config_rejected"]);
}

#[test]
fn c23_an_unknown_event_is_named_once_and_the_rest_loads() {
    let ona = ona();
    install(
        &ona,
        json!({"UserPromptExpansion": [group("", &["touch never"])], "PreToolUse": [group("Bash", &["touch other"])]}),
    );
    let first = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#]).expect_code(0);
    assert!(!ona.exists("never") && ona.exists("other"));
    let lines = first.stderr.lines().filter(|line| line.contains("UserPromptExpansion"));
    assert_eq!(lines.count(), 1, "{}", first.stderr);
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(notices(&ona), ["hook_config_rejected"], "recorded once, not at every start");
}

/// Overruled by DEC-047: handlers of the other types run, in their place in the chain.
#[test]
fn c24_handlers_of_other_types_run_beside_a_command() {
    let mut ona = ona();
    let web = ModelServer::start(Wire::Messages, [body("application/json", "{}")]);
    let script =
        [call("Bash", json!({"command": "echo ran"})), say(r#"{"ok": true}"#), say(r#"{"ok": true}"#), say("done")];
    let server = ona.model(Wire::Messages, script);
    let handlers = json!([
        {"type": "prompt", "prompt": "May it? $ARGUMENTS"},
        {"type": "http", "url": format!("{}/v1/messages", web.url())},
        {"type": "agent", "prompt": "Look. $ARGUMENTS"},
        {"type": "dance", "command": "touch never"},
        {"type": "command", "command": "touch command"},
    ]);
    install_with(
        &ona,
        json!({"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert!(ona.exists("command") && !ona.exists("never"));
    assert_eq!((server.request_count(), web.request_count()), (4, 1));
    let kinds = ona.column("SELECT substr(command, 1, instr(command || ' ', ' ') - 1) FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY hook_ordinal");
    assert_eq!(kinds, ["prompt", "http", "agent", "touch"]);
    let why = ona.value("SELECT detail FROM events WHERE event_type='hook_config_rejected'").to_string();
    assert!(why.contains("dance"), "{why}");
}

#[test]
fn a_matcher_written_like_a_rule_fits_no_tool_and_is_named() {
    let ona = ona();
    install(&ona, json!({"PreToolUse": [group("Bash(git push*)", &["touch never"])]}));
    let ran = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"echo git push"}}"#]).expect_code(0);
    assert!(!ona.exists("never") && ran.stderr.contains("Bash(git push*)"), "{}", ran.stderr);
}

#[test]
fn a_condition_is_a_permission_rule_and_holds_on_tool_events_only() {
    let ona = ona();
    let when =
        |rule: &str, file: &str| json!({"type": "command", "if": rule, "command": format!("echo {file} >> log")});
    install(
        &ona,
        json!({
            "PreToolUse": [{"hooks": [when("Bash(git *)", "git"), when("Edit(*.ts)", "ts"), when("", "any")]}],
            "UserPromptSubmit": [{"hooks": [when("Bash", "prompt")]}],
        }),
    );
    ona.eval("Bash", json!({"command": "A=1 git status; true"}));
    ona.eval("Bash", json!({"command": "ls"}));
    ona.eval("Write", json!({"file_path": "a.ts", "content": "x"}));
    ona.eval("Write", json!({"file_path": "a.js", "content": "x"}));
    ona.run(["--fire-hook", r#"{"hook_event_name":"UserPromptSubmit","prompt":"p"}"#]).expect_code(0);
    assert_eq!(ona.read("log"), "git\nany\nany\nts\nany\nany\n");
}

#[test]
fn identical_handlers_of_settings_files_run_once_wherever_they_stand() {
    let ona = ona();
    let same = "echo same >> log";
    install(
        &ona,
        json!({"PreToolUse": [group("Bash", &[same, "echo other >> log"]), group("*", &[same]),
            {"matcher": "Bash", "hooks": [{"type": "command", "if": "Bash(true *)", "command": same}]}]}),
    );
    ona.file(".claude/settings.json", json!({"hooks": {"PreToolUse": [group("Bash", &[same])]}}).to_string());
    ona.eval("Bash", json!({"command": "true x"}));
    assert_eq!((ona.read("log").as_str(), hook_rows(&ona, "PreToolUse")), ("same\nother\n", 2));
}

#[test]
fn a_plugins_copy_of_a_handler_is_its_own() {
    let ona = ona();
    let hooks = |matcher: &str| json!({"PreToolUse": [group(matcher, &["echo \"<$CLAUDE_PLUGIN_ROOT>\" >> log"])]});
    ona.settings(json!({"hooksDialect": "claude", "hooks": hooks("Bash"), "plugins": {
        "one": {"root": "/one", "data": "/d", "hooks": hooks("Bash")}, "two": {"root": "/two", "data": "/d", "hooks": hooks("Bash")}}}));
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(ona.read("log"), "<>\n</one>\n</two>\n");
}

#[test]
fn a_twin_that_is_switched_off_does_not_take_its_place() {
    let ona = ona();
    let same = json!({"PreToolUse": [group("Bash", &["echo ran >> log"])]});
    install(&ona, same.clone());
    std::fs::write(ona.root().join("managed-settings.json"), json!({"allowManagedHooksOnly": true, "hooks": [
        {"hook_event_name": "PreToolUse", "matcher": "*", "type": "command", "command": "echo ran >> log", "dialect": "claude"}]}).to_string()).unwrap();
    ona.eval("Bash", json!({"command": "true"}));
    assert_eq!(ona.read("log"), "ran\n");
}
