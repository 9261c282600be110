//! Background tasks that end reach the model: a row before its next request, or, where nothing
//! else is to be done, a reason to ask it again.
//!
//! Only the session a person speaks with hears of them; its subagents share the tasks. Nothing is
//! written for a task whose result the model has read or that it stopped itself. What a run does
//! while it waits for tasks is the front's.

use crate::events::{Events, TurnEvent};
use crate::records;
use crate::session::Session;
use crate::unfinished;
use ona_api::{Entry, Group, Row};
use ona_store::{Store, StoreError};
use ona_tools::{EndedTask, TaskKind};
use serde_json::json;

/// Characters of a task's output that are sent without being asked for.
const SHOWN: usize = 8_000;

/// Records the tasks that have ended since the last look. Returns whether the model is to be told.
pub(crate) async fn look(session: &mut Session, store: &Store, events: &Events) -> Result<bool, StoreError> {
    let ended = session.cx.tasks.take_ended();
    for task in ended.iter().filter(|task| task.info.kind == TaskKind::Bash) {
        // Agents report their own end.
        events(TurnEvent::TaskEnded {
            id: task.info.id.clone(),
            kind: TaskKind::Bash,
            call: None,
            description: task.info.title.clone(),
            status: task.info.state.status(),
            summary: task.info.state.to_string(),
        });
    }
    let mut rows = Group(ended.iter().filter(|task| !task.known).map(row).collect());
    let any = !rows.is_empty();
    rows.0.extend(unfinished::running_row(session));
    if !rows.is_empty() {
        store.commit(&session.place, rows).await?;
    }
    Ok(any)
}

fn row(task: &EndedTask) -> Row {
    let attachment = json!({
        "kind": "task_notification",
        "task_id": task.info.id,
        "task_type": task.info.kind.as_str(),
        "status": task.info.state.status(),
        "text": text(task),
    });
    Row::Transcript(Entry::Attachment { attachment: records::object(attachment), call: None })
}

/// What the model reads.
fn text(task: &EndedTask) -> String {
    let EndedTask { info, output, .. } = task;
    let mut text = format!(
        "[A background task has ended. This is not from the user.]\nTask {} ({}): {}",
        info.id, info.title, info.state
    );
    let output = output.trim_end();
    if output.is_empty() {
        return text;
    }
    let length = output.chars().count();
    let skip = length.saturating_sub(SHOWN);
    if skip == 0 {
        return format!("{text}\n{output}");
    }
    text.push_str(&format!("\n[{length} characters; TaskOutput returns all of them]\n"));
    match info.kind {
        // What a command prints last says how it went, a report begins with what matters.
        TaskKind::Bash => text.extend(output.chars().skip(skip)),
        TaskKind::Agent => text.extend(output.chars().take(SHOWN)),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_tools::{TaskInfo, TaskState};

    fn ended(kind: TaskKind, state: TaskState, output: &str) -> EndedTask {
        let info = TaskInfo { id: "b1".into(), kind, title: "make".into(), state };
        EndedTask { info, output: output.into(), known: false }
    }

    #[test]
    fn the_model_reads_how_it_ended_and_the_part_that_matters() {
        let long = format!("first{}last", "-".repeat(SHOWN));
        for (task, expected) in [
            (ended(TaskKind::Bash, TaskState::Exited(2), "error\n"), "Task b1 (make): ended with exit code 2\nerror"),
            (ended(TaskKind::Bash, TaskState::Exited(0), ""), "Task b1 (make): ended with exit code 0"),
            (ended(TaskKind::Agent, TaskState::Finished, "report"), "Task b1 (make): finished\nreport"),
        ] {
            assert_eq!(text(&task).split_once('\n').expect("two lines").1, expected);
        }
        let tail = text(&ended(TaskKind::Bash, TaskState::Exited(0), &long));
        assert!(tail.ends_with("-last") && !tail.contains("first"), "{}", &tail[..200]);
        let head = text(&ended(TaskKind::Agent, TaskState::Finished, &long));
        assert!(head.ends_with('-') && head.contains("\nfirst-") && head.contains("8009 characters"));
    }
}
