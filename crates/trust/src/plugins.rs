//! Enabled plugins: where each lies, and the hooks it brings (DEC-060).
//!
//! `enabledPlugins` names plugins that were installed for this user; where each lies is in
//! `plugins/installed_plugins.json` of the user's `.claude`. `--plugin-dir` names a folder
//! outright. A plugin becomes a layer like a settings file, so that what is listed, stored and
//! run is one thing. Nothing of a plugin is read from outside its own folder.

use crate::clean::SettingsSource;
use crate::discover::SettingsError;
use crate::discovery::{Compatible, DiscoveryOptions};
use crate::files::claude_home;
use crate::hooks;
use crate::layer::{SettingsLayer, SettingsScope};
use crate::notice::{Notice, NoticeKind};
use crate::plugin_pins::{InstalledPlugins, PinState, installed_list, plugin_data};
use crate::read::{self, FileRead};
use ona_api::{Env, digest, environment};
use ona_settings::keys;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What plugins add to a start.
#[derive(Default)]
pub(crate) struct PluginLayers {
    pub layers: Vec<SettingsLayer>,
    pub notices: Vec<Notice>,
    /// Files that were read, with their digests.
    pub file_states: Vec<(SettingsScope, PathBuf, String)>,
}

/// Returns which plugins are on and off. The highest scope counts, except that a folder cannot switch
/// off what the operator has switched on.
pub(crate) fn switched(layers: &[SettingsLayer]) -> BTreeMap<String, bool> {
    let mut by_rank: Vec<&SettingsLayer> = layers.iter().collect();
    by_rank.sort_by_key(|layer| layer.scope.rank());
    let mut switched: BTreeMap<String, (bool, SettingsScope)> = BTreeMap::new();
    for layer in by_rank {
        for (id, on) in layer.value[keys::ENABLED_PLUGINS].as_object().into_iter().flatten() {
            let Some(on) = on.as_bool() else { continue };
            let operators = switched.get(id).is_some_and(|(on, scope)| *on && !scope.is_confined());
            let of_folder = matches!(layer.scope, SettingsScope::Project | SettingsScope::Local);
            if on || !(operators && of_folder) {
                switched.insert(id.clone(), (on, layer.scope));
            }
        }
    }
    switched.into_iter().map(|(id, (on, _))| (id, on)).collect()
}

pub(crate) fn load(how: &DiscoveryOptions, env: &Env, layers: &[SettingsLayer]) -> Result<PluginLayers, SettingsError> {
    let mut plugins_found = PluginLayers::default();
    let home = claude_home(env);
    let compatible = how.compatible != Compatible::Off && env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0");
    let on: Vec<_> = switched(layers).into_iter().filter(|(_, on)| *on).map(|(id, _)| id).collect();
    if compatible && !how.bare && !on.is_empty() {
        let list = home.join("plugins/installed_plugins.json");
        let installed = plugins_found.json(SettingsScope::User, &list).unwrap_or_default();
        for id in on {
            // One that a settings file holds needs no folder.
            if layers.iter().any(|layer| !layer.value[keys::PLUGINS][&id].is_null()) {
                continue;
            }
            match install_path(&installed, &id, &how.project_root) {
                Some(root) if root.is_dir() => plugins_found.plugin(SettingsScope::User, &id, &root, &home),
                Some(root) => {
                    plugins_found.note(NoticeKind::Unreadable, &root, format!("the plugin {id} is not there"))
                }
                None => plugins_found.note(
                    NoticeKind::Scope,
                    &list,
                    format!("the plugin {id} is enabled and not installed"),
                ),
            }
        }
    }
    if how.sources.user && !how.bare {
        plugins_found.installed(env, &switched(layers));
    }
    for root in &how.plugin_dirs {
        let Ok(root) = fs::canonicalize(root) else {
            return Err(SettingsError::Flag(format!("--plugin-dir: folder {} does not exist", root.display())));
        };
        let manifest = plugins_found.json(SettingsScope::Flag, &root.join(MANIFEST)).unwrap_or_default();
        let folder = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let id = manifest["name"].as_str().map_or(folder, str::to_owned);
        plugins_found.plugin(SettingsScope::Flag, &id, &root, &home);
    }
    Ok(plugins_found)
}

const MANIFEST: &str = ".claude-plugin/plugin.json";
const HOOKS: &str = "hooks/hooks.json";

/// Returns the folder of an installed plugin: the one installed for this project, else the user's.
fn install_path(installed: &Value, id: &str, project: &Path) -> Option<PathBuf> {
    let named = match &installed["plugins"][id] {
        Value::Null => &installed[id],
        named => named,
    };
    let all: Vec<&Value> = match named {
        Value::Array(all) => all.iter().collect(),
        Value::Object(_) => vec![named],
        _ => return None,
    };
    let here = all.iter().find(|one| one["projectPath"].as_str().is_some_and(|path| Path::new(path) == project));
    let users = || all.iter().find(|one| one["projectPath"].is_null());
    let path = PathBuf::from(here.or_else(users)?["installPath"].as_str()?);
    path.is_absolute().then_some(path)
}

impl PluginLayers {
    fn note(&mut self, about: NoticeKind, file: &Path, message: String) {
        self.notices.push(Notice { about, file: Some(file.to_path_buf()), line: None, message });
    }

    /// Plugins that `ona plugin install` has copied, if their files are what they were then.
    fn installed(&mut self, env: &Env, switched: &BTreeMap<String, bool>) {
        let list = installed_list(env);
        let Some(value) = self.json(SettingsScope::User, &list) else { return };
        let installed: InstalledPlugins = match serde_json::from_value(value) {
            Ok(installed) => installed,
            Err(error) => {
                return self.note(NoticeKind::Unreadable, &list, format!("no installed plugin is used: {error}"));
            }
        };
        for (id, plugin) in
            installed.plugins.iter().filter(|(id, one)| one.enabled && switched.get(*id) != Some(&false))
        {
            match plugin.state() {
                PinState::Same => {
                    let data = plugin_data(env, id);
                    self.plugin_at(SettingsScope::User, id, &plugin.root, &data);
                }
                PinState::Changed(why) => {
                    let source = &plugin.source;
                    let message =
                        format!("the plugin {id} is not loaded, because it {why}; ona plugin install {source}");
                    self.note(NoticeKind::Unreadable, &plugin.root, message);
                }
            }
        }
    }

    /// Reads a JSON file, if it exists; problems are noted.
    fn json(&mut self, scope: SettingsScope, file: &Path) -> Option<Value> {
        let text = match read::read(file) {
            FileRead::Absent => return None,
            FileRead::Unreadable(problem) | FileRead::Unfit(problem) => {
                self.note(NoticeKind::Unreadable, file, format!("this file of a plugin is not used: {problem}"));
                return None;
            }
            FileRead::Text(text) => text,
        };
        self.file_states.push((scope, file.to_path_buf(), digest::sha256_hex(text.as_bytes())));
        match read::parse(&text) {
            Ok(value) => Some(value.into()),
            Err(error) => {
                self.note(
                    NoticeKind::Unreadable,
                    file,
                    format!("this file of a plugin is not used: {}", error.message),
                );
                None
            }
        }
    }

    fn plugin(&mut self, scope: SettingsScope, id: &str, root: &Path, home: &Path) {
        self.plugin_at(scope, id, root, &home.join("plugins/data").join(plain(id)));
    }

    fn plugin_at(&mut self, scope: SettingsScope, id: &str, root: &Path, data: &Path) {
        let mut events = Map::new();
        let manifest = self.json(scope, &root.join(MANIFEST)).unwrap_or_default();
        if let Some(file) = self.json(scope, &root.join(HOOKS)) {
            self.add(&mut events, root, &file["hooks"]);
        }
        let said = match &manifest["hooks"] {
            Value::Array(several) => several.clone(),
            Value::Null => Vec::new(),
            one => vec![one.clone()],
        };
        for one in said {
            match &one {
                Value::String(path) => {
                    let file = root.join(path);
                    let inside = |real: &Path| fs::canonicalize(root).is_ok_and(|root| real.starts_with(root));
                    match fs::canonicalize(&file) {
                        // The usual file has been read, whether it is named or not.
                        Ok(real) if fs::canonicalize(root.join(HOOKS)).is_ok_and(|usual| usual == real) => {}
                        Ok(real) if inside(&real) => {
                            let hooks = self.json(scope, &file).unwrap_or_default();
                            self.add(&mut events, root, &hooks["hooks"]);
                        }
                        _ => self.note(
                            NoticeKind::Hook,
                            &file,
                            format!("the plugin {id} names hooks that are not in it"),
                        ),
                    }
                }
                inline if inline["hooks"].is_object() => self.add(&mut events, root, &inline["hooks"]),
                inline => self.add(&mut events, root, inline),
            }
        }
        for key in COMPONENTS {
            // A path could lead out of the plugin (attack case K-5), and the usual folders are always read.
            if !manifest[key].is_null() {
                let message =
                    format!("`{key}` of the plugin {id} is not used; the plugin's own folder {} is", folder(key));
                self.note(NoticeKind::Scope, &root.join(MANIFEST), message);
            }
        }
        let mut plugin = json!({"root": root.to_string_lossy(), "data": data.to_string_lossy()});
        if !events.is_empty() {
            plugin[keys::HOOKS] = events.into();
        }
        let mut value = Map::from_iter([(keys::PLUGINS.to_owned(), json!({ id: plugin }))]);
        let file = root.join(MANIFEST);
        let mut source =
            SettingsSource { scope, own: false, file: Some(&file), text: "", notices: Vec::new(), unused: Vec::new() };
        hooks::clean(&mut source, &mut value, &format!("plugin:{id}"), false);
        self.notices.append(&mut source.notices);
        self.layers.push(SettingsLayer { scope, file: Some(file), own: false, value: value.into() });
    }

    /// Hooks of one place behind those of the places before.
    fn add(&mut self, events: &mut Map<String, Value>, root: &Path, hooks: &Value) {
        match hooks {
            Value::Null => {}
            Value::Object(more) => {
                for (event, groups) in more {
                    let groups = groups.as_array().cloned().unwrap_or_default();
                    match events.entry(event).or_insert_with(|| Value::Array(Vec::new())) {
                        Value::Array(before) => before.extend(groups),
                        _ => unreachable!("made as an array above"),
                    }
                }
            }
            _ => self.note(NoticeKind::Hook, root, "the hooks of a plugin must be an object".to_owned()),
        }
    }
}

/// Paths of a manifest to what a plugin brings.
const COMPONENTS: [&str; 4] = ["commands", "skills", "agents", "outputStyles"];

fn folder(component: &str) -> &str {
    if component == "outputStyles" { "output-styles" } else { component }
}

/// Returns an id as the name of a folder.
fn plain(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '-' }).collect()
}
