//! Merges the layers into one value.
//!
//! Plain values: the highest scope wins. Objects are merged per key. Lists of
//! permission rules are joined, because a deny anywhere must count. Hooks of all
//! layers run together, in layer order. Nothing is read here.

use crate::discover::DiscoveredSettings;
use crate::layer::{SettingsLayer, SettingsScope};
use crate::notice::{Notice, NoticeKind};
use crate::permissions::{DEFAULT_MODE, DIRECTORIES, DISABLE_BYPASS, MANAGED_RULES_ONLY, RULE_LISTS};
use crate::plugins::switched;
use crate::secrets::Secrets;
use crate::switches::HookSwitches;
use crate::trust::Trust;
use crate::untrusted::disable_below;
use ona_api::Env;
use ona_settings::keys;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq)]
pub struct Merged {
    /// What a fresh `effective` row holds; credentials are replaced by placeholders.
    pub effective: Value,
    /// The top-level keys of it that a file has a part in.
    pub from_files: Vec<String>,
    pub secrets: Secrets,
    /// Everything there is to say, including what discovery noticed.
    pub notices: Vec<Notice>,
    pub sha256: String,
    pub project_root: PathBuf,
    pub trust: Trust,
}

/// Merged by rules of their own.
const SPECIAL: [&str; 7] = [
    keys::PERMISSIONS,
    keys::HOOKS,
    keys::PLUGINS,
    keys::DISABLE_ALL_HOOKS,
    keys::ALLOW_MANAGED_HOOKS_ONLY,
    keys::GUARDS,
    keys::HOOKS_FAIL_CLOSED,
];

pub fn merge(found: &DiscoveredSettings, env: &Env) -> Merged {
    let mut notices = found.notices.clone();
    // Stable, so that within one scope the own file stays behind the compatible one.
    let mut layers: Vec<&SettingsLayer> = found.layers.iter().collect();
    layers.sort_by_key(|layer| layer.scope.rank());

    let mut effective = Map::new();
    effective.insert(keys::PERMISSIONS.into(), permissions(&layers, &mut notices).into());
    for layer in &layers {
        for (key, value) in fields(layer).filter(|(key, _)| !SPECIAL.contains(&key.as_str())) {
            match effective.get_mut(key) {
                Some(below) => lay(below, key, value, layer, &mut notices),
                None => drop(effective.insert(key.clone(), value.clone())),
            }
        }
    }
    strictest(&layers, keys::GUARDS, &"strict".into(), &mut effective);
    strictest(&layers, keys::HOOKS_FAIL_CLOSED, &true.into(), &mut effective);
    let switches = HookSwitches::of(&found.layers);
    let home = env.home();
    let untrusted = found.trust == Trust::Withheld;
    let operators = |scope: SettingsScope| untrusted && matches!(scope, SettingsScope::User | SettingsScope::Managed);
    let hooks = |layer: &SettingsLayer| {
        let mut entries = switches.marked(layer.scope, &layer.value[keys::HOOKS]);
        if operators(layer.scope) {
            disable_below(&mut entries, None, &found.project_root, &home);
        }
        entries
    };
    let hooks: Vec<Value> = found.layers.iter().flat_map(hooks).collect();
    if !hooks.is_empty() {
        effective.insert(keys::HOOKS.into(), hooks.into());
    }
    let mut plugins = plugins(&layers, &switches);
    let named =
        |id: &str| layers.iter().any(|l| l.scope == SettingsScope::Flag && l.value[keys::PLUGINS].get(id).is_some());
    // One that --plugin-dir or --settings names counts as named.
    for (_, plugin) in plugins.iter_mut().filter(|(id, _)| untrusted && !named(id)) {
        let root = plugin["root"].as_str().map(str::to_owned);
        let entries = plugin.get_mut(keys::HOOKS).and_then(Value::as_array_mut);
        let entries = entries.map(Vec::as_mut_slice).unwrap_or_default();
        disable_below(entries, root.as_deref(), &found.project_root, &home);
    }
    let switched = switched(&found.layers);
    plugins.retain(|id, _| switched.get(id) != Some(&false));
    if !plugins.is_empty() {
        effective.insert(keys::PLUGINS.into(), plugins.into());
    }
    switches.keep(&mut effective);
    let below = untrusted.then_some((found.project_root.as_path(), home.as_path()));
    status_line(&layers, &switches, below, &mut effective, &mut notices);

    let written =
        |key: &String| found.layers.iter().any(|l| l.scope != SettingsScope::Seed && l.value.get(key).is_some());
    let from_files = effective.keys().filter(|key| written(key)).cloned().collect();
    let mut effective = Value::Object(effective);
    let secrets = Secrets::take(&mut effective, env);
    Merged {
        effective,
        from_files,
        secrets,
        notices,
        sha256: found.sha256.clone(),
        project_root: found.project_root.clone(),
        trust: found.trust,
    }
}

/// The status line is a command like a hook: what keeps hooks of its scope from running keeps it from running,
/// and so does a program that lies in a folder nobody trusts.
fn status_line(
    layers: &[&SettingsLayer],
    switches: &HookSwitches,
    untrusted: Option<(&Path, &Path)>,
    effective: &mut Map<String, Value>,
    notices: &mut Vec<Notice>,
) {
    effective.shift_remove(keys::STATUS_LINE);
    let high_first = layers.iter().rev();
    let Some((layer, value)) = high_first
        .filter_map(|layer| Some((layer, layer.value.get(keys::STATUS_LINE).filter(|value| !value.is_null())?)))
        .find(|(layer, _)| switches.reason(layer.scope).is_none())
    else {
        return;
    };
    let mut entry = [value.clone()];
    if let Some((root, home)) = untrusted {
        disable_below(&mut entry, None, root, home);
    }
    let [entry] = entry;
    match entry.get("disabled") {
        Some(_) => notices.push(Notice {
            about: NoticeKind::Scope,
            file: layer.file.clone(),
            line: None,
            message: "`statusLine` is not used: its program lies in a folder that is not trusted".into(),
        }),
        None => drop(effective.insert(keys::STATUS_LINE.into(), entry)),
    }
}

/// A key whose strict value counts from whatever scope it comes.
fn strictest(layers: &[&SettingsLayer], key: &str, strict: &Value, effective: &mut Map<String, Value>) {
    let mut said = layers.iter().filter_map(|layer| layer.value.get(key)).peekable();
    if let Some(first) = said.peek().copied() {
        let counts = if said.any(|value| value == strict) { strict } else { first };
        effective.insert(key.to_owned(), counts.clone());
    }
}

fn fields(layer: &SettingsLayer) -> impl Iterator<Item = (&String, &Value)> {
    layer.value.as_object().into_iter().flatten()
}

/// Objects that mean something only whole. Mixing two definitions of one server
/// would hand the token of the one to the command of the other.
const WHOLE: [&str; 3] = ["statusLine", "subagentStatusLine", "fileSuggestion"];
const WHOLE_ENTRIES: [&str; 2] = [keys::MCP_SERVERS, "extraKnownMarketplaces"];

fn lay(below: &mut Value, key: &str, value: &Value, layer: &SettingsLayer, notices: &mut Vec<Notice>) {
    match (below, value) {
        (_, Value::Null) => {}
        (Value::Object(below), Value::Object(above)) if !WHOLE.contains(&key) => {
            for (name, value) in above.iter().filter(|(_, value)| !value.is_null()) {
                match below.get_mut(name) {
                    Some(below) if !WHOLE_ENTRIES.contains(&key) => lay(below, name, value, layer, notices),
                    _ => drop(below.insert(name.clone(), value.clone())),
                }
            }
        }
        // Lists of what is forbidden only grow, whatever the higher layers say.
        (Value::Array(below), Value::Array(above)) if is_prohibition(key) => join(below, above),
        // What was switched off stays off for a folder.
        (Value::Bool(true), Value::Bool(false)) if layer.scope.is_confined() && key.starts_with("disable") => {}
        (below @ (Value::Object(_) | Value::Array(_)), above)
            if std::mem::discriminant(below) != std::mem::discriminant(above) =>
        {
            let message = format!("`{key}` is ignored: its type is not that of a lower scope");
            notices.push(Notice { about: NoticeKind::BadValue, file: layer.file.clone(), line: None, message });
        }
        (below, above) => *below = above.clone(),
    }
}

fn is_prohibition(key: &str) -> bool {
    ["deny", "denied", "disabled", "blocked"].iter().any(|word| key.starts_with(word))
}

fn join(list: &mut Vec<Value>, more: &[Value]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

/// `layers` from low to high.
fn permissions(layers: &[&SettingsLayer], notices: &mut Vec<Notice>) -> Map<String, Value> {
    let said = |key: &'static str| {
        let high_first = layers.iter().rev();
        high_first.filter_map(move |layer| layer.value[keys::PERMISSIONS].get(key).map(|value| (*layer, value)))
    };
    // It only ever narrows: deny and ask rules of everybody stay in force.
    let managed_only = said(MANAGED_RULES_ONLY).any(|(_, value)| value == &Value::Bool(true));
    let mut lists = Map::new();
    for key in RULE_LISTS.into_iter().chain([DIRECTORIES]) {
        let mut joined = Vec::new();
        for (layer, value) in said(key) {
            if key == "allow" && managed_only && layer.scope != SettingsScope::Managed {
                if layer.scope != SettingsScope::Seed {
                    let message = "its allow rules are ignored: only managed ones count on this host".to_owned();
                    notices.push(Notice { about: NoticeKind::Policy, file: layer.file.clone(), line: None, message });
                }
                continue;
            }
            join(&mut joined, value.as_array().map(Vec::as_slice).unwrap_or_default());
        }
        if !joined.is_empty() {
            lists.insert(key.into(), joined.into());
        }
    }
    let mut permissions = Map::new();
    if let Some((_, mode)) = said(DEFAULT_MODE).next() {
        permissions.insert(DEFAULT_MODE.into(), mode.clone());
    }
    permissions.extend(lists);
    if let Some((_, disable)) = said(DISABLE_BYPASS).next() {
        permissions.insert(DISABLE_BYPASS.into(), disable.clone());
    }
    if managed_only {
        permissions.insert(MANAGED_RULES_ONLY.into(), true.into());
    }
    permissions
}

/// Merges the plugins. Each is taken whole from the file with the most authority: a folder can
/// not empty a plugin that the operator set up.
fn plugins(layers: &[&SettingsLayer], switches: &HookSwitches) -> Map<String, Value> {
    let mut by_authority = layers.to_vec();
    by_authority.sort_by_key(|layer| layer.scope.authority());
    let mut plugins = Map::new();
    for layer in by_authority {
        for (id, plugin) in layer.value[keys::PLUGINS].as_object().into_iter().flatten() {
            let mut plugin = plugin.clone();
            if let Some(hooks) = plugin.get_mut(keys::HOOKS) {
                *hooks = switches.marked(layer.scope, hooks).into();
            }
            plugins.insert(id.clone(), plugin);
        }
    }
    plugins
}
