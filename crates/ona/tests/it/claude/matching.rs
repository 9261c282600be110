//! Which hooks run for which call: matchers, conditions, twins, types.

use super::*;
use crate::ona;
use ona_testkit::model::{ModelServer, Wire, body, call, say};

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
