//! Returns what a background task has said.

use crate::files::interrupted;
use crate::tasks::TaskState;
use crate::{Count, Tool, ToolContext};
use ona_api::{Access, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

const DEFAULT_TIMEOUT: u64 = 30_000;
const MAX_TIMEOUT: u64 = 600_000;

pub(crate) struct TaskOutputTool;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskOutputInput {
    /// The task's id.
    task_id: String,
    /// Wait for its end first; true if not given.
    block: Option<bool>,
    /// Milliseconds to wait at most; 30000 if not given.
    timeout: Option<Count>,
}

impl Tool for TaskOutputTool {
    type Input = TaskOutputInput;
    const NAME: &'static str = "TaskOutput";
    const DESCRIPTION: &'static str = "Returns the state and the output of a background task, by default after waiting \
        for its end.\nSet block to false to look at a task that goes on. A task that has ended can still be read.";

    fn normalise(&self, input: &mut Value, _: &ToolContext) {
        rename(input, "bash_id");
    }

    fn access(&self, _: &TaskOutputInput, _: &ToolContext) -> Vec<Access> {
        vec![Access::Plain]
    }

    async fn run(&self, input: TaskOutputInput, cx: &ToolContext) -> ToolResult {
        let task = match cx.tasks.find(&input.task_id) {
            Ok(task) => task,
            Err(words) => return ToolResult::rejected(words),
        };
        if input.block != Some(false) {
            let limit = input.timeout.map_or(DEFAULT_TIMEOUT, |timeout| timeout.0.min(MAX_TIMEOUT));
            tokio::select! {
                () = task.job.wait() => {}
                () = tokio::time::sleep(Duration::from_millis(limit)) => {}
                () = cx.cancel.cancelled() => return interrupted(),
            }
        }
        // The state first: what was printed before the end is then complete.
        let state = task.job.state();
        let output = task.job.output();
        if state != TaskState::Running {
            cx.tasks.note_known(&task.id);
        }
        let retrieval = match state {
            TaskState::Running if input.block == Some(false) => "not_ready",
            TaskState::Running => "timeout",
            _ => "success",
        };
        let exit_code = if let TaskState::Exited(code) = state { Some(code) } else { None };
        let mut content = format!("Task {}: {state}", task.id);
        if !output.is_empty() {
            content.push('\n');
            content.push_str(&output);
        }
        ToolResult::success(content).data(json!({
            "retrieval_status": retrieval,
            "task": {
                "task_id": task.id,
                "task_type": task.kind.as_str(),
                "status": state.status(),
                "description": task.title,
                "output": output,
                "exitCode": exit_code,
            },
        }))
    }
}

/// Takes an older name of `task_id`.
pub(crate) fn rename(input: &mut Value, old: &str) {
    if let Value::Object(fields) = input
        && !fields.contains_key("task_id")
        && let Some(id) = fields.shift_remove(old)
    {
        fields.insert("task_id".into(), id);
    }
}
