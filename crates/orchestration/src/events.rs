//! What a front end is told while a turn runs. Rows are the record; these are for showing.

use crate::hook_report::HookReport;
use ona_api::model::{Delta, EndReason, ModelFailure, Part, Usage};
use ona_api::{CallId, ToolCall, ToolResult};
use ona_tools::TaskKind;
use ona_transcript::Trigger;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum TurnEvent {
    /// A model is about to be asked, for the first time or again.
    Requesting {
        model: String,
    },
    /// A piece of a reply, as it arrives.
    Delta(Delta),
    /// A model call is over: what it took without the waits between tries.
    Requested {
        took: Duration,
    },
    /// A whole reply, committed.
    Assistant {
        model: String,
        parts: Vec<Part>,
        usage: Usage,
        end: Option<EndReason>,
    },
    /// A call is worked on: its hooks come first, then perhaps a question, then it runs.
    ToolStarted {
        call: ToolCall,
    },
    ToolFinished {
        call: ToolCall,
        result: ToolResult,
        /// What each hook and rule did, a line each.
        account: Vec<String>,
        /// The hooks of each event of the call.
        hooks: Vec<HookReport>,
    },
    /// A call was refused before it ran.
    Denied {
        call: ToolCall,
        message: String,
    },
    Retrying {
        attempt: u32,
        limit: u32,
        wait: Duration,
        failure: ModelFailure,
    },
    /// Words of hooks for the operator.
    Message(String),
    Compacting,
    Compacted(Compaction),
    /// No summary: a failed call, or none in the reply. Everything is as it was.
    NotCompacted {
        why: String,
    },
    /// Something an agent did that was started by a call of this session, or of
    /// another agent.
    Inside {
        call: CallId,
        event: Box<TurnEvent>,
    },
    /// An agent or a command works by itself from now on.
    TaskStarted {
        id: String,
        kind: TaskKind,
        call: Option<CallId>,
        description: String,
    },
    TaskEnded {
        id: String,
        kind: TaskKind,
        call: Option<CallId>,
        description: String,
        /// completed, failed or stopped.
        status: &'static str,
        summary: String,
    },
}

/// A summary took the place of what came before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    pub trigger: Trigger,
    /// About how many tokens the messages were, and are.
    pub before: usize,
    pub after: usize,
    pub took: Duration,
}

pub type Events = Arc<dyn Fn(TurnEvent) + Send + Sync>;
