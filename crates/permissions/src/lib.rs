//! Decides whether a tool call may run, and does nothing else.
//!
//! Pure and synchronous: no dialog, no printing, no environment. Only `resolve`
//! reads the file system, to see where links lead. The order is section 5.12
//! with a floor below it (see `engine`):
//!
//! 0. `floor`: what is denied in every mode;
//! 1. deny rules, any part of the call (`deny`);
//! 2. ask rules and a hook's ask;
//! 3. allow rules, every part of the call (`allow`), else a hook's allow, else
//! 4. the mode;
//!
//! and `safety` turns an allow into a question where nothing else should.
//!
//! Rules come from the settings (`ona_settings`, `grammar`, `rules`); where
//! that comes from, and who is asked, is for others.

mod allow;
mod bash;
mod call;
mod condition;
mod confinement;
mod deny;
mod dirs;
mod domain;
mod engine;
mod explain;
mod floor;
mod git_config;
mod grammar;
mod guarded;
mod lint;
mod overlap;
mod parameters;
mod path;
mod resolve;
mod rules;
mod safety;
mod text;
mod unreadable;
mod update;
mod wildcard;
mod worktree;

pub use bash::bash_tree;
pub use condition::Condition;
pub use dirs::SessionDirs;
pub use engine::PermissionEngine;
pub use explain::{ChangedFile, Explanation};
pub use grammar::{Rule, RuleError};
pub use guarded::GuardedFiles;
pub use lint::RuleWarning;
pub use parameters::rule_parameters;
pub use rules::{DroppedRule, Rules};
pub use text::{printable, printable_lines};
pub use update::UpdateError;
pub use worktree::WorktreeChanges;
