//! The effective list: deduplicated, numbered, indexed by event.
//!
//! Built once per turn; a firing only looks up its event's hooks. A number is given once:
//! hooks that come and go with a session leave the others' numbers alone (section 5.2).

use crate::hook::Hook;
use ona_api::{EventName, Ordinal};
use std::collections::HashMap;

#[derive(Clone, Default)]
pub struct HookList {
    hooks: Vec<Hook>,
    by_event: HashMap<EventName, Vec<usize>>,
    /// The number of the next hook.
    next: u32,
}

impl HookList {
    /// Adjacent repetitions collapse to the first; what is left is numbered
    /// densely from 0 over all events (DEC-042).
    pub fn new(hooks: impl IntoIterator<Item = Hook>) -> Self {
        let mut list = Self::default();
        for hook in hooks {
            list.push(hook);
        }
        list
    }

    /// Adds a session-scoped hook with the next number.
    pub fn push(&mut self, mut hook: Hook) {
        if self.hooks.last().is_some_and(|last| last.repeats(&hook)) {
            return;
        }
        let index = self.hooks.len();
        hook.ordinal = Ordinal(self.next);
        self.next = self.next.saturating_add(1);
        self.by_event.entry(hook.event).or_default().push(index);
        self.hooks.push(hook);
    }

    /// Some of the hooks, under the numbers they have.
    pub fn only(&self, keep: impl Fn(&Hook) -> bool) -> Self {
        let mut list = Self { next: self.next, ..Self::default() };
        for hook in self.hooks.iter().filter(|hook| keep(hook)) {
            list.by_event.entry(hook.event).or_default().push(list.hooks.len());
            list.hooks.push(hook.clone());
        }
        list
    }

    pub fn of(&self, event: EventName) -> impl Iterator<Item = &Hook> {
        self.by_event.get(&event).into_iter().flatten().map(|index| &self.hooks[*index])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Hook> {
        self.hooks.iter()
    }

    pub fn len(&self) -> usize {
        self.hooks.len()
    }

    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty()
    }
}
