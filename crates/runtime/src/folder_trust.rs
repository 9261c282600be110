//! What a folder brings that could run, by name: what is not in use while nobody has trusted
//! it, and what has changed since then (DEC-182). Nothing of the folder is run here.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject, nowhere};
use ona_api::{Group, Row, SkipReason, digest, environment};
use ona_modules::{SearchPaths, candidates};
use ona_settings::keys;
use ona_trust::trust_digests_key;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Larger files count by their size alone.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// What a folder brings that could run: kinds, and the files of each.
pub type FolderContents = BTreeMap<String, BTreeSet<String>>;

/// The line of a start in a folder that nobody has trusted; `None` if it brings nothing.
pub(crate) fn not_in_use(launch: &Launch, open: &OpenProject) -> Option<String> {
    let kinds = contents(launch, open);
    if kinds.is_empty() {
        return None;
    }
    let listed: Vec<_> = kinds
        .into_iter()
        .map(|(kind, files)| format!("{kind} ({})", files.into_iter().collect::<Vec<_>>().join(", ")))
        .collect();
    Some(format!(
        "ona: this folder is not trusted ({}); not in use: {}; run the command with --trust to trust it (ona --trust ...)",
        launch.project.display(),
        listed.join("; ")
    ))
}

/// Lists what is not in use while nobody has trusted the folder.
pub(crate) fn contents(launch: &Launch, open: &OpenProject) -> FolderContents {
    let mut kinds = FolderContents::new();
    let mut add = |kind: &str, file: &Path| {
        kinds.entry(kind.to_owned()).or_default().insert(short(launch, file));
    };
    open.found.unused.iter().for_each(|one| add(&one.kind, &one.file));
    let options = &launch.options;
    if !options.bare {
        let mcp = launch.project.join(".mcp.json");
        if mcp.symlink_metadata().is_ok() {
            add("MCP servers", &mcp);
        }
        modules(launch).iter().for_each(|file| add("hook modules", file));
        for folder in [".ona", ".claude"].iter().filter(|name| **name == ".ona" || !options.no_claude_settings) {
            for (kind, name) in [("agents", "agents"), ("skills", "skills"), ("commands", "commands")] {
                let dir = launch.project.join(folder).join(name);
                if std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
                    add(kind, &dir);
                }
            }
        }
    }
    let own = own_guards(&open.merged.effective);
    if !own.is_empty() {
        kinds.insert("your own hooks that start a program of this folder".to_owned(), own);
    }
    kinds
}

/// Where the operator's hooks stand that are skipped because their program lies in the folder.
fn own_guards(effective: &Value) -> BTreeSet<String> {
    let entries = effective["hooks"].as_array().into_iter().flatten();
    let skipped = entries.filter(|entry| entry["disabled"] == SkipReason::UntrustedWorkspace.as_str());
    let sources = skipped.filter_map(|entry| entry["source"].as_str());
    sources.filter(|source| source.starts_with("user:") || source.starts_with("managed:")).map(str::to_owned).collect()
}

/// The line of a start in a trusted folder of which something that runs has changed since.
pub(crate) fn changed_since(recorded: &str, running: &BTreeMap<String, String>) -> Option<String> {
    let recorded: BTreeMap<String, String> = serde_json::from_str(recorded).ok()?;
    let changed: Vec<_> = running.iter().filter(|(name, now)| recorded.get(*name) != Some(now)).collect();
    let changed: Vec<_> = changed.into_iter().map(|(name, _)| name.as_str()).collect();
    (!changed.is_empty()).then(|| {
        format!(
            "ona: changed since this folder was trusted, and still in use: {}; ona --trust ... trusts it as it is now, \
             --no-trust leaves it out",
            changed.join(", ")
        )
    })
}

/// Everything of the folder that runs, with a digest of each.
pub(crate) fn running(launch: &Launch, open: &OpenProject) -> BTreeMap<String, String> {
    let mut running = BTreeMap::new();
    let (project, home) = (&launch.project, launch.env.home());
    for layer in open.found.layers.iter().filter(|layer| layer.scope.needs_trust()) {
        let file = layer.file.as_deref().map(|file| short(launch, file)).unwrap_or_default();
        for key in [keys::HOOKS, keys::PLUGINS, keys::HOOK_MODULES, "statusLine", keys::MASSGEN_CONFIG] {
            let value = &layer.value[key];
            if !value.is_null() {
                running.insert(format!("{key} of {file}"), digest::sha256_hex(value.to_string().as_bytes()));
            }
        }
        let settings = layer.settings();
        servers(&mut running, &settings.mcp.servers, &file);
        for script in ona_trust::hook_scripts(&settings.hooks, project, &home) {
            if script.starts_with(project) {
                running.insert(short(launch, &script), file_digest(&script));
            }
        }
        for module in settings.hooks.modules.iter().map(|path| project.join(path)) {
            running.insert(short(launch, &module), file_digest(&module));
        }
    }
    for module in modules(launch) {
        running.insert(short(launch, &module), file_digest(&module));
    }
    servers(&mut running, &mcp_file(launch)["mcpServers"], ".mcp.json");
    running
}

/// Records one server of the folder as it is now; everything else stays as it was recorded.
/// For a change that the operator has made with a command of ours.
pub(crate) fn renew_server(launch: &Launch, open: &OpenProject, server: &str, file: &Path) -> Result<(), Failure> {
    let key = trust_digests_key(&launch.project);
    let stored = open.store.reader().and_then(|reader| reader.meta(&key));
    let stored = stored.map_err(|error| launch.store_failure(error))?;
    let recorded = stored.and_then(|text| serde_json::from_str::<BTreeMap<String, String>>(&text).ok());
    let Some(mut recorded) = recorded else { return Ok(()) };
    let name = server_label(server, &short(launch, file));
    match running(launch, open).remove(&name) {
        Some(digest) => recorded.insert(name, digest),
        None => recorded.remove(&name),
    };
    let row = Row::Meta { key, value: serde_json::json!(recorded).to_string() };
    open.store.commit_now(&nowhere(), Group(vec![row])).map_err(|error| launch.store_failure(error))?;
    Ok(())
}

fn server_label(name: &str, file: &str) -> String {
    format!("MCP server {name} of {file}")
}

fn servers(running: &mut BTreeMap<String, String>, servers: &Value, file: &str) {
    for (name, server) in servers.as_object().into_iter().flatten() {
        running.insert(server_label(name, file), digest::sha256_hex(server.to_string().as_bytes()));
    }
}

/// Variables that the folder's configuration reads and that have the name of a secret.
pub(crate) fn secrets_read(launch: &Launch, open: &OpenProject) -> Vec<String> {
    let mut names = BTreeSet::new();
    let layers = open.found.layers.iter().filter(|layer| layer.scope.needs_trust());
    for value in layers.map(|layer| &layer.value).chain([&mcp_file(launch)]) {
        variables(value, &mut names);
    }
    names.into_iter().filter(|name| sounds_secret(name) && !ona_api::redact::is_own_credential(name)).collect()
}

fn variables(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            for part in text.split('$').skip(1) {
                let part = part.strip_prefix('{').unwrap_or(part);
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
                names.extend((end > 0).then(|| part[..end].to_owned()));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| variables(item, names)),
        Value::Object(fields) => {
            let listed = fields.get("allowedEnvVars").and_then(Value::as_array).into_iter().flatten();
            names.extend(listed.filter_map(|name| name.as_str().map(str::to_owned)));
            fields.values().for_each(|field| variables(field, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn sounds_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "credential", "auth"].iter().any(|word| name.contains(word))
}

/// The module files that only count because the folder's do.
fn modules(launch: &Launch) -> Vec<PathBuf> {
    let env = &launch.env;
    let places = SearchPaths {
        cwd: launch.cwd.clone(),
        home: env.home(),
        agent_dir: env.non_empty(environment::PI_CODING_AGENT_DIR).map(|dir| launch.cwd.join(dir)),
        claude: !launch.options.no_claude_settings && env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0"),
        project: true,
        nothing: launch.options.bare,
    };
    let (found, _) = candidates(&places, &[]);
    found.into_iter().map(|one| one.path).filter(|path| path.starts_with(&launch.project)).collect()
}

/// What cannot be read here is reported by the start, which reads it again.
fn mcp_file(launch: &Launch) -> Value {
    let file = launch.project.join(".mcp.json");
    read(&file).and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

fn file_digest(file: &Path) -> String {
    match (read(file), file.metadata()) {
        (Some(bytes), _) => digest::sha256_hex(&bytes),
        (None, Ok(metadata)) => format!("{} bytes", metadata.len()),
        (None, Err(_)) => "absent".to_owned(),
    }
}

/// A regular file of sensible size.
fn read(file: &Path) -> Option<Vec<u8>> {
    // Looked at before it is opened: opening a pipe would wait for a writer.
    if !file.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// As seen from the project, with control characters escaped: a folder chooses its names.
fn short(launch: &Launch, file: &Path) -> String {
    let path = file.strip_prefix(&launch.project).unwrap_or(file).to_string_lossy();
    path.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}
