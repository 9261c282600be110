//! Which session a run works in: a new one, the newest, or a named one.

use crate::failure::Failure;
use crate::ids;
use crate::launch::Launch;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{ConversationId, SessionId};
use ona_store::{NewestSession, Store};

pub struct Begin {
    pub place: SessionKey,
    /// SessionStart's `source`.
    pub source: &'static str,
    /// The session whose rows this one starts with.
    pub copy_of: Option<SessionId>,
}

pub fn begin(launch: &Launch, store: &Store) -> Result<Begin, Failure> {
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let options = &launch.options;
    let resumed = match (&options.resume, options.continue_newest) {
        (Some(id), _) if id.is_empty() => {
            let what = "--resume needs a session here; in a terminal it lists them";
            return Err(Failure::usage(what).hint("ona sessions list"));
        }
        (Some(id), _) => Some(ids::session(launch, reader, id)?),
        (None, true) => {
            let held = |id: &SessionId| ona_store::is_session_held(&launch.database.path, id);
            let newest = reader.newest_session(&launch.project.to_string_lossy(), held).map_err(failed)?;
            if let Some(NewestSession { id, has_prompt: false }) = &newest {
                launch.note(format_args!(
                    "ona: continuing session {id}, which ended before its first prompt was recorded; the one before it: \
                     ona sessions list"
                ));
            }
            newest.map(|newest| newest.id)
        }
        (None, false) => None,
    };
    if let Some(session) = resumed {
        let conversation = reader.conversation_of(&session).map_err(failed)?;
        let unknown = || Failure::usage(format_args!("session {session} does not exist")).hint("ona sessions list");
        let conversation = conversation.ok_or_else(unknown)?;
        let (session, copy_of) = match options.fork_session {
            true => (new_session(launch, store)?, Some(session)),
            false if options.session_id.is_some() => {
                return Err(Failure::usage("--session-id names a new session; with --resume it needs --fork-session"));
            }
            false => (session, None),
        };
        let place = SessionKey { conversation, session, start: SequenceStart::Zero };
        return Ok(Begin { place, source: "resume", copy_of });
    }
    if options.fork_session {
        return Err(Failure::usage("--fork-session needs --resume SESSION or --continue"));
    }
    let conversation = ids::named_conversation(launch, reader)?.unwrap_or_else(ConversationId::random);
    let session = new_session(launch, store)?;
    Ok(Begin {
        place: SessionKey { conversation, session, start: SequenceStart::Zero },
        source: "startup",
        copy_of: None,
    })
}

fn new_session(launch: &Launch, store: &Store) -> Result<SessionId, Failure> {
    let Some(id) = &launch.options.session_id else { return Ok(SessionId::random()) };
    let session = SessionId::from(id.as_str());
    let owner = store.reader().and_then(|reader| reader.conversation_of(&session));
    if owner.map_err(|error| launch.store_failure(error))?.is_some() {
        return Err(Failure::usage(format_args!("there is a session {session} already; go on with it by --resume")));
    }
    Ok(session)
}
