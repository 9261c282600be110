//! A tool denied as a whole is not offered, and a call of it goes the path of every call (DEC-185).

use crate::{mcp::server, ona};
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, calls, say};
use serde_json::{Value, json};

fn settings(deny: &[&str], more: Value) -> Value {
    let mut settings = json!({
        "permissions": {"allow": ["Agent", "mcp__a", "ToolSearch"], "deny": deny},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": [
            {"hook_event_name": "PreToolUse", "command": "cat >> pre", "shell": "sh"},
            {"hook_event_name": "PermissionDenied", "command": "cat >> denied", "shell": "sh"},
        ],
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    settings
}

fn told(ona: &Ona, file: &str) -> Vec<Value> {
    let lines: Vec<Value> = ona.read(file).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.into_iter().map(|line| line["tool_name"].clone()).collect()
}

fn log(ona: &Ona) -> Vec<Vec<Value>> {
    ona.rows("SELECT tool_name, decision, json_extract(reason_json,'$.rule') FROM tool_permission_log ORDER BY id")
}

#[test]
fn a_call_of_a_denied_tool_meets_hooks_and_leaves_a_row() {
    let mut ona = ona();
    ona.settings(settings(&["Bash", "Gl*"], json!({})));
    let script = [calls([("Bash", json!({"command": "touch ran"})), ("Glob", json!({"pattern": "*"}))]), say("done")];
    let model = ona.model(Wire::Messages, script);
    let ran = ona.run(["-p", "go", "--output-format", "stream-json", "--verbose"]).expect_code(0);
    let init: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    for offered in [model.request(0).tool_names(), model.request(1).tool_names()] {
        assert!(offered.contains(&"Read".to_owned()), "{offered:?}");
        assert!(!offered.contains(&"Bash".to_owned()) && !offered.contains(&"Glob".to_owned()), "{offered:?}");
    }
    assert!(!init["tools"].as_array().unwrap().contains(&json!("Bash")), "{init}");
    let answered = model.request(1).last_message();
    assert!(answered.contains("Denied by permission rule Bash"), "{answered}");
    assert!(answered.contains("Denied by permission rule Gl*"), "{answered}");
    assert_eq!(told(&ona, "pre"), ["Bash", "Glob"]);
    assert_eq!(told(&ona, "denied"), ["Bash", "Glob"]);
    let row = |tool: &str, rule: &str| vec![json!(tool), json!("deny"), json!(rule)];
    assert_eq!(log(&ona), [row("Bash", "Bash"), row("Glob", "Gl*")]);
    assert!(!ona.exists("ran"));
}

#[test]
fn subagents_and_tools_of_servers_are_no_exception() {
    let mut ona = ona();
    let servers = json!({"mcpServers": {"a": server(&ona), "b": server(&ona)}});
    ona.settings(settings(&["Bash", "mcp__b", "mcp__a__h*"], servers));
    let script = [
        call("Agent", json!({"description": "do", "prompt": "do it", "subagent_type": "general-purpose"})),
        calls([
            ("Bash", json!({"command": "touch ran"})),
            ("mcp__b__echo", json!({"x": 1})),
            ("mcp__a__hang", json!({})),
            ("mcp__a__echo", json!({"x": 1})),
            ("ToolSearch", json!({"query": "select:Bash"})),
        ]),
        say("I could not."),
        call("mcp__b__echo", json!({"x": 1})),
        say("done"),
    ];
    let model = ona.model(Wire::Messages, script);
    ona.run(["-p", "go"]).expect_code(0);
    for request in [0, 1] {
        let offered = model.request(request).tool_names();
        assert!(offered.contains(&"mcp__a__echo".to_owned()), "{offered:?}");
        let denied = |name: &&String| *name == "Bash" || name.starts_with("mcp__b") || name.starts_with("mcp__a__h");
        assert_eq!(offered.iter().find(denied), None);
    }
    let answered = model.request(2).last_message();
    for rule in ["Bash", "mcp__b", "mcp__a__h*"] {
        assert!(answered.contains(&format!("Denied by permission rule {rule}\n")), "{rule}: {answered}");
    }
    assert!(answered.contains(r#"{"x":1}"#), "{answered}");
    assert!(answered.contains("Unknown tool Bash."), "{answered}");
    assert!(model.request(4).last_message().contains("Denied by permission rule mcp__b"));
    assert_eq!(told(&ona, "denied"), ["Bash", "mcp__b__echo", "mcp__a__hang", "mcp__b__echo"]);
    assert!(!ona.exists("ran"));
}
