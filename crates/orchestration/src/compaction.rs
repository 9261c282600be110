//! A summary in place of what came before, when the context fills or somebody asks (DEC-035).

use crate::context;
use crate::events::{Compaction, Events, TurnEvent};
use crate::history::History;
use crate::lifecycle::lifecycle;
use crate::model::Model;
use crate::session::Session;
use crate::turn::{Turn, used};
use ona_api::model::{Message, Part, Role};
use ona_api::{EventKind, EventName, Group, Row};
use ona_store::StoreError;
use ona_transcript::Trigger;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// Messages there are when a summary and a word or two are all there is.
const FRESHLY_COMPACTED: usize = 3;

impl Turn {
    /// Compacts when the next request would fill most of the context (DEC-035).
    pub(crate) async fn make_room(
        &self,
        session: &mut Session,
        history: &mut History,
        model: &Model,
    ) -> Result<(), StoreError> {
        let Some(context) = model.context() else { return Ok(()) };
        // A prompt alone, or little more than its own summary, gets no smaller.
        let least = if history.state().is_collapsed() { FRESHLY_COMPACTED } else { 1 };
        let worthwhile = history.messages().len() > least;
        if worthwhile && ona_transcript::due(context, history.weight() + self.asking.weight()) {
            self.compact(session, history, Trigger::Auto, None).await?;
        }
        Ok(())
    }

    /// PreCompact, the summary, one row, PostCompact, SessionStart. A failure leaves
    /// everything as it was.
    pub async fn compact(
        &self,
        session: &mut Session,
        history: &mut History,
        trigger: Trigger,
        wish: Option<&str>,
    ) -> Result<(), StoreError> {
        let Some(covers_to) = history.state().last_sequence() else { return Ok(()) };
        let (store, hooks) = (&*self.pipeline.store, &*self.pipeline.hooks);
        let fields = json!({"trigger": trigger.as_str(), "custom_instructions": wish});
        let pre = lifecycle(store, hooks, session, &self.events, EventName::PreCompact, fields).await?;
        if pre.is_denied() {
            return Ok(());
        }
        (self.events)(TurnEvent::Compacting);
        let (began, before) = (Instant::now(), ona_transcript::tokens(history.weight()));
        let model = self.seat.model();
        self.see(session, history, &model)?;
        let request = ona_transcript::summary_request(wish.as_slice());
        let dialogue = history.dialogue_with(Message { role: Role::User, parts: vec![Part::Text(request)] });
        let reply = match model.ask(&self.asking, &dialogue, &without_words(&self.events), &self.cancel).await {
            Ok(reply) => reply,
            Err(failure) => {
                (self.events)(TurnEvent::NotCompacted { why: failure.message });
                return Ok(());
            }
        };
        let summary: String = reply
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        if summary.trim().is_empty() {
            (self.events)(TurnEvent::NotCompacted { why: "the model gave no summary".into() });
            return Ok(());
        }
        let mut group = Group::default();
        group.push(Row::Transcript(ona_transcript::commit(trigger, &summary, covers_to)));
        group.push(Row::Transcript(used(&model, &reply.usage)));
        group.event(EventKind::Compaction, json!({"trigger": trigger.as_str(), "covers_to_sequence": covers_to}));
        store.commit(&session.place, group).await?;
        history.refresh(store)?;
        let after = ona_transcript::tokens(history.weight());
        (self.events)(TurnEvent::Compacted(Compaction { trigger, before, after, took: began.elapsed() }));
        let fields = json!({"trigger": trigger.as_str(), "compact_summary": summary});
        lifecycle(store, hooks, session, &self.events, EventName::PostCompact, fields).await?;
        let fields = json!({"source": "compact", "model": model.choice.wire_model});
        lifecycle(store, hooks, session, &self.events, EventName::SessionStart, fields).await?;
        context::compacted(store, hooks, session, &self.events).await?;
        history.refresh(store)
    }
}

/// For a call whose words are not part of the conversation.
fn without_words(events: &Events) -> Events {
    let events = Arc::clone(events);
    Arc::new(move |event| {
        if matches!(event, TurnEvent::Requested { .. } | TurnEvent::Retrying { .. }) {
            events(event);
        }
    })
}
