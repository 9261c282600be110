//! Which hooks an agent has: global ones, its own, overrides, subagents.

use super::*;

#[test]
fn mg_1_1_all_matching_pre_hooks_complete_before_the_tool_runs_and_mcp_names_match_alike() {
    let ona = world(
        "hooks:
  PreToolUse:
    - {handler: one.log, matcher: Write}
    - {handler: two.log, matcher: 'Write|Edit'}
    - {handler: mcp.log, matcher: 'mcp__*'}
",
    );
    for module in ["one", "two", "mcp"] {
        let there = "'there' if os.path.exists('a.txt') else 'not there yet', file=log";
        ona.file(&format!("{module}.py"), format!("import os\n{}", LOG.replace("file=log", there)));
    }
    assert_eq!(write(&ona)["is_error"], false);
    let rows = hook_rows(&ona, "command, exit_code, completed_at IS NOT NULL");
    assert_eq!(
        rows,
        [[json!("massgen:python:one.log"), json!(0), json!(1)], [json!("massgen:python:two.log"), json!(0), json!(1)],]
    );
    let started = ona.value("SELECT timestamp FROM events WHERE event_type='tool_started'");
    let completed = ona.value("SELECT max(substr(completed_at, 1, 19)) FROM hook_invocations");
    assert!(completed.as_str() <= started.as_str(), "{completed} {started}");
    assert_eq!(lines(&ona, "log"), ["PreToolUse Write None not there yet"; 2]);
    assert_eq!(ran_commands(&fire(&ona, pre("mcp__fs__read"), &[])), ["massgen:python:mcp.log"]);
}

#[test]
fn mg_1_2_a_post_hook_sees_the_text_of_a_success_and_nothing_of_a_failure_or_a_denial() {
    let ona = world("hooks:\n  PostToolUse:\n    - handler: one.log\n");
    ona.file("one.py", LOG);
    let text = said(&write(&ona)).to_owned();
    assert_eq!(lines(&ona, "log"), [format!("PostToolUse Write {text}")]);
    // MG-1.2b
    assert_eq!(ona.eval("Edit", json!({"file_path": "no", "old_string": "a", "new_string": "b"}))["is_error"], true);
    let flags = ["--disallowedTools", "Write"];
    assert_eq!(ona.eval_with("Write", json!({"file_path": "b", "content": ""}), &flags)["is_error"], true);
    assert_eq!(hook_rows(&ona, "count(*)"), [[json!(1)]]);
}

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
fn mg_2_1_global_hooks_run_for_every_agent_and_for_subagents() {
    let ona = agents("- {handler: own.log}");
    for flags in [["--agent-id", "agent_a"], ["--agent-id", "agent_b"]] {
        ona.eval_with("Glob", json!({"pattern": "*"}), &flags);
    }
    assert_eq!(hook_rows(&ona, "count(*)")[0][0], json!(5));
    let of = |command: &str| ona.value(&format!("SELECT count(*) FROM hook_invocations WHERE command='{command}'"));
    assert_eq!((of(GLOBAL), of("massgen:command:after.py")), (json!(2), json!(2)));
    assert_eq!(lines(&ona, "after").len(), 2);
    let mut ona = ona;
    let task = json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"});
    let model =
        ona.model(Wire::Messages, [call("Agent", task), call("Glob", json!({"pattern": "*"})), say("in"), say("out")]);
    ona.run(["-p", "go", "--allowedTools", "Agent"]).expect_code(0);
    assert_eq!(model.requests().len(), 4);
    let in_subagent = "tool_name = 'Glob' AND json_extract(input_json, '$.agent_type') = 'general-purpose'";
    let ran = ona.column(&format!("SELECT command FROM hook_invocations WHERE {in_subagent} ORDER BY id"));
    assert_eq!(ran, [GLOBAL, "massgen:command:after.py"]);
}

#[test]
fn mg_2_2_a_global_program_runs_after_the_tool_for_every_agent() {
    let ona = world(
        "hooks:\n  PostToolUse:\n    - {handler: path/to/script.py, type: command}\nagents: [{id: a}, {id: b}]\n",
    );
    ona.file("path/to/script.py", "import json, sys\nevent = json.load(sys.stdin)\nprint(event['agent_id'], event['tool_name'], event['tool_output'], file=open('log', 'a'))\n");
    for agent in ["a", "b"] {
        ona.eval_with("Write", json!({"file_path": format!("{agent}.txt"), "content": "x"}), &["--agent-id", agent]);
    }
    let told = lines(&ona, "log");
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("a Write ") && told[0].contains("a.txt"), "{told:?}");
    assert!(told[1].starts_with("b Write ") && told[1].contains("b.txt"), "{told:?}");
    assert_eq!(hook_rows(&ona, "DISTINCT command"), [["massgen:command:path/to/script.py"]]);
}

#[test]
fn mg_3_1_an_agents_hooks_follow_the_global_ones() {
    let ona = agents("- {handler: own.log}");
    let ran = |flags: &[&str]| -> Vec<String> {
        ran_commands(&fire(&ona, pre("Write"), flags)).iter().map(|one| (*one).to_owned()).collect()
    };
    assert_eq!(ran(&["--agent-id", "agent_a"]), [GLOBAL, OWN]);
    assert_eq!(ran(&["--agent-id", "agent_b"]), [GLOBAL]);
    // DEC-150: the first agent, if none is chosen.
    assert_eq!(ran(&[]), [GLOBAL, OWN]);
}

#[test]
fn mg_3_2_an_override_leaves_only_the_agents_own_hooks_for_that_event() {
    for form in ["{override: true, hooks: [{handler: own.log}]}", "[{handler: own.log, override: true}]"] {
        let ona = agents(form);
        let ran = |fields: Value, id: &str| -> Vec<String> {
            let outcome = fire(&ona, fields, &["--agent-id", id]);
            ran_commands(&outcome).iter().map(|one| (*one).to_owned()).collect()
        };
        assert_eq!(ran(pre("Write"), "agent_a"), [OWN], "{form}");
        assert_eq!(ran(pre("Write"), "agent_b"), [GLOBAL], "{form}");
        let post = json!({
            "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": {}, "tool_response": {}, "tool_use_id": "t",
        });
        assert_eq!(ran(post, "agent_a"), ["massgen:command:after.py"], "{form}");
    }
}

#[test]
fn mg_3_2b_an_override_without_hooks_is_honoured() {
    for form in ["{override: true, hooks: []}", "{override: true}"] {
        let ona = agents(form);
        assert!(ran_commands(&fire(&ona, pre("Write"), &["--agent-id", "agent_a"])).is_empty(), "{form}");
        assert_eq!(ran_commands(&fire(&ona, pre("Write"), &["--agent-id", "agent_b"])), [GLOBAL], "{form}");
    }
}

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
fn a_subagent_whose_type_or_id_is_an_agents_id_is_that_agent() {
    let ona = agents("- {handler: own.log}");
    let outcome = |more: Value| {
        let mut fields = pre("Write");
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let outcome = fire(&ona, fields, &["--agent-id", "agent_b"]);
        let ids =
            ona.column("SELECT json_extract(input_json, '$.agent_id') FROM hook_invocations ORDER BY id DESC LIMIT 1");
        (ran_commands(&outcome).len(), ids[0].clone())
    };
    assert_eq!(outcome(json!({"agent_id": "x", "agent_type": "agent_a"})), (2, json!("agent_a")));
    assert_eq!(outcome(json!({"agent_id": "agent_a", "agent_type": "explore"})), (2, json!("agent_a")));
    assert_eq!(outcome(json!({"agent_id": "x", "agent_type": "explore"})), (1, json!("x")));
    assert_eq!(outcome(json!({})), (1, json!("agent_b")));
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
