//! Worktrees of a project that no session works in any more, for `ona worktree` and `ona doctor`.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::worktrees;
use ona_api::SessionId;
use ona_orchestration::{AGENT_PREFIX, Holds, Leftover, Worktree, Worktrees};
use ona_settings::Settings;
use serde_json::{Value, json};

/// A worktree and who works in it.
pub struct KnownWorktree {
    pub left: Leftover,
    /// The newest session that worked in it; an agent's worktree is not remembered.
    pub session: Option<SessionId>,
    /// A running program may be at work in it.
    pub in_use: bool,
}

impl KnownWorktree {
    /// Whether it can go without anything being lost.
    pub fn is_removable(&self) -> bool {
        !self.in_use && self.left.holds == Holds::Nothing
    }

    pub fn words(&self) -> String {
        if self.in_use { "in use".to_owned() } else { self.left.holds.words() }
    }

    /// Removes it, unless a program may be at work in it; what would be lost needs `force`.
    pub async fn remove(&self, worktrees: &Worktrees, force: bool) -> Result<(), Failure> {
        let name = &self.left.name;
        if self.in_use {
            return Err(Failure::refused(format_args!("the worktree {name} is in use; nothing was removed")));
        }
        if !force && self.left.holds != Holds::Nothing {
            let what = format_args!("the worktree {name} was not removed: {}", self.left.holds.words());
            return Err(Failure::refused(what).hint(format!("ona worktree remove {name} --force loses that")));
        }
        let removed = worktrees.remove_leftover(&self.left, force).await;
        removed.map_err(|why| Failure::refused(format_args!("the worktree {name} was not removed: {why}")))
    }

    pub fn to_json(&self) -> Value {
        json!({
            "name": self.left.name,
            "path": self.left.path,
            "branch": self.left.branch,
            "session_id": self.session,
            "in_use": self.in_use,
            "holds": self.left.holds.as_str(),
            "commits": match self.left.holds {
                Holds::Commits(count) => count,
                Holds::Nothing | Holds::Changes | Holds::Unknown => 0,
            },
            "removable": self.is_removable(),
        })
    }
}

/// The project's worktrees, made by `--worktree` or for agents.
pub async fn list(
    launch: &Launch,
    open: &OpenProject,
    settings: &Settings,
) -> Result<(Worktrees, Vec<KnownWorktree>), Failure> {
    let of_project = worktrees::of_project(launch, open, settings);
    let left = of_project.leftovers().await;
    if left.is_empty() {
        return Ok((of_project, Vec::new()));
    }
    let failed = |error| launch.store_failure(error);
    let reader = open.store.reader().map_err(failed)?;
    let is_held = |id: &SessionId| ona_store::is_session_held(&launch.database.path, id);
    let sessions = reader.sessions(None).map_err(failed)?;
    let any_held = sessions.iter().any(|line| is_held(&line.id));
    // Newest first, so that the first session of a path is the last that worked there.
    let mut remembered: Vec<(SessionId, Worktree)> = Vec::new();
    for line in sessions {
        let row = reader.state(&line.conversation, &worktrees::key_of(&line.id)).map_err(failed)?;
        // What another program wrote there is not a worktree.
        if let Some(worktree) = row.and_then(|text| serde_json::from_str(&text).ok()) {
            remembered.push((line.id, worktree));
        }
    }
    let known = left.into_iter().map(|left| {
        let mut sessions = remembered.iter().filter(|(_, worktree)| worktree.path == left.path).map(|(id, _)| id);
        let held = sessions.clone().any(is_held);
        let session = sessions.next().cloned();
        // Of an agent's worktree it is only known that the agent works for a session that runs.
        let in_use = held || any_held && session.is_none() && left.name.starts_with(AGENT_PREFIX);
        KnownWorktree { left, session, in_use }
    });
    Ok((of_project, known.collect()))
}
