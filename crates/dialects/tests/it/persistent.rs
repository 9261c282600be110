//! Hooks whose process stays: started once, one line in and out per firing.

use crate::{World, bash};
use ona_api::EventName;
use ona_hookplane::{Firing, HookEngine, HookOutcome};
use serde_json::{Value, json};

/// A world with a process that stays and answers each line by `answer(event, n)`.
fn world(answer: &str) -> World {
    let world = World::new();
    let body: Vec<_> = answer.lines().map(|line| format!("    {line}")).collect();
    let script = format!(
        "import json, os, sys
def answer(event, n):
{}
with open('starts', 'a') as starts: starts.write('start\\n')
for n, line in enumerate(sys.stdin):
    with open('lines', 'a') as lines: lines.write(line)
    said = answer(json.loads(line), n)
    print(said if isinstance(said, str) else json.dumps(said), flush=True)
",
        body.join("\n")
    );
    std::fs::write(world.path().join("guard.py"), script).unwrap();
    world
}

/// An engine with one such hook, and with more keys in its entry.
fn guarding(world: &World, dialect: &str, more: Value) -> HookEngine {
    let mut hook = json!({
        "hook_event_name": "PreToolUse", "matcher": "Bash", "command": "exec python3 guard.py", "shell": "sh",
        "dialect": dialect, "persistent": true,
    });
    hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    world.engine(json!({"hooks": [hook]}))
}

async fn fire(world: &World, engine: &HookEngine, times: usize) -> Vec<HookOutcome> {
    let mut outcomes = Vec::new();
    for _ in 0..times {
        let firing = Firing::new(EventName::PreToolUse, world.base(&world.path()), bash("ls"));
        outcomes.push(engine.fire(firing).await);
    }
    outcomes
}

fn messages(outcomes: &[HookOutcome]) -> Vec<String> {
    outcomes.iter().map(HookOutcome::message).collect()
}

fn starts(world: &World) -> usize {
    if world.exists("starts") { world.read("starts").lines().count() } else { 0 }
}

const DIALECTS: [&str; 2] = ["sdlc", "claude"];

#[tokio::test]
async fn one_process_serves_all_firings_and_gets_what_stdin_would_hold() {
    for dialect in DIALECTS {
        let world = world("return {}");
        let outcomes = fire(&world, &guarding(&world, dialect, json!({})), 3).await;
        assert_eq!((starts(&world), world.read("lines").lines().count()), (1, 3), "{dialect}");
        let inputs: Vec<_> = outcomes.iter().map(|outcome| outcome.runs[0].input_json.as_str()).collect();
        assert_eq!(world.read("lines").lines().collect::<Vec<_>>(), inputs);
        let run = &outcomes[2].runs[0];
        assert_eq!(run.command, "persistent sh exec python3 guard.py");
        assert_eq!((run.exit_code, run.stdout.as_deref()), (Some(0), Some("{}")));
    }
}

#[tokio::test]
async fn an_answer_is_the_hooks_output_or_what_a_process_would_leave() {
    let deny = "{'hookSpecificOutput': {'hookEventName': 'PreToolUse', 'permissionDecision': 'deny', 'permissionDecisionReason': 'R'}}";
    let cases = [
        (format!("return {deny}"), "R"),
        (format!("return {{'stdout': {deny}}}"), "R"),
        (format!("return {{'exit_code': 0, 'stdout': json.dumps({deny})}}"), "R"),
        ("return {'exit_code': 2, 'stderr': 'no\\n'}".into(), "[0] no"),
    ];
    for dialect in DIALECTS {
        for (answer, message) in &cases {
            let world = world(answer);
            let said = fire(&world, &guarding(&world, dialect, json!({})), 2).await;
            assert_eq!((messages(&said), starts(&world)), (vec![(*message).to_owned(); 2], 1), "{dialect} {answer}");
        }
        // Any other code is a failure that passes.
        let world = world("return {'exit_code': 1}");
        let said = fire(&world, &guarding(&world, dialect, json!({})), 1).await;
        assert_eq!((said[0].is_denied(), said[0].runs[0].exit_code), (false, Some(1)));
    }
}

#[tokio::test]
async fn a_process_that_ended_is_started_again_once_and_asked_again() {
    let world = world(
        "if not os.path.exists('once'):\n    open('once', 'w').close()\n    os._exit(1)\nreturn {'exit_code': 2, 'stderr': 'no'}",
    );
    let said = fire(&world, &guarding(&world, "sdlc", json!({})), 1).await;
    assert_eq!((messages(&said), starts(&world)), (vec!["[0] no".to_owned()], 2));
    let lines = world.read("lines");
    let lines: Vec<_> = lines.lines().collect();
    assert_eq!(lines[0], lines[1]);
}

#[tokio::test]
async fn one_that_keeps_ending_has_failed_by_its_policy_and_is_tried_anew_at_the_next_firing() {
    let why = "[SDLC] persistent hook failed: it ended";
    for dialect in DIALECTS {
        let world = world("os._exit(1)");
        let said = fire(&world, &guarding(&world, dialect, json!({})), 2).await;
        assert!(said.iter().all(|outcome| !outcome.is_denied()), "{dialect}");
        assert_eq!(starts(&world), 4);
        assert_eq!((said[0].runs[0].exit_code, said[0].runs[0].stderr.as_deref()), (None, Some(why)));
        let said = fire(&world, &guarding(&world, dialect, json!({"fail_closed": true})), 1).await;
        assert_eq!(messages(&said), [format!("[0] {why}")]);
    }
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_is_a_failure_and_the_process_is_replaced() {
    let cases = [
        ("return 'hello'", "its answer is not one JSON value"),
        ("return '[1]'", "its answer is not a JSON object"),
        ("return {'exit_code': 'two'}", "exit_code must be a whole number"),
        ("return {'stdout': 5}", "stdout must be text or an object"),
        ("return {'stderr': {}}", "stderr must be text"),
    ];
    for (answer, why) in cases {
        let world = world(answer);
        let said = fire(&world, &guarding(&world, "sdlc", json!({"fail_closed": true})), 2).await;
        assert!(messages(&said).iter().all(|text| text.contains(why)), "{answer}: {:?}", messages(&said));
        assert_eq!(starts(&world), 2, "{answer}");
    }
}

/// The second line would be taken for the answer to the next call.
#[tokio::test]
async fn an_answer_of_two_lines_is_a_failure_and_answers_no_other_call() {
    let two = "return json.dumps({}) + '\\n' + json.dumps({'exit_code': 2, 'stderr': str(n)})";
    let why = "[SDLC] persistent hook failed: its answer is more than one line";
    for (more, refused) in [(json!({}), false), (json!({"fail_closed": true}), true)] {
        let world = world(two);
        let said = fire(&world, &guarding(&world, "sdlc", more), 3).await;
        assert!(said.iter().all(|outcome| outcome.is_denied() == refused), "{:?}", messages(&said));
        assert!(said.iter().all(|outcome| outcome.runs[0].stderr.as_deref() == Some(why)));
        assert_eq!(starts(&world), 3);
    }
}

#[tokio::test]
async fn a_flood_on_its_stderr_or_an_unread_stdin_hold_nothing_up() {
    let world = world("sys.stderr.write('x' * 9_000_000)\nreturn {'exit_code': 2, 'stderr': 'no'}");
    let said = fire(&world, &guarding(&world, "sdlc", json!({})), 2).await;
    assert_eq!((messages(&said), starts(&world)), (vec!["[0] no".to_owned(); 2], 1));
    let deaf = json!({"command": "exec sleep 7658", "timeout": 0.5, "fail_closed": true});
    let long = bash(&format!(": {}", "x".repeat(100_000)));
    let firing = Firing::new(EventName::PreToolUse, world.base(&world.path()), long);
    let said = guarding(&world, "sdlc", deaf).fire(firing).await;
    assert_eq!(said.message(), "[0] [SDLC] hook timed out after 500 ms");
}

#[tokio::test]
async fn one_that_does_not_answer_is_ended_and_counts_as_a_timeout_of_its_dialect() {
    let slow = "import subprocess, time\nif n == 0 and not os.path.exists('once'):\n    open('once', 'w').close()\n    subprocess.run(['sleep', '7657'])\nreturn {}";
    for (dialect, blocked, code) in [("sdlc", true, Some(2)), ("claude", false, None)] {
        let world = world(slow);
        let said = fire(&world, &guarding(&world, dialect, json!({"timeout": 0.7})), 2).await;
        assert_eq!((said[0].is_denied(), said[1].is_denied()), (blocked, false), "{dialect}");
        let run = &said[0].runs[0];
        assert_eq!((run.exit_code, run.stderr.as_deref()), (code, Some("[SDLC] hook timed out after 700 ms")));
        assert_eq!(starts(&world), 2);
        let sleeping = std::fs::read_dir("/proc").unwrap().flatten().any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("7657") && line.starts_with(b"sleep")
        });
        assert!(!sleeping, "{dialect}");
    }
}

#[tokio::test]
async fn entries_with_the_same_command_share_one_process_and_others_do_not() {
    let world = world("return {'stdout': ''}");
    let entry = |event: &str, args: Value| json!({"hook_event_name": event, "matcher": "Bash", "command": "python3", "args": args, "persistent": true});
    let engine = world.engine(json!({"hooks": [
        entry("PreToolUse", json!(["guard.py"])),
        entry("PreToolUse", json!(["guard.py", "other"])),
        entry("PostToolUse", json!(["guard.py"])),
    ]}));
    fire(&world, &engine, 2).await;
    engine.fire(Firing::new(EventName::PostToolUse, world.base(&world.path()), bash("ls"))).await;
    assert_eq!((world.read("lines").lines().count(), starts(&world)), (5, 2));
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_a_failure() {
    let world = World::new();
    let more = json!({"command": "/no/such/guard", "args": [], "fail_closed": true});
    let said = fire(&world, &guarding(&world, "sdlc", more), 1).await;
    assert!(said[0].message().contains("the program /no/such/guard was not found"), "{}", said[0].message());
}

#[tokio::test]
async fn an_interrupt_ends_it_and_it_has_not_said_yes() {
    let world = world("open('pid', 'w').write(str(os.getpid()))\nimport time\ntime.sleep(7659)");
    let engine = guarding(&world, "claude", json!({}));
    let path = world.path().join("pid");
    let interrupting = async {
        while !path.exists() {
            tokio::task::yield_now().await;
        }
        world.cancel.cancel();
    };
    let (said, ()) = tokio::join!(fire(&world, &engine, 1), interrupting);
    assert_eq!(messages(&said), ["[0] [SDLC] hook interrupted"]);
}
