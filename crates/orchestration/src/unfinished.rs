//! What was still running when the program of a session ended: calls without a result and
//! background tasks. Both are named when the session goes on.
//!
//! Background tasks are not rows of the transcript, so the ids and titles of those that run are a
//! `state` row, rewritten whenever they change. Calls need none: they are the ones a reply made,
//! `tool_started` names and no result answers (DEC-024 answers those).

use crate::records;
use crate::session::Session;
use ona_api::{Entry, Group, Row, ToolCall};
use ona_store::{Store, StoreError};
use ona_tools::TaskInfo;
use ona_transcript::TurnState;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Characters of a call's input or a task's title that are shown.
const SHOWN: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunningTask {
    id: String,
    kind: String,
    title: String,
}

impl From<&TaskInfo> for RunningTask {
    fn from(task: &TaskInfo) -> Self {
        Self { id: task.id.clone(), kind: task.kind.as_str().to_owned(), title: task.title.clone() }
    }
}

fn key(session: &Session) -> String {
    format!("running_tasks:{}", session.place.session)
}

/// Returns the row that says which tasks run, if these are not the ones it said last. Only the
/// session a person or a program talks to has one; its agents share the tasks.
pub(crate) fn running_row(session: &mut Session) -> Option<Row> {
    if session.agent_id.is_some() {
        return None;
    }
    let running: Vec<RunningTask> = session.cx.tasks.running().iter().map(RunningTask::from).collect();
    if running == session.recorded_tasks {
        return None;
    }
    let value = json!(running).to_string();
    session.recorded_tasks = running;
    Some(Row::State { key: key(session), value })
}

/// What a session leaves to tell when it goes on.
#[derive(Default)]
pub struct Unfinished {
    /// For the model, and so that it is told once.
    pub rows: Group,
    /// For the operator.
    pub sentence: Option<String>,
}

/// Looks for what was running when the program of this session ended, and removes the temporary
/// files that calls of file tools left beside their targets. `state` is that of the
/// rows before the calls without a result are answered.
pub fn unfinished(session: &Session, state: &TurnState, store: &Store) -> Result<Unfinished, StoreError> {
    let calls = started_calls(session, state, store)?;
    for dir in calls.iter().filter_map(|call| written_dir(session, call)) {
        ona_files::remove_left_over(&dir);
    }
    let calls: Vec<_> = calls.into_iter().map(name).collect();
    let tasks = lost_tasks(session, store)?;
    let mut rows = Group(tasks.iter().map(row).collect());
    if !tasks.is_empty() {
        rows.push(Row::State { key: key(session), value: "[]".to_owned() });
    }
    Ok(Unfinished { rows, sentence: sentence(&calls, &tasks) })
}

/// Calls that began and have no result, in the order they were made.
fn started_calls<'s>(session: &Session, state: &'s TurnState, store: &Store) -> Result<Vec<&'s ToolCall>, StoreError> {
    let mut started = Vec::new();
    for call in state.open() {
        let recorded = store.reader()?.call(&session.place.session, &call.id)?;
        if recorded.is_some_and(|recorded| recorded.started.is_some()) {
            started.push(call);
        }
    }
    Ok(started)
}

/// The directory in which a call may have been writing a file.
fn written_dir(session: &Session, call: &ToolCall) -> Option<PathBuf> {
    let field = match call.name.as_str() {
        "Write" | "Edit" => "file_path",
        "NotebookEdit" => "notebook_path",
        _ => return None,
    };
    // What the file is called makes no difference: links are followed to where its directory is.
    let target = session.cx.cwd.join(call.input.get(field)?.as_str()?);
    target.canonicalize().unwrap_or(target).parent().map(Path::to_owned)
}

/// Tasks that the row names and this process does not have.
fn lost_tasks(session: &Session, store: &Store) -> Result<Vec<RunningTask>, StoreError> {
    let Some(text) = store.reader()?.state(&session.place.conversation, &key(session))? else { return Ok(Vec::new()) };
    // Another program may have written the row; what cannot be read names nothing.
    let recorded: Vec<RunningTask> = serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::debug!(%error, "the row of running tasks cannot be read");
        Vec::new()
    });
    let here: Vec<RunningTask> = session.cx.tasks.list().iter().map(RunningTask::from).collect();
    Ok(recorded.into_iter().filter(|task| !here.contains(task)).collect())
}

/// What the model reads.
fn row(task: &RunningTask) -> Row {
    let attachment = json!({
        "kind": "task_notification",
        "task_id": task.id,
        "task_type": task.kind,
        "status": "stopped",
        "text": format!(
            "[A background task has ended. This is not from the user.]\nTask {} ({}): stopped, because the program \
             that ran it ended. Its output is lost.",
            task.id, task.title
        ),
    });
    Row::Transcript(Entry::Attachment { attachment: records::object(attachment), call: None })
}

fn sentence(calls: &[String], tasks: &[RunningTask]) -> Option<String> {
    let tasks = tasks.iter().map(|task| format!("background task {} ({})", task.id, shortened(&task.title)));
    let all: Vec<_> = calls.iter().cloned().chain(tasks).collect();
    if all.is_empty() {
        return None;
    }
    Some(format!(
        "Still running when this session last ended, and not run again: {}. Check what they left.",
        all.join("; ")
    ))
}

/// The tool and what it was called with, in one line.
fn name(call: &ToolCall) -> String {
    let shown = ["command", "file_path", "notebook_path", "pattern", "url", "query", "description"];
    let word = shown.iter().find_map(|field| call.input.get(field)?.as_str());
    match word {
        Some(word) => format!("{} ({})", call.name, shortened(word)),
        None => call.name.clone(),
    }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.chars().count() <= SHOWN && line.len() == text.trim_end().len() {
        return line.to_owned();
    }
    line.chars().take(SHOWN).chain("…".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, title: &str) -> RunningTask {
        RunningTask { id: id.into(), kind: "bash".into(), title: title.into() }
    }

    #[test]
    fn everything_that_ran_is_in_one_sentence() {
        assert_eq!(sentence(&[], &[]), None);
        assert_eq!(
            sentence(&["Bash (make)".into()], &[task("b1", "npm start"), task("a2", "look\naround")]).as_deref(),
            Some(
                "Still running when this session last ended, and not run again: Bash (make); background task b1 \
                 (npm start); background task a2 (look…). Check what they left."
            )
        );
    }

    #[test]
    fn a_call_is_named_with_what_tells_it_from_others() {
        let call = |name: &str, input| ToolCall { id: ona_api::CallId::random(), name: name.into(), input };
        assert_eq!(name(&call("Write", json!({"content": "x", "file_path": "/a b"}))), "Write (/a b)");
        assert_eq!(name(&call("TodoWrite", json!({"todos": []}))), "TodoWrite");
        let long = name(&call("Bash", json!({"command": "x".repeat(100)})));
        assert_eq!(long, format!("Bash ({}…)", "x".repeat(80)));
    }
}
