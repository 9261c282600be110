//! Moves to another session of the same run.

use super::{SessionRunner, refused};
use ona_api::SessionId;
use ona_orchestration::{TurnOutcome, clear};
use ona_runtime::session_start::SessionError;

impl SessionRunner<'_> {
    /// Ends the session and begins the next one of its conversation (DEC-103), unless a module objects.
    pub(super) async fn clear(&mut self) -> Result<TurnOutcome, SessionError> {
        let Self { parts, session, ready, locks, .. } = self;
        if !parts.modules_allow_new_session(session).await? {
            return Ok(refused("A hook module cancelled /clear; the session goes on."));
        }
        let before = session.place.session.0.clone();
        parts.overrides.model = ready.model().map(|model| model.choice.model_id.to_owned());
        let id = SessionId::random();
        locks.push(parts.launch.lock_session(&id)?);
        clear(&parts.open.store, &parts.runtime.hooks, session, &parts.events, id).await?;
        if let Some(worktree) = &parts.worktree {
            parts.runtime.remember_worktree(parts.open, session, worktree)?;
        }
        parts.observer.entered(session);
        parts.notify_new_session(session, before).await?;
        *ready = parts.prepare(session, "clear").await?;
        Ok(TurnOutcome::nothing())
    }
}
