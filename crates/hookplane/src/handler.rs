//! A hook that is not a process started for each firing: a module, a worker that
//! stays, a request.
//!
//! It gets what a process would get and answers with what a process would leave, so
//! that rows, exit codes and merging are the same for all.

use crate::firing::Firing;
use crate::hook::HookAction;
use crate::runner::HookExecution;
use ona_api::Env;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// One firing, as a handler sees it.
pub struct HookInvocation<'a> {
    pub firing: &'a Firing,
    /// The object a process would read from stdin, secrets taken out.
    pub stdin: String,
    /// What is to be answered with `Exit::TimedOut` once it has passed.
    pub timeout: Duration,
    /// The environment a process would have.
    pub env: Env,
    pub cancel: &'a CancellationToken,
}

pub type HandlerFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

pub trait HookHandler: Send + Sync {
    /// The `command` column.
    fn label(&self) -> &str;

    /// Handlers with the same identity count as duplicates.
    fn identity(&self) -> &str {
        self.label()
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution>;

    /// Whether it could run at all. Asked before a tool runs of the hooks that come
    /// after it; what is wrong then denies the call (DEC-153).
    fn ready(&self) -> HandlerFuture<'_, Result<(), String>> {
        Box::pin(async { Ok(()) })
    }

    /// What it starts, if that is a command like another's.
    fn action(&self) -> Option<&HookAction> {
        None
    }

    /// The files it is made of, if it is not a command like another's.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Why it could not start in this directory, as far as that is plain without starting.
    fn missing(&self, _cwd: &Path, _env: &Env) -> Option<String> {
        None
    }

    /// Whether other hooks wait for it. One that makes calls of its own, whose hooks
    /// must run, says no.
    fn is_exclusive(&self) -> bool {
        true
    }
}
