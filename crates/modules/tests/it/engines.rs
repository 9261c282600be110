//! The same table for every engine.

use crate::world::{World, fire, fire_in};
use ona_api::Env;
use ona_modules::{
    CallOutcome, Engine, EngineLimits, ModuleContext, Overrun, RuntimeChoice, embedded::QuickJs, find_runtime,
    worker::WorkerEngine,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Both engines: ours, and a worker with whatever runtime this machine has.
async fn engines() -> Vec<Arc<dyn Engine>> {
    let env = Env::default().with("PATH", crate::world::path_variable());
    let runtime = find_runtime(&RuntimeChoice::ByNeed, &env).await.expect("a JavaScript runtime to test with");
    vec![Arc::new(QuickJs), Arc::new(WorkerEngine::new(runtime, "/tmp".into()))]
}

fn returned(value: Value) -> CallOutcome {
    CallOutcome::Returned(Some(value))
}

#[tokio::test]
async fn a_result_is_what_the_handler_returned() {
    let cases = [
        ("return { block: true, reason: 'no' };", returned(json!({"block": true, "reason": "no"}))),
        ("return;", CallOutcome::Returned(None)),
        ("return null;", returned(Value::Null)),
        ("return 'block';", returned(json!("block"))),
        ("throw new Error('bad');", CallOutcome::Threw { message: "bad".into(), is_error: true }),
        ("throw 'thrown';", CallOutcome::Threw { message: "thrown".into(), is_error: false }),
        (
            "await Promise.reject(new TypeError('later'));",
            CallOutcome::Threw { message: "later".into(), is_error: true },
        ),
        (
            "return Object.keys(ctx);",
            returned(json!([
                "ui",
                "hasUI",
                "cwd",
                "sessionManager",
                "modelRegistry",
                "model",
                "isIdle",
                "abort",
                "hasQueuedMessages"
            ])),
        ),
        ("return [ctx.cwd, ctx.hasUI, ctx.newSession === undefined];", returned(json!(["/work", false, true]))),
        (
            "return [await ctx.ui.select('a', ['b']), await ctx.ui.input('a'), await ctx.ui.editor('a'), await ctx.ui.confirm('a', 'b'), ctx.ui.getEditorText(), await ctx.ui.custom(() => {})].map((one) => one === undefined ? 'undefined' : one);",
            returned(json!(["undefined", "undefined", "undefined", false, "", "undefined"])),
        ),
        (
            "ctx.ui.notify('x'); ctx.ui.setStatus('a', 'b'); ctx.ui.setEditorText('c'); return ctx.ui.theme.bold('x');",
            returned(json!("\u{1b}[1mx\u{1b}[22m")),
        ),
        ("return await ctx.modelRegistry.getApiKey({}) === undefined;", returned(json!(true))),
        ("return process.env.GREETING + typeof process.cwd();", returned(json!("hellostring"))),
        (
            "let n = 0; await new Promise((done) => { const t = setInterval(() => { if (++n === 3) { clearInterval(t); done(); } }, 1); }); return n;",
            returned(json!(3)),
        ),
        ("return structuredClone({ d: [1], m: new Map([[1, 2]]).size });", returned(json!({"d": [1], "m": 1}))),
        (
            "return [new TextDecoder().decode(new TextEncoder().encode('aé€😀')), Buffer.from('é').toString('base64'), Buffer.from('c3', 'hex').length];",
            returned(json!(["aé€😀", "w6k=", 1])),
        ),
        (
            "const u = new URL('../c?x=1&y=a%20b#h', 'https://h.example:443/a/b/'); return [u.href, u.searchParams.get('y'), u.host, u.pathname];",
            returned(json!(["https://h.example/a/c?x=1&y=a%20b#h", "a b", "h.example", "/a/c"])),
        ),
        (
            "const c = new AbortController(); let heard = 0; c.signal.addEventListener('abort', () => heard++); c.abort(); return [c.signal.aborted, heard];",
            returned(json!([true, 1])),
        ),
        (
            "process.exit(1);",
            CallOutcome::Threw { message: "process.exit(1) is not available to hook modules".into(), is_error: true },
        ),
    ];
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        for (index, (body, expected)) in cases.iter().enumerate() {
            let answer = world.run(&format!("case{index}.js"), body).await;
            assert_eq!(answer, *expected, "{}: {body}", engine.name());
        }
    }
}

#[tokio::test]
async fn node_modules_serve_what_hooks_use() {
    let text = r#"
        import fs from "node:fs";
        import { readFile } from "fs/promises";
        import path, { posix } from "node:path";
        import os from "os";
        import { execSync, spawnSync, execFileSync, spawn, execFile } from "node:child_process";
        import { createHash, randomUUID, randomBytes } from "crypto";
        import { fileURLToPath, pathToFileURL } from "node:url";
        import { promisify, inspect, format } from "util";
        const cases = {
            fs: async () => {
                const dir = fs.mkdtempSync(path.join(os.tmpdir(), "hook-"));
                const file = path.join(dir, "a.txt");
                fs.writeFileSync(file, "eins");
                fs.appendFileSync(file, " zwei");
                const fd = fs.openSync(path.join(dir, "lock"), "wx");
                fs.writeSync(fd, "x");
                fs.closeSync(fd);
                let code;
                try { fs.openSync(path.join(dir, "lock"), "wx"); } catch (error) { code = error.code; }
                let missing;
                try { fs.readFileSync(path.join(dir, "none")); } catch (error) { missing = [error.code, error.message.startsWith("ENOENT: no such file or directory, open '")]; }
                const out = [fs.readFileSync(file, "utf8"), (await readFile(file)).length, fs.readdirSync(dir), fs.statSync(file).isFile(), code, missing, fs.existsSync(file)];
                fs.renameSync(file, `${file}2`);
                fs.copyFileSync(`${file}2`, file);
                fs.unlinkSync(file);
                fs.mkdirSync(path.join(dir, "x/y"), { recursive: true });
                out.push(fs.readdirSync(dir, { withFileTypes: true }).map((one) => [one.name, one.isDirectory()]));
                fs.rmSync(dir, { recursive: true, force: true });
                return [...out, fs.existsSync(dir)];
            },
            path: () => [path.join("a", "../b", "./c.txt"), path.resolve("/a", "b", "../c"), path.dirname("/a/b"), path.extname("x.tar.gz"), path.relative("/a/b/c", "/a/d"), posix.normalize("/a//b/../c/"), path.isAbsolute("/x"), path.win32.basename("C:\\a\\b.txt"), path.parse("/h/f.txt").name],
            child: async () => {
                const later = await promisify(execFile)("printf", ["%s", "hi"]);
                const spawned = await new Promise((done) => {
                    const child = spawn("cat", []);
                    let text = "";
                    child.stdout.on("data", (chunk) => { text += chunk; });
                    child.on("close", (code) => done([text, code]));
                    child.stdin.end("typed");
                });
                let failed;
                try { execSync("echo out; echo err >&2; exit 3", { stdio: "pipe" }); } catch (error) { failed = [error.status, String(error.stdout), String(error.stderr)]; }
                const missing = spawnSync("no-such-program", []);
                return [execSync("echo $GREETING").toString(), spawnSync("cat", [], { input: "in", encoding: "utf8" }).stdout, execFileSync("echo", ["a b"], { encoding: "utf8" }), later.stdout, spawned, failed, missing.error.code];
            },
            crypto: () => [createHash("sha256").update("abc").digest("hex"), randomUUID().length, randomBytes(4).length, createHash("sha1").update("a").digest("base64")],
            url: () => [fileURLToPath("file:///a%20b/c"), pathToFileURL("/a b").href],
            util: () => [inspect({ a: [1, "x"] }), format("%s=%d", "a", 1)],
            os: () => [typeof os.homedir(), os.EOL, typeof os.hostname(), os.platform() === process.platform],
        };
        export default (pi) => { for (const [name, run] of Object.entries(cases)) pi.on(name, run); };
    "#;
    let expected = [
        (
            "fs",
            json!([
                "eins zwei",
                9,
                ["a.txt", "lock"],
                true,
                "EEXIST",
                ["ENOENT", true],
                true,
                [["a.txt2", false], ["lock", false], ["x", true]],
                false
            ]),
        ),
        ("path", json!(["b/c.txt", "/a/c", "/a", ".gz", "../../d", "/a/c/", true, "b.txt", "f"])),
        ("child", json!(["hello\n", "in", "a b\n", "hi", ["typed", 0], [3, "out\n", "err\n"], "ENOENT"])),
        (
            "crypto",
            json!([
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                36,
                4,
                "hvfkN/qlp/zhXR3cuerq6jd2Z7g="
            ]),
        ),
        ("url", json!(["/a b/c", "file:///a%20b"])),
        ("util", json!(["{ a: [ 1, 'x' ] }", "a=1"])),
        ("os", json!(["string", "\n", "string", true])),
    ];
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        let module = world.load("node.mjs", text).await.unwrap();
        for (event, value) in &expected {
            let answer = fire(&module, event, 0, &json!({}), None).await;
            assert_eq!(answer, returned(value.clone()), "{}: {event}", engine.name());
        }
    }
}

/// OM-3, OM-X1, OM-X2, OM-X11: what a factory registers and what it may not do yet.
#[tokio::test]
async fn the_factory_registers_and_may_not_speak_yet() {
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        let text = r#"
            let count = 0;
            export default async function (pi) {
                await new Promise((done) => setTimeout(done, 5));
                const same = () => ++count;
                pi.on("a", same); pi.on("a", same); pi.on("never_fires", same);
                pi.registerCommand("hello", { description: "says hello", handler: async (args, ctx) => [args, typeof ctx.newSession] });
                pi.registerMessageRenderer("note", (message, { expanded }, theme) => ({ render: (width) => [theme.bold(message.content), String(expanded), String(width)] }));
                pi.on("say", () => { pi.sendMessage({ customType: "t", content: "c", display: true }, true); pi.appendEntry("state", { n: 1 }); pi.logger.info("x", { y: 1 }); });
                pi.on("run", async () => { const r = await pi.exec("sh", ["-c", "echo out; echo err >&2; exit 3"]); return r; });
                pi.on("none", () => pi.exec("no-such-program", []));
                pi.on("slow", () => pi.exec("sleep", ["30"], { timeout: 50 }));
                pi.on("abort", async () => { const c = new AbortController(); const r = pi.exec("sleep", ["30"], { signal: c.signal }); c.abort(); return (await r).killed; });
            }
        "#;
        let module = world.load("factory.ts", text).await.unwrap();
        let registry = module.registry();
        assert_eq!((module.handlers("a"), module.handlers("never_fires")), (2, 1));
        assert_eq!(registry.commands.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["hello"]);
        assert_eq!(registry.renderers, ["note"]);
        let ask = async |event: &str| fire(&module, event, 0, &json!({}), None).await;
        assert_eq!(
            [ask("a").await, fire(&module, "a", 1, &json!({}), None).await, ask("a").await],
            [returned(json!(1)), returned(json!(2)), returned(json!(3))]
        );
        assert_eq!(ask("say").await, CallOutcome::Returned(None));
        assert_eq!(
            world.host.told("sendMessage"),
            [vec![json!({"customType": "t", "content": "c", "display": true}), json!({"triggerTurn": true})]]
        );
        assert_eq!(world.host.told("appendEntry"), [vec![json!("state"), json!({"n": 1})]]);
        assert_eq!(world.host.told("log"), [vec![json!("info"), json!("x {\"y\":1}")]]);
        assert_eq!(
            ask("run").await,
            returned(json!({"stdout": "out\n", "stderr": "err\n", "code": 3, "killed": false}))
        );
        assert!(matches!(ask("none").await, CallOutcome::Threw { is_error: true, .. }));
        assert_eq!(ask("slow").await, returned(json!({"stdout": "", "stderr": "", "code": 0, "killed": true})));
        assert_eq!(ask("abort").await, returned(json!(true)));
        let request = ona_modules::ModuleRequest::Command { name: "hello", args: "you there" };
        let said = module.invoke(request, &crate::world::moment(), None, &Default::default()).await;
        assert_eq!(said, returned(json!(["you there", "function"])));
        let message = json!({"content": "text"});
        let request =
            ona_modules::ModuleRequest::Render { custom_type: "note", message: &message, expanded: true, width: 40 };
        let lines = module.invoke(request, &crate::world::moment(), None, &Default::default()).await;
        assert_eq!(lines, returned(json!(["\u{1b}[1mtext\u{1b}[22m", "true", "40"])));

        for (call, name) in [("pi.sendMessage({})", "sendMessage"), ("pi.appendEntry('x')", "appendEntry")] {
            let why = world.load("early.ts", &format!("export default (pi) => {{ {call}; }};")).await.err();
            assert_eq!(why, Some(format!("Failed to load hook: {name} handler not initialized")), "{}", engine.name());
        }
    }
}

/// OM-7: a file that is not a hook module reports why.
#[tokio::test]
async fn wrong_modules_say_what_is_wrong() {
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        let load = async |name: &str, text: &str| world.load(name, text).await.err().unwrap_or_default();
        assert_eq!(load("a.ts", "export const x = 1;").await, "Hook must export a default function");
        assert_eq!(load("b.ts", "export default { on() {} };").await, "Hook must export a default function");
        assert_eq!(load("c.ts", "export default () => { throw new Error('no'); };").await, "Failed to load hook: no");
        assert_eq!(
            load("d.js", "throw new RangeError('top'); export default () => {};").await,
            "Failed to load hook: top"
        );
        assert!(
            load("e.ts", "import { a } from './none'; a(); export default () => {};")
                .await
                .starts_with("Failed to load hook: Cannot find module './none'")
        );
        assert!(load("f.sh", "echo hi").await.contains("is not a JavaScript or TypeScript module"));
    }
}

/// OM-X6: a module that will not end is ended; the next event finds it alive.
#[tokio::test]
async fn a_runaway_module_is_stopped_and_starts_anew() {
    for engine in engines().await {
        let mut world = World::new(Arc::clone(&engine));
        world.limits = EngineLimits { cpu: Duration::from_millis(1500), ..EngineLimits::default() };
        let text = r#"
            let calls = 0;
            export default (pi) => {
                pi.on("count", () => ++calls);
                pi.on("spin", () => { for (;;); });
                pi.on("later", async () => { await null; while (true) { try { for (;;); } catch {} } });
                pi.on("hoard", () => { const all = []; for (;;) all.push(new Array(10000).fill({})); });
                pi.on("deep", () => { const f = () => f() + 1; return f(); });
                pi.on("wait", () => new Promise(() => {}));
            };
        "#;
        let module = world.load("runaway.ts", text).await.unwrap();
        let ask = async |event: &str, limit| fire(&module, event, 0, &json!({}), limit).await;
        assert_eq!([ask("count", None).await, ask("count", None).await], [returned(json!(1)), returned(json!(2))]);
        for event in ["spin", "later"] {
            assert_eq!(ask(event, None).await, CallOutcome::Overrun(Overrun::Cpu), "{} {event}", engine.name());
            assert_eq!(ask("count", None).await, returned(json!(1)), "{} after {event}", engine.name());
        }
        // A runtime that collects garbage without end may run out of time before memory.
        assert!(matches!(ask("hoard", None).await, CallOutcome::Overrun(_)), "{}", engine.name());
        assert_eq!(ask("count", None).await, returned(json!(1)));
        assert!(matches!(ask("deep", None).await, CallOutcome::Threw { is_error: true, .. }));
        assert_eq!(ask("count", None).await, returned(json!(2)));
        let limit = Duration::from_millis(50);
        assert_eq!(ask("wait", Some(limit)).await, CallOutcome::TimedOut(limit));
        assert_eq!(ask("count", None).await, returned(json!(1)));
    }
}

/// OM-X7: the clock stands still while a person thinks.
#[tokio::test]
async fn a_dialog_takes_as_long_as_it_takes() {
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        world.host.answer("ui.confirm", json!(true));
        let text = "export default (pi) => { pi.on('tool_call', async (event, ctx) => [await ctx.ui.confirm('t', 'm'), ctx.hasUI]); };";
        let module = world.load("dialog.ts", text).await.unwrap();
        let person = world.host.person.clone();
        let moment = ModuleContext { has_ui: true, cwd: "/".into(), model: None };
        let payload = json!({});
        let asked = fire_in(&module, "tool_call", 0, &payload, &moment, Some(Duration::from_millis(200)));
        let thinking = async {
            tokio::time::sleep(Duration::from_millis(600)).await;
            person.cancel();
        };
        let (answer, ()) = tokio::join!(asked, thinking);
        assert_eq!(answer, returned(json!([true, true])), "{}", engine.name());
        assert_eq!(world.host.told("ui.confirm"), [vec![json!("t"), json!("m")]]);
    }
}

/// OM-X8: a name we do not have fails when it is used, not when it is imported.
#[tokio::test]
async fn unknown_names_of_the_host_load() {
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        let text = r#"
            import { NoSuchThing, visibleWidth } from "@mariozechner/pi-tui";
            import { DynamicBorder, AlsoUnknown } from "@oh-my-pi/pi-coding-agent";
            import { Type } from "@sinclair/typebox";
            class Mine extends AlsoUnknown {}
            export default (pi) => {
                pi.on("known", () => [visibleWidth("\u001b[1mab\u001b[0m世"), new DynamicBorder().render(3), Type.Object({ a: Type.Optional(Type.String()), b: Type.Number() }).required, typeof Mine]);
                pi.on("unknown", () => NoSuchThing());
            };
        "#;
        let module = world.load("names.ts", text).await.unwrap();
        assert_eq!(fire(&module, "known", 0, &json!({}), None).await, returned(json!([4, ["───"], ["b"], "function"])));
        let message = "NoSuchThing of @mariozechner/pi-tui is not available in ona".to_owned();
        assert_eq!(fire(&module, "unknown", 0, &json!({}), None).await, CallOutcome::Threw { message, is_error: true });
    }
}

/// The session is read while the handler waits, without a promise.
#[tokio::test]
async fn the_session_is_read_at_once() {
    for engine in engines().await {
        let world = World::new(Arc::clone(&engine));
        world.host.answer("session.getBranch", json!([{"id": "1"}, {"id": "2"}]));
        world.host.answer("session.getSessionId", json!("s-1"));
        world.host.answer("context.isIdle", json!(false));
        let body =
            "return [ctx.sessionManager.getBranch('x').length, ctx.sessionManager.getSessionId(), ctx.isIdle()];";
        assert_eq!(world.run("session.js", body).await, returned(json!([2, "s-1", false])), "{}", engine.name());
        assert_eq!(world.host.told("session.getBranch"), [vec![json!("x")]]);
    }
}
