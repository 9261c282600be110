//! Which turn answers the next request.

use super::request::ModelRequest;
use super::turn::{ScriptedTurn, say};
use std::collections::VecDeque;

pub(super) struct TurnScript {
    source: TurnSource,
    /// Calls that were handed out, by which the next is numbered.
    calls: usize,
}

pub(super) enum TurnSource {
    /// One after another, then "done" for ever.
    Turns(VecDeque<ScriptedTurn>),
    Repeating(Box<ScriptedTurn>),
    Answering(Box<dyn FnMut(&ModelRequest) -> ScriptedTurn + Send>),
}

/// A turn and the number its first call has on the server.
pub(super) struct Cue {
    pub turn: ScriptedTurn,
    pub first_call: usize,
}

impl TurnScript {
    pub(crate) fn new(source: TurnSource) -> Self {
        Self { source, calls: 0 }
    }

    pub(crate) fn next(&mut self, request: &ModelRequest) -> Cue {
        let turn = match &mut self.source {
            TurnSource::Turns(turns) => turns.pop_front().unwrap_or_else(|| say("done")),
            TurnSource::Repeating(turn) => (**turn).clone(),
            TurnSource::Answering(answer) => answer(request),
        };
        let first_call = self.calls + 1;
        self.calls += turn.call_count();
        Cue { turn, first_call }
    }

    /// Turns that were not requested yet.
    pub(crate) fn left(&self) -> usize {
        match &self.source {
            TurnSource::Turns(turns) => turns.len(),
            TurnSource::Repeating(_) | TurnSource::Answering(_) => 0,
        }
    }
}
