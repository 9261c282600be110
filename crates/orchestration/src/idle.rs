//! Notification (idle_prompt): nobody has typed for a while since the last turn ended (DEC-063).
//!
//! A front that waits for a prompt makes one, looks as often as it looks at anything else, and
//! begins again after each turn. Hooks are notified once per wait.

use crate::events::Events;
use crate::lifecycle::lifecycle;
use crate::session::Session;
use ona_api::EventName;
use ona_hookplane::HookEngine;
use ona_store::{Store, StoreError};
use serde_json::json;
use std::time::Duration;
use tokio::time::Instant;

#[derive(Debug)]
pub struct IdlePrompt {
    limit: Option<Duration>,
    /// `None` once hooks were notified.
    due: Option<Instant>,
}

impl IdlePrompt {
    /// `None`: nobody is ever notified.
    pub fn new(limit: Option<Duration>) -> Self {
        let mut idle = Self { limit, due: None };
        idle.begin();
        idle
    }

    /// The wait begins now.
    pub fn begin(&mut self) {
        self.due = self.limit.map(|limit| Instant::now() + limit);
    }

    /// Returns how long to sleep until the next look, at most `usual`.
    pub fn next_look(&self, usual: Duration) -> Duration {
        self.due.map_or(usual, |due| usual.min(due.saturating_duration_since(Instant::now())))
    }

    /// Notifies hooks if the wait has been long enough.
    pub async fn look(
        &mut self,
        store: &Store,
        hooks: &HookEngine,
        session: &mut Session,
        events: &Events,
    ) -> Result<(), StoreError> {
        if self.due.is_none_or(|due| due > Instant::now()) {
            return Ok(());
        }
        self.due = None;
        let fields = json!({
            "message": "ona is waiting for your input", "title": "ona", "notification_type": "idle_prompt",
        });
        lifecycle(store, hooks, session, events, EventName::Notification, fields).await.map(drop)
    }
}
