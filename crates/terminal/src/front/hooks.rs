//! Tells the screen which hooks ran, how long they took and how they ended.

use super::{EventSender, SessionEvent};
use ona_api::EventName;
use ona_hookplane::{Exit, Firing, Hook, HookExecution, ProcessRunner, Runner};
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// One hook that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HookRun {
    pub event: EventName,
    pub tool: Option<String>,
    /// As the list of hooks names it.
    pub name: String,
    pub took: Duration,
    /// What went wrong, or was said by a hook that blocks.
    pub problem: Option<String>,
    pub blocked: bool,
}

pub(super) struct ReportingRunner {
    pub processes: ProcessRunner,
    pub events: EventSender,
}

impl Runner for ReportingRunner {
    fn run<'a>(
        &'a self,
        hook: &'a Hook,
        firing: &'a Firing,
        stdin: String,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = HookExecution> + Send + 'a>> {
        Box::pin(async move {
            let began = Instant::now();
            let ran = self.processes.run(hook, firing, stdin, timeout).await;
            let first_line = |text: &str| text.lines().next().map(str::to_owned).filter(|line| !line.is_empty());
            let (problem, blocked) = match &ran.exit {
                Exit::Code(0) => (None, false),
                Exit::Code(2) => (first_line(&ran.stderr), true),
                Exit::Code(code) => (first_line(&ran.stderr).or(Some(format!("exit code {code}"))), false),
                Exit::NotStarted(why) => (Some(why.to_string()), false),
                Exit::TimedOut { .. } => (Some("timed out".to_owned()), false),
                Exit::Cancelled => (Some("interrupted".to_owned()), false),
            };
            self.events.send(SessionEvent::Hook(HookRun {
                event: firing.event,
                tool: firing.tool().map(str::to_owned),
                name: hook.source.clone(),
                took: began.elapsed(),
                problem,
                blocked,
            }));
            ran
        })
    }
}
