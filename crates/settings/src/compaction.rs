//! When a conversation is compacted automatically (DEC-035).

use crate::keys;
use crate::problem::SettingsProblem;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompactionSettings {
    pub enabled: bool,
    /// Tokens after which it happens; the model's own limit if absent.
    pub window: Result<Option<usize>, SettingsProblem>,
}

impl CompactionSettings {
    pub(crate) fn read(written: &Value) -> Self {
        let window = match &written[keys::AUTO_COMPACT_WINDOW] {
            Value::Null => Ok(None),
            value => {
                let tokens =
                    value.as_u64().and_then(|tokens| usize::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
                tokens.map(Some).ok_or_else(|| {
                    let message = format_args!("autoCompactWindow must be a number of tokens, not {value}");
                    SettingsProblem::new(keys::AUTO_COMPACT_WINDOW, message)
                })
            }
        };
        Self { enabled: written[keys::AUTO_COMPACT_ENABLED] != Value::Bool(false), window }
    }
}
