//! Definitions of subagents.
//!
//! Built-ins, then the user's, the project's and those of `--agents`; the later wins by
//! name. An agent may never do more than its parent; that is enforced where it runs,
//! not here.

use crate::frontmatter::{self, StringList};
use ona_files::TOO_MANY_ENTRIES;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

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
    /// The hooks of its front matter, null if there are none.
    pub hooks: Value,
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
        let named =
            |names: &[String]| names.iter().any(|name| ona_api::tool::canonical(name) == tool || of_server(name));
        self.tools.as_deref().is_none_or(named) && !named(&self.disallowed)
    }
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
            agents.add(AgentDefinition {
                name: name.into(),
                description: description.into(),
                prompt: prompt.into(),
                tools: (!tools.is_empty()).then(|| tools.iter().map(|tool| (*tool).to_owned()).collect()),
                disallowed: Vec::new(),
                max_turns: None,
                background: false,
                model: None,
                hooks: Value::Null,
                origin: AgentOrigin::default(),
            });
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
                let (meta, body) = frontmatter::split::<Meta>(&text);
                // A file without a name or description is not an agent.
                if let (Some(name), Some(description)) = (meta.name.clone(), meta.description.clone()) {
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

fn definition(name: String, description: String, prompt: String, meta: Meta, origin: AgentOrigin) -> AgentDefinition {
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
        origin,
    }
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
        let folder = AgentOrigin { file: dir.path().to_owned(), dialect: "sdlc", of_project: true };
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
}
