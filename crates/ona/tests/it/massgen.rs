//! The MassGen hook framework from outside: a YAML file, real Python, real programs.
//! Tests carry the ids of the framework's given/when/then rows.

use crate::ona;
use ona_testkit::model::{ModelServer, Wire, call, calls, say};
use ona_testkit::{Ona, Ran};
use serde_json::{Value, json};

/// A world whose sessions read `hooks.yaml`, with everything allowed.
fn world(yaml: &str) -> Ona {
    let mut ona = ona();
    ona.env("ONA_MASSGEN_CONFIG", ona.file("hooks.yaml", yaml).to_string_lossy());
    ona.settings(json!({
        "permissions": {"allow": ["Bash", "Read", "Write", "Edit", "Glob"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    ona
}

/// One PreToolUse hook, `hooks.f`, with this body and these further keys.
fn python(body: &str, keys: &str) -> Ona {
    let ona = world(&format!("hooks:\n  PreToolUse:\n    - handler: hooks.f\n{keys}"));
    ona.file("hooks.py", function("f", body));
    ona
}

fn function(name: &str, body: &str) -> String {
    let lines: Vec<_> = body.lines().map(|line| format!("    {line}")).collect();
    format!("def {name}(event):\n{}\n", lines.join("\n"))
}

/// One hook that is a program.
fn program(event: &str, script: &str, keys: &str) -> Ona {
    let ona = world(&format!("hooks:\n  {event}:\n    - handler: hook.sh\n      type: command\n{keys}"));
    ona.file("hook.sh", script);
    ona
}

fn write(ona: &Ona) -> Value {
    ona.eval("Write", json!({"file_path": "a.txt", "content": "x"}))
}

/// Several calls in one process.
fn evals(ona: &Ona, calls: &[Value]) -> Vec<Value> {
    let stdin: String = calls.iter().map(Value::to_string).collect();
    let ran = ona.run_with_stdin(["--eval", "-"], stdin.as_bytes()).expect_code(0);
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn glob() -> Value {
    json!({"tool": "Glob", "input": {"pattern": "*.none"}})
}

fn said(result: &Value) -> &str {
    result["content"].as_str().unwrap()
}

#[track_caller]
fn denied(result: &Value, reason: &str) {
    assert_eq!(result["is_error"], true, "{result}");
    assert_eq!(said(result), format!("Denied by PreToolUse hook\n{reason}"));
}

fn hook_rows(ona: &Ona, columns: &str) -> Vec<Vec<Value>> {
    ona.rows(&format!("SELECT {columns} FROM hook_invocations ORDER BY id"))
}

/// Why hooks are in `events`.
fn logged(ona: &Ona, kind: &str) -> Vec<String> {
    let rows = ona
        .column(&format!("SELECT json_extract(detail, '$.why') FROM events WHERE event_type = '{kind}' ORDER BY id"));
    rows.iter().map(|why| why.as_str().unwrap_or_default().to_owned()).collect()
}

fn errors(ona: &Ona) -> Vec<String> {
    logged(ona, "hook_error")
}

fn fire(ona: &Ona, fields: Value, flags: &[&str]) -> Value {
    let text = fields.to_string();
    let mut args = vec!["--fire-hook", &text];
    args.extend(flags);
    ona.run(args).expect_code(0).json()
}

fn pre(tool: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"a": 1}, "tool_use_id": "t1"})
}

fn ran_commands(outcome: &Value) -> Vec<&str> {
    outcome["hooks"].as_array().unwrap().iter().map(|hook| hook["command"].as_str().unwrap()).collect()
}

fn lines(ona: &Ona, path: &str) -> Vec<String> {
    if ona.exists(path) { ona.read(path).lines().map(str::to_owned).collect() } else { Vec::new() }
}

/// A function that appends what it is called with to a file.
const LOG: &str = "def log(event):
    with open('log', 'a') as log:
        print(event.hook_type, event.tool_name, event.tool_output, file=log)
";

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

#[test]
fn mg_4_a_matcher_is_a_list_of_globs_and_none_means_all() {
    // MG-4.1, MG-4.2, MG-4.3, MG-X13
    let ona = world(
        "hooks:
  PreToolUse:
    - {handler: star.log, matcher: '*'}
    - {handler: list.log, matcher: 'Write|Edit'}
    - {handler: none.log}
    - {handler: bar.log, matcher: '|'}
    - {handler: glob.log, matcher: 'Web?etch | [!W]*'}
",
    );
    for module in ["star", "list", "none", "bar", "glob"] {
        ona.file(&format!("{module}.py"), LOG);
    }
    let ran = |tool: &str| ran_commands(&fire(&ona, pre(tool), &[])).join(" ").replace("massgen:python:", "");
    assert_eq!(ran("Write"), "star.log list.log none.log");
    assert_eq!(ran("Edit"), "star.log list.log none.log glob.log");
    assert_eq!(ran("NotebookEdit"), "star.log none.log glob.log");
    assert_eq!(ran("WebFetch"), "star.log none.log glob.log");
    assert_eq!(ran("WebSearch"), "star.log none.log");
    assert_eq!(hook_rows(&ona, "DISTINCT matcher").len(), 4);
}

#[test]
fn mg_5_1_a_deny_stops_the_call_and_the_agent_is_told_why() {
    let mut ona = python("return {'decision': 'deny', 'reason': 'R'}", "");
    denied(&write(&ona), "R");
    assert!(!ona.exists("a.txt"));
    let model = ona.model(Wire::Messages, [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("no")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(model.request(1).last_message().contains("(error)"), "{}", model.request(1).last_message());
    assert!(model.request(1).last_message().contains('R'));
    assert!(!ona.exists("a.txt"));
    assert_eq!(hook_rows(&ona, "exit_code, stdout_text")[0], [json!(2), json!(r#"{"decision":"deny","reason":"R"}"#)]);
}

#[test]
fn mg_5_1b_a_deny_without_a_reason_names_the_hook() {
    for body in ["return {'allowed': False}", "return {'decision': 'deny'}"] {
        denied(&write(&python(body, "")), "Denied by hook python_hooks.f");
    }
    let ona = program("PreToolUse", "echo '{\"decision\":\"deny\"}'", "");
    denied(&write(&ona), "Denied by hook command_hook.sh");
    assert_eq!(hook_rows(&ona, "exit_code, command"), [[json!(0), json!("massgen:command:hook.sh")]]);
}

#[test]
fn mg_5_2_updated_input_replaces_the_whole_input() {
    let ona = python("return {'updated_input': {'file_path': 'b.txt', 'content': 'y'}}", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!((ona.exists("a.txt"), ona.read("b.txt").as_str()), (false, "y"));
    let kept = ona.value(
        "SELECT json_extract(payload_json, '$.input.file_path') FROM transcript_entries WHERE entry_type='tool_use'",
    );
    assert_eq!(kept, "a.txt");
    // Nothing is merged: what the update leaves out is gone, and the schema says so.
    let ona = python("return {'updated_input': {'file_path': 'b.txt'}}", "");
    let result = write(&ona);
    assert_eq!(result["is_error"], true);
    assert!(said(&result).starts_with("A hook changed the input:"), "{result}");
    assert!(!ona.exists("b.txt"));
}

#[test]
fn mg_5_3_allow_or_nothing_is_no_objection_and_opens_nothing() {
    for body in ["return {'decision': 'allow'}", "return {}", "return None", "pass"] {
        let ona = python(body, "");
        assert_eq!(write(&ona)["is_error"], false, "{body}");
        ona.settings(json!({"permissions": {"allow": ["Write"], "ask": ["Write"]}}));
        let result = ona.eval("Write", json!({"file_path": "b.txt", "content": ""}));
        assert_eq!((&result["is_error"], ona.exists("b.txt")), (&json!(true), false), "{body}: {result}");
    }
    for script in ["", "echo", "echo '{}'", "echo '{\"decision\":\"allow\"}'"] {
        let ona = program("PreToolUse", script, "");
        assert_eq!(write(&ona)["is_error"], false, "{script}");
        assert_eq!((errors(&ona), logged(&ona, "hook_output_invalid")), (vec![], vec![]), "{script}");
    }
}

/// A PostToolUse hook per injection, and one Glob call of a model.
fn injecting(injections: &[(&str, &str)], script: Vec<ona_testkit::model::Turn>, wire: Wire) -> (Ona, ModelServer) {
    let mut yaml = "hooks:\n  PostToolUse:\n".to_owned();
    let mut module = String::new();
    for (n, (content, strategy)) in injections.iter().enumerate() {
        yaml += &format!("    - {{handler: hooks.f{n}, matcher: Glob}}\n");
        let body = format!("return {{'inject': {{'content': '{content}', 'strategy': '{strategy}'}}}}");
        module += &function(&format!("f{n}"), &body);
    }
    let mut ona = world(&yaml);
    ona.file("hooks.py", module);
    let model = ona.model(wire, script);
    if wire == Wire::Chat {
        ona.settings(json!({
            "permissions": {"allow": ["Glob", "Bash"]}, "model_config": {"provider": "openai_compatible", "model_id": "gpt_4o"},
        }));
    }
    ona.run(["-p", "go"]).expect_code(0);
    (ona, model)
}

fn one_glob() -> Vec<ona_testkit::model::Turn> {
    vec![call("Glob", json!({"pattern": "*.none"})), say("done")]
}

fn results(ona: &Ona) -> Vec<Value> {
    ona.column("SELECT json_extract(payload_json, '$.content') FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence")
}

/// The rows of a session after its first call, and what is said in them.
fn entries(ona: &Ona) -> Vec<(String, Value)> {
    let rows = ona.rows(
        "SELECT entry_type, coalesce(json_extract(payload_json, '$.content[0].text'), json_extract(payload_json, '$.content'))
         FROM transcript_entries WHERE entry_type IN ('tool_result', 'user', 'content_replacement') ORDER BY sequence",
    );
    rows.into_iter().skip(1).map(|row| (row[0].as_str().unwrap().to_owned(), row[1].clone())).collect()
}

#[test]
fn mg_6_1_an_injection_into_the_result_stands_at_its_end_and_the_original_is_kept() {
    let (ona, model) = injecting(&[("C", "tool_result")], one_glob(), Wire::Messages);
    let seen = results(&ona)[0].as_str().unwrap().to_owned();
    let (original, injected) = seen.rsplit_once('\n').unwrap();
    assert_eq!(injected, "C");
    let kept = ona.value(
        "SELECT json_extract(payload_json, '$.content') FROM transcript_entries WHERE entry_type='content_replacement'",
    );
    assert_eq!(kept, original);
    assert!(model.request(1).last_message().contains(&seen), "{}", model.request(1).last_message());
    // What the hook was told is what the tool gave.
    assert_eq!(ona.value("SELECT json_extract(input_json, '$.tool_output') FROM hook_invocations"), original);
}

#[test]
fn mg_6_2_a_user_message_follows_the_result_on_both_wires() {
    for wire in [Wire::Messages, Wire::Chat] {
        let (ona, model) = injecting(&[("C", "user_message")], one_glob(), wire);
        let rows = entries(&ona);
        assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["tool_result", "user"]);
        assert_eq!(rows[1].1, "C");
        let last = model.request(1).json()["messages"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(last["role"], "user", "{last}");
        match wire {
            Wire::Messages => {
                assert_eq!(last["content"][0]["type"], "tool_result", "{last}");
                assert_eq!(last["content"][1]["text"], "C", "{last}");
            }
            Wire::Chat => assert!(last["content"].to_string().contains('C'), "{last}"),
        }
    }
}

#[test]
fn a_user_message_after_the_first_of_two_calls_leaves_both_their_results() {
    for wire in [Wire::Messages, Wire::Chat] {
        let both = calls([("Glob", json!({"pattern": "*.none"})), ("Bash", json!({"command": "echo second"}))]);
        let (ona, model) = injecting(&[("C", "user_message")], vec![both, say("done")], wire);
        let rows = entries(&ona);
        assert_eq!(rows.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["tool_result", "user", "tool_result"]);
        assert_eq!(model.requests().len(), 2);
        let body = model.request(1).json().clone();
        let messages = body["messages"].as_array().unwrap();
        match wire {
            Wire::Messages => {
                let last = &messages[messages.len() - 1]["content"];
                let kinds: Vec<_> =
                    last.as_array().unwrap().iter().map(|part| part["type"].as_str().unwrap()).collect();
                assert_eq!(kinds, ["tool_result", "tool_result", "text"], "{last}");
                assert_eq!(last[2]["text"], "C");
                assert!(last[1].to_string().contains("second"));
            }
            Wire::Chat => {
                let roles: Vec<_> = messages.iter().map(|one| one["role"].as_str().unwrap()).collect();
                assert_eq!(roles[roles.len() - 3..], ["tool", "tool", "user"], "{messages:?}");
            }
        }
    }
}

#[test]
fn mg_7_1_a_program_gets_the_event_and_the_base_on_stdin() {
    // Section L: the eight fields of HookEvent and the fields every hook gets, not exactly eight.
    let ona = program("PreToolUse", "cat > stdin.json", "");
    fire(&ona, pre("Write"), &[]);
    let event: Value = serde_json::from_str(&ona.read("stdin.json")).unwrap();
    let place = ona.rows("SELECT session_id, conversation_id FROM sessions")[0].clone();
    for (key, value) in [
        ("hook_type", json!("PreToolUse")),
        ("session_id", place[0].clone()),
        ("orchestrator_id", place[1].clone()),
        ("agent_id", Value::Null),
        ("tool_name", json!("Write")),
        ("tool_input", json!({"a": 1})),
        ("tool_output", Value::Null),
        ("hook_event_name", json!("PreToolUse")),
        ("conversation_id", place[1].clone()),
        ("cwd", json!(ona.project())),
        ("tool_use_id", json!("t1")),
    ] {
        assert_eq!(event[key], value, "{key}");
    }
    let timestamp = event["timestamp"].as_str().unwrap();
    assert!(timestamp.ends_with("+00:00") && timestamp.as_bytes()[10] == b'T', "{timestamp}");
    assert_eq!(event.get("transcript_path"), None);
    assert_eq!(hook_rows(&ona, "input_json")[0][0].as_str().unwrap(), ona.read("stdin.json").trim_end());
}

#[test]
fn mg_7_2_a_programs_result_is_applied() {
    let update = r#"{"updated_input":{"file_path":"b.txt","content":"y"}}"#;
    let ona = program("PreToolUse", &format!("echo '{update}'"), "");
    write(&ona);
    assert_eq!((ona.exists("a.txt"), ona.read("b.txt").as_str()), (false, "y"));
    let ona = program("PostToolUse", r#"echo '{"inject":{"content":"C"}}'"#, "");
    assert!(said(&write(&ona)).ends_with("\nC"));
}

#[test]
fn mg_7_3_a_program_is_told_in_its_environment_whose_call_it_is() {
    let script = "env | grep -E '^(MASSGEN|SDLC_HOOK|AGENT_SDLC_DB)' | sort > env";
    let ona = program("PreToolUse", script, "");
    let outcome = fire(&ona, pre("Write"), &[]);
    let of = |key: &str| outcome[key].as_str().unwrap().to_owned();
    let expected = |agent: &str| {
        vec![
            format!("AGENT_SDLC_DB={}", ona.db().display()),
            format!("MASSGEN_AGENT_ID={agent}"),
            "MASSGEN_HOOK_TYPE=PreToolUse".to_owned(),
            format!("MASSGEN_ORCHESTRATOR_ID={}", of("conversation_id")),
            format!("MASSGEN_SESSION_ID={}", of("session_id")),
            "MASSGEN_TOOL_NAME=Write".to_owned(),
            "SDLC_HOOK=1".to_owned(),
        ]
    };
    assert_eq!(lines(&ona, "env"), expected(""));
    let mut again = pre("Write");
    again["session_id"] = json!(of("session_id"));
    again["conversation_id"] = json!(of("conversation_id"));
    fire(&ona, again, &["--agent-id", "agent_x"]);
    assert_eq!(lines(&ona, "env"), expected("agent_x"));
}

/// Whether any process still has this word in its command line.
fn runs(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.into_iter().any(|process| {
        std::fs::read(process.path().join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    })
}

#[test]
fn mg_8_3_a_hook_that_takes_too_long_is_ended_with_its_children_and_the_tool_runs() {
    let ona = program("PreToolUse", "sleep 7654.1 & sleep 7654.2", "      timeout: 0.3\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(ona.exists("a.txt"));
    assert!(!runs("7654."));
    let row = &hook_rows(&ona, "exit_code, stderr_text, skipped_reason")[0];
    assert_eq!(row, &[Value::Null, json!("[SDLC] hook timed out after 300 ms"), Value::Null]);
    assert_eq!(errors(&ona), ["Hook command_hook.sh timed out"]);

    let body = "import subprocess\nsubprocess.Popen(['sleep', '7655.1'])\nwhile True: pass";
    let ona = python(body, "      timeout: 0.3\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(!runs("7655."));
    assert_eq!(hook_rows(&ona, "exit_code")[0][0], Value::Null);
    assert_eq!(errors(&ona), ["Hook python_hooks.f timed out"]);
}

#[test]
fn mg_8_1_the_timeout_is_30_seconds_unless_an_entry_says_otherwise() {
    // The waiting itself is in the acceptance checks; C1 is overruled by DEC-054.
    let mut ona = world(
        "hooks:\n  PreToolUse:\n    - {handler: a.b}\n    - {handler: c.d, timeout: 60}\n    - {handler: e.f, timeout: 0.5}\n",
    );
    ona.env("SDLC_HOOK_TIMEOUT_MS", "5");
    let doctor: Value = serde_json::from_str(&ona.run(["doctor", "--json"]).stdout).unwrap();
    let timeouts: Vec<_> = doctor["hooks"].as_array().unwrap().iter().map(|hook| hook["timeout_ms"].clone()).collect();
    assert_eq!(timeouts, [json!(30_000), json!(60_000), json!(500)], "{doctor}");
    assert_eq!(doctor["hooks"][0]["dialect"], "massgen");
}

/// The other half of the fact, that 31 seconds are waited for, is in the acceptance checks.
#[test]
fn mg_8_2_a_timeout_of_its_own_is_what_a_hook_gets() {
    let late =
        "i=0; while [ $i -lt 5 ]; do i=$((i+1)); sleep 0.2; done; echo '{\"decision\":\"deny\",\"reason\":\"late\"}'";
    denied(&write(&program("PreToolUse", late, "      timeout: 60\n")), "late");
    let ona = program("PreToolUse", late, "      timeout: 0.5\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "stderr_text"), [["[SDLC] hook timed out after 500 ms"]]);
}

#[test]
fn mg_9_1_an_exception_is_logged_and_everything_goes_on() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: hooks.log}\n");
    ona.file("hooks.py", function("f", "print('before')\nraise ValueError('boom')") + LOG);
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(lines(&ona, "log").len(), 1);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: ValueError: boom"]);
    let row = &hook_rows(&ona, "exit_code, stderr_text")[0];
    assert_eq!(row[0], 1);
    let text = row[1].as_str().unwrap();
    assert!(text.starts_with("before\n") && text.contains("hooks.py") && text.ends_with("ValueError: boom"), "{text}");
    // Leaving the interpreter is an exception as well.
    let ona = python("import sys\nsys.exit(3)", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: SystemExit: 3"]);
}

#[test]
fn mg_9_2_output_that_is_no_json_object_is_logged_and_the_tool_runs() {
    for script in ["echo not json", "echo '[1]'", "echo '{} {}'", "echo '{\"decision\":'"] {
        let ona = program("PreToolUse", script, "");
        assert_eq!(write(&ona)["is_error"], false, "{script}");
        assert_eq!(logged(&ona, "hook_output_invalid").len(), 1, "{script}");
    }
}

#[test]
fn mg_9_3_what_can_not_be_imported_denies_before_and_after_the_tool() {
    let cases = [
        ("no_such.mod", "ModuleNotFoundError: No module named 'no_such'"),
        ("hooks.nothing", "AttributeError: module 'hooks' has no attribute 'nothing'"),
        ("nodot", "ImportError: 'nodot' is not module.function"),
        ("hooks.K.f", "ModuleNotFoundError: No module named 'hooks.K'; 'hooks' is not a package"),
        ("hooks.number", "ImportError: hooks.number can not be called"),
        ("broken.f", "ZeroDivisionError: division by zero"),
        ("massgen.hooks.log", "ModuleNotFoundError: No module named 'massgen'"),
    ];
    for event in ["PreToolUse", "PostToolUse"] {
        for (handler, why) in cases {
            let ona = world(&format!("hooks:\n  {event}:\n    - handler: {handler}\n"));
            ona.file("hooks.py", "number = 5\nclass K:\n    def f(event): pass\n");
            ona.file("broken.py", "1/0\n");
            denied(&write(&ona), &format!("Hook import failed: {why}"));
            assert!(!ona.exists("a.txt"), "{event} {handler}");
            assert_eq!(errors(&ona), [format!("Hook import failed: {why}")], "{event} {handler}");
            if event == "PreToolUse" {
                assert_eq!(hook_rows(&ona, "exit_code, skipped_reason")[0], [Value::Null, Value::Null]);
            }
        }
    }
}

#[test]
fn without_an_interpreter_nothing_can_be_imported() {
    let mut ona = python("pass", "");
    ona.env("ONA_PYTHON", "/no/such/python");
    denied(&write(&ona), "Hook import failed: the program /no/such/python was not found");
}

#[test]
fn an_import_that_failed_is_tried_again_and_one_that_worked_is_kept() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: late.f, matcher: Glob}\n");
    let make = json!({"tool": "Bash", "input": {"command": "printf 'def f(e): return None' > late.py"}});
    let results = evals(&ona, &[glob(), make, glob()]);
    let failed: Vec<_> = results.iter().map(|result| result["is_error"].clone()).collect();
    assert_eq!(failed, [true, false, false]);
}

#[test]
fn mg_10_1_any_deny_denies_and_the_rest_is_skipped() {
    for order in [["allow", "deny", "last"], ["deny", "allow", "last"]] {
        let entries: String = order.iter().map(|name| format!("    - handler: hooks.{name}\n")).collect();
        let ona = world(&format!("hooks:\n  PreToolUse:\n{entries}"));
        let allow = "return {'decision': 'allow'}";
        let deny = "return {'decision': 'deny', 'reason': 'no'}";
        ona.file("hooks.py", function("allow", allow) + &function("deny", deny) + &function("last", allow));
        denied(&write(&ona), "no");
        let skipped = hook_rows(&ona, "skipped_reason");
        assert_eq!(skipped[2][0], "prior_block_or_deny", "{order:?}");
    }
}

#[test]
fn mg_10_2_each_hook_receives_the_input_as_the_one_before_left_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n");
    let two = "assert event.tool_input == {'a': 2}, event.tool_input\nreturn {'updated_input': {**event['tool_input'], 'b': 3}}";
    ona.file("hooks.py", function("one", "return {'updated_input': {'a': 2}}") + &function("two", two));
    let outcome = fire(&ona, pre("Write"), &[]);
    assert_eq!(outcome["updated_input"], json!({"a": 2, "b": 3}), "{outcome}");
    let inputs = hook_rows(&ona, "json_extract(input_json, '$.tool_input')");
    assert_eq!(inputs, [[json!(r#"{"a":1}"#)], [json!(r#"{"a":2}"#)]]);
}

#[test]
fn mg_10_3_all_injections_are_there_in_order() {
    let (ona, _) = injecting(&[("A", "tool_result"), ("B", "tool_result")], one_glob(), Wire::Messages);
    assert!(results(&ona)[0].as_str().unwrap().ends_with("\nA\nB"), "{:?}", results(&ona));
}

#[test]
fn mg_x12_mixed_injections_land_each_at_its_own_place() {
    let injections = [("A", "tool_result"), ("U", "user_message"), ("B", "tool_result"), ("V", "user_message")];
    let (ona, model) = injecting(&injections, one_glob(), Wire::Messages);
    assert!(results(&ona)[0].as_str().unwrap().ends_with("\nA\nB"), "{:?}", results(&ona));
    let body = model.request(1).json().clone();
    let last = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let texts: Vec<_> = last.as_array().unwrap()[1..].iter().map(|part| part["text"].clone()).collect();
    assert_eq!(texts, ["U", "V"], "{last}");
}

#[test]
fn mg_x1_fail_closed_turns_every_failure_into_a_denial() {
    let closed = "      fail_closed: true\n      timeout: 0.3\n";
    let pythons = [
        ("raise ValueError('boom')", "Hook python_hooks.f failed: ValueError: boom"),
        ("while True: pass", "Hook python_hooks.f timed out"),
        ("import os\nos._exit(0)", "Hook python_hooks.f failed: the Python process was lost: it ended"),
        (
            "return {'updated_input': float('nan')}",
            "Hook python_hooks.f failed: updated_input can not be passed on: ValueError: Out of range float values are not JSON compliant",
        ),
    ];
    for (body, reason) in pythons {
        let ona = python(body, closed);
        denied(&write(&ona), reason);
        // A timeout that denies is recorded as exit 2 (DEC-054).
        let code = if reason.ends_with("timed out") { 2 } else { 1 };
        assert_eq!(hook_rows(&ona, "exit_code"), [[code]], "{body}");
        assert_eq!(errors(&ona), [reason]);
    }
    let programs = [
        ("exit 1", "Hook command_hook.sh exited with code 1"),
        ("exit 2", "Hook command_hook.sh exited with code 2"),
        ("sleep 7656", "Hook command_hook.sh timed out"),
        ("echo not json", "Hook command_hook.sh failed: its output could not be read"),
    ];
    for (script, reason) in programs {
        denied(&write(&program("PreToolUse", script, closed)), reason);
    }
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: ./gone.sh, type: command, fail_closed: true}\n");
    let reason = "Hook command_./gone.sh failed: [SDLC] hook not started: the program ./gone.sh was not found";
    denied(&write(&ona), reason);
    // A value that is no result is a warning and no failure.
    assert_eq!(write(&python("return 42", closed))["is_error"], false);
}

#[test]
fn a_program_that_is_not_there_is_logged_and_the_tool_runs() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: ./gone.sh, type: command}\n");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "exit_code")[0][0], Value::Null);
    assert_eq!(errors(&ona).len(), 1);
}

#[test]
fn fail_closed_after_the_tool_denies_nothing() {
    let ona = program("PostToolUse", "exit 1", "      fail_closed: true\n");
    let result = write(&ona);
    assert_eq!(result["is_error"], false, "{result}");
    assert_eq!(errors(&ona), ["Hook command_hook.sh exited with code 1"]);
}

#[test]
fn mg_x2_to_x4_an_ask_is_asked_and_nobody_to_ask_means_no() {
    let ask = "return {'decision': 'ask', 'reason': 'really?'}";
    let mut ona = python(ask, "");
    let input = json!({"file_path": "a.txt", "content": "x"});
    // MG-X2: the operator of --eval says yes with --yes.
    assert_eq!(ona.eval_with("Write", input.clone(), &["--yes"])["is_error"], false);
    let refused = ona.eval("Write", input.clone());
    assert_eq!(refused["is_error"], true);
    assert!(said(&refused).contains("really?"), "{refused}");
    assert_eq!(ona.value("SELECT count(*) FROM tool_permission_log"), 2);
    // MG-X4
    let _model = ona.model(Wire::Messages, [call("Write", json!({"file_path": "b.txt", "content": ""})), say("no")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(!ona.exists("b.txt"));
    // MG-X3
    for (second, expected) in [("allow", "ask"), ("deny", "deny")] {
        let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: hooks.g}\n");
        ona.file("hooks.py", function("f", ask) + &function("g", &format!("return {{'decision': '{second}'}}")));
        assert_eq!(fire(&ona, pre("Write"), &[])["permission"], expected, "{second}");
    }
}

#[test]
fn mg_x5_whatever_can_be_awaited_is_awaited() {
    let module = "import asyncio
async def coroutine(event):
    await asyncio.sleep(0)
    return {'decision': 'deny', 'reason': 'coroutine'}
class Instance:
    async def __call__(self, event):
        return {'decision': 'deny', 'reason': 'instance'}
instance = Instance()
def returning(event):
    return coroutine(event)
";
    let handlers =
        [("coroutine", "coroutine"), ("instance", "instance"), ("returning", "coroutine"), ("Instance", "instance")];
    for (name, reason) in handlers {
        let ona = world(&format!("hooks:\n  PreToolUse:\n    - handler: hooks.{name}\n"));
        ona.file("hooks.py", module);
        denied(&write(&ona), reason);
    }
}

/// Nothing beside a no may take it away on the way here.
#[test]
fn a_deny_arrives_whatever_else_the_function_returns_and_prints() {
    let bodies = [
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'name': 'caf\\udce9'}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'number': 10 ** 400}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': 'x' * 6_000_000}",
        "deep = {}\nfor _ in range(300): deep = {'a': deep}\nreturn {'metadata': deep, 'decision': 'deny', 'reason': 'R'}",
        "print('\\udce9' * 2_000_000)\nreturn {'decision': 'deny', 'reason': 'R'}",
        "import sys\nsys.stdout.reconfigure(line_buffering=True)\nsys.stdout.close()\nprint('x')\nreturn {'decision': 'deny', 'reason': 'R'}",
    ];
    for body in bodies {
        denied(&write(&python(body, "")), "R");
    }
    let ona = python("return {'decision': 'deny', 'reason': 'caf\\udce9'}", "");
    denied(&write(&ona), "caf?");
    let ona = python("print('y' * 300_000)", "");
    write(&ona);
    let printed = hook_rows(&ona, "stderr_text")[0][0].as_str().unwrap().to_owned();
    assert!(printed.ends_with("yy\n[SDLC_OUTPUT_TRUNCATED]\n"), "{}", &printed[printed.len() - 40..]);
}

#[test]
fn a_process_that_a_function_forks_never_answers_for_it() {
    let body = "import os
global count
count = globals().get('count', 0) + 1
if os.fork() == 0:
    return {'decision': 'allow'}
return {'decision': 'deny', 'reason': str(count)}";
    let ona = python(body, "      matcher: Glob\n");
    for (number, result) in evals(&ona, &[glob(), glob(), glob(), glob()]).iter().enumerate() {
        denied(result, &(number + 1).to_string());
    }
}

#[test]
fn every_function_is_called_in_the_directory_of_the_session() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n");
    let two = "import os\nreturn {'decision': 'deny', 'reason': os.getcwd()}";
    ona.file("hooks.py", function("one", "import os\nos.chdir('/')") + &function("two", two));
    denied(&write(&ona), &ona.project().to_string_lossy());
}

#[test]
fn mg_x6_what_is_no_result_allows_with_a_warning() {
    for (value, shown) in [("False", "false"), ("'deny'", "\"deny\""), ("42", "42"), ("[1]", "[1]")] {
        let ona = python(&format!("return {value}"), "");
        assert_eq!(write(&ona)["is_error"], false, "{value}");
        let why = format!("it returned {shown}, which is no HookResult and counts as allow");
        assert_eq!(logged(&ona, "hook_output_invalid"), [why]);
    }
}

#[test]
fn mg_x7_modified_args_win_over_updated_input() {
    let body = "import json
return {'updated_input': {'file_path': 'b.txt', 'content': ''},
        'modified_args': json.dumps({'file_path': 'c.txt', 'content': 'args'})}";
    let ona = python(body, "");
    write(&ona);
    assert_eq!((ona.exists("b.txt"), ona.read("c.txt").as_str()), (false, "args"));
}

#[test]
fn mg_x8_exit_2_is_an_error_like_any_other_and_its_output_does_not_count() {
    let ona = program("PreToolUse", "echo '{\"decision\":\"deny\"}'; echo no >&2; exit 2", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "exit_code, stderr_text")[0], [json!(2), json!("no\n")]);
    assert_eq!(errors(&ona), ["Hook command_hook.sh exited with code 2"]);
}

#[test]
fn mg_x9_prints_go_to_the_row_and_never_into_the_protocol() {
    let body = "import os, sys
print('{\"result\": {}}')
sys.stdout.buffer.write(b'bytes\\n')
sys.stdin.read()
os.write(1, b'low level\\n')
os.system('echo child')
print('error', file=sys.stderr)
return {'decision': 'deny', 'reason': 'R'}";
    let ona = python(body, "");
    denied(&write(&ona), "R");
    let text = hook_rows(&ona, "stderr_text")[0][0].as_str().unwrap().to_owned();
    assert!(text.ends_with("{\"result\": {}}\nbytes\nerror\n"), "{text}");
}

#[test]
fn mg_x10_the_frameworks_own_types_can_be_imported_without_it() {
    let module = "from massgen.mcp_tools.hooks import HookEvent, HookResult, HookType
from massgen.mcp_tools.hooks import GeneralHookManager, PatternHook, PythonCallableHook
import massgen.mcp_tools.hooks as module
def f(event: HookEvent) -> HookResult:
    assert isinstance(event, HookEvent) and event.hook_type == HookType.PRE_TOOL_USE.value
    assert event.timestamp.utcoffset().total_seconds() == 0
    assert sorted(event.to_dict()) == ['agent_id', 'hook_type', 'orchestrator_id', 'session_id', 'timestamp',
                                       'tool_input', 'tool_name', 'tool_output']
    assert HookEvent.from_json(event.to_json()).to_dict() == event.to_dict()
    assert event['tool_name'] == event.get('tool_name') == event.tool_name == 'Write'
    assert event['cwd'] == event.cwd and 'cwd' in event and event.get('nothing') is None
    assert dict(event)['timestamp'] == event.to_dict()['timestamp']
    assert HookResult.from_dict({'decision': 'ask', 'hook_name': 'x'}).decision == 'ask'
    assert HookResult(False).decision == 'deny' and HookResult.allow().allowed
    return HookResult.deny('typed')
";
    let ona = world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n");
    ona.file("hooks.py", module);
    denied(&write(&ona), "typed");
}

#[test]
fn the_real_package_is_used_as_soon_as_a_hook_asks_for_more_of_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n    - handler: hooks.g\n");
    ona.file("massgen/__init__.py", "");
    ona.file("massgen/extra.py", "REASON = 'from the real one'\n");
    let module = "from massgen.mcp_tools.hooks import HookResult
def f(event):
    return HookResult.allow()
def g(event):
    from massgen.extra import REASON
    return HookResult.deny(REASON)
";
    ona.file("hooks.py", module);
    denied(&write(&ona), "from the real one");
}

#[test]
fn mg_x11_after_a_timeout_another_interpreter_serves() {
    let body = "import os\nif not os.path.exists('once'):\n    open('once', 'w').close()\n    while True: pass\nreturn {'decision': 'deny', 'reason': 'second'}";
    let ona = python(body, "      matcher: Glob\n      timeout: 0.5\n");
    let results = evals(&ona, &[glob(), glob()]);
    assert_eq!(results[0]["is_error"], false);
    denied(&results[1], "second");
}

#[test]
fn an_interpreter_that_died_is_an_error_and_the_next_call_has_another() {
    let body = "import os\nif not os.path.exists('once'):\n    open('once', 'w').close()\n    os._exit(9)\nreturn {'decision': 'deny', 'reason': 'second'}";
    let ona = python(body, "      matcher: Glob\n");
    let results = evals(&ona, &[glob(), glob()]);
    assert_eq!(results[0]["is_error"], false);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: the Python process was lost: it ended"]);
    denied(&results[1], "second");
}

#[test]
fn mg_x14_a_wrong_type_is_a_configuration_error_that_names_its_place() {
    let cases = [
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: '10'}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: 0}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        ("hooks: {PreToolUse: [{handler: 5}]}", "hooks.PreToolUse[0].handler must be a non-empty string"),
        ("hooks: {PostToolUse: [{matcher: x}]}", "hooks.PostToolUse[0].handler is missing"),
        ("hooks: {PreToolUse: [{handler: a.b, matcher: [x]}]}", "hooks.PreToolUse[0].matcher must be a string"),
        ("hooks: {PreToolUse: [{handler: a.b, type: http}]}", "hooks.PreToolUse[0].type must be python or command"),
        (
            "hooks: {PreToolUse: [{handler: a.b, fail_closed: 1}]}",
            "hooks.PreToolUse[0].fail_closed must be true or false",
        ),
        (
            "hooks: {PreToolUse: [{handler: \"a 'b\", type: command}]}",
            "hooks.PreToolUse[0].handler has a quote that is never closed",
        ),
        ("hooks: {PreToolUse: 5}", "hooks.PreToolUse must be a list of hooks, or a mapping with override and hooks"),
        ("hooks: {PreToolUse: [x]}", "hooks.PreToolUse[0] must be a mapping"),
        ("hooks: [x]", "hooks must be a mapping from event to hooks"),
        (
            "agents: [{id: a, backend: {hooks: {PreToolUse: {override: 'yes'}}}}]",
            "agents[0].backend.hooks.PreToolUse.override must be true or false",
        ),
        ("agent: {id: 5}", "agent.id must be a non-empty string"),
        ("agents: [{id: a}, {id: a}]", "agents[1].id is the id of another agent already"),
        ("agents: [{id: a}]\nagent: {id: b}", "agents and agent can not both be there"),
    ];
    for (yaml, what) in cases {
        let ona = world(yaml);
        let ran = ona.run(["--eval", &glob().to_string()]).expect_code(2);
        let file = ona.project().join("hooks.yaml");
        let sentence = format!("ona: the massgen configuration can not be used: {what}: {}\n", file.display());
        assert_eq!(ran.stderr, sentence, "{yaml}");
    }
    let not_yaml = "is not valid YAML: unclosed bracket";
    let no_mapping = "can not be used: at line 1, column 1 there must be a mapping";
    for (yaml, what) in [("hooks: [", not_yaml), ("just text", no_mapping), ("- a\n- b", no_mapping)] {
        let ran = world(yaml).run(["--eval", &glob().to_string()]).expect_code(2);
        assert!(ran.stderr.starts_with(&format!("ona: the massgen configuration {what}")), "{ran:?}");
    }
}

#[test]
fn a_configuration_that_is_not_there_or_an_agent_nobody_knows_is_refused() {
    let ona = ona();
    let eval = glob().to_string();
    let ran = ona.run(["--eval", &eval, "--massgen-config", "gone.yaml"]).expect_code(2);
    assert!(ran.stderr.contains("could not be read") && ran.stderr.trim_end().ends_with("/gone.yaml"), "{ran:?}");
    ona.file("hooks.yaml", "agents: [{id: a}, {id: b}]\n");
    let ran = ona.run(["--eval", &eval, "--massgen-config", "hooks.yaml", "--agent-id", "c"]).expect_code(2);
    assert!(ran.stderr.contains("has no agent \"c\"; its agents are a, b"), "{ran:?}");
    let ran = ona.run(["--eval", &eval, "--agent-id", "c"]).expect_code(2);
    assert!(ran.stderr.contains("--agent-id c names an agent of a MassGen configuration"), "{ran:?}");
}

#[test]
fn what_is_not_known_is_skipped_aloud_and_extra_keys_are_ignored() {
    let yaml = "hooks:
  PreTool: []
  override: true
  PreToolUse:
    - {handler: hooks.f, colour: red}
models: [a]
";
    let ona = world(yaml);
    ona.file("hooks.py", LOG.replace("def log", "def f"));
    for _ in 0..2 {
        assert_eq!(write(&ona)["is_error"], false);
    }
    let ran = ona.run(["--eval", &glob().to_string()]).expect_code(0);
    assert!(ran.stderr.contains("ona: hooks.PreTool is no event of this framework"), "{ran:?}");
    let why = logged(&ona, "hook_config_rejected");
    assert_eq!(
        why,
        [
            "hooks.PreTool is no event of this framework; it has PreToolUse and PostToolUse",
            "hooks.override belongs under an event; here it has no effect",
        ]
    );
    assert_eq!(lines(&ona, "log").len(), 3);
}

#[test]
fn yaml_is_read_as_yaml_and_what_is_wrong_with_it_is_said_plainly() {
    let anchors = "common: &base {handler: hooks.f, matcher: Glob}
more: &more {timeout: 3}
hooks:
  PreToolUse:
    - <<: [*base, *more]
      matcher: Write
      type:
  PostToolUse: &list
    - *base
";
    let ona = world(anchors);
    ona.file("hooks.py", "def f(event): pass\n");
    let doctor = ona.run(["doctor", "--json"]).json();
    let hooks: Vec<_> =
        doctor["hooks"].as_array().unwrap().iter().map(|hook| (&hook["matcher"], &hook["timeout_ms"])).collect();
    assert_eq!(hooks, [(&json!("Write"), &json!(3000)), (&json!("Glob"), &json!(30_000))]);
    let cases = [
        ("hooks:\n  PreToolUse: []\n  PreToolUse: []\n", "duplicate mapping key: PreToolUse at line 3"),
        ("hooks: {}\n---\nhooks: {}\n", "there is more than one document at line 3"),
        ("- hooks\n", "at line 1, column 1 there must be a mapping"),
        ("agents: {a: {}}\n", "at line 1, column 9 there must be a list"),
        ("agents:\n  - id: a\n    backend: claude\n", "at line 3, column 14 there must be a mapping"),
        (
            &format!("a: &a [{}]\nb: &b [{}]\nc: &c [{}]\n", "x,".repeat(80), "*a,".repeat(80), "*b,".repeat(80)),
            "it is too large, or refers to its own parts too often",
        ),
    ];
    for (yaml, why) in cases {
        let ran = world(yaml).run(["--eval", &glob().to_string()]).expect_code(2);
        assert!(ran.stderr.contains(why) && !ran.stderr.contains("Options"), "{yaml}: {ran:?}");
    }
}

#[test]
fn mg_x15_programs_and_modules_are_found_beside_the_configuration_first() {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Glob"]}}));
    let yaml = "hooks:
  PreToolUse:
    - {handler: scripts/found.py, type: command}
    - {handler: './scripts/with space.sh', type: command}
    - {handler: \"scripts/args.sh 'a b' c\", type: command}
    - {handler: inner.f}
    - {handler: outer.f}
";
    ona.file("config/hooks.yaml", yaml);
    ona.file("config/scripts/found.py", "open('log', 'a').write('found\\n')\n");
    ona.file("scripts/found.py", "open('log', 'a').write('wrong\\n')\n");
    ona.file("config/scripts/with space.sh", "echo space >> log\n");
    ona.file("scripts/args.sh", "printf '%s|' \"$@\" >> log; echo >> log\n");
    ona.file("config/inner.py", "def f(event): open('log', 'a').write('inner\\n')\n");
    ona.file("outer.py", "def f(event): open('log', 'a').write('outer\\n')\n");
    ona.eval_with("Glob", json!({"pattern": "*"}), &["--massgen-config", "config/hooks.yaml"]);
    assert_eq!(lines(&ona, "log"), ["found", "space", "a b|c|", "inner", "outer"], "{:?}", errors(&ona));
}

#[test]
fn an_executable_program_is_started_directly() {
    use std::os::unix::fs::PermissionsExt;
    let ona = world(
        "hooks:\n  PreToolUse:\n    - {handler: hook.py, type: command}\n    - {handler: plain.py, type: command}\n",
    );
    for (name, script) in
        [("hook.py", "#!/bin/sh\necho sh >> log\n"), ("plain.py", "open('log', 'a').write('python\\n')\n")]
    {
        let file = ona.file(name, script);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    fire(&ona, pre("Write"), &[]);
    assert_eq!(lines(&ona, "log"), ["sh", "python"]);
}

#[test]
fn a_program_by_a_bare_name_is_the_installed_one() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: \"python3 -c 'print(1)'\", type: command}\n");
    ona.file("python3", "echo '{\"decision\":\"deny\"}'");
    assert_eq!(fire(&ona, pre("Write"), &[])["denied"], false);
}

#[test]
fn mg_x16_a_modules_state_lasts_for_the_session() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n  PostToolUse:\n    - {handler: hooks.f}\n");
    ona.file(
        "hooks.py",
        "count = 0\ndef f(event):\n    global count\n    count += 1\n    open('log', 'a').write(f'{count}\\n')\n",
    );
    evals(&ona, &[glob(), glob(), glob()]);
    assert_eq!(lines(&ona, "log"), ["1", "2", "3", "4", "5", "6"]);
    assert!(!ona.exists("__pycache__"));
}

#[test]
fn mg_x17_switched_off_hooks_start_nothing_and_leave_rows_that_say_so() {
    // Section L: rows with all_hooks_disabled, not no rows.
    let yaml = "hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n  PostToolUse:\n    - {handler: no.such}\n";
    let mut ona = world(yaml);
    ona.file("hooks.py", "def f(event): return {'decision': 'deny'}\n");
    let python = ona.file("python", "#!/bin/sh\ntouch started\n");
    ona.env("ONA_PYTHON", python.to_string_lossy());
    ona.env("SDLC_DISABLE_ALL_HOOKS", "1");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(!ona.exists("started"));
    assert_eq!(hook_rows(&ona, "skipped_reason"), [["all_hooks_disabled"], ["all_hooks_disabled"]]);
}

#[test]
fn the_settings_switch_these_hooks_off_as_well() {
    for (switch, reason) in [("disableAllHooks", "all_hooks_disabled"), ("allowManagedHooksOnly", "managed_only")] {
        let ona = python("return {'decision': 'deny'}", "");
        ona.settings(json!({"permissions": {"allow": ["Write"]}, switch: true}));
        assert_eq!(write(&ona)["is_error"], false, "{switch}");
        assert_eq!(hook_rows(&ona, "skipped_reason"), [[reason]]);
    }
}

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_setting() {
    let mut ona = ona();
    ona.file("log.py", LOG);
    for name in ["flag", "env", "setting"] {
        ona.file(
            &format!("{name}.yaml"),
            format!("hooks:\n  PreToolUse:\n    - {{handler: log.log, matcher: '{name}*|Write'}}\n"),
        );
    }
    ona.settings(json!({"massgenConfig": "setting.yaml"}));
    let matcher = |ona: &Ona, flags: &[&str]| fire(ona, pre("Write"), flags)["hooks"][0]["matcher"].clone();
    assert_eq!(matcher(&ona, &[]), "setting*|Write");
    ona.env("ONA_MASSGEN_CONFIG", "env.yaml");
    assert_eq!(matcher(&ona, &[]), "env*|Write");
    assert_eq!(matcher(&ona, &["--massgen-config", "flag.yaml"]), "flag*|Write");
}

#[test]
fn these_hooks_follow_those_of_the_settings_in_one_chain() {
    let ona = python("return {'updated_input': {**event.tool_input, 'seen': True}}", "");
    let hook =
        |command: &str| json!({"hook_event_name": "PreToolUse", "matcher": "", "command": command, "shell": "sh"});
    ona.settings(json!({"hooks": [hook("true")]}));
    let outcome = fire(&ona, pre("Write"), &[]);
    assert_eq!(ran_commands(&outcome), ["true", "massgen:python:hooks.f"]);
    ona.settings(json!({"hooks": [hook("exit 2")]}));
    assert_eq!(fire(&ona, pre("Write"), &[])["hooks"][1]["skipped_reason"], "prior_block_or_deny");
}

#[test]
fn an_agent_can_not_change_the_hooks_that_watch_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: 'guard.sh x', type: command}\n");
    ona.file("hooks.py", "def f(event): pass\n");
    ona.file("guard.sh", "");
    for file in ["hooks.yaml", "hooks.py", "guard.sh"] {
        let before = ona.read(file);
        let result = ona.eval("Write", json!({"file_path": file, "content": "x"}));
        assert_eq!((&result["is_error"], ona.read(file)), (&json!(true), before), "{file}: {result}");
    }
}

#[test]
fn a_file_in_the_project_can_not_stand_in_for_the_standard_library() {
    let ona = python(
        "import secrets, decimal\nreturn {'decision': 'deny', 'reason': secrets.__name__ + str(decimal.Decimal(1))}",
        "",
    );
    for module in ["secrets", "decimal", "json", "traceback"] {
        ona.file(&format!("{module}.py"), "raise SystemExit('not me')\n");
    }
    denied(&write(&ona), "secrets1");
}

#[test]
fn a_secret_reaches_neither_a_function_nor_the_rows() {
    let mut ona = python("print(event.tool_input)\nreturn {'decision': 'deny', 'reason': str(event.tool_input)}", "");
    let secret = format!("sk-{}-{}", "ant", "x".repeat(40));
    ona.env("ANTHROPIC_API_KEY", secret.as_str());
    let result = ona.eval("Write", json!({"file_path": "a.txt", "content": secret}));
    assert!(!said(&result).contains(&secret), "{result}");
    assert!(
        !ona.rows("SELECT * FROM hook_invocations").iter().flatten().any(|cell| cell.to_string().contains(&secret))
    );
}

/// The import has a minute; whoever presses the stop button does not.
#[test]
fn a_turn_can_be_interrupted_while_a_function_is_imported() {
    let mut ona = world("hooks:\n  PreToolUse:\n    - handler: slow.f\n");
    ona.file("slow.py", "import time\nopen('importing', 'w').close()\ntime.sleep(7661)\n");
    let _model = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*.none"})), say("done")]);
    let mut talk = ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    talk.say("go");
    while !ona.exists("importing") {
        std::thread::yield_now();
    }
    talk.ask(json!({"subtype": "interrupt"}));
    talk.until_result();
    talk.close();
    talk.finish();
    assert_eq!(hook_rows(&ona, "stderr_text"), [["[SDLC] hook interrupted"]]);
    assert!(!runs("7661"));
}

#[test]
fn nothing_is_left_running_when_the_session_ends() {
    let ona = python("import os\nopen('pid', 'w').write(str(os.getpid()))", "");
    let ran: Ran = ona.run(["--eval", &glob().to_string()]).expect_code(0);
    assert_eq!(ran.stderr, "");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", ona.read("pid"))).unwrap_or_default();
    // Ended, or waiting for whoever collects orphans.
    assert!(stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'), "{stat}");
}

// ---- where the framework and the main specification differ (section 12 of the sheet) ----

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
