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
    assert!(
        ona.run(["hooks", "explain", "toolu_none"]).expect_code(2).stderr.contains("call toolu_none does not exist")
    );
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
        json!([
            hook("PreToolUse", "Bash|Write", "bash \"$CLAUDE_PROJECT_DIR\"/plain.sh"),
            hook("SessionStart", "startup", "FOO=1 true")
        ]),
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

// ---- for authors of hooks ---------------------------------------------------------

/// The same guard in every dialect: it refuses a command with "push" in it.
fn in_every_dialect(ona: &Ona) -> Vec<(&'static str, Vec<&'static str>)> {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"cut \\ud83d"}}"#;
    let guard = format!("case $(cat) in *push*) printf '%s' '{deny}';; esac");
    let handler = json!({"type": "command", "command": guard});
    let nested = json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}});
    ona.file("sdlc.json", json!({"hooks": [hook("PreToolUse", "Bash", &guard)]}).to_string());
    ona.file("claude.json", nested.to_string());
    let pi = r#"case $(cat) in *push*) printf '%s' '{"decision":"deny","reason":"cut \\ud83d"}';; esac"#;
    ona.file("pi.json", json!({"PreToolUse": [{"command": pi, "matcher": {"toolNames": ["bash"]}}]}).to_string());
    ona.file("massgen.yaml", "hooks:\n  PreToolUse:\n    - {handler: guard.check, matcher: Bash}\n");
    let python = r#"def check(event):
    if "push" in event.tool_input["command"]:
        return {"decision": "deny", "reason": "cut \ud83d"}
"#;
    ona.file("guard.py", python);
    ona.file(
        "program.json",
        json!({"hooks": {"PreToolUse": [{"handler": "./guard.sh", "type": "command"}]}}).to_string(),
    );
    ona.file("guard.sh", pi);
    let module = r#"export default function (pi) {
  pi.on("tool_call", (event) => event.input.command.includes("push") ? { block: true, reason: "cut \ud83d" } : undefined);
}
"#;
    ona.file("module.ts", module);
    vec![
        ("sdlc", vec!["--config", "sdlc.json"]),
        ("claude", vec!["--config", "claude.json"]),
        ("pi", vec!["--config", "pi.json"]),
        ("massgen", vec!["--config", "massgen.yaml"]),
        ("massgen", vec!["--config", "program.json"]),
        ("omp", vec!["--hook", "module.ts"]),
    ]
}

const PUSH: &str = r#"[{"name": "a push is refused # whatever the dialect", "event": "PreToolUse",
    "payload": {"tool_name": "Bash", "tool_input": {"command": "git push"}}, "expect": {"decision": "deny", "message": "cut"}},
  {"event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "git pull"}},
    "expect": {"decision": "none", "ran": 1}}]"#;

/// The reasons end in half an emoji, as JavaScript cuts them.
#[test]
fn fixtures_and_replay_work_for_every_dialect() {
    let mut ona = ona();
    ona.file("push.json", PUSH);
    let configs = in_every_dialect(&ona);
    let _server = ona.model(
        Wire::Messages,
        [call("Bash", json!({"command": "echo pull"})), call("Bash", json!({"command": "echo push"})), say("done")],
    );
    ona.settings(json!({"permissions": {"allow": ["Bash"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    for (dialect, flags) in configs {
        let told = ona.run(["hooks", "test", "push.json", "--json"].into_iter().chain(flags.iter().copied()));
        let told: Value = serde_json::from_str(&told.expect_code(0).stdout).unwrap();
        assert_eq!((told.as_array().unwrap().len(), &told[0]["passed"]), (2, &json!(true)), "{dialect}");
        let told = ona.run(["hooks", "replay", "s", "--json"].into_iter().chain(flags.iter().copied()));
        let told: Value = serde_json::from_str(&told.expect_code(1).stdout).unwrap();
        let different = told["different"].as_array().unwrap();
        assert_eq!((&told["calls"], different.len()), (&json!(2), 1), "{dialect}: {told}");
        assert_eq!(different[0]["input"]["command"], "echo push", "{dialect}");
        assert!(different[0]["message"].as_str().unwrap().starts_with("cut "), "{told}");
    }
    let ran = ona.run(["hooks", "test", "push.json", "--config", "module.ts"]).expect_code(2);
    assert!(ran.stderr.contains("is a hook module") && ran.stderr.contains("--hook"), "{ran:?}");
    ona.file("none.json", r#"{"permissions": {}}"#);
    let ran = ona.run(["hooks", "lint", "--config", "none.json"]).expect_code(0);
    assert!(ran.stderr.contains("none.json has no hooks"), "{ran:?}");
}

/// Read by programs that others wrote.
#[test]
fn reports_are_what_readers_of_tap_and_junit_expect() {
    let ona = ona();
    let awkward = "a \\# TODO <b> & \"c\" \u{1}\u{7f}\r\nnot ok 9 - x";
    let fixture = |name: &str, decision: &str| {
        json!({"name": name, "event": "Stop", "payload": {"stop_hook_active": false},
            "expect": {"decision": decision, "message": "\u{0}<&\n# y"}})
    };
    ona.file("f.json", json!([fixture(awkward, "deny"), fixture("fine", "none")]).to_string());
    let reader = r#"
import re, sys, xml.etree.ElementTree as xml
tap, junit = open("tap").read(), open("junit").read()
suite = xml.fromstring(junit)
assert suite.tag == "testsuite" and suite.get("tests") == "2" and suite.get("failures") == "2", suite.attrib
cases = suite.findall("testcase")
assert cases[0].get("name").startswith("a \\# TODO <b> & \"c\" "), cases[0].get("name")
assert "decision: expected deny" in cases[0].find("failure").text
lines = tap.split("\n")
assert lines[0] == "TAP version 13" and lines[1] == "1..2", lines
points = [line for line in lines if re.match(r"(not )?ok\b", line)]
assert [re.match(r"(not )?ok (\d+)", line).group(2) for line in points] == ["1", "2"], points
# An unescaped # would begin a directive, and TODO would excuse the failure.
assert not any(re.search(r"(?<!\\)(?:\\\\)*#\s*(TODO|SKIP)", line, re.I) for line in points), points
rest = [line for line in lines[2:] if line and line not in points]
assert all(line.lstrip().startswith(chr(35)) for line in rest), rest
"#;
    ona.file("read.py", reader);
    for format in ["tap", "junit"] {
        let ran = ona.run(["hooks", "test", "f.json", "--format", format]).expect_code(1);
        ona.file(format, ran.stdout);
    }
    let read = ona.lenient_shell("python3 read.py");
    assert_eq!(read.code, 0, "{read:?}\n{}", ona.read("tap"));
}

#[test]
fn what_is_wrong_with_a_fixture_is_one_sentence_about_it() {
    let ona = ona();
    let bash = json!({"tool_name": "Bash", "tool_input": {}});
    let cases = [
        (json!([]), "f.json: it has no fixtures"),
        (json!({"event": "Nope", "expect": {}}), "f.json: \"Nope\" is not a hook event"),
        (
            json!([{"event": "PreToolUse", "payload": bash, "expect": {}}, {"event": "PreToolUse", "expect": {}}]),
            "f.json #2: PreToolUse: the field \"tool_name\" is missing",
        ),
        (json!({"event": "PreToolUse", "payload": bash, "expect": {"decision": "no"}}), "f.json: unknown variant `no`"),
        (json!({"event": "PreToolUse", "payload": bash}), "f.json: missing field `expect`"),
    ];
    for (fixture, sentence) in cases {
        ona.file("f.json", fixture.to_string());
        let ran = ona.run(["hooks", "test", "f.json"]).expect_code(2);
        assert!(ran.stderr.starts_with(&format!("ona: {sentence}")), "{ran:?}");
        assert!(!ran.stderr.contains("--fire-hook"), "{ran:?}");
    }
    let help = ona.run(["hooks", "test", "--help"]).expect_code(0).stdout;
    for word in ["\"expect\"", "decision", "Exit codes", "--json"] {
        assert!(help.contains(word), "{word} in {help}");
    }
}

#[test]
fn explain_follows_the_input_through_hooks_that_are_not_told_of_it() {
    let ona = ona();
    ona.file("module.ts", "export default function (pi) { pi.on('tool_call', () => undefined); }\n");
    let rewrite = r#"echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"rm x"}}}'"#;
    ona.settings(json!({"permissions": {"deny": ["Bash(rm *)"]}, "hooks": [hook("PreToolUse", "Bash", rewrite)]}));
    let call = json!({"tool": "Bash", "input": {"command": "ls"}, "tool_use_id": "c"}).to_string();
    ona.run(["--eval", &call, "--hook", "module.ts"]).expect_code(0);
    let told = json_of(&ona, 0, &["hooks", "explain", "c", "--json"]);
    let inputs: Vec<_> =
        told["hooks"].as_array().unwrap().iter().map(|one| (&one["input_before"], &one["input_after"])).collect();
    let (ls, rm) = (json!({"command": "ls"}), json!({"command": "rm x"}));
    assert_eq!(inputs, [(&ls, &rm), (&rm, &rm)], "{told:#}");
    let text = ona.run(["hooks", "explain", "c"]).expect_code(0).stdout;
    assert!(
        text.contains("never ran\njudged     {\"command\":\"rm x\"}\nerror      Denied by permission rule Bash(rm *)"),
        "{text}"
    );
}

/// More calls than are read at once, some of them without a result and two with one id.
#[test]
fn a_long_session_is_replayed_to_its_end() {
    let ona = ona();
    with_hooks(&ona, json!([]));
    ona.eval("Bash", json!({"command": "true"}));
    let conversation = ona.value("SELECT id FROM conversations");
    ona.execute(
        "INSERT INTO sessions(session_id, conversation_id) VALUES ('long', ?1)",
        [conversation.as_str().unwrap()],
    );
    ona.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 449)
         INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id)
         SELECT 'long', 2 * i, 'tool_use', json_object('id', 'c' || (i % 440), 'name', 'Bash',
             'input', json_object('command', 'echo ' || i || iif(i IN (0, 199, 200, 449), ' push -f', ''))), 'c' || (i % 440) FROM n
         UNION ALL SELECT 'long', 2 * i + 1, 'tool_result', '{\"content\":\"\",\"is_error\":false}', 'c' || (i % 440) FROM n WHERE i % 7 > 0",
        [],
    );
    ona.file("policy.json", json!({"hooks": [hook("PreToolUse", "Bash", GUARD)]}).to_string());
    let told = json_of(&ona, 1, &["hooks", "replay", "long", "--config", "policy.json", "--json"]);
    let found: Vec<_> =
        told["different"].as_array().unwrap().iter().map(|one| one["input"]["command"].clone()).collect();
    assert_eq!(found, ["echo 0 push -f", "echo 199 push -f", "echo 200 push -f", "echo 449 push -f"]);
    assert_eq!(told["calls"], 450);
    let told = json_of(&ona, 0, &["hooks", "explain", "c9", "--json"]);
    assert_eq!(told["input"]["command"], "echo 449 push -f", "the newest of that id");
}

#[test]
fn lint_looks_into_every_dialect() {
    let ona = ona();
    let rules = |flags: &[&str]| -> Vec<String> {
        let mut args = vec!["hooks", "lint", "--json"];
        args.extend(flags);
        let found = ona.run(args).json();
        let mut rules: Vec<_> =
            found.as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect();
        rules.sort_unstable();
        rules
    };
    let pi = json!({
        "PreToolUse": [{"command": "true", "matcher": {"toolNames": []}}, {"command": "true", "matcher": {"toolNames": ["Bush"]}},
            {"command": "./gone.sh", "timeout": 3}, {"command": "true", "matcher": {"toolNames": ["find", "mcp__a__b"]}, "timeoutMs": 90_000},
            {"command": "true", "matcher": {"toolNames": ["find"]}}],
        "SessionStart": [{"command": "true", "matcher": {"toolNames": []}, "_note": 1}],
    });
    ona.file("pi.json", pi.to_string());
    let expected = ["long-timeout", "missing-file", "never-matches", "never-matches", "shadowed", "unknown-field"];
    assert_eq!(rules(&["--config", "pi.json"]), expected);
    assert_eq!(rules(&["--hooks-config", "pi.json"]), expected);
    let yaml = "hooks:
  PreToolUse:
    - {handler: here.f, matcher: 'Write|Edit', fail_close: true}
    - {handler: here.f, matcher: Edit}
    - {handler: here.f, matcher: '^Write$'}
    - {handler: gone.f, matcher: 'mcp__*'}
    - {handler: ./gone.sh, type: command, timeout: 61}
    - {handler: here.f, matcher: '|'}
  Stop: []
";
    ona.file("hooks.yaml", yaml);
    ona.file("here.py", "def f(event): pass\n");
    let expected = [
        "long-timeout",
        "missing-file",
        "never-matches",
        "never-matches",
        "not-ready",
        "rejected",
        "shadowed",
        "unknown-field",
    ];
    assert_eq!(rules(&["--config", "hooks.yaml"]), expected);
    assert_eq!(rules(&["--massgen-config", "hooks.yaml"]), expected);
}

#[test]
fn lint_sees_missing_scripts_behind_interpreters_and_lists_behind_lists() {
    let ona = ona();
    ona.file("here.py", "");
    let staying = json!({"hook_event_name": "Stop", "command": "exec node gone.js", "persistent": true});
    let exec = json!({"hook_event_name": "Stop", "command": "python3", "args": ["gone.py", "x"]});
    let mut claude = hook("PreToolUse", "Read, Write", "echo once");
    claude["dialect"] = "claude".into();
    let mut narrower = claude.clone();
    narrower["matcher"] = "Write".into();
    with_hooks(
        &ona,
        json!([
            hook("Stop", "", "python3 \"$CLAUDE_PROJECT_DIR/gone.py\" --flag"),
            hook("Stop", "", "python3 $CLAUDE_PROJECT_DIR/here.py"),
            hook("Stop", "", "bash -c 'gone.sh'\r\ntrue"),
            hook("Stop", "", "python3 -m gone"),
            staying,
            exec,
            hook("PreToolUse", "Bash|Write|Edit", "echo twice"),
            hook("PreToolUse", "Write|Bash", "echo twice"),
            hook("PreToolUse", "Write", "echo twice"),
            claude,
            narrower,
        ]),
    );
    let found = json_of(&ona, 1, &["hooks", "lint", "--json"]);
    let found: Vec<_> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["rule"].as_str().unwrap(), one["hook"].as_str().unwrap().split(' ').next().unwrap()))
        .collect();
    // "Write" alone is an expression and fits more than the list.
    let missing = ["0", "4", "5"].map(|hook| ("missing-file", hook));
    let shadowed = ["7", "10"].map(|hook| ("shadowed", hook));
    assert_eq!(found, missing.into_iter().chain(shadowed).collect::<Vec<_>>());
}

#[test]
fn import_keeps_what_a_handler_says_and_names_what_it_can_not() {
    let ona = ona();
    let claude = json!({"hooks": {"PreToolUse": [
        {"matcher": "Bash", "hooks": [
            {"type": "command", "command": "x", "args": ["a"], "if": "Bash(git *)", "async": true, "timeout": 9, "colour": 1},
            {"type": "http", "url": "http://127.0.0.1:1/"}, {"type": "dance"}, {"type": "command"}]},
        {"matcher": ["Bash"], "hooks": [{"type": "command", "command": "everywhere"}]},
        {"command": "flat"}]}});
    ona.file(".claude/settings.json", claude.to_string());
    let ran = ona.run(["hooks", "import", "--from", "claude"]).expect_code(0);
    let kept = json!({"hooks": {"PreToolUse": [{"dialect": "claude", "matcher": "Bash", "hooks": [
        {"type": "command", "command": "x", "args": ["a"], "if": "Bash(git *)", "async": true, "timeout": 9},
        {"type": "http", "url": "http://127.0.0.1:1/"}]}]}});
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), kept);
    for what in
        ["the field \"colour\"", "a dance handler", "a command handler", "whose matcher is not text", "without hooks"]
    {
        assert!(
            ran.stderr.contains(&format!("ona: not imported: {what}")) || ran.stderr.contains(what),
            "{what}: {ran:?}"
        );
    }

    let gemini = json!({"hooksConfig": {"disabled": ["off"]}, "hooks": {"enabled": true, "AfterTool": [
        {"matcher": "read_many_files|replace|my_replace|mcp_git_push", "hooks": [
            {"type": "command", "command": "a", "name": "on", "timeout": 1500}, {"type": "command", "command": "b", "name": "off"}]}]}});
    ona.file(".gemini/settings.json", gemini.to_string());
    let ran = ona.run(["hooks", "import", "--from", "gemini"]).expect_code(0);
    let kept = json!({"hooks": {"PostToolUse": [{"dialect": "claude", "matcher": "read_many_files|Edit|my_replace|mcp_git_push",
        "hooks": [{"type": "command", "command": "a", "name": "on", "timeout": 1.5}]}]}});
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap(), kept);
    for what in [
        "\"read_many_files\" in the matcher",
        "\"my_replace\" in the matcher",
        "that is disabled: off",
        "Bash for run_shell_command",
    ] {
        assert!(ran.stderr.contains(what), "{what}: {ran:?}");
    }
    assert!(!ran.stderr.contains("enabled has no counterpart"), "{ran:?}");
}

#[test]
fn times_are_found_for_hooks_whose_command_is_recorded_without_its_secrets() {
    let ona = ona();
    let command = format!("true sk-{}", "x".repeat(20));
    ona.file("pi.json", json!({"PreToolUse": [{"command": command}]}).to_string());
    with_hooks(&ona, json!([]));
    let flags = ["--hooks-config", "pi.json"];
    ona.eval_with("Bash", json!({"command": "true"}), &flags);
    let listed = json_of(&ona, 0, &["hooks", "list", "--json", "--hooks-config", "pi.json"]);
    assert_eq!(listed["hooks"][0]["runs"]["count"], 1, "{listed}");
}
