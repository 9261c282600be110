//! A tool of a server as a `Tool`.

use crate::connection::McpCallError;
use crate::reply;
use crate::server::{Caller, McpServer, ServerTool};
use ona_api::{Access, ToolResult, ToolSpec};
use ona_tools::{AnyTool, BadInput, BoxFuture, Offer, PlannedCall, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) struct McpTool {
    pub(crate) server: Arc<McpServer>,
    pub(crate) offered: Arc<ServerTool>,
}

impl AnyTool for McpTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.offered.name.clone(),
            description: self.offered.description.clone(),
            input_schema: self.offered.schema.clone(),
        }
    }

    /// Only checks that the input is an object; the server checks the rest.
    fn plan(self: Arc<Self>, input: &Value, _: &ToolContext) -> Result<PlannedCall, BadInput> {
        let Value::Object(arguments) = input else {
            return Err(BadInput::new("the input must be a JSON object"));
        };
        let arguments = arguments.clone();
        Ok(PlannedCall::new(input.clone(), vec![Access::Plain], move |cx| {
            Box::pin(async move {
                let called = self.server.call(&self.offered.tool, &arguments, Caller::Agent, &cx.cancel).await;
                match called {
                    Ok(reply) if reply.is_error => {
                        ToolResult::rejected(self.cut(&reply.text)).data(reply::data(&reply))
                    }
                    Ok(reply) => ToolResult::success(self.cut(&reply.text)).data(reply::data(&reply)),
                    Err(error) => failed(&self.server, error),
                }
            })
        }))
    }

    fn only_reads(&self) -> bool {
        self.offered.only_reads
    }

    fn offer<'a>(&'a self, _: &'a Value, _: &'a ToolContext) -> BoxFuture<'a, Offer> {
        let offer = if self.offered.for_the_person {
            Offer::Submission(format!("{} asks to be confirmed by a person", self.offered.name))
        } else {
            Offer::Plain
        };
        Box::pin(std::future::ready(offer))
    }
}

impl McpTool {
    fn cut(&self, text: &str) -> String {
        cut(text, self.server.room(Some(&self.offered)))
    }
}

/// Cuts a result to the maximum length.
pub(crate) fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        None => text.to_owned(),
        Some((at, _)) => {
            let all = text.chars().count();
            format!("{}\n[cut: {all} characters in all, the first {room} are shown]", &text[..at])
        }
    }
}

/// Section 7.1: an error of the server is a rejection, a failed connection an internal error.
pub(crate) fn failed(server: &McpServer, error: McpCallError) -> ToolResult {
    let name = &server.definition.name;
    match error {
        McpCallError::Refused { .. } => ToolResult::rejected(format!("The MCP server {name:?} refused: {error}")),
        McpCallError::Interrupted => {
            ToolResult::rejected("Interrupted by the operator").data(json!({"is_interrupt": true}))
        }
        McpCallError::TimedOut(_) | McpCallError::Lost(_) => {
            ToolResult::internal(format!("MCP server {name:?}: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_cut_between_characters_and_says_so() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö\n[cut: 3 characters in all, the first 2 are shown]");
    }
}
