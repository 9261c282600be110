//! What hook modules have a say in here: their commands, and whether a session is left.

use super::Run;
use ona_modules::rules::Event;
use ona_orchestration::{Ended, History, Session, Turn, TurnOutcome};
use ona_store::StoreError;
use tokio_util::sync::CancellationToken;

impl Run<'_> {
    /// Whether modules let the session be left for a new one.
    pub(super) async fn may_leave(&self, session: &Session) -> Result<bool, StoreError> {
        let Some(modules) = &session.modules else { return Ok(true) };
        let event = Event::SessionBeforeSwitch { reason: "new", target: None };
        let heard = modules.fire(&self.open.store, session, event, &self.halt.token()).await?;
        Ok(!heard.is_cancelled())
    }

    pub(super) async fn left(&self, session: &Session, previous: String) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        modules.host.enter(&session.place, &self.halt.token());
        let event = Event::SessionSwitch { reason: "new", previous: Some(previous) };
        modules.fire(&self.open.store, session, event, &self.halt.token()).await.map(drop)
    }

    /// The run is over, also after an interrupt: the handlers' own deadline is short.
    pub(super) async fn shut_down(&self, session: &Session) -> Result<(), StoreError> {
        let Some(modules) = &session.modules else { return Ok(()) };
        let event = Event::SessionShutdown;
        modules.fire(&self.open.store, session, event, &CancellationToken::new()).await.map(drop)
    }

    /// Runs a prompt that is a command of a module, and what the command sets in motion.
    pub(super) async fn command(
        &self,
        turn: &Turn,
        session: &mut Session,
        history: &mut History,
        text: &str,
    ) -> Result<Option<TurnOutcome>, StoreError> {
        let Some(modules) = session.modules.clone() else { return Ok(None) };
        modules.host.enter(&session.place, &turn.cancel);
        let Some(line) = text.strip_prefix('/') else { return Ok(None) };
        let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let ran = modules.command(&self.open.store, session, name, args.trim(), &turn.cancel).await?;
        let Some(ran) = ran else { return Ok(None) };
        if let Some(place) = modules.host.switched() {
            session.place = place;
            self.workplace.registrar.enter(&session.place)?;
            *history = History::load(&self.open.store, &session.place.session, turn.seat.model().wire())?;
            return Ok(Some(nothing_said(ran)));
        }
        match ran {
            Ok(()) => turn.go_on(session, history).await.map(Some),
            Err(_) => Ok(Some(nothing_said(ran))),
        }
    }
}

/// A command that asked the model nothing.
fn nothing_said(ran: Result<(), String>) -> TurnOutcome {
    let ended = match ran {
        Ok(()) => Ended::Done,
        Err(message) => Ended::Blocked { message },
    };
    TurnOutcome { ended, ..TurnOutcome::nothing() }
}
