//! Hooks whose process stays: started at their first firing, then one line in and one
//! line out per firing. An extension of ona for guards that run on every call, where a new
//! process each time is too slow; `"persistent": true` in an entry of the sdlc or
//! claude dialect turns it on.
//!
//! In comes the object any other hook reads from stdin, as one line of JSON. Out goes
//! one line of JSON, either the hook's output itself or what a process would have left:
//!
//! ```text
//! {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}
//! {"exit_code":2,"stderr":"not on a Friday"}
//! {"stdout":{"systemMessage":"hello"}}
//! ```
//!
//! `exit_code` is 0 if left out, `stdout` is text or an object, `stderr` is text. From
//! there on everything is as with any other hook of its dialect. Text that is to appear in
//! a block belongs into `stderr`: what the process prints on its own stderr is recorded,
//! but may arrive late.
//!
//! A process that ends without an answer is started again once and asked again; if it
//! ends again the hook has failed. So it has when its answer cannot be read, or is more
//! than one line: the rest would be taken for the answer to another call. One that has
//! spoken unasked before a firing is replaced for the same reason. One that does not
//! answer in time is ended. Entries with the same command share one process; what the
//! environment says of a single firing is therefore left out of it.

use ona_api::{Variable, clock, environment, text};
use ona_hookplane::{
    CAPTURE, Exit, HandlerFuture, HookAction, HookExecution, HookHandler, HookInvocation, argv, decode, not_started,
};
use ona_process::{ChildCommand, ChildIoError, OnDeath, PersistentChild, SpawnError};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::Mutex;

/// Variables that are about the firing at hand; `stdin` says the same of every firing.
const OF_ONE_FIRING: [Variable; 2] = [environment::CLAUDE_ENV_FILE, environment::GT_HOOK_SOURCE];

pub(crate) struct Persistent {
    action: HookAction,
    label: String,
    /// Taken out while in use, so that an exchange that is cancelled does not leave a process
    /// with an unread answer.
    worker: Mutex<Option<PersistentChild>>,
}

/// One firing, as a process would have left it.
struct Ended {
    exit: Exit,
    stdout: String,
    stderr: String,
    /// Its answer was too long to be read.
    cut_off: bool,
}

impl Ended {
    fn with(exit: Exit) -> Self {
        Self { exit, stdout: String::new(), stderr: String::new(), cut_off: false }
    }
}

impl Persistent {
    /// `action` must be a shell or an exec form.
    pub(crate) fn new(action: HookAction) -> Self {
        // Unlike the text of a command, the label tells two of them apart in full.
        let label = match &action {
            HookAction::Shell { shell, command } => format!("persistent {} {command}", shell.as_str()),
            HookAction::Exec { program, args } => format!("persistent {program} {}", json!(args)),
            HookAction::Handler(handler) => handler.label().to_owned(),
        };
        Self { action, label, worker: Mutex::new(None) }
    }

    async fn firing(&self, called: &HookInvocation<'_>) -> Ended {
        let mut place = self.worker.lock().await;
        let mut worker = place.take().filter(|worker| !worker.has_unread_output());
        let mut first = true;
        loop {
            let mut speaking = match worker.take() {
                Some(worker) => worker,
                None => match self.start(called).await {
                    Ok(worker) => worker,
                    Err(error) => return Ended::with(not_started(&error)),
                },
            };
            match converse(&mut speaking, &called.stdin).await {
                Ok(line) => {
                    let complaints = decode(speaking.take_stderr());
                    if speaking.has_unread_output() {
                        let exit = broken("its answer is more than one line");
                        return Ended { exit, stdout: line, stderr: complaints, cut_off: false };
                    }
                    return match read(&line, complaints) {
                        Ok((exit, stdout, stderr)) => {
                            *place = Some(speaking);
                            Ended { exit, stdout, stderr, cut_off: false }
                        }
                        Err((why, stderr)) => Ended { exit: broken(&why), stdout: line, stderr, cut_off: false },
                    };
                }
                Err(ChildIoError::Ended) if first => first = false,
                Err(lost) => {
                    let (exit, cut_off) = (broken(&lost.to_string()), matches!(lost, ChildIoError::TooLong(_)));
                    return Ended { exit, stdout: String::new(), stderr: decode(speaking.take_stderr()), cut_off };
                }
            }
        }
    }

    async fn start(&self, called: &HookInvocation<'_>) -> Result<PersistentChild, SpawnError> {
        let (program, args) = argv(&self.action, &called.env).map_err(SpawnError::MissingProgram)?;
        let mut env = called.env.clone();
        OF_ONE_FIRING.into_iter().for_each(|name| env.remove(name));
        let command = ChildCommand {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            cwd: called.firing.base.cwd.clone(),
            env,
            stdin: Vec::new(),
            cap: CAPTURE,
            deadline: None,
            grace: Duration::ZERO,
            on_death: OnDeath::Leave,
            wall: None,
        };
        PersistentChild::start(&command).await
    }
}

impl HookHandler for Persistent {
    fn label(&self) -> &str {
        &self.label
    }

    fn action(&self) -> Option<&HookAction> {
        Some(&self.action)
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started_at = clock::utc_millis(clock::now());
            // Breaking off drops the process, and with it its group.
            let ended = tokio::select! {
                ended = tokio::time::timeout(called.timeout, self.firing(&called)) => ended
                    .unwrap_or_else(|_| Ended::with(Exit::TimedOut { after: called.timeout })),
                () = called.cancel.cancelled() => Ended::with(Exit::Cancelled),
            };
            let Ended { exit, stdout, stderr, cut_off } = ended;
            HookExecution { truncated: cut_off, ..HookExecution::ended(started_at, exit, stdout, stderr) }
        })
    }
}

async fn converse(worker: &mut PersistentChild, line: &str) -> Result<String, ChildIoError> {
    worker.send(line).await?;
    worker.receive().await
}

fn broken(why: &str) -> Exit {
    Exit::NotStarted(format!("[SDLC] persistent hook failed: {why}"))
}

/// Returns an answer as a process would have left it; or why it is none, with what was printed.
fn read(line: &str, complaints: String) -> Result<(Exit, String, String), (String, String)> {
    let fields = match text::json::<Value>(line) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err(("its answer is not a JSON object".into(), complaints)),
        Err(error) => return Err((format!("its answer is not one JSON value: {error}"), complaints)),
    };
    if !["exit_code", "stdout", "stderr"].iter().any(|key| fields.contains_key(*key)) {
        return Ok((Exit::Code(0), line.to_owned(), complaints));
    }
    let code = match fields.get("exit_code") {
        None | Some(Value::Null) => Some(0),
        Some(value) => value.as_i64().and_then(|code| i32::try_from(code).ok()),
    };
    let stdout = match fields.get("stdout") {
        None | Some(Value::Null) => Some(String::new()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(object @ Value::Object(_)) => Some(object.to_string()),
        Some(_) => None,
    };
    let stderr = match fields.get("stderr") {
        None | Some(Value::Null) => Some(complaints.clone()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => None,
    };
    match (code, stdout, stderr) {
        (Some(code), Some(stdout), Some(stderr)) => Ok((Exit::Code(code), stdout, stderr)),
        (None, ..) => Err(("exit_code must be a whole number".into(), complaints)),
        (_, None, _) => Err(("stdout must be text or an object".into(), complaints)),
        (.., None) => Err(("stderr must be text".into(), complaints)),
    }
}
