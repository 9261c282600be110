//! Finds what an id names, wherever one is typed: the id itself, or a beginning that no other has.
//!
//! What is unknown is answered with the nearest id, what fits several with those it fits. A program that
//! hands over JSON names ids whole; this is for people.

use crate::failure::Failure;
use crate::launch::Launch;
use ona_api::{CallId, ConversationId, SessionId};
use ona_permissions::printable;
use ona_store::{Reader, Store, StoredPlan};

/// Shorter beginnings fit too much.
const SHORTEST: usize = 4;

/// How many of the ids that fit are named.
const SHOWN: usize = 5;

/// How many calls are looked through for a beginning.
const CALLS: usize = 10_000;

/// What an id is of, in the words of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdKind {
    Session,
    Conversation,
    Call,
    Test,
    Memory,
    Worktree,
}

impl IdKind {
    fn noun(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Conversation => "conversation",
            Self::Call => "call",
            Self::Test => "test",
            Self::Memory => "memory",
            Self::Worktree => "worktree",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Session => "sessions",
            Self::Conversation => "conversations",
            Self::Call => "calls",
            Self::Test => "tests",
            Self::Memory => "memories",
            Self::Worktree => "worktrees",
        }
    }

    /// The command that lists them.
    fn listed_by(self) -> &'static str {
        match self {
            Self::Session | Self::Call => "ona sessions list",
            Self::Conversation => "ona conversations list",
            Self::Test => "ona test report",
            Self::Memory => "ona memory list",
            Self::Worktree => "ona worktree list",
        }
    }
}

/// Returns the one of `all` that `text` means.
pub fn find<'a>(kind: IdKind, text: &str, all: impl IntoIterator<Item = &'a str>) -> Result<&'a str, Failure> {
    let all: Vec<&str> = all.into_iter().collect();
    if let Some(id) = all.iter().find(|id| **id == text) {
        return Ok(id);
    }
    let fits: Vec<&str> = all.iter().copied().filter(|id| id.starts_with(text)).collect();
    let shown = printable(text);
    match fits[..] {
        [one] if text.len() >= SHORTEST => Ok(one),
        [_, _, ..] if !text.is_empty() => {
            let mut names: Vec<_> = fits.iter().take(SHOWN).map(|id| printable(id)).collect();
            if fits.len() > SHOWN {
                names.push("...".to_owned());
            }
            let (count, plural) = (fits.len(), kind.plural());
            Err(Failure::usage(format_args!("{count} {plural} begin with {shown}: {}", names.join(", ")))
                .hint("type more of it"))
        }
        _ => {
            let nearest = ona_api::nearest(text, all.iter().copied())
                .or_else(|| all.iter().copied().find(|id| common(id, text) >= SHORTEST));
            let meant = nearest.map(|id| format!("; did you mean {}?", printable(id))).unwrap_or_default();
            Err(Failure::usage(format_args!("{} {shown} does not exist{meant}", kind.noun())).hint(kind.listed_by()))
        }
    }
}

fn common(id: &str, text: &str) -> usize {
    id.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count()
}

/// Returns the session that `text` names.
pub fn session(launch: &Launch, reader: &Reader, text: &str) -> Result<SessionId, Failure> {
    let failed = |error| launch.store_failure(error);
    let id = SessionId::from(text);
    if reader.conversation_of(&id).map_err(failed)?.is_some() {
        return Ok(id);
    }
    let all = reader.sessions(None).map_err(failed)?;
    find(IdKind::Session, text, all.iter().map(|line| line.id.as_str())).map(SessionId::from)
}

/// Returns the named session; without a name the one of this project that was used last.
pub fn session_or_last(launch: &Launch, reader: &Reader, text: Option<&str>) -> Result<SessionId, Failure> {
    match text {
        Some(text) => session(launch, reader, text),
        None => last_session(launch, reader),
    }
}

/// Returns the session of this project that was used last.
pub fn last_session(launch: &Launch, reader: &Reader) -> Result<SessionId, Failure> {
    let newest = reader.newest_session(&launch.project.to_string_lossy(), |_| true);
    let newest = newest.map_err(|error| launch.store_failure(error))?;
    newest.map(|found| found.id).ok_or_else(|| {
        Failure::usage("this project has no session")
            .hint("ona -p 'PROMPT' begins one; ona sessions list has those of others")
    })
}

/// Returns the conversation that `text` names.
pub fn conversation(launch: &Launch, reader: &Reader, text: &str) -> Result<ConversationId, Failure> {
    let failed = |error| launch.store_failure(error);
    let id = ConversationId::from(text);
    if reader.conversation(&id).map_err(failed)?.is_some() {
        return Ok(id);
    }
    let all = reader.conversations().map_err(failed)?;
    find(IdKind::Conversation, text, all.iter().map(|one| one.id.as_str())).map(ConversationId::from)
}

/// Returns the conversation of `--conversation`, if one is named.
pub fn named_conversation(launch: &Launch, reader: &Reader) -> Result<Option<ConversationId>, Failure> {
    launch.options.conversation.as_deref().map(|text| conversation(launch, reader, text)).transpose()
}

/// Returns the conversation of this project that was used last.
pub fn last_conversation(launch: &Launch, reader: &Reader) -> Result<ConversationId, Failure> {
    conversation_of(launch, reader, &last_session(launch, reader)?)
}

/// Returns the conversation of a session.
pub fn conversation_of(launch: &Launch, reader: &Reader, session: &SessionId) -> Result<ConversationId, Failure> {
    let found = reader.conversation_of(session).map_err(|error| launch.store_failure(error))?;
    let unknown = || Failure::usage(format_args!("session {session} does not exist")).hint("ona sessions list");
    found.ok_or_else(unknown)
}

/// Returns the call that `text` names; without it the newest one of this project.
pub fn call(launch: &Launch, reader: &Reader, text: Option<&str>) -> Result<CallId, Failure> {
    let failed = |error| launch.store_failure(error);
    let Some(text) = text else {
        let newest = reader.last_call(&launch.project.to_string_lossy()).map_err(failed)?;
        return newest.ok_or_else(|| Failure::usage("this project has no recorded call").hint("ona sessions list"));
    };
    let id = CallId::from(text);
    if !reader.sessions_of_call(&id).map_err(failed)?.is_empty() {
        return Ok(id);
    }
    let all = reader.newest_calls(CALLS).map_err(failed)?;
    find(IdKind::Call, text, all.iter().map(CallId::as_str)).map(CallId::from)
}

/// Returns the plan of this number; without one the newest of `--conversation`, or of this project.
pub fn plan(launch: &Launch, store: &Store, id: Option<i64>) -> Result<StoredPlan, Failure> {
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    if let Some(id) = id
        && let Some(plan) = reader.plan(id).map_err(failed)?
    {
        return Ok(plan);
    }
    let conversations = match named_conversation(launch, reader)? {
        Some(id) => vec![id],
        None => {
            let here = launch.project.to_string_lossy();
            let all = reader.conversations().map_err(failed)?;
            all.into_iter().filter(|one| one.project_dir == here).map(|one| one.id).collect()
        }
    };
    let mut newest: Option<StoredPlan> = None;
    for conversation in conversations {
        for plan in reader.plans(&conversation).map_err(failed)? {
            if newest.as_ref().is_none_or(|newest| newest.id < plan.id) {
                newest = Some(plan);
            }
        }
    }
    match (id, newest) {
        (None, Some(plan)) => Ok(plan),
        (None, None) => Err(Failure::usage("this project has no plan").hint("ona plan list has those of others")),
        (Some(id), newest) => {
            let meant = newest.map(|plan| format!("; the newest of this project is {}", plan.id)).unwrap_or_default();
            Err(Failure::usage(format_args!("plan {id} does not exist{meant}")).hint("ona plan list"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_found_by_itself_and_by_a_beginning_of_its_own() {
        let all = ["0a1b2c", "0a1bff", "9f00ee", "T-12", "T-123456"];
        for (text, found) in [
            ("0a1b2c", Ok("0a1b2c")),
            ("9f00", Ok("9f00ee")),
            // An id is meant by its whole name also where another one goes on.
            ("T-12", Ok("T-12")),
            ("T-123", Ok("T-123456")),
            ("0a1b", Err("ona: 2 sessions begin with 0a1b: 0a1b2c, 0a1bff\n  type more of it")),
            ("0a", Err("ona: 2 sessions begin with 0a: 0a1b2c, 0a1bff\n  type more of it")),
            ("9f0", Err("ona: session 9f0 does not exist\n  ona sessions list")),
            ("9f00ef", Err("ona: session 9f00ef does not exist; did you mean 9f00ee?\n  ona sessions list")),
            ("9f00aabb", Err("ona: session 9f00aabb does not exist; did you mean 9f00ee?\n  ona sessions list")),
            ("nobody", Err("ona: session nobody does not exist\n  ona sessions list")),
            ("", Err("ona: session  does not exist\n  ona sessions list")),
        ] {
            let told = find(IdKind::Session, text, all).map_err(|failure| failure.to_string());
            assert_eq!(told.as_deref().map_err(String::as_str), found.as_ref().map(|id| *id).map_err(|text| *text));
        }
        let many: Vec<String> = (0..9).map(|n| format!("abcd{n}")).collect();
        let told = find(IdKind::Memory, "abcd", many.iter().map(String::as_str)).unwrap_err().to_string();
        assert!(told.starts_with("ona: 9 memories begin with abcd: abcd0, abcd1, abcd2, abcd3, abcd4, ..."), "{told}");
    }
}
