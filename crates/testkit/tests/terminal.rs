//! The terminal of the tests: what it shows, answers and reports.

use ona_testkit::terminal::{Terminal, keys};
use portable_pty::CommandBuilder;

fn bash(script: &str) -> Terminal {
    let mut command = CommandBuilder::new("/bin/bash");
    command.env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.env("TERM", "xterm-256color");
    command.args(["--norc", "--noprofile", "-c", script]);
    Terminal::start(command, (40, 6))
}

#[test]
fn a_program_reads_keys_sees_its_size_and_ends_with_its_code() {
    let mut terminal = bash("stty -echo; echo \"ready $(stty size)\"; read -r line; echo \"got $line\"; exit 3");
    assert_eq!(terminal.wait_for("ready"), "ready 6 40");
    terminal.send("some words");
    terminal.send(keys::ENTER);
    terminal.wait_for("got some words");
    assert_eq!(terminal.wait_exit(), 3);
}

#[test]
fn what_has_scrolled_away_is_still_there() {
    let mut terminal = bash("for n in {1..20}; do echo line $n; done; printf '\\e]2;a title\\a'");
    assert_eq!(terminal.wait_exit(), 0);
    let expected: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
    assert_eq!(terminal.everything(), expected);
    assert_eq!(terminal.screen(), "line 16\nline 17\nline 18\nline 19\nline 20");
    terminal.wait_for_title("a title");
}

#[test]
fn the_terminal_says_where_the_cursor_is() {
    let mut terminal = bash(
        "stty -echo -icanon; printf 'abc\\n12'; printf '\\e[6n'; read -rs -d R answer; echo; echo \"${answer#?}\"",
    );
    terminal.wait_for("[2;3");
    assert_eq!(terminal.wait_exit(), 0);
}

#[test]
fn a_resize_reaches_the_program() {
    let mut terminal = bash("trap 'stty size; exit 5' WINCH; echo waiting; while :; do read -rt 0.1; done");
    terminal.wait_for("waiting");
    terminal.resize(30, 9);
    terminal.wait_for("9 30");
    assert_eq!(terminal.wait_exit(), 5);
}

#[test]
#[should_panic(expected = "the program ended while waiting for \"never\"; the screen:\nsomething else")]
fn a_screen_that_never_comes_fails_with_what_was_shown() {
    bash("echo something else").wait_for("never");
}
