//! Ends a background task.

use crate::task_output::rename;
use crate::tasks::TaskState;
use crate::{Tool, ToolContext};
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

/// How long the end is waited for; the process runner kills after a second.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct TaskStopTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskStopInput {
    /// The task's id.
    task_id: String,
}

impl Tool for TaskStopTool {
    type Input = TaskStopInput;
    const NAME: &'static str = "TaskStop";
    const DESCRIPTION: &'static str = "Ends a background task. Its output so far stays readable with TaskOutput.";

    fn normalise(&self, input: &mut Value, _: &ToolContext) {
        rename(input, "shell_id");
    }

    fn access(&self, _: &TaskStopInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: TaskStopInput, cx: &ToolContext) -> ToolResult {
        let task = match cx.tasks.find(&input.task_id) {
            Ok(task) => task,
            Err(words) => return ToolResult::rejected(words),
        };
        let state = task.job.state();
        if state != TaskState::Running {
            return ToolResult::rejected(format!("Task {} is not running: {state}.", task.id));
        }
        cx.tasks.note_known(&task.id);
        task.job.stop();
        if tokio::time::timeout(PATIENCE, task.job.wait()).await.is_err() {
            return ToolResult::internal(format!("task {} was told to end and did not", task.id));
        }
        let message = format!("Stopped task {} ({})", task.id, task.title);
        ToolResult::success(&message).data(json!({
            "message": message,
            "task_id": task.id,
            "task_type": task.kind.as_str(),
            "command": task.title,
        }))
    }
}
