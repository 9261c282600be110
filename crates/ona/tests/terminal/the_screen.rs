//! What the terminal is left like, whatever happens, and what is written to it.

use crate::{enter, ona, type_line};
use ona_testkit::model::{Gate, Split, StreamPosition, Wire, call, say};
use ona_testkit::terminal::keys::{SHIFT_TAB, ctrl};
use ona_testkit::{Ona, Terminal};
use portable_pty::CommandBuilder;
use serde_json::json;

fn leave(mut terminal: Terminal) {
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('d'));
    assert_eq!(terminal.wait_exit(), 0);
}

/// An interactive shell in the project, with ona's environment.
fn shell(ona: &Ona) -> Terminal {
    // The shell itself sets no mode.
    ona.home_file(".inputrc", "set enable-bracketed-paste off\n");
    let prepared = ona.command([""; 0]);
    let mut command = CommandBuilder::new("bash");
    command.args(["--norc", "--noprofile", "-i"]);
    command.env_clear();
    for (name, value) in prepared.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("TERM", "xterm-256color");
    command.env("PS1", "shell> ");
    command.env("ONA", prepared.get_program());
    command.cwd(prepared.get_current_dir().expect("a folder"));
    Terminal::start(command, (80, 24))
}

fn modes_are_off(terminal: &Terminal) {
    terminal.look(|shown| {
        let screen = shown.screen();
        assert!(!screen.bracketed_paste() && !screen.hide_cursor() && !screen.alternate_screen());
    });
}

#[test]
fn a_suspended_program_leaves_the_shell_alone_and_comes_back() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("Mice."), say("More mice.")]);
    let mut terminal = shell(&ona);
    terminal.wait_for("shell>");
    terminal.send("\"$ONA\"\r");
    terminal.wait_for("❯ ");
    terminal.wait_for("? keys");
    type_line(&terminal, "tell of mice");
    terminal.wait_for("Mice.");
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('z'));
    terminal.wait_for("Stopped");
    modes_are_off(&terminal);
    terminal.send("echo $((40 + 2))\r");
    terminal.wait_for("42");
    terminal.send("fg\r");
    // The composer is painted again below what the shell wrote.
    terminal.wait("the composer below", |shown| {
        let rows = shown.rows();
        let answer = rows.iter().rposition(|row| row == "42")?;
        rows[answer..].iter().any(|row| row.starts_with('❯')).then_some(())
    });
    type_line(&terminal, "go on");
    terminal.wait_for("More mice.");
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('d'));
    terminal.wait_for("Continue this session: ona --resume");
    terminal.send("exit\r");
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn a_terminated_program_gives_the_terminal_back() {
    let mut ona = ona();
    let gate = Gate::new();
    let _server = ona.model(Wire::Messages, [say("never").hold(&gate)]);
    let mut terminal = ona.terminal(["wait a bit"]);
    terminal.wait_for("esc to interrupt");
    let pid = rustix::process::Pid::from_raw(terminal.process() as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_ne!(terminal.wait_exit(), 0);
    modes_are_off(&terminal);
    let screen = terminal.screen();
    assert!(screen.contains("ona --resume") && !screen.contains('❯'), "{screen}");
    gate.open();
}

#[test]
fn sequences_of_models_and_tools_are_inert() {
    let mut ona = ona();
    let evil = "a\u{1b}]52;c;ZXZpbA==\u{7}b\u{1b}[2Jc\u{1b}]2;owned\u{7}d\u{9b}3Je";
    let command = r"printf 'x\033]52;c;ZXZpbA==\007y\033[2Jz\033]2;owned\007\033[3J\n'; exit 1";
    ona.file("evil\u{1b}[2J.txt", evil);
    let _server = ona.model(
        Wire::Messages,
        [call("Bash", json!({"command": command})), say(&format!("{evil}\n\n```sh\n{evil}\n```\n\nIt is over."))],
    );
    ona.settings(json!({
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "permissions": {"allow": ["Bash"]},
        "hooks": {"PostToolUse": [{"matcher": "*", "hooks": [
            {"type": "command", "command": r"printf 'w\033]52;c;ZXZpbA==\007v\033[2J' >&2; exit 1"},
        ]}]},
    }));
    let terminal = ona.terminal([format!("say {evil}")]);
    terminal.wait_for("It is over.");
    terminal.wait_until_gone("esc to interrupt");
    terminal.send(&ctrl('o'));
    terminal.wait_for("q close");
    terminal.send("q");
    terminal.wait_until_gone("q close");
    terminal.look(|shown| {
        assert!(shown.copied().is_empty(), "the clipboard is untouched");
        assert!(!shown.title().contains("owned"), "{}", shown.title());
        let raw = String::from_utf8_lossy(shown.raw()).into_owned();
        for sequence in ["\u{1b}]52", "\u{1b}[2J", "\u{1b}[3J", "\u{9b}"] {
            assert!(!raw.contains(sequence), "{sequence:?} was written");
        }
        let all = shown.everything().join("\n");
        assert!(all.contains("␛]52;c;ZXZpbA==␇b"), "what was sent can be seen: {all}");
    });
    leave(terminal);
}

#[test]
fn two_resizes_lose_and_double_nothing() {
    let mut ona = ona();
    let words: Vec<String> = (1..=200).map(|number| format!("word{number:03}")).collect();
    let gates = [Gate::new(), Gate::new()];
    let text = words.join(" ");
    // The emulator cuts rows when it is resized, as xterm does. tmux, which wraps them anew: SCREEN-4.
    ona.env("XTERM_VERSION", "XTerm(390)");
    let _server = ona.model(
        Wire::Messages,
        [say(&text)
            .split_text(Split::EveryByte)
            .hold_at(StreamPosition::Deltas(500), &gates[0])
            .hold_at(StreamPosition::Deltas(1_000), &gates[1])],
    );
    let mut terminal = shell(&ona);
    terminal.wait_for("shell>");
    terminal.send("seq -f 'line%03g.' 60\r");
    terminal.wait_for("line060.");
    terminal.send("\"$ONA\" 'say words'\r");
    for (gate, size) in gates.iter().zip([(60, 20), (90, 28)]) {
        gate.wait_until_reached();
        terminal.wait_for("esc to interrupt");
        terminal.resize(size.0, size.1);
        gate.open();
    }
    terminal.wait_for("word200");
    terminal.wait_until_gone("esc to interrupt");
    terminal.look(|shown| {
        let raw = String::from_utf8_lossy(shown.raw()).into_owned();
        assert!(!raw.contains("\u{1b}[2J") && !raw.contains("\u{1b}[3J"));
        let all = shown.everything().join("\n");
        for number in 1..=60 {
            assert_eq!(all.matches(&format!("line{number:03}.")).count(), 1, "line {number}: {all}");
        }
    });
    terminal.send(&ctrl('d'));
    terminal.wait_for("Continue this session");
    terminal.send("exit\r");
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn without_colour_no_colour_is_set() {
    let mut ona = ona();
    ona.env("NO_COLOR", "1");
    let _server = ona.model(Wire::Messages, [say("# Mice\n\n```rust\nfn main() {}\n```\n\nand `code`.")]);
    let terminal = ona.terminal(["tell me"]);
    terminal.wait_for("and code.");
    terminal.wait_until_gone("esc to interrupt");
    terminal.look(|shown| {
        let screen = shown.screen();
        for row in 0..24 {
            for column in 0..80 {
                let Some(cell) = screen.cell(row, column) else { continue };
                assert_eq!((cell.fgcolor(), cell.bgcolor()), (vt100::Color::Default, vt100::Color::Default));
            }
        }
    });
    leave(terminal);
}

#[test]
fn plain_mode_only_appends() {
    for by_flag in [true, false] {
        let mut ona = ona();
        if !by_flag {
            ona.env("ACCESSIBLE", "1");
        }
        let _server = ona.model(
            Wire::Messages,
            [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("It is written.")],
        );
        let mut terminal = match by_flag {
            true => ona.terminal(["--plain"]),
            false => ona.terminal([""; 0]),
        };
        terminal.wait_for("guards");
        type_line(&terminal, "write it");
        terminal.wait_for("Change a.txt?");
        std::thread::sleep(std::time::Duration::from_millis(350));
        terminal.send("1");
        terminal.wait_for("It is written.");
        assert!(ona.exists("a.txt"));
        std::thread::sleep(std::time::Duration::from_millis(100));
        type_line(&terminal, "/exit");
        assert_eq!(terminal.wait_exit(), 0);
        terminal.look(|shown| {
            let raw = String::from_utf8_lossy(shown.raw()).into_owned();
            let moves = raw.split('\u{1b}').skip(1).find(|sequence| {
                let end = sequence.find(|c: char| c.is_ascii_alphabetic()).map(|at| &sequence[at..=at]);
                !(sequence.starts_with('[') && end == Some("m"))
            });
            assert_eq!(moves, None, "nothing but styles is written");
            assert_eq!(raw.matches("It is written.").count(), 1, "{raw}");
        });
    }
}

#[test]
fn the_users_status_line_is_shown_and_its_failure_said_once() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("One."), say("Two.")]);
    let command = r#"tr -d '\n' >told; if [ -e broken ]; then echo it broke >&2; exit 3; fi; printf '\033[32mmine\033[m \033]52;c;eA==\007%s\n' "$(grep -o '"current_usage":[0-9]*' told)""#;
    ona.home_file(
        ".ona/settings.json",
        json!({"statusLine": {"type": "command", "command": command, "padding": 1}}).to_string(),
    );
    ona.use_provider("claude_code_subscription", "claude_sonnet_4");
    let terminal = ona.terminal([""; 0]);
    terminal.wait_for("  mine \"current_usage\":0");
    type_line(&terminal, "count");
    terminal.wait_for("One.");
    terminal.wait("a new number", |shown| {
        let text = shown.text();
        (text.contains("mine") && !text.contains("\"current_usage\":0\n") && !text.ends_with("\"current_usage\":0"))
            .then_some(())
    });
    let told: serde_json::Value = serde_json::from_str(&ona.read("told")).unwrap();
    assert_eq!(told["workspace"]["project_dir"], ona.project().to_string_lossy().as_ref());
    assert_eq!((told["permission_mode"].as_str(), told["phase"].as_str()), (Some("default"), Some("idle")));
    assert!(told["session_id"].is_string() && told["model"]["id"].is_string(), "{told}");
    ona.file("broken", "");
    type_line(&terminal, "again");
    terminal.wait_for("The command of statusLine failed: exit code 3: it broke");
    terminal.send(SHIFT_TAB);
    terminal.wait_for("accept edits");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let all = terminal.everything().join("\n");
    assert_eq!(all.matches("statusLine failed").count(), 1, "{all}");
    assert!(terminal.look(|shown| shown.copied().is_empty()));
    leave(terminal);
}

#[test]
fn an_editor_changes_the_prompt() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("Good.")]);
    ona.env("EDITOR", "sed -i s/mice/cats/");
    let terminal = ona.terminal([""; 0]);
    terminal.wait_for("? keys");
    terminal.send("tell of mice");
    terminal.wait_for("❯ tell of mice");
    terminal.send(&ctrl('g'));
    terminal.wait_for("❯ tell of cats");
    enter(&terminal);
    terminal.wait_for("Good.");
    assert_eq!(server.request(0).last_message(), "user: tell of cats");
    leave(terminal);
}

#[test]
fn modes_are_cycled_and_planning_begins_with_a_prompt() {
    let mut ona = ona();
    let _server =
        ona.model(Wire::Messages, [call("Write", json!({"file_path": "a.txt", "content": "x"})), say("It is closed.")]);
    let terminal = ona.terminal(["--allow-dangerously-skip-permissions"]);
    terminal.wait_for("guards");
    for mode in ["accept edits", "plan mode", "bypass permissions"] {
        terminal.send(SHIFT_TAB);
        terminal.wait_for(mode);
    }
    terminal.send(SHIFT_TAB);
    terminal.wait_until_gone("bypass permissions");
    assert_eq!(ona.value("SELECT phase FROM conversations"), "idle", "passing by changes nothing that lasts");
    for mode in ["accept edits", "plan mode"] {
        terminal.send(SHIFT_TAB);
        terminal.wait_for(mode);
    }
    type_line(&terminal, "write it");
    terminal.wait_for("It is closed.");
    terminal.wait_for("planning · plan mode");
    assert_eq!(ona.value("SELECT phase FROM conversations"), "planning");
    assert!(!ona.exists("a.txt"));
    leave(terminal);
}

#[test]
fn setup_hooks_run_in_the_terminal() {
    for (flag, trigger) in [("--init", "init"), ("--maintenance", "maintenance")] {
        let mut ona = ona();
        let _server = ona.model(Wire::Messages, []);
        ona.settings(json!({
            "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
            "hooks": {"Setup": [{"hooks": [{"type": "command", "command": "cat >setup"}]}]},
        }));
        let terminal = ona.terminal([flag]);
        terminal.wait_for("? keys");
        terminal.wait("the setup hook", |_| (ona.exists("setup") && ona.read("setup").contains(trigger)).then_some(()));
        leave(terminal);
    }
}

#[test]
fn a_second_terminal_is_refused_with_the_holder() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("First.")]);
    let terminal = ona.terminal(["one more"]);
    terminal.wait_for("First.");
    terminal.wait_until_gone("esc to interrupt");
    let session = ona.value("SELECT session_id FROM sessions").as_str().unwrap().to_owned();
    let mut second = ona.terminal(["--resume", &session]);
    assert_ne!(second.wait_exit(), 0);
    let words = second.everything().join(" ");
    assert!(words.contains(&terminal.process().to_string()), "the holder is named: {words}");
    leave(terminal);
}
