//! While the agent works: what waits, what runs, what it prints, and how it is ended.

use crate::{enter, ona, type_line};
use ona_testkit::Terminal;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::terminal::keys::{BACKSPACE, ESCAPE, UP, ctrl};
use serde_json::json;

/// A command that waits for a file, with what it prints before and after.
const WAITS: &str = "echo begun; while [ ! -e go ]; do sleep 0.05; done; echo over";

fn leave(mut terminal: Terminal) {
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn what_is_sent_meanwhile_goes_along_with_the_next_request() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": WAITS})), say("Both are done.")]);
    let terminal = ona.terminal(["--allowedTools", "Bash", "--", "work on it"]);
    terminal.wait_for("  begun");
    type_line(&terminal, "and count the mice");
    terminal.wait_for("⋯ and count the mice");
    // It can be taken back and changed.
    terminal.send(UP);
    terminal.wait_for("❯ and count the mice");
    terminal.send(BACKSPACE);
    terminal.send(BACKSPACE);
    terminal.wait_for("❯ and count the mi");
    terminal.send("lk");
    enter(&terminal);
    terminal.wait_for("⋯ and count the milk");
    ona.file("go", "");
    let screen = terminal.wait_for("Both are done.");
    assert!(screen.contains("› and count the milk") && !screen.contains('⋯'), "{screen}");
    assert_eq!(server.request_count(), 2, "it needs no further turn");
    let asked = server.request(1).json()["messages"].to_string();
    assert!(asked.contains("begun") && asked.contains("and count the milk"), "{asked}");
    leave(terminal);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%count the milk%'"), 1);
}

#[test]
fn an_interrupt_gives_what_waits_back() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "sleep 60"})), say("Well.")]);
    let terminal = ona.terminal(["--allowedTools", "Bash", "--", "work on it"]);
    terminal.wait_for("sleep 60");
    terminal.wait_for("ctrl+b background");
    type_line(&terminal, "rather this");
    terminal.wait_for("⋯ rather this");
    terminal.send(ESCAPE);
    terminal.wait_for("Interrupted");
    terminal.wait_for("❯ rather this");
    enter(&terminal);
    terminal.wait_for("Well.");
    assert_eq!(server.request_count(), 2);
    leave(terminal);
}

#[test]
fn a_killed_program_has_lost_nothing() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": WAITS})), say("Here again.")]);
    let terminal = ona.terminal(["--allowedTools", "Bash", "--", "work on mice"]);
    terminal.wait_for("  begun");
    type_line(&terminal, "and then this");
    terminal.wait_for("⋯ and then this");
    while ona.value("SELECT count(*) FROM state WHERE key LIKE 'terminal_queue:%' AND value <> ''") != 1 {
        std::thread::yield_now();
    }
    // SAFETY of the test: the process is the one this test has started.
    let pid = rustix::process::Pid::from_raw(terminal.process() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    drop(terminal);
    let terminal = ona.terminal(["--continue"]);
    terminal.wait_for("work on mice");
    terminal.wait_for("❯ and then this");
    enter(&terminal);
    terminal.wait_for("Here again.");
    leave(terminal);
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 1);
    assert_eq!(ona.value("SELECT count(*) FROM state WHERE key LIKE 'terminal_queue:%' AND value <> ''"), 0);
}

#[test]
fn a_command_goes_on_in_the_background() {
    let mut ona = ona();
    let server =
        ona.model(Wire::Messages, [call("Bash", json!({"command": WAITS})), say("Meanwhile."), say("It is over.")]);
    let terminal = ona.terminal(["--allowedTools", "Bash", "--", "work on it"]);
    terminal.wait_for("  begun");
    terminal.send(&ctrl('b'));
    terminal.wait_for("Runs in the background");
    terminal.wait_for("Meanwhile.");
    assert!(server.request(1).last_message().contains("The operator sent it to the background"));
    ona.file("go", "");
    terminal.wait_for("It is over.");
    assert!(server.request(2).json()["messages"].to_string().contains("over"));
    leave(terminal);
}

#[test]
fn a_shell_line_shows_its_output_and_the_model_reads_it() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("Two mice.")]);
    let terminal = ona.terminal(["--continue"; 0]);
    terminal.wait_for("❯ ");
    terminal.send("!");
    terminal.wait_for("! ");
    type_line(&terminal, "echo mouse; echo mouse; exit 3");
    let screen = terminal.wait_for("Two mice.");
    assert!(screen.contains("✗ !  echo mouse; echo mouse; exit 3") && screen.contains("(exit code 3)"), "{screen}");
    assert!(server.request(0).last_message().contains("mouse\nmouse"));
    leave(terminal);
}

#[test]
fn todos_and_the_last_calls_can_be_looked_at() {
    let mut ona = ona();
    let todos = json!({"todos": [
        {"content": "Count the mice", "status": "in_progress", "activeForm": "Counting the mice"},
        {"content": "Feed them", "status": "pending", "activeForm": "Feeding them"},
    ]});
    let _server = ona.model(
        Wire::Messages,
        [
            call("TodoWrite", todos),
            call("Bash", json!({"command": "seq 1 40; while [ ! -e go ]; do sleep 0.05; done"})),
            say("Done."),
        ],
    );
    let terminal = ona.terminal(["--allowedTools", "Bash,TodoWrite", "--", "work on it"]);
    terminal.wait_for("◐ Counting the mice");
    terminal.send(&ctrl('t'));
    terminal.wait_for("○ Feed them");
    terminal.wait_for("  40");
    ona.file("go", "");
    terminal.wait_for("Done.");
    let screen = terminal.wait_until_gone("esc to interrupt");
    assert!(screen.contains("34 more rows · Ctrl+O shows all"), "{screen}");
    terminal.send(&ctrl('o'));
    terminal.wait_for("q close");
    terminal.send("{");
    let screen = terminal.wait_for("› work on it");
    assert!(screen.contains("  1\n") && !screen.contains("more rows"), "{screen}");
    terminal.send("q");
    terminal.wait_until_gone("q close");
    terminal.wait_for("❯ ");
    terminal.send(&ctrl('t'));
    leave(terminal);
}

#[test]
fn hooks_of_a_call_are_one_line_and_their_details_a_page() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "git push --force"})), say("So not.")]);
    let deny = r#"printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no force push"}}'"#;
    ona.settings(json!({
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "command", "command": "true"}, {"type": "command", "command": deny},
        ]}]},
    }));
    let terminal = ona.terminal(["push it"]);
    terminal.wait_for("So not.");
    let screen = terminal.wait_until_gone("esc to interrupt");
    assert!(screen.contains("⊘ Bash  git push --force  denied"), "{screen}");
    let line = screen.lines().find(|line| line.contains("PreToolUse ×2")).unwrap_or_else(|| panic!("{screen}"));
    assert!(line.ends_with("1 denied: no force push"), "{line}");
    terminal.send(&ctrl('o'));
    terminal.wait_for("PreToolUse hook 0 exit 0: true");
    terminal.send(ESCAPE);
    terminal.wait_until_gone("q close");
    leave(terminal);
}

#[test]
fn a_hook_that_asks_opens_the_dialog_with_its_reason() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [call("Bash", json!({"command": "touch made"})), say("Made.")]);
    let ask = r#"printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"a mouse lives there"}}'"#;
    ona.settings(json!({
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": ask}]}]},
    }));
    let terminal = ona.terminal(["make it"]);
    terminal.wait_for("Run this command?");
    terminal.wait_for("a mouse lives there");
    std::thread::sleep(std::time::Duration::from_millis(350));
    terminal.send("1");
    terminal.wait_for("Made.");
    assert!(ona.exists("made"));
    leave(terminal);
}
