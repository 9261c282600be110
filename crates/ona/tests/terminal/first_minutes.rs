//! What a person meets in the first minutes: a prompt, a question, an interrupt, the end.

use crate::{ona, type_line};
use ona_testkit::model::{Wire, call, say};
use ona_testkit::terminal::keys::{ESCAPE, ctrl};
use serde_json::json;
use std::time::Instant;

#[test]
fn a_prompt_is_answered_and_the_way_back_is_printed() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("Mice are small.\nVery small.")]);
    let mut terminal = ona.terminal(["--continue"; 0]);
    terminal.wait_for("❯ ");
    type_line(&terminal, "tell me of mice");
    terminal.wait_for("● Mice are small.");
    let screen = terminal.wait_until_gone("esc to interrupt");
    assert!(screen.contains("› tell me of mice") && screen.contains("  Very small."), "{screen}");
    assert_eq!(server.request(0).last_message(), "user: tell me of mice");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
    let session = ona.value("SELECT session_id FROM sessions");
    let session = session.as_str().unwrap().to_owned();
    let screen = terminal.screen();
    assert!(screen.contains(&format!("ona --resume {session}")), "{screen}");
    assert!(!screen.contains('❯'), "the composer is gone: {screen}");
}

#[test]
fn a_call_asks_and_each_answer_is_what_happens() {
    for (key, ran, denied) in [("1", true, false), ("y", true, false), ("3", false, true), (ESCAPE, false, true)] {
        let mut ona = ona();
        let _server =
            ona.model(Wire::Messages, [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("Done.")]);
        let mut terminal = ona.terminal(["write it"]);
        terminal.wait_for("Allow Write?");
        terminal.send(key);
        terminal.wait_until_gone("Allow Write?");
        if ran {
            terminal.wait_for("● Done.");
        } else {
            terminal.wait_for("What should be done instead?");
        }
        terminal.wait_until_gone("esc to interrupt");
        assert_eq!(
            (ona.exists("a.txt"), ona.value("SELECT count(*) FROM tool_permission_log WHERE decision='deny'") == 1),
            (ran, denied),
            "{key:?}"
        );
        terminal.send(&ctrl('d'));
        assert_eq!(terminal.wait_exit(), 0);
    }
}

#[test]
fn escape_stops_a_command_and_its_children() {
    let mut ona = ona();
    let _server =
        ona.model(Wire::Messages, [call("Bash", json!({"command": "echo $$ > pid; sleep 60"})), say("not said")]);
    let mut terminal = ona.terminal(["--allowedTools", "Bash", "--", "wait for it"]);
    terminal.wait_for("Bash(echo $$ > pid; sleep 60)");
    while !ona.exists("pid") || ona.read("pid").is_empty() {
        std::thread::yield_now();
    }
    let pid = ona.read("pid").trim().to_owned();
    let pressed = Instant::now();
    terminal.send(ESCAPE);
    while std::fs::metadata(format!("/proc/{pid}")).is_ok() {
        assert!(pressed.elapsed().as_secs() < 10, "the command runs on");
    }
    terminal.wait_for("Interrupted");
    terminal.wait_until_gone("esc to interrupt");
    type_line(&terminal, "/exit");
    assert_eq!(terminal.wait_exit(), 0);
}
