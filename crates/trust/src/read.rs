//! One settings file, from a path to a JSON object.
//!
//! The file is not trusted: it is read only if it is a regular
//! file of a sensible size, and only as strict JSON.

use ona_files::ReadError;
use serde_json::{Map, Value};
use std::io::ErrorKind;
use std::path::Path;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileRead {
    Absent,
    Text(String),
    /// The content cannot be had, or is not text.
    Unreadable(String),
    /// Not a file that could hold settings: a pipe, a device, far too large.
    Unfit(String),
}

impl From<Result<String, ReadError>> for FileRead {
    fn from(read: Result<String, ReadError>) -> Self {
        match read {
            Ok(text) => FileRead::Text(text),
            Err(ReadError::Absent) => FileRead::Absent,
            Err(why @ (ReadError::Kind(_) | ReadError::TooLarge(_))) => FileRead::Unfit(format!("it {why}")),
            Err(why @ (ReadError::NotText | ReadError::Io(_))) => FileRead::Unreadable(format!("it {why}")),
        }
    }
}

/// Reads a file that was found in a folder.
pub(crate) fn read(path: &Path) -> FileRead {
    ona_files::read_text(path).into()
}

/// Reads a file that the operator named, which may be a pipe.
pub(crate) fn read_named(path: &Path) -> FileRead {
    ona_files::read_named(path).into()
}

pub(crate) fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
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
