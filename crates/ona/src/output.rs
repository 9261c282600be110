//! stdout is for machines and results, stderr for people. A reader that has gone
//! away is no error: the rows are written, and nobody is left to be told.

use serde_json::Value;
use std::fmt;
use std::io::{self, Write};

/// For who has to know that nobody reads.
pub fn try_line(text: impl fmt::Display) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{text}")?;
    stdout.flush()
}

pub fn line(text: impl fmt::Display) {
    ignore_closed(writeln!(io::stdout().lock(), "{text}"));
}

pub fn json(value: &Value) {
    line(value);
}

pub fn pretty(value: &Value) {
    line(format_args!("{value:#}"));
}

pub fn note(text: impl fmt::Display) {
    ignore_closed(writeln!(io::stderr().lock(), "{text}"));
}

fn ignore_closed(written: io::Result<()>) {
    // Any other error on a standard stream can only be reported on a standard stream.
    drop(written);
}
