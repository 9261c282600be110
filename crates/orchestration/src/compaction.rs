//! A summary in place of what came before, when the context fills or on request (DEC-035).

use crate::context;
use crate::events::{Compaction, Events, TurnEvent};
use crate::history::History;
use crate::lifecycle::lifecycle;
use crate::model::Model;
use crate::modules::BeforeCompact;
use crate::session::Session;
use crate::turn::{ReplyFault, Turn, used};
use ona_api::model::{FailureClass, Message, ModelFailure, Part, Role, Usage};
use ona_api::{Entry, EventName, Group, LoggedEvent, Row};
use ona_modules::rules::ModuleEvent;
use ona_store::StoreError;
use ona_transcript::Trigger;
use serde_json::json;
use std::sync::Arc;
use std::time::Instant;

/// What came of compacting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compacted {
    /// This summary stands for what came before.
    To(String),
    /// A hook module said no.
    Cancelled,
    /// There was nothing to compact, or a hook said no; everything is as it was.
    Not,
    /// The model gave no summary; everything is as it was.
    Failed(ModelFailure),
}

/// What a person reads who asked for it.
pub const CANCELLED: &str = "Compaction cancelled";

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
        model.look_up(&self.cancel).await;
        let Some(context) = model.context() else { return Ok(()) };
        // A prompt alone, or little more than its own summary, gets no smaller.
        let least = if history.state().is_collapsed() { FRESHLY_COMPACTED } else { 1 };
        let worthwhile = history.messages().len() > least;
        if worthwhile
            && ona_transcript::is_compaction_due(context, history.approximate_size() + self.asking.approximate_size())
        {
            let modules = session.modules.clone();
            if let Some(modules) = &modules {
                let start = ModuleEvent::AutoCompactionStart { reason: "threshold" };
                modules.fire(&self.pipeline.store, session, start, &self.cancel).await?;
            }
            let summary = self.compact(session, history, Trigger::Auto, None).await?;
            if let Some(modules) = &modules {
                let result = match &summary {
                    Compacted::To(summary) => Some(json!({ "summary": summary })),
                    Compacted::Cancelled | Compacted::Not | Compacted::Failed(_) => None,
                };
                let end = ModuleEvent::AutoCompactionEnd { aborted: result.is_none(), result, error: None };
                modules.fire(&self.pipeline.store, session, end, &self.cancel).await?;
            }
        }
        Ok(())
    }

    /// PreCompact, the summary, one row, PostCompact, SessionStart. The summary, if there is
    /// one now; a failure leaves everything as it was.
    pub async fn compact(
        &self,
        session: &mut Session,
        history: &mut History,
        trigger: Trigger,
        wish: Option<&str>,
    ) -> Result<Compacted, StoreError> {
        // The prompt that was just typed is what the next request is about; no summary stands for it.
        let covers_to = match trigger {
            Trigger::Auto => history.state().last_before_prompt(),
            Trigger::Manual => history.state().last_sequence(),
        };
        let Some(covers_to) = covers_to else { return Ok(Compacted::Not) };
        let (store, hooks) = (&*self.pipeline.store, &*self.pipeline.hooks);
        let fields = json!({"trigger": trigger.as_str(), "custom_instructions": wish});
        let pre = lifecycle(store, hooks, session, &self.events, EventName::PreCompact, fields).await?;
        if pre.is_denied() {
            let why = pre.message();
            (self.events)(TurnEvent::Message(format!("A PreCompact hook cancelled the compaction: {why}")));
            return Ok(Compacted::Not);
        }
        let modules = session.modules.clone();
        let wanted = match &modules {
            Some(modules) => modules.before_compact(store, session, history, wish, &self.cancel).await?,
            None => BeforeCompact::default(),
        };
        if wanted.cancelled {
            (self.events)(TurnEvent::NotCompacted { why: CANCELLED.into() });
            return Ok(Compacted::Cancelled);
        }
        (self.events)(TurnEvent::Compacting);
        let (began, before) = (Instant::now(), ona_transcript::estimate_tokens(history.approximate_size()));
        let model = self.current_model.model();
        let from_module = wanted.summary.is_some();
        let (summary, usage) = match wanted.summary {
            Some(summary) => (summary, None),
            None => {
                let focus: Vec<_> = wish.into_iter().chain(wanted.focus.iter().map(String::as_str)).collect();
                let request = wanted.prompt.unwrap_or_else(|| ona_transcript::summary_request(&focus));
                self.see(session, history, &model)?;
                match self.summary(history, &model, request).await {
                    Ok((summary, usage)) => (summary, Some(usage)),
                    Err(failure) => {
                        (self.events)(TurnEvent::NotCompacted { why: failure.message.clone() });
                        return Ok(Compacted::Failed(failure));
                    }
                }
            }
        };
        if summary.trim().is_empty() {
            let why = "the model gave no summary";
            (self.events)(TurnEvent::NotCompacted { why: why.into() });
            return Ok(Compacted::Failed(ModelFailure {
                class: FailureClass::Unknown,
                message: why.into(),
                transient: false,
                retry_after: None,
                status: None,
            }));
        }
        let mut group = Group::default();
        let mut commit = ona_transcript::collapse_entry(trigger, &summary, covers_to);
        if let (Some(kept), Entry::CollapseCommit { fields }) = (wanted.preserved, &mut commit) {
            fields.insert("preserve_data".into(), kept);
        }
        group.push(Row::Transcript(commit));
        group.0.extend(usage.map(|usage| Row::Transcript(used(&model, &usage))));
        group.log(LoggedEvent::Compaction { trigger: trigger.as_str(), covers_to_sequence: covers_to });
        store.commit(&session.place, group).await?;
        history.refresh(store)?;
        let after = ona_transcript::estimate_tokens(history.approximate_size());
        (self.events)(TurnEvent::Compacted(Compaction { trigger, before, after, took: began.elapsed() }));
        let fields = json!({"trigger": trigger.as_str(), "compact_summary": summary});
        lifecycle(store, hooks, session, &self.events, EventName::PostCompact, fields).await?;
        if let Some(modules) = &modules {
            modules.compacted(store, session, from_module, &self.cancel).await?;
        }
        let fields = json!({"source": "compact", "model": model.choice.wire_model});
        lifecycle(store, hooks, session, &self.events, EventName::SessionStart, fields).await?;
        context::compacted(store, hooks, session, &self.events).await?;
        history.refresh(store)?;
        Ok(Compacted::To(summary))
    }

    /// Asks the model something that is not part of the conversation: no tool runs, and only the tokens are
    /// recorded.
    pub async fn ask_beside(
        &self,
        session: &mut Session,
        history: &mut History,
        question: String,
    ) -> Result<Result<String, ModelFailure>, StoreError> {
        let model = self.current_model.model();
        self.see(session, history, &model)?;
        let (answer, usage) = match self.summary(history, &model, question).await {
            Ok(answered) => answered,
            Err(failure) => return Ok(Err(failure)),
        };
        let row = Row::Transcript(used(&model, &usage));
        self.pipeline.store.commit(&session.place, Group(vec![row])).await?;
        history.refresh(&self.pipeline.store)?;
        Ok(Ok(answer))
    }

    /// What the model makes of the history.
    async fn summary(
        &self,
        history: &mut History,
        model: &Model,
        request: String,
    ) -> Result<(String, Usage), ModelFailure> {
        let dialogue = history.dialogue_with(Message { role: Role::User, parts: vec![Part::Text(request)] });
        let reply = model.request(&*self.asking().await, &dialogue, &without_words(&self.events), &self.cancel).await?;
        // The beginning of a summary is better than none.
        if let Some(fault) = ReplyFault::of(&reply).filter(|fault| fault.failure.class != FailureClass::MaxOutputTokens)
        {
            return Err(fault.failure);
        }
        let text = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            _ => None,
        };
        Ok((reply.parts.iter().filter_map(text).collect(), reply.usage))
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
