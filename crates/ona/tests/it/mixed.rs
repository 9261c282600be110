//! All five dialects on one tool call: one order, one merged verdict, the same every time.

use crate::ona;
use ona_testkit::Ona;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// One hook of each dialect. Each adds a word to the command, so that the order shows; the
/// module refuses what has all of them and the word `never`.
fn mixed(ona: &Ona) -> Vec<String> {
    let say = |word: &str, decision: &str| {
        format!(
            r#"jq -c '{{hookSpecificOutput:{{hookEventName:"PreToolUse"{decision},updatedInput:{{command:(.tool_input.command+" {word}")}}}}}}'"#
        )
    };
    ona.settings(json!({
        "permissions": {"allow": ["Bash"]},
        "hooks": [
            {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": say("sdlc", ""), "shell": "sh"},
            {"hook_event_name": "PreToolUse", "matcher": "Bash", "dialect": "claude", "command": say("claude", r#",permissionDecision:"allow""#)},
        ],
    }));
    ona.file("pi.json", json!({"PreToolUse": [{"command": r#"jq -c '{updatedInput:{command:(.tool_input.command+" pi")}}'"#, "matcher": {"toolNames": ["bash"]}}]}).to_string());
    ona.file(
        "guards.py",
        "def add(event):\n    return {\"updated_input\": {\"command\": event.tool_input[\"command\"] + \" massgen\"}}\n",
    );
    ona.file(
        "massgen.yaml",
        "hooks:\n  PreToolUse:\n    - matcher: \"Bash\"\n      handler: \"guards.add\"\n      type: \"python\"\n",
    );
    ona.file(
        "module.ts",
        "export default function (pi: any) {\n  pi.on(\"tool_call\", async (event: any) => {\n    const said: string = event.input.command;\n    if (said.endsWith(\"sdlc claude pi massgen\") && said.includes(\"never\")) return { block: true, reason: \"module says no\" };\n  });\n}\n",
    );
    let path = |name: &str| ona.project().join(name).display().to_string();
    vec![
        "--hooks-config".into(),
        path("pi.json"),
        "--massgen-config".into(),
        path("massgen.yaml"),
        "--hook".into(),
        path("module.ts"),
    ]
}

#[test]
fn five_dialects_make_one_chain_that_is_the_same_a_hundred_times() {
    let ona = ona();
    let flags = mixed(&ona);
    let calls: String = (0..100)
        .map(|n| {
            let word = if n % 2 == 0 { "echo go" } else { "echo never" };
            json!({"tool": "Bash", "input": {"command": word}}).to_string()
        })
        .collect();
    let mut args = vec!["--eval".to_owned(), "-".to_owned()];
    args.extend(flags.clone());
    let ran = ona.run_with_stdin(&args, calls.as_bytes()).expect_code(0);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 100);
    for (n, line) in lines.iter().enumerate() {
        let (content, is_error) = match n % 2 {
            0 => ("go sdlc claude pi massgen\n", false),
            _ => ("Denied by PreToolUse hook\nmodule says no", true),
        };
        assert_eq!((&line["content"], &line["is_error"]), (&json!(content), &json!(is_error)), "{n}: {line}");
    }

    // The rows of each call, without what names the call and the time.
    let mut shapes: [BTreeSet<String>; 2] = Default::default();
    for (n, line) in lines.iter().enumerate() {
        let call = line["tool_use_id"].as_str().unwrap();
        let rows = ona.rows(&format!(
            "SELECT hook_ordinal, command, exit_code, skipped_reason, stdout_text, coalesce(json_extract(input_json, '$.tool_input.command'), json_extract(input_json, '$.input.command')) \
             FROM hook_invocations WHERE tool_use_id = '{call}' AND hook_event = 'PreToolUse' ORDER BY id"
        ));
        assert_eq!(rows.len(), 5, "{rows:?}");
        shapes[n % 2].insert(json!(rows).to_string());
    }
    for shapes in &shapes {
        assert_eq!(shapes.len(), 1, "{shapes:#?}");
    }
    let first: Vec<Vec<Value>> = serde_json::from_str(shapes[0].first().unwrap()).unwrap();
    let seen: Vec<_> = first.iter().map(|row| row[5].as_str().unwrap()).collect();
    assert_eq!(
        seen,
        ["echo go", "echo go sdlc", "echo go sdlc claude", "echo go sdlc claude pi", "echo go sdlc claude pi massgen"]
    );
    let named: Vec<_> =
        first.iter().map(|row| row[1].as_str().unwrap().split(':').next().unwrap().to_owned()).collect();
    assert_eq!(named[3..], ["massgen", "omp"]);

    // What is listed is what ran.
    let mut args = vec!["hooks".to_owned(), "list".to_owned(), "--json".to_owned()];
    args.extend(flags);
    let listed = ona.run(&args).expect_code(0).json();
    let dialects: Vec<_> =
        listed["hooks"].as_array().unwrap().iter().map(|hook| hook["dialect"].as_str().unwrap()).collect();
    assert_eq!(dialects, ["sdlc", "claude", "pi", "massgen", "omp"]);
}
