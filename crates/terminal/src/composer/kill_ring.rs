//! What was cut, to be put back.

use std::collections::VecDeque;

const KEPT: usize = 60;

#[derive(Clone, Debug, Default)]
pub(crate) struct KillRing {
    /// The newest first.
    kills: VecDeque<String>,
}

/// On which side of the cut before this one the text stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Before,
    After,
}

impl KillRing {
    pub(crate) fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.kills.truncate(KEPT - 1);
        self.kills.push_front(text.to_owned());
    }

    /// Cuts that follow one another are put back together.
    pub(crate) fn join(&mut self, text: &str, side: Side) {
        match (self.kills.front_mut(), side) {
            (None, _) => self.push(text),
            (Some(newest), Side::After) => newest.push_str(text),
            (Some(newest), Side::Before) => newest.insert_str(0, text),
        }
    }

    /// Returns the n-th newest cut; after the oldest comes the newest again.
    pub(crate) fn get(&self, nth: usize) -> Option<&str> {
        self.kills.get(nth.checked_rem(self.kills.len())?).map(String::as_str)
    }
}
