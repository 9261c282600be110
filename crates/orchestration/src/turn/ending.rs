//! How a turn ends: Stop hooks that may object, a failure, a hook's stop, an interrupt. Whatever
//! it is, the transcript left behind is one a provider accepts.

use super::prompt::user;
use super::{Activity, Cut, PromptSource, Turn, TurnEnd};
use crate::events::TurnEvent;
use crate::history::History;
use crate::lifecycle::{fire, tell};
use crate::records;
use crate::session::Session;
use ona_api::model::ModelFailure;
use ona_api::{EventName, Group, LoggedEvent, Row};
use ona_hookplane::Firing;
use ona_store::StoreError;
use ona_transcript::STOP_FEEDBACK;
use serde_json::json;

/// How often in a row Stop hooks may send the agent back to work (DEC-050).
const STOP_BLOCKS: u32 = 8;

impl Turn {
    /// Stop hooks, and how the turn ends; `None` if one of them sent the agent back to work.
    pub(super) async fn stop(
        &self,
        session: &mut Session,
        blocks: u32,
        text: &str,
    ) -> Result<Option<TurnEnd>, StoreError> {
        let mut fields = json!({"stop_hook_active": blocks > 0});
        let (event, said) = match &self.prompt_source {
            PromptSource::Operator => {
                fields["last_assistant_message"] = text.into();
                (EventName::Stop, fire(&self.pipeline.hooks, session, EventName::Stop, fields).await)
            }
            PromptSource::Agent(parent) => {
                fields["agent_id"] = json!(session.agent_id);
                fields["agent_transcript_path"] = "".into();
                fields["agent_type"] = json!(session.agent_type);
                fields["last_assistant_message"] = text.into();
                let firing = Firing::new(EventName::SubagentStop, (**parent).clone(), fields);
                (EventName::SubagentStop, self.pipeline.hooks.fire(firing).await)
            }
            PromptSource::Hook => return Ok(Some(TurnEnd::Done)),
        };
        let mut group = Group::default();
        records::chain(&mut group, event, None, &said);
        let ended = match (&said.stop, said.is_denied()) {
            (Some((_, reason)), _) => Some(TurnEnd::Stopped { reason: reason.clone() }),
            (None, true) if blocks < STOP_BLOCKS => {
                let feedback: Vec<_> = said.blocks.iter().map(|(_, text)| text.as_str()).collect();
                group.push(Row::Transcript(user(&format!("{STOP_FEEDBACK}{}", feedback.join("\n")), None)));
                None
            }
            (None, true) => Some(TurnEnd::NeverStopped {
                message: format!("{event} hooks blocked {STOP_BLOCKS} times in a row; the turn was ended"),
            }),
            (None, false) => Some(TurnEnd::Done),
        };
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(ended)
    }

    /// StopFailure takes the place of Stop (DEC-089).
    pub(super) async fn stop_failure(
        &self,
        session: &mut Session,
        failure: &ModelFailure,
        text: &str,
    ) -> Result<(), StoreError> {
        let (class, details) = (failure.class.as_str(), failure.message.clone());
        let mut fields = json!({"error": class, "error_details": details});
        if !text.is_empty() {
            fields["last_assistant_message"] = text.into();
        }
        let said = fire(&self.pipeline.hooks, session, EventName::StopFailure, fields).await;
        let mut group = Group::default();
        group.log(LoggedEvent::StopFailure { class, details });
        records::chain(&mut group, EventName::StopFailure, None, &said);
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(())
    }

    /// An interrupt leaves a transcript a provider accepts: every call has a result.
    pub(super) async fn interrupted(
        &self,
        session: &Session,
        history: &mut History,
        during: Activity,
    ) -> Result<TurnEnd, StoreError> {
        history.refresh(&self.pipeline.store)?;
        self.answer_open(session, history, "Interrupted by the operator").await?;
        let mut group = Group::default();
        group.log(LoggedEvent::Interrupted { case: None });
        self.pipeline.store.commit(&session.place, group).await?;
        Ok(TurnEnd::Interrupted(during))
    }

    pub(super) async fn answer_open(
        &self,
        session: &Session,
        history: &History,
        words: &str,
    ) -> Result<(), StoreError> {
        let rows = ona_transcript::answer_open_calls(history.state(), words);
        let group = Group(rows.into_iter().map(Row::Transcript).collect());
        self.pipeline.store.commit(&session.place, group).await.map(drop)
    }

    pub(super) async fn cut_short(
        &self,
        session: &Session,
        history: &mut History,
        cut: Cut,
    ) -> Result<TurnEnd, StoreError> {
        match cut {
            Cut::Stopped(reason) => {
                history.refresh(&self.pipeline.store)?;
                self.answer_open(session, history, &format!("Stopped by hook: {reason}")).await?;
                Ok(TurnEnd::Stopped { reason })
            }
            Cut::Interrupted => self.interrupted(session, history, Activity::Tools).await,
        }
    }

    /// A turn that ends early because a hook said so must not look like one that is done.
    pub(super) fn say_why(&self, ended: &TurnEnd) {
        if let TurnEnd::Stopped { reason } = ended {
            let colon = if reason.is_empty() { "" } else { ": " };
            (self.events)(TurnEvent::Message(format!("Stopped by hook{colon}{reason}")));
        }
    }
}
