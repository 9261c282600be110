//! Which MCP servers a run has, and when they are started.
//!
//! Servers of the settings come from the frozen row like everything else; the project's
//! `.mcp.json` and `--mcp-config` are read at each start and never stored. Nothing is
//! started before something needs it, so that a run without servers pays nothing.

mod choices;
mod edit;
mod listing;
mod login;
mod prompts;
mod read;

pub use choices::{Choice, choose, forget_choices};
pub use edit::{Added, NewServer, Removed, ServerScope, add, remove};
pub use listing::{configured, described, unknown_server};
pub use login::{ServerLogin, log_in, log_out, login_by_operator_only};
pub use prompts::prompt_command;
pub use read::{Gathered, gather};

use crate::launch::OpenProject;
use crate::notices::Notices;
use ona_api::{LoggedEvent, Redactor};
use ona_hookplane::{Hook, HookAction, HookList};
use ona_mcp::{ExcludeReason, McpServer, ServerContext, ServerDefinition, Servers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The servers of one runtime.
pub struct McpServers {
    pub servers: Arc<Servers>,
    gathered: Gathered,
    redactor: Redactor,
    notices: Notices,
    said: AtomicBool,
}

impl McpServers {
    pub fn new(gathered: Gathered, around: ServerContext, open: &OpenProject, notices: Notices) -> Self {
        for (name, secret) in gathered.catalog.definitions.iter().flat_map(ServerDefinition::secrets) {
            open.redactor.learn(name, secret);
        }
        let servers = Arc::new(Servers::new(gathered.catalog.definitions.clone(), around));
        Self { servers, gathered, redactor: open.redactor.clone(), notices, said: AtomicBool::new(false) }
    }

    /// What is wrong with what is configured, for the record.
    pub fn findings(&self) -> impl Iterator<Item = LoggedEvent> + '_ {
        let recorded = |cause: &ExcludeReason| {
            matches!(
                cause,
                ExcludeReason::Broken | ExcludeReason::Collision | ExcludeReason::Pending | ExcludeReason::Policy
            )
        };
        let left_out = self.gathered.catalog.left_out.iter().filter(move |one| recorded(&one.cause));
        left_out.map(|one| LoggedEvent::McpServerDropped {
            server: one.name.clone(),
            origin: one.origin.as_str(),
            why: one.why.clone(),
        })
    }

    /// The servers of the project's file that are used and that nobody has decided about one by
    /// one, for a dialog; `choose` records the answer, and `Servers::switch_off` ends a rejected one.
    pub fn undecided(&self) -> &[String] {
        &self.gathered.undecided
    }

    /// Begins to connect those that are wanted, and says once what a person must know.
    pub fn start(&self, wanted: impl Fn(&ServerDefinition) -> bool) {
        if !self.said.swap(true, Ordering::SeqCst) {
            for sentence in self.gathered.sentences() {
                self.notices.note(format_args!("ona: {}", self.redactor.apply(&sentence)));
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
        ona_tools::ToolSource::refresh(&*self.servers).await;
    }

    /// Connects the servers hooks call.
    pub async fn start_for_hooks(&self, hooks: &HookList) {
        let called: Vec<_> = hooks.iter().filter_map(|hook| called_by(hook, &self.servers)?.ok()).collect();
        if !called.is_empty() {
            self.start(|definition| called.iter().any(|server| server.definition.slug == definition.slug));
            self.servers.settled().await;
        }
    }

    /// The servers that are down, each with a sentence.
    pub fn down(&self) -> Vec<(String, String)> {
        let down = |server: Arc<McpServer>| {
            let status = server.status();
            let why = status.error()?;
            Some((server.definition.name.clone(), self.redactor.apply(why).into_owned()))
        };
        self.servers.list().into_iter().filter_map(down).collect()
    }
}

/// The server a hook calls; the inner error is the name of one that is not there. `None`
/// if the hook is of another type.
pub fn called_by(hook: &Hook, servers: &Servers) -> Option<Result<Arc<McpServer>, String>> {
    let HookAction::Handler(handler) = &hook.action else { return None };
    let called = handler.label().strip_prefix("mcp_tool ")?;
    // Names may hold a slash themselves.
    let ends = called.match_indices('/').map(|(at, _)| &called[..at]);
    Some(
        ends.clone()
            .find_map(|name| servers.find(name))
            .ok_or_else(|| ends.clone().next_back().unwrap_or(called).to_owned()),
    )
}
