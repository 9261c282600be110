//! One setting at a time: its value, where it comes from, and writing it into a file (`ona config`).
//!
//! A file is written only with a value that a start would accept; its other keys stay as they are.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject, Purpose};
use ona_auth::{WireModels, resolve_model};
use ona_files::ReadError;
use ona_settings::{Settings, keys};
use ona_trust::{SettingsScope, counts_in, replace_file};
use serde_json::{Map, Value};
use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

/// A value, and the file or other source that says it.
pub struct SettingSource {
    pub scope: &'static str,
    pub file: Option<PathBuf>,
    pub value: Value,
}

/// Returns the value of a setting as a start would use it, without secrets, and what says it. `key` may lead
/// into objects: `permissions.defaultMode`.
pub fn value_of(launch: &Launch, open: &OpenProject, key: &str) -> Result<(Value, Vec<SettingSource>), Failure> {
    check_key(key)?;
    let mut row = launch.effective_as_stored(open, Purpose::Look)?;
    open.redactor.apply_to_json(&mut row);
    let sources = open.found.layers.iter().filter_map(|layer| {
        let mut value = at(&layer.value, key)?.clone();
        open.redactor.apply_to_json(&mut value);
        Some(SettingSource { scope: layer.scope.as_str(), file: layer.file.clone(), value })
    });
    Ok((at(&row, key).cloned().unwrap_or(Value::Null), sources.collect()))
}

/// Returns all settings that have a value, by their top-level keys.
pub fn values(launch: &Launch, open: &OpenProject) -> Result<Vec<(String, Value, Vec<SettingSource>)>, Failure> {
    let row = launch.effective_as_stored(open, Purpose::Look)?;
    let keys: Vec<String> = row.as_object().into_iter().flat_map(Map::keys).cloned().collect();
    let known = keys.into_iter().filter(|key| keys::is_known(key));
    known.map(|key| value_of(launch, open, &key).map(|(value, sources)| (key, value, sources))).collect()
}

/// Writes a value into the file of a scope; `None` removes the key. Returns the file.
pub fn write(launch: &Launch, scope: SettingsScope, key: &str, value: Option<Value>) -> Result<PathBuf, Failure> {
    launch.never_from_an_agent("settings")?;
    check_key(key)?;
    let top = key.split('.').next().unwrap_or(key);
    if !counts_in(top, scope) {
        let what = format_args!("`{top}` does not count in {} settings", scope.as_str());
        return Err(Failure::usage(what).hint(format!("ona config set --scope user {key} VALUE")));
    }
    if let Some(fixed) = fixed_by_policy(launch, key)? {
        let what = format_args!("`{key}` is fixed by the managed policy {}; nothing was changed", fixed.display());
        return Err(Failure::refused(what));
    }
    let (dir, name) = match scope {
        SettingsScope::User => (launch.env.home().join(".ona"), "settings.json"),
        SettingsScope::Local => (launch.project.join(".ona"), "settings.local.json"),
        _ => (launch.project.join(".ona"), "settings.json"),
    };
    let file = dir.join(name);
    let failed = |error: std::io::Error| Failure::refused(format_args!("{}: {error}", file.display()));
    if scope != SettingsScope::User && [&dir, &file].iter().any(|path| path.is_symlink()) {
        return Err(Failure::refused(format_args!(
            "{} is a link, or stands behind one; it is not written",
            file.display()
        )));
    }
    DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed)?;
    // Two processes may do this at once; the folder itself is the lock.
    let lock = File::open(&dir).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let unusable = |why: String| Failure::usage(format_args!("{}: {why}; nothing was changed", file.display()));
    let mut written = match ona_files::read_text(&file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?,
        Err(ReadError::Absent) => Value::Object(Map::new()),
        Err(why) => return Err(unusable(format!("it {why}"))),
    };
    let before = problems(launch, &written);
    if !set(&mut written, key, value) {
        return Err(unusable(format!("a part of `{key}` is there and is not an object")));
    }
    if let Some(problem) = problems(launch, &written).into_iter().find(|problem| !before.contains(problem)) {
        return Err(Failure::usage(problem).hint("nothing was changed"));
    }
    replace_file(&file, &format!("{written:#}\n")).map_err(failed)?;
    Ok(file)
}

/// Returns the file of the managed policy that says what a setting is, if one does. Lists and objects are put
/// together from all files, so a policy does not fix those.
pub fn fixed_by_policy(launch: &Launch, key: &str) -> Result<Option<PathBuf>, Failure> {
    let layers = launch.discover()?.layers;
    let mut managed = layers.iter().filter(|layer| layer.scope == SettingsScope::Managed);
    let fixes = |value: &Value| !value.is_array() && !value.is_object();
    let fixing = managed.rfind(|layer| at(&layer.value, key).is_some_and(fixes));
    Ok(fixing.map(|layer| layer.file.clone().unwrap_or_else(|| "/etc/ona/managed-settings.json".into())))
}

/// What a start would say about such a file.
fn problems(launch: &Launch, written: &Value) -> Vec<String> {
    let settings = Settings::read(written);
    let mut problems = settings.problems();
    let wire_models = WireModels::read(&settings.wire_models);
    if let Some(config) = &settings.model_config {
        let env = launch.env.clone().with(ona_api::environment::LM_STUDIO_MODEL, "any");
        let lasting = wire_models.clone().unwrap_or_default();
        problems.extend(resolve_model(config, &env, &lasting).err().map(|error| error.to_string()));
    }
    problems.extend(wire_models.err().map(|error| error.to_string()));
    if !written.is_object() {
        problems.push("settings must be a JSON object".to_owned());
    }
    problems
}

fn check_key(key: &str) -> Result<(), Failure> {
    let top = key.split('.').next().unwrap_or(key);
    match keys::is_known(top) && !key.split('.').any(str::is_empty) {
        true => Ok(()),
        false => Err(Failure::usage(keys::unknown(top)).hint("ona config list")),
    }
}

fn at<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(value, |value, part| value.get(part))
}

/// Whether it could be set: every part before the last is an object, or made one.
fn set(value: &mut Value, key: &str, new: Option<Value>) -> bool {
    let (part, rest) = key.split_once('.').map_or((key, None), |(part, rest)| (part, Some(rest)));
    let Some(fields) = value.as_object_mut() else { return false };
    match (rest, new) {
        (Some(rest), Some(new)) => {
            set(fields.entry(part).or_insert_with(|| Value::Object(Map::new())), rest, Some(new))
        }
        (Some(rest), None) => fields.get_mut(part).is_none_or(|below| set(below, rest, None)),
        (None, Some(new)) => {
            fields.insert(part.to_owned(), new);
            true
        }
        (None, None) => {
            fields.shift_remove(part);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_is_set_and_removed_and_the_others_stay() {
        let mut value = json!({"zeta": 1, "permissions": {"allow": ["Read"]}});
        assert!(set(&mut value, "permissions.defaultMode", Some(json!("plan"))));
        assert!(set(&mut value, "sdlc.planning.mcp", Some(json!("deny"))));
        let expected = json!({"zeta": 1, "permissions": {"allow": ["Read"], "defaultMode": "plan"},
            "sdlc": {"planning": {"mcp": "deny"}}});
        assert_eq!(value, expected);
        assert!(!set(&mut value, "zeta.x", Some(json!(1))));
        assert!(set(&mut value, "sdlc", None) && set(&mut value, "nothing.there", None));
        assert_eq!(at(&value, "permissions.defaultMode"), Some(&json!("plan")));
        assert_eq!(at(&value, "sdlc"), None);
    }
}
