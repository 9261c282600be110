//! A tool of a server as a `Tool`.

use crate::connection::McpCallError;
use crate::reply::{self, McpReply};
use crate::server::{Caller, McpServer, ServerTool};
use ona_api::{Access, Attachment, ToolResult, ToolSpec};
use ona_tools::{AnyTool, BadInput, BoxFuture, Offer, PlannedCall, ToolContext, image};
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
                self.server.follow_roots(cx).await;
                let progress = self.server.progress_of(&self.offered, cx);
                let called = self.server.call(&self.offered.tool, &arguments, Caller::Agent, &cx.cancel, progress);
                match called.await {
                    Ok(reply) => self.result(reply).await,
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
    async fn result(&self, reply: McpReply) -> ToolResult {
        let (attachments, unfit) = attached(reply.pictures.clone()).await;
        let mut text = self.cut(&reply.text);
        for why in unfit {
            text.push_str(&format!("\n[A picture is not shown: {why}.]"));
        }
        let result = if reply.is_error { ToolResult::rejected(text) } else { ToolResult::success(text) };
        let mut result = result.data(reply::data(&reply));
        result.attachments = attachments;
        result
    }

    fn cut(&self, text: &str) -> String {
        cut(text, self.server.room(Some(&self.offered)))
    }
}

/// Maximum number of pictures of one result.
const MOST_PICTURES: usize = 10;

/// Returns pictures as providers take them, and why others are left out. Scaling runs on a thread of its own.
async fn attached(pictures: Vec<Vec<u8>>) -> (Vec<Attachment>, Vec<String>) {
    if pictures.is_empty() {
        return Default::default();
    }
    let more = pictures.len().saturating_sub(MOST_PICTURES);
    let fitted = tokio::task::spawn_blocking(move || {
        pictures.into_iter().take(MOST_PICTURES).map(image::fit).collect::<Vec<_>>()
    });
    let Ok(fitted) = fitted.await else { return (Vec::new(), vec!["it cannot be decoded".into()]) };
    let (mut attachments, mut unfit) = (Vec::new(), Vec::new());
    for one in fitted {
        match one {
            Ok(picture) => attachments.push(Attachment::from(picture)),
            Err(why) => unfit.push(why.to_string()),
        }
    }
    if more > 0 {
        unfit.push(format!("{more} more than {MOST_PICTURES} in one result"));
    }
    (attachments, unfit)
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
        McpCallError::TimedOut(_)
        | McpCallError::Lost(_)
        | McpCallError::NotTaken(_)
        | McpCallError::SessionEnded
        | McpCallError::NeedsAuth(_) => ToolResult::internal(format!("MCP server {name:?}: {error}")),
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
