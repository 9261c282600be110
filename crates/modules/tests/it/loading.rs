//! Several modules together: loading, and the rules of events.

use crate::world::{World, moment};
use ona_modules::embedded::QuickJs;
use ona_modules::rules::{Emitter, ModuleEvent};
use ona_modules::{CallOutcome, Loader, ModuleCandidate, ModuleSource, RuntimeChoice};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

async fn emitter(world: &World, modules: &[(&str, &str)]) -> Emitter {
    let files = modules.iter().map(|(name, body)| {
        let path = world.file(name, &format!("export default (pi) => {{ {body} }};"));
        ModuleCandidate { path, source: ModuleSource::Configured }
    });
    let env = world.host.system.env.clone();
    let cwd = world.dir.path().to_owned();
    let loader = Loader::new(cwd.clone(), env, RuntimeChoice::ByNeed, cwd, Arc::clone(&world.host) as _);
    let loaded = loader.load(files.collect(), Vec::new()).await;
    assert_eq!(loaded.errors, []);
    Emitter::new(loaded.modules, moment())
}

fn world() -> World {
    World::new(Arc::new(QuickJs))
}

/// What handlers said about themselves, in the order they ran.
fn said(world: &World) -> Vec<Value> {
    world.host.told("appendEntry").into_iter().map(|mut args| args.remove(0)).collect()
}

/// OM-34, 003-6-09.
#[tokio::test]
async fn the_first_module_with_a_command_or_renderer_has_it() {
    let world = world();
    let modules = [
        (
            "a.js",
            "pi.registerCommand('c', { description: 'one', handler: () => 1 }); pi.registerCommand('c', { description: 'again', handler: () => 2 }); pi.registerMessageRenderer('t', () => ({ render: () => ['first'] }));",
        ),
        (
            "b.js",
            "pi.registerCommand('c', { description: 'other', handler: () => 3 }); pi.registerCommand('d', { handler: () => 4 }); pi.registerMessageRenderer('t', () => ({ render: () => ['second'] })); pi.registerMessageRenderer('u', () => undefined);",
        ),
    ];
    let emitter = emitter(&world, &modules).await;
    let listed: Vec<_> = emitter.commands().into_iter().map(|one| (one.name, one.description)).collect();
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(listed, [("c".into(), some("again")), ("c".into(), some("other")), ("d".into(), None)]);
    let cancel = CancellationToken::new();
    assert_eq!(emitter.run_command("c", "", &cancel).await, Some(CallOutcome::Returned(Some(json!(2)))));
    assert_eq!(emitter.run_command("d", "", &cancel).await, Some(CallOutcome::Returned(Some(json!(4)))));
    assert_eq!(emitter.run_command("none", "", &cancel).await, None);
    assert_eq!(emitter.render("t", &json!({}), false, 80).await, Some(vec!["first".to_owned()]));
    assert_eq!(emitter.render("u", &json!({}), false, 80).await, None);
}

/// OM-8: every event reaches its handlers with the fields of its table, and none twice.
#[tokio::test]
async fn every_event_has_its_documented_fields() {
    let world = world();
    let some = |text: &str| Some(text.to_owned());
    let events = [
        (ModuleEvent::SessionStart, json!(["type"])),
        (
            ModuleEvent::SessionBeforeSwitch { reason: "resume", target: some("t") },
            json!(["type", "reason", "targetSessionFile"]),
        ),
        (ModuleEvent::SessionSwitch { reason: "fork", previous: None }, json!(["type", "reason"])),
        (ModuleEvent::SessionBeforeBranch { entry: "e".into() }, json!(["type", "entryId"])),
        (ModuleEvent::SessionBranch { previous: some("p") }, json!(["type", "previousSessionFile"])),
        (
            ModuleEvent::SessionBeforeCompact {
                preparation: json!({}),
                branch_entries: vec![],
                instructions: some("i"),
            },
            json!(["type", "preparation", "branchEntries", "customInstructions", "signal"]),
        ),
        (
            ModuleEvent::SessionCompacting { session: "s".into(), messages: vec![] },
            json!(["type", "sessionId", "messages"]),
        ),
        (
            ModuleEvent::SessionCompact { entry: json!({}), from_extension: false },
            json!(["type", "compactionEntry", "fromExtension", "fromHook"]),
        ),
        (
            ModuleEvent::SessionBeforeTree { preparation: json!({"targetId": "t"}) },
            json!(["type", "preparation", "signal"]),
        ),
        (
            ModuleEvent::SessionTree {
                new_leaf: some("n"),
                old_leaf: some("o"),
                summary: Some(json!({})),
                from_extension: true,
            },
            json!(["type", "newLeafId", "oldLeafId", "summaryEntry", "fromExtension"]),
        ),
        (ModuleEvent::SessionShutdown, json!(["type"])),
        (
            ModuleEvent::TodoReminder { todos: vec![json!({"id": "1"})], attempt: 1, max_attempts: 3 },
            json!(["type", "todos", "attempt", "maxAttempts"]),
        ),
        (ModuleEvent::AutoCompactionStart { reason: "threshold" }, json!(["type", "reason", "action"])),
        (
            ModuleEvent::AutoCompactionEnd { result: Some(json!({})), aborted: false, error: None },
            json!(["type", "action", "result", "aborted", "willRetry"]),
        ),
    ];
    let names: Vec<_> = events.iter().map(|(event, _)| event.name()).collect();
    let body = format!(
        "for (const name of {}) pi.on(name, (event) => pi.appendEntry([event.type, Object.keys(event)])); pi.on('ttsr_triggered', () => {{}});",
        json!(names)
    );
    let emitter = emitter(&world, &[("all.js", &body)]).await;
    for (event, _) in &events {
        assert_eq!(emitter.emit(event, &CancellationToken::new()).await.runs.len(), 1, "{}", event.name());
    }
    let expected: Vec<_> = events.iter().map(|(event, fields)| json!([event.name(), fields])).collect();
    assert_eq!(said(&world), expected);
}

/// OM-9, OM-10, OM-13, OM-27, OM-32: across modules, in order, each awaited.
#[tokio::test]
async fn results_of_several_modules_combine_in_load_order() {
    let world = world();
    let modules = [
        (
            "a.js",
            "pi.on('session_before_branch', async () => { await new Promise((done) => setTimeout(done, 20)); pi.appendEntry('A1'); return { skipConversationRestore: true }; }); pi.on('session_before_branch', () => { pi.appendEntry('A2'); }); pi.on('session_before_tree', () => ({ summary: { summary: 'S' } })); pi.on('session_before_switch', () => { pi.appendEntry('stop'); return { cancel: true }; });",
        ),
        (
            "b.js",
            "pi.on('session_before_branch', () => { pi.appendEntry('B1'); return globalThis.later; }); pi.on('session_before_switch', () => { pi.appendEntry('never'); });",
        ),
    ];
    let emitter = emitter(&world, &modules).await;
    let cancel = CancellationToken::new();
    let heard = emitter.emit(&ModuleEvent::SessionBeforeBranch { entry: "e".into() }, &cancel).await;
    assert_eq!((heard.result, heard.runs.len()), (Some(json!({"skipConversationRestore": true})), 3));
    assert_eq!(said(&world), ["A1", "A2", "B1"]);
    let heard = emitter.emit(&ModuleEvent::SessionBeforeTree { preparation: json!({}) }, &cancel).await;
    assert_eq!(heard.result, Some(json!({"summary": {"summary": "S"}})));
    let heard = emitter.emit(&ModuleEvent::SessionBeforeSwitch { reason: "new", target: None }, &cancel).await;
    assert!(heard.is_cancelled());
    assert_eq!(said(&world), ["A1", "A2", "B1", "stop"]);
}

/// OM-30, OM-39: a failure is recorded and the chain continues with the values so far.
#[tokio::test]
async fn a_chain_survives_a_handler_that_fails() {
    let world = world();
    let modules = [
        (
            "a.js",
            "pi.on('context', (event) => ({ messages: [...event.messages, 1] })); pi.on('context', () => { throw new Error('second'); });",
        ),
        (
            "b.js",
            "pi.on('context', (event) => ({ messages: event.messages.map((one) => one * 10) })); pi.on('context', () => ({}));",
        ),
    ];
    let emitter = emitter(&world, &modules).await;
    let heard = emitter.emit(&ModuleEvent::Context { messages: vec![json!(5)] }, &CancellationToken::new()).await;
    assert_eq!(heard.result, Some(json!({"messages": [50, 10]})));
    let errors: Vec<_> = heard.runs.iter().filter_map(|run| Some((run.nth, run.error()?))).collect();
    assert_eq!(errors, [(1, "second".to_owned())]);
}

/// One context object per emission, shared by a module's handlers; a fresh one for the next.
#[tokio::test]
async fn handlers_of_one_emission_share_their_context() {
    let world = world();
    let body = "pi.on('agent_start', (event, ctx) => { ctx.mark = (ctx.mark ?? 0) + 1; }); pi.on('agent_start', (event, ctx) => { pi.appendEntry(ctx.mark); });";
    let emitter = emitter(&world, &[("a.js", body)]).await;
    for _ in 0..2 {
        emitter.emit(&ModuleEvent::AgentStart, &CancellationToken::new()).await;
    }
    assert_eq!(said(&world), [json!(1), json!(1)]);
}

/// Handlers may be registered while the module runs.
#[tokio::test]
async fn a_handler_registered_late_is_heard_from_then_on() {
    let world = world();
    let body = "pi.on('agent_start', () => pi.on('agent_end', () => { pi.appendEntry('late'); }));";
    let emitter = emitter(&world, &[("a.js", body)]).await;
    let cancel = CancellationToken::new();
    emitter.emit(&ModuleEvent::AgentEnd { messages: vec![] }, &cancel).await;
    assert!(said(&world).is_empty());
    emitter.emit(&ModuleEvent::AgentStart, &cancel).await;
    emitter.emit(&ModuleEvent::AgentEnd { messages: vec![] }, &cancel).await;
    assert_eq!(said(&world), ["late"]);
}

/// DEC-170: the engine is chosen by the imports, or by the operator.
#[tokio::test]
async fn the_engine_is_chosen_by_what_a_module_imports() {
    let world = world();
    let embedded = "import fs from 'node:fs'; import { Text } from '@oh-my-pi/pi-tui'; import type { X } from 'typed-only'; export default () => {};";
    let worker = "import net from 'node:net'; export default () => void net.isIP;";
    let files = [("e.ts", embedded), ("w.ts", worker)].map(|(name, text)| world.file(name, text));
    let load = async |wanted: RuntimeChoice, path: Option<&str>| {
        let mut env = world.host.system.env.clone();
        if let Some(path) = path {
            env.set("PATH", path);
        }
        let cwd = world.dir.path().to_owned();
        let loader = Loader::new(cwd.clone(), env, wanted, cwd, Arc::clone(&world.host) as _);
        let candidates =
            files.iter().map(|path| ModuleCandidate { path: path.clone(), source: ModuleSource::Configured });
        let loaded = loader.load(candidates.collect(), Vec::new()).await;
        loaded.listing.into_iter().map(|one| one.engine.ok_or(one.error.unwrap_or_default())).collect::<Vec<_>>()
    };
    let by_need = load(RuntimeChoice::ByNeed, None).await;
    assert_eq!(by_need[0], Ok("embedded".to_owned()));
    assert!(by_need[1].as_ref().is_ok_and(|engine| engine != "embedded"), "{by_need:?}");
    let forced = load(RuntimeChoice::Embedded, None).await;
    assert_eq!(
        forced[1],
        Err("Failed to load hook: it imports node:net, which the embedded engine does not have".into())
    );
    let nothing = load(RuntimeChoice::ByNeed, Some("/nowhere")).await;
    assert_eq!(nothing[1], Err("Failed to load hook: it imports node:net, and no JavaScript runtime was found (bun, node 18 or newer, deno)".into()));
    let named = load(RuntimeChoice::parse(Some("/no/such/bun")), None).await;
    assert_eq!(named[0], Err("Failed to load hook: ONA_JS_RUNTIME names /no/such/bun, which was not found".into()));
    assert_eq!(load(RuntimeChoice::parse(Some("node")), None).await[0], Ok("node".to_owned()));
}
