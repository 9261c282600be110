//! What a run still does when it is ended from outside (DEC-188): real signals to the real process.

use crate::ona;
use ona_testkit::model::{ModelServer, Wire, body, call, calls, say};
use ona_testkit::{Ona, finish};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const DRIVEN: [&str; 4] = ["--output-format", "stream-json", "--input-format", "stream-json"];

/// A hook that appends what it reads to the file `told`, a line each.
fn telling(event: &str) -> Value {
    json!({"hook_event_name": event, "command": "cat >> told; echo >> told", "shell": "sh"})
}

fn configure(ona: &Ona, hooks: impl IntoIterator<Item = Value>) {
    ona.settings(json!({
        "permissions": {"allow": ["Bash", "Agent", "mcp__*"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": hooks.into_iter().collect::<Vec<_>>(),
    }));
}

/// The events hooks have heard, with what they were told.
fn told(ona: &Ona) -> Vec<Value> {
    let text = if ona.exists("told") { ona.read("told") } else { String::new() };
    text.lines().filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn heard(ona: &Ona) -> Vec<String> {
    told(ona).iter().map(|event| event["hook_event_name"].as_str().unwrap().to_owned()).collect()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A command that says which process it is and would go on for a long time.
fn lasting(file: &str) -> String {
    format!("echo $$ > {file}.pid; touch {file}; exec sleep 300")
}

/// Whether it still runs; one that was just killed may need a moment.
fn is_running(ona: &Ona, file: &str) -> bool {
    let id: i32 = ona.read(&format!("{file}.pid")).trim().parse().unwrap();
    let lives = || {
        test_kill_process(Pid::from_raw(id).unwrap()).is_ok()
            && !std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default().contains(") Z ")
    };
    (0..200).all(|_| {
        std::thread::sleep(Duration::from_millis(if lives() { 10 } else { 0 }));
        lives()
    })
}

const RAN: &str = "SELECT hook_event, exit_code, skipped_reason FROM hook_invocations ORDER BY id";

#[test]
fn every_signal_in_every_form_ends_the_tool_and_then_the_session() {
    let forms: [&[&str]; 3] = [&["-p", "go"], &["-p", "go", "--output-format", "json"], &DRIVEN];
    for (signal, form) in [
        (Signal::INT, forms[0]),
        (Signal::TERM, forms[0]),
        (Signal::HUP, forms[0]),
        (Signal::TERM, forms[1]),
        (Signal::INT, forms[2]),
        (Signal::HUP, forms[2]),
    ] {
        let mut ona = ona();
        let background = json!({"command": lasting("back"), "run_in_background": true});
        let _server = ona.model(
            Wire::Messages,
            [calls([("Bash", background), ("Bash", json!({"command": lasting("front")}))]), say("never")],
        );
        let events = ["PostToolUseFailure", "PostToolUse", "Stop", "SubagentStop", "SessionEnd"];
        configure(&ona, events.map(telling));
        let mut child = ona.command(form).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let message = json!({"type": "user", "message": {"role": "user", "content": "go"}});
        if form == forms[2] {
            std::io::Write::write_all(&mut stdin, format!("{message}\n").as_bytes()).unwrap();
        } else {
            drop(stdin);
        }
        ona.wait_for("front", &mut child);
        ona.wait_for("back", &mut child);
        send(&child, signal);
        let ran = finish(child, b"").expect_code(130);
        assert_eq!(heard(&ona), ["PostToolUse", "PostToolUseFailure", "SessionEnd"], "{signal:?} {form:?} {ran:?}");
        let told = told(&ona);
        assert_eq!((&told[1]["is_interrupt"], &told[2]["reason"]), (&json!(true), &json!("other")));
        assert_eq!(told[1]["tool_input"]["command"], lasting("front"));
        let row = |event: &str| vec![json!(event), json!(0), Value::Null];
        assert_eq!(ona.rows(RAN), [row("PostToolUse"), row("PostToolUseFailure"), row("SessionEnd")]);
        assert!(!is_running(&ona, "front") && !is_running(&ona, "back"), "{signal:?} {form:?}");
        if form != forms[0] {
            let last: Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
            assert_eq!((&last["type"], &last["terminal_reason"]), (&json!("result"), &json!("aborted_tools")));
        }
    }
}

#[test]
fn a_closed_stdout_is_noticed_while_a_tool_runs_and_nothing_is_printed() {
    for form in [&["-p", "go"][..], &["-p", "go", "--output-format", "stream-json"]] {
        let mut ona = ona();
        let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": lasting("front")})), say("never")]);
        configure(&ona, ["PostToolUseFailure", "Stop", "SessionEnd"].map(telling));
        let mut child = ona.command(form).spawn().unwrap();
        ona.wait_for("front", &mut child);
        drop(child.stdout.take());
        let ran = finish(child, b"").expect_code(141);
        assert_eq!(ran.stderr, "", "{form:?}");
        assert_eq!(heard(&ona), ["PostToolUseFailure", "SessionEnd"], "{form:?}");
        assert_eq!(told(&ona)[0]["is_interrupt"], true);
        assert!(!is_running(&ona, "front"));
    }
}

#[test]
fn a_run_that_is_idle_or_waits_for_the_model_ends_its_session_too() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("one"), ona_testkit::model::hang()]);
    configure(&ona, ["Stop", "SessionEnd"].map(telling));
    let mut talk = ona.talk(DRIVEN);
    talk.say("hi");
    talk.until_result();
    send(&talk.child, Signal::TERM);
    assert_eq!(talk.child.wait().unwrap().code(), Some(130));
    assert_eq!(heard(&ona), ["Stop", "SessionEnd"]);
    let child = ona.command(["-p", "go"]).spawn().unwrap();
    server.wait_for_requests(2);
    send(&child, Signal::HUP);
    finish(child, b"").expect_code(130);
    assert_eq!(heard(&ona), ["Stop", "SessionEnd", "SessionEnd"]);
}

#[test]
fn a_call_that_was_typed_is_reported_and_its_tasks_are_stopped() {
    for (close, code) in [(false, 130), (true, 141)] {
        let ona = ona();
        configure(&ona, ["PostToolUseFailure", "SessionEnd"].map(telling));
        let bash = |input: Value| json!({"tool": "Bash", "input": input}).to_string();
        let text = [
            bash(json!({"command": lasting("back"), "run_in_background": true})),
            bash(json!({"command": lasting("front")})),
            bash(json!({"command": "touch third"})),
        ];
        let mut child = ona.command(["--eval", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), text.concat().as_bytes()).unwrap();
        ona.wait_for("front", &mut child);
        ona.wait_for("back", &mut child);
        if close {
            drop(child.stdout.take());
        } else {
            send(&child, Signal::INT);
        }
        assert_eq!(finish(child, b"").code, code);
        // A typed call does not begin or end a session (DEC-100).
        assert_eq!(heard(&ona), ["PostToolUseFailure"]);
        assert_eq!(told(&ona)[0]["is_interrupt"], true);
        assert!(!ona.exists("third") && !is_running(&ona, "front") && !is_running(&ona, "back"));
    }
}

#[test]
fn a_request_to_interrupt_lets_hooks_report_and_the_session_goes_on() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": lasting("front")})), say("second")]);
    configure(&ona, ["PostToolUseFailure", "Stop", "SessionEnd"].map(telling));
    let mut talk = ona.talk(DRIVEN);
    let hooks =
        json!({"PostToolUseFailure": [{"hookCallbackIds": ["cb"]}], "SessionEnd": [{"hookCallbackIds": ["cb"]}]});
    talk.ask(json!({"subtype": "initialize", "hooks": hooks}));
    talk.say("go");
    ona.wait_for("front", &mut talk.child);
    talk.send(json!({"type": "control_request", "request_id": "i", "request": {"subtype": "interrupt"}}));
    let asked = talk.until_asked("hook_callback");
    assert_eq!(asked["request"]["input"]["is_interrupt"], true, "{asked}");
    talk.answer(&asked, json!({}));
    assert_eq!(talk.until_result()["terminal_reason"], "aborted_tools");
    assert_eq!(heard(&ona), ["PostToolUseFailure"]);
    talk.say("again");
    assert_eq!(talk.until_result()["result"], "second");
    send(&talk.child, Signal::INT);
    // Also a hook of the program on the other side hears of the end.
    let asked = talk.until_asked("hook_callback");
    assert_eq!(asked["request"]["input"]["hook_event_name"], "SessionEnd");
    talk.answer(&asked, json!({}));
    assert_eq!(talk.child.wait().unwrap().code(), Some(130));
    assert_eq!(heard(&ona), ["PostToolUseFailure", "Stop", "SessionEnd"]);
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE exit_code IS NOT 0"), 0);
}

/// Hooks that are not processes, a process that stays, hook modules.
#[test]
fn hooks_of_every_kind_hear_of_the_interrupt_and_of_the_end() {
    let mut ona = ona();
    let ok = || say(r#"{"ok": true}"#);
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": lasting("front")})), ok(), ok()]);
    let empty = || body("application/json", "{}");
    let web = ModelServer::start(Wire::Messages, [empty(), empty()]);
    let url = format!("{}/v1/messages", web.url());
    ona.file(
        "stays.py",
        "import sys\nfor line in sys.stdin:\n    open('stayed', 'a').write(line)\n    print('{}', flush=True)\n",
    );
    ona.file(
        "module.ts",
        "import { appendFileSync } from 'node:fs';
export default function (pi: any) {
    pi.on('tool_result', (event: any) => appendFileSync('module', `tool_result ${event.isError}\\n`));
    pi.on('session_shutdown', () => appendFileSync('module', 'session_shutdown\\n'));
}",
    );
    let with = |event: &str, more: Value| {
        let mut hook = json!({"hook_event_name": event});
        hook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        hook
    };
    let kinds = [
        json!({"command": "cat >> told; echo >> told", "shell": "sh", "dialect": "claude"}),
        json!({"command": "exec python3 stays.py", "shell": "sh", "persistent": true, "timeout": 5}),
        json!({"type": "http", "url": url, "timeout": 5}),
        json!({"type": "prompt", "prompt": "Fine?", "timeout": 5}),
    ];
    configure(
        &ona,
        ["PostToolUseFailure", "SessionEnd"]
            .iter()
            .flat_map(|event| kinds.iter().map(|kind| with(event, kind.clone()))),
    );
    ona.file("pi.json", json!({"PostToolUseFailure": [{"command": "cat > heard_by_pi"}]}).to_string());
    let args = ["-p", "go", "--hook", "module.ts", "--hooks-config", "pi.json"];
    let mut child = ona.command(args).spawn().unwrap();
    ona.wait_for("front", &mut child);
    send(&child, Signal::INT);
    let ran = finish(child, b"").expect_code(130);
    let failed = "SELECT hook_event, command, exit_code, stderr_text FROM hook_invocations WHERE exit_code IS NOT 0";
    assert_eq!(ona.rows(failed), Vec::<Vec<Value>>::new(), "{ran:?}");
    assert_eq!(heard(&ona), ["PostToolUseFailure", "SessionEnd"]);
    assert_eq!(ona.read("stayed").lines().count(), 2);
    assert!(ona.read("heard_by_pi").contains("PostToolUseFailure"));
    assert_eq!(web.request(0).json()["is_interrupt"], true);
    assert_eq!(web.request(1).json()["hook_event_name"], "SessionEnd");
    assert_eq!(ona.read("module"), "tool_result true\nsession_shutdown\n");
    // A prompt cannot listen to SessionEnd.
    let asked = "SELECT count(*) FROM hook_invocations WHERE command = 'prompt Fine?'";
    assert_eq!((server.request_count(), ona.value(asked)), (2, json!(1)));
}

#[test]
fn a_tool_of_a_subagent_is_reported_in_its_own_session() {
    let mut ona = ona();
    let agent = json!({"description": "d", "prompt": "work"});
    let _server = ona
        .model(Wire::Messages, [call("Agent", agent), call("Bash", json!({"command": lasting("front")})), say("no")]);
    configure(&ona, ["PostToolUseFailure", "SubagentStop", "Stop", "SessionEnd"].map(telling));
    let mut child = ona.command(["-p", "go"]).spawn().unwrap();
    ona.wait_for("front", &mut child);
    send(&child, Signal::TERM);
    finish(child, b"").expect_code(130);
    let told = told(&ona);
    let tools: Vec<_> = told.iter().map(|event| (&event["tool_name"], &event["is_interrupt"])).collect();
    let yes = json!(true);
    assert_eq!(tools, [(&json!("Bash"), &yes), (&json!("Agent"), &yes), (&Value::Null, &Value::Null)], "{told:?}");
    assert_ne!(told[0]["session_id"], told[1]["session_id"]);
    assert!(!is_running(&ona, "front"));
}

#[test]
fn reports_have_five_seconds_together_and_the_end_of_the_session_its_own_time() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": lasting("front")})), say("never")]);
    let slow = |event: &str, file: &str| {
        let command = format!("touch {file}.began; sleep 3.5; touch {file}.ended");
        json!({"hook_event_name": event, "command": command, "shell": "sh"})
    };
    configure(
        &ona,
        [
            slow("PostToolUseFailure", "one"),
            slow("PostToolUseFailure", "two"),
            slow("SessionEnd", "three"),
            telling("SessionEnd"),
        ],
    );
    let mut child = ona.command(["-p", "go"]).spawn().unwrap();
    ona.wait_for("front", &mut child);
    let began = Instant::now();
    send(&child, Signal::INT);
    finish(child, b"").expect_code(130);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    let there = |file: &str| (ona.exists(&format!("{file}.began")), ona.exists(&format!("{file}.ended")));
    assert_eq!((there("one"), there("two"), there("three")), ((true, true), (true, false), (true, false)));
    let why = ona.column("SELECT stderr_text FROM hook_invocations WHERE exit_code IS NULL ORDER BY id");
    assert_eq!(why, ["[SDLC] hook interrupted", "[SDLC] hook timed out after 1500 ms"]);
    assert_eq!(heard(&ona), ["SessionEnd"]);
}

#[test]
fn a_second_signal_ends_it_at_once_and_leaves_nothing_running() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("one")]);
    let hook = json!({"hook_event_name": "SessionEnd", "command": lasting("hook"), "shell": "sh", "timeout": 60});
    configure(&ona, [hook]);
    let mut talk = ona.talk(DRIVEN);
    talk.say("go");
    talk.until_result();
    send(&talk.child, Signal::TERM);
    ona.wait_for("hook", &mut talk.child);
    // Time enough not to be taken for the same signal.
    std::thread::sleep(Duration::from_millis(400));
    let began = Instant::now();
    send(&talk.child, Signal::INT);
    assert_eq!(talk.child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(!is_running(&ona, "hook"));
}

/// coreutils' `timeout` signals its child and then the group, so that the child hears it twice.
#[test]
fn a_signal_that_comes_twice_is_one() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [ona_testkit::model::hang()]);
    let slow = json!({"hook_event_name": "SessionEnd", "command": "sleep 0.5; touch ended", "shell": "sh"});
    configure(&ona, [slow]);
    let ran = ona.lenient_shell("timeout -s TERM 2 ona -p go; echo $?");
    assert!(ona.exists("ended"), "{ran:?}");
}

/// A guard of prompts that was cut short has not said yes: the model never sees that prompt.
#[test]
fn a_prompt_whose_guard_was_interrupted_is_not_kept() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("second")]);
    let guard = "[ -e asked ] || { touch asked; exec sleep 300; }";
    configure(&ona, [json!({"hook_event_name": "UserPromptSubmit", "command": guard, "shell": "sh"})]);
    let mut talk = ona.talk(DRIVEN);
    talk.say("the first canary");
    ona.wait_for("asked", &mut talk.child);
    talk.ask(json!({"subtype": "interrupt"}));
    let result = talk.until_result();
    assert_eq!((&result["terminal_reason"], &result["is_error"]), (&json!("aborted_streaming"), &json!(true)));
    talk.say("another");
    assert_eq!(talk.until_result()["result"], "second");
    assert_eq!(talk.finish().0, 0);
    assert_eq!(server.request_count(), 1);
    assert!(!String::from_utf8_lossy(&server.request(0).body).contains("canary"));
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%canary%'"), 0);
    assert_eq!(ona.value("SELECT count(*) FROM events WHERE event_type='interrupted'"), 1);
}
