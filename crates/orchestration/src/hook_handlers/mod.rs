//! Hooks that are not a process: a request to a server, a tool of an MCP server, a question
//! to a model, an agent that looks into something (DEC-047).
//!
//! Each answers as a process would: exit code 0, 2 for a blocking answer, none for a
//! failure, so that chain, rows and merging know nothing of it.

mod http;
mod judge;
mod mcp_tool;

pub use http::HttpHook;
pub use judge::{JudgeDeps, JudgeHook, JudgeKind, SharedJudgeDeps};
pub use mcp_tool::McpToolHook;

use serde_json::Value;

/// The longest answer that is read.
const CAPTURE: usize = 4_194_304;

/// What stands in the `command` column for a text of any length.
fn label(kind: &str, text: &str) -> String {
    let (head, _) = ona_api::text::head(text, 120);
    format!("{kind} {head}")
}

/// The reason of an answer that blocks.
fn blocking(answer: &Value) -> Option<String> {
    let specific = &answer["hookSpecificOutput"];
    let reason = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if specific["permissionDecision"] == "deny" {
        return Some(reason(&specific["permissionDecisionReason"]));
    }
    (answer["decision"] == "block").then(|| reason(&answer["reason"]))
}
