//! Rules of `--allowedTools` and `--disallowedTools` (DEC-181).
//!
//! A rule that is malformed is refused at once. Whether its tool exists can be told only
//! when servers and modules are there: `judge` is called then. An unknown name in a deny
//! rule is refused, in an allow rule it is one line.

use super::{is_strict, known_tools};
use crate::failure::Failure;
use crate::launch::Launch;
use crate::options::Options;
use ona_api::nearest;
use ona_api::notation::split_rules;
use ona_api::permission_update::Behavior;
use ona_api::tool::BUILTINS;
use ona_mcp::{ServerStatus, Servers};
use ona_permissions::{Rule, RuleError};
use ona_settings::Settings;

/// A rule of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FlagRule {
    list: Behavior,
    text: String,
}

impl FlagRule {
    fn flag(&self) -> &'static str {
        match self.list {
            Behavior::Deny => "--disallowedTools",
            Behavior::Allow | Behavior::Ask => "--allowedTools",
        }
    }

    /// The tool's name.
    fn name(&self) -> &str {
        self.text.split('(').next().unwrap_or(&self.text)
    }
}

/// Rules whose tool is not known yet.
#[derive(Clone, Debug, Default)]
pub struct PendingRules {
    rules: Vec<FlagRule>,
}

/// The rules of one flag.
pub fn rules(lists: &[String]) -> impl Iterator<Item = String> + '_ {
    lists.iter().flat_map(|list| split_rules(list))
}

/// Refuses malformed rules; keeps those that name a tool nobody knows yet.
pub fn read(options: &Options) -> Result<PendingRules, Failure> {
    let mut pending = PendingRules::default();
    let lists = [(Behavior::Deny, &options.disallowed_tools), (Behavior::Allow, &options.allowed_tools)];
    for (list, texts) in lists {
        for text in rules(texts) {
            let rule = FlagRule { list, text };
            match Rule::parse(&rule.text, list) {
                Ok(_) if rule.name().starts_with("mcp__") => pending.rules.push(rule),
                Ok(_) => {}
                Err(RuleError::UnknownTool(name)) if known_tools::is_known(&name) => {}
                Err(RuleError::UnknownTool(_)) => pending.rules.push(rule),
                Err(why) => {
                    return Err(Failure::usage(format_args!("{}: the rule {:?}: {why}", rule.flag(), rule.text)));
                }
            }
        }
    }
    Ok(pending)
}

impl PendingRules {
    /// Whether the answer depends on what servers offer.
    pub fn wait_for_servers(&self) -> bool {
        self.rules.iter().any(|rule| rule.name().starts_with("mcp__"))
    }

    /// Says which tools do not exist. `tools`: those of hook modules.
    pub fn judge(
        &self,
        launch: &Launch,
        settings: &Settings,
        servers: &Servers,
        tools: &[String],
    ) -> Result<(), Failure> {
        for rule in &self.rules {
            let Some(unknown) = unknown(rule, servers, tools) else { continue };
            let message = format!("{}: {}", rule.flag(), unknown.message);
            let off = rule.list == Behavior::Deny && unknown.what == What::Tool;
            if off || is_strict(launch, settings) {
                return Err(Failure::usage(message));
            }
            launch.note(format_args!("ona: {message}"));
        }
        Ok(())
    }
}

struct Unknown {
    what: What,
    message: String,
}

#[derive(PartialEq, Eq)]
enum What {
    Tool,
    /// A server as a whole. Nothing is left open by a rule for one that is not configured.
    Server,
}

/// Why the rule names nothing that is here.
fn unknown(rule: &FlagRule, servers: &Servers, tools: &[String]) -> Option<Unknown> {
    let name = rule.name();
    if let Some(rest) = name.strip_prefix("mcp__") {
        return unknown_to_servers(name, rest, servers);
    }
    if tools.iter().any(|tool| tool == name) {
        return None;
    }
    let known = BUILTINS.into_iter().chain(tools.iter().map(String::as_str));
    let message = format!("unknown tool {name}{}", meant(nearest(name, known)));
    Some(Unknown { what: What::Tool, message })
}

fn unknown_to_servers(name: &str, rest: &str, servers: &Servers) -> Option<Unknown> {
    let name = name.to_lowercase();
    let list = servers.list();
    let prefix = |server: &ona_mcp::McpServer| server.definition.slug.prefix().to_lowercase();
    let whole = |server: &ona_mcp::McpServer| prefix(server).trim_end_matches("__") == name;
    // A pattern says nothing about a single tool or server.
    if name.contains('*') || list.iter().any(|server| whole(server)) {
        return None;
    }
    let of: Vec<_> = list.iter().filter(|server| name.starts_with(&prefix(server))).collect();
    if of.is_empty() {
        let slug = rest.split("__").next().unwrap_or(rest);
        if known_tools::is_known_server(slug) {
            return None;
        }
        let slugs: Vec<_> = list.iter().map(|server| server.definition.slug.to_string()).collect();
        let near = nearest(slug, slugs.iter().map(String::as_str));
        let what = if rest.contains("__") { What::Tool } else { What::Server };
        return Some(Unknown { what, message: format!("unknown MCP server {slug}{}", meant(near)) });
    }
    // What a server that is down would offer is not known.
    if of.iter().any(|server| server.status() != ServerStatus::Connected) {
        return None;
    }
    let offered: Vec<_> = of.iter().flat_map(|server| server.offered()).map(|tool| tool.name.clone()).collect();
    let there = offered.iter().any(|tool| tool.to_lowercase() == name);
    let near = nearest(&name, offered.iter().map(String::as_str));
    (!there).then(|| Unknown { what: What::Tool, message: format!("unknown tool {name}{}", meant(near)) })
}

fn meant(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}
