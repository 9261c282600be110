//! Requests of ours as the library's messages.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequest, GetPromptRequestParams,
    ListPromptsRequest, ListResourcesRequest, ListToolsRequest, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams,
};
use serde_json::{Map, Value};

/// What a server is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ServerCall<'a> {
    Tool {
        name: &'a str,
        arguments: &'a Map<String, Value>,
    },
    Prompt {
        name: &'a str,
        arguments: &'a Map<String, Value>,
    },
    Resource {
        uri: &'a str,
    },
    /// A page of a list, and where it begins.
    List {
        kind: ListKind,
        cursor: Option<&'a str>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    Tools,
    Prompts,
    Resources,
}

impl ListKind {
    /// Where the entries are in an answer; also the name of the capability.
    pub(crate) fn key(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources => "resources",
        }
    }
}

impl ServerCall<'_> {
    /// Returns its name for diagnostics.
    pub(crate) fn method(&self) -> &'static str {
        match self {
            ServerCall::Tool { .. } => "tools/call",
            ServerCall::Prompt { .. } => "prompts/get",
            ServerCall::Resource { .. } => "resources/read",
            ServerCall::List { kind: ListKind::Tools, .. } => "tools/list",
            ServerCall::List { kind: ListKind::Prompts, .. } => "prompts/list",
            ServerCall::List { kind: ListKind::Resources, .. } => "resources/list",
        }
    }

    pub(super) fn message(self) -> ClientRequest {
        match self {
            ServerCall::Tool { name, arguments } => {
                let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments.clone());
                ClientRequest::CallToolRequest(CallToolRequest::new(params))
            }
            ServerCall::Prompt { name, arguments } => {
                let params = GetPromptRequestParams::new(name).with_arguments(arguments.clone());
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            }
            ServerCall::Resource { uri } => {
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(ReadResourceRequestParams::new(uri)))
            }
            ServerCall::List { kind, cursor } => {
                let page = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
                match kind {
                    ListKind::Tools => ClientRequest::ListToolsRequest(ListToolsRequest::with_param(page)),
                    ListKind::Prompts => ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page)),
                    ListKind::Resources => ClientRequest::ListResourcesRequest(ListResourcesRequest::with_param(page)),
                }
            }
        }
    }
}
