//! stdout is for machines and results, stderr for people. A reader that has gone
//! away is not an error: the rows are written, and nobody is left to be told.

use ona_api::{Env, Redactor, environment};
use ona_runtime::Notices;
use ona_runtime::table::TerminalStyle;
use serde_json::Value;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::LazyLock;

/// For who has to know that nobody reads.
pub(crate) fn try_line(text: impl fmt::Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

/// Writes a piece of a line, for a person who watches it grow.
pub(crate) fn try_text(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

pub(crate) fn line(text: impl fmt::Display) {
    ignore_closed(writeln!(io::stdout().lock(), "{text}"));
}

pub(crate) fn json(value: &Value) {
    line(value);
}

pub(crate) fn pretty(value: &Value) {
    line(format_args!("{value:#}"));
}

/// No line on stderr shows a secret: what is wrong with a setting is often said by quoting it.
pub(crate) fn note(text: impl fmt::Display) {
    let text = text.to_string();
    ignore_closed(writeln!(io::stderr().lock(), "{}", SECRETS.apply(&text)));
}

/// Whether what goes to a terminal may be coloured: NO_COLOR is empty or not set, and the terminal can.
pub(crate) fn is_coloured(env: &Env) -> bool {
    env.non_empty(environment::NO_COLOR).is_none()
        && env.non_empty(environment::TERM).is_some_and(|kind| kind != "dumb")
}

/// How lists are shown to a person: `None` where stdout is a pipe or a file.
pub(crate) fn terminal_style(env: &Env) -> Option<TerminalStyle> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    // Zero is what a terminal says that does not know.
    let width = rustix::termios::tcgetwinsize(&stdout).map_or(0, |size| usize::from(size.ws_col));
    Some(TerminalStyle { width: if width == 0 { 80 } else { width }, coloured: is_coloured(env) })
}

/// A line about what the program does, already redacted.
pub(crate) fn diagnostic(line: &str) {
    ignore_closed(io::stderr().lock().write_all(line.as_bytes()));
}

/// The redactor of everything that is printed. What a clone learns, all know.
pub(crate) fn redactor() -> Redactor {
    SECRETS.clone()
}

/// Where the runtime's sentences go. Secrets it finds are left out of every line from then on.
pub(crate) fn notices() -> Notices {
    Notices::new(redactor(), |text| note(text))
}

static SECRETS: LazyLock<Redactor> = LazyLock::new(Redactor::default);

fn ignore_closed(written: io::Result<()>) {
    // Any other error on a standard stream can only be reported on a standard stream.
    drop(written);
}
