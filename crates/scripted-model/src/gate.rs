//! A place in an answer where the server waits until a test lets it go on.

use super::{TIMEOUT, lock};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Closed until it is opened, then open for good. Clones are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<Inside>);

#[derive(Debug, Default)]
struct Inside {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    reached: bool,
}

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn open(&self) {
        lock(&self.0.state).open = true;
        self.0.changed.notify_all();
    }

    pub fn is_open(&self) -> bool {
        lock(&self.0.state).open
    }

    /// Waits until an answer has come to this gate; panics if none does.
    pub fn wait_until_reached(&self) {
        let state = lock(&self.0.state);
        let waited = self.0.changed.wait_timeout_while(state, TIMEOUT, |state| !state.reached);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(state.reached, "no answer reached the gate in {TIMEOUT:?}");
    }

    pub(super) fn reach(&self) {
        lock(&self.0.state).reached = true;
        self.0.changed.notify_all();
    }

    /// Waits a moment; says whether the gate is open now.
    pub(super) fn wait(&self, at_most: Duration) -> bool {
        let state = lock(&self.0.state);
        let waited = self.0.changed.wait_timeout_while(state, at_most, |state| !state.open);
        waited.unwrap_or_else(PoisonError::into_inner).0.open
    }
}
