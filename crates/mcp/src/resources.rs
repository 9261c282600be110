//! The tools ListMcpResources and ReadMcpResource (section 7.2).

use crate::reply::measured;
use crate::server::ServerStatus;
use crate::servers::Servers;
use crate::tool::{cut, failed};
use ona_api::{Access, ToolResult};
use ona_tools::{Tool, ToolContext};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

pub struct ListMcpResources(pub Arc<Servers>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListResourcesInput {
    /// Only list resources of this server.
    server: Option<String>,
}

impl Tool for ListMcpResources {
    type Input = ListResourcesInput;
    const NAME: &'static str = "ListMcpResources";
    const DESCRIPTION: &'static str =
        "Lists the resources of connected MCP servers: a JSON array of uri, name, description, mimeType and server.";

    fn access(&self, _: &ListResourcesInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: ListResourcesInput, cx: &ToolContext) -> ToolResult {
        let servers = match &input.server {
            None => self.0.list().into_iter().filter(|server| server.status() == ServerStatus::Connected).collect(),
            Some(name) => match self.0.find(name) {
                Some(server) => vec![server],
                None => return unknown(&self.0, name),
            },
        };
        let (mut found, mut broken) = (Vec::new(), Vec::new());
        let alone = input.server.is_some();
        for server in servers {
            let listed = tokio::select! {
                listed = server.resources() => listed,
                () = cx.cancel.cancelled() => return ToolResult::rejected("Interrupted by the operator"),
            };
            match listed {
                Ok(resources) => found.extend(resources.iter().map(|one| shown(one, &server.definition.name))),
                Err(error) if alone => return failed(&server, error),
                Err(error) => broken.push(format!("The MCP server {:?} was left out: {error}", server.definition.name)),
            }
        }
        let mut content = Value::Array(found.clone()).to_string();
        broken.iter().for_each(|line| content = format!("{content}\n{line}"));
        ToolResult::success(content).data(json!({ "resources": found }))
    }
}

fn shown(resource: &Value, server: &str) -> Value {
    let mut shown = json!({"uri": resource["uri"], "name": resource["name"]});
    for optional in ["mimeType", "description"] {
        if let Some(value) = resource.get(optional).filter(|value| !value.is_null()) {
            shown[optional] = value.clone();
        }
    }
    shown["server"] = server.into();
    shown
}

fn unknown(servers: &Servers, name: &str) -> ToolResult {
    let known: Vec<_> = servers.list().iter().map(|server| server.definition.name.clone()).collect();
    let known = if known.is_empty() {
        "no server is configured".to_owned()
    } else {
        format!("the servers are {}", known.join(", "))
    };
    ToolResult::rejected(format!("MCP server {name:?} does not exist; {known}."))
}

pub struct ReadMcpResource(pub Arc<Servers>);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadResourceInput {
    /// The server that has it.
    server: String,
    /// Its uri, as ListMcpResources shows it.
    uri: String,
}

impl Tool for ReadMcpResource {
    type Input = ReadResourceInput;
    const NAME: &'static str = "ReadMcpResource";
    const DESCRIPTION: &'static str = "Reads one resource of a connected MCP server.";

    fn access(&self, _: &ReadResourceInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: ReadResourceInput, cx: &ToolContext) -> ToolResult {
        let Some(server) = self.0.find(&input.server) else { return unknown(&self.0, &input.server) };
        match server.read(&input.uri, &cx.cancel).await {
            Err(error) => failed(&server, error),
            Ok(result) => {
                let contents = result["contents"].as_array().cloned().unwrap_or_default();
                let text: Vec<_> = contents.iter().map(text).collect();
                let contents: Vec<_> = contents.iter().map(without_blob).collect();
                ToolResult::success(cut(&text.join("\n"), server.room(None))).data(json!({ "contents": contents }))
            }
        }
    }
}

/// Returns text as it is and a description of anything else.
fn text(content: &Value) -> String {
    match content["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!(
            "[{}: {}]",
            content["uri"].as_str().unwrap_or("resource"),
            measured(&content["mimeType"], &content["blob"])
        ),
    }
}

/// Returns what hooks receive of a content.
fn without_blob(content: &Value) -> Value {
    let mut content = content.clone();
    if let Some(fields) = content.as_object_mut() {
        fields.shift_remove("blob");
    }
    content
}
