//! What the settings say about MCP servers. Definitions stay raw: `mcp` reads them.

use crate::keys;
use crate::{is_true, texts};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct McpSettings {
    /// The value of `mcpServers`.
    pub servers: Value,
    /// Servers of `.mcp.json` that the operator has approved.
    pub approved_project_servers: Vec<String>,
    /// `true`: all of them are approved. `false`: none is used that is not approved by name.
    pub all_project_servers: Option<bool>,
    /// Servers of `.mcp.json` that are switched off.
    pub disabled_project_servers: Vec<String>,
    /// Descriptions of servers that may not be used.
    pub denied: Option<Vec<Value>>,
    /// Descriptions of the only servers that may be used.
    pub allowed: Option<Vec<Value>>,
    /// Only servers that managed settings define or allow may be used.
    pub managed_only: bool,
}

impl McpSettings {
    pub(crate) fn read(written: &Value) -> Self {
        Self {
            servers: written[keys::MCP_SERVERS].clone(),
            approved_project_servers: texts(&written[keys::ENABLED_MCPJSON_SERVERS]),
            all_project_servers: written[keys::ENABLE_ALL_PROJECT_MCP_SERVERS].as_bool(),
            disabled_project_servers: texts(&written[keys::DISABLED_MCPJSON_SERVERS]),
            denied: written[keys::DENIED_MCP_SERVERS].as_array().cloned(),
            allowed: written[keys::ALLOWED_MCP_SERVERS].as_array().cloned(),
            managed_only: is_true(&written[keys::ALLOW_MANAGED_MCP_SERVERS_ONLY]),
        }
    }
}
