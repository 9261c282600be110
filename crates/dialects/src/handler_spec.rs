//! Configuration of hooks that are not a process: http, prompt, agent, mcp_tool (DEC-047).
//!
//! The configuration is read and checked here. The handler is made by the caller, who has
//! the network and the model, through `HandlerFactory`.

use ona_api::EventName;
use ona_api::notation::url_matches;
use ona_hookplane::HookHandler;
use ona_settings::HookSettings;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// A configured handler that the caller has to make.
#[derive(Clone, Debug, PartialEq)]
pub enum HandlerSpec {
    Http {
        url: String,
        headers: Vec<(String, String)>,
        /// The variables that headers may use.
        variables: Vec<String>,
    },
    Prompt {
        prompt: String,
        /// A refusal is sent to the model and the turn continues.
        continue_on_block: bool,
    },
    Agent(String),
    McpTool {
        server: String,
        tool: String,
        input: Map<String, Value>,
    },
}

/// Makes a handler, or returns why it cannot.
pub type HandlerFactory<'a> = &'a dyn Fn(HandlerSpec) -> Result<Arc<dyn HookHandler>, String>;

impl HandlerSpec {
    /// Parses a handler of one of these types; returns `None` for any other type.
    pub(crate) fn read(
        event: EventName,
        handler: &Map<String, Value>,
        settings: &HookSettings,
    ) -> Option<Result<HandlerSpec, String>> {
        let kind = handler.get("type")?.as_str()?;
        let text = |name: &str| {
            let found = handler.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
            found.map(str::to_owned).ok_or_else(|| format!("a hook of type {kind} needs {name}"))
        };
        Some(match kind {
            "http" => http(event, handler, settings, text("url")),
            "prompt" => text("prompt").and_then(|prompt| {
                let continue_on_block = handler.get("continueOnBlock") == Some(&Value::Bool(true));
                judging(event, kind).map(|()| HandlerSpec::Prompt { prompt, continue_on_block })
            }),
            "agent" => text("prompt").and_then(|prompt| judging(event, kind).map(|()| HandlerSpec::Agent(prompt))),
            "mcp_tool" => text("server").and_then(|server| {
                let input = handler.get("input").and_then(Value::as_object).cloned().unwrap_or_default();
                Ok(HandlerSpec::McpTool { server, tool: text("tool")?, input })
            }),
            _ => return None,
        })
    }

    /// Returns the default timeout.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        match self {
            HandlerSpec::Prompt { .. } => Some(Duration::from_secs(30)),
            HandlerSpec::Agent(_) => Some(Duration::from_secs(60)),
            HandlerSpec::Http { .. } | HandlerSpec::McpTool { .. } => None,
        }
    }
}

fn http(
    event: EventName,
    handler: &Map<String, Value>,
    settings: &HookSettings,
    url: Result<String, String>,
) -> Result<HandlerSpec, String> {
    let url = url?;
    if matches!(event, EventName::SessionStart | EventName::Setup) {
        return Err(format!("a hook of type http cannot run on {event}; use a command"));
    }
    // If the list exists, everything else is refused.
    if let Some(allowed) = &settings.allowed_urls
        && !allowed.iter().any(|pattern| url_matches(&url, pattern))
    {
        return Err(format!("the url {url:?} is not in allowedHttpHookUrls"));
    }
    let mut headers = Vec::new();
    for (name, value) in handler.get("headers").and_then(Value::as_object).into_iter().flatten() {
        let value = value.as_str().ok_or_else(|| format!("the header {name:?} must be a string"))?;
        headers.push((name.clone(), value.to_owned()));
    }
    let listed = handler.get("allowedEnvVars").and_then(Value::as_array).into_iter().flatten();
    let mut variables: Vec<String> = listed.filter_map(|name| name.as_str().map(str::to_owned)).collect();
    if let Some(outer) = &settings.allowed_variables {
        variables.retain(|name| outer.contains(name));
    }
    Ok(HandlerSpec::Http { url, headers, variables })
}

/// Checks that the event waits for an answer; only then can a model be called.
fn judging(event: EventName, kind: &str) -> Result<(), String> {
    use EventName as E;
    match event {
        E::PermissionDenied
        | E::PermissionRequest
        | E::PostToolUse
        | E::PostToolUseFailure
        | E::PreToolUse
        | E::Stop
        | E::SubagentStop
        | E::TaskCompleted
        | E::TaskCreated
        | E::TeammateIdle
        | E::UserPromptSubmit => Ok(()),
        _ => Err(format!("a hook of type {kind} cannot run on {event}; use a command")),
    }
}
