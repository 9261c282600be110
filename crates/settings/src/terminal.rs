//! What the interactive terminal is told by the settings.

use crate::keys;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct TerminalSettings {
    /// Name of the theme; the terminal judges it.
    pub theme: Option<String>,
    pub vim: bool,
}

impl TerminalSettings {
    pub(crate) fn read(written: &Value) -> Self {
        Self { theme: crate::text(&written[keys::THEME]), vim: written[keys::EDITOR_MODE] == "vim" }
    }
}
