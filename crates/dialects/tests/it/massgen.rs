//! Hooks of a MassGen configuration: the YAML file, Python functions in their interpreter, programs.
//! Real Python, real programs; the ids are those of the framework's given/when/then rows.

use crate::World;
use ona_api::{EventKind, EventName, Ruling};
use ona_dialects::LoadedHooks;
use ona_dialects::massgen::{MassgenConfigError, MassgenSource, load};
use ona_hookplane::{Firing, HookEngine, HookEnvironment, HookList, HookOutcome, ProcessRunner, Timeouts};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

fn file(world: &World, name: &str, text: impl AsRef<[u8]>) {
    let path = world.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn environment(world: &World) -> HookEnvironment {
    HookEnvironment::new(world.env.clone(), world.path(), Timeouts::from_env(&world.env).0)
}

/// What the file `name` of this world configures.
fn configured(world: &World, name: &str) -> Result<LoadedHooks, MassgenConfigError> {
    let (path, cwd) = (world.path().join(name), world.path());
    let env = environment(world).lasting("/db/ona.db");
    load(&MassgenSource { path: &path, agent: None, cwd: &cwd, env, disabled: None, cancel: &CancellationToken::new() })
}

fn engine(world: &World, name: &str) -> HookEngine {
    let hooks = configured(world, name).unwrap_or_else(|bad| panic!("{bad}")).hooks;
    let runner = Arc::new(ProcessRunner::new(environment(world), CancellationToken::new()));
    HookEngine::new(HookList::new(hooks), environment(world), runner, world.redactor.clone())
}

/// A world with this configuration and a module `hooks.py`.
fn world(yaml: &str, module: &str) -> World {
    let world = World::new();
    file(&world, "hooks.yaml", yaml);
    file(&world, "hooks.py", module);
    world
}

/// One PreToolUse hook, `hooks.f`, with this body and these further keys.
fn python(body: &str, keys: &str) -> World {
    world(&format!("hooks:\n  PreToolUse:\n    - handler: hooks.f\n{keys}"), &function("f", body))
}

fn function(name: &str, body: &str) -> String {
    let lines: Vec<_> = body.lines().map(|line| format!("    {line}")).collect();
    format!("def {name}(event):\n{}\n", lines.join("\n"))
}

/// One hook that is a program.
fn program(event: &str, script: &str, keys: &str) -> World {
    let world = world(&format!("hooks:\n  {event}:\n    - handler: hook.sh\n      type: command\n{keys}"), "");
    file(&world, "hook.sh", script);
    world
}

fn firing(world: &World) -> Firing {
    let fields =
        json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x"}, "tool_use_id": "t1"});
    Firing::new(EventName::PreToolUse, world.base(&world.path()), fields)
}

async fn fire(world: &World) -> HookOutcome {
    engine(world, "hooks.yaml").fire(firing(world)).await
}

#[track_caller]
fn denied(outcome: &HookOutcome, reason: &str) {
    assert_eq!((outcome.is_denied(), outcome.message().as_str()), (true, reason), "{outcome:?}");
}

fn why(outcome: &HookOutcome, kind: EventKind) -> Vec<&str> {
    outcome.notes.iter().filter(|note| note.kind == kind).map(|note| note.why.as_str()).collect()
}

fn errors(outcome: &HookOutcome) -> Vec<&str> {
    why(outcome, EventKind::HookError)
}

// ---- the file --------------------------------------------------------------------------

#[test]
fn mg_x14_a_wrong_type_is_an_error_that_names_its_place() {
    let cases = [
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: '10'}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: 0}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        ("hooks: {PreToolUse: [{handler: 5}]}", "hooks.PreToolUse[0].handler must be a non-empty string"),
        ("hooks: {PostToolUse: [{matcher: x}]}", "hooks.PostToolUse[0].handler is missing"),
        ("hooks: {PreToolUse: [{handler: a.b, matcher: [x]}]}", "hooks.PreToolUse[0].matcher must be a string"),
        ("hooks: {PreToolUse: [{handler: a.b, type: http}]}", "hooks.PreToolUse[0].type must be python or command"),
        (
            "hooks: {PreToolUse: [{handler: a.b, fail_closed: 1}]}",
            "hooks.PreToolUse[0].fail_closed must be true or false",
        ),
        (
            "hooks: {PreToolUse: [{handler: \"a 'b\", type: command}]}",
            "hooks.PreToolUse[0].handler has a quote that is never closed",
        ),
        ("hooks: {PreToolUse: 5}", "hooks.PreToolUse must be a list of hooks, or a mapping with override and hooks"),
        ("hooks: {PreToolUse: [x]}", "hooks.PreToolUse[0] must be a mapping"),
        ("hooks: [x]", "hooks must be a mapping from event to hooks"),
        (
            "agents: [{id: a, backend: {hooks: {PreToolUse: {override: 'yes'}}}}]",
            "agents[0].backend.hooks.PreToolUse.override must be true or false",
        ),
        ("agent: {id: 5}", "agent.id must be a non-empty string"),
        ("agents: [{id: a}, {id: a}]", "agents[1].id is the id of another agent already"),
        ("agents: [{id: a}]\nagent: {id: b}", "agents and agent cannot both be set"),
        // What is wrong with the YAML itself is said plainly, too.
        ("hooks: [", "is not valid YAML: unclosed bracket"),
        ("just text", "at line 1, column 1 there must be a mapping"),
        ("- a\n- b", "at line 1, column 1 there must be a mapping"),
        ("hooks:\n  PreToolUse: []\n  PreToolUse: []\n", "duplicate mapping key: PreToolUse at line 3"),
        ("hooks: {}\n---\nhooks: {}\n", "there is more than one document at line 3"),
        ("agents: {a: {}}\n", "at line 1, column 9 there must be a list"),
        ("agents:\n  - id: a\n    backend: claude\n", "at line 3, column 14 there must be a mapping"),
    ];
    let large = format!("a: &a [{}]\nb: &b [{}]\nc: &c [{}]\n", "x,".repeat(80), "*a,".repeat(80), "*b,".repeat(80));
    let large = (large.as_str(), "it is too large, or refers to its own parts too often");
    for (yaml, what) in cases.into_iter().chain([large]) {
        let world = world(yaml, "");
        let Err(bad) = configured(&world, "hooks.yaml") else { panic!("{yaml} was read") };
        let said = bad.to_string();
        assert!(said.contains(what) && said.contains("hooks.yaml"), "{yaml}: {said}");
        // The settings of the YAML reader are its own business.
        assert!(!said.contains("Options"), "{said}");
    }
}

#[test]
fn anchors_and_merged_keys_are_read_as_yaml() {
    let anchors = "common: &base {handler: hooks.f, matcher: Glob}
more: &more {timeout: 3}
hooks:
  PreToolUse:
    - <<: [*base, *more]
      matcher: Write
      type:
  PostToolUse: &list
    - *base
";
    let world = world(anchors, "");
    let hooks = configured(&world, "hooks.yaml").unwrap_or_else(|bad| panic!("{bad}")).hooks;
    let read: Vec<_> = hooks
        .iter()
        .map(|hook| (hook.matcher.as_str(), hook.effective_timeout(&Timeouts::default()).as_millis()))
        .collect();
    assert_eq!(read, [("Write", 3_000), ("Glob", 30_000)]);
}

/// MG-8.1: what other hooks may take does not count here (DEC-054).
#[test]
fn mg_8_1_the_timeout_is_30_seconds_unless_an_entry_says_otherwise() {
    let yaml = "hooks: {PreToolUse: [{handler: a.b}, {handler: c.d, timeout: 60}, {handler: e.f, timeout: 0.5}]}";
    let mut world = world(yaml, "");
    world.env.set("SDLC_HOOK_TIMEOUT_MS", "5");
    let timeouts = Timeouts::from_env(&world.env).0;
    let hooks = configured(&world, "hooks.yaml").unwrap_or_else(|bad| panic!("{bad}")).hooks;
    let read: Vec<_> = hooks.iter().map(|hook| hook.effective_timeout(&timeouts).as_millis()).collect();
    assert_eq!(read, [30_000, 60_000, 500]);
}

#[tokio::test]
async fn mg_x15_programs_and_modules_are_found_beside_the_configuration_first() {
    let yaml = "hooks:
  PreToolUse:
    - {handler: scripts/found.py, type: command}
    - {handler: './scripts/with space.sh', type: command}
    - {handler: \"scripts/args.sh 'a b' c\", type: command}
    - {handler: inner.f}
    - {handler: outer.f}
";
    let world = World::new();
    file(&world, "config/hooks.yaml", yaml);
    file(&world, "config/scripts/found.py", "open('log', 'a').write('found\\n')\n");
    file(&world, "scripts/found.py", "open('log', 'a').write('wrong\\n')\n");
    file(&world, "config/scripts/with space.sh", "echo space >> log\n");
    file(&world, "scripts/args.sh", "printf '%s|' \"$@\" >> log; echo >> log\n");
    file(&world, "config/inner.py", "def f(event): open('log', 'a').write('inner\\n')\n");
    file(&world, "outer.py", "def f(event): open('log', 'a').write('outer\\n')\n");
    let outcome = engine(&world, "config/hooks.yaml").fire(firing(&world)).await;
    assert_eq!(world.read("log"), "found\nspace\na b|c|\ninner\nouter\n", "{:?}", errors(&outcome));
}

#[tokio::test]
async fn an_executable_program_is_started_directly_and_a_bare_name_is_the_installed_one() {
    let yaml = "hooks:
  PreToolUse:
    - {handler: hook.py, type: command}
    - {handler: plain.py, type: command}
    - {handler: \"python3 -c 'print(1)'\", type: command}
";
    let world = world(yaml, "");
    for (name, script) in
        [("hook.py", "#!/bin/sh\necho sh >> log\n"), ("plain.py", "open('log', 'a').write('python\\n')\n")]
    {
        file(&world, name, script);
        std::fs::set_permissions(world.path().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    file(&world, "python3", "echo '{\"decision\":\"deny\"}'");
    let outcome = fire(&world).await;
    assert_eq!((world.read("log").as_str(), outcome.is_denied()), ("sh\npython\n", false));
}

#[tokio::test]
async fn a_subagent_whose_type_or_id_is_an_agents_id_is_that_agent() {
    let yaml = "hooks: {PreToolUse: [{handler: hooks.f}]}
agents:
  - {id: agent_b}
  - {id: agent_a, backend: {hooks: {PreToolUse: [{handler: hooks.g}]}}}
";
    let world = world(yaml, &(function("f", "pass") + &function("g", "pass")));
    let engine = engine(&world, "hooks.yaml");
    for (id, kind, hooks, told) in [
        (Some("x"), Some("agent_a"), 2, "agent_a"),
        (Some("agent_a"), Some("explore"), 2, "agent_a"),
        (Some("x"), Some("explore"), 1, "x"),
        (None, None, 1, "agent_b"),
    ] {
        let mut firing = firing(&world);
        (firing.base.agent_id, firing.base.agent_type) = (id.map(str::to_owned), kind.map(str::to_owned));
        let outcome = engine.fire(firing).await;
        let stdin: Value = serde_json::from_str(&outcome.runs[0].input_json).unwrap();
        assert_eq!((outcome.runs.len(), &stdin["agent_id"]), (hooks, &json!(told)), "{id:?} {kind:?}");
    }
}

// ---- functions -------------------------------------------------------------------------

#[tokio::test]
async fn mg_x2_x3_an_ask_is_an_ask_and_only_a_deny_is_stronger() {
    let ask = "return {'decision': 'ask', 'reason': 'really?'}";
    for (second, expected) in [("allow", Ruling::Ask), ("deny", Ruling::Deny)] {
        let module = function("f", ask) + &function("g", &format!("return {{'decision': '{second}'}}"));
        let world = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: hooks.g}\n", &module);
        let (ruling, _, reason) = fire(&world).await.ruling.unwrap();
        assert_eq!(ruling, expected, "{second}");
        assert!(expected == Ruling::Deny || reason == "really?", "{reason}");
    }
}

#[tokio::test]
async fn mg_x5_whatever_can_be_awaited_is_awaited() {
    let module = "import asyncio
async def coroutine(event):
    await asyncio.sleep(0)
    return {'decision': 'deny', 'reason': 'coroutine'}
class Instance:
    async def __call__(self, event):
        return {'decision': 'deny', 'reason': 'instance'}
instance = Instance()
def returning(event):
    return coroutine(event)
";
    let handlers =
        [("coroutine", "coroutine"), ("instance", "instance"), ("returning", "coroutine"), ("Instance", "instance")];
    for (name, reason) in handlers {
        let world = world(&format!("hooks:\n  PreToolUse:\n    - handler: hooks.{name}\n"), module);
        denied(&fire(&world).await, reason);
    }
}

/// Nothing beside a no may take it away on the way here.
#[tokio::test]
async fn a_deny_arrives_whatever_else_the_function_returns_and_prints() {
    let bodies = [
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'name': 'caf\\udce9'}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'number': 10 ** 400}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': 'x' * 6_000_000}",
        "deep = {}\nfor _ in range(300): deep = {'a': deep}\nreturn {'metadata': deep, 'decision': 'deny', 'reason': 'R'}",
        "print('\\udce9' * 2_000_000)\nreturn {'decision': 'deny', 'reason': 'R'}",
        "import sys\nsys.stdout.reconfigure(line_buffering=True)\nsys.stdout.close()\nprint('x')\nreturn {'decision': 'deny', 'reason': 'R'}",
    ];
    for body in bodies {
        denied(&fire(&python(body, "")).await, "R");
    }
    denied(&fire(&python("return {'decision': 'deny', 'reason': 'caf\\udce9'}", "")).await, "caf?");
    let outcome = fire(&python("print('y' * 300_000)", "")).await;
    let printed = outcome.runs[0].stderr.as_deref().unwrap();
    assert!(printed.ends_with("yy\n[SDLC_OUTPUT_TRUNCATED]\n"), "{}", &printed[printed.len() - 40..]);
}

#[tokio::test]
async fn a_process_that_a_function_forks_never_answers_for_it_and_state_lasts() {
    let body = "import os
global count
count = globals().get('count', 0) + 1
if os.fork() == 0:
    return {'decision': 'allow'}
return {'decision': 'deny', 'reason': str(count)}";
    let world = python(body, "");
    let engine = engine(&world, "hooks.yaml");
    for number in 1..=4 {
        denied(&engine.fire(firing(&world)).await, &number.to_string());
    }
    assert!(!world.exists("__pycache__"));
}

#[tokio::test]
async fn every_function_is_called_in_the_directory_of_the_session() {
    let two = "import os\nreturn {'decision': 'deny', 'reason': os.getcwd()}";
    let module = function("one", "import os\nos.chdir('/')") + &function("two", two);
    let world = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n", &module);
    denied(&fire(&world).await, &world.path().to_string_lossy());
}

#[tokio::test]
async fn a_file_in_the_project_cannot_stand_in_for_the_standard_library() {
    let body = "import secrets, decimal
return {'decision': 'deny', 'reason': secrets.__name__ + str(decimal.Decimal(1))}";
    let world = python(body, "");
    for module in ["secrets", "decimal", "json", "traceback"] {
        file(&world, &format!("{module}.py"), "raise SystemExit('not me')\n");
    }
    denied(&fire(&world).await, "secrets1");
}

#[tokio::test]
async fn mg_x6_what_is_no_result_allows_with_a_warning() {
    for (value, shown) in [("False", "false"), ("'deny'", "\"deny\""), ("42", "42"), ("[1]", "[1]")] {
        // A value that is not a result is a warning and not a failure.
        let outcome = fire(&python(&format!("return {value}"), "      fail_closed: true\n")).await;
        assert!(!outcome.is_denied(), "{value}");
        let expected = format!("it returned {shown}, which is not a HookResult and counts as allow");
        assert_eq!(why(&outcome, EventKind::HookOutputInvalid), [expected]);
    }
}

#[tokio::test]
async fn mg_x7_modified_args_win_over_updated_input() {
    let body = "import json
return {'updated_input': {'file_path': 'b.txt', 'content': ''},
        'modified_args': json.dumps({'file_path': 'c.txt', 'content': 'args'})}";
    assert_eq!(fire(&python(body, "")).await.input, Some(json!({"file_path": "c.txt", "content": "args"})));
}

/// MG-5.2, MG-10.2: nothing is merged, and the next hook gets what the one before left.
#[tokio::test]
async fn updated_input_replaces_the_whole_input_and_the_next_hook_gets_it() {
    let two = "return {'updated_input': {'was': dict(event.tool_input), 'b': 3}}";
    let module = function("one", "return {'updated_input': {'a': 2}}") + &function("two", two);
    let world = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n", &module);
    let outcome = fire(&world).await;
    assert_eq!(outcome.input, Some(json!({"was": {"a": 2}, "b": 3})));
    let told = |run: usize| serde_json::from_str::<Value>(&outcome.runs[run].input_json).unwrap()["tool_input"].clone();
    assert_eq!((told(0)["content"].clone(), told(1)), (json!("x"), json!({"a": 2})));
}

/// MG-5.1
#[tokio::test]
async fn a_deny_of_a_function_is_recorded_as_exit_2_and_that_of_a_program_as_its_own_code() {
    let outcome = fire(&python("return {'decision': 'deny', 'reason': 'R'}", "")).await;
    let run = &outcome.runs[0];
    assert_eq!((run.exit_code, run.stdout.as_deref()), (Some(2), Some(r#"{"decision":"deny","reason":"R"}"#)));
    let outcome = fire(&program("PreToolUse", "echo '{\"decision\":\"deny\",\"reason\":\"R\"}'", "")).await;
    denied(&outcome, "R");
    assert_eq!((outcome.runs[0].exit_code, outcome.runs[0].command.as_str()), (Some(0), "massgen:command:hook.sh"));
}

#[tokio::test]
async fn mg_x9_prints_go_to_the_row_and_never_into_the_protocol() {
    let body = "import os, sys
print('{\"result\": {}}')
sys.stdout.buffer.write(b'bytes\\n')
sys.stdin.read()
os.write(1, b'low level\\n')
os.system('echo child')
print('error', file=sys.stderr)
return {'decision': 'deny', 'reason': 'R'}";
    let outcome = fire(&python(body, "")).await;
    denied(&outcome, "R");
    let text = outcome.runs[0].stderr.as_deref().unwrap();
    assert!(text.ends_with("{\"result\": {}}\nbytes\nerror\n"), "{text}");
}

#[tokio::test]
async fn mg_x10_the_frameworks_own_types_can_be_imported_without_it() {
    let module = "from massgen.mcp_tools.hooks import HookEvent, HookResult, HookType
from massgen.mcp_tools.hooks import GeneralHookManager, PatternHook, PythonCallableHook
import massgen.mcp_tools.hooks as module
def f(event: HookEvent) -> HookResult:
    assert isinstance(event, HookEvent) and event.hook_type == HookType.PRE_TOOL_USE.value
    assert event.timestamp.utcoffset().total_seconds() == 0
    assert sorted(event.to_dict()) == ['agent_id', 'hook_type', 'orchestrator_id', 'session_id', 'timestamp',
                                       'tool_input', 'tool_name', 'tool_output']
    assert HookEvent.from_json(event.to_json()).to_dict() == event.to_dict()
    assert event['tool_name'] == event.get('tool_name') == event.tool_name == 'Write'
    assert event['cwd'] == event.cwd and 'cwd' in event and event.get('nothing') is None
    assert dict(event)['timestamp'] == event.to_dict()['timestamp']
    assert HookResult.from_dict({'decision': 'ask', 'hook_name': 'x'}).decision == 'ask'
    assert HookResult(False).decision == 'deny' and HookResult.allow().allowed
    return HookResult.deny('typed')
";
    denied(&fire(&world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n", module)).await, "typed");
}

#[tokio::test]
async fn the_real_package_is_used_as_soon_as_a_hook_asks_for_more_of_it() {
    let module = "from massgen.mcp_tools.hooks import HookResult
def f(event):
    return HookResult.allow()
def g(event):
    from massgen.extra import REASON
    return HookResult.deny(REASON)
";
    let world = world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n    - handler: hooks.g\n", module);
    file(&world, "massgen/__init__.py", "");
    file(&world, "massgen/extra.py", "REASON = 'from the real one'\n");
    denied(&fire(&world).await, "from the real one");
}

#[tokio::test]
async fn mg_x11_after_a_timeout_or_a_death_another_interpreter_serves() {
    let once = "import os\nif not os.path.exists('once'):\n    open('once', 'w').close()\n";
    let second = "\nreturn {'decision': 'deny', 'reason': 'second'}";
    for (first, error) in [
        ("    while True: pass", "Hook python_hooks.f timed out"),
        ("    os._exit(9)", "Hook python_hooks.f failed: the Python process was lost: it ended"),
    ] {
        let world = python(&format!("{once}{first}{second}"), "      timeout: 0.5\n");
        let engine = engine(&world, "hooks.yaml");
        let outcome = engine.fire(firing(&world)).await;
        assert_eq!((outcome.is_denied(), errors(&outcome)), (false, vec![error]));
        denied(&engine.fire(firing(&world)).await, "second");
    }
}

// ---- failures --------------------------------------------------------------------------

#[tokio::test]
async fn mg_x8_exit_2_is_an_error_like_any_other_and_its_output_does_not_count() {
    let world = program("PreToolUse", "echo '{\"decision\":\"deny\"}'; echo no >&2; exit 2", "");
    let outcome = fire(&world).await;
    assert!(!outcome.is_denied());
    assert_eq!((outcome.runs[0].exit_code, outcome.runs[0].stderr.as_deref()), (Some(2), Some("no\n")));
    assert_eq!(errors(&outcome), ["Hook command_hook.sh exited with code 2"]);
}

#[tokio::test]
async fn mg_9_1_an_exception_is_recorded_with_what_was_printed_and_its_traceback() {
    let outcome = fire(&python("print('before')\nraise ValueError('boom')", "")).await;
    assert_eq!((outcome.is_denied(), outcome.runs[0].exit_code), (false, Some(1)));
    let text = outcome.runs[0].stderr.as_deref().unwrap();
    assert!(text.starts_with("before\n") && text.contains("hooks.py") && text.ends_with("ValueError: boom"), "{text}");
    // Leaving the interpreter is an exception as well.
    let outcome = fire(&python("import sys\nsys.exit(3)", "")).await;
    assert_eq!((outcome.is_denied(), errors(&outcome)), (false, vec!["Hook python_hooks.f failed: SystemExit: 3"]));
}

#[tokio::test]
async fn mg_9_2_output_that_is_not_one_json_object_is_noted_once_and_passes() {
    for script in ["echo not json", "echo '[1]'", "echo '{} {}'", "echo '{\"decision\":'"] {
        let outcome = fire(&program("PreToolUse", script, "")).await;
        assert_eq!((outcome.is_denied(), why(&outcome, EventKind::HookOutputInvalid).len()), (false, 1), "{script}");
    }
}

/// A hook after the tool that cannot be imported denies the call before it, too; an acceptance row shows that.
#[tokio::test]
async fn mg_9_3_what_cannot_be_imported_denies_and_says_why() {
    for (handler, why) in [
        ("no_such.mod", "ModuleNotFoundError: No module named 'no_such'"),
        ("hooks.nothing", "AttributeError: module 'hooks' has no attribute 'nothing'"),
        ("nodot", "ImportError: 'nodot' is not module.function"),
        ("hooks.K.f", "ModuleNotFoundError: No module named 'hooks.K'; 'hooks' is not a package"),
        ("hooks.number", "ImportError: hooks.number cannot be called"),
        ("broken.f", "ZeroDivisionError: division by zero"),
        ("massgen.hooks.log", "ModuleNotFoundError: No module named 'massgen'"),
    ] {
        let module = "number = 5\nclass K:\n    def f(event): pass\n";
        let world = world(&format!("hooks:\n  PreToolUse:\n    - handler: {handler}\n"), module);
        file(&world, "broken.py", "1/0\n");
        let (outcome, reason) = (fire(&world).await, format!("Hook import failed: {why}"));
        denied(&outcome, &reason);
        assert_eq!((errors(&outcome), outcome.runs[0].exit_code), (vec![reason.as_str()], None));
    }
}

/// A child that a function started ends with its interpreter.
#[tokio::test]
async fn mg_8_3_a_function_that_takes_too_long_is_ended_with_its_children() {
    let body = "import subprocess\nchild = subprocess.Popen(['sleep', '600'])
with open('child', 'w') as file: file.write(str(child.pid))\nwhile True: pass";
    let world = python(body, "      timeout: 1\n");
    let outcome = fire(&world).await;
    assert_eq!((outcome.is_denied(), outcome.runs[0].exit_code), (false, None));
    assert_eq!(errors(&outcome), ["Hook python_hooks.f timed out"]);
    // The call does not wait until the processes are gone.
    let cmdline = format!("/proc/{}/cmdline", world.read("child"));
    let alive = || std::fs::read(&cmdline).is_ok_and(|command| command.starts_with(b"sleep"));
    for _ in 0..500 {
        if !alive() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("a child of the function is alive");
}

#[tokio::test]
async fn without_an_interpreter_nothing_can_be_imported() {
    let mut world = python("pass", "");
    world.env.set("ONA_PYTHON", "/no/such/python");
    denied(&fire(&world).await, "Hook import failed: the program /no/such/python was not found");
}

#[tokio::test]
async fn an_import_that_failed_is_tried_again_and_one_that_worked_is_kept() {
    let world = world("hooks:\n  PreToolUse:\n    - {handler: late.f}\n", "");
    let engine = engine(&world, "hooks.yaml");
    assert!(engine.fire(firing(&world)).await.is_denied());
    file(&world, "late.py", "def f(e): return None");
    assert!(!engine.fire(firing(&world)).await.is_denied());
    std::fs::remove_file(world.path().join("late.py")).unwrap();
    assert!(!engine.fire(firing(&world)).await.is_denied());
}

#[tokio::test]
async fn mg_x1_fail_closed_turns_every_failure_before_the_tool_into_a_denial() {
    let closed = "      fail_closed: true\n      timeout: 0.3\n";
    let pythons = [
        ("raise ValueError('boom')", "Hook python_hooks.f failed: ValueError: boom"),
        ("while True: pass", "Hook python_hooks.f timed out"),
        ("import os\nos._exit(0)", "Hook python_hooks.f failed: the Python process was lost: it ended"),
        (
            "return {'updated_input': float('nan')}",
            "Hook python_hooks.f failed: updated_input cannot be passed on: ValueError: Out of range float values are not JSON compliant",
        ),
    ];
    for (body, reason) in pythons {
        let outcome = fire(&python(body, closed)).await;
        denied(&outcome, reason);
        // A timeout that denies is recorded as exit 2 (DEC-054).
        let code = if reason.ends_with("timed out") { 2 } else { 1 };
        assert_eq!((outcome.runs[0].exit_code, errors(&outcome)), (Some(code), vec![reason]), "{body}");
    }
    let programs = [
        ("exit 1", "Hook command_hook.sh exited with code 1"),
        ("exit 2", "Hook command_hook.sh exited with code 2"),
        ("sleep 7656", "Hook command_hook.sh timed out"),
        ("echo not json", "Hook command_hook.sh failed: its output could not be read"),
    ];
    for (script, reason) in programs {
        denied(&fire(&program("PreToolUse", script, closed)).await, reason);
    }
    // A program that is not there is a failure, too; without fail_closed it passes.
    let gone =
        |keys: &str| world(&format!("hooks:\n  PreToolUse:\n    - {{handler: ./gone.sh, type: command{keys}}}\n"), "");
    let reason = "Hook command_./gone.sh failed: [SDLC] hook not started: the program ./gone.sh was not found";
    denied(&fire(&gone(", fail_closed: true")).await, reason);
    let outcome = fire(&gone("")).await;
    assert_eq!((outcome.is_denied(), outcome.runs[0].exit_code, errors(&outcome).len()), (false, None, 1));
}

#[tokio::test]
async fn fail_closed_after_the_tool_denies_nothing() {
    let world = program("PostToolUse", "exit 1", "      fail_closed: true\n");
    let fields = json!({"tool_name": "Write", "tool_input": {}, "tool_response": {}, "tool_use_id": "t1"});
    let firing = Firing::new(EventName::PostToolUse, world.base(&world.path()), fields);
    let outcome = engine(&world, "hooks.yaml").fire(firing).await;
    assert_eq!((outcome.is_denied(), errors(&outcome)), (false, vec!["Hook command_hook.sh exited with code 1"]));
}
