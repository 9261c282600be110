//! Moves to another session of the same run.

use super::answers::Said;
use super::{SessionRunner, refused};
use crate::texts;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{Entry, Group, Row, SessionId, SessionOrigin};
use ona_orchestration::{
    History, RewindPrompt, RewindScope, RewindTarget, SessionEndReason, TurnOutcome, clear, end_session,
};
use ona_permissions::printable;
use ona_runtime::session_choice::Begin;
use ona_runtime::session_start::{Preparation, SessionError};
use serde_json::json;
use std::sync::PoisonError;

impl SessionRunner<'_> {
    /// Ends the session and begins the next one of its conversation (DEC-103), unless a module objects.
    pub(super) async fn clear(&mut self) -> Result<TurnOutcome, SessionError> {
        let Self { parts, session, ready, locks, held, .. } = self;
        if !parts.modules_allow_new_session(session).await? {
            return Ok(refused("A hook module cancelled /clear; the session goes on."));
        }
        let before = session.place.session.0.clone();
        parts.overrides.model = ready.model().map(|model| model.choice.model_id.to_owned());
        let id = SessionId::random();
        locks.push(parts.launch.lock_session(&id)?);
        held.push(id.clone());
        clear(&parts.open.store, &parts.runtime.hooks, session, &parts.events, id).await?;
        if let Some(worktree) = &parts.worktree {
            parts.runtime.remember_worktree(parts.open, session, worktree)?;
        }
        parts.observer.entered(session);
        parts.notify_new_session(session, before).await?;
        *ready = parts.prepare(session, "clear").await?;
        Ok(TurnOutcome::nothing())
    }

    /// Continues another session, unless a module objects.
    pub(super) async fn resume(&mut self, rest: &str) -> Said {
        let id = SessionId::from(rest);
        let owner = self.parts.open.store.reader()?.conversation_of(&id)?;
        let Some(conversation) = owner else { return Ok(Err(format!("session {id} does not exist"))) };
        if id == self.session.place.session {
            return Ok(Ok("This is the session.".to_owned()));
        }
        let place = SessionKey { conversation, session: id, start: SequenceStart::Zero };
        self.enter(Begin { place, source: "resume", copy_of: None }).await
    }

    /// Continues in a copy; the original stays as it is.
    pub(super) async fn branch(&mut self, name: &str) -> Said {
        let from = self.session.place.session.clone();
        let place = SessionKey { session: SessionId::random(), ..self.session.place.clone() };
        let said = self.enter(Begin { place, source: "resume", copy_of: Some(from) }).await?;
        if said.is_ok() && !name.is_empty() {
            return Ok(self.set_name(name).await?.map(|name| format!("Continues in a copy, called **{name}**.")));
        }
        Ok(said)
    }

    async fn enter(&mut self, begin: Begin) -> Said {
        // One that this run was in before is still its own.
        let lock = match self.held.contains(&begin.place.session) {
            true => None,
            false => match self.parts.launch.lock_session(&begin.place.session) {
                Ok(lock) => Some(lock),
                Err(failure) => return Ok(Self::failed(&failure)),
            },
        };
        if let Err(failure) = self.parts.check_resume(&begin).await {
            return Ok(Self::failed(&failure));
        }
        let Self { parts, session, ready, locks, held, .. } = self;
        let (store, hooks) = (&parts.open.store, &parts.runtime.hooks);
        end_session(store, hooks, session, &parts.events, SessionEndReason::Resume).await?;
        hooks.unregister(|_| true);
        parts.overrides.model = ready.model().map(|model| model.choice.model_id.to_owned());
        let id = begin.place.session.clone();
        *session = parts.open_session(begin, SessionOrigin::Terminal).await?;
        session.cx.cancel = parts.cancellation.begin_turn();
        if let Some(lock) = lock {
            locks.push(lock);
            held.push(id.clone());
        }
        parts.observer.entered(session);
        *ready = parts.prepare(session, "resume").await?;
        Ok(Ok(format!("Continues in session {id}.")))
    }

    /// `/rewind N summary [WORDS]`: the conversation goes back to before a prompt, and a summary stands for
    /// what came after it. Files stay as they are.
    pub(super) async fn rewind_to_summary(&mut self, number: &str, words: &str) -> Said {
        let prompt = self.rewind_points()?.into_iter().find(|prompt| prompt.number.to_string() == number);
        let Some(prompt) = prompt else { return Ok(Err(format!("the conversation has no prompt {number}"))) };
        let mut question = format!("{} {}", texts::SUMMARY, prompt.text.lines().next().unwrap_or_default());
        if !words.is_empty() {
            question.push_str(&format!("\nWhat matters in it: {words}"));
        }
        let summary = match self.beside_text(question).await? {
            Ok(summary) => summary,
            Err(why) => return Ok(Err(format!("{why}; nothing was changed"))),
        };
        let said = self.rewind(&format!("{number} conversation"))?;
        if said.is_err() {
            return Ok(said);
        }
        let text = format!("The conversation went back. What was done after this, in a summary:\n{summary}");
        let serde_json::Value::Object(attachment) = json!({"kind": "text", "source": "rewind_summary", "text": text})
        else {
            return Ok(said);
        };
        let row = Row::Transcript(Entry::Attachment { attachment, call: None });
        self.parts.open.store.commit(&self.session.place, Group(vec![row])).await?;
        if let Preparation::Ready(ready) = &mut self.ready {
            ready.history.refresh(&self.parts.open.store)?;
        }
        Ok(Ok(format!("What came from there on is a summary now:\n\n{summary}")))
    }

    /// `/rewind N [both|conversation|files] [force]`, and without a number the prompts to choose from.
    pub(super) fn rewind(&mut self, rest: &str) -> Said {
        let mut words = rest.split_whitespace();
        let number = words.next();
        let (mut scope, mut force) = (RewindScope::Both, false);
        for word in words {
            match word {
                "both" => scope = RewindScope::Both,
                "conversation" => scope = RewindScope::Conversation,
                "files" | "code" => scope = RewindScope::Files,
                "force" => force = true,
                other => return Ok(Err(format!("{other} is none of both, conversation, files, force"))),
            }
        }
        let report = {
            let rules = self.session.rules.read().unwrap_or_else(PoisonError::into_inner);
            let rewinder = self.rewinder(&rules);
            let prompts = rewinder.prompts()?;
            let Some(number) = number else {
                let line = |prompt: &RewindPrompt| {
                    let text = prompt.text.lines().next().unwrap_or_default();
                    format!("{}. {} ({} files changed after it)", prompt.number, printable(text), prompt.files)
                };
                let lines: Vec<_> = prompts.iter().map(line).collect();
                return Ok(Ok(if lines.is_empty() {
                    "This session has no prompt yet.".into()
                } else {
                    lines.join("\n")
                }));
            };
            let Some(prompt) = prompts.into_iter().find(|prompt| prompt.number.to_string() == number) else {
                return Ok(Err(format!("the conversation has no prompt {number}")));
            };
            let plan = rewinder.plan(RewindTarget::Prompt(prompt), scope)?;
            let conflicts: Vec<_> = plan.conflicts().map(|step| printable(&step.shown)).collect();
            if !conflicts.is_empty() && !force {
                let files = conflicts.join(", ");
                return Ok(Err(format!(
                    "something else has changed these files since; add force to replace them: {files}"
                )));
            }
            let skipped: Vec<_> =
                plan.skipped().map(|(step, why)| format!("{}: {}", printable(&step.shown), why.words())).collect();
            (rewinder.apply(&plan)?, skipped)
        };
        if scope.has_conversation() {
            self.conversation_went_back()?;
            if let Preparation::Ready(ready) = &mut self.ready {
                let wire = ready.turn.current_model.model().wire();
                ready.history = History::load(&self.parts.open.store, &self.session.place.session, wire)?;
            }
        }
        let (report, skipped) = report;
        let mut text = format!("Rewound: {}; {} files restored.", scope.as_str(), report.done.len());
        for (path, why) in &report.failed {
            text.push_str(&format!("\n- not restored: {}: {why}", printable(path)));
        }
        for line in skipped {
            text.push_str(&format!("\n- cannot be restored: {line}"));
        }
        Ok(Ok(text))
    }
}
