//! Nothing of a folder runs before it is trusted, in any form (DEC-182).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, say};
use serde_json::{Value, json};

const CALL: &str = r#"{"tool":"Bash","input":{"command":"true"}}"#;
const FIRE: &str =
    r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"true"},"tool_use_id":"x"}"#;

fn touch_hook(name: &str) -> Value {
    json!({"PreToolUse": [{"hooks": [{"type": "command", "command": format!("touch {name}")}]}]})
}

/// A clone that brings one of everything.
fn clone() -> Ona {
    let ona = ona().untrusted();
    let settings = json!({
        "hooks": touch_hook("canary"),
        "permissions": {
            "allow": ["Bash(touch *)"], "deny": ["Bash(curl *)"], "ask": ["Glob"],
            "disableBypassPermissionsMode": "disable", "defaultMode": "acceptEdits",
        },
        "env": {"FROM_FOLDER": "1"},
        "mcpServers": {"s": {"command": "sh", "args": ["-c", "touch canary"]}},
        "statusLine": {"type": "command", "command": "touch canary"},
        "apiKeyHelper": "touch canary",
    });
    ona.file(".claude/settings.json", settings.to_string());
    ona.file(".mcp.json", json!({"mcpServers": {"x": {"command": "sh", "args": ["-c", "touch canary"]}}}).to_string());
    ona.file(
        ".omp/hooks/pre/evil.ts",
        "import { writeFileSync } from 'node:fs'; writeFileSync('canary', ''); export default () => {};",
    );
    ona.file(".claude/agents/a.md", "---\nname: a\ndescription: d\n---\nText.");
    ona.file("CLAUDE.md", "TEXT-OF-THE-FOLDER");
    ona
}

#[test]
fn nothing_of_a_folder_runs_before_it_is_trusted_in_any_form() {
    let mut ona = clone();
    let model = ona.model(Wire::Messages, [say("ok")]);
    for args in [vec!["--eval", CALL], vec!["--fire-hook", FIRE], vec!["-p", "hi"]] {
        let ran = ona.run(&args).expect_code(0);
        assert!(!ona.exists("canary"), "{args:?}");
        assert_eq!(ran.stderr.matches("is not trusted").count(), 1, "{args:?} {ran:?}");
        for part in [
            "hooks (.claude/settings.json)",
            "allow rules",
            "env (",
            "MCP servers (.claude/settings.json, .mcp.json)",
            "hook modules (.omp/hooks/pre/evil.ts)",
            "agents (.claude/agents)",
            "--trust",
        ] {
            assert!(ran.stderr.contains(part), "{part}: {ran:?}");
        }
    }
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE skipped_reason = 'untrusted_workspace'"), 2);
    assert!(String::from_utf8_lossy(&model.request(0).body).contains("TEXT-OF-THE-FOLDER"), "text is only text");
    let row = ona.value("SELECT json FROM settings_snapshot");
    let row: Value = serde_json::from_str(row.as_str().unwrap()).unwrap();
    assert_eq!((&row["permissions"]["deny"], &row["permissions"]["ask"]), (&json!(["Bash(curl *)"]), &json!(["Glob"])));
    assert_eq!(row["permissions"]["disableBypassPermissionsMode"], "disable");
    assert_eq!(row["permissions"]["defaultMode"], "default");
    assert!(!row["permissions"]["allow"].to_string().contains("touch") && row.get("env").is_none(), "{row}");
    let denied = ona.eval("Bash", json!({"command": "curl http://127.0.0.1:1/"}));
    assert_eq!(denied["content"], "Denied by permission rule Bash(curl *)");
}

#[test]
fn strict_guards_of_an_untrusted_folder_count_and_its_transitions_and_driven_sessions_run_nothing() {
    let mut ona = clone();
    let _model = ona.model(Wire::Messages, [say("ok")]);
    let mut talk = ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    talk.say("hi");
    talk.until_result();
    talk.close();
    let (code, stderr) = talk.finish();
    assert!(code == 0 && stderr.matches("is not trusted").count() == 1, "{code} {stderr}");
    ona.run(["--transition", "planning", "--conversation", "c"]);
    assert!(!ona.exists("canary"));

    ona.file(".ona/settings.json", json!({"guards": "strict", "permissions": {"deny": ["Bsh"]}}).to_string());
    let ran = ona.run(["-p", "hi"]).expect_code(2);
    assert!(ran.stderr.contains("guards are strict") && ran.stderr.contains("did you mean Bash?"), "{ran:?}");
}

#[test]
fn listing_runs_nothing_and_trying_is_refused() {
    let ona = clone();
    for args in [
        vec!["hooks", "list"],
        vec!["hooks", "lint"],
        vec!["mcp", "list"],
        vec!["mcp", "get", "x"],
        vec!["doctor"],
        vec!["settings", "show"],
    ] {
        let ran = ona.run(&args);
        assert!(!ona.exists("canary") && ran.stderr.contains("is not trusted"), "{args:?} {ran:?}");
    }
    let fixture = json!([{"name": "n", "event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "true"}}, "expect": {"decision": "none"}}]);
    ona.file("t.json", fixture.to_string());
    for args in [vec!["hooks", "test", "t.json"], vec!["hooks", "test", "t.json", "--config", ".claude/settings.json"]]
    {
        let ran = ona.run(&args).expect_code(2);
        assert!(ran.stderr.contains("--trust") && !ona.exists("canary"), "{args:?} {ran:?}");
    }
}

#[test]
fn trust_is_recorded_and_what_changed_since_is_named() {
    let ona = ona().untrusted();
    ona.file("guard.sh", "touch ran\n");
    let hooks =
        json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "sh \"$CLAUDE_PROJECT_DIR\"/guard.sh"}]}]});
    ona.file(".claude/settings.json", json!({ "hooks": hooks }).to_string());
    ona.file(".mcp.json", json!({"mcpServers": {"x": {"type": "http", "url": "http://127.0.0.1:1/", "headers": {"A": "Bearer ${THEIR_TOKEN}"}}}}).to_string());
    let ran = ona.run(["--trust", "--eval", CALL]).expect_code(0);
    assert!(ona.exists("ran") && ran.stderr.contains("THEIR_TOKEN") && !ran.stderr.contains("not trusted"), "{ran:?}");
    assert_eq!(ona.run(["--eval", CALL]).expect_code(0).stderr, "");
    ona.file("guard.sh", "touch ran again\n");
    ona.file(".mcp.json", json!({"mcpServers": {"x": {"type": "http", "url": "http://127.0.0.1:2/"}}}).to_string());
    let ran = ona.run(["--eval", CALL]).expect_code(0);
    assert!(ona.exists("again"), "it is named, and still runs");
    assert!(ran.stderr.contains("guard.sh") && ran.stderr.contains("MCP server x of .mcp.json"), "{ran:?}");
    ona.run(["--trust", "--eval", CALL]).expect_code(0);
    assert_eq!(ona.run(["--eval", CALL]).expect_code(0).stderr, "");
    let ran = ona.run(["--no-trust", "--eval", CALL]).expect_code(0);
    assert!(ran.stderr.contains("is not trusted"), "{ran:?}");
}

#[test]
fn an_operators_hook_that_lies_in_an_untrusted_folder_is_skipped() {
    let ona = ona().untrusted();
    ona.file("scripts/guard.sh", "#!/bin/sh\ntouch inside\n");
    let absolute = ona.project().join("scripts/guard.sh");
    let entry = |command: &str| json!({"hook_event_name": "PreToolUse", "command": command});
    let hooks = [
        entry("sh \"$CLAUDE_PROJECT_DIR\"/scripts/guard.sh"),
        entry(&format!("sh {}", absolute.display())),
        entry("./scripts/guard.sh"),
        entry("sh scripts/guard.sh"),
        entry("touch mine \"$CLAUDE_PROJECT_DIR\"/also"),
    ];
    ona.home_file(".ona/settings.json", json!({ "hooks": hooks }).to_string());
    let ran = ona.run(["--eval", CALL]).expect_code(0);
    let named = "your own hooks that start a program of this folder (user:~/.ona/settings.json)";
    assert!(ran.stderr.contains(named), "a guard is not silently off: {ran:?}");
    assert!(ona.exists("mine") && ona.exists("also") && !ona.exists("inside"));
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE skipped_reason = 'untrusted_workspace'"), 4);
    // What a flag names is the operator's word, and so is a row written by SQL.
    let flag = json!({"hooks": [entry("sh scripts/guard.sh")]}).to_string();
    ona.run(["--settings", &flag, "--eval", CALL]).expect_code(0);
    assert!(ona.exists("inside"));
    std::fs::remove_file(ona.project().join("inside")).unwrap();
    ona.settings(json!({"hooks": [entry("sh scripts/guard.sh")]}));
    ona.run(["--eval", CALL]).expect_code(0);
    assert!(ona.exists("inside"));
}

#[test]
fn what_a_project_configured_never_reads_our_credentials() {
    let mut ona = ona();
    ona.env("ANTHROPIC_API_KEY", "canary-credential-1").env("OTHER_TOKEN", "other-token-value");
    let hook = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "echo \"[$ANTHROPIC_API_KEY$OTHER_TOKEN$FROM_FOLDER]\" > seen"}]}]});
    ona.file(".claude/settings.json", json!({"hooks": hook, "env": {"FROM_FOLDER": "1"}}).to_string());
    let server = json!({"command": "sh", "args": ["-c", "echo \"$1$2\" > args", "sh", "${ANTHROPIC_API_KEY}", "${OTHER_TOKEN}"]});
    ona.file(".mcp.json", json!({"mcpServers": {"x": server}}).to_string());
    ona.run(["--eval", r#"{"tool":"mcp__x__y","input":{}}"#]).expect_code(0);
    ona.run(["--eval", CALL]).expect_code(0);
    assert_eq!(ona.read("seen").trim(), "[other-token-value1]");
    assert_eq!(ona.read("args").trim(), "${ANTHROPIC_API_KEY}other-token-value");
}

#[test]
fn a_project_sets_no_variables_for_the_operators_hooks() {
    let ona = ona();
    let show = |file: &str| json!({"PreToolUse": [{"hooks": [{"type": "command", "command": format!("echo \"$VIRTUAL_ENV:$OPENSSL_CONF:$NODE_ENV:$MINE\" > {file}")}]}]});
    ona.home_file(".ona/settings.json", json!({"hooks": show("users"), "env": {"MINE": "user"}}).to_string());
    let env = json!({"VIRTUAL_ENV": "/evil", "OPENSSL_CONF": "/evil.cnf", "NODE_ENV": "test", "MINE": "folder"});
    ona.file(
        ".claude/settings.json",
        json!({"hooks": show("projects"), "env": env, "permissions": {"allow": ["Bash"]}}).to_string(),
    );
    ona.eval("Bash", json!({"command": "echo \"$VIRTUAL_ENV:$MINE\" > tools"}));
    assert_eq!(ona.read("users").trim(), "::test:user");
    assert_eq!(ona.read("projects").trim(), "/evil:/evil.cnf:test:folder");
    assert_eq!(ona.read("tools").trim(), "/evil:folder");
    // Nor for the operator's servers, in their environment or their definition.
    let mut ona = crate::ona();
    let _model = ona.model(Wire::Messages, [say("ok")]);
    let server = |file: &str| {
        let script = format!("echo \"$VIRTUAL_ENV:$NODE_ENV:$0\" > {file}");
        json!({"command": "sh", "args": ["-c", script, "${MINE:-none}"]})
    };
    ona.home_file(".ona/settings.json", json!({"mcpServers": {"users": server("users")}}).to_string());
    ona.file(".mcp.json", json!({"mcpServers": {"projects": server("projects")}}).to_string());
    let env = json!({"VIRTUAL_ENV": "/evil", "NODE_ENV": "test", "MINE": "folder"});
    ona.file(".claude/settings.json", json!({ "env": env }).to_string());
    ona.run(["-p", "hi"]).expect_code(0);
    assert_eq!(ona.read("users").trim(), ":test:none");
    assert_eq!(ona.read("projects").trim(), "/evil:test:folder");
    // Nor for the operator's helper.
    let mut ona = crate::ona();
    let model = ona.model(Wire::Messages, [say("ok")]);
    ona.env("ANTHROPIC_API_KEY", "");
    ona.home_file(".ona/settings.json", json!({"apiKeyHelper": "echo \"helper-key-${MINE:-none}\""}).to_string());
    ona.file(".claude/settings.json", json!({"env": {"MINE": "folder"}}).to_string());
    ona.run(["-p", "hi"]).expect_code(0);
    assert_eq!(model.request(0).header("x-api-key"), Some("helper-key-none"));
}
