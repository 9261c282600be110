//! The conversation and session a request from the command line belongs to.

use crate::failure::Failure;
use crate::ids;
use crate::launch::Launch;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{ConversationId, SessionId};
use ona_store::Store;

/// What a request names.
pub struct Wanted {
    pub conversation: Option<ConversationId>,
    pub session: Option<SessionId>,
    /// The conversation of requests that name none.
    pub otherwise: ConversationId,
    pub start: SequenceStart,
}

/// What is named must exist, except that a new session may be named.
pub fn find(launch: &Launch, store: &Store, wanted: Wanted) -> Result<SessionKey, Failure> {
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let owner = match &wanted.session {
        Some(session) => reader.conversation_of(session).map_err(failed)?,
        None => None,
    };
    let named = match wanted.conversation {
        Some(id) if reader.conversation(&id).map_err(failed)?.is_none() => {
            return Err(Failure::usage(format_args!("conversation {id} does not exist")).hint("ona conversations list"));
        }
        Some(id) => Some(id),
        None => ids::named_conversation(launch, reader)?,
    };
    let session = wanted.session.unwrap_or_else(SessionId::random);
    if let (Some(named), Some(owner)) = (&named, &owner)
        && named != owner
    {
        return Err(Failure::usage(format_args!("session {session} belongs to conversation {owner}, not {named}")));
    }
    Ok(SessionKey { conversation: named.or(owner).unwrap_or(wanted.otherwise), session, start: wanted.start })
}
