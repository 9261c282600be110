//! Runs the hooks of one event, one after another.
//!
//! Order is part of the contract: a hook sees the input as the hook before it
//! left it, and a deny skips the rest. That is why nothing here is concurrent.
//!
//! This crate neither reads configuration nor knows what a hook's output means
//! (see `dialects`), and it writes no rows: it returns them, so that no
//! transaction is open while a hook runs.

mod cause;
pub mod contract;
mod dialect;
mod engine;
mod environment;
mod firing;
mod handler;
mod hook;
mod list;
mod merge;
mod observed;
mod outcome;
mod pins;
mod runner;

pub use dialect::{Dialect, FailureEffect, HookContext, HookOutput, Injection, LogEntry, OnTimeout, ResultChange};
pub use engine::{HookEngine, HookFailure, OnFailure, OnLogEntry, TranscriptOf};
pub use environment::{HookEnvironment, Timeouts, name_session};
pub use firing::{AccessOf, Base, Firing, Lifetime};
pub use handler::{HandlerFuture, HookHandler, HookInvocation};
pub use hook::{Applies, Hook, HookAction, HookShell, PluginDirs, SessionRegistration};
pub use list::HookList;
pub use observed::{HookObserver, ObservedHook, ObservedRunner};
pub use outcome::{AttributedContext, HookIncident, HookOutcome, RequestDecision};
pub use pins::{ConfirmScriptChange, FilesOf, ScriptChange};
pub use runner::{Argv, CAPTURE, Exit, HookExecution, ProcessRunner, Runner, argv, decode, not_started, run_process};
