//! How a session ends, and how the next one of the same conversation begins (DEC-103).
//!
//! `/clear` ends the session and starts another: rows, phase and plan of the conversation
//! stay, the model's context is empty. Whatever else begins with a session (SessionStart
//! with source `clear`, instructions, tools) is the front end's to do, as for any other.

use crate::context::SessionContext;
use crate::events::Events;
use crate::lifecycle::lifecycle;
use crate::session::Session;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{EventName, Group, LoggedEvent, Row, SessionId, SessionOrigin};
use ona_hookplane::HookEngine;
use ona_store::{Store, StoreError};
use serde_json::json;
use std::sync::Arc;

/// Characters of the last reply that become the conversation's summary.
const SUMMARY: usize = 2_000;

/// SessionEnd's `reason`, as far as this build ends sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEndReason {
    Clear,
    /// Another session is continued.
    Resume,
    /// The operator logs out.
    Logout,
    /// The operator leaves the terminal.
    PromptInputExit,
    /// The run is over.
    Other,
}

impl SessionEndReason {
    pub fn as_str(self) -> &'static str {
        match self {
            SessionEndReason::Clear => "clear",
            SessionEndReason::Resume => "resume",
            SessionEndReason::Logout => "logout",
            SessionEndReason::PromptInputExit => "prompt_input_exit",
            SessionEndReason::Other => "other",
        }
    }
}

/// Fires SessionEnd and stores the conversation's summary (DEC-023).
pub async fn end_session(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
    by: SessionEndReason,
) -> Result<(), StoreError> {
    let last = store.reader()?.last_assistant_text(&session.place.session)?;
    if let Some(text) = last {
        store.commit(&session.place, Group(vec![Row::Summary(beginning(text))])).await?;
    } else if !store.reader()?.has_prompt(&session.place.session)? {
        // It ended by itself: nothing is missing in it, and `--continue` looks further back.
        let key = format!("session_unused:{}", session.place.session);
        store.commit(&session.place, Group(vec![Row::State { key, value: "1".to_owned() }])).await?;
    }
    let fields = json!({"reason": by.as_str()});
    lifecycle(store, hooks, session, events, EventName::SessionEnd, fields).await.map(drop)
}

/// The whole text is in the transcript; a summary says what it was about.
fn beginning(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SUMMARY) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Ends the session and makes it the next one of its conversation, `next` by id: nothing
/// was read there, no hook has left variables, the model knows nothing yet.
pub async fn clear(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
    next: SessionId,
) -> Result<(), StoreError> {
    end_session(store, hooks, session, events, SessionEndReason::Clear).await?;
    let conversation = session.place.conversation.clone();
    let before =
        std::mem::replace(&mut session.place, SessionKey { conversation, session: next, start: SequenceStart::Zero });
    // What skills brought was for the session that is over.
    hooks.unregister(|_| true);
    session.cx.seen = Arc::default();
    session.env_file = session.env_file.renewed();
    session.context = SessionContext::default();
    let mut opening = Group::default();
    opening.push(Row::Session);
    opening.log(LoggedEvent::SessionCreated(SessionOrigin::Clear { after: before.session }));
    store.commit(&session.place, opening).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_the_beginning_of_a_long_reply() {
        assert_eq!(beginning("short".into()), "short");
        let whole = "é".repeat(SUMMARY);
        assert_eq!(beginning(whole.clone()), whole);
        assert_eq!(beginning(format!("{whole}x")), format!("{whole}…"));
    }
}
