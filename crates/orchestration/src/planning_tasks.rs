//! Background tasks that still run when planning begins (DEC-186).
//!
//! The planning gate closes new calls; what was started before goes on. Such tasks are listed to
//! model and operator once, or stopped where the settings say so. Looked at by the session a
//! person speaks with; its subagents share the tasks.

use crate::session::Session;
use ona_api::{Group, LoggedEvent, Phase};
use ona_permissions::PermissionEngine;
use ona_settings::TasksWhilePlanning;
use ona_store::{Store, StoreError};
use ona_tools::TaskInfo;

/// Tasks found running when planning began.
pub(crate) struct LeftRunning {
    /// For model and operator.
    pub text: String,
    /// One for each task that was stopped.
    pub rows: Group,
}

/// What still runs, if planning has begun since the last look.
pub(crate) async fn look(session: &Session, store: &Store) -> Result<Option<LeftRunning>, StoreError> {
    if session.agent_id.is_some() {
        return Ok(None);
    }
    let planning = store.reader()?.phase(&session.place.conversation)? == Some(Phase::Planning);
    let tasks = &session.cx.tasks;
    if !tasks.note_planning(planning) {
        return Ok(None);
    }
    let running = tasks.running();
    if running.is_empty() {
        return Ok(None);
    }
    let mut rows = Group::default();
    let text = match session.with_rules(PermissionEngine::planning).tasks {
        TasksWhilePlanning::Listed => format!(
            "Planning has begun, and background tasks that were started before are still running: {}. TaskStop ends them.",
            named(&running)
        ),
        TasksWhilePlanning::Stopped => {
            tasks.stop_all().await;
            let left = tasks.running();
            let (left, stopped): (Vec<_>, Vec<_>) =
                running.into_iter().partition(|task| left.iter().any(|other| other.id == task.id));
            for task in &stopped {
                rows.log(LoggedEvent::BackgroundTaskStopped {
                    task: task.id.to_string(),
                    task_type: task.kind.as_str(),
                    command: task.title.clone(),
                    why: "planning began (sdlc.planning.tasks)",
                });
            }
            match (stopped.as_slice(), left.as_slice()) {
                (_, []) => format!("Planning has begun, and background tasks were stopped: {}.", named(&stopped)),
                ([], _) => format!("Planning has begun, and background tasks do not stop: {}.", named(&left)),
                _ => format!(
                    "Planning has begun, and background tasks were stopped: {}. Still running: {}.",
                    named(&stopped),
                    named(&left)
                ),
            }
        }
    };
    Ok(Some(LeftRunning { text, rows }))
}

fn named(tasks: &[TaskInfo]) -> String {
    let names: Vec<_> = tasks.iter().map(|task| format!("{} ({})", task.id, task.title)).collect();
    names.join(", ")
}
