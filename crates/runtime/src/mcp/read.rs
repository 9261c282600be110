//! From files, flags and the row to one catalog.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::mcp::choices::{ProjectChoices, Standing};
use crate::plugin_folders::plugins;
use crate::plugins::{json, servers};
use ona_mcp::{Catalog, Environments, ExcludeReason, McpSources, Policy, ServerDefinition};
use ona_settings::{McpSettings, Settings};
use ona_trust::{SettingsLayer, SettingsScope};
use serde_json::{Value, json};
use std::path::Path;

/// What is configured, and how the folder's own file was taken.
#[derive(Clone, Debug, Default)]
pub struct Gathered {
    pub catalog: Catalog,
    file: FolderFile,
    /// Servers of the folder's file that nobody has trusted yet.
    pub pending: Vec<ServerDefinition>,
    /// Servers of the folder's file that are used because the folder is trusted; nobody has
    /// decided about them one by one.
    pub undecided: Vec<String>,
    /// What of all servers may be used, also of those that come in later.
    pub policy: Policy,
    /// Why the folder's file cannot be read.
    broken: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FolderFile {
    /// None was found, or none is wanted.
    #[default]
    None,
    Used,
    Withheld,
}

/// `env` has the variables of which definitions speak.
pub fn gather(
    launch: &Launch,
    open: &OpenProject,
    settings: &Settings,
    project: &Path,
    env: &Environments,
) -> Result<Gathered, Failure> {
    let options = &launch.options;
    if !options.mcp_config.is_empty() {
        launch.operator_only("MCP servers")?;
    }
    let flags = options.mcp_config.iter().map(|text| flag(text, &launch.cwd)).collect::<Result<Vec<_>, _>>()?;
    let mut gathered = Gathered::default();
    let mut sources = McpSources { flags, policy: policy(&settings.mcp, open), ..McpSources::default() };
    if !options.strict_mcp_config {
        sources.settings = settings.mcp.servers.clone();
        sources.of_project = of_project(open);
        // What the agent could write itself is not to be started for it.
        if !launch.agent_shell {
            sources.plugins = of_plugins(launch, open);
        }
        if !options.bare && !launch.agent_shell && launch.discovery()?.sources.project {
            sources.project = gathered.folder(launch, open, project);
            gathered.judge(&mut sources, &settings.mcp, &ProjectChoices::load(launch, open, project)?);
        }
    }
    gathered.catalog = Catalog::read(&sources, env);
    gathered.policy = sources.policy;
    Ok(gathered)
}

impl Gathered {
    /// The project's `.mcp.json`, if it counts.
    fn folder(&mut self, launch: &Launch, open: &OpenProject, project: &Path) -> Value {
        let text = match ona_files::read_text(&project.join(".mcp.json")) {
            Ok(text) => text,
            Err(why) if why.is_absent() => return Value::Null,
            Err(why) => {
                self.broken = Some(format!("it {why}"));
                return Value::Null;
            }
        };
        self.file = if launch.trusts(open, project) { FolderFile::Used } else { FolderFile::Withheld };
        match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
            Ok(value @ Value::Object(_)) if self.file == FolderFile::Withheld => {
                // Listed as they are written: no variable is filled in.
                let sources = McpSources { project: value, ..McpSources::default() };
                self.pending = Catalog::read(&sources, &Environments::default()).definitions;
                Value::Null
            }
            _ if self.file == FolderFile::Withheld => Value::Null,
            Ok(value @ Value::Object(_)) => value,
            Ok(_) => {
                self.broken = Some("it is not a JSON object".into());
                Value::Null
            }
            Err(error) => {
                self.broken = Some(format!("it is not valid JSON: {error}"));
                Value::Null
            }
        }
    }

    /// Finds out which servers of the folder's file the operator wants.
    fn judge(&mut self, sources: &mut McpSources, settings: &McpSettings, choices: &ProjectChoices) {
        let servers = servers_of(&sources.project);
        for (name, definition) in servers.as_object().into_iter().flatten() {
            let held = match choices.standing(name, definition, settings) {
                Standing::Approved => continue,
                Standing::Undecided => {
                    self.undecided.push(name.clone());
                    continue;
                }
                Standing::Rejected(why) => (ExcludeReason::Disabled, why.to_owned()),
                Standing::Pending(why) => {
                    (ExcludeReason::Pending, format!("{why}; ona mcp approve {name:?} approves it"))
                }
            };
            sources.held.push((name.clone(), held.0, held.1));
        }
    }

    /// What a person must know before anything is started.
    pub fn sentences(&self) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        sentences.extend(self.problems());
        let told = |cause: ExcludeReason| matches!(cause, ExcludeReason::Policy | ExcludeReason::Pending);
        let held = self.catalog.left_out.iter().filter(|one| told(one.cause));
        sentences.extend(held.map(|one| one.sentence()));
        sentences.extend(self.catalog.warnings.iter().cloned());
        sentences
    }

    /// What the operator has to repair.
    pub fn problems(&self) -> Vec<String> {
        let broken = |cause: ExcludeReason| matches!(cause, ExcludeReason::Broken | ExcludeReason::Collision);
        let entries = self.catalog.left_out.iter().filter(|one| broken(one.cause)).map(|one| one.sentence());
        self.broken.iter().map(|why| format!(".mcp.json is not used: {why}")).chain(entries).collect()
    }
}

/// The servers of the plugins that are loaded, with their folders filled in.
fn of_plugins(launch: &Launch, open: &OpenProject) -> Value {
    let mut all = serde_json::Map::new();
    for plugin in plugins(open) {
        let read =
            json(&plugin.root, ".claude-plugin/plugin.json").and_then(|manifest| servers(&plugin.root, &manifest));
        match read {
            Ok(servers) => {
                let filled = |value: &Value| fill(value, &plugin.root, &plugin.data);
                all.extend(
                    servers.iter().map(|(name, value)| (format!("plugin:{}:{name}", plugin.name), filled(value))),
                );
            }
            Err(why) => {
                launch.note(format_args!("ona: the servers of the plugin {} are not used: it {why}", plugin.name))
            }
        }
    }
    Value::Object(all)
}

fn fill(value: &Value, root: &Path, data: &Path) -> Value {
    match value {
        Value::String(text) => text
            .replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy())
            .replace("${CLAUDE_PLUGIN_DATA}", &data.to_string_lossy())
            .into(),
        Value::Array(items) => items.iter().map(|item| fill(item, root, data)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), fill(value, root, data)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Returns the servers of a file: under `mcpServers`, as usual, or at the top level.
pub(super) fn servers_of(file: &Value) -> &Value {
    file.get("mcpServers").unwrap_or(file)
}

/// The servers that project files configured and that no higher scope did.
fn of_project(open: &OpenProject) -> Vec<String> {
    let names = |layer: &SettingsLayer| -> Vec<String> {
        layer.settings().mcp.servers.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (confined, others): (Vec<_>, Vec<_>) = open.found.layers.iter().partition(|layer| layer.scope.is_confined());
    let above = |layer: &&&SettingsLayer| matches!(layer.scope, SettingsScope::Flag | SettingsScope::Managed);
    let above: Vec<_> = others.iter().filter(above).flat_map(|layer| names(layer)).collect();
    confined.iter().flat_map(|layer| names(layer)).filter(|name| !above.contains(name)).collect()
}

/// One value of `--mcp-config`.
fn flag(text: &str, cwd: &Path) -> Result<Value, Failure> {
    let content = if text.trim_start().starts_with('{') {
        text.to_owned()
    } else {
        ona_files::read_named(&cwd.join(text))
            .map_err(|why| Failure::usage(format_args!("--mcp-config: {text} {why}")))?
    };
    match serde_json::from_str(&content) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Failure::usage("--mcp-config must be a JSON object with mcpServers")),
        Err(error) => Err(Failure::usage(format_args!("--mcp-config is not valid JSON: {error}"))),
    }
}

/// What is denied anywhere is denied; the managed files count even where the row has not
/// taken them in.
fn policy(settings: &McpSettings, open: &OpenProject) -> Policy {
    let managed = open.found.layers.iter().filter(|layer| layer.scope == SettingsScope::Managed);
    let managed: Vec<_> = managed.map(|layer| layer.settings().mcp).collect();
    let denied = std::iter::once(settings).chain(&managed).filter_map(|one| one.denied.clone()).flatten().collect();
    let of_policy = managed.iter().find_map(|one| one.allowed.clone());
    let alone = settings.managed_only || managed.iter().any(|one| one.managed_only);
    let allowed = if alone {
        let own = managed.iter().filter_map(|one| one.servers.as_object()).flatten();
        let own = own.map(|(name, _)| json!({ "serverName": name }));
        Some(of_policy.into_iter().flatten().chain(own).collect())
    } else {
        of_policy.or_else(|| settings.allowed.clone())
    };
    Policy { denied, allowed }
}
