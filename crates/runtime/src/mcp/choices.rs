//! What the operator decided about the servers of a project's `.mcp.json`, one by one.
//!
//! Decisions are kept in the database, which no call of the agent can change. An approval is bound to the
//! definition as it was (K-1): one that has changed since is not used until it is approved again.
//! Nothing here counts in a folder that is not trusted.

use super::read::servers_of;
use crate::failure::Failure;
use crate::launch::{Launch, OpenProject, nowhere};
use ona_api::{Group, Row, digest};
use ona_settings::McpSettings;
use serde_json::{Map, Value, json};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    Approved,
    Rejected,
}

impl Choice {
    pub fn as_str(self) -> &'static str {
        match self {
            Choice::Approved => "approved",
            Choice::Rejected => "rejected",
        }
    }
}

/// Where one server of the file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    Approved,
    /// Used, because the folder is trusted.
    Undecided,
    Rejected(&'static str),
    Pending(&'static str),
}

#[derive(Clone, Debug, Default)]
pub(crate) struct ProjectChoices(Map<String, Value>);

impl ProjectChoices {
    pub(crate) fn load(launch: &Launch, open: &OpenProject, project: &Path) -> Result<Self, Failure> {
        let stored = open.store.reader().and_then(|reader| reader.meta(&key(project)));
        let stored = stored.map_err(|error| launch.store_failure(error))?;
        Ok(Self(stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()))
    }

    /// What rejects goes first, then what names a server, then what is said about all.
    pub(crate) fn standing(&self, name: &str, definition: &Value, settings: &McpSettings) -> Standing {
        let names = |list: &[String]| list.iter().any(|one| one == name);
        let recorded = self.0.get(name);
        let chosen = recorded.and_then(|one| one["choice"].as_str());
        if names(&settings.disabled_project_servers) {
            return Standing::Rejected("disabledMcpjsonServers names it");
        }
        if chosen == Some(Choice::Rejected.as_str()) {
            return Standing::Rejected("it was rejected (ona mcp reject)");
        }
        if names(&settings.approved_project_servers) || settings.all_project_servers == Some(true) {
            return Standing::Approved;
        }
        match recorded {
            Some(recorded) if recorded["digest"] == digest_of(definition) => Standing::Approved,
            Some(_) => Standing::Pending("its definition has changed since it was approved"),
            None if settings.all_project_servers == Some(false) => {
                Standing::Pending("it is not approved, and enableAllProjectMcpServers is false")
            }
            None => Standing::Undecided,
        }
    }
}

/// Records what the operator decided about a server of the project's file.
pub fn choose(launch: &Launch, open: &OpenProject, name: &str, choice: Choice) -> Result<(), Failure> {
    let definition = of_folder(launch, name)?;
    let chosen = json!({"choice": choice.as_str(), "digest": digest_of(&definition)});
    change(launch, open, |choices| {
        choices.insert(name.to_owned(), chosen);
    })
}

/// Forgets all decisions about this project's file.
pub fn forget_choices(launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
    change(launch, open, Map::clear)
}

/// Forgets the decision about one server.
pub(super) fn forget(launch: &Launch, open: &OpenProject, name: &str) -> Result<(), Failure> {
    change(launch, open, |choices| {
        choices.shift_remove(name);
    })
}

fn change(launch: &Launch, open: &OpenProject, edit: impl FnOnce(&mut Map<String, Value>)) -> Result<(), Failure> {
    let ProjectChoices(mut choices) = ProjectChoices::load(launch, open, &launch.project)?;
    edit(&mut choices);
    let row = Row::Meta { key: key(&launch.project), value: Value::Object(choices).to_string() };
    open.store.commit_now(&nowhere(), Group(vec![row])).map_err(|error| launch.store_failure(error))?;
    Ok(())
}

/// Returns the definition of a server of the project's file.
fn of_folder(launch: &Launch, name: &str) -> Result<Value, Failure> {
    let file = launch.project.join(".mcp.json");
    let text = ona_files::read_text(&file)
        .map_err(|why| Failure::usage(format_args!("{} {why}", file.display())).hint("ona mcp list"))?;
    let written: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Failure::usage(format_args!("{} is not valid JSON: {error}", file.display())))?;
    let servers = servers_of(&written);
    if let Some(definition) = servers.get(name).filter(|one| !one.is_null()) {
        return Ok(definition.clone());
    }
    let known = servers.as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let failure = Failure::usage(format_args!("{} has no MCP server {name:?}", file.display()));
    Err(match ona_api::nearest(name, known) {
        Some(meant) => failure.hint(format!("did you mean {meant:?}?")),
        None => failure.hint("ona mcp list"),
    })
}

fn digest_of(definition: &Value) -> String {
    digest::sha256_hex(definition.to_string().as_bytes())
}

fn key(project: &Path) -> String {
    format!("mcp_choices:{}", project.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_settings::Settings;

    #[test]
    fn what_rejects_goes_before_what_approves() {
        let definition = json!({"command": "x"});
        let recorded = |choice: Choice, of: &Value| {
            ProjectChoices(Map::from_iter([(
                "s".to_owned(),
                json!({"choice": choice.as_str(), "digest": digest_of(of)}),
            )]))
        };
        let (approved, changed) =
            (recorded(Choice::Approved, &definition), recorded(Choice::Approved, &json!({"command": "y"})));
        let rejected = recorded(Choice::Rejected, &definition);
        let none = ProjectChoices::default();
        let is = |choices: &ProjectChoices, settings: Value| match choices.standing(
            "s",
            &definition,
            &Settings::read(&settings).mcp,
        ) {
            Standing::Approved => "approved",
            Standing::Undecided => "undecided",
            Standing::Rejected(_) => "rejected",
            Standing::Pending(_) => "pending",
        };
        for (choices, settings, expected) in [
            (&none, json!({}), "undecided"),
            (&none, json!({"enableAllProjectMcpServers": false}), "pending"),
            (&none, json!({"enableAllProjectMcpServers": true}), "approved"),
            (&none, json!({"enabledMcpjsonServers": ["s"]}), "approved"),
            (&none, json!({"enabledMcpjsonServers": ["t"]}), "undecided"),
            (&none, json!({"enabledMcpjsonServers": ["s"], "disabledMcpjsonServers": ["s"]}), "rejected"),
            (&approved, json!({"enableAllProjectMcpServers": false}), "approved"),
            (&approved, json!({"disabledMcpjsonServers": ["s"]}), "rejected"),
            (&changed, json!({}), "pending"),
            (&changed, json!({"enabledMcpjsonServers": ["s"]}), "approved"),
            (&rejected, json!({"enableAllProjectMcpServers": true}), "rejected"),
        ] {
            assert_eq!(is(choices, settings.clone()), expected, "{settings}");
        }
    }
}
