//! What hook modules decide about lines and sessions: their commands, and whether a session may be left or resumed.

use super::{SessionParts, SessionRunner, begin_turn, refused};
use ona_api::row::SessionKey;
use ona_modules::rules::ModuleEvent;
use ona_orchestration::{
    DeliveryPoint, History, ModuleCommandResult, ResumeKind, Session, Turn, TurnEnd, TurnOutcome, UserPrompt,
};
use ona_runtime::session_start::{Preparation, SessionError};
use ona_runtime::{Failure, session_choice::Begin};
use ona_store::{SessionLock, StoreError};
use tokio_util::sync::CancellationToken;

/// Maximum number of rounds of commands that request further commands.
const MAX_FOLLOW_UPS: usize = 8;

impl SessionRunner<'_> {
    /// Tells modules that one of their keys was pressed; returns what went wrong.
    pub async fn press_shortcut(&mut self, key: &str) -> Result<Option<String>, SessionError> {
        let Self { parts, session, ready, .. } = self;
        let Some(modules) = session.modules.clone() else { return Ok(Some("no hook module is loaded".into())) };
        if let Preparation::Ready(ready) = ready {
            begin_turn(parts, session, &mut ready.turn);
        }
        modules.host.enter(&session.place, &session.cx.cancel);
        let pressed = modules.emitter.press(key, &session.cx.cancel).await;
        modules.deliver(&parts.open.store, session, DeliveryPoint::ModelCall).await?;
        Ok(match pressed {
            None => Some("no hook module has registered it".into()),
            Some(answer) => ona_modules::rules::failure(&answer),
        })
    }
}

impl SessionParts<'_> {
    /// Returns whether modules allow a new session to replace this one.
    pub(crate) async fn modules_allow_new_session(&self, session: &Session) -> Result<bool, StoreError> {
        let Some(modules) = &session.modules else { return Ok(true) };
        let event = ModuleEvent::SessionBeforeSwitch { reason: "new", target: None };
        let outcome = modules.fire(&self.open.store, session, event, &self.cancellation.token()).await?;
        Ok(!outcome.is_cancelled())
    }

    /// Asks modules before a session is resumed; a cancellation ends the run (DEC-008).
    pub async fn check_resume(&self, begin: &Begin) -> Result<(), Failure> {
        let Some(modules) = self.runtime.modules.as_ref().filter(|_| begin.source == "resume") else { return Ok(()) };
        let (session, how) = match &begin.copy_of {
            Some(from) => (from.clone(), ResumeKind::Fork),
            None => (begin.place.session.clone(), ResumeKind::Itself),
        };
        let place = SessionKey { session, ..begin.place.clone() };
        let may = modules.may_resume(&self.open.store, &place, how, &self.cancellation.token()).await;
        if may.map_err(|error| self.launch.store_failure(error))? {
            return Ok(());
        }
        Err(Failure::refused(format_args!("a hook module cancelled resuming session {}", place.session)))
    }

    pub(crate) async fn notify_new_session(&self, session: &Session, previous: String) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        modules.host.enter(&session.place, &self.cancellation.token());
        let event = ModuleEvent::SessionSwitch { reason: "new", previous: Some(previous) };
        modules.fire(&self.open.store, session, event, &self.cancellation.token()).await.map(drop)
    }

    /// Notifies modules that the run ends, also after an interrupt: the deadline of handlers is short.
    pub(crate) async fn notify_shutdown(&self, session: &Session) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        let event = ModuleEvent::SessionShutdown;
        modules.fire(&self.open.store, session, event, &CancellationToken::new()).await.map(drop)
    }

    /// Returns the prompt as modules changed it, or `None` if one of them handled it.
    pub(crate) async fn prompt_through_modules(
        &self,
        session: &Session,
        mut prompt: UserPrompt,
    ) -> Result<Option<UserPrompt>, StoreError> {
        let Some(modules) = &session.modules else { return Ok(Some(prompt)) };
        let text = modules.input(&self.open.store, session, &prompt.text, &self.cancellation.token()).await?;
        Ok(text.map(|text| {
            prompt.text = text;
            prompt
        }))
    }

    /// Runs the commands that modules requested while something else ran. Each may request more, up
    /// to a limit.
    pub(crate) async fn run_queued_commands(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        locks: &mut Vec<SessionLock>,
    ) -> Result<(), SessionError> {
        let Some(modules) = session.modules.clone() else { return Ok(()) };
        for _ in 0..MAX_FOLLOW_UPS {
            let lines = modules.host.command_lines();
            if lines.is_empty() {
                return Ok(());
            }
            for line in lines {
                let ran = self.run_module_command(turn, session, history, &line, locks).await?;
                if let Some(TurnOutcome { ended: TurnEnd::Blocked { message }, .. }) = ran {
                    self.observer.note(&format!("ona: {line}: {message}"));
                }
            }
        }
        Ok(())
    }

    /// Runs a prompt that is a command of a module, and the turn that the command starts.
    pub(crate) async fn run_module_command(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        text: &str,
        locks: &mut Vec<SessionLock>,
    ) -> Result<Option<TurnOutcome>, SessionError> {
        let Some(modules) = session.modules.clone() else { return Ok(None) };
        modules.host.enter(&session.place, &turn.cancel);
        let Some(line) = text.strip_prefix('/') else { return Ok(None) };
        let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let ran = modules.command(&self.open.store, session, name, args.trim(), &turn.cancel).await?;
        let Some(ModuleCommandResult { error, wakes }) = ran else { return Ok(None) };
        let switched = modules.host.switched();
        let stays = switched.is_none();
        if let Some(place) = switched {
            if place.session != session.place.session {
                locks.push(self.launch.lock_session(&place.session)?);
                session.place = place;
                self.observer.entered(session);
            } else {
                session.place = place;
            }
            self.runtime.registrar.enter(&session.place)?;
            *history = History::load(&self.open.store, &session.place.session, turn.current_model.model().wire())?;
        }
        match error {
            Some(message) => Ok(Some(refused(message))),
            // A new session has no prompt yet.
            None if stays || wakes => Ok(Some(turn.go_on(session, history).await?)),
            None => Ok(Some(TurnOutcome::nothing())),
        }
    }
}
