//! The messages of stream-json: one type each, in the shapes that clients of the reference read.
//!
//! Nothing here prints or reads a clock; `translate` makes these values and `printer` writes them.

use ona_api::model::Usage;
use ona_api::{CallId, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value};

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum StreamMessage {
    System(SystemMessage),
    /// One block of a reply; the blocks of one reply share its id.
    Assistant {
        message: AssistantMessage,
        parent_tool_use_id: Option<CallId>,
        timestamp: String,
    },
    User(UserMessage),
    StreamEvent {
        event: Value,
        parent_tool_use_id: Option<CallId>,
        #[serde(skip_serializing_if = "Option::is_none")]
        ttft_ms: Option<u64>,
    },
    Result(Box<ResultMessage>),
    /// What a server says about a call that still runs.
    ToolProgress {
        tool_use_id: CallId,
        tool_name: String,
        parent_tool_use_id: Option<CallId>,
        elapsed_time_seconds: u64,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The session was cleared; what follows belongs to another.
    ConversationReset {
        new_conversation_id: String,
    },
    ControlRequest {
        request_id: String,
        request: Value,
    },
    ControlResponse {
        response: Response,
    },
    ControlCancelRequest {
        request_id: String,
    },
}

impl StreamMessage {
    /// Comes before the rows that it is about are committed, so a kill may undo it (DEC-194):
    /// pieces of a reply, hooks of a running call, questions.
    pub(crate) fn is_provisional(&self) -> bool {
        match self {
            StreamMessage::StreamEvent { .. }
            | StreamMessage::ToolProgress { .. }
            | StreamMessage::System(SystemMessage::HookStarted(_) | SystemMessage::HookResponse { .. }) => true,
            StreamMessage::ControlRequest { request, .. } => {
                matches!(request["subtype"].as_str(), Some("can_use_tool" | "elicitation"))
            }
            StreamMessage::System(_)
            | StreamMessage::Assistant { .. }
            | StreamMessage::User(_)
            | StreamMessage::Result(_)
            | StreamMessage::ConversationReset { .. }
            | StreamMessage::ControlResponse { .. }
            | StreamMessage::ControlCancelRequest { .. } => false,
        }
    }

    /// Messages about a request are not part of the session.
    pub(crate) fn is_control(&self) -> bool {
        matches!(
            self,
            StreamMessage::ControlRequest { .. }
                | StreamMessage::ControlResponse { .. }
                | StreamMessage::ControlCancelRequest { .. }
        )
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(crate) enum SystemMessage {
    Init(Box<Init>),
    PermissionDenied {
        tool_name: String,
        tool_use_id: CallId,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_tool_use_id: Option<CallId>,
    },
    ApiRetry {
        attempt: u32,
        max_retries: u32,
        retry_delay_ms: u64,
        error_status: Option<u16>,
        /// The class of the failure.
        error: &'static str,
        message: String,
    },
    Informational {
        content: String,
        level: Level,
    },
    Status {
        status: Option<&'static str>,
        #[serde(rename = "permissionMode", skip_serializing_if = "Option::is_none")]
        permission_mode: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compact_result: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compact_error: Option<String>,
    },
    CompactBoundary {
        compact_metadata: CompactMetadata,
    },
    HookStarted(HookId),
    HookResponse {
        #[serde(flatten)]
        hook: HookId,
        output: String,
        stdout: String,
        stderr: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// success, error or cancelled
        outcome: &'static str,
    },
    TaskStarted {
        task_id: String,
        tool_use_id: Option<CallId>,
        description: String,
        task_type: &'static str,
    },
    TaskNotification {
        task_id: String,
        tool_use_id: Option<CallId>,
        description: String,
        task_type: &'static str,
        status: &'static str,
        output_file: String,
        summary: String,
    },
}

impl SystemMessage {
    /// A status without any of its details.
    pub(crate) fn status(status: Option<&'static str>) -> Self {
        SystemMessage::Status { status, permission_mode: None, compact_result: None, compact_error: None }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct CompactMetadata {
    pub trigger: &'static str,
    pub pre_tokens: usize,
    pub post_tokens: usize,
    pub duration_ms: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct HookId {
    pub hook_id: String,
    /// `PreToolUse:Bash`, `SessionStart:startup`, or the event alone.
    pub hook_name: String,
    pub hook_event: &'static str,
}

/// What a program needs to know before the first reply. Lists of things this build does
/// not have are empty.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Init {
    pub cwd: String,
    pub tools: Vec<String>,
    pub mcp_servers: Vec<McpServerStatus>,
    pub model: String,
    #[serde(rename = "permissionMode")]
    pub permission_mode: &'static str,
    pub slash_commands: Vec<String>,
    #[serde(rename = "apiKeySource")]
    pub api_key_source: &'static str,
    /// The version whose messages these are.
    pub claude_code_version: &'static str,
    pub ona_version: &'static str,
    pub output_style: String,
    pub agents: Vec<String>,
    pub skills: Vec<String>,
    pub plugins: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mcp_server_errors: Vec<ServerError>,
    pub capabilities: Vec<&'static str>,
    pub memory_paths: Vec<String>,
    pub original_cwd: String,
    pub additional_directories: Vec<String>,
    pub conversation_id: String,
    /// startup, resume
    pub source: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct McpServerStatus {
    pub name: String,
    pub status: &'static str,
    pub source: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct ServerError {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub message: String,
}

/// A reply, or one block of it, as the provider's API would say it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AssistantMessage {
    pub id: String,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub role: &'static str,
    pub model: String,
    pub content: Vec<Value>,
    pub stop_reason: Option<String>,
    pub stop_sequence: Option<String>,
    pub usage: Tokens,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct UserMessage {
    pub message: Value,
    pub parent_tool_use_id: Option<CallId>,
    pub timestamp: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Value>,
    #[serde(rename = "isReplay", skip_serializing_if = "Option::is_none")]
    pub is_replay: Option<bool>,
    /// Of a message that came with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Tokens {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_input_tokens: u64,
    pub cache_creation_input_tokens: u64,
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cache_read_input_tokens: usage.cache_read_tokens,
            cache_creation_input_tokens: usage.cache_write_tokens,
        }
    }
}

/// The result of a turn.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ResultMessage {
    pub subtype: &'static str,
    pub is_error: bool,
    pub duration_ms: u64,
    pub duration_api_ms: u64,
    pub num_turns: u32,
    pub result: String,
    /// Of every subtype but success.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<String>>,
    pub stop_reason: Option<String>,
    pub terminal_reason: Option<&'static str>,
    /// `None`: the price of a model that was asked is not known.
    pub total_cost_usd: Option<f64>,
    pub usage: Tokens,
    #[serde(rename = "modelUsage")]
    pub model_usage: Map<String, Value>,
    pub permission_denials: Vec<Denial>,
    /// The class of a failed model call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'static str>,
    pub api_error_status: Option<u16>,
    pub conversation_id: String,
    /// Which result of this run it is, from 0.
    pub result_index: u32,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Denial {
    pub tool_name: String,
    pub tool_use_id: CallId,
    pub tool_input: Value,
}

impl From<&ToolCall> for Denial {
    fn from(call: &ToolCall) -> Self {
        Self { tool_name: call.name.clone(), tool_use_id: call.id.clone(), tool_input: call.input.clone() }
    }
}

/// The answer to a control request.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(crate) enum Response {
    Success {
        request_id: Value,
        response: Value,
    },
    Error {
        request_id: Value,
        error: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<&'static str>,
    },
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
