//! `ona hooks`: list, explain, test, lint, replay, import.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

const GUARD: &str = r#"input=$(cat); case $input in *'push -f'*) echo 'no force pushes' >&2; exit 2;; esac"#;

fn hook(event: &str, matcher: &str, command: &str) -> Value {
    json!({"hook_event_name": event, "matcher": matcher, "command": command})
}

fn with_hooks(ona: &Ona, hooks: Value) {
    ona.settings(json!({"permissions": {"allow": ["Bash", "Read"]}, "hooks": hooks,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
}

fn json_of(ona: &Ona, code: i32, args: &[&str]) -> Value {
    serde_json::from_str(&ona.run(args).expect_code(code).stdout).unwrap()
}

#[test]
fn list_shows_the_order_the_source_and_what_does_not_run() {
    let ona = ona();
    let mut quiet = hook("Stop", "", "true");
    quiet["disabled"] = "untrusted_workspace".into();
    with_hooks(&ona, json!([hook("PreToolUse", "Bash", GUARD), quiet, {"hook_event_name": "Nope", "command": "x"}]));
    ona.eval("Bash", json!({"command": "true"}));
    let listed = json_of(&ona, 0, &["hooks", "list", "--json"]);
    let brief: Vec<_> = listed["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            json!([one["ordinal"], one["event"], one["dialect"], one["active"], one["skipped"], one["runs"]["count"]])
        })
        .collect();
    assert_eq!(
        brief,
        [
            json!([0, "PreToolUse", "sdlc", true, null, 1]),
            json!([1, "Stop", "sdlc", false, "untrusted_workspace", null])
        ]
    );
    assert!(listed["rejected"][0]["why"].as_str().unwrap().contains("Nope"), "{listed}");
    let text = ona.run(["hooks", "list", "--event", "PreToolUse"]).expect_code(0).stdout;
    assert!(text.contains("PreToolUse \"Bash\"") && text.contains("1 runs, p50") && !text.contains("Stop"), "{text}");
    ona.run(["hooks", "list", "--event", "Nope"]).expect_code(2);
}

#[test]
fn explain_tells_what_each_hook_was_given_and_said() {
    let ona = ona();
    let rewrite = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"command":"echo B"}}}'"#;
    with_hooks(
        &ona,
        json!([
            hook("PreToolUse", "Bash", rewrite),
            hook("PreToolUse", "Bash", GUARD),
            hook("PostToolUse", "", "true")
        ]),
    );
    let id = ona.eval("Bash", json!({"command": "echo A"}))["tool_use_id"].as_str().unwrap().to_owned();
    let told = json_of(&ona, 0, &["hooks", "explain", &id, "--json"]);
    assert_eq!(told["input"]["command"], "echo A");
    assert_eq!(told["effective_input"]["command"], "echo B");
    let hooks = told["hooks"].as_array().unwrap();
    let steps: Vec<_> = hooks
        .iter()
        .map(|one| {
            json!([one["event"], one["input_before"]["command"], one["input_after"]["command"], one["exit_code"]])
        })
        .collect();
    assert_eq!(
        steps,
        [
            json!(["PreToolUse", "echo A", "echo B", 0]),
            json!(["PreToolUse", "echo B", "echo B", 0]),
            json!(["PostToolUse", "echo B", "echo B", 0])
        ]
    );
    assert_eq!(told["result"]["content"], "B\n");
    let text = ona.run(["hooks", "explain", &id]).expect_code(0).stdout;
    assert!(
        text.contains("before   {\"command\":\"echo A\"}") && text.contains("ran with   {\"command\":\"echo B\"}"),
        "{text}"
    );

    let refused = ona.eval("Bash", json!({"command": "git push -f"}))["tool_use_id"].as_str().unwrap().to_owned();
    with_hooks(&ona, json!([hook("PreToolUse", "Bash", GUARD), hook("PreToolUse", "Bash", "echo never")]));
    let denied = ona.eval("Bash", json!({"command": "git push -f"}))["tool_use_id"].as_str().unwrap().to_owned();
    let told = json_of(&ona, 0, &["hooks", "explain", &denied, "--json"]);
    assert_eq!(told["decisions"][0]["decision"], "deny");
    assert_eq!((&told["hooks"][1]["skipped"], &told["started"]), (&json!("prior_block_or_deny"), &Value::Null));
    assert!(ona.run(["hooks", "explain", &denied]).expect_code(0).stdout.contains("never ran"));
    assert_ne!(refused, denied);
    assert!(ona.run(["hooks", "explain", "toolu_none"]).expect_code(1).stderr.contains("there is no call toolu_none"));
}

#[test]
fn fixtures_are_compared_with_what_the_hooks_decide() {
    let ona = ona();
    with_hooks(&ona, json!([hook("PreToolUse", "Bash", GUARD), hook("SessionStart", "", "echo welcome")]));
    ona.file(
        "fixtures/a.json",
        json!([
            {"name": "force", "event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "git push -f"}},
             "expect": {"decision": "deny", "message": "no force", "ran": 1}},
            {"name": "harmless", "event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
             "expect": {"decision": "none", "input": {"command": "ls"}, "continue": true}},
            {"event": "SessionStart", "payload": {"source": "startup"}, "expect": {"context": "welcome"}}
        ])
        .to_string(),
    );
    let rows = || ona.rows("SELECT count(*) FROM hook_invocations UNION ALL SELECT count(*) FROM sessions");
    let before = rows();
    let ran = ona.run(["hooks", "test", "fixtures"]).expect_code(0);
    assert_eq!(
        ran.stdout, "TAP version 13\n1..3\nok 1 - force\nok 2 - harmless\nok 3 - fixtures/a.json \\#3\n",
        "{ran:?}"
    );
    assert_eq!(rows(), before, "what is tried did not happen");

    ona.file("wrong.json", json!({"name": "wrong", "event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "git push -f"}}, "expect": {"decision": "allow"}}).to_string());
    let ran = ona.run(["hooks", "test", "wrong.json", "--format", "junit"]).expect_code(1);
    assert!(
        ran.stdout.contains("failures=\"1\"") && ran.stdout.contains("decision: expected allow, found deny"),
        "{ran:?}"
    );
    let told = json_of(&ona, 1, &["hooks", "test", "wrong.json", "fixtures/a.json", "--format", "json"]);
    assert_eq!(
        told.as_array().unwrap().iter().map(|one| one["passed"].as_bool().unwrap()).collect::<Vec<_>>(),
        [false, true, true, true]
    );

    ona.file(
        ".claude/other.json",
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "exit 0"}]}]}})
            .to_string(),
    );
    ona.run(["hooks", "test", "wrong.json", "--config", ".claude/other.json"]).expect_code(1);
    for (name, text) in
        [("broken.json", "{"), ("unknown.json", r#"{"event":"PreToolUse","payload":{},"expect":{"verdict":"deny"}}"#)]
    {
        ona.file(name, text);
        assert!(ona.run(["hooks", "test", name]).expect_code(2).stderr.contains(name));
    }
    ona.run(["hooks", "test", "nowhere"]).expect_code(2);
}

#[test]
fn lint_names_hooks_that_can_not_work() {
    let ona = ona();
    ona.file("plain.sh", "echo hello\n");
    let mut slow = hook("PreToolUse", "Bash", "true");
    slow["timeout"] = 300.into();
    slow["colour"] = "red".into();
    slow["_note"] = "mine".into();
    let nested = json!([
        hook("PreToolUse", "Bash(git push*)", "true"),
        hook("PreToolUse", "Bush", "true"),
        hook("SessionStart", "begin", "true"),
        hook("PreToolUse", "mcp__github__.*", "true"),
        slow,
        hook("Stop", "", "true"),
        hook("Stop", "", "./missing.sh"),
        hook("Stop", "", "./plain.sh"),
        hook("SessionEnd", "", "no-such-program --flag"),
        hook("PreToolUse", "*", "echo twice"),
        hook("PreToolUse", "Read", "echo twice"),
        {"hook_event_name": "Nope", "command": "x"},
    ]);
    with_hooks(&ona, nested);
    let found = json_of(&ona, 1, &["hooks", "lint", "--json"]);
    let mut rules: Vec<_> = found.as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    rules.sort_unstable();
    assert_eq!(
        rules,
        [
            "long-timeout",
            "missing-file",
            "missing-program",
            "never-matches",
            "never-matches",
            "not-executable",
            "rejected",
            "rule-as-matcher",
            "shadowed",
            "unknown-field"
        ],
        "{found:#}"
    );
    with_hooks(
        &ona,
        json!([hook("PreToolUse", "Bash|Write", "bash ./plain.sh"), hook("SessionStart", "startup", "FOO=1 true")]),
    );
    assert_eq!(ona.run(["hooks", "lint"]).expect_code(0).stdout, "");
}

#[test]
fn replay_finds_exactly_the_planted_difference() {
    let mut ona = ona();
    let mut script: Vec<_> = (0..40)
        .map(|n| {
            call("Bash", json!({"command": if n == 17 { "echo push -f".to_owned() } else { format!("echo {n}") }}))
        })
        .collect();
    script.push(say("done"));
    let _server = ona.model(Wire::Messages, script);
    with_hooks(&ona, json!([hook("PreToolUse", "Bash", "true")]));
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    let rows = || ona.value("SELECT count(*) FROM hook_invocations");
    let before = rows();

    assert_eq!(json_of(&ona, 0, &["hooks", "replay", "s", "--json"])["different"], json!([]));
    ona.file("policy.json", json!({"hooks": [hook("PreToolUse", "Bash", GUARD)]}).to_string());
    let told = json_of(&ona, 1, &["hooks", "replay", "s", "--config", "policy.json", "--json"]);
    assert_eq!(told["calls"], 40);
    let different = told["different"].as_array().unwrap();
    assert_eq!(different.len(), 1, "{told}");
    assert_eq!(different[0]["input"]["command"], "echo push -f");
    assert_eq!((&different[0]["then"], &different[0]["now"]), (&json!("pass"), &json!("deny")));
    assert_eq!(rows(), before, "a replay leaves no rows");

    let rewrite = r#"case $(cat) in *'echo 3"'*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo three"}}}';; esac"#;
    ona.file("rewrite.json", json!({"hooks": [hook("PreToolUse", "Bash", rewrite)]}).to_string());
    let told = json_of(&ona, 1, &["hooks", "replay", "s", "--config", "rewrite.json", "--json"]);
    assert_eq!(told["different"].as_array().unwrap().len(), 1, "{told}");
    assert_eq!(told["different"][0]["input_now"]["command"], "echo three");
    ona.run(["hooks", "replay", "nobody"]).expect_code(2);
}

#[test]
fn hooks_of_other_programs_are_translated() {
    let ona = ona();
    ona.file(
        ".gemini/settings.json",
        json!({"hooks": {
            "BeforeTool": [{"matcher": "run_shell_command|write_file", "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5000}]}],
            "BeforeModel": [{"hooks": [{"type": "command", "command": "x"}]}],
        }})
        .to_string(),
    );
    let ran = ona.run(["hooks", "import", "--from", "gemini"]).expect_code(0);
    let translated: Value = serde_json::from_str(&ran.stdout).unwrap();
    let expected = json!({"hooks": {"PreToolUse": [{"dialect": "claude", "matcher": "Bash|Write",
        "hooks": [{"type": "command", "command": "./guard.sh", "timeout": 5.0}]}]}});
    assert_eq!(translated, expected);
    assert!(ran.stderr.contains("BeforeModel"), "{ran:?}");

    ona.file(
        ".codex/hooks.json",
        json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true", "timeout": 3}]}]}}).to_string(),
    );
    ona.file(".ona/settings.json", json!({"theme": "dark"}).to_string());
    ona.run(["hooks", "import", "--from", "codex", "--write"]).expect_code(0);
    ona.run(["hooks", "import", "--from", "codex", "--write"]).expect_code(0);
    let settings: Value = serde_json::from_str(&ona.read(".ona/settings.json")).unwrap();
    assert_eq!(
        settings,
        json!({"theme": "dark", "hooks": {"Stop": [{"dialect": "claude", "hooks": [{"type": "command", "command": "true", "timeout": 3}]}]}})
    );
    assert!(ona.run(["hooks", "import", "--from", "claude"]).expect_code(2).stderr.contains(".claude/settings.json"));
}
