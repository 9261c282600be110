//! What the successor of hook modules, the extension API, adds to them: tools, flags, a say in
//! which session a run continues. From outside; the ids are in docs/SPECIFICATION.md.

use crate::omp::{logged, module, project};
use ona_testkit::Ona;
use ona_testkit::model::{ModelServer, Wire, call, say};
use serde_json::{Value, json};

/// A tool with a schema, that greets.
const GREET: &str = r#"
    const { Type } = pi.typebox;
    pi.registerTool({
        name: "greet", label: "Greet", description: "Greets somebody",
        parameters: Type.Object({ name: Type.String({ minLength: 2 }), loud: Type.Optional(Type.Boolean()), times: Type.Integer({ default: 1 }) }, { required: ["name"] }),
        async execute(id, params, signal, onUpdate, ctx) {
            onUpdate?.({ content: [{ type: "text", text: "..." }] });
            log([typeof id, params, signal.aborted, ctx.cwd.length > 0, ctx.hasUI]);
            if (params.name === "nobody") throw new Error("nobody is not there");
            return { content: [{ type: "text", text: "Hello, " + params.name }], details: { greeted: params.name } };
        },
    });
"#;

fn allowed(ona: &Ona, rules: Value) {
    ona.settings(json!({
        "permissions": rules,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
}

fn body(server: &ModelServer, index: usize) -> String {
    String::from_utf8_lossy(&server.request(index).body).into_owned()
}

/// OMP-13: unknown means ask, deny wins, and the planning gate is shut.
#[test]
fn rules_and_phase_decide_about_tools_of_modules() {
    let mut ona = project();
    module(&ona, "greet.ts", GREET);
    // Without a rule a person has to be asked, and nobody is there.
    let server = ona.model(Wire::Messages, [call("greet", json!({"name": "Ada"})), say("done")]);
    ona.run(["-p", "go", "-e", "greet.ts"]).expect_code(0);
    assert!(server.request(1).last_message().contains("Denied: there is nobody to ask. greet wants to run"));
    let greet = |flags: &[&str]| {
        let flags: Vec<_> = ["-e", "greet.ts"].into_iter().chain(flags.iter().copied()).collect();
        ona.eval_with("greet", json!({"name": "Ada"}), &flags)["content"].clone()
    };
    assert_eq!(greet(&["--allowedTools", "greet"]), "Hello, Ada");
    assert_eq!(greet(&["--allowedTools", "greet", "--disallowedTools", "greet"]), "Denied by permission rule greet");
    assert_eq!(greet(&["--disallowedTools", "greet(name:A*)"]), "Denied by permission rule greet(name:A*)");
    assert_eq!(
        ona.value("SELECT count(*) FROM events WHERE event_type='permission_rule_dropped' AND detail LIKE '%greet%'"),
        0
    );
    // While a plan is made, nothing that might change something runs.
    ona.execute("UPDATE conversations SET phase='planning'", []);
    let gate = "Denied: phase is planning and no approved plan exists";
    assert_eq!(greet(&["--allowedTools", "greet"]), gate);
    assert_eq!(greet(&["--dangerously-skip-permissions"]), gate);
    // A rule for a tool that no module has is still said to mean nothing.
    ona.eval_with("Read", json!({"file_path": "greet.ts"}), &["--allowedTools", "greet"]);
    assert_eq!(
        ona.value("SELECT count(*) FROM events WHERE event_type='permission_rule_dropped' AND detail LIKE '%greet%'"),
        1
    );
}

/// OMP-13: one sentence, on stderr and in a row; the rest of the module works.
#[test]
fn names_that_are_taken_are_refused_and_nothing_else_is_lost() {
    let ona = project();
    let tool = |name: &str| {
        format!(
            "pi.registerTool({{ name: '{name}', description: '', parameters: {{ type: 'object' }}, execute: async () => ({{ content: '{name} of ' + who }}) }});"
        )
    };
    let all = ["bash", "Read", "mcp__a__b", "no good", "mine"].map(tool).concat();
    module(
        &ona,
        "a.ts",
        &format!("const who = 'a'; {all} pi.registerCommand('still', {{ handler: () => log('here') }});"),
    );
    module(&ona, "b.ts", &format!("const who = 'b'; {}", tool("mine")));
    allowed(&ona, json!({"allow": ["mine", "Bash"]}));
    let ran = ona.run(["--eval", r#"{"tool":"mine","input":{}}"#, "-e", "a.ts", "-e", "b.ts"]).expect_code(0);
    assert_eq!(ran.json()["content"], "mine of a");
    for sentence in [
        "the tool bash is refused: a built-in tool has this name and cannot be replaced",
        "the tool Read is refused: a built-in tool has this name and cannot be replaced",
        "the tool mcp__a__b is refused: names that begin with mcp__ belong to servers",
        "\"no good\" cannot name a tool",
        "the tool mine is there already",
    ] {
        assert!(ran.stderr.contains(sentence), "{sentence}: {}", ran.stderr);
    }
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='dialect_load_error'"), 5);
    assert_eq!(ona.eval_with("Bash", json!({"command": "echo own"}), &["-e", "a.ts"])["content"], "own\n");
    let listed = ona.run(["hooks", "list", "--json", "-e", "a.ts"]).expect_code(0).json();
    assert_eq!(
        (&listed["modules"][0]["tools"], &listed["modules"][0]["commands"]),
        (&json!(["mine"]), &json!(["still"]))
    );
}

/// OMP-13: schemas by zod's words, and inputs a tool makes fit itself; in both engines.
#[test]
fn schemas_come_from_either_helper_in_either_engine() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["zoo"]}));
    ona.file(
        "zoo.ts",
        r#"import { z } from "zod";
import { StringEnum, Type } from "@mariozechner/pi-ai";
export default function (pi: any) {
    const animal = z.object({ kind: z.enum(["cat", "dog"]), age: z.number().int().min(0).optional(), tags: z.array(z.string()).max(2).default([]) }).describe("an animal");
    pi.registerTool({ name: "zoo", description: "", parameters: animal, async execute(id: string, params: any) { return { content: JSON.stringify(params) }; } });
    pi.registerTool({
        name: "old", description: "", parameters: Type.Object({ mode: StringEnum(["a", "b"]) }),
        prepareArguments: (args: any) => (args.way ? { mode: args.way } : args),
        async execute(id: string, params: any) { return { content: params.mode }; },
    });
}
"#,
    );
    allowed(&ona, json!({"allow": ["zoo", "old"]}));
    for engine in ["embedded", "node"] {
        ona.env("ONA_JS_RUNTIME", engine);
        let zoo = |input: Value| ona.eval_with("zoo", input, &["-e", "zoo.ts"])["content"].clone();
        assert_eq!(zoo(json!({"kind": "cat"})), r#"{"kind":"cat","tags":[]}"#, "{engine}");
        assert_eq!(zoo(json!({"kind": "cow"})), r#"`kind` must be one of "cat", "dog""#);
        assert_eq!(zoo(json!({"kind": "dog", "age": 1.5})), "`age` must be an integer, not a number");
        assert_eq!(zoo(json!({"kind": "dog", "tags": ["a", "b", "c"]})), "`tags` must have at most 2 items");
        let old = |input: Value| ona.eval_with("old", input, &["-e", "zoo.ts"])["content"].clone();
        assert_eq!(old(json!({"way": "b"})), "b", "{engine}");
        assert_eq!(old(json!({"way": "c"})), r#"`mode` must be one of "a", "b""#, "{engine}");
    }
}

/// OMP-13 getActiveTools, getAllTools, setActiveTools, tools that come later: the next request tells.
#[test]
fn modules_choose_and_add_tools_while_a_session_runs() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["late", "Bash"], "deny": ["never"]}));
    module(
        &ona,
        "m.ts",
        r#"
        const make = (name) => pi.registerTool({ name, description: "d", parameters: { type: "object", properties: {} }, execute: async () => ({ content: name + " ran" }) });
        pi.on("tool_result", (event) => {
            if (event.toolName !== "bash") return;
            make("late"); make("never"); make("bash");
            log(pi.getAllTools().find((one) => one.name === "late").sourceInfo.source);
            log(pi.getAllTools().find((one) => one.name === "read").sourceInfo);
            pi.setActiveTools(["late", "read", "never"]);
            log(pi.getActiveTools());
        });
    "#,
    );
    let bash = || call("Bash", json!({"command": "echo 1"}));
    let script = [bash(), call("late", json!({})), bash(), call("never", json!({})), say("done")];
    let server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go", "-e", "m.ts"]).expect_code(0);
    let names = |index: usize| -> Vec<String> {
        let all = server.request(index).json()["tools"].as_array().unwrap().clone();
        all.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(0).contains(&"Bash".into()) && !names(0).contains(&"late".into()), "{:?}", names(0));
    assert_eq!(names(1), ["Read", "late"], "what a rule denies is not offered");
    assert!(server.request(2).last_message().contains("late ran"));
    assert!(server.request(3).last_message().contains("The tool Bash is not active now"));
    assert!(
        server.request(4).last_message().contains("Denied by permission rule never"),
        "{}",
        server.request(4).last_message()
    );
    let builtin = json!({"path": "<builtin:read>", "source": "builtin", "scope": "temporary", "origin": "top-level"});
    assert_eq!(logged(&ona), [json!("extension"), builtin, json!(["read", "late", "never"])]);
    let refused = ona.value("SELECT json_extract(detail,'$.error') FROM events WHERE event_type='hook_error'");
    assert!(refused.as_str().is_some_and(|text| text.contains("the tool bash is refused")), "{refused}");
}

/// OMP-13, state management: what a tool returned as details is found again by the next process.
#[test]
fn details_of_a_tool_survive_and_no_model_sees_them() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["greet"]}));
    module(
        &ona,
        "greet.ts",
        &format!(
            "{GREET} pi.on('session_start', (event, ctx) => log(ctx.sessionManager.getBranch().filter((one) => one.message?.role === 'toolResult').map((one) => [one.message.toolName, one.message.details])));"
        ),
    );
    let server = ona.model(Wire::Messages, [call("greet", json!({"name": "Ada"})), say("done"), say("again")]);
    ona.run(["-p", "go", "--session-id", "s", "-e", "greet.ts"]).expect_code(0);
    ona.run(["-p", "more", "-r", "s", "-e", "greet.ts"]).expect_code(0);
    assert_eq!(logged(&ona).last().unwrap(), &json!([["greet", {"greeted": "Ada"}]]));
    assert!(!body(&server, 1).contains("greeted") && !body(&server, 2).contains("greeted"));
}

/// OM-12: what a compaction learns about the files and the one before.
#[test]
fn a_compaction_knows_the_files_and_the_one_before() {
    let mut ona = project();
    ona.file("a.txt", "a\n");
    module(
        &ona,
        "c.ts",
        r#"
        pi.on("session_before_compact", ({ preparation }) => log([[...preparation.fileOps.read].map((one) => one.split("/").pop()), [...preparation.fileOps.written].length, preparation.previousSummary ?? null, preparation.previousPreserveData ?? null]));
        pi.on("session.compacting", () => ({ preserveData: { n: 1 } }));
        pi.on("session_compact", ({ compactionEntry }) => log([compactionEntry.summary, compactionEntry.preserveData]));
    "#,
    );
    let script = [call("Read", json!({"file_path": "a.txt"})), say("one"), say("SUM 1"), say("two"), say("SUM 2")];
    let _server = ona.model(Wire::Messages, script);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let input = [line("first"), line("/compact"), line("second"), line("/compact")].join("\n");
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "-e", "c.ts"];
    ona.run_with_stdin(args, input.as_bytes()).expect_code(0);
    assert_eq!(
        logged(&ona),
        [
            json!([["a.txt"], 0, null, null]),
            json!(["SUM 1", {"n": 1}]),
            json!([[], 0, "SUM 1", {"n": 1}]),
            json!(["SUM 2", {"n": 1}]),
        ]
    );
}

/// A module that breaks the language it speaks with ona is a load error at once, not a long wait.
#[test]
fn a_module_that_can_not_be_understood_is_not_waited_for() {
    let mut ona = project();
    module(&ona, "odd.ts", "Array.prototype.toJSON = function () { return 'x'; };");
    for engine in ["embedded", "node"] {
        ona.env("ONA_JS_RUNTIME", engine);
        let ran =
            ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"echo on"}}"#, "-e", "odd.ts"]).expect_code(0);
        assert_eq!(ran.json()["content"], "on\n");
        assert!(ran.stderr.contains("it sent a message that cannot be parsed"), "{engine}: {}", ran.stderr);
    }
}

/// OMP-13 ctx.compact: done when the agent is idle, and told.
#[test]
fn a_module_may_wish_for_a_compaction() {
    let mut ona = project();
    module(
        &ona,
        "c.ts",
        r#"pi.registerCommand("tidy", { handler: (args, ctx) => ctx.compact({ customInstructions: args, onComplete: (result) => log(result.summary), onError: (error) => log(error.message) }) });"#,
    );
    let server = ona.model(Wire::Messages, [say("one"), say("SUMMARY")]);
    ona.run(["-p", "first", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "/tidy mind the mice", "-r", "s", "-e", "c.ts"]).expect_code(0);
    assert!(server.request(1).last_message().contains("mind the mice"));
    assert_eq!(logged(&ona), [json!("SUMMARY")]);
}

/// 003-2-05, OM-34: commands are listed where programs look, run as prompts and as messages.
#[test]
fn commands_are_listed_and_run_as_messages_of_a_program() {
    let mut ona = project();
    module(
        &ona,
        "a.ts",
        "pi.registerCommand('greet', { description: 'says hello', handler: (args) => log('a ' + args) }); pi.registerCommand('clear', { handler: () => log('never') }); pi.registerCommand('all', { handler: () => log(pi.getCommands().map((one) => [one.name, one.description ?? null, one.sourceInfo.path.split('/').pop()])) });",
    );
    module(&ona, "b.ts", "pi.registerCommand('greet', { handler: () => log('b') });");
    let server = ona.model(Wire::Messages, []);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let input = [line("/greet you there"), line("/all"), line("/clear")].join("\n");
    let args = [
        "-p",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "-e",
        "a.ts",
        "-e",
        "b.ts",
    ];
    let ran = ona.run_with_stdin(args, input.as_bytes()).expect_code(0);
    let init: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    let names: Vec<_> = init["slash_commands"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    for name in ["greet", "all", "clear", "compact"] {
        assert_eq!(names.iter().filter(|one| **one == name).count(), 1, "{names:?}");
    }
    let all = json!([
        ["greet", "says hello", "a.ts"],
        ["clear", null, "a.ts"],
        ["all", null, "a.ts"],
        ["greet", null, "b.ts"]
    ]);
    assert_eq!(logged(&ona), [json!("a you there"), all]);
    assert_eq!(server.request_count(), 0);
}

/// OMP-13: what modules do to a prompt and to what the model learns about its work.
#[test]
fn prompts_and_the_system_prompt_pass_modules() {
    let mut ona = project();
    module(
        &ona,
        "a.ts",
        r#"
        pi.on("input", (event) => event.text === "ping" ? { action: "handled" } : { action: "transform", text: event.text + " one" });
        pi.on("before_agent_start", (event) => ({ systemPrompt: event.systemPrompt + "\nBE BRIEF" }));
    "#,
    );
    module(
        &ona,
        "b.ts",
        r#"
        pi.on("input", (event) => ({ action: "transform", text: event.text + " two" }));
        pi.on("before_agent_start", (event, ctx) => { log(event.systemPrompt.endsWith("BE BRIEF")); log(ctx.getSystemPrompt().length > 0); return { systemPromptAppend: "BE KIND" }; });
    "#,
    );
    let server = ona.model(Wire::Messages, [say("ok"), say("ok")]);
    ona.run(["-p", "ping", "-e", "a.ts", "-e", "b.ts"]).expect_code(0);
    assert_eq!(server.request_count(), 0);
    ona.run(["-p", "go", "-e", "a.ts", "-e", "b.ts"]).expect_code(0);
    assert!(server.request(0).last_message().contains("go one two"));
    let system = server.request(0).json()["system"].to_string();
    assert!(system.contains("BE BRIEF") && system.contains("BE KIND"), "{system}");
    assert_eq!(logged(&ona), [json!(true), json!(true)]);
    // The next run without the modules is as it was.
    ona.run(["-p", "go"]).expect_code(0);
    assert!(!body(&server, 1).contains("BE BRIEF"));
}

/// Sheet section 8, the last row: a message that waits for the user.
#[test]
fn a_message_may_wait_for_the_next_prompt_and_words_may_be_the_users() {
    let mut ona = project();
    module(
        &ona,
        "m.ts",
        r#"
        let done = false;
        pi.on("agent_end", () => { if (!done) pi.sendMessage({ customType: "n", content: "WITH THE NEXT", display: true }, { deliverAs: "nextTurn", triggerTurn: true }); done = true; });
        pi.registerCommand("say", { handler: (args) => pi.sendUserMessage(args) });
    "#,
    );
    let server = ona.model(Wire::Messages, [say("one"), say("two"), say("three")]);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let input = [line("first"), line("second"), line("/say third")].join("\n");
    let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "-e", "m.ts"];
    ona.run_with_stdin(args, input.as_bytes()).expect_code(0);
    assert_eq!(server.request_count(), 3);
    assert_eq!([0, 1].map(|index| body(&server, index).contains("WITH THE NEXT")), [false, true]);
    assert!(server.request(2).last_message().contains("third"));
    assert_eq!(
        ona.column("SELECT json_extract(payload_json,'$.content[0].text') FROM transcript_entries WHERE entry_type='user' ORDER BY sequence"),
        ["first", "second", "third"]
    );
}

/// OMP-13 events, setLabel, setSessionName, registerShortcut: one bus for all modules, notes that stay.
#[test]
fn modules_talk_to_each_other_and_leave_notes() {
    let mut ona = project();
    module(
        &ona,
        "a.ts",
        r#"
        pi.registerShortcut("ctrl+shift+p", { description: "a key", handler: () => {} });
        pi.registerCommand("mark", { handler: (args, ctx) => {
            const leaf = ctx.sessionManager.getLeafId();
            pi.setLabel(leaf, "here"); pi.setSessionName("the mice");
            log([ctx.sessionManager.getLabel(leaf), pi.getSessionName()]);
            pi.events.emit("marked", { leaf: typeof leaf });
        } });
        pi.registerCommand("seen", { handler: (args, ctx) => log([ctx.sessionManager.getEntries().map((one) => ctx.sessionManager.getLabel(one.id) ?? null), pi.getSessionName()]) });
    "#,
    );
    module(
        &ona,
        "b.ts",
        "pi.events.on('marked', (data) => log({ b: data })); pi.registerCommand('wait', { handler: () => log('b is awake') });",
    );
    let _server = ona.model(Wire::Messages, [say("one")]);
    ona.run(["-p", "first", "--session-id", "s"]).expect_code(0);
    let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let args = [
        "-p",
        "-r",
        "s",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "-e",
        "a.ts",
        "-e",
        "b.ts",
    ];
    // Messages to one module arrive in their order, so the bus was heard before the command.
    ona.run_with_stdin(args, [line("/mark"), line("/wait")].join("\n").as_bytes()).expect_code(0);
    assert_eq!(logged(&ona), [json!(["here", "the mice"]), json!({"b": {"leaf": "string"}}), json!("b is awake")]);
    ona.run(["-p", "/seen", "-r", "s", "-e", "a.ts"]).expect_code(0);
    assert_eq!(logged(&ona).last().unwrap(), &json!([[null, "here"], "the mice"]));
    let listed = ona.run(["hooks", "list", "--json", "-e", "a.ts"]).expect_code(0).json();
    assert_eq!(listed["modules"][0]["shortcuts"], json!(["ctrl+shift+p"]));
}

/// OMP-13 ctx.reload, switchSession, newSession's withSession.
#[test]
fn commands_reload_modules_and_change_sessions() {
    let mut ona = project();
    let version = |n: u32| {
        format!(
            r#"
        pi.registerCommand("which", {{ handler: () => log({n}) }});
        pi.registerCommand("again", {{ handler: async (args, ctx) => {{ await ctx.reload(); log("reloaded"); }} }});
        pi.registerCommand("swap", {{ handler: async (args, ctx) => log(await ctx.switchSession(args)) }});
        pi.registerCommand("fresh", {{ handler: async (args, ctx) => {{ await ctx.newSession({{ withSession: (there) => there.sendUserMessage("carry on") }}); }} }});
    "#
        )
    };
    module(&ona, "m.ts", &version(1));
    let server = ona.model(Wire::Messages, [say("one"), say("two"), say("three")]);
    ona.run(["-p", "of mice", "--session-id", "s"]).expect_code(0);
    let mut talk = ona.talk([
        "-p",
        "--session-id",
        "t",
        "--input-format",
        "stream-json",
        "--output-format",
        "stream-json",
        "--verbose",
        "-e",
        "m.ts",
    ]);
    talk.say("/which");
    talk.until_result();
    module(&ona, "m.ts", &version(2));
    for command in ["/again", "/which"] {
        talk.say(command);
        talk.until_result();
    }
    assert_eq!(logged(&ona), [json!(1), json!("reloaded"), json!(2)]);
    talk.say("/swap s");
    assert_eq!(talk.until_result()["session_id"], "s");
    talk.say("go on");
    talk.until_result();
    assert!(body(&server, 1).contains("of mice"));
    talk.say("/fresh");
    let done = talk.until_result();
    assert_eq!(done["result"], "three");
    assert!(!body(&server, 2).contains("of mice") && body(&server, 2).contains("carry on"));
    talk.close();
    assert_eq!(talk.finish().0, 0);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 3);
}

/// OMP-13: the tools a host lends modules, and their limits.
#[test]
fn lent_tools_work_under_a_name_of_the_modules_own() {
    let mut ona = project();
    ona.file(
        "lent.ts",
        r#"import { createBashTool, createReadTool, createWriteTool, createEditTool, createGrepTool, createFindTool, createLsTool, defineTool, truncateHead, truncateTail, DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES } from "@mariozechner/pi-coding-agent";
export default function (pi: any) {
    const cwd = process.cwd();
    const lend = (name: string, tool: any) => pi.registerTool(defineTool({ ...tool, name }));
    lend("my_bash", createBashTool(cwd, { spawnHook: (given: any) => ({ ...given, command: "export A=1\n" + given.command }) }));
    lend("my_read", createReadTool(cwd)); lend("my_write", createWriteTool(cwd)); lend("my_edit", createEditTool(cwd));
    lend("my_grep", createGrepTool(cwd)); lend("my_find", createFindTool(cwd)); lend("my_ls", createLsTool(cwd));
    lend("limits", { description: "", execute: async () => ({ content: JSON.stringify([DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, truncateHead("a\nb\nc", { maxLines: 2 }).content, truncateTail("a\nb\nc", { maxLines: 2 }).content, truncateHead("abc", { maxBytes: 2 }).firstLineExceedsLimit]) }) });
}
"#,
    );
    allowed(
        &ona,
        json!({"allow": ["my_bash", "my_read", "my_write", "my_edit", "my_grep", "my_find", "my_ls", "limits"]}),
    );
    for engine in ["embedded", "node"] {
        ona.env("ONA_JS_RUNTIME", engine);
        let run = |tool: &str, input: Value| {
            ona.eval_with(tool, input, &["-e", "lent.ts"])["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(run("my_bash", json!({"command": "echo $A"})), "1\n", "{engine}");
        assert!(run("my_bash", json!({"command": "echo no; exit 3"})).contains("Command exited with code 3"));
        run("my_write", json!({"path": "d/a.txt", "content": "one\ntwo\n"}));
        run("my_edit", json!({"path": "d/a.txt", "oldText": "two", "newText": "2"}));
        assert_eq!(run("my_read", json!({"path": "d/a.txt", "offset": 2, "limit": 1})), "2");
        assert!(run("my_edit", json!({"path": "d/a.txt", "oldText": "gone", "newText": ""})).contains("not in"));
        assert!(run("my_grep", json!({"pattern": "^on", "path": "d"})).contains("a.txt:1:one"));
        assert!(run("my_find", json!({"pattern": "*.txt", "path": "d"})).contains("d/a.txt"));
        assert_eq!(run("my_ls", json!({"path": "d"})), "a.txt");
        assert_eq!(run("limits", json!({})), r#"[51200,2000,"a\nb","b\nc",true]"#);
    }
}

/// 003-4-11, DEC-171: modules hear of what is left to do when a turn ends.
#[test]
fn open_todos_are_told_at_the_end_of_a_turn() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["TodoWrite"]}));
    module(
        &ona,
        "t.ts",
        "pi.on('todo_reminder', ({ todos, attempt, maxAttempts }) => log([todos.map((one) => [one.content, one.status]), attempt, maxAttempts]));",
    );
    let todo = |content: &str, status: &str| json!({"content": content, "status": status});
    let write = |todos: Value| call("TodoWrite", json!({ "todos": todos }));
    let script = [
        write(json!([todo("sweep", "completed"), todo("mop", "in_progress")])),
        say("later"),
        write(json!([todo("sweep", "completed"), todo("mop", "completed")])),
        say("done"),
    ];
    let _server = ona.model(Wire::Messages, script);
    ona.run(["-p", "clean", "--session-id", "s", "-e", "t.ts"]).expect_code(0);
    ona.run(["-p", "go on", "-r", "s", "-e", "t.ts"]).expect_code(0);
    assert_eq!(logged(&ona), [json!([[["mop", "in_progress"]], 1, 1])]);
}

/// OM-X5, 003-2-07: programs that are missing, fail, take too long or are called off; in both engines.
#[test]
fn programs_are_run_as_documented_in_both_engines() {
    let mut ona = project();
    module(
        &ona,
        "x.ts",
        r#"
        pi.on("tool_call", async () => {
            const missing = await pi.exec("nope-nope", []).then(() => "resolved", () => "rejected");
            const nowhere = await pi.exec("true", [], { cwd: "/nowhere/at/all" }).then(() => "resolved", () => "rejected");
            const failed = await pi.exec("sh", ["-c", "echo out; echo err >&2; exit 3"]);
            const late = await pi.exec("sh", ["-c", "echo begun; exec sleep 60"], { timeout: 300 });
            const controller = new AbortController();
            setTimeout(() => controller.abort(), 100);
            const called_off = await pi.exec("sleep", ["60"], { signal: controller.signal });
            const where = await pi.exec("pwd", [], { cwd: "/" });
            const plain = await pi.exec("printf", ["%s|", "a b", "$HOME", "*"]);
            log([missing, nowhere, failed, late, called_off.killed, where.stdout, plain.stdout]);
        });
    "#,
    );
    for engine in ["embedded", "node"] {
        ona.env("ONA_JS_RUNTIME", engine);
        std::fs::write(ona.project().join("log"), "").unwrap();
        ona.eval_with("Bash", json!({"command": "true"}), &["-e", "x.ts"]);
        let failed = json!({"stdout": "out\n", "stderr": "err\n", "code": 3, "killed": false});
        let late = json!({"stdout": "begun\n", "stderr": "", "code": 0, "killed": true});
        assert_eq!(
            logged(&ona),
            [json!(["rejected", "rejected", failed, late, true, "/\n", "a b|$HOME|*|"])],
            "{engine}"
        );
    }
}

/// OM-X6: no loop, no heap and no recursion of a module gets past its limits, in
/// a call, in a tool or elsewhere; what comes next works.
#[test]
fn limits_hold_in_both_engines_and_the_next_call_works() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["hog", "Bash"]}));
    let wild = [
        ("loop", "for (;;);", "it used up its CPU time"),
        ("heap", "const all = []; for (;;) all.push(new Array(10000).fill({ a: 1 }));", "it used up its memory"),
        ("deep", "const f = () => f() + 1; return f();", "Maximum call stack size exceeded"),
    ];
    let bodies = wild.map(|(name, body, _)| format!("if (how === '{name}') {{ {body} }}")).concat();
    module(
        &ona,
        "hog.ts",
        &format!(
            "const wild = (how) => {{ {bodies} return 'fine'; }}; pi.on('tool_call', (event) => {{ if (event.toolName === 'bash') wild(event.input.command.slice(2)); }}); pi.registerTool({{ name: 'hog', description: '', parameters: {{ type: 'object' }}, execute: async (id, params) => ({{ content: wild(params.how) }}) }});"
        ),
    );
    for engine in ["embedded", "node"] {
        ona.env("ONA_JS_RUNTIME", engine);
        let calls = wild.iter().flat_map(|(name, ..)| {
            [
                json!({"tool": "Bash", "input": {"command": format!("# {name}")}}),
                json!({"tool": "hog", "input": {"how": name}}),
                json!({"tool": "hog", "input": {"how": "nothing"}}),
            ]
        });
        let calls: Vec<_> = calls.map(|call| call.to_string()).collect();
        // One process for all of them: the module is ended and begun again, the agent is not.
        let ran = ona.run(["--eval", &calls.join("\n"), "-e", "hog.ts"]).expect_code(0);
        let said: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (at, (name, _, why)) in wild.iter().enumerate() {
            let [call, tool, next] = [0, 1, 2].map(|n| said[at * 3 + n]["content"].as_str().unwrap().to_owned());
            assert!(call.starts_with("Denied by PreToolUse hook") && call.contains(why), "{engine} {name}: {call}");
            assert!(tool.contains(why), "{engine} {name}: {tool}");
            assert_eq!(next, "fine", "{engine} {name}");
        }
    }
}

/// OMP-13: a command that a module sends as the user's words is run, not told to the model.
#[test]
fn a_tool_may_ask_for_a_command_to_follow() {
    let mut ona = project();
    allowed(&ona, json!({"allow": ["later"]}));
    module(
        &ona,
        "m.ts",
        r#"
        pi.registerTool({ name: "later", description: "", execute: async () => { pi.sendUserMessage("/done now", { deliverAs: "followUp" }); pi.sendUserMessage("/nothing"); return { content: "queued" }; } });
        pi.registerCommand("done", { handler: (args, ctx) => log([args, ctx.isIdle()]) });
    "#,
    );
    let server = ona.model(Wire::Messages, [call("later", json!({})), say("ok")]);
    ona.run(["-p", "go", "-e", "m.ts"]).expect_code(0);
    assert_eq!(logged(&ona), [json!(["now", true])]);
    assert!(!body(&server, 1).contains("/done") && body(&server, 1).contains("/nothing"), "{}", body(&server, 1));
}

/// 003-10-01: what `ona hooks types` declares is what modules find, and the other way round.
#[test]
fn the_declared_types_are_those_of_the_api() {
    let mut ona = project();
    module(
        &ona,
        "keys.ts",
        r#"
        const inherited = (one) => (one === Object.prototype ? [] : Object.getOwnPropertyNames(one));
        const names = (one) => [...Object.getOwnPropertyNames(one), ...inherited(Object.getPrototypeOf(one))];
        pi.registerCommand("keys", { handler: (args, ctx) => log({ HookAPI: names(pi), HookContext: names(ctx), HookUIContext: names(ctx.ui), ReadonlySessionManager: names(ctx.sessionManager) }) });
    "#,
    );
    let _server = ona.model(Wire::Messages, []);
    ona.run(["-p", "/keys", "-e", "keys.ts"]).expect_code(0);
    let found = logged(&ona).remove(0);
    let types = ona.run(["hooks", "types"]).expect_code(0).stdout.replace("=>", "");
    // The members of an interface: the first name of each of its parts.
    let members = |name: &str| -> Vec<String> {
        let start = types.find(&format!("interface {name} ")).unwrap_or_else(|| panic!("{name} is declared"));
        let (mut depth, mut word, mut names, mut fresh) = (0, String::new(), Vec::new(), true);
        for letter in types[start..].chars().skip_while(|c| *c != '{') {
            match letter {
                '{' | '(' | '<' | '[' => {
                    if depth == 1 && matches!(letter, '(' | '<') && fresh && !word.is_empty() {
                        names.push(std::mem::take(&mut word));
                        fresh = false;
                    }
                    depth += 1;
                }
                '}' | ')' | '>' | ']' => depth -= 1,
                ':' | '?' if depth == 1 && fresh && !word.is_empty() => {
                    names.push(std::mem::take(&mut word));
                    fresh = false;
                }
                ';' | '\n' if depth == 1 => {
                    word.clear();
                    fresh = true;
                }
                c if depth == 1 && (c.is_alphanumeric() || c == '_') => word.push(c),
                ' ' => word.clear(),
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        names
    };
    let of_commands = members("HookCommandContext");
    for (interface, keys) in found.as_object().unwrap() {
        let declared = members(interface);
        for key in keys.as_array().unwrap().iter().map(|key| key.as_str().unwrap()) {
            let known = declared.iter().chain(&of_commands).any(|one| one == key);
            // Artifacts and terminal components are not offered, only answered.
            let aside = [
                "getArtifactsDir",
                "getArtifactPath",
                "allocateArtifactPath",
                "saveArtifact",
                "putBlob",
                "setFooter",
                "setHeader",
                "setEditorComponent",
                "onTerminalInput",
                "pi",
            ];
            assert!(known || aside.contains(&key), "{interface}.{key} is not declared: {declared:?}");
        }
        let missing: Vec<_> = declared.iter().filter(|one| !keys.as_array().unwrap().contains(&json!(one))).collect();
        assert!(missing.iter().all(|one| *one == "signal"), "{interface} has no {missing:?}");
    }
}

/// `ona hooks test` with modules: tools, commands, renderers, events, a person who answers
/// (OM-36, OM-37, OM-38, OM-X10, 003-2-06, 003-7-04).
#[test]
fn fixtures_try_tools_commands_renderers_and_dialogs() {
    let ona = project();
    module(&ona, ".omp/hooks/pre/greet.ts", GREET);
    module(
        &ona,
        ".omp/hooks/pre/more.ts",
        r#"
        pi.on("tool_call", (event) => event.toolName === "greet" && event.input.name === "Eve" ? { block: true, reason: "not Eve" } : undefined);
        pi.registerMessageRenderer("note", (message, { expanded }, theme) => ({ render: (width) => [theme.bold(message.content), expanded ? "more" : "less", "-".repeat(width)] }));
        pi.registerCommand("ask", { handler: async (args, ctx) => {
            const said = ctx.hasUI ? [await ctx.ui.select("t", ["a", "b"]), await ctx.ui.confirm("t", "m"), await ctx.ui.input("t"), await ctx.ui.editor("t", "x")] : ["no one"];
            ctx.ui.notify(JSON.stringify(said)); ctx.ui.notify("careful", "warning");
            ctx.ui.setStatus("b", "x\ty\n z"); ctx.ui.setStatus("a", " 1 "); ctx.ui.setStatus("c", "gone"); ctx.ui.setStatus("c", undefined);
            ctx.ui.setEditorText("draft"); ctx.ui.setStatus("d", ctx.ui.getEditorText());
            const chosen = ctx.hasUI ? await ctx.ui.custom((tui, theme, done) => ({ render: () => ["pick"], handleInput: (key) => done("picked " + key) })) : "";
            const four = ctx.hasUI ? await ctx.ui.custom((tui, theme, keys, done) => { done(4); return { render: () => [] }; }) : "";
            if (args === "fail") throw new Error("as asked " + chosen + four);
        } });
        pi.on("session_before_switch", (event) => ({ cancel: event.reason === "new" }));
        pi.on("agent_end", () => { throw new Error("oh"); });
    "#,
    );
    let fixtures = json!([
        {"name": "greets", "tool": "greet", "input": {"name": "Ada"}, "expect": {"content": "Hello, Ada", "is_error": false, "details": {"greeted": "Ada"}, "decision": "none"}},
        {"name": "schema", "tool": "greet", "input": {}, "expect": {"content": "missing field", "is_error": true}},
        {"name": "guard", "tool": "greet", "input": {"name": "Eve"}, "expect": {"decision": "deny", "content": "not Eve"}},
        {"name": "renders", "render": "note", "message": {"content": "hi"}, "width": 5, "expect": {"lines": ["\u{1b}[1mhi\u{1b}[22m", "less", "-----"]}},
        {"name": "renders all", "render": "note", "message": {"content": "hi"}, "width": 1, "expanded": true, "expect": {"lines": ["\u{1b}[1mhi\u{1b}[22m", "more", "-"]}},
        {"name": "nobody renders", "render": "other", "expect": {"lines": null}},
        {"name": "a person", "command": "ask", "person": {"select": "b", "confirm": true, "input": "in", "editor": "ed"},
         "expect": {"error": null, "status": "1 x y z draft", "notices": [["info", "[\"b\",true,\"in\",\"ed\"]"], ["warning", "careful"]]}},
        {"name": "cancels", "command": "ask", "person": {}, "width": 3, "expect": {"status": "1 x", "notices": [["info", "[null,false,null,null]"], ["warning", "careful"]]}},
        {"name": "a component", "command": "ask", "args": "fail", "person": {"custom": "k"}, "expect": {"error": "as asked picked k4"}},
        {"name": "no screen", "command": "ask", "expect": {"status": "", "notices": []}},
        {"name": "cancelled", "emit": "session_before_switch", "payload": {"reason": "new"}, "expect": {"result": {"cancel": true}, "ran": 1}},
        {"name": "an error", "emit": "agent_end", "payload": {"messages": []}, "expect": {"errors": ["oh"]}},
        {"name": "a call", "event": "PreToolUse", "payload": {"tool_name": "Bash", "tool_input": {"command": "ls"}}, "expect": {"decision": "none"}},
    ]);
    ona.file("fixtures.json", fixtures.to_string());
    let ran = ona.run(["hooks", "test", "fixtures.json"]);
    assert!(ran.stdout.contains("ok 13 - a call") && !ran.stdout.contains("not ok"), "{}\n{}", ran.stdout, ran.stderr);
    ran.expect_code(0);
    // What is not so is said; what is not there is a mistake of the fixture.
    ona.file(
        "wrong.json",
        json!({"tool": "greet", "input": {"name": "Ada"}, "expect": {"content": "Bye", "is_error": true}}).to_string(),
    );
    let ran = ona.run(["hooks", "test", "wrong.json"]).expect_code(1);
    assert!(
        ran.stdout.contains("\"Bye\" is not in \"Hello, Ada\"") && ran.stdout.contains("expected true, found false"),
        "{}",
        ran.stdout
    );
    for (fixture, sentence) in [
        (json!({"tool": "nope", "expect": {}}), "no hook module has the tool nope"),
        (json!({"command": "nope", "expect": {}}), "no hook module has the command nope"),
        (json!({"emit": "tool_call", "expect": {}}), "tool_call is not an event of modules that emit can try"),
        (
            json!({"emit": "context", "tool": "greet", "expect": {}}),
            "a fixture tries one of tool, command, render and emit",
        ),
    ] {
        ona.file("bad.json", fixture.to_string());
        let ran = ona.run(["hooks", "test", "bad.json"]).expect_code(2);
        assert!(ran.stderr.contains(sentence), "{}", ran.stderr);
    }
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations"), 0);
}
