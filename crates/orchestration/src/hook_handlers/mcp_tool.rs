//! A hook that is a call of a tool of an MCP server.
//!
//! Its text counts as what a command prints. The server is never connected for it, only
//! waited for while it is being connected; and nobody is asked for permission, because who
//! configured the hook has said what it does.

use super::{CAPTURE, blocking, label};
use ona_api::{clock, text};
use ona_hookplane::{Exit, HandlerFuture, HookExecution, HookHandler, HookInvocation};
use ona_mcp::{Caller, Servers};
use serde_json::{Map, Value};
use std::sync::Arc;

pub struct McpToolHook {
    label: String,
    /// The label and what the tool is given.
    identity: String,
    server: String,
    tool: String,
    input: Map<String, Value>,
    servers: Arc<Servers>,
}

impl McpToolHook {
    pub fn new(server: String, tool: String, input: Map<String, Value>, servers: Arc<Servers>) -> Self {
        let label = label("mcp_tool", &format!("{server}/{tool}"));
        let identity = format!("{label} {}", Value::Object(input.clone()));
        Self { label, identity, server, tool, input, servers }
    }

    /// Returns the text of the answer, or the reason why none came.
    async fn call_tool(&self, called: &HookInvocation<'_>) -> Result<String, String> {
        // It was JSON when it was written for this hook.
        let event: Value = serde_json::from_str(&called.stdin).unwrap_or_default();
        let input = self.input.iter().map(|(name, value)| (name.clone(), filled(value, &event))).collect();
        let server = self.servers.find(&self.server);
        let server = server.ok_or_else(|| format!("unknown MCP server {:?}", self.server))?;
        server.settled().await;
        let reply = server.call(&self.tool, &input, Caller::Hook, called.cancel, None).await;
        let reply = reply.map_err(|error| format!("MCP server {:?}: {error}", self.server))?;
        match reply.is_error {
            true => Err(format!("{}/{} failed: {}", self.server, self.tool, reply.text)),
            false if reply.text.len() > CAPTURE => Err(format!("the answer is longer than {CAPTURE} bytes")),
            false => Ok(reply.text),
        }
    }
}

impl HookHandler for McpToolHook {
    fn label(&self) -> &str {
        &self.label
    }

    fn identity(&self) -> &str {
        &self.identity
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started = clock::utc_millis(clock::now());
            let asked = tokio::select! {
                asked = tokio::time::timeout(called.timeout, self.call_tool(&called)) => asked,
                () = called.cancel.cancelled() => return HookExecution::ended(started, Exit::Cancelled, String::new(), String::new()),
            };
            match asked {
                Err(_) => HookExecution::ended(
                    started,
                    Exit::TimedOut { after: called.timeout },
                    String::new(),
                    String::new(),
                ),
                Ok(Err(why)) => {
                    let why = format!("[SDLC] mcp_tool hook: {}", text::head(&why, 2000).0);
                    HookExecution::ended(started, Exit::NotStarted(why), String::new(), String::new())
                }
                Ok(Ok(said)) => match serde_json::from_str(&said).ok().and_then(|answer: Value| blocking(&answer)) {
                    Some(reason) => HookExecution::ended(started, Exit::Code(2), said, reason),
                    None => HookExecution::ended(started, Exit::Code(0), said, String::new()),
                },
            }
        })
    }
}

/// A value with `${dotted.path}` in its texts replaced by what the event holds there. A
/// text that is one such path and nothing else becomes the value itself.
fn filled(value: &Value, event: &Value) -> Value {
    match value {
        Value::String(text) => match whole(text).and_then(|path| at(event, path)) {
            Some(found) => found.clone(),
            None => within(text, event).into(),
        },
        Value::Array(items) => items.iter().map(|item| filled(item, event)).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), filled(value, event))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn whole(text: &str) -> Option<&str> {
    text.strip_prefix("${")?.strip_suffix('}').filter(|path| !path.contains(['$', '}']))
}

fn within(text: &str, event: &Value) -> String {
    let (mut filled, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("${") {
        filled.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            filled.push_str(&rest[start..]);
            return filled;
        };
        match at(event, &inner[..end]) {
            Some(Value::String(text)) => filled.push_str(text),
            Some(Value::Null) | None => {}
            Some(other) => filled.push_str(&other.to_string()),
        }
        rest = &inner[end + 1..];
    }
    filled.push_str(rest);
    filled
}

fn at<'a>(event: &'a Value, path: &str) -> Option<&'a Value> {
    path.trim().split('.').try_fold(event, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        other => other.get(key),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_into_the_event_are_filled_in() {
        let event = json!({"tool_name": "Bash", "tool_input": {"command": "ls", "n": 2, "list": ["a", {"b": true}]}});
        for (value, expected) in [
            (json!("${tool_input.command}"), json!("ls")),
            (json!("run ${tool_name}: ${tool_input.command} x${tool_input.n}"), json!("run Bash: ls x2")),
            (json!("${tool_input.list}"), json!(["a", {"b": true}])),
            (json!("${tool_input.list.1.b}!"), json!("true!")),
            (json!("[${nothing.here}]"), json!("[]")),
            (json!({"deep": ["${tool_name}", 1]}), json!({"deep": ["Bash", 1]})),
            (json!("${tool_name"), json!("${tool_name")),
        ] {
            assert_eq!(filled(&value, &event), expected, "{value}");
        }
    }
}
