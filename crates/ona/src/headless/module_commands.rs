//! What hook modules have a say in here: their commands, and whether a session is left.

use super::{Run, Trouble};
use ona_api::row::SessionKey;
use ona_modules::rules::ModuleEvent;
use ona_orchestration::{History, ModuleCommandResult, ResumeKind, Session, Turn, TurnEnd, TurnOutcome, UserPrompt};
use ona_runtime::{Failure, session_choice::Begin};
use ona_store::{SessionLock, StoreError};
use tokio_util::sync::CancellationToken;

/// How often in a row commands may lead to further commands.
const MOST_FOLLOW_UPS: usize = 8;

impl Run<'_> {
    /// Whether modules let the session be left for a new one.
    pub(super) async fn may_leave(&self, session: &Session) -> Result<bool, StoreError> {
        let Some(modules) = &session.modules else { return Ok(true) };
        let event = ModuleEvent::SessionBeforeSwitch { reason: "new", target: None };
        let heard = modules.fire(&self.open.store, session, event, &self.cancellation.token()).await?;
        Ok(!heard.is_cancelled())
    }

    /// Asks modules before a run goes on with a session; a no ends the run (DEC-008).
    pub(super) async fn may_resume(&self, begin: &Begin) -> Result<(), Failure> {
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
        Err(Failure::refused(format_args!("a hook module cancelled going on with the session {}", place.session)))
    }

    /// Tells modules that the run goes on with a session.
    pub(super) async fn resumed(&self, session: &Session, how: ResumeKind) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        let event = ModuleEvent::SessionSwitch { reason: how.as_str(), previous: None };
        modules.fire(&self.open.store, session, event, &self.cancellation.token()).await.map(drop)
    }

    pub(super) async fn left(&self, session: &Session, previous: String) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        modules.host.enter(&session.place, &self.cancellation.token());
        let event = ModuleEvent::SessionSwitch { reason: "new", previous: Some(previous) };
        modules.fire(&self.open.store, session, event, &self.cancellation.token()).await.map(drop)
    }

    /// The run is over, also after an interrupt: the handlers' own deadline is short.
    pub(super) async fn shut_down(&self, session: &Session) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        let event = ModuleEvent::SessionShutdown;
        modules.fire(&self.open.store, session, event, &CancellationToken::new()).await.map(drop)
    }

    /// A prompt as modules leave it; nothing if one of them has seen to it.
    pub(super) async fn heard_by_modules(
        &self,
        session: &Session,
        mut said: UserPrompt,
    ) -> Result<Option<UserPrompt>, StoreError> {
        let Some(modules) = &session.modules else { return Ok(Some(said)) };
        let text = modules.input(&self.open.store, session, &said.text, &self.cancellation.token()).await?;
        Ok(text.map(|text| {
            said.text = text;
            said
        }))
    }

    /// Commands that modules asked for while something else ran. Each may ask for more; an end is
    /// put to that.
    pub(super) async fn follow_up(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        locks: &mut Vec<SessionLock>,
    ) -> Result<(), Trouble> {
        let Some(modules) = session.modules.clone() else { return Ok(()) };
        for _ in 0..MOST_FOLLOW_UPS {
            let lines = modules.host.command_lines();
            if lines.is_empty() {
                return Ok(());
            }
            for line in lines {
                let ran = self.command(turn, session, history, &line, locks).await?;
                if let Some(TurnOutcome { ended: TurnEnd::Blocked { message }, .. }) = ran {
                    self.teller.printer.note(&format!("ona: {line}: {message}"));
                }
            }
        }
        Ok(())
    }

    /// Runs a prompt that is a command of a module, and what the command sets in motion.
    pub(super) async fn command(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        text: &str,
        locks: &mut Vec<SessionLock>,
    ) -> Result<Option<TurnOutcome>, Trouble> {
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
                self.teller.printer.reset(&place.session.0);
            }
            session.place = place;
            self.runtime.registrar.enter(&session.place)?;
            *history = History::load(&self.open.store, &session.place.session, turn.current_model.model().wire())?;
        }
        match error {
            Some(message) => Ok(Some(refused(message))),
            // What a new session begins with is not yet a prompt.
            None if stays || wakes => Ok(Some(turn.go_on(session, history).await?)),
            None => Ok(Some(TurnOutcome::nothing())),
        }
    }
}

/// Nothing was done, and this is why.
pub(super) fn refused(message: impl Into<String>) -> TurnOutcome {
    TurnOutcome { ended: TurnEnd::Blocked { message: message.into() }, ..TurnOutcome::nothing() }
}
