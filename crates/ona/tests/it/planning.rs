//! What planning means for MCP tools and for what runs in the background (DEC-186).

use crate::mcp::{called, server};
use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

/// A conversation in this phase, and a server of which `echo` may change things and `say` reads.
fn world(phase: &str, planning: Value, permissions: Value) -> Ona {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    let mut server = server(&ona);
    server["env"]["READS"] = "say".into();
    let mut settings = json!({"permissions": permissions, "mcpServers": {"s": server},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}});
    if !planning.is_null() {
        settings["sdlc"] = json!({ "planning": planning });
    }
    ona.settings(settings);
    let project = ona.project().display().to_string();
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', ?2, ?1)", [phase, &project]);
    ona
}

fn tool(ona: &Ona, name: &str, flags: &[&str]) -> Value {
    let flags: Vec<_> = ["--conversation", "c"].iter().chain(flags).copied().collect();
    ona.eval_with(name, json!({"text": "hi"}), &flags)["content"].clone()
}

fn decided(ona: &Ona) -> Vec<Vec<Value>> {
    ona.rows(
        "SELECT decision, json_extract(reason_json,'$.source'), json_extract(reason_json,'$.rule')
         FROM tool_permission_log ORDER BY id",
    )
}

#[test]
fn an_mcp_tool_that_may_change_things_asks_while_planning() {
    // Neither an allow rule nor bypassPermissions answers an ask list.
    for mode in ["default", "bypassPermissions", "dontAsk"] {
        let ona = world("planning", json!({"mcp": "ask"}), json!({"allow": ["mcp__s"], "defaultMode": mode}));
        let refused = tool(&ona, "mcp__s__echo", &[]);
        assert_eq!(
            refused,
            "Denied: there is nobody to ask. mcp__s__echo wants to run, which rule sdlc.planning.mcp: ask asks about",
            "{mode}"
        );
        assert_eq!(tool(&ona, "mcp__s__say", &[]), "hi", "it says that it only reads");
        assert_eq!(tool(&ona, "mcp__s__echo", &["--yes"]), r#"{"text":"hi"}"#);
        assert_eq!(called(&ona).len(), 2);
        assert_eq!(decided(&ona)[0][..2], [json!("deny"), json!("no_operator")]);
    }
    let implementing = world("implement", json!({"mcp": "ask"}), json!({"allow": ["mcp__s"]}));
    assert_eq!(tool(&implementing, "mcp__s__echo", &[]), r#"{"text":"hi"}"#);
}

#[test]
fn deny_refuses_to_everybody_and_absent_or_allow_changes_nothing() {
    let ona = world("planning", json!({"mcp": "deny"}), json!({"allow": ["mcp__s"]}));
    assert_eq!(tool(&ona, "mcp__s__echo", &["--yes"]), "Denied by permission rule sdlc.planning.mcp: deny");
    assert_eq!(decided(&ona), [[json!("deny"), json!("rule"), json!("sdlc.planning.mcp: deny")]]);
    assert_eq!(tool(&ona, "mcp__s__say", &[]), "hi");
    for planning in [Value::Null, json!({}), json!({"mcp": "allow"})] {
        let ona = world("planning", planning, json!({"allow": ["mcp__s"]}));
        assert_eq!(tool(&ona, "mcp__s__echo", &[]), r#"{"text":"hi"}"#);
    }
    let ruled = world("planning", json!({"mcp": "ask"}), json!({"deny": ["mcp__s__echo"]}));
    assert_eq!(tool(&ruled, "mcp__s__echo", &["--yes"]), "Denied by permission rule mcp__s__echo");
}

#[test]
fn a_new_row_asks_and_a_wrong_value_asks_and_is_said() {
    let new = ona();
    new.eval("Glob", json!({"pattern": "*"}));
    let row = "SELECT json_extract(json, '$.sdlc.planning.mcp') FROM settings_snapshot WHERE scope='effective'";
    assert_eq!(new.value(row), "ask");
    let ona = world("planning", json!({"mcp": "Deny", "tasks": "kill"}), json!({"allow": ["mcp__s"]}));
    let call = json!({"tool": "mcp__s__echo", "input": {}, "conversation_id": "c"}).to_string();
    let ran = ona.run(["--eval", &call]);
    assert!(ran.json()["content"].as_str().unwrap().contains("sdlc.planning.mcp: ask"), "{}", ran.stdout);
    for line in [
        "ona: sdlc.planning.mcp must be \"ask\", \"deny\" or \"allow\", not \"Deny\"; \"ask\" is used",
        "ona: sdlc.planning.tasks must be \"stop\" or absent, not \"kill\"; tasks are listed only",
    ] {
        assert_eq!(ran.stderr.lines().filter(|one| *one == line).count(), 1, "{}", ran.stderr);
    }
}

/// A turn that starts something in the background and then enters planning; the stderr of it and
/// what the model heard last.
fn enters_planning(ona: &mut Ona, planning: Value) -> (String, String) {
    ona.settings(json!({
        "permissions": {"allow": ["Bash", "EnterPlanMode"]}, "sdlc": {"planning": planning},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    let script = [
        call("Bash", json!({"command": "echo $$ > pid; exec sleep 300", "run_in_background": true})),
        call("Bash", json!({"command": "until [ -s pid ]; do sleep 0.05; done"})),
        call("EnterPlanMode", json!({})),
        call("Glob", json!({"pattern": "*"})),
        say("done"),
    ];
    let model = ona.model(Wire::Messages, script);
    let ran = ona.run(["-p", "go"]).expect_code(0);
    let heard = model.request(3).last_message();
    let later = model.request(4).last_message();
    assert!(!later.contains("Planning has begun"), "told once: {later}");
    (ran.stderr, heard)
}

#[test]
fn what_runs_when_planning_begins_is_listed_to_model_and_operator() {
    let mut ona = ona();
    let (operator, model) = enters_planning(&mut ona, json!({}));
    let listed = "background tasks that were started before are still running: b1 (echo $$ > pid; exec sleep 300). TaskStop ends them.";
    assert!(operator.contains(listed), "{operator}");
    assert!(model.contains(listed) && model.contains("The conversation is in planning."), "{model}");
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='background_task_stopped'"), 0);
}

#[test]
fn what_runs_when_planning_begins_is_stopped_where_the_settings_say_so() {
    let mut ona = ona();
    let (operator, model) = enters_planning(&mut ona, json!({"tasks": "stop"}));
    for heard in [&operator, &model] {
        assert!(heard.contains("background tasks were stopped: b1 (echo $$ > pid; exec sleep 300)."), "{heard}");
    }
    let row = ona.rows(
        "SELECT json_extract(detail,'$.task_id'), json_extract(detail,'$.command') FROM events
         WHERE event_type='background_task_stopped'",
    );
    assert_eq!(row, [[json!("b1"), json!("echo $$ > pid; exec sleep 300")]]);
    assert!(!std::path::Path::new("/proc").join(ona.read("pid").trim()).exists());
}

#[test]
fn planning_that_begins_elsewhere_is_noticed_at_the_next_call() {
    let ona = world("implement", json!({"tasks": "stop"}), json!({"allow": ["Bash", "Glob"]}));
    let wait = ona.root().join("moved");
    // The operator's shell, which is not the agent's.
    let calls = [
        json!({"tool": "Bash", "input": {"command": "sleep 300", "run_in_background": true}, "conversation_id": "c"}),
        json!({"tool": "Bash", "conversation_id": "c", "input":
            {"command": format!("touch ready; until [ -e {} ]; do sleep 0.05; done", wait.display())}}),
        json!({"tool": "Glob", "input": {"pattern": "*"}, "conversation_id": "c"}),
    ];
    let text = calls.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    let mut child = ona.command(["--eval", &text]).spawn().unwrap();
    ona.wait_for("ready", &mut child);
    ona.run(["--transition", "planning", "--conversation", "c"]).expect_code(0);
    std::fs::write(&wait, "").unwrap();
    let ran = ona_testkit::finish(child, b"");
    assert!(ran.stderr.contains("background tasks were stopped: b1 (sleep 300)."), "{}", ran.stderr);
}
