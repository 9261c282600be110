//! What is wrong with hooks that load and yet can not do what they were written for.
//! Pure: files and programs are looked at by the caller.

use crate::entries::flatten;
use crate::matcher::{Matcher, Names};
use ona_api::event::{Kind, Query};
use ona_api::tool::{ALIASES, BUILTINS};
use ona_hookplane::Hook;
use serde_json::Value;

/// A name a tool of some MCP server might have: it stands for all of them.
const SOME_MCP_TOOL: &str = "mcp__server__tool";

/// Everything a handler, or the entry around it, may say.
const FIELDS: [&str; 31] = [
    "type",
    "command",
    "args",
    "shell",
    "timeout",
    "if",
    "if_condition",
    "matcher",
    "hooks",
    "hook_event_name",
    "dialect",
    "source",
    "disabled",
    "fail_closed",
    "failClosed",
    "async",
    "asyncRewake",
    "once",
    "persistent",
    "statusMessage",
    "description",
    "id",
    "name",
    "url",
    "headers",
    "prompt",
    "model",
    "allowedEnvVars",
    "server",
    "tool",
    "input",
];

/// A field no part of ona reads.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownField {
    pub field: String,
    pub entry: Value,
}

/// Fields of configured handlers that mean nothing here. A leading `_` says that another
/// program keeps its own notes there.
pub fn unknown_fields(settings: &Value) -> Vec<UnknownField> {
    let plugins = settings["plugins"].as_object().into_iter().flatten().map(|(_, plugin)| &plugin["hooks"]);
    let mut unknown = Vec::new();
    for hooks in std::iter::once(&settings["hooks"]).chain(plugins) {
        for entry in flatten(hooks).0 {
            let strange = |key: &&String| !key.starts_with('_') && !FIELDS.contains(&key.as_str());
            for field in entry.handler.keys().filter(strange) {
                unknown.push(UnknownField { field: field.clone(), entry: Value::Object(entry.handler.clone()) });
            }
        }
    }
    unknown
}

/// Whether no value the event has can be matched; `false` where values are anybody's.
pub fn never_matches(hook: &Hook) -> bool {
    let compiled = match hook.dialect.name() {
        "sdlc" => Matcher::sdlc(&hook.matcher),
        "claude" => Matcher::claude(hook.event, &hook.matcher),
        // Other dialects match by rules of their own.
        _ => return false,
    };
    let Ok(matcher) = compiled else { return true };
    let names = if hook.dialect.name() == "claude" { Names::WithAliases } else { Names::Frozen };
    match hook.event.query() {
        Query::Ignored => false,
        Query::Empty => !matches!(matcher, Matcher::Any),
        Query::Field("tool_name") => {
            let former = ALIASES.iter().filter(|_| names == Names::WithAliases).map(|(alias, _)| *alias);
            let known = BUILTINS.into_iter().chain(former).chain([SOME_MCP_TOOL]);
            !known.into_iter().any(|tool| matcher.hits(tool)) && !names_mcp_tools(&hook.matcher)
        }
        Query::Field(name) => match hook.event.fields().iter().find(|field| field.name == name).map(|field| field.kind)
        {
            Some(Kind::Enum(values)) => !values.iter().any(|value| matcher.hits(value)),
            _ => false,
        },
        Query::Basename(_) => false,
    }
}

/// Tools of servers nobody can know here.
fn names_mcp_tools(matcher: &str) -> bool {
    matcher.contains("mcp__")
}

/// Whether a matcher looks like a permission rule, which belongs in `if`.
pub fn is_a_rule(matcher: &str) -> bool {
    matcher.split_once('(').is_some_and(|(tool, rest)| BUILTINS.contains(&tool) && rest.ends_with(')'))
}
