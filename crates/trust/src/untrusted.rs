//! Keeps, of a settings file in a folder that is not trusted (DEC-182), only what
//! restricts. Its hooks stay in the list, disabled, so that each skip is logged.

use crate::guarded::starts_below;
use crate::permissions::DISABLE_BYPASS;
use ona_api::SkipReason;
use ona_settings::keys;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Something of an untrusted folder that is not in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedSetting {
    /// In a few words: "hooks", "allow rules", or a key.
    pub kind: String,
    pub file: PathBuf,
}

/// Takes out what does not restrict. Returns the kinds of what is not used.
pub(crate) fn keep_restrictions(value: &mut Map<String, Value>) -> Vec<String> {
    let mut unused = Vec::new();
    value.retain(|key, value| match key.as_str() {
        keys::HOOKS => {
            unused.push("hooks".to_owned());
            true
        }
        keys::HOOKS_DIALECT => true,
        keys::GUARDS => value == "strict",
        keys::PERMISSIONS => {
            let Some(rules) = value.as_object_mut() else { return false };
            rules.retain(|key, _| {
                let restricts = ["deny", "ask", DISABLE_BYPASS].contains(&key.as_str());
                if !restricts {
                    unused.push(if key == "allow" { "allow rules".to_owned() } else { key.clone() });
                }
                restricts
            });
            !rules.is_empty()
        }
        keys::MCP_SERVERS => {
            unused.push("MCP servers".to_owned());
            false
        }
        other => {
            unused.push(other.to_owned());
            false
        }
    });
    unused
}

/// Disables the operator's own hooks that would start a program of the folder.
pub(crate) fn disable_below(entries: &mut [Value], plugin: Option<&str>, root: &Path, home: &Path) {
    for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
        if starts_below(entry, plugin, root, home) {
            entry.insert("disabled".into(), SkipReason::UntrustedWorkspace.as_str().into());
        }
    }
}

/// Disables the hooks of a stored row that were imported from files of a folder, for a start
/// in which that folder is not trusted.
pub fn disable_imported(row: &mut Value) {
    let of_folder = |entry: &Value| {
        let source = entry["source"].as_str().unwrap_or_default();
        source.starts_with("project:") || source.starts_with("local:")
    };
    for entry in row[keys::HOOKS].as_array_mut().into_iter().flatten().filter(|entry| of_folder(entry)) {
        entry["disabled"] = SkipReason::UntrustedWorkspace.as_str().into();
    }
}
