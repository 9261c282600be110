//! Which MCP servers a run has, and when they are started.
//!
//! Servers of the settings come from the frozen row like everything else; the project's
//! `.mcp.json` and `--mcp-config` are read at each start and never stored. Nothing is
//! started before something needs it, so that a run without servers pays nothing.

mod commands;
mod read;

pub use commands::run;
pub use read::{Gathered, gather};

use crate::output;
use crate::program::Open;
use ona_api::{EventKind, Redactor};
use ona_hookplane::{Action, HookList};
use ona_mcp::{Cause, Definition, Servers, Surroundings};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The servers of one workplace.
pub struct Fleet {
    pub servers: Arc<Servers>,
    gathered: Gathered,
    redactor: Redactor,
    said: AtomicBool,
}

impl Fleet {
    pub fn new(gathered: Gathered, around: Surroundings, open: &Open) -> Self {
        for (name, secret) in gathered.catalog.definitions.iter().flat_map(Definition::secrets) {
            open.redactor.learn(name, secret);
        }
        let servers = Arc::new(Servers::new(gathered.catalog.definitions.clone(), around));
        Self { servers, gathered, redactor: open.redactor.clone(), said: AtomicBool::new(false) }
    }

    /// What is wrong with what is configured, for the record.
    pub fn findings(&self) -> impl Iterator<Item = crate::findings::Finding> + '_ {
        let recorded = |cause: &Cause| matches!(cause, Cause::Broken | Cause::Collision | Cause::Policy);
        let left_out = self.gathered.catalog.left_out.iter().filter(move |one| recorded(&one.cause));
        left_out.map(|one| {
            let detail = json!({"server": one.name, "origin": one.origin.as_str(), "why": one.why});
            (EventKind::McpServerDropped, detail)
        })
    }

    /// Begins to connect those that are wanted, and says once what a person must know.
    pub fn start(&self, wanted: impl Fn(&Definition) -> bool) {
        if !self.said.swap(true, Ordering::SeqCst) {
            for sentence in self.gathered.sentences() {
                output::note(format_args!("ona: {}", self.redactor.apply(&sentence)));
            }
        }
        self.servers.start(wanted);
    }

    /// Connects what one call needs: the servers its name can belong to, or all for a
    /// tool that deals with servers.
    pub async fn start_for(&self, tool: &str) {
        match ona_api::tool::canonical(tool) {
            "ListMcpResources" | "ReadMcpResource" | "ToolSearch" | "Agent" => self.start(|_| true),
            name if name.starts_with("mcp__") => self.start(|server| name.starts_with(&server.slug.prefix())),
            _ => return,
        }
        self.servers.settled().await;
    }

    /// Connects the servers hooks call.
    pub async fn start_for_hooks(&self, hooks: &HookList) {
        let called: Vec<_> = hooks
            .iter()
            .filter_map(|hook| match &hook.action {
                Action::Handler(handler) => handler.label().strip_prefix("mcp_tool ").map(str::to_owned),
                Action::Shell { .. } | Action::Exec { .. } => None,
            })
            .filter_map(|label| Some(label.split_once('/')?.0.to_owned()))
            .filter_map(|name| self.servers.find(&name))
            .collect();
        if !called.is_empty() {
            self.start(|definition| called.iter().any(|server| server.definition.slug == definition.slug));
            self.servers.settled().await;
        }
    }

    /// The servers that are down, each with a sentence.
    pub fn down(&self) -> Vec<(String, String)> {
        let down = |server: Arc<ona_mcp::Server>| {
            let status = server.status();
            let why = status.error()?;
            Some((server.definition.name.clone(), self.redactor.apply(why).into_owned()))
        };
        self.servers.list().into_iter().filter_map(down).collect()
    }
}
