//! What a turn remembers of a model request while it runs: attempts that failed, for the record,
//! and what has arrived of the reply, so that an interrupt does not lose it.

use super::Turn;
use crate::events::{Events, TurnEvent};
use crate::records;
use crate::session::Session;
use ona_api::model::Reply;
use ona_api::{Entry, Group, Row};
use ona_providers::Assembler;
use ona_store::StoreError;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Clone, Default)]
pub(super) struct RequestWatch(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    /// Rows about attempts that failed, until the request is over.
    retries: Vec<Value>,
    /// What the newest attempt has received.
    received: Assembler,
}

impl RequestWatch {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what the newest attempt had received when the request was interrupted.
    pub(super) fn partial_reply(&self) -> Reply {
        std::mem::take(&mut self.lock().received).interrupted()
    }

    fn note(&self, event: &TurnEvent) {
        match event {
            TurnEvent::Requesting { .. } => self.lock().received = Assembler::default(),
            TurnEvent::Delta(delta) => self.lock().received.push(delta),
            TurnEvent::Retrying { attempt, wait, failure, .. } => {
                let (class, delay) = (failure.class.as_str(), wait.as_millis() as u64);
                let data = json!({"kind": "api_retry", "attempt": attempt, "delay_ms": delay, "error": class});
                self.lock().retries.push(data);
            }
            _ => {}
        }
    }
}

impl Turn {
    /// The turn's events, of which the watch sees each first.
    pub(super) fn watched(&self) -> (Events, RequestWatch) {
        let (events, watch) = (Arc::clone(&self.events), RequestWatch::default());
        let watching = watch.clone();
        let watched: Events = Arc::new(move |event| {
            watching.note(&event);
            events(event);
        });
        (watched, watch)
    }

    /// Records the attempts that failed.
    pub(super) async fn keep_retries(&self, session: &Session, watch: &RequestWatch) -> Result<(), StoreError> {
        let retries = std::mem::take(&mut watch.lock().retries);
        if retries.is_empty() {
            return Ok(());
        }
        let row = |data| Row::Transcript(Entry::Progress { data: records::object(data) });
        self.pipeline.store.commit(&session.place, Group(retries.into_iter().map(row).collect())).await.map(drop)
    }
}
