//! `ona mcp add` and `remove`: definitions of servers in the files of three scopes.
//!
//! `user` is `~/.ona/settings.json`, `local` the project's `.ona/settings.local.json`, `project` its
//! `.mcp.json`. Files are replaced as a whole, atomically; one that cannot be read is never
//! overwritten. What a definition must look like is for `ona-mcp` to say.

use super::choices::{self, Choice};
use super::listing::unknown_server;
use super::read::servers_of;
use crate::failure::Failure;
use crate::folder_trust;
use crate::launch::Launch;
use ona_files::ReadError;
use ona_mcp::{DefinitionOrigin, Environments, ServerDefinition, ServerTransport};
use ona_settings::keys;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Names that programs of this kind keep for servers of their own.
const RESERVED: [&str; 5] = ["workspace", "claude-in-chrome", "computer-use", "Claude Preview", "Claude Browser"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerScope {
    Local,
    Project,
    User,
}

impl ServerScope {
    pub const ALL: [Self; 3] = [Self::Local, Self::Project, Self::User];

    pub fn as_str(self) -> &'static str {
        match self {
            ServerScope::Local => "local",
            ServerScope::Project => "project",
            ServerScope::User => "user",
        }
    }

    pub fn file(self, launch: &Launch) -> PathBuf {
        match self {
            ServerScope::Local => launch.project.join(".ona/settings.local.json"),
            ServerScope::Project => launch.project.join(".mcp.json"),
            ServerScope::User => launch.env.home().join(".ona/settings.json"),
        }
    }
}

/// A server to be added.
#[derive(Clone, Debug)]
pub struct NewServer {
    pub name: String,
    pub scope: ServerScope,
    /// As it will stand in the file.
    pub definition: Value,
}

#[derive(Clone, Debug)]
pub struct Added {
    pub file: PathBuf,
    /// What the operator should know about it.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Removed {
    pub scope: ServerScope,
    pub file: PathBuf,
}

pub fn add(launch: &Launch, new: &NewServer) -> Result<Added, Failure> {
    launch.never_from_an_agent("MCP servers")?;
    let definition = checked(launch, new)?;
    let file = new.scope.file(launch);
    let mut remarks = remarks(launch, new, &definition);
    change(launch, new.scope, |servers| {
        if servers.contains_key(&new.name) {
            let scope = new.scope.as_str();
            let failure =
                Failure::refused(format_args!("an MCP server {:?} already exists in the {scope} scope", new.name));
            return Err(failure.hint(format!("ona mcp remove {:?} -s {scope}", new.name)));
        }
        servers.insert(new.name.clone(), new.definition.clone());
        Ok(())
    })?;
    settle(launch, &new.name, new.scope, |open| match new.scope {
        // Who adds a server has decided about it.
        ServerScope::Project => choices::choose(launch, open, &new.name, Choice::Approved),
        ServerScope::Local | ServerScope::User => Ok(()),
    })?;
    if new.scope != ServerScope::User && !is_trusted(launch)? {
        remarks.push("this folder is not trusted: the server is used once it is (ona --trust ...)".to_owned());
    }
    Ok(Added { file, remarks })
}

/// Removes a server from a scope, or from the only one that has it.
pub fn remove(launch: &Launch, name: &str, scope: Option<ServerScope>) -> Result<Removed, Failure> {
    launch.never_from_an_agent("MCP servers")?;
    let mut known = Vec::new();
    let mut having = Vec::new();
    for one in ServerScope::ALL.into_iter().filter(|one| scope.is_none_or(|scope| scope == *one)) {
        let names = names(launch, one)?;
        if names.iter().any(|known| known == name) {
            having.push(one);
        }
        known.extend(names);
    }
    let scope = match having[..] {
        [] => {
            let failure = unknown_server(name, known.iter().map(String::as_str));
            return Err(match scope {
                Some(scope) => {
                    Failure { message: format!("{} in the {} scope", failure.message, scope.as_str()), ..failure }
                }
                None => failure,
            });
        }
        [scope] => scope,
        [first, ..] => {
            let scopes = having.iter().map(|one| one.as_str()).collect::<Vec<_>>().join(", ");
            let failure = Failure::refused(format_args!("the MCP server {name:?} exists in several scopes: {scopes}"));
            return Err(failure.hint(format!("ona mcp remove {name:?} -s {}", first.as_str())));
        }
    };
    let mut removed = Value::Null;
    change(launch, scope, |servers| {
        removed = servers.shift_remove(name).unwrap_or_default();
        Ok(())
    })?;
    settle(launch, name, scope, |open| match scope {
        ServerScope::Project => choices::forget(launch, open, name),
        ServerScope::Local | ServerScope::User => Ok(()),
    })?;
    forget_login(launch, name, &removed);
    Ok(Removed { scope, file: scope.file(launch) })
}

/// Its login leads nowhere any more.
fn forget_login(launch: &Launch, name: &str, definition: &Value) {
    let Some(url) = definition["url"].as_str() else { return };
    if let Err(error) = ona_mcp::ServerLogins::from_env(&launch.env).of(name, url).delete() {
        launch.note(format_args!("ona: its login was not removed: {error}"));
    }
}

/// Returns the definition as it will be read, or why it cannot be used.
fn checked(launch: &Launch, new: &NewServer) -> Result<ServerDefinition, Failure> {
    let name = &new.name;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() || !name.chars().all(plain) {
        let failure = Failure::usage(format_args!("{name:?} cannot name an MCP server: use letters, digits, _ and -"));
        return Err(failure.hint("ona mcp add NAME COMMAND [ARGS...]; each variable has an --env of its own"));
    }
    if RESERVED.contains(&name.as_str()) {
        return Err(Failure::usage(format_args!("the name {name:?} is reserved")));
    }
    let env = Environments::one(&launch.env);
    let read = ServerDefinition::check(name, &new.definition, DefinitionOrigin::Settings, &env);
    let definition =
        read.map_err(|why| Failure::usage(format_args!("the MCP server {name:?} cannot be used: {why}")))?;
    if definition.endpoint == ServerTransport::Host {
        return Err(Failure::usage("a server of type sdk belongs to the program that drives ona; it cannot be added"));
    }
    Ok(definition)
}

fn remarks(launch: &Launch, new: &NewServer, definition: &ServerDefinition) -> Vec<String> {
    let mut remarks = Vec::new();
    if new.scope == ServerScope::Project {
        let values = [&new.definition["env"], &new.definition["headers"]];
        let written =
            |name: &str| values.iter().any(|pairs| pairs[name].as_str().is_some_and(|text| !text.contains("${")));
        let mut names: Vec<_> = definition.secrets().map(|(name, _)| name).filter(|name| written(name)).collect();
        names.dedup();
        if !names.is_empty() {
            let names = names.join(", ");
            remarks.push(format!(
                "{names} stands in .mcp.json as it is, for everybody who gets the file; ${{NAME}} reads a variable"
            ));
        }
    }
    if let ServerTransport::Stdio { command, .. } = &definition.endpoint {
        let path = launch.env.get(ona_api::environment::PATH).unwrap_or_default();
        if !command.contains('/') && ona_process::find_in_path(path, command).is_none() {
            remarks.push(format!("the program {command} was not found in PATH"));
        }
    }
    remarks
}

fn names(launch: &Launch, scope: ServerScope) -> Result<Vec<String>, Failure> {
    let (written, _) = read(&scope.file(launch))?;
    let servers = if scope == ServerScope::Project { servers_of(&written) } else { &written[keys::MCP_SERVERS] };
    Ok(servers.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect())
}

/// Returns the JSON of a file, and whether there is one.
fn read(file: &Path) -> Result<(Value, bool), Failure> {
    let text = match ona_files::read_text(file) {
        Ok(text) => text,
        Err(ReadError::Absent) => return Ok((json!({}), false)),
        Err(why) => return Err(Failure::refused(format_args!("{} {why}; nothing was changed", file.display()))),
    };
    match serde_json::from_str(text.trim_start_matches('\u{feff}')) {
        Ok(value @ Value::Object(_)) => Ok((value, true)),
        Ok(_) => Err(Failure::refused(format_args!("{} is not a JSON object; nothing was changed", file.display()))),
        Err(error) => {
            Err(Failure::refused(format_args!("{} is not valid JSON: {error}; nothing was changed", file.display())))
        }
    }
}

/// Edits the servers of a file.
fn change(
    launch: &Launch,
    scope: ServerScope,
    edit: impl FnOnce(&mut Map<String, Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let file = scope.file(launch);
    let dir = file.parent().expect("a file in a folder").to_owned();
    let of_folder = scope != ServerScope::User;
    // A link in a project could lead into another scope's file.
    if of_folder && [&dir, &file].iter().any(|path| **path != launch.project && path.is_symlink()) {
        return Err(Failure::refused(format_args!(
            "{} is a link, or lies behind one; it is not written",
            file.display()
        )));
    }
    let failed = |error: std::io::Error| Failure::refused(format_args!("{} was not written: {error}", file.display()));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).map_err(failed)?;
    // Two processes may do this at once; the folder itself is the lock.
    let lock = File::open(&dir).map_err(failed)?;
    lock.lock().map_err(failed)?;
    let (mut written, existed) = read(&file)?;
    let fields = written.as_object_mut().expect("an object was read");
    // A file may have its servers at the top level.
    let at_top =
        scope == ServerScope::Project && existed && !fields.is_empty() && !fields.contains_key(keys::MCP_SERVERS);
    let servers = match at_top {
        true => fields,
        false => {
            let servers = fields.entry(keys::MCP_SERVERS).or_insert_with(|| json!({}));
            servers.as_object_mut().ok_or_else(|| {
                Failure::refused(format_args!(
                    "`mcpServers` of {} is not an object; nothing was changed",
                    file.display()
                ))
            })?
        }
    };
    edit(servers)?;
    let text = format!("{written:#}\n");
    ona_trust::replace_file(&file, &text).map_err(failed)?;
    if !existed && scope == ServerScope::Project {
        // It is shared with the project.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).map_err(failed)?;
    }
    Ok(())
}

fn is_trusted(launch: &Launch) -> Result<bool, Failure> {
    let open = launch.look()?;
    Ok(launch.trusts(&open, &launch.project))
}

/// The operator's own change of a folder's file is not one that a start has to name.
fn settle(
    launch: &Launch,
    name: &str,
    scope: ServerScope,
    decide: impl FnOnce(&crate::launch::OpenProject) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if scope == ServerScope::User {
        return Ok(());
    }
    let open = launch.look()?;
    if !launch.trusts(&open, &launch.project) {
        return Ok(());
    }
    let open = launch.open()?;
    decide(&open)?;
    folder_trust::renew_server(launch, &open, name, &scope.file(launch))
}
