//! The YAML file, checked (DEC-150). Only `hooks`, `agents[].id` and
//! `agents[].backend.hooks` are read; everything else belongs to the framework.
//!
//! A wrong type is an error that names its place: a guard that silently does not run is
//! the worst outcome. Unknown keys are skipped, with a message where they look like a mistake.

use super::glob::ToolGlob;
use crate::lint::unknown_keys;
use ona_api::EventName;
use ona_api::shell_words;
use ona_files::ReadError;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub enum MassgenConfigError {
    #[error("the massgen configuration could not be read: it {why}: {}", .path.display())]
    Unreadable { path: PathBuf, why: ReadError },
    #[error("the massgen configuration is not valid YAML: {why}: {}", .path.display())]
    NotYaml { path: PathBuf, why: String },
    #[error("the massgen configuration cannot be used: {at} {what}: {}", .path.display())]
    Wrong { path: PathBuf, at: String, what: String },
    #[error("the massgen configuration has no agent {id:?}; its agents are {known}: {}", .path.display())]
    NoSuchAgent { path: PathBuf, id: String, known: String },
}

#[derive(Debug, Default)]
pub(super) struct MassgenConfig {
    pub global: Vec<HookEntry>,
    pub agents: Vec<AgentConfig>,
    /// What was skipped, each with its place and why.
    pub skipped: Vec<(String, String)>,
    /// Unknown keys, each with its place. They are ignored.
    pub unknown: Vec<(String, String)>,
}

#[derive(Debug, Default)]
pub(super) struct AgentConfig {
    pub id: Option<String>,
    pub entries: Vec<HookEntry>,
    /// The events for which the global hooks are not this agent's.
    pub overrides: Vec<EventName>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookEntry {
    pub event: EventName,
    pub kind: HookLanguage,
    pub handler: String,
    /// As written, "" when absent.
    pub matcher: String,
    pub compiled: ToolGlob,
    pub timeout: Option<Duration>,
    pub fail_closed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HookLanguage {
    Python,
    Command,
}

impl HookLanguage {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            HookLanguage::Python => "python",
            HookLanguage::Command => "command",
        }
    }
}

/// A type that is wrong, and where.
pub(super) struct ConfigMistake {
    pub at: String,
    pub what: String,
}

#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    hooks: Option<Value>,
    #[serde(default)]
    agents: Option<Vec<RawAgent>>,
    #[serde(default)]
    agent: Option<RawAgent>,
}

#[derive(Deserialize)]
struct RawAgent {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    backend: Option<Backend>,
}

#[derive(Deserialize)]
struct Backend {
    #[serde(default)]
    hooks: Option<Value>,
}

pub(super) enum ParseError {
    Yaml(String),
    Wrong(ConfigMistake),
}

impl From<ConfigMistake> for ParseError {
    fn from(wrong: ConfigMistake) -> Self {
        ParseError::Wrong(wrong)
    }
}

fn wrong(at: impl Into<String>, what: impl Into<String>) -> ConfigMistake {
    ConfigMistake { at: at.into(), what: what.into() }
}

pub(super) fn parse(text: &str) -> Result<MassgenConfig, ParseError> {
    let options = serde_saphyr::options! { with_snippet: false };
    let document: Document =
        serde_saphyr::from_str_with_options(text, options).map_err(|error| plainly(&error.to_string()))?;
    let mut reader = Reader::default();
    let (global, _) = reader.lists("hooks", document.hooks)?;
    let listed = match (document.agents, document.agent) {
        (Some(_), Some(_)) => return Err(wrong("agents", "and agent cannot both be set").into()),
        (Some(agents), None) => {
            agents.into_iter().enumerate().map(|(index, agent)| (format!("agents[{index}]"), agent)).collect()
        }
        (None, Some(agent)) => vec![("agent".to_owned(), agent)],
        (None, None) => Vec::new(),
    };
    let mut agents: Vec<AgentConfig> = Vec::new();
    for (at, raw) in listed {
        let id = match raw.id {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) if !id.is_empty() => Some(id),
            Some(_) => return Err(wrong(format!("{at}.id"), "must be a non-empty string").into()),
        };
        if id.is_some() && agents.iter().any(|other| other.id == id) {
            return Err(wrong(format!("{at}.id"), "is the id of another agent already").into());
        }
        let hooks = raw.backend.and_then(|backend| backend.hooks);
        let (entries, overrides) = reader.lists(&format!("{at}.backend.hooks"), hooks)?;
        agents.push(AgentConfig { id, entries, overrides });
    }
    Ok(MassgenConfig { global, agents, skipped: reader.skipped, unknown: reader.unknown })
}

/// Returns the library's message without the parts that are meant for programmers.
fn plainly(why: &str) -> ParseError {
    let (what, place) = match why.split_once(" at line ") {
        Some((what, place)) => (what, format!("at line {place}")),
        None => (why, String::new()),
    };
    let what = match what.split([',', ';', ':']).next().unwrap_or_default() {
        // Well written, but not what belongs there.
        "expected mapping start" => return wrong(place, "there must be a mapping").into(),
        "expected sequence start" => return wrong(place, "there must be a list").into(),
        "duplicate mapping key" => what.split(", set ").next().unwrap_or(what),
        "multiple YAML documents detected" => "there is more than one document",
        "budget breached" => "it is too large, or refers to its own parts too often",
        _ => what,
    };
    ParseError::Yaml(format!("{what} {place}").trim_end().to_owned())
}

#[derive(Default)]
struct Reader {
    skipped: Vec<(String, String)>,
    unknown: Vec<(String, String)>,
}

/// What an entry may say.
const KEYS: [&str; 6] = ["handler", "type", "matcher", "timeout", "fail_closed", "override"];

impl Reader {
    /// Returns the entries of one level in document order, and the events it overrides.
    fn lists(&mut self, at: &str, hooks: Option<Value>) -> Result<(Vec<HookEntry>, Vec<EventName>), ConfigMistake> {
        let (mut entries, mut overrides) = (Vec::new(), Vec::new());
        let by_event = match hooks {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(by_event)) => by_event,
            Some(_) => return Err(wrong(at, "must be a mapping from event to hooks")),
        };
        for (name, value) in by_event {
            let at = format!("{at}.{name}");
            let event = match name.as_str() {
                "PreToolUse" => EventName::PreToolUse,
                "PostToolUse" => EventName::PostToolUse,
                "override" => {
                    self.skip(at, "belongs under an event; here it has no effect");
                    continue;
                }
                _ => {
                    self.skip(at, "is not an event of this framework; it has PreToolUse and PostToolUse");
                    continue;
                }
            };
            let (list, mut overrides_event, at) = match value {
                Value::Array(list) => (list, false, at),
                Value::Object(mut form) => {
                    let overrides = flag(&form, "override", &at)?;
                    let at = format!("{at}.hooks");
                    match form.shift_remove("hooks") {
                        None | Some(Value::Null) => (Vec::new(), overrides, at),
                        Some(Value::Array(list)) => (list, overrides, at),
                        Some(_) => return Err(wrong(at, "must be a list")),
                    }
                }
                _ => return Err(wrong(at, "must be a list of hooks, or a mapping with override and hooks")),
            };
            for (index, entry) in list.into_iter().enumerate() {
                let at = format!("{at}[{index}]");
                let Value::Object(fields) = entry else { return Err(wrong(at, "must be a mapping")) };
                overrides_event |= flag(&fields, "override", &at)?;
                self.unknown.extend(unknown_keys(&fields, &KEYS).map(|key| (at.clone(), key.clone())));
                entries.push(entry_of(event, &fields, &at)?);
            }
            if overrides_event {
                overrides.push(event);
            }
        }
        Ok((entries, overrides))
    }

    fn skip(&mut self, at: String, why: &str) {
        self.skipped.push((at, why.to_owned()));
    }
}

fn entry_of(event: EventName, fields: &Map<String, Value>, at: &str) -> Result<HookEntry, ConfigMistake> {
    let place = |key: &str| format!("{at}.{key}");
    let handler = match fields.get("handler") {
        None | Some(Value::Null) => return Err(wrong(place("handler"), "is missing")),
        Some(Value::String(handler)) if !handler.trim().is_empty() => handler.trim().to_owned(),
        Some(_) => return Err(wrong(place("handler"), "must be a non-empty string")),
    };
    let kind = match fields.get("type") {
        None | Some(Value::Null) => HookLanguage::Python,
        Some(Value::String(kind)) if kind == "python" => HookLanguage::Python,
        Some(Value::String(kind)) if kind == "command" => HookLanguage::Command,
        Some(_) => return Err(wrong(place("type"), "must be python or command")),
    };
    if kind == HookLanguage::Command && shell_words::split(&handler).is_none() {
        return Err(wrong(place("handler"), "has a quote that is never closed"));
    }
    let matcher = match fields.get("matcher") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(matcher)) => matcher.clone(),
        Some(_) => return Err(wrong(place("matcher"), "must be a string")),
    };
    let timeout = match fields.get("timeout") {
        None | Some(Value::Null) => None,
        Some(value) => match value.as_f64() {
            Some(seconds) if seconds > 0.0 && seconds < 1e9 => Some(Duration::from_secs_f64(seconds)),
            _ => return Err(wrong(place("timeout"), "must be a positive number of seconds")),
        },
    };
    let fail_closed = flag(fields, "fail_closed", at)?;
    let compiled = ToolGlob::new(&matcher);
    Ok(HookEntry { event, kind, handler, matcher, compiled, timeout, fail_closed })
}

fn flag(fields: &Map<String, Value>, key: &str, at: &str) -> Result<bool, ConfigMistake> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(wrong(format!("{at}.{key}"), "must be true or false")),
    }
}
