//! Runs hooks as everywhere and reports when each starts and ends.
//!
//! Fronts show hooks while they run: one on a screen, another as messages of a stream. What is
//! shown of which event is for them; here nothing is left out and nothing is changed.

use crate::firing::Firing;
use crate::hook::Hook;
use crate::runner::{HookExecution, ProcessRunner, Runner};
use ona_api::CallId;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant};

/// Hears of hooks. It may not block.
pub trait HookObserver: Send + Sync {
    fn started(&self, run: &ObservedHook<'_>);

    fn ended(&self, run: &ObservedHook<'_>, ran: &HookExecution, took: Duration);
}

/// One run of a hook: the same value when it starts and when it ends.
pub struct ObservedHook<'a> {
    pub id: CallId,
    pub hook: &'a Hook,
    pub firing: &'a Firing,
}

/// A [`ProcessRunner`] whose runs are reported.
pub struct ObservedRunner<O> {
    pub processes: ProcessRunner,
    pub observer: O,
}

impl<O: HookObserver> Runner for ObservedRunner<O> {
    fn run<'a>(
        &'a self,
        hook: &'a Hook,
        firing: &'a Firing,
        stdin: String,
        timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = HookExecution> + Send + 'a>> {
        Box::pin(async move {
            let run = ObservedHook { id: CallId::random(), hook, firing };
            self.observer.started(&run);
            let began = Instant::now();
            let ran = self.processes.run(hook, firing, stdin, timeout).await;
            self.observer.ended(&run, &ran, began.elapsed());
            ran
        })
    }
}
