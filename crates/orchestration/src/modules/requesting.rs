//! A model call that modules take part in: they may change what is sent, and they hear
//! of every further attempt.

use super::Modules;
use crate::events::{Events, TurnEvent};
use crate::history::History;
use crate::model::Model;
use crate::session::Session;
use crate::turn::Turn;
use ona_api::model::{ModelFailure, Reply};
use ona_modules::rules::ModuleEvent;
use ona_store::StoreError;
use std::sync::Arc;
use tokio::sync::mpsc::unbounded_channel;

impl Modules {
    pub(crate) async fn request_reply(
        &self,
        turn: &Turn,
        session: &Session,
        history: &mut History,
        model: &Model,
        events: &Events,
    ) -> Result<Result<Reply, ModelFailure>, StoreError> {
        let store = &*turn.pipeline.store;
        self.next_turn(store, session, &turn.cancel).await?;
        let changed = self.context(store, session, &turn.cancel).await?;
        let (tell, mut retries) = unbounded_channel();
        let own = Arc::clone(events);
        let events: Events = Arc::new(move |event| {
            if let TurnEvent::Retrying { attempt, limit, wait, failure } = &event {
                let delay_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let error = failure.message.clone();
                let start = ModuleEvent::AutoRetryStart { attempt: *attempt, max_attempts: *limit, delay_ms, error };
                // Heard below for as long as the call lasts.
                tell.send((*attempt, start)).ok();
            }
            own(event);
        });
        let asked = turn.request_reply(session, history, model, &events, changed.as_deref());
        tokio::pin!(asked);
        let mut attempts = 0;
        let reply = loop {
            tokio::select! {
                biased;
                Some((attempt, start)) = retries.recv() => {
                    attempts = attempt;
                    self.fire(store, session, start, &turn.cancel).await?;
                }
                reply = &mut asked => break reply?,
            }
        };
        if attempts > 0 {
            let final_error = reply.as_ref().err().map(|failure| failure.message.clone());
            let end = ModuleEvent::AutoRetryEnd { success: reply.is_ok(), attempt: attempts, final_error };
            self.fire(store, session, end, &turn.cancel).await?;
        }
        Ok(reply)
    }
}
