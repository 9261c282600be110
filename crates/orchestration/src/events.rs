//! What a front end is told while a turn runs. Rows are the record; these are for showing.

use ona_api::model::{Delta, ModelFailure, Part, Usage};
use ona_api::{ToolCall, ToolResult};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum TurnEvent {
    /// A piece of a reply, as it arrives.
    Delta(Delta),
    /// A whole reply, committed.
    Assistant {
        parts: Vec<Part>,
        usage: Usage,
    },
    ToolFinished {
        call: ToolCall,
        result: ToolResult,
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
}

pub type Events = Arc<dyn Fn(TurnEvent) + Send + Sync>;
