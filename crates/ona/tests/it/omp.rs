//! Hook modules of oh-my-pi, from outside. Tests name the scenarios they show (docs/SPECIFICATION.md).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, calls, say};
use serde_json::{Value, json};

/// A project in which tools run without asking.
pub(crate) fn project() -> Ona {
    let ona = ona();
    let allow = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "mcp__*"];
    ona.settings(json!({
        "permissions": {"allow": allow},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    ona
}

/// A module from the body of its factory.
pub(crate) fn module(ona: &Ona, name: &str, body: &str) {
    let head = "import { appendFileSync } from 'node:fs';\nconst log = (line: unknown) => appendFileSync('log', JSON.stringify(line) + '\\n');\n";
    ona.file(name, format!("{head}export default function (pi: any) {{\n{body}\n}}"));
}

pub(crate) fn logged(ona: &Ona) -> Vec<Value> {
    if !ona.exists("log") {
        return Vec::new();
    }
    ona.read("log").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn bash(ona: &Ona, command: &str, flags: &[&str]) -> Value {
    ona.eval_with("Bash", json!({ "command": command }), flags)
}

const FIRST_EXAMPLE: &str = r#"import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function hook(pi: HookAPI): void {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName === "bash" && String(event.input.command ?? "").includes("rm -rf")) {
			return { block: true, reason: "blocked by policy" };
		}
	});
}
"#;

/// OM-24, OM-X12, 003-5-07.
#[test]
fn the_input_is_a_copy_with_both_spellings() {
    let ona = project();
    module(
        &ona,
        "mutate.ts",
        r#"
        pi.on("tool_call", (event) => { log([event.toolName, event.input.path === event.input.file_path, event.input.content]); event.input.content = "changed"; event.input.command = "echo changed"; });
    "#,
    );
    ona.eval_with("Write", json!({"file_path": "w.txt", "content": "mine"}), &["--hook", "mutate.ts"]);
    assert_eq!(ona.read("w.txt"), "mine");
    assert_eq!(logged(&ona), [json!(["write", true, "mine"])]);
    assert_eq!(bash(&ona, "echo mine", &["--hook", "mutate.ts"])["content"], "mine\n");
}

/// DEC-187: modules see what the model wrote, under both spellings, and where it leads.
#[test]
fn paths_are_as_they_were_written_and_resolved_beside() {
    let ona = project();
    ona.file("src/a.txt", "a\n");
    module(
        &ona,
        "paths.ts",
        r#"
        for (const name of ["tool_call", "tool_result"]) {
            pi.on(name, (event) => log([name, event.input.path, event.input.file_path, event.resolvedPath]));
        }
    "#,
    );
    let said = ona.eval_with("Read", json!({"file_path": "src/../src/a.txt"}), &["--hook", "paths.ts"]);
    assert_eq!(said["is_error"], false, "{said}");
    let (written, resolved) = ("src/../src/a.txt", ona.project().join("src/a.txt"));
    let line = |name: &str| json!([name, written, written, resolved]);
    assert_eq!(logged(&ona), [line("tool_call"), line("tool_result")]);
    bash(&ona, "true", &["--hook", "paths.ts"]);
    assert_eq!(logged(&ona)[2], json!(["tool_call", null, null, null]), "a command is not a path");

    // What a hook before leaves is what a module sees, relative or not; others see absolute paths.
    ona.file("src/b.txt", "b\n");
    std::fs::remove_file(ona.project().join("log")).unwrap();
    let changed = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {"file_path": "./src/b.txt"}}});
    ona.settings(json!({"hooks": [
        {"hook_event_name": "PreToolUse", "command": format!("cat > first; echo '{changed}'"), "shell": "sh"},
        {"hook_event_name": "PostToolUse", "command": "cat > after", "shell": "sh"},
    ]}));
    let said = ona.eval_with("Read", json!({"file_path": "src/a.txt"}), &["--hook", "paths.ts"]);
    assert!(said["content"].as_str().unwrap().contains('b'), "{said}");
    let (written, resolved) = ("./src/b.txt", ona.project().join("src/b.txt"));
    let line = |name: &str| json!([name, written, written, resolved]);
    assert_eq!(logged(&ona), [line("tool_call"), line("tool_result")]);
    let told = |file: &str| serde_json::from_str::<Value>(&ona.read(file)).unwrap()["tool_input"]["file_path"].clone();
    assert_eq!((told("first"), told("after")), (json!(ona.project().join("src/a.txt")), json!(resolved)));
}

/// OM-1, OM-4, OM-5, OM-25, OM-26, OM-27, 003-3-*, 003-6-01, 003-6-02.
#[test]
fn modules_load_in_the_documented_order_each_file_once() {
    let ona = project();
    let named = |path: &str, name: &str| {
        let text = format!(
            "import {{ appendFileSync }} from 'fs'; export default async (pi) => {{ await null; pi.on('tool_call', async () => {{ await new Promise((done) => setTimeout(done, 2)); appendFileSync('log', '\"{name}1\"\\n'); }}); pi.on('tool_call', () => appendFileSync('log', '\"{name}2\"\\n')); }};"
        );
        ona.file(path, text);
    };
    named(".omp/hooks/pre/b.ts", "project-b");
    named(".omp/hooks/pre/a.js", "project-a");
    named(".omp/hooks/post/z.mjs", "project-post");
    named(".claude/hooks/pre/b.ts", "hidden");
    named(".claude/hooks/pre/c.ts", "claude-c");
    named("h.ts", "hook");
    named("sub/e.ts", "extension");
    named("set.ts", "setting");
    ona.home_file(".omp/agent/hooks/pre/b.ts", "export default (pi) => { throw new Error('hidden by the project'); };");
    ona.home_file(".omp/agent/hooks/pre/u.ts", "import { appendFileSync } from 'fs'; export default (pi) => { pi.on('tool_call', () => appendFileSync('log', '\"user\"\\n')); };");
    std::fs::copy(ona.project().join("h.ts"), ona.home().join("home.ts")).unwrap();
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hookModules": ["set.ts", "./h.ts"]}));
    let absolute = ona.project().join(".omp/hooks/pre/a.js").to_string_lossy().into_owned();
    let flags = ["--hook", "h.ts", "--hook", &absolute, "-e", "sub/../sub/e.ts", "--hook", "~/home.ts"];
    for _ in 0..2 {
        std::fs::write(ona.project().join("log"), "").unwrap();
        bash(&ona, "true", &flags);
        let order = logged(&ona);
        let expected = [
            "project-a1",
            "project-a2",
            "project-b1",
            "project-b2",
            "project-post1",
            "project-post2",
            "user",
            "claude-c1",
            "claude-c2",
            "extension1",
            "extension2",
            "hook1",
            "hook2",
            "hook1",
            "hook2",
            "setting1",
            "setting2",
        ];
        assert_eq!(order, expected.map(|name| json!(name)));
    }
}

/// The agent cannot change what guards it.
#[test]
fn the_agent_may_not_write_modules() {
    let ona = project();
    ona.file("guard.ts", FIRST_EXAMPLE);
    for path in ["guard.ts", ".omp/hooks/pre/new.ts"] {
        let said = ona.eval_with("Write", json!({"file_path": path, "content": "x"}), &["--hook", "guard.ts"]);
        assert_eq!(said["is_error"], true, "{path}: {said}");
    }
}

const AROUND: &str = r#"
    for (const event of ["session_start", "session_shutdown", "agent_start", "agent_end", "turn_start", "turn_end", "before_agent_start", "context", "tool_call", "tool_result"]) {
        pi.on(event, (payload, ctx) => {
            const { messages, message, toolResults, timestamp, content, details, input, toolCallId, ...rest } = payload;
            log({ ...rest, ...(messages ? { roles: messages.map((one) => one.role) } : {}), ...(toolResults ? { results: toolResults.map((one) => one.toolName), said: message.role } : {}) });
        });
    }
"#;

/// OM-14, 003-4-01, 003-4-09: one prompt with two tool calls.
#[test]
fn events_come_in_the_order_of_the_document() {
    let mut ona = project();
    module(&ona, "around.ts", AROUND);
    let script = [calls([("Bash", json!({"command": "echo 1"})), ("Bash", json!({"command": "echo 2"}))]), say("done")];
    let _server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go", "--hook", "around.ts"]).expect_code(0);
    let tool = |event: &str| match event {
        "tool_call" => json!({"type": "tool_call", "toolName": "bash"}),
        _ => json!({"type": "tool_result", "toolName": "bash", "isError": false}),
    };
    assert_eq!(
        logged(&ona),
        [
            json!({"type": "session_start"}),
            json!({"type": "before_agent_start", "prompt": "go"}),
            json!({"type": "agent_start"}),
            json!({"type": "turn_start", "turnIndex": 0}),
            json!({"type": "context", "roles": ["user"]}),
            tool("tool_call"),
            tool("tool_result"),
            tool("tool_call"),
            tool("tool_result"),
            json!({"type": "turn_end", "turnIndex": 0, "results": ["bash", "bash"], "said": "assistant"}),
            json!({"type": "turn_start", "turnIndex": 1}),
            json!({"type": "context", "roles": ["user", "assistant", "toolResult", "toolResult"]}),
            json!({"type": "turn_end", "turnIndex": 1, "results": [], "said": "assistant"}),
            json!({"type": "agent_end", "roles": ["user", "assistant", "toolResult", "toolResult", "assistant"]}),
            json!({"type": "session_shutdown"}),
        ]
    );
    let events =
        ona.column("SELECT json_extract(detail,'$.event') FROM events WHERE event_type='omp_event' ORDER BY id");
    assert_eq!(events.len(), 11, "{events:?}");
    // The closed set of hook events stays closed.
    assert_eq!(
        ona.column("SELECT DISTINCT hook_event FROM hook_invocations ORDER BY 1"),
        ["PostToolUse", "PreToolUse"]
    );
}

/// OM-X3, OM-X4: when a message is delivered and what it sets in motion.
#[test]
fn messages_are_delivered_at_the_boundary_they_ask_for() {
    let mut ona = project();
    module(
        &ona,
        "send.ts",
        r#"
        let sent = 0;
        pi.on("tool_result", () => {
            pi.sendMessage({ customType: "a", content: "AT THE END", display: true }, { deliverAs: "followUp" });
            pi.sendMessage({ customType: "a", content: "STEER", display: true });
        });
        pi.on("agent_end", () => { if (sent++ === 0) pi.sendMessage({ customType: "a", content: "ONCE MORE", display: true }, true); });
    "#,
    );
    let script = [call("Bash", json!({"command": "echo 1"})), say("one"), say("two"), say("three")];
    let server = ona.model(Wire::Messages, script);
    let ran = ona.run(["-p", "go", "--hook", "send.ts"]).expect_code(0);
    assert_eq!(ran.stdout, "three\n");
    let body = |index| String::from_utf8_lossy(&server.request(index).body).into_owned();
    let holds = |index: usize| ["STEER", "AT THE END", "ONCE MORE"].map(|text| body(index).contains(text));
    assert_eq!([0, 1, 2, 3].map(holds), [[false; 3], [true, false, false], [true, true, false], [true, true, true]]);
    assert!(server.requests().iter().all(|request| !request.overlapped));
}

/// 003-2-03, 003-2-04, 003-2-07: the session as modules read it.
#[test]
fn a_module_reads_the_session_and_runs_programs() {
    let mut ona = project();
    module(
        &ona,
        "read.ts",
        r#"
        pi.on("tool_result", async (event, ctx) => {
            const s = ctx.sessionManager;
            const run = await pi.exec("sh", ["-c", "echo $1 >&2; exit 3", "sh", "a b"]);
            log([s.getSessionId(), s.getSessionFile(), s.getEntries().map((one) => [one.type, one.message?.role]), s.getBranch().length, /^[0-9a-f]{8}$/.test(s.getLeafId()), s.getLeafEntry().parentId === s.getEntries().at(-2).id, ctx.isIdle(), ctx.model.id.length > 0, run]);
        });
    "#,
    );
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "echo 1"})), say("done")]);
    ona.run(["-p", "go", "--session-id", "s-1", "--hook", "read.ts"]).expect_code(0);
    let entries = json!([["message", "user"], ["message", "assistant"]]);
    assert_eq!(
        logged(&ona),
        [
            json!(["s-1", "s-1", entries, 2, true, true, false, true, {"stdout": "", "stderr": "a b\n", "code": 3, "killed": false}])
        ]
    );
}

/// OM-X3 from a command: a message that asks for a turn gets one.
#[test]
fn a_command_may_start_a_turn_and_may_fail() {
    let mut ona = project();
    module(
        &ona,
        "cmd.ts",
        r#"
        pi.registerCommand("ask", { handler: (args) => pi.sendMessage({ customType: "ask", content: "asked: " + args, display: true }, { triggerTurn: true }) });
        pi.registerCommand("note", { handler: (args) => pi.sendMessage({ customType: "note", content: "noted", display: true }) });
        pi.registerCommand("bad", { handler: () => { throw new Error("it broke"); } });
    "#,
    );
    let server = ona.model(Wire::Messages, [say("answer")]);
    let ran = ona.run(["-p", "/ask two words", "--hook", "cmd.ts"]).expect_code(0);
    assert_eq!(ran.stdout, "answer\n");
    assert!(server.request(0).last_message().contains("asked: two words"));
    ona.run(["-p", "/note", "--hook", "cmd.ts"]).expect_code(0);
    assert_eq!(server.requests().len(), 1);
    let ran = ona.run(["-p", "/bad", "--hook", "cmd.ts"]).expect_code(1);
    assert!(ran.stderr.contains("it broke"), "{}", ran.stderr);
}

/// OM-9 with `/clear`: a module may keep the session; otherwise it hears of the change.
#[test]
fn clear_asks_modules_first() {
    let mut ona = project();
    module(
        &ona,
        "hear.ts",
        "for (const name of ['session_start', 'session_before_switch', 'session_switch', 'session_shutdown']) pi.on(name, ({ type, reason, previousSessionFile }, ctx) => log([type, reason, previousSessionFile, ctx.sessionManager.getSessionId() === 's']));",
    );
    module(&ona, "no.ts", "pi.on('session_before_switch', (event) => ({ cancel: event.reason === 'new' }));");
    let _server = ona.model(Wire::Messages, []);
    ona.run(["-p", "/clear", "--session-id", "s", "--hook", "hear.ts"]).expect_code(0);
    let clean = |rows: Vec<Value>| rows.into_iter().map(|row| row.to_string()).collect::<Vec<_>>();
    assert_eq!(
        clean(logged(&ona)),
        [
            r#"["session_start",null,null,true]"#,
            r#"["session_before_switch","new",null,true]"#,
            r#"["session_switch","new","s",false]"#,
            r#"["session_shutdown",null,null,false]"#
        ]
    );
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 2);
    let ran = ona.run(["-p", "/clear", "-r", "s", "--hook", "no.ts"]).expect_code(1);
    assert!(ran.stderr.contains("A hook module cancelled /clear; the session goes on."), "{}", ran.stderr);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 2);
}

fn small_window(ona: &Ona) {
    ona.file("long.txt", "a line that is long enough to fill a window soon\n".repeat(1500));
    ona.settings(json!({
        "permissions": {"allow": ["Read"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "autoCompactWindow": 8000,
    }));
}

/// OM-6, OM-7, OM-X1, OM-X9, 003-3-05, 003-8-01.
#[test]
fn what_can_not_be_loaded_is_told_and_stops_nothing() {
    let mut ona = project();
    ona.file(".omp/hooks/pre/guard.sh", "touch ran-it");
    ona.file("syntax.ts", "export default function ( {");
    ona.file("none.ts", "export const x = 1;");
    ona.file("object.ts", "export default { on() {} };");
    ona.file("early.ts", "export default (pi) => pi.sendMessage({});");
    ona.file("npm.ts", "import pad from 'left-pad'; export default (pi) => pad(pi);");
    ona.file("good.ts", FIRST_EXAMPLE);
    let files = ["syntax.ts", "none.ts", "object.ts", "missing.ts", "early.ts", "npm.ts", "scheme://x", "good.ts"];
    let flags: Vec<_> = files.iter().flat_map(|file| ["--hook", file]).collect();
    ona.env("ONA_JS_RUNTIME", "embedded");
    let said = bash(&ona, "rm -rf x", &flags);
    assert_eq!(said["content"], "Denied by PreToolUse hook\nblocked by policy");
    assert!(!ona.exists("ran-it"));
    let errors = ona.rows("SELECT json_extract(detail,'$.path'), json_extract(detail,'$.error') FROM events WHERE event_type='dialect_load_error' ORDER BY id");
    let error = |ending: &str| {
        let row = errors
            .iter()
            .find(|row| row[0].as_str().unwrap().ends_with(ending))
            .unwrap_or_else(|| panic!("{ending}: {errors:?}"));
        row[1].as_str().unwrap().to_owned()
    };
    assert!(error("guard.sh").contains("is not a JavaScript or TypeScript module"));
    assert!(error("syntax.ts").starts_with("Failed to load hook: "));
    assert_eq!(error("none.ts"), "Hook must export a default function");
    assert_eq!(error("object.ts"), "Hook must export a default function");
    assert!(error("missing.ts").starts_with("Failed to load hook: Cannot find module"));
    assert_eq!(error("early.ts"), "Failed to load hook: sendMessage handler not initialized");
    assert_eq!(error("npm.ts"), "Failed to load hook: it imports left-pad, which the embedded engine does not have");
    assert_eq!(errors.len(), 8, "{errors:?}");
}

/// OM-11, OM-12, OM-33, 003-4-04, 003-4-05, 003-6-08.
#[test]
fn modules_shape_a_compaction() {
    let read = || call("Read", json!({"file_path": "long.txt"}));
    // Words for the summary request, and what is kept with it.
    let mut one = ona();
    small_window(&one);
    module(
        &one,
        "c.ts",
        r#"
        pi.on("session.compacting", () => ({ prompt: "NOT THIS" }));
        pi.on("session.compacting", (event) => ({ context: ["mind the " + event.messages.length + " messages"], preserveData: { kept: 1 } }));
        for (const name of ["session_before_compact", "session_compact", "auto_compaction_start", "auto_compaction_end"]) pi.on(name, (event) => { log([event.type, event.fromExtension, event.fromHook, event.signal?.aborted, event.preparation?.fileOps?.read instanceof Set]); });
    "#,
    );
    let server = one.model(Wire::Messages, [read(), say("SUMMARY"), say("done")]);
    one.run(["-p", "go", "--hook", "c.ts"]).expect_code(0);
    let asked = server.request(1).last_message();
    assert!(asked.contains("mind the 3 messages") && !asked.contains("NOT THIS"), "{asked}");
    assert_eq!(
        logged(&one),
        [
            json!(["auto_compaction_start", null, null, null, false]),
            json!(["session_before_compact", null, null, false, true]),
            json!(["session_compact", false, false, null, false]),
            json!(["auto_compaction_end", null, null, null, false]),
        ]
    );
    assert_eq!(one.value("SELECT json_extract(payload_json,'$.preserve_data.kept') FROM transcript_entries WHERE entry_type='collapse_commit'"), 1);

    // A summary of their own: no model is asked for one.
    let mut two = ona();
    small_window(&two);
    module(
        &two,
        "c.ts",
        r#"
        pi.on("session_before_compact", (event) => ({ compaction: { summary: "OWN SUMMARY", firstKeptEntryId: event.preparation.firstKeptEntryId, tokensBefore: event.preparation.tokensBefore } }));
        pi.on("session.compacting", () => log("not reached"));
        pi.on("session_compact", (event) => log([event.fromExtension, event.compactionEntry.summary]));
    "#,
    );
    let server = two.model(Wire::Messages, [read(), say("done")]);
    two.run(["-p", "go", "--hook", "c.ts"]).expect_code(0);
    assert!(String::from_utf8_lossy(&server.request(1).body).contains("OWN SUMMARY"));
    assert_eq!(logged(&two), [json!([true, "OWN SUMMARY"])]);

    // No compaction at all.
    let mut three = ona();
    small_window(&three);
    module(
        &three,
        "c.ts",
        "pi.on('session_before_compact', () => ({ cancel: true })); pi.on('session_before_compact', () => log('not reached'));",
    );
    let _server = three.model(Wire::Messages, [read(), say("done")]);
    three.run(["-p", "go", "--hook", "c.ts"]).expect_code(0);
    assert_eq!(three.value("SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'"), 0);
    assert!(logged(&three).is_empty());
}

/// OM-10, OM-13, OM-32, 003-4-03, 003-4-06: commands that go back in a session or branch off it.
#[test]
fn commands_branch_and_go_back_as_modules_allow() {
    let mut ona = project();
    let commands = r#"
        const first = (ctx) => ctx.sessionManager.getEntries()[1].id;
        pi.registerCommand("split", { handler: async (args, ctx) => log(await ctx.branch(first(ctx))) });
        pi.registerCommand("back", { handler: async (args, ctx) => log(await ctx.navigateTree(first(ctx), { summarize: args === "summary" })) });
        for (const name of ["session_branch", "session_tree"]) pi.on(name, ({ type, previousSessionFile, fromExtension, summaryEntry }) => log({ type, previousSessionFile, fromExtension, content: summaryEntry?.content }));
    "#;
    module(&ona, "cmd.ts", commands);
    module(&ona, "stay.ts", "pi.on('session_before_branch', () => ({ skipConversationRestore: true }));");
    module(&ona, "wipe.ts", "pi.on('session_before_branch', () => ({ cancel: false }));");
    module(
        &ona,
        "no.ts",
        "for (const name of ['session_before_branch', 'session_before_tree']) pi.on(name, () => ({ cancel: true }));",
    );
    module(
        &ona,
        "sum.ts",
        "pi.on('session_before_tree', (event) => ({ summary: { summary: 'LEFT ' + event.preparation.entriesToSummarize.length, details: { n: 1 } } }));",
    );
    let server = ona.model(Wire::Messages, [say("reply one"), say("reply two")]);
    ona.run(["-p", "prompt one", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "prompt two", "-r", "s"]).expect_code(0);
    assert_eq!(server.requests().len(), 2);
    let newest = |ona: &Ona| {
        ona.value("SELECT session_id FROM sessions ORDER BY rowid DESC LIMIT 1").as_str().unwrap().to_owned()
    };
    let told = |ona: &mut Ona, session: &str| {
        let server = ona.model(Wire::Messages, [say("ok")]);
        ona.run(["-p", "prompt three", "-r", session]).expect_code(0);
        let body = String::from_utf8_lossy(&server.request(0).body).into_owned();
        ["prompt one", "prompt two", "LEFT 2"].map(|text| body.contains(text))
    };

    // Nobody objects: the branch goes on from the first reply.
    ona.run(["-p", "/split", "-r", "s", "--hook", "cmd.ts"]).expect_code(0);
    let branch = newest(&ona);
    assert_ne!(branch, "s");
    assert_eq!(
        logged(&ona),
        [json!({"type": "session_branch", "previousSessionFile": "s"}), json!({"cancelled": false})]
    );
    assert_eq!(told(&mut ona, &branch), [true, false, false]);
    // The conversation is not taken back; then a later result takes that away again.
    for (flags, two) in [(vec!["--hook", "stay.ts"], true), (vec!["--hook", "stay.ts", "--hook", "wipe.ts"], false)] {
        let args = ["-p", "/split", "-r", "s", "--hook", "cmd.ts"].into_iter().chain(flags);
        ona.run(args).expect_code(0);
        let branch = newest(&ona);
        assert_eq!(told(&mut ona, &branch), [true, two, false]);
    }
    // Refused.
    std::fs::write(ona.project().join("log"), "").unwrap();
    let before = ona.value("SELECT count(*) FROM sessions");
    for command in ["/split", "/back"] {
        ona.run(["-p", command, "-r", "s", "--hook", "cmd.ts", "--hook", "no.ts"]).expect_code(0);
    }
    assert_eq!(logged(&ona), [json!({"cancelled": true}), json!({"cancelled": true})]);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), before);
    assert_eq!(
        ona.value("SELECT count(*) FROM transcript_entries WHERE session_id='s' AND payload_json LIKE '%rewound%'"),
        0
    );
    // In place, with a summary that is wanted.
    std::fs::write(ona.project().join("log"), "").unwrap();
    ona.run(["-p", "/back summary", "-r", "s", "--hook", "cmd.ts", "--hook", "sum.ts"]).expect_code(0);
    assert_eq!(
        logged(&ona),
        [json!({"type": "session_tree", "fromExtension": true, "content": "LEFT 2"}), json!({"cancelled": false})]
    );
    assert_eq!(told(&mut ona, "s"), [true, false, true]);
    // A summary nobody asked for is ignored.
    ona.run(["-p", "/back", "-r", "s", "--hook", "cmd.ts", "--hook", "sum.ts"]).expect_code(0);
    assert_eq!(told(&mut ona, "s"), [true, false, false]);
}
