//! A guard that cannot be understood or cannot run is never silently off (DEC-181).

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::{Ona, RunOutput};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn hook(event: &str, command: &str) -> Value {
    json!({"hook_event_name": event, "command": command})
}

fn asking(wire_hooks: Value) -> Value {
    json!({"permissions": {"allow": ["Bash"]}, "hooks": wire_hooks,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}})
}

/// An executable script of the project.
fn script(ona: &Ona, path: &str, text: &str) {
    let file = ona.file(path, format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn lines(ran: &RunOutput) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("ona: ")).collect()
}

/// One of each kind, in one project file. What a start says about them.
fn broken_guards(ona: &Ona) -> [&'static str; 12] {
    ona.file("plain.sh", "exit 2\n");
    ona.file("bad.ts", "export default function (pi) { this is not a program }\n");
    ona.file(
        ".ona/settings.json",
        json!({
            "permission": {"deny": ["Bash"]},
            "permissions": {"deny": ["Bahs(rm *)"], "ask": ["Bash("], "allow": ["Raed"], "denny": []},
            "hooks": [
                hook("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/gone.sh"),
                hook("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/plain.sh"),
                hook("PreToolUse", "no-such-program"),
                hook("PreTolUse", "true"),
                {"hook_event_name": "PreToolUse", "matcher": "Bsh", "command": "true"},
                {"hook_event_name": "PreToolUse", "matcher": "Bash[", "command": "true"},
                {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "true", "fail_closd": true},
            ],
            "hookModules": ["./bad.ts"],
        })
        .to_string(),
    );
    [
        "`permission` is not a setting and has no effect; did you mean `permissions`?",
        "the deny rule \"Bahs(rm *)\" has no effect: no tool is called Bahs; did you mean Bash?",
        "the ask rule \"Bash(\" has no effect: its parentheses do not match",
        "`permissions.denny` is not a setting",
        "gone.sh does not exist",
        "plain.sh is not executable",
        "no-such-program is not on the search path",
        "\"PreTolUse\" is not a hook event",
        "bad.ts: Failed to load hook",
        "the matcher \"Bsh\" matches no tool; did you mean Bash?",
        "the matcher \"Bash[\" is not a valid expression and matches nothing",
        "the field \"fail_closd\" has no effect; did you mean \"fail_closed\"?",
    ]
}

#[test]
fn a_start_says_a_line_for_each_guard_that_does_not_work() {
    let mut ona = ona();
    let told = broken_guards(&ona);
    let _server = ona.model(Wire::Messages, [say("hello"), say("hello")]);
    let ran = ona.run(["-p", "hi"]).expect_code(0);
    for line in told {
        assert_eq!(lines(&ran).iter().filter(|one| one.contains(line)).count(), 1, "{line}: {ran:?}");
    }
    assert!(!ran.stderr.contains("Raed"), "an allow rule that is dropped leaves nothing open: {ran:?}");

    let mut talk = ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    talk.say("hi");
    talk.until_result();
    talk.close();
    let (code, stderr) = talk.finish();
    assert_eq!(code, 0);
    told.iter().for_each(|line| assert_eq!(stderr.matches(line).count(), 1, "{line}: {stderr}"));
}

#[test]
fn strict_guards_refuse_to_start_and_list_everything() {
    let mut ona = ona();
    let told = broken_guards(&ona);
    let server = ona.model(Wire::Messages, [say("hello")]);
    let eval = json!({"tool": "Glob", "input": {"pattern": "*"}}).to_string();
    for args in [vec!["-p", "hi"], vec!["--eval", &eval]] {
        let ran = ona.run(args.into_iter().chain(["--strict-guards"])).expect_code(2);
        told.iter().for_each(|line| assert_eq!(ran.stderr.matches(line).count(), 1, "{line}: {ran:?}"));
    }
    // The strictest scope wins, whatever the others say.
    ona.home_file(".ona/settings.json", json!({"guards": "strict"}).to_string());
    ona.file(".ona/settings.local.json", json!({"guards": "warn"}).to_string());
    ona.run(["-p", "hi"]).expect_code(2);
    assert_eq!(server.requests().len(), 0);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 0);
    ona.run(["db", "check"]).expect_code(0);
    ona.run(["--help"]).expect_code(0);

    ona.file(".ona/settings.json", "{}");
    ona.run(["-p", "hi"]).expect_code(0);
    ona.file(".ona/settings.json", json!({"guards": "Strict"}).to_string());
    ona.home_file(".ona/settings.json", "{}");
    let ran = ona.run(["--eval", &eval, "--trust"]);
    let ran = if ran.code == 0 { ona.run(["-p", "hi"]) } else { ran }.expect_code(2);
    assert!(ran.stderr.contains("`guards` must be \"warn\" or \"strict\""), "{ran:?}");
}

#[test]
fn an_invalid_pi_source_ends_no_run() {
    let ona = ona();
    ona.file("hooks.json", "{");
    let eval = json!({"tool": "Glob", "input": {"pattern": "*"}}).to_string();
    let ran = ona.run(["--eval", &eval, "--hooks-config", "hooks.json", "--strict-guards"]).expect_code(0);
    assert_eq!(ran.stderr.matches("invalid hook config").count(), 1, "{ran:?}");
}

#[test]
fn a_rule_of_a_flag_that_cannot_be_read_is_refused() {
    let ona = ona();
    let eval = json!({"tool": "Glob", "input": {"pattern": "*"}}).to_string();
    let run = |flags: &[&str]| ona.run(["--eval", &eval].iter().copied().chain(flags.iter().copied()));
    for (flag, rule, why) in [
        ("--disallowedTools", "Bash(rm *", "its parentheses do not match"),
        ("--allowedTools", "Bash(rm *", "its parentheses do not match"),
        ("--disallowedTools", "Write(src/**)", "write Edit"),
        ("--allowedTools", "Bash()", "its parentheses are empty"),
        ("--disallowedTools", "Read,WebFetch(https://x)", "WebFetch takes domain:<host>"),
        ("--disallowedTools", "Bahs", "unknown tool Bahs; did you mean Bash?"),
        ("--disallowedTools", "Deploy(prod)", "unknown tool Deploy"),
        ("--disallowedTools", "mcp__gone__tool", "unknown MCP server gone"),
    ] {
        let ran = run(&[flag, rule]).expect_code(2);
        assert!(ran.stderr.contains(flag) && ran.stderr.contains(why), "{rule}: {ran:?}");
    }
    let ran = run(&["--allowedTools", "Raed Bash(ls *)"]).expect_code(0);
    assert_eq!(lines(&ran), ["ona: --allowedTools: unknown tool Raed; did you mean Read?"]);
    run(&["--allowedTools", "Raed", "--strict-guards"]).expect_code(2);
    // What drivers of the public product send is known.
    let theirs =
        "Task,MultiEdit,LS,NotebookRead,CronCreate,SendMessage,KillShell,EnterWorktree,mcp__ide__getDiagnostics";
    for flag in ["--allowedTools", "--disallowedTools"] {
        assert_eq!(run(&[flag, theirs, "--strict-guards"]).expect_code(0).stderr, "", "{flag}");
    }
}

#[test]
fn tools_of_modules_and_servers_are_known_when_flags_are_judged() {
    let mut ona = ona();
    let module = r#"export default function (pi) {
  pi.registerTool({ name: "deploy", description: "d", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) });
}
"#;
    ona.file("tool.ts", module);
    let _server = ona.model(Wire::Messages, [say("a"), say("b"), say("c")]);
    ona.settings(asking(json!([])));
    ona.run(["-p", "hi", "--hook", "tool.ts", "--disallowedTools", "deploy"]).expect_code(0);
    let ran = ona.run(["-p", "hi", "--disallowedTools", "deploy"]).expect_code(2);
    assert!(ran.stderr.contains("--disallowedTools: unknown tool deploy"), "{ran:?}");

    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.mjs");
    let config = json!({"mcpServers": {"local": {"command": "node", "args": [server]}}}).to_string();
    let run = |rule: &str| ona.run(["-p", "hi", "--mcp-config", &config, "--disallowedTools", rule]);
    run("mcp__local__echo").expect_code(0);
    let ran = run("mcp__local__ecko").expect_code(2);
    assert!(ran.stderr.contains("mcp__local__ecko; did you mean mcp__local__echo?"), "{ran:?}");
    let ran = run("mcp__lokal__echo").expect_code(2);
    assert!(ran.stderr.contains("unknown MCP server lokal; did you mean local?"), "{ran:?}");
}

#[test]
fn lint_and_doctor_fail_on_the_same_list_in_every_dialect() {
    let ona = ona();
    let listed = |args: &[&str]| {
        let lint = ona.run(["hooks", "lint", "--json"].iter().copied().chain(args.iter().copied())).expect_code(1);
        let lint: Value = serde_json::from_str(&lint.stdout).unwrap();
        let doctor = ona.run(["doctor", "--json"].iter().copied().chain(args.iter().copied())).expect_code(1).json();
        let kinds = |list: &Value| -> Vec<String> {
            let mut all: Vec<_> =
                list.as_array().unwrap().iter().map(|one| format!("{} {}", one["rule"], one["message"])).collect();
            all.sort();
            all
        };
        assert_eq!(kinds(&lint), kinds(&doctor["guards"]), "{args:?}");
        kinds(&lint)
    };
    let has = |list: &[String], rule: &str, part: &str| {
        let found = list.iter().any(|one| one.starts_with(&format!("\"{rule}\"")) && one.contains(part));
        assert!(found, "{rule} {part}: {list:?}");
    };
    script(&ona, "guard.sh", "exit 0");
    for (file, dialect) in [(".ona/settings.json", "sdlc"), (".claude/settings.json", "claude")] {
        let nested = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "./guard.sh"}, {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/gone.sh"}]}]}});
        ona.file(file, nested.to_string());
        let list = listed(&["--settings", ona.project().join(file).to_str().unwrap()]);
        has(&list, "relative-command", "write \\\"$CLAUDE_PROJECT_DIR\\\"/guard.sh");
        has(&list, "missing-file", "gone.sh does not exist");
        assert_eq!(list.len(), 2, "{dialect}: {list:?}");
        ona.file(file, "{}");
        ona.run(["settings", "import"]).expect_code(0);
    }
    ona.file("pi.json", json!({"PreToolUse": [{"command": "./guard.sh"}, {"command": "/gone.sh"}]}).to_string());
    let list = listed(&["--hooks-config", "pi.json"]);
    has(&list, "relative-command", "guard.sh");
    has(&list, "missing-file", "/gone.sh");
    ona.file("broken.json", "{\"PreToolUse\":");
    has(&listed(&["--hooks-config", "broken.json"]), "invalid-config", "invalid hook config from cli");

    ona.file(
        "massgen.yaml",
        "hooks:\n  PreToolUse:\n    - {handler: ./gone.sh, type: command}\n    - {handler: nowhere.check}\n",
    );
    let list = listed(&["--massgen-config", "massgen.yaml"]);
    has(&list, "missing-file", "gone.sh");
    has(&list, "not-ready", "nowhere");

    ona.file(
        "module.ts",
        "export default function (pi) { pi.on(\"tool_cal\", () => undefined); pi.on(\"no_such_event\", () => 1); }\n",
    );
    let list = listed(&["--hook", "module.ts"]);
    has(&list, "unknown-event", "\\\"tool_cal\\\", which is never fired; did you mean \\\"tool_call\\\"?");
    has(&list, "unknown-event", "no_such_event");
    has(&listed(&["--hook", "gone.ts"]), "not-loaded", "gone.ts");
    ona.run(["doctor"]).expect_code(0);
    ona.run(["hooks", "lint"]).expect_code(0);
}

#[test]
fn a_hook_that_fails_is_told_once_on_stderr_and_in_the_stream() {
    let mut ona = ona();
    let run = || call("Bash", json!({"command": "true"}));
    let _server = ona.model(Wire::Messages, [run(), run(), say("done")]);
    let claude = json!({"hook_event_name": "PreToolUse", "dialect": "claude", "command": "echo mine >&2; exit 3"});
    ona.settings(asking(json!([
        hook("PreToolUse", "echo why >&2; exit 1"),
        claude,
        hook("PostToolUse", "echo '{broken'")
    ])));
    let ran = ona.run(["-p", "go", "--output-format", "stream-json"]).expect_code(0);
    let stream: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = stream.iter().filter(|one| one["subtype"] == "informational").collect();
    let parts = ["exit code 1: why", "exit code 3: mine", "not one JSON value"];
    for part in parts {
        assert_eq!(ran.stderr.matches(part).count(), 1, "{part}: {ran:?}");
        let of = |one: &&&Value| one["content"].as_str().unwrap().contains(part) && one["level"] == "warning";
        assert_eq!(told.iter().filter(of).count(), 1, "{part}: {told:?}");
    }
    assert_eq!(
        ona.value("SELECT count(*) FROM events WHERE event_type = 'hook_error'"),
        4,
        "rows tell of every failure"
    );
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE exit_code IN (1, 3)"), 4);
}

#[test]
fn a_relative_hook_that_a_cd_took_away_says_so() {
    let mut ona = ona();
    script(&ona, "guard.sh", "exit 0");
    ona.file("sub/x", "");
    let _server = ona.model(
        Wire::Messages,
        [call("Bash", json!({"command": "cd sub"})), call("Bash", json!({"command": "true"})), say("done")],
    );
    ona.settings(asking(json!([hook("PreToolUse", "./guard.sh")])));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    let start = "./guard.sh is found only while the session is in";
    assert!(lines(&ran)[0].contains(start) && lines(&ran)[0].contains("\"$CLAUDE_PROJECT_DIR\"/guard.sh"), "{ran:?}");
    let failed: Vec<_> = lines(&ran).into_iter().filter(|line| line.contains("hook error")).collect();
    assert_eq!(failed.len(), 1, "{ran:?}");
    let sub = ona.project().join("sub");
    let cause = format!("now {}; write \"$CLAUDE_PROJECT_DIR\"/guard.sh", sub.display());
    assert!(failed[0].contains("exit code 127") && failed[0].contains(&cause), "{ran:?}");

    ona.settings(json!({"hooks": [
        {"hook_event_name": "PreToolUse", "command": "no-such-guard", "args": []},
        {"hook_event_name": "PreToolUse", "dialect": "claude", "command": "cat \"$transcript_path\"/x; exit 127"}]}));
    let ran = ona.run(["--eval", &json!({"tool": "Glob", "input": {"pattern": "*"}}).to_string()]).expect_code(0);
    assert!(ran.stderr.contains("hook not started: the program no-such-guard was not found"), "{ran:?}");
    assert!(ran.stderr.contains("claudeCompat.transcriptPath"), "{ran:?}");
}

#[test]
fn a_once_hook_of_our_own_settings_runs_once_in_a_session_and_after_a_resume() {
    let mut ona = ona();
    let run = || call("Bash", json!({"command": "true"}));
    let _server = ona.model(Wire::Messages, [run(), run(), say("a"), run(), say("b"), run(), say("c")]);
    let once = |dialect: &str, name: &str| {
        json!({"hook_event_name": "PreToolUse", "matcher": "Bash", "dialect": dialect, "once": true,
            "command": format!("echo x >>\"$CLAUDE_PROJECT_DIR\"/{name}")})
    };
    ona.settings(asking(json!([once("sdlc", "ours"), once("claude", "theirs")])));
    let runs = |name: &str| ona.read(name).lines().count();
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    assert_eq!((runs("ours"), runs("theirs")), (1, 2));
    ona.run(["-p", "go", "--resume", "s"]).expect_code(0);
    assert_eq!((runs("ours"), runs("theirs")), (1, 3), "another process continues the session");
    ona.run(["-p", "go", "--session-id", "t"]).expect_code(0);
    assert_eq!(runs("ours"), 2, "another session has its own run");
}

#[test]
fn doctor_checks_what_a_turn_relies_on() {
    let mut ona = ona();
    let check = |report: &Value, name: &str| -> Value {
        let all = report["checks"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).cloned().unwrap_or_default()
    };
    // Nothing configured: told, and no failure.
    let report = ona.run(["doctor", "--json"]).expect_code(0).json();
    assert_eq!(check(&report, "bash")["state"], "ok", "{report:#}");
    assert_eq!(check(&report, "guards")["state"], "ok");
    assert_eq!(check(&report, "credential")["state"], "missing", "guards can be checked where no key is");

    // A model that is configured and cannot be asked.
    ona.use_provider("openai_compatible", "gpt_4o");
    ona.env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    ona.env("OPENAI_API_KEY", "");
    let report = ona.run(["doctor", "--json"]).expect_code(1).json();
    assert_eq!(check(&report, "credential")["state"], "missing", "{report:#}");
    assert_eq!(check(&report, "endpoint")["state"], "broken");
    let text = ona.run(["doctor"]).expect_code(1).stdout;
    assert!(text.contains("✓ bash") && text.contains("✗ endpoint     http://127.0.0.1:1"), "{text}");

    let server = ona.model(Wire::Chat, [say("hello")]);
    let report = ona.run(["doctor", "--json"]).json();
    assert_eq!(check(&report, "endpoint")["state"], "ok", "{report:#}");
    assert_eq!(
        check(&report, "credential"),
        json!({"name": "credential", "state": "ok", "detail": "env API key", "remedy": ""})
    );
    let asked: Vec<_> = server.requests().iter().map(|one| (one.method.clone(), one.path.clone())).collect();
    assert_eq!(asked, [("HEAD".to_owned(), "/".to_owned())], "no model call was made");
    let request = server.request(0);
    let secret =
        |(name, value): &(String, String)| name.contains("auth") || name.contains("key") || value.contains("sk-");
    assert!(!request.headers.iter().any(secret), "{:?}", request.headers);

    ona.env("ONA_JS_RUNTIME", "no-such-runtime");
    let report = ona.run(["doctor", "--json"]).expect_code(1).json();
    assert_eq!(check(&report, "javascript")["state"], "broken", "{report:#}");
}
