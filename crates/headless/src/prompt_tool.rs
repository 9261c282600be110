//! The operator that is a tool of an MCP server (`--permission-prompt-tool mcp__server__tool`).
//!
//! The tool gets `{tool_name, input, tool_use_id}` and returns one text: `{"behavior":"allow",
//! "updatedInput"?}` or `{"behavior":"deny","message"}` in JSON. It is not a person: what only a person may
//! answer, plans included, it does not answer (DEC-183). Broken means no.

use crate::host_operator::{deny, read};
use crate::messages::Level;
use crate::options::HeadlessOptions;
use crate::printer::Printer;
use crate::translate::informational;
use ona_api::Authority;
use ona_mcp::{Caller, McpServer, ServerStatus, ServerTool, Servers};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion};
use ona_process::TurnCancellation;
use ona_runtime::Failure;
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) struct PromptToolOperator {
    pub servers: Arc<Servers>,
    /// `mcp__server__tool`
    pub tool: String,
    pub printer: Arc<Printer>,
    pub cancellation: TurnCancellation,
}

/// Refuses a run whose questions could not be answered.
pub(crate) async fn check(options: &HeadlessOptions, servers: &Servers) -> Result<(), Failure> {
    let Some(name) = options.permission_prompt_tool.as_deref().filter(|name| *name != "stdio") else { return Ok(()) };
    servers.settled().await;
    if find(servers, name).is_some() {
        return Ok(());
    }
    let all = servers.list();
    let of = all.iter().find(|server| name.starts_with(&server.definition.slug.prefix()));
    let why = match of.map(|server| (server.definition.name.as_str(), server.status())) {
        None => "no MCP server of that name is configured".to_owned(),
        Some((server, ServerStatus::Failed(why) | ServerStatus::NeedsAuth(why))) => {
            format!("the MCP server {server:?} is not connected: {why}")
        }
        Some((server, _)) => format!("the MCP server {server:?} has no such tool"),
    };
    Err(Failure::usage(format_args!("--permission-prompt-tool {name}: {why}")).hint("ona mcp list"))
}

fn find(servers: &Servers, name: &str) -> Option<(Arc<McpServer>, Arc<ServerTool>)> {
    servers.list().into_iter().find_map(|server| {
        let tool = server.offered().into_iter().find(|tool| tool.name == name)?;
        Some((server, tool))
    })
}

impl Operator for PromptToolOperator {
    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        Box::pin(self.confirm_with_tool(question))
    }
}

impl PromptToolOperator {
    async fn confirm_with_tool(&self, question: PermissionQuestion<'_>) -> OperatorAnswer {
        if question.asked.by.asks_a_person() || question.plan.is_some() {
            let words = format!("Denied: only a person can allow this. {}", question.asked.message);
            return deny(Authority::Headless, words.trim_end());
        }
        if question.call.name == self.tool {
            return deny(
                Authority::Headless,
                "Denied: the tool that answers permission questions does not answer this one",
            );
        }
        let Some((server, tool)) = find(&self.servers, &self.tool) else {
            return deny(Authority::Headless, &format!("Denied: {} is gone, so nobody answers", self.tool));
        };
        let shown = self.printer.redacted(&question.call.input);
        let arguments = json!({"tool_name": question.call.name, "input": shown, "tool_use_id": question.call.id});
        let arguments = arguments.as_object().expect("an object").clone();
        let cancel = self.cancellation.token();
        // Its own questions could not be answered while it answers ours.
        let reply = match server.call(&tool.tool, &arguments, Caller::Hook, &cancel, None).await {
            Ok(reply) if !reply.is_error => reply,
            Ok(reply) => {
                let why = ona_api::text::head(&reply.text, 500).0.to_owned();
                return deny(Authority::Headless, &format!("Denied: {} failed: {why}", self.tool));
            }
            Err(error) => return deny(Authority::Headless, &format!("Denied: {} did not answer: {error}", self.tool)),
        };
        let answer = serde_json::from_str::<Value>(reply.text.trim()).unwrap_or_default();
        let (mut answer, warning) = read(answer, &shown);
        if let Some(warning) = warning {
            self.printer.send(&informational(warning, Level::Warning));
        }
        // The rows say who answered.
        if answer.verdict.by == Authority::Human {
            answer.verdict.by = Authority::PromptTool(self.tool.clone());
            answer.verdict.message =
                answer.verdict.message.replace("Denied by operator", &format!("Denied by {}", self.tool));
        }
        answer
    }
}
