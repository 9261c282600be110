//! What the interactive terminal is told by the settings.

use crate::keys;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TerminalSettings {
    /// Name of the theme; the terminal judges it.
    pub theme: Option<String>,
    pub vim: bool,
    pub status_line: Option<StatusLineCommand>,
}

/// The user's own status line: a command that gets JSON on stdin and prints lines.
#[derive(Clone, Debug, PartialEq)]
pub struct StatusLineCommand {
    pub command: String,
    /// How often it is run again while nothing happens, at least a second.
    pub refresh: Option<Duration>,
}

impl TerminalSettings {
    pub(crate) fn read(written: &Value) -> Self {
        let line = &written[keys::STATUS_LINE];
        let command = line["command"].as_str().filter(|command| !command.trim().is_empty());
        let refresh = line["refreshInterval"].as_f64().filter(|seconds| seconds.is_finite() && *seconds > 0.0);
        Self {
            theme: crate::text(&written[keys::THEME]),
            vim: written[keys::EDITOR_MODE] == "vim",
            status_line: command.map(|command| StatusLineCommand {
                command: command.to_owned(),
                refresh: refresh.map(|seconds| Duration::from_secs_f64(seconds.clamp(1.0, 86_400.0))),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_status_line_needs_a_command_and_is_not_run_all_the_time() {
        let read = |value: Value| TerminalSettings::read(&json!({"statusLine": value})).status_line;
        let command = |refresh| Some(StatusLineCommand { command: "date".into(), refresh });
        assert_eq!(read(json!({"type": "command", "command": "date"})), command(None));
        assert_eq!(read(json!({"command": "date", "refreshInterval": 0.01})), command(Some(Duration::from_secs(1))));
        assert_eq!(read(json!({"command": " "})), None);
        assert_eq!(read(json!("date")), None);
    }
}
