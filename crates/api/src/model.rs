//! Requests to a model and its replies, independent of the provider.
//!
//! `transcript` turns rows into these messages, `providers` turns them into bytes and
//! bytes into deltas. Neither knows the other.

use crate::{CallId, ToolSpec};
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub role: Role,
    pub parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    ToolUse {
        id: CallId,
        name: String,
        input: Value,
    },
    ToolResult {
        id: CallId,
        content: String,
        is_error: bool,
        /// Exit code of a failed shell; part of the request only, not of the row (DEC-090).
        exit_code: Option<i32>,
    },
    /// Base64. `kind` is "image" or "document".
    Picture {
        kind: String,
        media_type: String,
        data: String,
    },
    /// Context of hooks, joined; a block of its own (DEC-033).
    HookContext(String),
}

/// Everything in a request to a model except the messages.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestParams {
    /// The wire model string.
    pub model: String,
    pub system: String,
    pub tools: Vec<ToolSpec>,
    pub max_tokens: u32,
}

impl RequestParams {
    /// Returns about how many bytes this adds to every request.
    pub fn approximate_size(&self) -> usize {
        let tool = |tool: &ToolSpec| tool.description.len() + tool.input_schema.to_string().len();
        self.system.len() + self.tools.iter().map(tool).sum::<usize>()
    }
}

/// A piece of a reply as it arrives.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    Text(String),
    /// A tool call, or more of its input. The first delta of an index has the name.
    Call {
        index: usize,
        id: Option<String>,
        name: Option<String>,
        json: String,
    },
    Usage(Usage),
    /// A block this product has no use for; its type, for the record (DEC-032).
    Dropped(String),
    End(EndReason),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
}

impl Usage {
    /// A later report of the same call replaces what it names.
    pub fn update(&mut self, later: Usage) {
        let newer = |old: &mut u64, new: u64| *old = if new > 0 { new } else { *old };
        newer(&mut self.input_tokens, later.input_tokens);
        newer(&mut self.output_tokens, later.output_tokens);
        newer(&mut self.cache_read_tokens, later.cache_read_tokens);
        newer(&mut self.cache_write_tokens, later.cache_write_tokens);
    }

    pub fn add(&mut self, other: Usage) {
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cache_read_tokens += other.cache_read_tokens;
        self.cache_write_tokens += other.cache_write_tokens;
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The model is done.
    EndTurn,
    ToolUse,
    MaxTokens,
    /// The provider's word for it.
    Refusal(String),
    Other(String),
}

/// A whole reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Text and calls in the order they were declared.
    pub parts: Vec<Part>,
    pub usage: Usage,
    pub end: Option<EndReason>,
    pub dropped: Vec<String>,
}

/// Why a model call failed; the values are those of StopFailure (DEC-089).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureClass {
    AuthenticationFailed,
    BillingError,
    RateLimit,
    InvalidRequest,
    ServerError,
    MaxOutputTokens,
    Unknown,
}

impl FailureClass {
    pub fn as_str(self) -> &'static str {
        match self {
            FailureClass::AuthenticationFailed => "authentication_failed",
            FailureClass::BillingError => "billing_error",
            FailureClass::RateLimit => "rate_limit",
            FailureClass::InvalidRequest => "invalid_request",
            FailureClass::ServerError => "server_error",
            FailureClass::MaxOutputTokens => "max_output_tokens",
            FailureClass::Unknown => "unknown",
        }
    }
}

/// A failed call to a model. The words never contain a credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ModelFailure {
    pub class: FailureClass,
    pub message: String,
    /// Trying again may help.
    pub transient: bool,
    /// What the server asked us to wait.
    pub retry_after: Option<Duration>,
    pub status: Option<u16>,
}

/// The provider enum of section 2.1. Case-sensitive and closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProviderName {
    ClaudeCodeSubscription,
    OpenaiCompatible,
    LmStudioLocal,
}

impl ProviderName {
    pub const ALL: [ProviderName; 3] =
        [ProviderName::ClaudeCodeSubscription, ProviderName::OpenaiCompatible, ProviderName::LmStudioLocal];

    pub fn as_str(self) -> &'static str {
        match self {
            ProviderName::ClaudeCodeSubscription => "claude_code_subscription",
            ProviderName::OpenaiCompatible => "openai_compatible",
            ProviderName::LmStudioLocal => "lm_studio_local",
        }
    }

    pub fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

/// The model ids of section 2.2 and the wire string of each; `None` is
/// the value of LM_STUDIO_MODEL. Ids are unique, so an id implies its provider.
pub const MODELS: [(&str, ProviderName, Option<&str>); 8] = [
    ("claude_opus_4", ProviderName::ClaudeCodeSubscription, Some("claude-opus-4-20250514")),
    ("claude_sonnet_4", ProviderName::ClaudeCodeSubscription, Some("claude-sonnet-4-20250514")),
    ("claude_3_5_haiku", ProviderName::ClaudeCodeSubscription, Some("claude-3-5-haiku-20241022")),
    ("gpt_4o", ProviderName::OpenaiCompatible, Some("gpt-4o")),
    ("gpt_4o_mini", ProviderName::OpenaiCompatible, Some("gpt-4o-mini")),
    ("o3", ProviderName::OpenaiCompatible, Some("o3")),
    ("o3_mini", ProviderName::OpenaiCompatible, Some("o3-mini")),
    ("lm_studio_server_routed", ProviderName::LmStudioLocal, None),
];
