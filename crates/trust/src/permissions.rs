//! The `permissions` object of one settings file.
//!
//! Rules are carried as text; whether one is a rule at all is judged where the
//! row is read. What is settled here is what a file of this scope may say, and
//! that a list which cannot be read never quietly turns into no list.

use crate::clean::SettingsSource;
use crate::layer::SettingsScope;
use crate::notice::NoticeKind;
use ona_api::Mode;
use ona_settings::keys;
use serde_json::{Map, Value};
use std::path::Path;

pub(crate) const RULE_LISTS: [&str; 3] = ["allow", "deny", "ask"];
pub(crate) const DIRECTORIES: &str = "additionalDirectories";
pub(crate) const DEFAULT_MODE: &str = "defaultMode";
pub(crate) const DISABLE_BYPASS: &str = "disableBypassPermissionsMode";
pub(crate) const MANAGED_RULES_ONLY: &str = keys::ALLOW_MANAGED_PERMISSION_RULES_ONLY;

/// `anchor`: what a single leading slash in a path rule of this file stands for.
pub(crate) fn clean(source: &mut SettingsSource<'_>, written: Value, anchor: Option<&Path>) -> Map<String, Value> {
    let Value::Object(written) = written else {
        source.note(NoticeKind::BadValue, &[keys::PERMISSIONS], "`permissions` must be an object");
        return Map::new();
    };
    let mut kept = Map::new();
    for (key, value) in written {
        let at = [keys::PERMISSIONS, key.as_str()];
        let value = match key.as_str() {
            _ if value.is_null() => None,
            "allow" | "deny" | "ask" => strings(source, &key, value).map(|rules| {
                let anchored = |rule: String| anchor.map_or(rule.clone(), |dir| anchored(&rule, dir));
                rules.into_iter().map(anchored).collect()
            }),
            DIRECTORIES if source.scope.is_confined() => {
                source.note(NoticeKind::Scope, &at, "a folder cannot add directories to itself; `--add-dir` can");
                None
            }
            DIRECTORIES => strings(source, &key, value).map(Value::from),
            DEFAULT_MODE => mode(source, &value).map(|mode| mode.as_str().into()),
            DISABLE_BYPASS if value == "disable" => Some(value),
            DISABLE_BYPASS => {
                source.note(NoticeKind::BadValue, &at, format!("`{DISABLE_BYPASS}` can only be \"disable\""));
                None
            }
            MANAGED_RULES_ONLY if source.scope != SettingsScope::Managed => {
                source.note(NoticeKind::Scope, &at, format!("`{MANAGED_RULES_ONLY}` counts in managed settings only"));
                None
            }
            MANAGED_RULES_ONLY if value.is_boolean() => Some(value),
            MANAGED_RULES_ONLY => {
                source.note(NoticeKind::BadValue, &at, format!("`{MANAGED_RULES_ONLY}` must be true or false"));
                None
            }
            unknown => {
                let message = format!("`permissions.{unknown}` is not a setting; nothing under it takes effect");
                source.note(NoticeKind::UnknownKey, &at, message);
                None
            }
        };
        if let Some(value) = value {
            kept.insert(key, value);
        }
    }
    kept
}

fn strings(source: &mut SettingsSource<'_>, key: &str, value: Value) -> Option<Vec<String>> {
    let at = [keys::PERMISSIONS, key];
    match value {
        Value::Array(items) => {
            let count = items.len();
            let texts: Vec<_> = items
                .into_iter()
                .filter_map(|item| match item {
                    Value::String(text) => Some(text),
                    _ => None,
                })
                .collect();
            if texts.len() < count {
                source.note(NoticeKind::BadValue, &at, format!("`permissions.{key}` may hold only strings"));
            }
            Some(texts)
        }
        // Written wrongly, but plainly meant to restrict.
        Value::String(rule) if key == "deny" || key == "ask" => {
            source.note(
                NoticeKind::BadValue,
                &at,
                format!("`permissions.{key}` must be an array; read as an array of one"),
            );
            Some(vec![rule])
        }
        _ => {
            source.note(NoticeKind::BadValue, &at, format!("`permissions.{key}` must be an array of strings"));
            None
        }
    }
}

fn mode(source: &mut SettingsSource<'_>, value: &Value) -> Option<Mode> {
    let at = [keys::PERMISSIONS, DEFAULT_MODE];
    match value.as_str().and_then(|text| text.parse().ok()) {
        Some(Mode::BypassPermissions) if source.scope.is_confined() => {
            source.note(NoticeKind::Scope, &at, "a folder cannot choose bypassPermissions for itself");
            None
        }
        Some(mode) => Some(mode),
        None => {
            source.note(NoticeKind::Mode, &at, format!("{value} is not a permission mode here; `default` is used"));
            Some(Mode::Default)
        }
    }
}

/// Returns a `Read` or `Edit` rule with a single leading slash, written out from `dir`.
pub(crate) fn anchored(rule: &str, dir: &Path) -> String {
    for tool in ["Read(", "Edit("] {
        if let Some(path) = rule.strip_prefix(tool)
            && path.starts_with('/')
            && !path.starts_with("//")
        {
            return format!("{tool}/{}{path}", literal(dir));
        }
    }
    rule.to_owned()
}

/// Returns a directory inside a gitignore-style pattern.
fn literal(dir: &Path) -> String {
    let dir = dir.to_string_lossy();
    let mut text = String::with_capacity(dir.len());
    for c in dir.trim_end_matches('/').chars() {
        if "*?[]\\".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_path_rules_with_one_leading_slash_are_written_out() {
        let cases = [
            ("Read(/x)", "Read(//home/a/.ona/x)"),
            ("Edit(/src/**)", "Edit(//home/a/.ona/src/**)"),
            ("Read(//etc/x)", "Read(//etc/x)"),
            ("Read(~/x)", "Read(~/x)"),
            ("Read(./x)", "Read(./x)"),
            ("Read(x)", "Read(x)"),
            ("Read", "Read"),
            ("Bash(/bin/ls)", "Bash(/bin/ls)"),
        ];
        for (rule, expected) in cases {
            assert_eq!(anchored(rule, Path::new("/home/a/.ona")), expected);
        }
        assert_eq!(anchored("Read(/x)", Path::new("/h/[a]*")), "Read(//h/\\[a\\]\\*/x)");
    }
}
