//! Goes back to before a prompt: the conversation, the files, or both.
//!
//! Nothing is deleted. A rewind is a row of the transcript and enters what it changes like any
//! other work (`checkpoints`), so it can be taken back by the same means: what a session did to
//! files is one line in time, and going back means that each file gets the content it
//! had before its first change behind that point.
//!
//! `prompts` lists the points, `plan` decides for each file without touching it, `restore` does it: first
//! a commit with what is about to be replaced, then one file after another, each in one step, then a commit
//! with how they were left and with the end of the conversation. A rewind that was killed in between is
//! done again by the same command: a file that already has the wanted content is left alone.
//!
//! The caller holds the lock of the session and has obtained every permission that is needed.

mod plan;
mod prompts;
mod restore;

use crate::checkpoints::KeepLimits;
use ona_api::SessionId;
use ona_api::row::SessionKey;
use ona_permissions::PermissionEngine;
use ona_store::{Store, StoreError};
pub use plan::{FileAction, FileStep, RewindPlan};
pub use prompts::{LastRewind, RewindPrompt};
pub use restore::RewindReport;

/// What goes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewindScope {
    Conversation,
    Files,
    Both,
}

impl RewindScope {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Files => "files",
            Self::Both => "both",
        }
    }

    fn from_text(text: &str) -> Option<Self> {
        [Self::Conversation, Self::Files, Self::Both].into_iter().find(|scope| scope.as_str() == text)
    }

    pub fn has_files(self) -> bool {
        self != Self::Conversation
    }

    pub fn has_conversation(self) -> bool {
        self != Self::Files
    }
}

/// Where to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewindTarget {
    /// Before this prompt.
    Prompt(RewindPrompt),
    /// Before the last rewind.
    Undo(LastRewind),
}

impl RewindTarget {
    /// The first row that does not count any more.
    pub(crate) fn first_row(&self) -> i64 {
        match self {
            Self::Prompt(prompt) => prompt.sequence,
            Self::Undo(rewind) => rewind.sequence,
        }
    }
}

/// A session that is not at work, and what may be done to its files.
pub struct Rewinder<'a> {
    pub store: &'a Store,
    pub session: &'a SessionKey,
    pub rules: &'a PermissionEngine,
    pub limits: KeepLimits,
}

impl Rewinder<'_> {
    /// Returns the prompts of the conversation as it is now, oldest first.
    pub fn prompts(&self) -> Result<Vec<RewindPrompt>, StoreError> {
        prompts::prompts(self.store, &self.session.session)
    }

    /// Returns the last rewind; `None` if the session has none that was not taken back.
    pub fn last_rewind(&self) -> Result<Option<LastRewind>, StoreError> {
        prompts::last_rewind(self.store, &self.session.session)
    }

    /// Returns what a rewind would do, without doing it.
    pub fn plan(&self, target: RewindTarget, scope: RewindScope) -> Result<RewindPlan, StoreError> {
        let changes = match scope.has_files() {
            true => self.store.reader()?.file_changes(&self.session.session, target.first_row())?,
            false => Vec::new(),
        };
        let steps = plan::steps(&changes, self)?;
        Ok(RewindPlan { target, scope, steps })
    }

    /// Does what a plan says. A file that does not fit the plan any more is left as it is.
    pub fn apply(&self, plan: &RewindPlan) -> Result<RewindReport, StoreError> {
        restore::apply(self, plan)
    }
}

/// The session whose prompts an agent's session works for; `None` for one that a person or a program
/// talks to.
pub fn session_above(store: &Store, session: &SessionKey) -> Result<Option<SessionId>, StoreError> {
    let key = format!("session_parent:{}", session.session);
    Ok(store.reader()?.state(&session.conversation, &key)?.map(SessionId))
}
