//! Models without eyes: who refuses pictures is told about them in words (DEC-032).
//!
//! What a server takes is known only once it has refused. Then the same request goes out
//! once more without pictures, and the session remembers it for this model in `state`, so
//! that neither the next call nor a resumed session asks for another refusal.

use crate::events::{Events, TurnEvent};
use crate::history::History;
use crate::model::Model;
use crate::session::Session;
use crate::turn::Turn;
use ona_api::model::{Message, ModelFailure, Reply, RequestParams};
use ona_api::{Group, Row};
use ona_providers::classify::is_about_pictures;
use ona_store::StoreError;

/// Words for the operator, once per session and model.
const BLIND: &str = "The model does not take pictures; it is told about them in words from now on.";

impl Turn {
    /// Has the history speak as this session's model understands it.
    pub(crate) fn see(&self, session: &Session, history: &mut History, model: &Model) -> Result<(), StoreError> {
        let known = self.pipeline.store.reader()?.state(&session.place.conversation, &key(session, model))?;
        let wire = model.wire();
        history.speak(if known.is_some() { wire.text_only() } else { wire });
        Ok(())
    }

    /// Asks the model, and once more in words if it is the pictures that it refuses.
    pub(crate) async fn request_reply(
        &self,
        session: &Session,
        history: &mut History,
        model: &Model,
        events: &Events,
        instead: Option<&[Message]>,
    ) -> Result<Result<Reply, ModelFailure>, StoreError> {
        let offered = self.asking().await;
        let asking = session.asking(&offered);
        let failure = match self.request_once(&asking, history, model, events, instead).await {
            Ok(reply) => return Ok(Ok(reply)),
            Err(failure) => failure,
        };
        if !is_about_pictures(&failure) || !history.shows_pictures() {
            return Ok(Err(failure));
        }
        let refused = Row::State { key: key(session, model), value: failure.message };
        self.pipeline.store.commit(&session.place, Group(vec![refused])).await?;
        (self.events)(TurnEvent::Message(BLIND.to_owned()));
        self.see(session, history, model)?;
        Ok(self.request_once(&asking, history, model, events, instead).await)
    }

    /// One call, with the session's messages or with others in their place.
    async fn request_once(
        &self,
        asking: &RequestParams,
        history: &mut History,
        model: &Model,
        events: &Events,
        instead: Option<&[Message]>,
    ) -> Result<Reply, ModelFailure> {
        match instead {
            Some(messages) => {
                let dialogue = history.dialogue_of(messages);
                model.request(asking, &dialogue, events, &self.cancel).await
            }
            None => model.request(asking, history.dialogue(), events, &self.cancel).await,
        }
    }
}

fn key(session: &Session, model: &Model) -> String {
    format!("text_only:{}:{}", session.place.session, model.choice.wire_model)
}
