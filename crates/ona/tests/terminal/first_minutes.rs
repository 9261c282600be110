//! What a person meets in the first minutes: a prompt, a question, an interrupt, the end.

use crate::{ona, type_line};
use ona_testkit::model::{Wire, call, say};
use ona_testkit::terminal::keys::{ESCAPE, ctrl};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_prompt_is_answered_and_the_way_back_is_printed() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("Mice are small.\nVery small.")]);
    let mut terminal = ona.terminal(["--continue"; 0]);
    terminal.wait_for("❯ ");
    type_line(&terminal, "tell me of mice");
    terminal.wait_for("Mice are small.");
    let screen = terminal.wait_until_gone("esc to interrupt");
    assert!(screen.contains("› tell me of mice") && screen.contains("Very small."), "{screen}");
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
    for (key, ran, denied) in [("1", true, false), ("y", true, false), ("n", false, true), (ESCAPE, false, true)] {
        let mut ona = ona();
        let _server =
            ona.model(Wire::Messages, [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("Done.")]);
        let mut terminal = ona.terminal(["write it"]);
        terminal.wait_for("Change a.txt?");
        // Nobody reads a question and answers it at once: such a key is not for the dialog.
        std::thread::sleep(Duration::from_millis(350));
        terminal.send(key);
        terminal.wait_until_gone("Change a.txt?");
        if ran {
            terminal.wait_for("Done.");
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
    terminal.wait_for("echo $$ > pid; sleep 60");
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

#[test]
fn commands_answer_and_change_the_session() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("It was about mice."), say("Now by another.")]);
    let mut terminal = ona.terminal(["tell me of mice"]);
    terminal.wait_for("It was about mice.");
    terminal.wait_until_gone("esc to interrupt");
    type_line(&terminal, "/status");
    // The menu that explains /status has the other words, too.
    terminal.wait_for("conversation │");
    type_line(&terminal, "/model claude_3_5_haiku");
    terminal.wait_for("The next request goes to claude_3_5_haiku");
    type_line(&terminal, "/teleport");
    terminal.wait_for("needs a hosted service");
    type_line(&terminal, "/rate 4 told well");
    terminal.wait_for("Rated 4 of 5.");
    type_line(&terminal, "and now?");
    terminal.wait_for("Now by another.");
    terminal.wait_until_gone("esc to interrupt");
    assert_eq!(server.request(1).json()["model"], "claude-3-5-haiku-20241022");
    assert_eq!(ona.value("SELECT rating || objective FROM task_ratings"), "4told well");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn a_rewind_restores_files_and_a_resume_shows_the_end() {
    let mut ona = ona();
    let _server = ona.model(
        Wire::Messages,
        [call("Write", json!({"file_path": "a.txt", "content": "new"})), say("Written."), say("Again.")],
    );
    ona.file("a.txt", "old");
    let mut terminal =
        ona.terminal(["--allowedTools", "Read,Write", "--permission-mode", "acceptEdits", "--", "change it"]);
    terminal.wait_for("Written.");
    terminal.wait_until_gone("esc to interrupt");
    type_line(&terminal, "/rewind 1 files");
    terminal.wait_for("Rewound: files");
    assert_eq!(ona.read("a.txt"), "old");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
    let mut terminal = ona.terminal(["--continue"]);
    terminal.wait_for("Written.");
    type_line(&terminal, "once more");
    terminal.wait_for("Again.");
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 1);
}
