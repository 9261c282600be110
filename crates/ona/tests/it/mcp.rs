//! Tools of MCP servers: a real server on stdio and on loopback, through the whole path of a call.

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::{Ona, finish};
use serde_json::{Value, json};
use std::process::Child;

pub(crate) const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp_server.mjs");

/// A server on stdio that writes down what it gets.
pub(crate) fn server(ona: &Ona) -> Value {
    json!({"command": "node", "args": [SERVER], "env": {"LOG": ona.root().join("log")}})
}

/// The effective row with one server and these rules; `more` is laid over it.
pub(crate) fn configure(ona: &Ona, name: &str, permissions: Value, more: Value) {
    let mut settings = json!({
        "permissions": permissions,
        "mcpServers": {name: server(ona)},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ona.settings(settings);
}

/// Everything the server got.
pub(crate) fn log(ona: &Ona) -> Vec<Value> {
    let text = std::fs::read_to_string(ona.root().join("log")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The arguments of the calls it got.
pub(crate) fn called(ona: &Ona) -> Vec<Value> {
    let calls = log(ona).into_iter().filter(|line| line["method"] == "tools/call");
    calls.map(|line| line["params"]["arguments"].clone()).collect()
}

/// A hook that prints this JSON.
fn prints(matcher: &str, output: Value) -> Value {
    let command = format!("cat >/dev/null; echo '{output}'");
    json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}])
}

#[test]
fn every_way_a_call_can_end_has_its_class() {
    let ona = ona();
    let mut slow = server(&ona);
    slow["timeout"] = json!(1000);
    ona.settings(json!({"mcpServers": {"s": server(&ona), "slow": slow}}));
    for (tool, input, content, is_error) in [
        ("mcp__s__echo", json!({"b": {"c": [1]}, "a": "ü"}), r#"{"b":{"c":[1]},"a":"ü"}"#, false),
        ("mcp__s__fail", json!({}), "it went wrong", true),
        ("mcp__s__refuse", json!({}), r#"The MCP server "s" refused: no such thing (code -32602)"#, true),
        (
            "mcp__s__picture",
            json!({}),
            "look\n[image: image/png, 5 bytes]\n[A picture is not shown: it is not a PNG, JPEG, GIF or WebP picture.]",
            false,
        ),
        ("mcp__s__structured", json!({}), r#"{"n":1}"#, false),
        ("mcp__s__nothing", json!({}), "Unknown tool mcp__s__nothing", true),
        ("mcp__slow__hang", json!({}), r#"[SDLC_INTERNAL] MCP server "slow": no answer within 1000 ms"#, true),
        (
            "mcp__s__die",
            json!({}),
            r#"[SDLC_INTERNAL] MCP server "s": the connection was lost: the server ended with exit code 7: about to die"#,
            true,
        ),
        ("mcp__s__echo", json!([1]), "the input must be a JSON object", true),
    ] {
        let result = ona.eval(tool, input);
        assert_eq!((&result["content"], &result["is_error"]), (&json!(content), &json!(is_error)), "{tool}");
    }
    let cancelled = log(&ona).into_iter().any(|line| line["method"] == "notifications/cancelled");
    assert!(cancelled, "a server is told that nobody waits any more");
}

#[test]
fn an_old_server_is_asked_what_it_has_and_a_long_output_is_cut() {
    let mut ona = ona();
    let mut old = server(&ona);
    old["env"]["PROTOCOL"] = json!("2024-11-05");
    ona.settings(json!({"mcpServers": {"old": old}}));
    assert_eq!(ona.eval("mcp__old__say", json!({"text": "still here"}))["content"], "still here");
    assert!(ona.eval("ListMcpResources", json!({}))["content"].as_str().unwrap().contains("test:///a"));
    ona.env("MAX_MCP_OUTPUT_TOKENS", "10");
    let result = ona.eval("mcp__old__big", json!({"size": 1000}));
    let expected = format!("{}\n[cut: 1000 characters in all, the first 40 are shown]", "x".repeat(40));
    assert_eq!(result["content"], json!(expected));
}

#[test]
fn a_hook_replaces_the_output_of_an_mcp_tool_and_of_no_other() {
    let ona = ona();
    let output = json!({"hookSpecificOutput": {"hookEventName": "PostToolUse",
        "updatedMCPToolOutput": [{"type": "text", "text": "other"}, {"type": "text", "text": "words"}]}});
    configure(&ona, "s", json!({"allow": ["mcp__s", "Bash"]}), json!({"hooks": {"PostToolUse": prints("*", output)}}));
    assert_eq!(ona.eval("mcp__s__echo", json!({"a": 1}))["content"], "other\nwords");
    assert_eq!(ona.eval("Bash", json!({"command": "echo as it was"}))["content"], "as it was\n");
    let rows =
        ona.column("SELECT payload_json FROM transcript_entries WHERE entry_type='tool_result' ORDER BY sequence");
    assert!(rows[0].as_str().unwrap().contains("other\\nwords"), "{rows:?}");
    let kept = ona.value(
        r#"SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%\"a\":1%' AND entry_type<>'tool_use'"#,
    );
    assert_eq!(kept, 1, "what the server said is kept beside it");
}

#[test]
fn hooks_see_the_call_and_its_result_like_any_other() {
    let ona = ona();
    let dump = |file: &str| json!([{"matcher": "mcp__s__.*", "hooks": [{"type": "command", "command": format!("cat > {file}")}]}]);
    let hooks = json!({"PreToolUse": dump("pre"), "PostToolUse": dump("post"), "PostToolUseFailure": dump("failure")});
    configure(&ona, "s", json!({}), json!({"hooks": hooks}));
    ona.eval("mcp__s__structured", json!({"x": 1}));
    let seen = |file: &str| serde_json::from_str::<Value>(&ona.read(file)).unwrap();
    assert_eq!(
        (&seen("pre")["tool_name"], &seen("pre")["tool_input"]),
        (&json!("mcp__s__structured"), &json!({"x": 1}))
    );
    let response = json!({"structuredContent": {"n": 1}, "content": "{\"n\":1}", "is_error": false});
    assert_eq!(seen("post")["tool_response"], response);
    ona.eval("mcp__s__fail", json!({}));
    assert_eq!(seen("failure")["error"], "it went wrong");
    let rows = ona.column("SELECT entry_type FROM transcript_entries ORDER BY rowid LIMIT 2");
    assert_eq!(rows, ["tool_use", "tool_result"]);
}

#[test]
fn credentials_of_a_server_reach_it_and_no_row() {
    let mut ona = ona();
    let (file, named) = (format!("file-{}", "s3cret-value"), format!("env-{}", "s3cret-value"));
    ona.env("FROM_ENV", &named).env("ANTHROPIC_API_KEY", "key-of-the-model");
    let mut definition = server(&ona);
    definition["env"]["A_TOKEN"] = json!(file);
    definition["env"]["B_KEY"] = json!("${FROM_ENV}");
    definition["env"]["PLAIN"] = json!("${NOT_SET:-otherwise}");
    ona.home_file(
        ".ona/settings.json",
        json!({"mcpServers": {"s": definition}, "permissions": {"allow": ["mcp__s"]}}).to_string(),
    );
    let shown = ona.eval("mcp__s__env", json!({}));
    let env = shown["content"].as_str().unwrap();
    assert!(env.contains("[REDACTED:A_TOKEN]") && env.contains("[REDACTED:B_KEY]"), "the server has them: {env}");
    assert!(env.contains(r#""PLAIN":"otherwise""#) && env.contains("AGENT_SDLC_DB"), "{env}");
    assert!(!env.contains("ANTHROPIC_API_KEY"), "the model's own credential must not reach a server");
    let dump = ona.shell(
        "for t in $(sqlite3 \"$AGENT_SDLC_DB\" .tables); do sqlite3 \"$AGENT_SDLC_DB\" \"select * from $t\"; done",
    );
    assert!(dump.stdout.contains("mcp__s__env"));
    assert!(!dump.stdout.contains("s3cret-value"), "{}", dump.stdout);
}

#[test]
fn a_server_of_the_folder_can_be_switched_off_and_never_replaces_the_operators() {
    let ona = ona();
    let mine = json!({"command": "sh", "args": ["-c", "touch theirs"]});
    ona.file(".mcp.json", json!({"mcpServers": {"s": mine, "off": mine}}).to_string());
    ona.settings(json!({"mcpServers": {"s": server(&ona)}, "disabledMcpjsonServers": ["off"]}));
    assert_eq!(ona.eval("mcp__s__echo", json!({}))["is_error"], false);
    assert_eq!(ona.eval("mcp__off__x", json!({}))["content"], "Unknown tool mcp__off__x");
    assert!(!ona.exists("theirs"));
    let listed = ona.run(["mcp", "list", "--json"]).expect_code(0).json();
    let states: Vec<_> =
        listed.as_array().unwrap().iter().map(|one| (one["name"].clone(), one["status"].clone())).collect();
    assert_eq!(states, [(json!("s"), json!("configured")), (json!("off"), json!("disabled"))]);
}

#[test]
fn the_command_line_names_servers_and_policy_still_counts() {
    let ona = ona();
    let flag =
        json!({"mcpServers": {"s": server(&ona), "bad": {"url": "http://x"}, "denied": server(&ona)}}).to_string();
    ona.file("servers.json", &flag);
    std::fs::write(ona.root().join("managed-settings.json"), r#"{"deniedMcpServers":[{"serverName":"denied"}]}"#)
        .unwrap();
    for config in ["servers.json", flag.as_str()] {
        let call = |tool: &str| json!({"tool": tool, "input": {}}).to_string();
        let ran = ona.run(["--eval", &call("mcp__s__echo"), "--mcp-config", config]).expect_code(0);
        assert_eq!(ran.json()["is_error"], false, "{ran:?}");
        assert!(
            ran.stderr.contains(
                r#"the MCP server "bad" (--mcp-config) is left out: a server with a `url` needs a `type`; use http"#
            ),
            "{ran:?}"
        );
        let ran = ona.run(["--eval", &call("mcp__denied__echo"), "--mcp-config", config]).expect_code(0);
        assert_eq!(ran.json()["content"], "Unknown tool mcp__denied__echo");
        assert!(ran.stderr.contains("deniedMcpServers"), "{ran:?}");
    }
    ona.settings(json!({"mcpServers": {"row": server(&ona)}}));
    let call = json!({"tool": "mcp__row__echo", "input": {}}).to_string();
    assert_eq!(ona.run(["--eval", &call]).json()["is_error"], false);
    let strict = ona.run(["--eval", &call, "--strict-mcp-config", "--mcp-config", &flag]).expect_code(0);
    assert_eq!(strict.json()["content"], "Unknown tool mcp__row__echo");
    ona.run(["--eval", &call, "--mcp-config", "nowhere.json"]).expect_code(2);
    ona.run(["--eval", &call, "--mcp-config", "{"]).expect_code(2);
}

#[test]
fn a_tool_that_appears_later_is_offered_from_then_on() {
    let mut ona = ona();
    let script = [call("mcp__s__grow", json!({})), call("mcp__s__late", json!({})), say("done")];
    let model = ona.model(Wire::Messages, script);
    configure(&ona, "s", json!({"allow": ["mcp__s"]}), json!({}));
    ona.run(["-p", "go"]).expect_code(0);
    let late = "mcp__s__late".to_owned();
    assert!(!model.request(0).tool_names().contains(&late) && model.request(1).tool_names().contains(&late));
    assert!(model.request(2).last_message().contains("here I am"));
}

#[test]
fn without_servers_nothing_of_them_is_asked() {
    let mut ona = ona();
    let model = ona.model(Wire::Messages, [say("done")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(!model.request(0).tool_names().iter().any(|name| name.starts_with("mcp__")));
    assert_eq!(ona.eval("ListMcpResources", json!({}))["content"], "[]");
    assert_eq!(ona.eval("ReadMcpResource", json!({"server": "s", "uri": "u"}))["is_error"], true);
    // With one, it is known by its name and by its slug.
    configure(&ona, "My Server", json!({"allow": ["ReadMcpResource"]}), json!({}));
    let read =
        |server: &str| ona.eval("ReadMcpResource", json!({"server": server, "uri": "test:///a"}))["content"].clone();
    assert_eq!((read("My Server"), read("my_server")), (json!("text of a"), json!("text of a")));
    assert_eq!(read("other"), r#"MCP server "other" does not exist; the servers are My Server."#);
}

/// A server on loopback, ended with the test.
struct Http(Child, String);

impl Http {
    fn start(ona: &Ona, wanted: Option<&str>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a test starts the server")]
        let mut node = std::process::Command::new("node");
        node.args([SERVER, "--http"]).arg(ona.project().join("port")).env("LOG", ona.root().join("log"));
        if let Some(wanted) = wanted {
            node.env("WANTED", wanted);
        }
        let mut child = node.spawn().expect("node starts");
        ona.wait_for("port", &mut child);
        let url = format!("http://127.0.0.1:{}/mcp", ona.read("port"));
        Self(child, url)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_server_may_be_an_address_with_headers() {
    let mut ona = ona();
    ona.env("HTTP_TOKEN", "http-s3cret-value");
    let http = Http::start(&ona, Some("Bearer http-s3cret-value"));
    let definition =
        |headers: Value| json!({"mcpServers": {"web": {"type": "http", "url": http.1, "headers": headers}}});
    ona.settings(definition(json!({"Authorization": "Bearer ${HTTP_TOKEN}"})));
    let result = ona.eval("mcp__web__echo", json!({"a": 1}));
    assert_eq!((&result["content"], &result["is_error"]), (&json!(r#"{"a":1}"#), &json!(false)));
    assert_eq!(ona.eval("mcp__web__fail", json!({}))["content"], "it went wrong");
    assert_eq!(ona.eval("mcp__web__say", json!({"text": "http-s3cret-value"}))["content"], "[REDACTED:Authorization]");
    let sessions = log(&ona).into_iter().filter(|line| line["headers"]["mcp-session-id"] == "one").count();
    assert!(sessions > 3, "the server's session is kept");
    ona.settings(definition(json!({})));
    let refused = ona.eval("mcp__web__echo", json!({}));
    assert!(refused["content"].as_str().unwrap().contains("asks for a login"), "{refused}");
    ona.settings(json!({"mcpServers": {"web": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}));
    let nobody = ona.eval("mcp__web__echo", json!({}));
    assert!(nobody["content"].as_str().unwrap().starts_with("[SDLC_INTERNAL] MCP server"), "{nobody}");
}

#[test]
fn an_interrupt_ends_a_call_that_hangs_and_the_server_with_it() {
    let ona = ona();
    configure(
        &ona,
        "s",
        json!({}),
        json!({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command", "command": "touch begun"}]}]}}),
    );
    let call = json!({"tool": "mcp__s__hang", "input": {}}).to_string();
    let mut child = ona.command(["--eval", &call]).spawn().unwrap();
    ona.wait_for("begun", &mut child);
    while called(&ona).is_empty() {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(finish(child, b"").code, 130);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result'"), 1);
}

#[test]
fn a_hook_may_be_a_tool_of_a_server() {
    let ona = ona();
    let verdict = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"${tool_input.command} is not for you"}}"#;
    let hook = |tool: &str, text: &str| {
        json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "mcp_tool", "server": "s", "tool": tool, "input": {"text": text}}]}]}})
    };
    let row =
        |ona: &Ona| ona.rows("SELECT command, exit_code FROM hook_invocations ORDER BY id DESC LIMIT 1").remove(0);
    let bash = |ona: &Ona| ona.eval("Bash", json!({"command": "echo hi"}));

    configure(&ona, "s", json!({"allow": ["Bash"]}), hook("say", verdict));
    let denied = bash(&ona);
    assert!(
        denied["is_error"] == true && denied["content"].as_str().unwrap().contains("echo hi is not for you"),
        "{denied}"
    );
    assert_eq!(row(&ona), [json!("mcp_tool s/say"), json!(2)]);
    let fixture = json!({"event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "echo hi"}},
        "expect": {"decision": "deny", "message": "echo hi is not for you"}});
    ona.file("fixture.json", fixture.to_string());
    ona.run(["hooks", "test", "fixture.json"]).expect_code(0);

    configure(&ona, "s", json!({"allow": ["Bash"]}), hook("say", "fine with me"));
    assert_eq!(bash(&ona)["content"], "hi\n");
    assert_eq!(row(&ona), [json!("mcp_tool s/say"), json!(0)]);
    for tool in ["fail", "refuse", "die"] {
        configure(&ona, "s", json!({"allow": ["Bash"]}), hook(tool, "x"));
        assert_eq!(bash(&ona)["content"], "hi\n", "{tool}: a hook that fails decides nothing");
        assert_eq!(row(&ona), [json!(format!("mcp_tool s/{tool}")), Value::Null]);
    }
    ona.run(["hooks", "lint"]).expect_code(0);
    let mut elsewhere = hook("say", "x");
    elsewhere["hooks"]["PreToolUse"][0]["hooks"][0]["server"] = json!("nowhere");
    configure(&ona, "s", json!({"allow": ["Bash"]}), elsewhere);
    assert_eq!(bash(&ona)["content"], "hi\n");
    let lint = ona.run(["hooks", "lint", "--json"]).expect_code(1).json();
    assert_eq!(
        (&lint[0]["rule"], &lint[0]["message"]),
        (&json!("missing-server"), &json!("unknown MCP server nowhere"))
    );
}

#[test]
fn a_server_that_does_not_end_is_ended_with_what_it_started() {
    let ona = ona();
    let stubborn = format!(
        "trap '' TERM; sleep 1000 & echo $! > {}; exec 3<&0; node {SERVER} <&3 & wait; sleep 1000",
        ona.project().join("pid").display()
    );
    ona.settings(json!({"mcpServers": {"s": {"command": "bash", "args": ["-c", stubborn]}}}));
    assert_eq!(ona.eval("mcp__s__say", json!({"text": "hi"}))["content"], "hi");
    let pid: i32 = ona.read("pid").trim().parse().unwrap();
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn a_subagent_has_the_tools_its_definition_grants() {
    let mut ona = ona();
    let task = |kind: &str| call("Agent", json!({"description": "d", "prompt": "p", "subagent_type": kind}));
    let script = [
        task("all"),
        call("mcp__s__say", json!({"text": "from below"})),
        say("up"),
        task("one"),
        say("up"),
        say("done"),
    ];
    let model = ona.model(Wire::Messages, script);
    configure(&ona, "s", json!({"allow": ["Agent", "mcp__s"]}), json!({}));
    let agents = json!({"all": {"description": "d", "prompt": "p"},
        "one": {"description": "d", "prompt": "p", "tools": ["mcp__s__*"], "disallowedTools": ["mcp__s__hang"]}});
    ona.run(["-p", "go", "--agents", &agents.to_string()]).expect_code(0);
    assert!(model.request(1).tool_names().contains(&"mcp__s__say".to_owned()));
    assert!(model.request(2).last_message().contains("from below"));
    let of_one = model.request(4).tool_names();
    assert!(of_one.len() == 12 && of_one.iter().all(|name| name.starts_with("mcp__s__")), "{of_one:?}");
}

#[test]
fn what_is_wrong_with_a_server_is_a_finding() {
    let ona = ona();
    ona.settings(json!({"mcpServers": {"a": {"command": "no-such-program-here"}, "b": {"type": "ws", "url": "http://x"}, "ok": server(&ona)}}));
    let report = ona.run(["doctor", "--json"]).expect_code(1).json();
    let problems = report["problems"].to_string();
    assert!(
        problems.contains("no-such-program-here") && problems.contains("must begin with ws:// or wss://"),
        "{problems}"
    );
    assert_eq!(report["mcp"]["call_timeout_ms"], 120_000);
    let got = ona.run(["mcp", "get", "ok", "--json"]).expect_code(0).json();
    assert_eq!(
        (&got["transport"], &got["env"], &got["tools"]),
        (&json!("stdio"), &json!(["LOG"]), &json!("mcp__ok__*"))
    );
    ona.run(["mcp", "get", "nope"]).expect_code(2);
}

#[test]
fn a_list_that_never_ends_is_cut_off_and_its_tools_work() {
    let ona = ona();
    let mut endless = server(&ona);
    endless["env"]["ENDLESS"] = json!("1");
    configure(&ona, "s", json!({"allow": ["mcp__s"]}), json!({"mcpServers": {"s": endless}}));
    assert_eq!(ona.eval("mcp__s__echo", json!({"a": 1}))["content"], "{\"a\":1}");
    assert_eq!(log(&ona).iter().filter(|line| line["method"] == "tools/list").count(), 1000);
}
