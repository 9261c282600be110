//! Records that a model is asked under another name than its id's own (DEC-080): once per
//! session and name, also after a resume.

use super::Turn;
use crate::model::Model;
use crate::session::Session;
use ona_api::{Group, LoggedEvent, Row};
use ona_store::StoreError;

impl Turn {
    pub(super) async fn record_wire_name(&self, session: &Session, model: &Model) -> Result<(), StoreError> {
        let choice = &model.choice;
        if !choice.overridden {
            return Ok(());
        }
        let store = &self.pipeline.store;
        let key = format!("wire_model_override:{}:{}", session.place.session, choice.model_id);
        if store.reader()?.state(&session.place.conversation, &key)?.as_ref() == Some(&choice.wire_model) {
            return Ok(());
        }
        let mut group = Group::default();
        group.log(LoggedEvent::WireModelOverride {
            provider: choice.provider.as_str(),
            model_id: choice.model_id.to_owned(),
            wire_model: choice.wire_model.clone(),
        });
        group.push(Row::State { key, value: choice.wire_model.clone() });
        store.commit(&session.place, group).await.map(drop)
    }
}
