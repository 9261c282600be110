//! Python functions in their interpreter.

use super::*;

#[test]
fn mg_x2_to_x4_an_ask_is_asked_and_nobody_to_ask_means_no() {
    let ask = "return {'decision': 'ask', 'reason': 'really?'}";
    let mut ona = python(ask, "");
    let input = json!({"file_path": "a.txt", "content": "x"});
    // MG-X2: the operator of --eval says yes with --yes.
    assert_eq!(ona.eval_with("Write", input.clone(), &["--yes"])["is_error"], false);
    let refused = ona.eval("Write", input.clone());
    assert_eq!(refused["is_error"], true);
    assert!(said(&refused).contains("really?"), "{refused}");
    assert_eq!(ona.value("SELECT count(*) FROM tool_permission_log"), 2);
    // MG-X4
    let _model = ona.model(Wire::Messages, [call("Write", json!({"file_path": "b.txt", "content": ""})), say("no")]);
    ona.run(["-p", "go"]).expect_code(0);
    assert!(!ona.exists("b.txt"));
    // MG-X3
    for (second, expected) in [("allow", "ask"), ("deny", "deny")] {
        let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: hooks.g}\n");
        ona.file("hooks.py", function("f", ask) + &function("g", &format!("return {{'decision': '{second}'}}")));
        assert_eq!(fire(&ona, pre("Write"), &[])["permission"], expected, "{second}");
    }
}

#[test]
fn mg_x5_whatever_can_be_awaited_is_awaited() {
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
        let ona = world(&format!("hooks:\n  PreToolUse:\n    - handler: hooks.{name}\n"));
        ona.file("hooks.py", module);
        denied(&write(&ona), reason);
    }
}

/// Nothing beside a no may take it away on the way here.
#[test]
fn a_deny_arrives_whatever_else_the_function_returns_and_prints() {
    let bodies = [
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'name': 'caf\\udce9'}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': {'number': 10 ** 400}}",
        "return {'decision': 'deny', 'reason': 'R', 'metadata': 'x' * 6_000_000}",
        "deep = {}\nfor _ in range(300): deep = {'a': deep}\nreturn {'metadata': deep, 'decision': 'deny', 'reason': 'R'}",
        "print('\\udce9' * 2_000_000)\nreturn {'decision': 'deny', 'reason': 'R'}",
        "import sys\nsys.stdout.reconfigure(line_buffering=True)\nsys.stdout.close()\nprint('x')\nreturn {'decision': 'deny', 'reason': 'R'}",
    ];
    for body in bodies {
        denied(&write(&python(body, "")), "R");
    }
    let ona = python("return {'decision': 'deny', 'reason': 'caf\\udce9'}", "");
    denied(&write(&ona), "caf?");
    let ona = python("print('y' * 300_000)", "");
    write(&ona);
    let printed = hook_rows(&ona, "stderr_text")[0][0].as_str().unwrap().to_owned();
    assert!(printed.ends_with("yy\n[SDLC_OUTPUT_TRUNCATED]\n"), "{}", &printed[printed.len() - 40..]);
}

#[test]
fn a_process_that_a_function_forks_never_answers_for_it() {
    let body = "import os
global count
count = globals().get('count', 0) + 1
if os.fork() == 0:
    return {'decision': 'allow'}
return {'decision': 'deny', 'reason': str(count)}";
    let ona = python(body, "      matcher: Glob\n");
    for (number, result) in evals(&ona, &[glob(), glob(), glob(), glob()]).iter().enumerate() {
        denied(result, &(number + 1).to_string());
    }
}

#[test]
fn every_function_is_called_in_the_directory_of_the_session() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.one}\n    - {handler: hooks.two}\n");
    let two = "import os\nreturn {'decision': 'deny', 'reason': os.getcwd()}";
    ona.file("hooks.py", function("one", "import os\nos.chdir('/')") + &function("two", two));
    denied(&write(&ona), &ona.project().to_string_lossy());
}

#[test]
fn mg_x6_what_is_no_result_allows_with_a_warning() {
    for (value, shown) in [("False", "false"), ("'deny'", "\"deny\""), ("42", "42"), ("[1]", "[1]")] {
        let ona = python(&format!("return {value}"), "");
        assert_eq!(write(&ona)["is_error"], false, "{value}");
        let why = format!("it returned {shown}, which is not a HookResult and counts as allow");
        assert_eq!(logged(&ona, "hook_output_invalid"), [why]);
    }
}

#[test]
fn mg_x7_modified_args_win_over_updated_input() {
    let body = "import json
return {'updated_input': {'file_path': 'b.txt', 'content': ''},
        'modified_args': json.dumps({'file_path': 'c.txt', 'content': 'args'})}";
    let ona = python(body, "");
    write(&ona);
    assert_eq!((ona.exists("b.txt"), ona.read("c.txt").as_str()), (false, "args"));
}

#[test]
fn mg_x8_exit_2_is_an_error_like_any_other_and_its_output_does_not_count() {
    let ona = program("PreToolUse", "echo '{\"decision\":\"deny\"}'; echo no >&2; exit 2", "");
    assert_eq!(write(&ona)["is_error"], false);
    assert_eq!(hook_rows(&ona, "exit_code, stderr_text")[0], [json!(2), json!("no\n")]);
    assert_eq!(errors(&ona), ["Hook command_hook.sh exited with code 2"]);
}

#[test]
fn mg_x9_prints_go_to_the_row_and_never_into_the_protocol() {
    let body = "import os, sys
print('{\"result\": {}}')
sys.stdout.buffer.write(b'bytes\\n')
sys.stdin.read()
os.write(1, b'low level\\n')
os.system('echo child')
print('error', file=sys.stderr)
return {'decision': 'deny', 'reason': 'R'}";
    let ona = python(body, "");
    denied(&write(&ona), "R");
    let text = hook_rows(&ona, "stderr_text")[0][0].as_str().unwrap().to_owned();
    assert!(text.ends_with("{\"result\": {}}\nbytes\nerror\n"), "{text}");
}

#[test]
fn mg_x10_the_frameworks_own_types_can_be_imported_without_it() {
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
    let ona = world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n");
    ona.file("hooks.py", module);
    denied(&write(&ona), "typed");
}

#[test]
fn the_real_package_is_used_as_soon_as_a_hook_asks_for_more_of_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - handler: hooks.f\n    - handler: hooks.g\n");
    ona.file("massgen/__init__.py", "");
    ona.file("massgen/extra.py", "REASON = 'from the real one'\n");
    let module = "from massgen.mcp_tools.hooks import HookResult
def f(event):
    return HookResult.allow()
def g(event):
    from massgen.extra import REASON
    return HookResult.deny(REASON)
";
    ona.file("hooks.py", module);
    denied(&write(&ona), "from the real one");
}

#[test]
fn mg_x11_after_a_timeout_another_interpreter_serves() {
    let body = "import os\nif not os.path.exists('once'):\n    open('once', 'w').close()\n    while True: pass\nreturn {'decision': 'deny', 'reason': 'second'}";
    let ona = python(body, "      matcher: Glob\n      timeout: 0.5\n");
    let results = evals(&ona, &[glob(), glob()]);
    assert_eq!(results[0]["is_error"], false);
    denied(&results[1], "second");
}

#[test]
fn an_interpreter_that_died_is_an_error_and_the_next_call_has_another() {
    let body = "import os\nif not os.path.exists('once'):\n    open('once', 'w').close()\n    os._exit(9)\nreturn {'decision': 'deny', 'reason': 'second'}";
    let ona = python(body, "      matcher: Glob\n");
    let results = evals(&ona, &[glob(), glob()]);
    assert_eq!(results[0]["is_error"], false);
    assert_eq!(errors(&ona), ["Hook python_hooks.f failed: the Python process was lost: it ended"]);
    denied(&results[1], "second");
}
