//! Which turn answers the next request.

use super::request::Request;
use super::turn::{Turn, say};
use std::collections::VecDeque;

pub(super) struct Script {
    source: Source,
    /// Calls that were handed out, by which the next is numbered.
    calls: usize,
}

pub(super) enum Source {
    /// One after another, then "done" for ever.
    Turns(VecDeque<Turn>),
    Repeating(Box<Turn>),
    Answering(Box<dyn FnMut(&Request) -> Turn + Send>),
}

/// A turn and the number its first call has on the server.
pub(super) struct Cue {
    pub turn: Turn,
    pub first_call: usize,
}

impl Script {
    pub fn new(source: Source) -> Self {
        Self { source, calls: 0 }
    }

    pub fn next(&mut self, request: &Request) -> Cue {
        let turn = match &mut self.source {
            Source::Turns(turns) => turns.pop_front().unwrap_or_else(|| say("done")),
            Source::Repeating(turn) => (**turn).clone(),
            Source::Answering(answer) => answer(request),
        };
        let first_call = self.calls + 1;
        self.calls += turn.call_count();
        Cue { turn, first_call }
    }

    /// Turns nobody has asked for yet.
    pub fn left(&self) -> usize {
        match &self.source {
            Source::Turns(turns) => turns.len(),
            Source::Repeating(_) | Source::Answering(_) => 0,
        }
    }
}
