//! `statusLine`: a command of the user that writes a line below the prompt.

use crate::keys;
use crate::problem::Checked;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusLineSettings {
    /// As for `sh -c`.
    pub command: String,
    /// Blanks before the line.
    pub padding: u16,
    /// Run it again after this time, also if nothing has happened.
    pub refresh: Option<Duration>,
}

/// `{"type": "command", "command": "...", "padding": 0, "refreshInterval": 5}`
pub(crate) fn read(value: &Value) -> Checked<Option<StatusLineSettings>> {
    if value.is_null() {
        return Checked::ok(None);
    }
    let wrong = |why: &str| Checked::wrong(None, keys::STATUS_LINE, format_args!("statusLine is not used: {why}"));
    if value.get("type").is_some_and(|kind| kind != "command") {
        return wrong("its type must be \"command\"");
    }
    let Some(command) = value["command"].as_str().filter(|command| !command.trim().is_empty()) else {
        return wrong("it needs a command, as {\"type\": \"command\", \"command\": \"...\"}");
    };
    let refresh = match &value["refreshInterval"] {
        Value::Null => None,
        seconds => match seconds.as_f64().filter(|seconds| (1.0..=86_400.0).contains(seconds)) {
            Some(seconds) => Some(Duration::from_secs_f64(seconds)),
            None => return wrong("refreshInterval must be a number of seconds from 1 to 86400"),
        },
    };
    let padding = match &value["padding"] {
        Value::Null => 0,
        cells => match cells.as_u64().filter(|cells| *cells <= 40) {
            Some(cells) => cells as u16,
            None => return wrong("padding must be a number from 0 to 40"),
        },
    };
    Checked::ok(Some(StatusLineSettings { command: command.to_owned(), padding, refresh }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_command_counts_and_anything_else_is_named() {
        let line = |command: &str, padding, refresh: Option<u64>| {
            Some(StatusLineSettings { command: command.into(), padding, refresh: refresh.map(Duration::from_secs) })
        };
        for (value, read_as, problem) in [
            (json!(null), None, false),
            (json!({"type": "command", "command": "date"}), line("date", 0, None), false),
            (json!({"command": "date", "padding": 2, "refreshInterval": 5}), line("date", 2, Some(5)), false),
            (json!({"command": "date", "hideVimModeIndicator": true}), line("date", 0, None), false),
            (json!({"type": "static", "command": "date"}), None, true),
            (json!({"type": "command"}), None, true),
            (json!({"command": "date", "refreshInterval": 0.1}), None, true),
            (json!({"command": "date", "padding": -1}), None, true),
            (json!("date"), None, true),
        ] {
            let Checked { value: found, problem: why } = read(&value);
            assert_eq!((found, why.is_some()), (read_as, problem), "{value}");
        }
    }
}
