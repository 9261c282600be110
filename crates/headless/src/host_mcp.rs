//! MCP servers and the driving program: its requests about them, its own servers, and
//! the questions that servers put to its user.

use super::control::ControlError;
use super::host_connection::HostConnection;
use ona_mcp::{McpServer, MessageRelay, ServerStatus, Servers};
use ona_orchestration::ElicitationPrompter;
use ona_process::TurnCancellation;
use ona_tools::BoxFuture;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers requests whose subtype begins with `mcp_`.
pub(crate) fn answer(servers: &Arc<Servers>, subtype: &str, request: &Value) -> Result<Value, ControlError> {
    let named = |field: &str| -> Result<Arc<McpServer>, ControlError> {
        let name = request[field].as_str().ok_or_else(|| format!("{field} must be a string"))?;
        servers.find(name).ok_or_else(|| format!("unknown MCP server {name:?}").into())
    };
    match subtype {
        "mcp_status" => Ok(json!({"mcpServers": servers.list().iter().map(|one| told(one)).collect::<Vec<_>>()})),
        "mcp_reconnect" => {
            let server = named("serverName")?;
            restart(servers, server);
            Ok(json!({}))
        }
        "mcp_toggle" => {
            let server = named("serverName")?;
            match request["enabled"].as_bool() {
                None => return Err("enabled must be true or false".into()),
                Some(true) if server.status() == ServerStatus::Disabled => restart(servers, server),
                Some(true) => {}
                Some(false) => {
                    let servers = Arc::clone(servers);
                    tokio::spawn(async move { servers.switch_off(&server).await });
                }
            }
            Ok(json!({}))
        }
        "mcp_set_servers" => {
            let wanted = request["servers"].as_object().ok_or("servers must be an object")?;
            let changes = servers.replace_requested(wanted);
            let errors: Map<_, _> = changes.errors.into_iter().map(|(name, why)| (name, why.into())).collect();
            Ok(json!({"added": changes.added, "removed": changes.removed, "errors": errors}))
        }
        other => {
            let instead = match other {
                "mcp_authenticate" | "mcp_oauth_callback_url" => {
                    ": `ona mcp login SERVER` logs in, then mcp_reconnect connects with the login"
                }
                "mcp_clear_auth" => ": `ona mcp logout SERVER` removes a login",
                "mcp_call" => ": tools are called by the model, so that rules and hooks judge each call",
                _ => "",
            };
            let why = format!("the request {other} is not supported{instead}");
            Err(ControlError { why, code: Some("unsupported_request") })
        }
    }
}

/// Reconnects in the background: a request is answered at once, and `mcp_status` shows the result.
fn restart(servers: &Arc<Servers>, server: Arc<McpServer>) {
    let servers = Arc::clone(servers);
    tokio::spawn(async move { servers.reconnect(&server).await });
}

fn told(server: &McpServer) -> Value {
    let status = server.status();
    let tools: Vec<_> = server.offered().iter().map(|tool| json!({"name": tool.tool})).collect();
    let mut told = json!({
        "name": server.definition.name,
        "status": status.as_str(),
        "scope": server.definition.origin.as_str(),
        "tools": tools,
    });
    if let Some(info) = server.info() {
        told["serverInfo"] = info;
    }
    if let Some(error) = status.error() {
        told["error"] = error.into();
    }
    told
}

/// Returns the names of servers as rules spell them.
pub(crate) fn slugs(servers: &Servers) -> Vec<String> {
    servers.list().iter().map(|server| server.definition.slug.to_string()).collect()
}

/// Carries messages to the MCP servers of the driving program.
pub(crate) struct HostTransport {
    host: Arc<HostConnection>,
    cancellation: TurnCancellation,
}

impl HostTransport {
    pub(crate) fn of(host: &Arc<HostConnection>, cancellation: &TurnCancellation) -> Arc<dyn MessageRelay> {
        Arc::new(Self { host: Arc::clone(host), cancellation: cancellation.clone() })
    }
}

impl MessageRelay for HostTransport {
    fn relay<'a>(&'a self, server: &'a str, message: Value) -> BoxFuture<'a, Result<Value, String>> {
        Box::pin(async move {
            let request = json!({"subtype": "mcp_message", "server_name": server, "message": message});
            let answer = self.host.request(request, self.cancellation.program()).await;
            answer.map(|mut answer| answer["mcp_response"].take()).map_err(|why| why.to_string())
        })
    }
}

/// Puts the questions of MCP servers to the driving program.
pub(crate) struct HostPrompter {
    host: Arc<HostConnection>,
    cancellation: TurnCancellation,
}

impl HostPrompter {
    pub(crate) fn of(host: &Arc<HostConnection>, cancellation: &TurnCancellation) -> Arc<dyn ElicitationPrompter> {
        Arc::new(Self { host: Arc::clone(host), cancellation: cancellation.clone() })
    }
}

impl ElicitationPrompter for HostPrompter {
    fn prompt(&self, fields: Map<String, Value>) -> BoxFuture<'_, Option<Map<String, Value>>> {
        Box::pin(async move {
            let mut request = json!({"subtype": "elicitation"});
            for (name, value) in fields {
                request[name] = value;
            }
            let answer = self.host.request(request, &self.cancellation.token()).await.ok()?;
            answer.as_object().cloned()
        })
    }
}
