//! What runs in the background: shells, and agents started by others (DEC-137).
//!
//! One registry per process. A task stays readable after its end, until the
//! process exits; the owner of the registry stops what is left then.

use crate::BoxFuture;
use ona_api::CallId;
use ona_process::Running;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Something that goes on by itself until it ends or is told to.
pub trait BackgroundJob: Send + Sync {
    /// Returns the output so far.
    fn output(&self) -> String;
    fn state(&self) -> TaskState;
    /// Resolves when `state` stops being `Running`.
    fn wait(&self) -> BoxFuture<'_, ()>;
    /// Asks for the end; `wait` tells when it has come.
    fn stop(&self);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskState {
    Running,
    Exited(i32),
    Signalled(i32),
    /// Ended without an exit code.
    Finished,
    Failed(String),
    Stopped,
}

impl TaskState {
    /// Returns the word for it in a tool's data.
    pub fn status(&self) -> &'static str {
        match self {
            TaskState::Running => "running",
            TaskState::Exited(0) | TaskState::Finished => "completed",
            TaskState::Exited(_) | TaskState::Signalled(_) | TaskState::Failed(_) => "failed",
            TaskState::Stopped => "stopped",
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            TaskState::Running => f.write_str("running"),
            TaskState::Exited(code) => write!(f, "ended with exit code {code}"),
            TaskState::Signalled(signal) => write!(f, "ended by signal {signal}"),
            TaskState::Finished => f.write_str("finished"),
            TaskState::Failed(why) => write!(f, "failed: {why}"),
            TaskState::Stopped => f.write_str("stopped"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskKind {
    Bash,
    Agent,
}

impl TaskKind {
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Bash => "bash",
            TaskKind::Agent => "agent",
        }
    }
}

/// A task as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    pub id: String,
    pub kind: TaskKind,
    pub title: String,
    pub state: TaskState,
}

/// A task that has ended, for those who waited for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedTask {
    pub info: TaskInfo,
    pub output: String,
    /// The model knows: it read the result or stopped the task itself.
    pub known: bool,
}

#[derive(Clone)]
pub(crate) struct BackgroundTask {
    pub id: String,
    pub kind: TaskKind,
    pub title: String,
    pub job: Arc<dyn BackgroundJob>,
    /// Its end was handed out by `take_ended`.
    announced: bool,
    known: bool,
}

impl BackgroundTask {
    fn is_unknown(&self) -> bool {
        !self.announced && !self.known
    }

    fn info(&self) -> TaskInfo {
        TaskInfo { id: self.id.clone(), kind: self.kind, title: self.title.clone(), state: self.job.state() }
    }
}

/// A command that a call waits for.
struct WaitedFor {
    call: CallId,
    running: Arc<Running>,
    to_background: CancellationToken,
}

/// The command can be looked at and sent to the background while this exists.
pub struct ForegroundCommand<'a> {
    tasks: &'a Tasks,
    call: CallId,
    to_background: CancellationToken,
}

impl ForegroundCommand<'_> {
    /// Resolves when the person wants to wait no longer.
    pub(crate) async fn sent_to_background(&self) {
        self.to_background.cancelled().await;
    }
}

impl Drop for ForegroundCommand<'_> {
    fn drop(&mut self) {
        self.tasks.waited_for().retain(|waited| waited.call != self.call);
    }
}

#[derive(Default)]
pub struct Tasks {
    tasks: Mutex<Vec<BackgroundTask>>,
    /// Commands that calls wait for right now.
    waited_for: Mutex<Vec<WaitedFor>>,
    planning: AtomicBool,
}

impl Tasks {
    /// Registers a job and returns its id: `b1`, `a2`, numbered in order of start.
    pub fn add(&self, kind: TaskKind, title: impl Into<String>, job: Arc<dyn BackgroundJob>) -> String {
        let mut tasks = self.tasks();
        let letter = match kind {
            TaskKind::Bash => 'b',
            TaskKind::Agent => 'a',
        };
        let id = format!("{letter}{}", tasks.len() + 1);
        tasks.push(BackgroundTask { id: id.clone(), kind, title: title.into(), job, announced: false, known: false });
        id
    }

    /// Notes that a call waits for a command.
    pub fn wait_for(&self, call: CallId, running: Arc<Running>) -> ForegroundCommand<'_> {
        let to_background = CancellationToken::new();
        let foreground = ForegroundCommand { tasks: self, call: call.clone(), to_background: to_background.clone() };
        self.waited_for().push(WaitedFor { call, running, to_background });
        foreground
    }

    /// Returns the newest output of the command that a call waits for.
    pub fn recent_output(&self, call: &CallId) -> Option<Vec<u8>> {
        self.waited_for().iter().find(|waited| waited.call == *call).map(|waited| waited.running.recent())
    }

    /// Lets the call that waits go on without its command; `false` if no command is waited for.
    pub fn send_to_background(&self, call: &CallId) -> bool {
        let waited_for = self.waited_for();
        let found = waited_for.iter().find(|waited| waited.call == *call);
        found.inspect(|waited| waited.to_background.cancel()).is_some()
    }

    fn waited_for(&self) -> std::sync::MutexGuard<'_, Vec<WaitedFor>> {
        self.waited_for.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn list(&self) -> Vec<TaskInfo> {
        self.tasks().iter().map(BackgroundTask::info).collect()
    }

    /// Returns what a task is called.
    pub fn title(&self, id: &str) -> Option<String> {
        self.tasks().iter().find(|task| task.id == id).map(|task| task.title.clone())
    }

    /// Returns the tasks that have ended since this was last called.
    pub fn take_ended(&self) -> Vec<EndedTask> {
        let mut ended = Vec::new();
        for task in self.tasks().iter_mut().filter(|task| !task.announced) {
            // The state first: what was printed before the end is then complete.
            let info = task.info();
            if info.state != TaskState::Running {
                task.announced = true;
                ended.push(EndedTask { info, output: task.job.output(), known: task.known });
            }
        }
        ended
    }

    /// Returns the kinds of the tasks whose ends the model does not know yet, running or not.
    pub fn unknown(&self) -> Vec<TaskKind> {
        self.tasks().iter().filter(|task| task.is_unknown()).map(|task| task.kind).collect()
    }

    /// Resolves when `take_ended` has something to hand out that the model does not know; never
    /// if no such task exists.
    pub async fn until_unknown_end(&self) {
        let jobs: Vec<_> = self.tasks().iter().filter(|task| task.is_unknown()).map(|task| task.job.clone()).collect();
        let mut ends: Vec<_> = jobs.iter().map(|job| job.wait()).collect();
        std::future::poll_fn(|cx| match ends.iter_mut().any(|end| end.as_mut().poll(cx).is_ready()) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        })
        .await;
    }

    /// Notes that the model knows how this task ends.
    pub(crate) fn note_known(&self, id: &str) {
        self.tasks().iter_mut().filter(|task| task.id == id).for_each(|task| task.known = true);
    }

    /// Returns the tasks that are running.
    pub fn running(&self) -> Vec<TaskInfo> {
        self.list().into_iter().filter(|task| task.state == TaskState::Running).collect()
    }

    /// Notes whether the conversation is in planning. Returns whether planning has begun since
    /// this was last noted.
    pub fn note_planning(&self, planning: bool) -> bool {
        let before = self.planning.swap(planning, Ordering::Relaxed);
        planning && !before
    }

    /// Stops everything that runs and waits, but not for ever, until it is gone.
    pub async fn stop_all(&self) {
        const PATIENCE: Duration = Duration::from_secs(5);
        let mut running = Vec::new();
        for task in self.tasks().iter_mut().filter(|task| task.job.state() == TaskState::Running) {
            // Who stops everything says so.
            task.known = true;
            running.push(task.job.clone());
        }
        running.iter().for_each(|job| job.stop());
        let gone = async {
            for job in &running {
                job.wait().await;
            }
        };
        // A task that is left after that was asked twice; the process exits either way.
        tokio::time::timeout(PATIENCE, gone).await.ok();
    }

    /// Asks a task to end; `false` if no task has this id.
    pub fn stop(&self, id: &str) -> bool {
        let found = self.find(id);
        if let Ok(task) = &found {
            task.job.stop();
        }
        found.is_ok()
    }

    /// Returns the task, or the words that say which ones there are.
    pub(crate) fn find(&self, id: &str) -> Result<BackgroundTask, String> {
        let tasks = self.tasks();
        if let Some(task) = tasks.iter().find(|task| task.id == id) {
            return Ok(task.clone());
        }
        let running: Vec<_> = tasks
            .iter()
            .filter(|task| task.job.state() == TaskState::Running)
            .map(|task| format!("{} ({})", task.id, task.title))
            .collect();
        Err(match running.as_slice() {
            [] => format!("Unknown task {id}. No tasks are running."),
            _ => format!("Unknown task {id}. Running: {}", running.join(", ")),
        })
    }

    fn tasks(&self) -> std::sync::MutexGuard<'_, Vec<BackgroundTask>> {
        // Every update is one push, so a panic elsewhere leaves no half-written list.
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
