//! What the session does while a turn has it: nothing of it needs the turn to pause.

use super::{EventSender, SessionEvent};
use ona_api::row::SessionKey;
use ona_api::{Group, Mode, Phase, Row};
use ona_commands::SessionRunner;
use ona_orchestration::choose_plan_mode;
use ona_permissions::PermissionEngine;
use ona_store::{Store, StoreError};
use std::sync::{Arc, PoisonError, RwLock};

/// `state` key of the prompts that wait in the composer of a session; the session id follows.
const QUEUE: &str = "terminal_queue:";

/// A session as far as it can be changed beside its turn.
pub(super) struct Meanwhile {
    store: Arc<Store>,
    place: SessionKey,
    rules: Arc<RwLock<PermissionEngine>>,
    events: EventSender,
}

impl Meanwhile {
    pub(super) fn of(runner: &SessionRunner<'_>, events: &EventSender) -> Self {
        Self {
            store: Arc::clone(&runner.parts.open.store),
            place: runner.session.place.clone(),
            rules: runner.parts.runtime.rules(),
            events: events.clone(),
        }
    }

    /// In plan mode a prompt begins planning where no plan is being worked on (DEC-195).
    pub(super) async fn follow_plan_mode(&self) -> Result<(), StoreError> {
        let plans = {
            let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
            rules.mode() == Mode::Plan && rules.before_planning().is_none()
        };
        if !plans {
            return Ok(());
        }
        if let Err(why) = choose_plan_mode(&self.store, &self.place, &self.rules).await? {
            self.events.send(SessionEvent::Note(why));
        }
        let phase = self.store.reader()?.phase(&self.place.conversation)?;
        self.events.send(SessionEvent::Phase(phase.unwrap_or(Phase::Idle)));
        Ok(())
    }

    /// Keeps what waits, so that a killed program does not lose it.
    pub(super) async fn keep_queue(&self, texts: &[String]) -> Result<(), StoreError> {
        let value = match texts {
            [] => String::new(),
            texts => serde_json::json!(texts).to_string(),
        };
        let row = Row::State { key: self.key(), value };
        self.store.commit(&self.place, Group(vec![row])).await.map(drop)
    }

    /// Hands what waited when the program was killed to the composer.
    pub(super) fn restore_queue(&self) -> Result<(), StoreError> {
        let kept = self.store.reader()?.state(&self.place.conversation, &self.key())?.unwrap_or_default();
        let texts: Vec<String> = serde_json::from_str(&kept).unwrap_or_default();
        if !texts.is_empty() {
            self.events.send(SessionEvent::Queued(texts));
        }
        Ok(())
    }

    fn key(&self) -> String {
        format!("{QUEUE}{}", self.place.session)
    }
}
