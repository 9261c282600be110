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
mod outcome;
mod pins;
mod runner;

pub use dialect::{Context, Dialect, Failing, Injection, LogEntry, OnTimeout, ResultChange, Said};
pub use engine::{HookEngine, HookFailure, OnFailure, TranscriptOf, Watch};
pub use environment::{HookEnvironment, Timeouts, name_session};
pub use firing::{AccessOf, Base, Firing, Lifetime};
pub use handler::{Answer, Called, Handler};
pub use hook::{Action, Applies, Hook, PluginDirs, Registered, Shell};
pub use list::HookList;
pub use outcome::{Delivered, Note, Outcome, RequestDecision};
pub use pins::{AskAboutChange, FilesOf, ScriptChange};
pub use runner::{Argv, CAPTURE, Exit, ProcessRunner, Ran, Runner, argv, decode, not_started, run_process};
