//! Finds a session by its id, or by the beginning of it.

use crate::failure::Failure;
use crate::launch::Launch;
use ona_api::SessionId;
use ona_store::Reader;

/// Shorter beginnings fit too much.
const SHORTEST: usize = 4;

/// Returns the session that `text` names: its id, or at least four characters that only one id begins with.
pub fn find(launch: &Launch, reader: &Reader, text: &str) -> Result<SessionId, Failure> {
    let failed = |error| launch.store_failure(error);
    let id = SessionId::from(text);
    if reader.conversation_of(&id).map_err(failed)?.is_some() {
        return Ok(id);
    }
    let all = reader.sessions(None).map_err(failed)?;
    let fits: Vec<_> = all.iter().filter(|line| line.id.as_str().starts_with(text)).collect();
    match fits.as_slice() {
        [one] if text.len() >= SHORTEST => Ok(one.id.clone()),
        [_, _, ..] => Err(Failure::usage(format_args!("{} sessions begin with {text}", fits.len()))
            .hint("ona -p 'PROMPT' begins one")),
        _ => {
            let nearest = ona_api::nearest(text, all.iter().map(|line| line.id.as_str()))
                .or_else(|| all.iter().map(|line| line.id.as_str()).find(|id| common(id, text) >= SHORTEST));
            let meant = nearest.map(|id| format!("; did you mean {id}?")).unwrap_or_default();
            Err(Failure::usage(format_args!("session {text} does not exist{meant}")).hint("ona sessions list"))
        }
    }
}

/// Returns the session of this project that was used last.
pub fn last(launch: &Launch, reader: &Reader) -> Result<SessionId, Failure> {
    let newest = reader.newest_session(&launch.project.to_string_lossy(), |_| true);
    let newest = newest.map_err(|error| launch.store_failure(error))?;
    newest.map(|found| found.id).ok_or_else(|| Failure::usage("this project has no session").hint("ona sessions list"))
}

fn common(id: &str, text: &str) -> usize {
    id.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count()
}
