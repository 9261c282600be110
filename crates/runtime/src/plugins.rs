//! `ona plugin`: what a plugin brings, and installing, removing and switching plugins.
//!
//! A plugin is copied from a folder or from a git repository of this machine and pinned by the
//! digest of its files: what runs later is what was shown here. Nothing of a plugin is run, and
//! nothing is fetched over a network. How installed plugins become settings is `trust/plugins`.

use crate::failure::Failure;
use crate::launch::Launch;
use ona_orchestration::Git;
use ona_trust::{InstalledPlugin, InstalledPlugins, PinState, plugin_copies, plugin_digest, plugin_files};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// What a plugin brings. Lists of what would run come first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PluginContents {
    pub id: String,
    pub version: Option<String>,
    pub description: Option<String>,
    pub sha256: String,
    /// Event, matcher and command of every hook.
    pub hooks: Vec<String>,
    /// Name and command or address of every MCP server.
    pub servers: Vec<String>,
    /// Commands in texts of skills and commands that run when those are loaded.
    pub shell_in_skills: Vec<String>,
    pub skills: Vec<String>,
    pub commands: Vec<String>,
    pub agents: Vec<String>,
    pub output_styles: Vec<String>,
    pub files: usize,
}

impl PluginContents {
    /// Says what it brings, what would run first.
    pub fn words(&self) -> String {
        let PluginContents { id, version, description, sha256, files, .. } = self;
        let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let mut text = format!("{id}{version}  {files} files, sha256 {sha256}\n");
        if let Some(description) = description {
            text.push_str(&format!("{description}\n"));
        }
        let parts = [
            ("Hooks, which run by themselves", &self.hooks),
            ("MCP servers, which are started", &self.servers),
            ("Commands in skills, which run when one is loaded", &self.shell_in_skills),
            ("Skills", &self.skills),
            ("Commands", &self.commands),
            ("Agents", &self.agents),
            ("Output styles", &self.output_styles),
        ];
        for (title, list) in parts.into_iter().filter(|(_, list)| !list.is_empty()) {
            text.push_str(&format!("{title}:\n"));
            list.iter().for_each(|one| text.push_str(&format!("  {one}\n")));
        }
        text.trim_end().to_owned()
    }
}

/// A plugin of the list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedPlugin {
    pub id: String,
    pub enabled: bool,
    /// `ok`, or why it is not loaded.
    pub state: String,
    pub sha256: String,
    pub source: String,
    pub root: PathBuf,
}

/// A plugin that is ready to be installed; its files lie in a folder of their own until it is.
pub struct Candidate {
    pub contents: PluginContents,
    pub source: String,
    folder: PathBuf,
    /// Of an earlier installation.
    pub before: Option<String>,
}

/// Refuses what only the operator may do, also below an agent with another database (DEC-071).
fn operator_only(launch: &Launch) -> Result<(), Failure> {
    launch.never_from_an_agent("plugins")
}

fn read_list(launch: &Launch) -> Result<InstalledPlugins, Failure> {
    InstalledPlugins::read(&launch.env).map_err(|why| Failure::usage(&why).hint("repair or remove the file"))
}

fn write_list(launch: &Launch, list: &InstalledPlugins) -> Result<(), Failure> {
    list.write(&launch.env)
        .map_err(|error| Failure::refused(format_args!("the list of plugins cannot be written: {error}")))
}

fn unknown(id: &str) -> Failure {
    Failure::refused(format_args!("the plugin {id} is not installed")).hint("ona plugin list")
}

pub fn list(launch: &Launch) -> Result<Vec<ListedPlugin>, Failure> {
    let listed = |(id, plugin): (String, InstalledPlugin)| {
        let state = match plugin.state() {
            PinState::Same => "ok".to_owned(),
            PinState::Changed(why) => why,
        };
        let InstalledPlugin { root, sha256, source, enabled } = plugin;
        ListedPlugin { id, enabled, state, sha256, source, root }
    };
    Ok(read_list(launch)?.plugins.into_iter().map(listed).collect())
}

/// What an installed plugin, or one in a folder, brings.
pub fn show(launch: &Launch, name: &str) -> Result<PluginContents, Failure> {
    let installed = read_list(launch)?.plugins.remove(name).map(|plugin| plugin.root);
    let root = installed.unwrap_or_else(|| launch.cwd.join(name));
    if !root.is_dir() {
        return Err(unknown(name));
    }
    contents(&root, None)
}

/// Copies a plugin to where it would be installed. Nothing counts before `install`.
pub fn fetch(launch: &Launch, source: &str) -> Result<Candidate, Failure> {
    operator_only(launch)?;
    let copies = plugin_copies(&launch.env);
    let io = |error: std::io::Error| Failure::refused(format_args!("{} cannot be used: {error}", copies.display()));
    fs::create_dir_all(&copies).map_err(io)?;
    let folder = copies.join(format!(".new-{}", ona_api::CallId::random()));
    let copied = copy(launch, source, &folder);
    let read = copied.and_then(|shown| {
        let name = Path::new(shown.trim_end_matches('/')).file_stem().map(|name| name.to_string_lossy().into_owned());
        contents(&folder, name).map(|contents| (shown, contents))
    });
    match read {
        Ok((source, contents)) => {
            let before = read_list(launch)?.plugins.get(&contents.id).map(|plugin| plugin.sha256.clone());
            Ok(Candidate { contents, source, folder, before })
        }
        Err(failure) => {
            remove_folder(&folder);
            Err(failure)
        }
    }
}

/// Installs what was shown, and switches it on.
pub fn install(launch: &Launch, candidate: Candidate) -> Result<ListedPlugin, Failure> {
    let Candidate { contents, source, folder, .. } = candidate;
    let root = plugin_copies(&launch.env).join(&contents.id).join(&contents.sha256[..12]);
    let io = |error: std::io::Error| Failure::refused(format_args!("{} cannot be written: {error}", root.display()));
    remove_folder(&root);
    fs::create_dir_all(root.parent().unwrap_or(&root)).and_then(|()| fs::rename(&folder, &root)).map_err(io)?;
    let plugin = InstalledPlugin { root, sha256: contents.sha256, source, enabled: true };
    let mut list = read_list(launch)?;
    let before = list.plugins.insert(contents.id.clone(), plugin.clone());
    write_list(launch, &list)?;
    if let Some(before) = before.filter(|before| before.root != plugin.root) {
        remove_folder(&before.root);
    }
    let InstalledPlugin { root, sha256, source, enabled } = plugin;
    Ok(ListedPlugin { id: contents.id, enabled, state: "ok".to_owned(), sha256, source, root })
}

/// Leaves a plugin that was fetched out.
pub fn discard(candidate: Candidate) {
    remove_folder(&candidate.folder);
}

/// Switches an installed plugin on or off.
pub fn switch(launch: &Launch, id: &str, enabled: bool) -> Result<(), Failure> {
    operator_only(launch)?;
    let mut list = read_list(launch)?;
    let plugin = list.plugins.get_mut(id).ok_or_else(|| unknown(id))?;
    if enabled && let PinState::Changed(why) = plugin.state() {
        return Err(Failure::refused(format_args!("the plugin {id} {why}"))
            .hint(format!("ona plugin install {}", plugin.source)));
    }
    plugin.enabled = enabled;
    write_list(launch, &list)
}

/// Removes a plugin and its copy. What it has stored for itself stays.
pub fn remove(launch: &Launch, id: &str) -> Result<PathBuf, Failure> {
    operator_only(launch)?;
    let mut list = read_list(launch)?;
    let plugin = list.plugins.remove(id).ok_or_else(|| unknown(id))?;
    write_list(launch, &list)?;
    // Only what lies where copies are put is ours to remove.
    if plugin.root.starts_with(plugin_copies(&launch.env)) {
        remove_folder(&plugin.root);
    }
    Ok(ona_trust::plugin_data(&launch.env, id))
}

fn remove_folder(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::debug!(folder = %folder.display(), %error, "a copy of a plugin stays");
    }
}

/// Copies a folder or the newest commit of a repository; returns the source as it is remembered.
fn copy(launch: &Launch, source: &str, target: &Path) -> Result<String, Failure> {
    let failed = |why: String| Failure::refused(format_args!("{source} cannot be installed: it {why}"));
    let address = source.strip_prefix("file://");
    if address.is_none() && source.contains("://") || source.starts_with("git@") {
        return Err(Failure::usage(format_args!("{source}: plugins are not fetched over a network"))
            .hint("clone the repository yourself, look at it, and install the folder"));
    }
    let path = launch.cwd.join(address.unwrap_or(source));
    let path = path.canonicalize().map_err(|_| failed("does not exist".to_owned()))?;
    if !path.is_dir() {
        return Err(failed("is not a folder".to_owned()));
    }
    let is_bare = path.join("HEAD").is_file() && path.join("objects").is_dir();
    if address.is_some() || is_bare {
        let git = Git::find(&launch.env).ok_or_else(|| failed("is a repository, and git is not there".to_owned()))?;
        let url = format!("file://{}", path.display());
        git.clone_local(&url, target)
            .map_err(|why| failed(format!("is not a repository that can be cloned: {why}")))?;
        remove_folder(&target.join(".git"));
        return Ok(url);
    }
    for (file, _) in plugin_files(&path).map_err(failed)? {
        let (from, to) = (path.join(&file), target.join(&file));
        let copied = to.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&from, &to));
        copied.map_err(|error| failed(format!("has {}, which cannot be copied: {error}", file.display())))?;
    }
    Ok(path.to_string_lossy().into_owned())
}

const MANIFEST: &str = ".claude-plugin/plugin.json";

/// Reads what a plugin brings. `name` is its folder's, where its manifest does not say one.
fn contents(root: &Path, name: Option<String>) -> Result<PluginContents, Failure> {
    let refused =
        |why: String| Failure::refused(format_args!("{} is not a plugin that can be used: it {why}", root.display()));
    let files = plugin_files(root).map_err(refused)?;
    let sha256 = plugin_digest(root).map_err(refused)?;
    let manifest = json(root, MANIFEST).map_err(refused)?;
    escapes(&manifest).map_err(refused)?;
    let text = |key: &str| manifest[key].as_str().map(str::to_owned);
    let folder_name = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    let id = text("name").or(name).or_else(folder_name).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !id.starts_with(|c: char| c.is_ascii_alphanumeric()) || !id.chars().all(plain) || id.len() > 64 {
        return Err(refused(format!("has the name {id:?}; names have letters, digits, dots, hyphens and underscores")));
    }
    let mut found = PluginContents {
        id,
        version: text("version"),
        description: text("description"),
        sha256,
        hooks: Vec::new(),
        servers: Vec::new(),
        shell_in_skills: Vec::new(),
        skills: Vec::new(),
        commands: Vec::new(),
        agents: Vec::new(),
        output_styles: Vec::new(),
        files: files.len(),
    };
    let usual = json(root, "hooks/hooks.json").map_err(refused)?;
    found.add_hooks(&usual["hooks"]);
    let said = match &manifest["hooks"] {
        Value::Array(several) => several.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    for one in said {
        match &one {
            Value::String(path) if path.trim_start_matches("./") == "hooks/hooks.json" => {}
            Value::String(path) => found.add_hooks(&json(root, path).map_err(refused)?["hooks"]),
            inline if inline["hooks"].is_object() => found.add_hooks(&inline["hooks"]),
            inline => found.add_hooks(inline),
        }
    }
    for (server, value) in servers(root, &manifest).map_err(refused)? {
        let words = value["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let command: Vec<_> = value["command"].as_str().into_iter().chain(words).collect();
        let shown = value["url"].as_str().map_or_else(|| command.join(" "), str::to_owned);
        found.servers.push(format!("{server}: {shown}"));
    }
    for (file, _) in files {
        found.add_file(root, &file);
    }
    Ok(found)
}

/// The MCP servers of a plugin, by name: `.mcp.json` and `mcpServers` of its manifest.
pub(crate) fn servers(root: &Path, manifest: &Value) -> Result<serde_json::Map<String, Value>, String> {
    let mut servers = serde_json::Map::new();
    let mut add = |value: &Value| {
        let listed = if value["mcpServers"].is_object() { &value["mcpServers"] } else { value };
        servers.extend(listed.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    };
    add(&json(root, ".mcp.json")?);
    match &manifest["mcpServers"] {
        Value::String(path) => add(&json(root, path)?),
        inline => add(inline),
    }
    Ok(servers)
}

/// A JSON file of a plugin, null if it does not exist.
pub(crate) fn json(root: &Path, file: &str) -> Result<Value, String> {
    let path = ona_api::path::lexical(&root.join(file));
    if !path.starts_with(root) {
        return Err(format!("names {file}, which is not in it"));
    }
    match ona_files::read_text(&path) {
        Ok(text) => serde_json::from_str(text.trim_start_matches('\u{feff}'))
            .map_err(|error| format!("has a {file} that is not JSON: {error}")),
        Err(why) if why.is_absent() => Ok(Value::Null),
        Err(why) => Err(format!("has a {file} that {why}")),
    }
}

/// Refuses a manifest with a path that leads out of the plugin (attack case K-5).
fn escapes(manifest: &Value) -> Result<(), String> {
    for key in ["commands", "skills", "agents", "outputStyles", "hooks", "mcpServers"] {
        let paths = match &manifest[key] {
            Value::String(path) => vec![path.as_str()],
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let leads_out = |path: &&str| {
            let path = Path::new(path);
            path.is_absolute() || path.components().any(|part| part == Component::ParentDir)
        };
        if let Some(path) = paths.into_iter().find(leads_out) {
            return Err(format!("names {path} in `{key}`, which is not in it"));
        }
    }
    Ok(())
}

impl PluginContents {
    fn add_hooks(&mut self, hooks: &Value) {
        for (event, groups) in hooks.as_object().into_iter().flatten() {
            for group in groups.as_array().into_iter().flatten() {
                let matcher = group["matcher"].as_str().unwrap_or_default();
                let entries = group["hooks"].as_array().cloned().unwrap_or_else(|| vec![group.clone()]);
                for entry in entries {
                    let what = ["command", "url", "prompt", "tool"].iter().find_map(|key| entry[*key].as_str());
                    let what = what.unwrap_or("(nothing that can run)");
                    self.hooks.push(format!("{event} {matcher}: {what}").replace(" :", ":"));
                }
            }
        }
    }

    fn add_file(&mut self, root: &Path, file: &Path) {
        let text = file.to_string_lossy();
        let parts: Vec<&str> = text.split('/').collect();
        let markdown = |name: &str| name.strip_suffix(".md").map(str::to_owned);
        match parts[..] {
            ["skills", name, "SKILL.md"] => self.skills.push(name.to_owned()),
            ["commands", .., _] => self.commands.extend(markdown(&parts[1..].join(":"))),
            ["agents", .., _] => self.agents.extend(markdown(&parts[1..].join(":"))),
            ["output-styles", .., last] => self.output_styles.extend(markdown(last)),
            _ => return,
        }
        if matches!(parts[0], "skills" | "commands")
            && let Ok(text) = ona_files::read_text(&root.join(file))
        {
            let lines = text.lines().filter(|line| line.contains("!`") || line.trim() == "```!");
            self.shell_in_skills.extend(lines.map(|line| format!("{}: {}", file.display(), line.trim())));
        }
    }
}
