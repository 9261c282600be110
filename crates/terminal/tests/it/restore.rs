//! The terminal is given back however a program ends: this test binary, started again in a
//! pseudo-terminal, is that program.

use ona_terminal::screen::{Bottom, Modes, Painter, PainterOptions, Reflow, Restore, Size};
use ona_testkit::Terminal;
use portable_pty::CommandBuilder;
use ratatui_core::text::Line;
use std::io::{BufReader, Read, stdin, stdout};

/// Paints a bottom whose cursor is not on its last row, then does what the first key says.
#[test]
#[ignore = "run by the other tests in a terminal of its own"]
fn program() {
    let size = Size { width: 80, height: 24 };
    let restore = Restore::enter(Modes { keyboard_flags: true }).expect("a terminal");
    let mut painter = Painter::new(stdout(), PainterOptions { size, colours: true, reflow: Reflow::All });
    let lines = ["working", "> prompt", "a hint"].map(Line::from).to_vec();
    let bottom = Bottom { lines, cursor: Some((8, 1)) };
    painter.paint(size, &[], &bottom).expect("a terminal");
    for key in BufReader::new(stdin()).bytes() {
        match key.expect("keys") {
            b'p' => panic!("a defect"),
            b'z' => {
                painter.leave(size).expect("a terminal");
                restore.suspend().expect("a terminal");
                // The signal that continues a program is noticed as well.
                restore.take_over().expect("a terminal");
                painter.paint(size, &[Line::from("continued")], &bottom).expect("a terminal");
            }
            _ => break,
        }
    }
    painter.leave(size).expect("a terminal");
}

fn start() -> Terminal {
    let program = std::env::current_exe().expect("this program");
    let mut command = CommandBuilder::new("/bin/bash");
    command.env("TERM", "xterm-256color");
    // A shell around it, because a stopped program needs one.
    let line = r#"set -m; "$0" --exact restore::program --ignored --nocapture; echo "code $?"; stty -a | grep -o -- '-\?icanon'; fg; stty -a | grep -o -- '-\?icanon'; exit 0"#;
    command.args(["--norc", "--noprofile", "-c", line]);
    command.arg(program);
    let terminal = Terminal::start(command, (80, 24));
    terminal.wait_for("a hint");
    assert!(terminal.look(|shown| shown.screen().bracketed_paste()));
    assert_eq!(terminal.look(|shown| shown.cursor().map(|(column, _)| column)), Some(8));
    terminal
}

/// What is on after the program has ended.
fn assert_given_back(terminal: &mut Terminal) -> String {
    terminal.wait_exit();
    terminal.look(|shown| {
        assert!(!shown.screen().bracketed_paste() && shown.cursor().is_some());
        let text = String::from_utf8_lossy(shown.raw()).into_owned();
        for (on, off) in [("\x1b[>1u", "\x1b[<u"), ("\x1b[22;2t", "\x1b[23;2t")] {
            assert_eq!(text.matches(on).count(), text.matches(off).count(), "{on:?}");
        }
        assert!(!text.contains("\x1b[2J") && !text.contains("\x1b[3J"));
        shown.everything().join("\n")
    })
}

#[test]
fn after_a_normal_end_the_bottom_is_gone() {
    let mut terminal = start();
    terminal.send("q");
    let shown = assert_given_back(&mut terminal);
    assert!(!shown.contains("a hint"), "{shown}");
    assert!(shown.contains("code 0\nicanon"), "{shown}");
}

#[test]
fn a_panic_is_reported_below_the_bottom() {
    let mut terminal = start();
    terminal.send("p");
    let shown = assert_given_back(&mut terminal);
    let hint = shown.find("a hint").expect("what was painted");
    assert!(shown[hint..].contains("a defect") && shown.contains("icanon"), "{shown}");
    assert!(!shown.contains("-icanon"), "{shown}");
}

#[test]
fn a_suspended_program_leaves_the_shell_its_terminal_and_comes_back() {
    let mut terminal = start();
    terminal.send("z");
    // The shell continues it at once.
    terminal.wait_for("continued");
    terminal.wait_for("a hint");
    assert!(terminal.look(|shown| shown.screen().bracketed_paste()));
    terminal.send("q");
    let shown = assert_given_back(&mut terminal);
    assert!(shown.contains("\nicanon"), "{shown}");
    assert!(!shown.contains("-icanon"), "{shown}");
}
