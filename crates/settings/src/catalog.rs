//! The settings that an editor offers: what type a value has, and what it does.
//!
//! Only keys that ona reads are here. Lists of rules, hooks and servers have commands of their own.

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingKind {
    /// `true` or `false`; the default is named.
    Switch(bool),
    /// One of these words; the first is the default.
    Choice(&'static [&'static str]),
    /// A whole number above 0.
    Number,
    Text,
}

/// One setting that can be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownSetting {
    /// Leads into objects: `permissions.defaultMode`.
    pub key: &'static str,
    pub kind: SettingKind,
    pub help: &'static str,
}

const fn setting(key: &'static str, kind: SettingKind, help: &'static str) -> KnownSetting {
    KnownSetting { key, kind, help }
}

use SettingKind::{Choice, Number, Switch, Text};

/// All of them, in the order in which an editor shows them.
pub const CATALOG: &[KnownSetting] = &[
    setting(
        "theme",
        Choice(&["auto", "dark", "light", "16", "plain"]),
        "Colours of the terminal; plain has none, auto leaves them to the terminal",
    ),
    setting("editorMode", Choice(&["normal", "vim"]), "Keys of the composer"),
    setting("outputStyle", Text, "Name of the style in which the agent answers"),
    setting("effortLevel", Choice(&["medium", "low", "high", "xhigh", "max"]), "How hard to think; hooks are told"),
    setting("autoCompactEnabled", Switch(true), "Summarise the conversation before the context is full"),
    setting("autoCompactWindow", Number, "Tokens the context is taken to hold; without it what is known of the model"),
    setting(
        "permissions.defaultMode",
        Choice(&["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]),
        "Permission mode in which sessions start",
    ),
    setting("guards", Choice(&["warn", "strict"]), "strict: do not start while a rule, hook or module does not work"),
    setting("hooksFailClosed", Switch(false), "A hook that fails blocks what it was asked about"),
    setting("disableAllHooks", Switch(false), "Run no hooks at all"),
    setting(
        "fileCheckpointingEnabled",
        Switch(true),
        "Keep files before they change, so that /rewind can restore them",
    ),
    setting("idlePromptSeconds", Number, "Seconds without a prompt until hooks are notified"),
    setting("passCredentials", Switch(false), "Commands of the agent see the credentials of the model providers"),
    setting("disableSkillShellExecution", Switch(false), "Skills run no commands when they are loaded"),
    setting("enableAllProjectMcpServers", Switch(false), "Use the MCP servers of .mcp.json without approving each"),
    setting("gastownMode", Switch(false), "Work as a Gastown worker"),
    setting("apiKeyHelper", Text, "Command that prints a credential for Anthropic"),
    setting("massgenConfig", Text, "Path of a MassGen configuration with hooks"),
];

/// Returns the setting of this key.
pub fn known_setting(key: &str) -> Option<&'static KnownSetting> {
    CATALOG.iter().find(|setting| setting.key == key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Settings, keys};
    use serde_json::{Value, json};

    #[test]
    fn every_setting_is_known_and_what_is_offered_is_accepted() {
        for setting in CATALOG {
            assert!(keys::is_known(setting.key.split('.').next().unwrap()), "{}", setting.key);
            let values: Vec<Value> = match setting.kind {
                SettingKind::Switch(_) => vec![json!(true), json!(false)],
                SettingKind::Choice(words) => words.iter().map(|word| json!(word)).collect(),
                SettingKind::Number => vec![json!(50_000)],
                SettingKind::Text => vec![json!("x")],
            };
            for value in values {
                let written = match setting.key.split_once('.') {
                    Some((top, rest)) => json!({top: {rest: value}}),
                    None => json!({setting.key: value}),
                };
                assert_eq!(Settings::read(&written).problems(), Vec::<String>::new(), "{written}");
            }
        }
    }
}
