//! Which session a run works in: a new one, the newest, or a named one.

use crate::failure::Failure;
use crate::program::Program;
use ona_api::row::{Place, SequenceStart};
use ona_api::{ConversationId, SessionId};
use ona_store::Store;

pub struct Begin {
    pub place: Place,
    /// SessionStart's `source`.
    pub source: &'static str,
}

pub fn begin(program: &Program, store: &Store) -> Result<Begin, Failure> {
    let failed = |error| program.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let options = &program.options;
    let resumed = match (&options.resume, options.continue_newest) {
        (Some(id), _) => Some(SessionId::from(id.as_str())),
        (None, true) => reader.newest_session(&program.project.to_string_lossy()).map_err(failed)?,
        (None, false) => None,
    };
    if let Some(session) = resumed {
        let conversation = reader.conversation_of(&session).map_err(failed)?;
        let conversation = conversation.ok_or_else(|| Failure::usage(format_args!("there is no session {session}")))?;
        let place = Place { conversation, session, start: SequenceStart::Zero };
        return Ok(Begin { place, source: "resume" });
    }
    let conversation = match &options.conversation {
        Some(id) => {
            let id = ConversationId::from(id.as_str());
            if reader.conversation(&id).map_err(failed)?.is_none() {
                return Err(Failure::usage(format_args!("there is no conversation {id}")));
            }
            id
        }
        None => ConversationId::random(),
    };
    let session = options.session_id.as_deref().map_or_else(SessionId::random, SessionId::from);
    if options.session_id.is_some() && reader.conversation_of(&session).map_err(failed)?.is_some() {
        return Err(Failure::usage(format_args!("there is a session {session} already; go on with it by --resume")));
    }
    Ok(Begin { place: Place { conversation, session, start: SequenceStart::Zero }, source: "startup" })
}
