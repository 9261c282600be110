//! Which hooks an agent has: global ones, its own, overrides, subagents.

use super::*;

const AGENTS: &str = "hooks:
  PreToolUse:
    - {handler: global.log}
  PostToolUse:
    - {handler: after.py, type: command}
agents:
  - id: agent_a
    backend:
      type: claude
      model: whatever
      hooks:
        PreToolUse:
          FORM
  - id: agent_b
    backend: {type: openai, mcp_servers: {x: {1: y}}}
orchestrator: {snapshot_storage: s}
";

fn agents(form: &str) -> Ona {
    let ona = world(&AGENTS.replace("FORM", form));
    ona.file("global.py", LOG);
    ona.file("own.py", LOG);
    ona.file("after.py", "open('after', 'a').write('after\\n')\n");
    ona
}

const GLOBAL: &str = "massgen:python:global.log";
const OWN: &str = "massgen:python:own.log";

#[test]
fn the_same_entry_of_two_agents_is_two_entries() {
    let ona = world(
        "agents:
  - {id: a, backend: {hooks: {PreToolUse: [{handler: own.log}]}}}
  - {id: b, backend: {hooks: {PreToolUse: [{handler: own.log}]}}}
",
    );
    ona.file("own.py", LOG);
    let listed = ona.run(["hooks", "list"]).expect_code(0).stdout;
    assert!(listed.contains("if \"agent a\"") && listed.contains("if \"agent b\""), "{listed}");
    for id in ["a", "b"] {
        assert_eq!(ran_commands(&fire(&ona, pre("Write"), &["--agent-id", id])), [OWN]);
    }
}

#[test]
fn a_defined_agent_runs_with_the_hooks_of_its_name() {
    let mut ona = agents("{override: true, hooks: [{handler: own.log}]}");
    let definitions = r#"{"agent_a": {"description": "d", "prompt": "p"}}"#;
    let task = json!({"description": "d", "prompt": "p", "subagent_type": "agent_a"});
    let script = [call("Agent", task), call("Glob", json!({"pattern": "*"})), say("in"), say("out")];
    let _model = ona.model(Wire::Messages, script);
    ona.run(["-p", "go", "--agents", definitions, "--agent-id", "agent_b", "--allowedTools", "Agent"]).expect_code(0);
    let ran = ona.rows("SELECT tool_name, command FROM hook_invocations WHERE hook_event='PreToolUse' ORDER BY id");
    // The rows of the inner call are written before those of the outer one that waits for it.
    assert!(ran.contains(&vec![json!("Glob"), json!(OWN)]), "{ran:?}");
    assert!(ran.contains(&vec![json!("Agent"), json!(GLOBAL)]), "{ran:?}");
    assert_eq!(ran.len(), 2);
}
