//! All servers of a run, from everywhere they can be configured. Pure.
//!
//! The command line comes first, then the settings, then the project's own file: a
//! folder cannot put its server in the place of one the operator has chosen. An entry
//! that cannot be used is named and stops nothing else.

use crate::context::Environments;
use crate::definition::{DefinitionOrigin, DefinitionOwner, ServerDefinition};
use crate::policy::Policy;
use serde_json::Value;

/// Where servers are configured.
#[derive(Clone, Debug, Default)]
pub struct McpSources {
    /// The texts of `--mcp-config`, parsed; each with `mcpServers`, or the servers themselves.
    pub flags: Vec<Value>,
    /// `mcpServers` of the effective settings.
    pub settings: Value,
    /// `.mcp.json`, if it counts.
    pub project: Value,
    /// Servers of plugins, under `plugin:PLUGIN:SERVER`.
    pub plugins: Value,
    /// The servers of `settings` that a project's file configured.
    pub of_project: Vec<String>,
    /// Servers of the project's file that are not used, each with the cause and a sentence.
    pub held: Vec<(String, ExcludeReason, String)>,
    pub policy: Policy,
}

/// What is configured, and what of it is left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub definitions: Vec<ServerDefinition>,
    pub left_out: Vec<ExcludedServer>,
    /// Sentences about servers that are used all the same.
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExcludedServer {
    pub name: String,
    pub origin: DefinitionOrigin,
    pub cause: ExcludeReason,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcludeReason {
    /// The entry cannot be used.
    Broken,
    /// Another server has the same slug.
    Collision,
    /// Switched off in the settings, or rejected.
    Disabled,
    /// The operator has not decided about it as it is now.
    Pending,
    Policy,
}

impl ExcludedServer {
    pub fn sentence(&self) -> String {
        format!("the MCP server {:?} ({}) is left out: {}", self.name, self.origin.as_str(), self.why)
    }
}

impl Catalog {
    pub fn read(sources: &McpSources, env: &Environments) -> Self {
        let mut catalog = Self::default();
        for flag in sources.flags.iter().rev() {
            catalog.add(entries(flag), DefinitionOrigin::Flag, sources, env);
        }
        catalog.add(&sources.settings, DefinitionOrigin::Settings, sources, env);
        catalog.add(entries(&sources.project), DefinitionOrigin::Project, sources, env);
        catalog.add(&sources.plugins, DefinitionOrigin::Plugin, sources, env);
        catalog
    }

    fn add(&mut self, servers: &Value, origin: DefinitionOrigin, sources: &McpSources, env: &Environments) {
        let servers = match servers {
            Value::Null => return,
            Value::Object(servers) => servers,
            _ => {
                let why = "`mcpServers` must be an object".to_owned();
                self.left_out.push(ExcludedServer { name: String::new(), origin, cause: ExcludeReason::Broken, why });
                return;
            }
        };
        for (name, value) in servers.iter().filter(|(_, value)| !value.is_null()) {
            // Who comes first has the name.
            let taken = |known: &str| known == name;
            let known = self.definitions.iter().any(|known| taken(&known.name));
            if !known && !self.left_out.iter().any(|known| taken(&known.name)) {
                self.take(name, value, origin, sources, env);
            }
        }
    }

    fn take(&mut self, name: &str, value: &Value, origin: DefinitionOrigin, sources: &McpSources, env: &Environments) {
        let mut leave_out = |cause, why: String| {
            self.left_out.push(ExcludedServer { name: name.to_owned(), origin, cause, why });
        };
        if origin == DefinitionOrigin::Project
            && let Some((_, cause, why)) = sources.held.iter().find(|(held, ..)| held == name)
        {
            return leave_out(*cause, why.clone());
        }
        let in_its_settings = || sources.of_project.iter().any(|known| known == name);
        let owner = match origin {
            DefinitionOrigin::Project => DefinitionOwner::Project,
            DefinitionOrigin::Settings if in_its_settings() => DefinitionOwner::Project,
            DefinitionOrigin::Plugin => DefinitionOwner::Plugin,
            DefinitionOrigin::Settings
            | DefinitionOrigin::Flag
            | DefinitionOrigin::Request
            | DefinitionOrigin::Agent
            | DefinitionOrigin::Host => DefinitionOwner::Operator,
        };
        let read = match ServerDefinition::read(name, value, origin, owner, env) {
            Ok(read) => read,
            Err(why) => return leave_out(ExcludeReason::Broken, why),
        };
        if let Some(why) = sources.policy.refuses(&read.definition) {
            return leave_out(ExcludeReason::Policy, why.into());
        }
        if let Some(other) = self.definitions.iter().find(|other| other.slug == read.definition.slug) {
            let why = format!("its tools would have the names of those of {:?} (mcp__{})", other.name, other.slug);
            return leave_out(ExcludeReason::Collision, why);
        }
        if !read.missing.is_empty() {
            let names = read.missing.join(", ");
            self.warnings.push(format!("the MCP server {name:?} speaks of variables that are not set: {names}"));
        }
        self.definitions.push(read.definition);
    }
}

/// Returns the servers of a file: under `mcpServers`, as usual, or at the top level.
fn entries(file: &Value) -> &Value {
    file.get("mcpServers").unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::ServerTransport;
    use serde_json::json;

    fn commands(catalog: &Catalog) -> Vec<String> {
        let shown = |one: &ServerDefinition| match &one.endpoint {
            ServerTransport::Stdio { command, .. } => format!("{}={command}@{}", one.name, one.origin.as_str()),
            other => format!("{}={other:?}", one.name),
        };
        catalog.definitions.iter().map(shown).collect()
    }

    fn reasons(catalog: &Catalog) -> Vec<(&str, ExcludeReason)> {
        catalog.left_out.iter().map(|one| (one.name.as_str(), one.cause)).collect()
    }

    #[test]
    fn the_command_line_wins_then_the_settings_then_the_folder() {
        let sources = McpSources {
            flags: vec![json!({"mcpServers": {"a": {"command": "old"}}}), json!({"a": {"command": "flag"}})],
            settings: json!({"a": {"command": "settings"}, "b": {"command": "settings"}}),
            project: json!({"mcpServers": {"a": {"command": "folder"}, "b": {"command": "folder"}, "c": {"command": "folder"}}}),
            ..McpSources::default()
        };
        let catalog = Catalog::read(&sources, &Environments::default());
        assert_eq!(commands(&catalog), ["a=flag@--mcp-config", "b=settings@settings", "c=folder@.mcp.json"]);
        assert_eq!(catalog.left_out, []);
    }

    #[test]
    fn only_what_the_operator_has_written_can_name_the_programs_own_credentials() {
        let server = json!({"s": {"command": "${ANTHROPIC_API_KEY:-none} ${OTHER}"}});
        let env = Environments::one(&ona_api::Env::default().with("ANTHROPIC_API_KEY", "k").with("OTHER", "o"));
        let read = |sources: McpSources| commands(&Catalog::read(&sources, &env));
        let settings = McpSources { settings: server.clone(), ..McpSources::default() };
        assert_eq!(read(settings), ["s=k o@settings"]);
        let project = McpSources { project: server.clone(), ..McpSources::default() };
        assert_eq!(read(project), ["s=none o@.mcp.json"]);
        let plugins = McpSources { plugins: server, ..McpSources::default() };
        assert_eq!(read(plugins), ["s=none o@plugin"]);
    }

    #[test]
    fn a_bad_entry_stops_nothing_and_a_second_server_of_a_slug_is_dropped() {
        let sources = McpSources {
            settings: json!({"bad": 1, "Git Hub": {"command": "one"}, "git_hub": {"command": "two"}, "ok": {"command": "x"}}),
            project: json!({"mcpServers": {"off": {"command": "x"}}}),
            held: vec![("off".into(), ExcludeReason::Disabled, "it is off".into())],
            policy: Policy { denied: vec![json!({"serverName": "ok"})], allowed: None },
            ..McpSources::default()
        };
        let catalog = Catalog::read(&sources, &Environments::default());
        assert_eq!(commands(&catalog), ["Git Hub=one@settings"]);
        assert_eq!(
            reasons(&catalog),
            [
                ("bad", ExcludeReason::Broken),
                ("git_hub", ExcludeReason::Collision),
                ("ok", ExcludeReason::Policy),
                ("off", ExcludeReason::Disabled)
            ]
        );
        assert_eq!(
            catalog.left_out[1].sentence(),
            r#"the MCP server "git_hub" (settings) is left out: its tools would have the names of those of "Git Hub" (mcp__git_hub)"#
        );
    }

    #[test]
    fn a_name_the_operator_has_spoilt_does_not_fall_to_the_folder() {
        let sources = McpSources {
            settings: json!({"a": {"command": ""}}),
            project: json!({"mcpServers": {"a": {"command": "evil"}}}),
            ..McpSources::default()
        };
        assert_eq!(commands(&Catalog::read(&sources, &Environments::default())), Vec::<String>::new());
    }
}
