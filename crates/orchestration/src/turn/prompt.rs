//! Taking in a prompt: hooks first, then the user row and everything that stands attachments it.

use super::{Activity, PromptSource, Turn, TurnEnd};
use crate::events::TurnEvent;
use crate::lifecycle::{fire, tell};
use crate::records;
use crate::session::Session;
use crate::user_prompt::UserPrompt;
use ona_api::row::Block;
use ona_api::{CallId, Entry, EventName, Group, LoggedEvent, Row, SystemEntry};
use ona_store::StoreError;
use serde_json::json;

impl Turn {
    /// Hooks first, then the user row and what belongs to it (section 2.5, step 3).
    pub(super) async fn submit(
        &self,
        session: &mut Session,
        words: &UserPrompt,
    ) -> Result<Option<TurnEnd>, StoreError> {
        let prompt = words.text.as_str();
        let event = EventName::UserPromptSubmit;
        let said = match self.prompt_source {
            PromptSource::Operator => fire(&self.pipeline.hooks, session, event, json!({ "prompt": prompt })).await,
            // What one agent asks of another is not a prompt of the user.
            PromptSource::Agent(_) | PromptSource::Hook => ona_hookplane::HookOutcome::default(),
        };
        let mut group = Group::default();
        let ended = if said.is_denied() {
            // The text is erased: only the refusal is recorded (DEC-034).
            let message = said.message();
            group.append(said.rows());
            let entry = SystemEntry::PromptBlocked { message: message.clone() };
            group.push(Row::Transcript(Entry::System(entry)));
            // Hooks that were cut short have not said yes: the prompt is not kept either.
            let interrupted = self.cancel.is_cancelled();
            if interrupted {
                group.log(LoggedEvent::Interrupted { case: None });
            }
            Some(if interrupted { TurnEnd::Interrupted(Activity::Asking) } else { TurnEnd::Blocked { message } })
        } else {
            if let Some(typed) = &words.typed {
                group.push(Row::Transcript(Entry::System(SystemEntry::Command { typed: typed.clone() })));
            }
            group.push(Row::Transcript(user(prompt, words.uuid.clone())));
            if matches!(self.prompt_source, PromptSource::Operator) {
                let attachments = self.pipeline.attachments(session, words).await;
                group.append(attachments.group);
                for message in attachments.messages {
                    (self.events)(TurnEvent::Message(message));
                }
                let project = session.cx.project.clone();
                group.append(session.context.recall(self.pipeline.store.reader()?, prompt, &project)?);
            }
            if let Some(modules) = &session.modules {
                let store = &self.pipeline.store;
                let system = &self.asking.system;
                group.append(modules.before_agent_start(store, session, prompt, system, &self.cancel).await?);
            }
            records::chain(&mut group, event, None, &said);
            said.stop.as_ref().map(|(_, reason)| TurnEnd::Stopped { reason: reason.clone() })
        };
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(ended)
    }
}

pub(super) fn user(text: &str, uuid: Option<String>) -> Entry {
    // A prompt may be a picture alone.
    let content = if text.is_empty() { Vec::new() } else { vec![Block::Text(text.to_owned())] };
    Entry::User { uuid: uuid.unwrap_or_else(|| CallId::random().0), content }
}
