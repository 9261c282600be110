//! What the settings say about hooks. The entries stay raw and in order: a dialect reads them.

use crate::keys;
use crate::problem::Checked;
use crate::{is_true, text, texts};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct HookSettings {
    /// The value of `hooks`.
    pub entries: Value,
    /// The dialect of entries that do not name one.
    pub dialect: String,
    /// In the order in which they are written.
    pub plugins: Vec<PluginSettings>,
    pub all_disabled: bool,
    /// Only hooks of managed settings run.
    pub managed_only: bool,
    /// Every hook counts as `fail_closed`. A value that is neither true nor false counts as true.
    pub fail_closed: Checked<bool>,
    /// The only addresses that http hooks may post to; all are allowed if absent.
    pub allowed_urls: Option<Vec<String>>,
    /// The only variables that headers of http hooks may contain; all are allowed if absent.
    pub allowed_variables: Option<Vec<String>>,
    /// Files of hook modules.
    pub modules: Vec<String>,
}

/// A plugin as the effective row keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct PluginSettings {
    pub id: String,
    pub root: Option<String>,
    pub data: Option<String>,
    pub dialect: String,
    pub hooks: Value,
}

impl Default for HookSettings {
    fn default() -> Self {
        Self::read(&Value::Null)
    }
}

impl HookSettings {
    pub(crate) fn read(written: &Value) -> Self {
        let fail_closed = match &written[keys::HOOKS_FAIL_CLOSED] {
            Value::Null => Checked::ok(false),
            Value::Bool(closed) => Checked::ok(*closed),
            _ => {
                let message = "`hooksFailClosed` in the settings must be true or false; read as true";
                Checked::wrong(true, keys::HOOKS_FAIL_CLOSED, message)
            }
        };
        Self {
            entries: written[keys::HOOKS].clone(),
            dialect: text(&written[keys::HOOKS_DIALECT]).unwrap_or_else(|| "sdlc".to_owned()),
            plugins: plugins(&written[keys::PLUGINS]),
            all_disabled: is_true(&written[keys::DISABLE_ALL_HOOKS]),
            managed_only: is_true(&written[keys::ALLOW_MANAGED_HOOKS_ONLY]),
            fail_closed,
            allowed_urls: written[keys::ALLOWED_HTTP_HOOK_URLS]
                .is_array()
                .then(|| texts(&written[keys::ALLOWED_HTTP_HOOK_URLS])),
            allowed_variables: written.get(keys::HTTP_HOOK_ALLOWED_ENV_VARS).map(texts),
            modules: texts(&written[keys::HOOK_MODULES]),
        }
    }
}

fn plugins(value: &Value) -> Vec<PluginSettings> {
    let plugin = |(id, plugin): (&String, &Value)| PluginSettings {
        id: id.clone(),
        root: text(&plugin["root"]),
        data: text(&plugin["data"]),
        dialect: text(&plugin[keys::HOOKS_DIALECT]).unwrap_or_else(|| "claude".to_owned()),
        hooks: plugin[keys::HOOKS].clone(),
    };
    value.as_object().into_iter().flatten().map(plugin).collect()
}
