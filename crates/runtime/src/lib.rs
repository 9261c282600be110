//! Assembles one run of ona and hands it to a front: a command line, a protocol, a terminal.
//!
//! Three values follow from each other, each with one question to answer:
//!
//! - [`Launch`]: how was this process started? Environment, directory, [`Options`], which database.
//! - [`OpenProject`]: what is known of the project? The open store, the settings files that were
//!   found and merged, the redactor that knows their secrets.
//! - [`Runtime`]: what works in one directory? Hook engine, permission rules, MCP servers,
//!   background tasks and frozen settings. It hands out the sessions in which calls are made.
//!
//! This crate prints nothing and knows no exit code: sentences for people go to [`Notices`], what
//! cannot be done is a [`Failure`] with a kind. It parses no flags and reads no environment
//! of its own; both are handed in. What happens in a session is `ona-orchestration`'s matter.

mod agent_shell;
pub mod agent_tool;
pub mod agents;
pub mod doctor;
mod environments;
pub mod eval_call;
mod extensions;
mod failure;
mod findings;
mod folder_trust;
pub mod gastown;
pub mod guards;
mod hook_files;
pub mod hook_handlers;
pub mod hook_sources;
pub mod ids;
mod launch;
pub mod left_worktrees;
pub mod local_server;
pub mod login;
pub mod mcp;
pub mod memory_import;
pub mod model_choice;
mod no_operator;
mod notices;
mod options;
pub mod output_styles;
pub mod overview;
mod permission_writer;
mod permissions;
pub mod plan_tests;
mod plugin_folders;
pub mod plugins;
pub mod rewinds;
mod runtime;
pub mod sandbox;
mod search_access;
pub mod session_choice;
pub mod session_lookup;
pub mod session_start;
pub mod settings_files;
pub mod skills;
pub mod starter;
pub mod table;
mod worktree;
pub mod worktrees;

pub use extensions::{Extension, ExtensionKind, ExtensionSource, extensions};
pub use failure::{Failure, FailureKind};
pub use folder_trust::FolderContents;
pub use launch::{Launch, OpenProject, Purpose, at, nowhere};
pub use no_operator::NoOperator;
pub use notices::Notices;
pub use options::Options;
pub use permissions::mode_named;
pub use runtime::{MAX_TOKENS, OtherHooks, Runtime, block_on, prices};
pub use search_access::operator_search_access;
