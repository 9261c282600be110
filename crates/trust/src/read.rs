//! One settings file, from a path to a JSON object.
//!
//! The file may have been written by anybody: it is read only if it is a regular
//! file of a sensible size, and only as strict JSON.

use serde_json::{Map, Value};
use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

pub(crate) const MAX_BYTES: u64 = 2 * 1024 * 1024;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Absent,
    Text(String),
    /// The content cannot be had, or is not text.
    Unreadable(String),
    /// Not a file that could hold settings: a pipe, a device, far too large.
    Unfit(String),
}

pub(crate) fn read(path: &Path) -> Reading {
    match bounded(path) {
        Ok(text) => Reading::Text(text),
        Err(Problem::Io(error)) if is_absent(&error) => Reading::Absent,
        Err(Problem::Io(error)) => Reading::Unreadable(error.to_string()),
        Err(Problem::Is(what)) => Reading::Unfit(what.to_owned()),
        Err(Problem::NotText) => Reading::Unreadable("not UTF-8 text".to_owned()),
    }
}

pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

enum Problem {
    Io(std::io::Error),
    Is(&'static str),
    NotText,
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Problem::Io(error)
    }
}

fn bounded(path: &Path) -> Result<String, Problem> {
    // Looked at before it is opened: opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(Problem::Is("not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::Is("larger than 2 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| Problem::NotText)
}

/// Why a text is not a settings object, and the line that shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotSettings {
    pub line: Option<usize>,
    pub message: String,
}

pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, NotSettings> {
    match serde_json::from_str(without_bom(text)) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => {
            let message = "the settings must be one JSON object at line 1 column 1".to_owned();
            Err(NotSettings { line: Some(1), message })
        }
        Err(error) => Err(NotSettings { line: Some(error.line()), message: format!("not valid JSON: {error}") }),
    }
}

/// Some editors start a file with a byte-order mark; a deny rule must not get lost over it.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}
