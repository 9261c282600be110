//! The worktree of a run: chosen before the session opens, entered when it has, left at its end.
//!
//! Settings, hooks, skills and the database stay those of the project the run was started in;
//! directory, instructions, rules' anchors and MCP servers are the worktree's. A `state` row of the
//! session remembers the worktree, so that a resumed session is back in it. How worktrees are made
//! and removed is `orchestration/worktrees`.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::runtime::Runtime;
use crate::session_choice::Begin;
use crate::session_start::SessionError;
use ona_api::row::SessionKey;
use ona_api::{EventName, Group, Row, SessionId};
use ona_orchestration::{
    Events, Session, Worktree, WorktreeBase, WorktreeFate, Worktrees, kept_words, lifecycle, random_name,
};
use ona_settings::Settings;
use ona_store::StoreError;
use ona_trust::Trust;
use serde_json::json;

/// What a run is to do about worktrees before its session opens.
pub enum WorktreePlan {
    /// `--worktree`
    New(String),
    /// The session was in one before.
    Back(Worktree),
}

/// The worktrees of the project a run was started in.
pub(crate) fn of_project(launch: &Launch, open: &OpenProject, settings: &Settings) -> Worktrees {
    let base = if settings.worktree_from_origin.value { WorktreeBase::Fresh } else { WorktreeBase::Head };
    Worktrees::new(&launch.env, launch.project.clone(), open.merged.trust == Trust::Trusted, base)
}

/// Refuses a worktree that cannot be made, before anything is started for it.
pub fn plan(
    launch: &Launch,
    open: &OpenProject,
    runtime: &Runtime,
    begin: &Begin,
) -> Result<Option<WorktreePlan>, Failure> {
    let Some(wanted) = &launch.options.worktree else { return back(launch, open, begin) };
    if begin.source == "resume" && begin.copy_of.is_none() {
        return Err(Failure::usage(
            "--worktree is for a new session; a session that was in a worktree is back there when it is resumed",
        ));
    }
    if let Some(problem) = &runtime.settings.worktree_from_origin.problem {
        launch.note(format_args!("ona: {problem}"));
    }
    let name = if wanted.is_empty() { random_name() } else { wanted.clone() };
    runtime.worktrees.check(&name).map_err(|wrong| {
        let failure = Failure::usage(&wrong);
        match wrong {
            ona_orchestration::WorktreeError::Untrusted(_) => failure.hint("add --trust if you trust this folder"),
            _ => failure,
        }
    })?;
    Ok(Some(WorktreePlan::New(name)))
}

/// A forked session stays in the checkout, as with the reference.
fn back(launch: &Launch, open: &OpenProject, begin: &Begin) -> Result<Option<WorktreePlan>, Failure> {
    if begin.source != "resume" || begin.copy_of.is_some() {
        return Ok(None);
    }
    let reader = open.store.reader().map_err(|error| launch.store_failure(error))?;
    let row = reader.state(&begin.place.conversation, &key(&begin.place));
    let row = row.map_err(|error| launch.store_failure(error))?;
    let Some(worktree) = row.and_then(|text| serde_json::from_str::<Worktree>(&text).ok()) else { return Ok(None) };
    if !worktree.path.is_dir() {
        launch.note(format_args!(
            "ona: the worktree of this session is gone; it goes on in {}. It was {}",
            launch.cwd.display(),
            worktree.path.display()
        ));
        return Ok(None);
    }
    Ok(Some(WorktreePlan::Back(worktree)))
}

impl Runtime {
    /// Makes the worktree, moves the session into it, and remembers that.
    pub async fn enter_worktree(
        &self,
        open: &OpenProject,
        session: &mut Session,
        events: &Events,
        plan: &WorktreePlan,
    ) -> Result<Worktree, SessionError> {
        let worktree = match plan {
            WorktreePlan::Back(worktree) => Worktree { reopened: true, ..worktree.clone() },
            WorktreePlan::New(name) => {
                let cwd = session.cx.cwd.clone();
                let fields = json!({ "name": name });
                let created = EventName::WorktreeCreate;
                let said = lifecycle(&open.store, &self.hooks, session, events, created, fields).await?;
                let made = self.worktrees.create(name, &said, &cwd).await;
                made.map_err(|why| SessionError::Failed(Failure::refused(&why)))?
            }
        };
        session.enter_worktree(&worktree.path);
        let roots = std::iter::once(&worktree.path).chain(&session.cx.extra).cloned().collect();
        self.mcp.servers.around.move_to(worktree.path.clone(), roots);
        self.remember_worktree(open, session, &worktree)?;
        Ok(worktree)
    }

    /// A session that was cleared goes on in the worktree.
    pub fn remember_worktree(
        &self,
        open: &OpenProject,
        session: &Session,
        worktree: &Worktree,
    ) -> Result<(), StoreError> {
        // Text and paths that were read as text always have a JSON form.
        let value = serde_json::to_string(worktree).unwrap_or_default();
        open.store.commit_now(&session.place, Group(vec![Row::State { key: key(&session.place), value }])).map(drop)
    }

    /// Removes the worktree if nothing was changed in it; otherwise the operator is told where it is.
    pub async fn leave_worktree(
        &self,
        open: &OpenProject,
        session: &mut Session,
        events: &Events,
        worktree: &Worktree,
    ) -> Result<Option<String>, StoreError> {
        session.leave_worktree(self.worktrees.project());
        if let WorktreeFate::Kept { why } = self.worktrees.fate(worktree).await {
            return Ok(Some(kept_words(worktree, why)));
        }
        let fields = json!({"worktree_path": worktree.path.to_string_lossy()});
        lifecycle(&open.store, &self.hooks, session, events, EventName::WorktreeRemove, fields).await?;
        if !worktree.path.exists() {
            return Ok(None);
        }
        Ok(self.worktrees.remove(worktree).await.err().map(|why| kept_words(worktree, &why)))
    }
}

fn key(place: &SessionKey) -> String {
    key_of(&place.session)
}

/// The `state` key of a session's worktree.
pub(crate) fn key_of(session: &SessionId) -> String {
    format!("worktree:{session}")
}
