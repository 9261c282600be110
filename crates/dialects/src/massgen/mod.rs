//! The dialect of the MassGen hook framework: hooks in a YAML file, for all agents and
//! for single ones, written as Python functions or as programs (DEC-150 to DEC-155).
//!
//! It differs from `sdlc` throughout: matchers are globs, an update replaces the input,
//! allow is only the absence of an objection, errors and timeouts pass unless the entry
//! says `fail_closed`, and a Python function that cannot be imported denies the call.
//!
//! Which sessions have such a file is decided in `runtime`; `hookplane` runs the chain.

mod agent_list;
mod command;
mod config;
mod dialect;
mod glob;
mod python;
mod result;

use crate::lint::UnknownField;
use crate::read::{LoadedHooks, Rejected};
use agent_list::{AgentList, AgentOverrides, EntryOwner};
use command::CommandHook;
use config::{HookEntry, HookLanguage, MassgenConfig, ParseError};
use dialect::Massgen;
use ona_api::shell_words;
use ona_api::{Env, Ordinal, SkipReason};
use ona_hookplane::{Firing, Hook, HookAction, HookHandler};
use python::{Python, PythonHook};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub use config::MassgenConfigError;
pub(crate) use glob::ToolGlob;

/// A configuration and the session it is for.
pub struct MassgenSource<'a> {
    pub path: &'a Path,
    /// The main session's agent, if one was chosen.
    pub agent: Option<&'a str>,
    /// Where the session starts.
    pub cwd: &'a Path,
    /// What a process gets that serves many firings.
    pub env: Env,
    /// Why none of its hooks may run.
    pub disabled: Option<SkipReason>,
    pub cancel: &'a CancellationToken,
}

/// The hooks run in this order: global ones, then each agent's.
pub fn load(source: &MassgenSource<'_>) -> Result<LoadedHooks, MassgenConfigError> {
    let path = source.path.to_owned();
    // The operator named it, so it may be a pipe.
    let text = match ona_files::read_named(&path) {
        Ok(text) => text,
        Err(why) => return Err(MassgenConfigError::Unreadable { path, why }),
    };
    let config = config::parse(&text).map_err(|bad| match bad {
        ParseError::Yaml(why) => MassgenConfigError::NotYaml { path: path.clone(), why },
        ParseError::Wrong(wrong) => MassgenConfigError::Wrong { path: path.clone(), at: wrong.at, what: wrong.what },
    })?;
    let MassgenConfig { global, agents, skipped, unknown } = config;
    let folder = path.parent().unwrap_or(Path::new("/")).to_owned();
    let mut entries: Vec<_> = global.into_iter().map(|entry| (EntryOwner::Everyone, entry)).collect();
    let mut members = Vec::new();
    for (index, agent) in agents.into_iter().enumerate() {
        entries.extend(agent.entries.into_iter().map(|entry| (EntryOwner::Agent(index), entry)));
        members.push(AgentOverrides { id: agent.id, overrides: agent.overrides });
    }
    let known: Vec<_> = members.iter().filter_map(|member| member.id.clone()).collect();
    let agents = AgentList::new(members, source.agent).ok_or_else(|| MassgenConfigError::NoSuchAgent {
        path: path.clone(),
        id: source.agent.unwrap_or_default().to_owned(),
        known: known.join(", "),
    })?;
    let files = files(&path, &folder, source.cwd, &entries);
    let builder = Builder {
        source,
        agents: Arc::new(agents),
        python: Arc::new(Python::new(&folder, source.cwd, source.env.clone(), source.cancel.clone())),
        folder,
    };
    Ok(LoadedHooks {
        hooks: entries.into_iter().map(|(owner, entry)| builder.hook(owner, entry)).collect(),
        rejected: skipped
            .into_iter()
            .map(|(at, why)| Rejected { entry: json!(at), why: format!("{at} {why}") })
            .collect(),
        unknown: unknown.into_iter().map(|(at, field)| UnknownField { field, entry: json!(at) }).collect(),
        idle: Vec::new(),
        files,
    })
}

struct Builder<'a> {
    source: &'a MassgenSource<'a>,
    agents: Arc<AgentList>,
    /// One interpreter serves all.
    python: Arc<Python>,
    folder: PathBuf,
}

impl Builder<'_> {
    fn hook(&self, owner: EntryOwner, entry: HookEntry) -> Hook {
        let HookEntry { event, kind, handler, matcher, compiled, timeout, fail_closed } = entry;
        let name = format!("{}_{handler}", kind.as_str());
        let label = format!("massgen:{}:{handler}", kind.as_str());
        let agents = Arc::clone(&self.agents);
        let files = files_of(kind, &handler, &self.folder, self.source.cwd);
        let action: Arc<dyn HookHandler> = match kind {
            HookLanguage::Python => Arc::new(PythonHook { files, label, handler, python: Arc::clone(&self.python) }),
            HookLanguage::Command => {
                let (folder, agents) = (self.folder.clone(), Arc::clone(&agents));
                Arc::new(CommandHook { files, label, handler, folder, agents })
            }
        };
        Hook {
            ordinal: Ordinal(0),
            event,
            matcher,
            // Entries of different agents are never one entry written twice.
            condition: match owner {
                EntryOwner::Everyone => String::new(),
                EntryOwner::Agent(index) => format!("agent {}", self.agents.name(index)),
            },
            action: HookAction::Handler(action),
            timeout,
            dialect: Arc::new(Massgen { agents: Arc::clone(&agents), kind, name }),
            source: self.source.path.to_string_lossy().into_owned(),
            disabled: self.source.disabled,
            fail_closed,
            detached: false,
            plugin: None,
            once: None,
            registered: None,
            applies: Arc::new(move |firing: &Firing, _: &Value| {
                // The name alone: what a hook makes of the arguments changes nothing here.
                firing.tool().is_some_and(|tool| compiled.matches(tool)) && agents.includes(owner, event, &firing.base)
            }),
        }
    }
}

/// Returns what the hooks are made of, as far as it lies beside the configuration or the project.
fn files(path: &Path, folder: &Path, cwd: &Path, entries: &[(EntryOwner, HookEntry)]) -> Vec<PathBuf> {
    let mut files = BTreeSet::from([path.to_owned()]);
    files.extend(entries.iter().flat_map(|(_, entry)| files_of(entry.kind, &entry.handler, folder, cwd)));
    let targets: Vec<_> = files.iter().filter_map(|file| std::fs::canonicalize(file).ok()).collect();
    files.extend(targets);
    files.into_iter().collect()
}

/// Returns the files of one handler.
fn files_of(kind: HookLanguage, handler: &str, folder: &Path, cwd: &Path) -> Vec<PathBuf> {
    match kind {
        HookLanguage::Python => [folder, cwd].into_iter().flat_map(|dir| python::module_files(handler, dir)).collect(),
        HookLanguage::Command => {
            let words = shell_words::split(handler).unwrap_or_default();
            let named = words.iter().map(String::as_str).chain([handler]);
            named.filter_map(|word| command::beside(word, folder, cwd)).collect()
        }
    }
}
