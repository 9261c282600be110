//! The MassGen hook framework from outside: a YAML file, real Python, real programs.
//! Tests carry the ids of the framework's given/when/then rows.

mod agents;
mod answers;
mod beside;
mod config;

use crate::ona;
use ona_testkit::model::{ModelServer, Wire, call, say};
use ona_testkit::{Ona, RunOutput};
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

/// A PostToolUse hook per injection, and one Glob call of a model.
fn injecting(
    injections: &[(&str, &str)],
    script: Vec<ona_testkit::model::ScriptedTurn>,
    wire: Wire,
) -> (Ona, ModelServer) {
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

fn one_glob() -> Vec<ona_testkit::model::ScriptedTurn> {
    vec![call("Glob", json!({"pattern": "*.none"})), say("done")]
}

fn results(ona: &Ona) -> Vec<Value> {
    ona.column("SELECT json_extract(payload_json, '$.content') FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence")
}
