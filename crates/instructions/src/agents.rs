//! Definitions of subagents.
//!
//! Built-ins, then the user's, the project's and those of `--agents`; the later wins by
//! name. An agent may never do more than its parent; that is enforced where it runs,
//! not here.

use crate::frontmatter::{self, StringList};
use ona_api::Mode;
use ona_files::TOO_MANY_ENTRIES;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    pub description: String,
    pub prompt: String,
    /// `None`: every tool its parent has.
    pub tools: Option<Vec<String>>,
    pub disallowed: Vec<String>,
    pub max_turns: Option<u32>,
    pub background: bool,
    /// A model's id or family; `inherit` and `None` mean its parent's.
    pub model: Option<String>,
    /// The hooks of its front matter, null if it has none.
    pub hooks: Value,
    /// The mode it asks for; how far that counts is decided where it runs.
    pub permission_mode: Option<Mode>,
    /// Skills whose texts it is given from the start.
    pub skills: Vec<String>,
    /// Servers whose tools it has beside those of `tools`.
    pub servers: Vec<String>,
    /// Servers that it brings, by name; they are among `servers`, too.
    pub own_servers: Map<String, Value>,
    /// Whether it works in a git worktree of its own.
    pub isolated: bool,
    /// How a screen shows it.
    pub color: Option<String>,
    /// The first prompt of a session that works as this agent.
    pub initial_prompt: Option<String>,
    /// Keys of its front matter without an effect here, each with the reason.
    pub unused: Vec<String>,
    pub origin: AgentOrigin,
}

/// Where a definition comes from; that decides the dialect of its hooks and whether they count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentOrigin {
    /// The folder, and then the file in it; empty for what no file holds.
    pub file: PathBuf,
    /// Of hooks written there (DEC-041).
    pub dialect: &'static str,
    pub of_project: bool,
    /// The plugin it comes with, whose name precedes its own.
    pub plugin: Option<String>,
}

impl AgentDefinition {
    /// Returns whether it may have this tool, by its frozen name. Whether its parent has it is asked elsewhere.
    pub fn grants(&self, tool: &str) -> bool {
        // `mcp__server` and `mcp__server__*` mean all tools of a server.
        let of_server = |name: &str| {
            let server = name.strip_suffix("__*").unwrap_or(name);
            server.len() > "mcp__".len()
                && server.starts_with("mcp__")
                && tool.strip_prefix(server).is_some_and(|rest| rest.starts_with("__"))
        };
        let named = |names: &[String]| {
            // `Agent(a,b)` names the tool, too.
            let plain = |name: &str| name.split('(').next().unwrap_or(name).trim().to_owned();
            names.iter().any(|name| ona_api::tool::canonical(&plain(name)) == tool || of_server(name))
        };
        let by_server = || self.servers.iter().any(|server| of_server(&format!("mcp__{}", slug(server))));
        (self.tools.as_deref().is_none_or(named) || by_server()) && !named(&self.disallowed)
    }
}

/// A server's name as its tools have it (DEC-136).
fn slug(server: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    server.to_lowercase().chars().map(plain).collect()
}

/// Name, description, instructions, tools (empty: all).
pub const BUILTIN_AGENTS: [(&str, &str, &str, &[&str]); 3] = [
    (
        "general-purpose",
        "Works on a task of several steps on its own and reports the outcome",
        "You work on one task on behalf of another agent. Do it completely, check the outcome, and end with a report that \
         stands on its own: what you did, what you found, file paths and facts the other agent needs. It sees nothing but \
         that report.",
        &[],
    ),
    (
        "explore",
        "Finds files and facts in the project without changing anything",
        "You look things up in a project and change nothing. Search broadly first, then read what matters. End with a report \
         that answers the question directly, with absolute file paths and line numbers as evidence, and says what you \
         could not find.",
        &["Read", "Glob", "Grep"],
    ),
    (
        "plan",
        "Works out how a change should be made, without making it",
        "You prepare a change and make none. Read the code it touches, weigh the ways of doing it, and end with a plan: the \
         steps in order, the files each one touches, what could go wrong, and success criteria that can be checked from \
         outside.",
        &["Read", "Glob", "Grep"],
    ),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Meta {
    name: Option<String>,
    description: Option<String>,
    prompt: Option<String>,
    tools: Option<StringList>,
    disallowed_tools: StringList,
    max_turns: Option<u32>,
    background: bool,
    model: Option<String>,
    hooks: Value,
    permission_mode: Option<String>,
    skills: StringList,
    mcp_servers: Value,
    memory: Value,
    isolation: Option<String>,
    color: Option<String>,
    initial_prompt: Option<String>,
    effort: Value,
}

#[derive(Debug, thiserror::Error)]
#[error("the agents are not an object of agent definitions: {0}")]
pub struct AgentsError(String);

#[derive(Clone, Debug, Default)]
pub struct Agents {
    known: BTreeMap<String, AgentDefinition>,
    /// Files that were not read, and why: the end of a sentence that begins with the file.
    pub left_out: Vec<(PathBuf, String)>,
}

impl Agents {
    /// `folders` from the weakest to the strongest; `flag` is the JSON of `--agents`.
    pub fn load(folders: impl IntoIterator<Item = AgentOrigin>, flag: Option<&str>) -> Result<Self, AgentsError> {
        let mut agents = Self::default();
        for (name, description, prompt, tools) in BUILTIN_AGENTS {
            let mut agent =
                definition(name.into(), description.into(), prompt.into(), Meta::default(), AgentOrigin::default());
            agent.tools = (!tools.is_empty()).then(|| tools.iter().map(|tool| (*tool).to_owned()).collect());
            agents.add(agent);
        }
        for folder in folders {
            let files = crate::rules::files(&folder.file);
            if files.truncated {
                agents.left_out.push((folder.file.clone(), TOO_MANY_ENTRIES.to_owned()));
            }
            for file in files.paths {
                let text = match ona_files::read_text(&file) {
                    Ok(text) => text,
                    Err(why) => {
                        agents.left_out.push((file, why.to_string()));
                        continue;
                    }
                };
                let (meta, body) = match frontmatter::checked::<Meta>(&text) {
                    Ok(read) => read,
                    Err(why) => {
                        agents.left_out.push((file, format!("has front matter that cannot be read: {why}")));
                        continue;
                    }
                };
                // A file without a name or description is not an agent.
                if let (Some(name), Some(description)) = (meta.name.clone(), meta.description.clone()) {
                    let name = folder.name_of(&name, &file);
                    let origin = AgentOrigin { file, ..folder.clone() };
                    agents.add(definition(name, description, body.trim().to_owned(), meta, origin));
                }
            }
        }
        match flag {
            Some(flag) => agents.with(flag),
            None => Ok(agents),
        }
    }

    /// These and the ones of a JSON object, which win.
    pub fn with(&self, json: &str) -> Result<Self, AgentsError> {
        let given: BTreeMap<String, Meta> =
            serde_json::from_str(json).map_err(|error| AgentsError(error.to_string()))?;
        let mut agents = self.clone();
        for (name, meta) in given {
            let description = meta.description.clone().unwrap_or_default();
            let prompt = meta.prompt.clone().unwrap_or_default();
            let origin = AgentOrigin { dialect: "claude", ..AgentOrigin::default() };
            agents.add(definition(name, description, prompt, meta, origin));
        }
        Ok(agents)
    }

    fn add(&mut self, agent: AgentDefinition) {
        self.known.insert(agent.name.clone(), agent);
    }

    /// By name; built-ins also with a capital, as others write them.
    pub fn get(&self, name: &str) -> Option<&AgentDefinition> {
        self.known.get(name).or_else(|| self.known.get(&name.to_lowercase()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &AgentDefinition> {
        self.known.values()
    }
}

impl AgentOrigin {
    /// `plugin:folder:name` for an agent of a plugin.
    fn name_of(&self, name: &str, file: &Path) -> String {
        let Some(plugin) = &self.plugin else { return name.to_owned() };
        let below = file.strip_prefix(&self.file).ok().and_then(Path::parent);
        let folders = below.into_iter().flat_map(Path::iter).map(|part| part.to_string_lossy().into_owned());
        std::iter::once(plugin.clone()).chain(folders).chain([name.to_owned()]).collect::<Vec<_>>().join(":")
    }
}

fn definition(
    name: String,
    description: String,
    prompt: String,
    mut meta: Meta,
    origin: AgentOrigin,
) -> AgentDefinition {
    let mut unused = Vec::new();
    if origin.plugin.is_some() {
        // A plugin's agent is the operator's guest: it brings neither guards nor servers nor a mode.
        for (key, given) in [
            ("hooks", !meta.hooks.is_null()),
            ("mcpServers", !meta.mcp_servers.is_null()),
            ("permissionMode", meta.permission_mode.is_some()),
        ] {
            unused.extend(given.then(|| format!("{key} (agents of plugins cannot have it)")));
        }
        (meta.hooks, meta.mcp_servers, meta.permission_mode) = (Value::Null, Value::Null, None);
    }
    let permission_mode = meta.permission_mode.and_then(|mode| match mode.as_str() {
        "manual" => Some(Mode::Default),
        word => word.parse().map_err(|_| unused.push(format!("permissionMode {word} (not a mode)"))).ok(),
    });
    let isolated = match meta.isolation.as_deref() {
        None | Some("none" | "") => false,
        Some("worktree") => true,
        Some(other) => {
            unused.push(format!("isolation {other} (only worktree)"));
            false
        }
    };
    let (servers, own_servers) = servers(&meta.mcp_servers, &mut unused);
    unused.extend((!meta.memory.is_null()).then(|| "memory (agents have no memory files)".to_owned()));
    unused.extend((!meta.effort.is_null()).then(|| "effort (models are asked without one)".to_owned()));
    AgentDefinition {
        name,
        description,
        prompt,
        tools: meta.tools.map(|words| words.0),
        disallowed: meta.disallowed_tools.0,
        max_turns: meta.max_turns,
        background: meta.background,
        model: meta.model,
        hooks: meta.hooks,
        permission_mode,
        skills: meta.skills.0,
        servers,
        own_servers,
        isolated,
        color: meta.color,
        initial_prompt: meta.initial_prompt.filter(|prompt| !prompt.trim().is_empty()),
        unused,
        origin,
    }
}

/// The names of its servers, and the definitions of those that are written out.
fn servers(written: &Value, unused: &mut Vec<String>) -> (Vec<String>, Map<String, Value>) {
    let (mut names, mut own) = (Vec::new(), Map::new());
    match written {
        Value::Null => {}
        Value::String(text) => {
            names.extend(text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()));
        }
        Value::Array(list) => {
            for one in list {
                match one {
                    Value::String(name) => names.push(name.clone()),
                    Value::Object(fields) => own.extend(fields.clone()),
                    other => unused.push(format!("mcpServers {other} (neither a name nor a definition)")),
                }
            }
        }
        Value::Object(fields) => own.extend(fields.clone()),
        other => unused.push(format!("mcpServers {other} (neither a name nor a definition)")),
    }
    names.extend(own.keys().cloned());
    (names, own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_the_flag_add_to_the_built_ins() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(
            dir.path().join("r.md"),
            "---\nname: reviewer\ndescription: reviews\ntools: Read, Grep\nhooks:\n  Stop:\n    - command: \"true\"\n---\nBe strict.\n",
        )
        .unwrap();
        std::fs::write(dir.path().join("not-an-agent.md"), "just text").unwrap();
        let flag = r#"{"explore": {"description": "mine", "prompt": "look", "maxTurns": 3}}"#;
        let folder = AgentOrigin { file: dir.path().to_owned(), dialect: "sdlc", of_project: true, plugin: None };
        let agents = Agents::load([folder], Some(flag)).unwrap();
        assert_eq!(
            agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>(),
            ["explore", "general-purpose", "plan", "reviewer"]
        );
        let reviewer = agents.get("reviewer").unwrap();
        assert_eq!(
            (reviewer.prompt.as_str(), reviewer.tools.as_deref()),
            ("Be strict.", Some(&["Read".to_owned(), "Grep".to_owned()][..]))
        );
        assert_eq!(reviewer.hooks["Stop"][0]["command"], "true");
        assert_eq!((&reviewer.origin.file, reviewer.origin.of_project), (&dir.path().join("r.md"), true));
        assert_eq!(agents.get("Explore").unwrap().max_turns, Some(3));
        assert!(Agents::load([], Some("[]")).is_err());
    }

    #[test]
    fn what_a_file_asks_for_is_read_or_named() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("deep")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write(
            "deep/a.md",
            "---\nname: a\ndescription: d\npermissionMode: acceptEdits\nskills: [s, t]\nmcpServers: [Git Hub, {x: {command: srv}}]\n\
             isolation: worktree\ncolor: red\nmemory: user\ntools: Read\neffort: high\n---\nWork.",
        );
        write("broken.md", "---\nname: [\n---\nx");
        write("b.md", "---\nname: b\ndescription: d\npermissionMode: always\nisolation: remote\n---\nx");
        let folder = AgentOrigin { file: dir.path().to_owned(), dialect: "claude", ..AgentOrigin::default() };
        let agents = Agents::load([folder.clone()], None).unwrap();
        let a = agents.get("a").unwrap();
        assert_eq!(
            (a.permission_mode, &a.skills, a.isolated, a.color.as_deref()),
            (Some(Mode::AcceptEdits), &vec!["s".to_owned(), "t".to_owned()], true, Some("red"))
        );
        assert_eq!(Value::Object(a.own_servers.clone()), serde_json::json!({"x": {"command": "srv"}}));
        assert!(
            a.grants("Read")
                && a.grants("mcp__git_hub__list")
                && a.grants("mcp__x__t")
                && !a.grants("mcp__other__x")
                && !a.grants("Bash")
        );
        assert_eq!(a.unused.len(), 2, "{:?}", a.unused);
        let b = agents.get("b").unwrap();
        assert_eq!((b.permission_mode, b.isolated, b.unused.len()), (None, false, 2));
        assert_eq!(agents.left_out.len(), 1, "{:?}", agents.left_out);

        let of_plugin = Agents::load([AgentOrigin { plugin: Some("p".into()), ..folder }], None).unwrap();
        let a = of_plugin.get("p:deep:a").unwrap();
        assert_eq!((a.permission_mode, a.servers.len() + a.own_servers.len(), a.isolated), (None, 0, true));
        assert!(a.unused.iter().any(|why| why.starts_with("permissionMode")), "{:?}", a.unused);
    }
}
