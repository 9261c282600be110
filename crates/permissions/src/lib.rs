//! Decides whether a tool call may run, and does nothing else.
//!
//! Pure and synchronous: no dialog, no printing, no environment. Only `resolve`
//! reads the file system, to see where links lead. The order is section 5.12
//! with a floor below it (see `engine`):
//!
//! 0. `floor`: what is denied in every mode;
//! 1. deny rules, any part of the call (`strike`);
//! 2. ask rules and a hook's ask;
//! 3. allow rules, every part of the call (`grant`), else a hook's allow, else
//! 4. the mode;
//!
//! and `safety` turns an allow into a question where nothing else should.
//!
//! Rules come from a settings snapshot (`settings`, `grammar`, `rules`); where
//! that comes from, and who is asked, is for others.

mod bash;
mod call;
mod condition;
mod domain;
mod engine;
mod explain;
mod floor;
mod grammar;
mod grant;
mod guarded;
mod lint;
mod overlap;
mod parameters;
mod path;
mod place;
mod planning;
mod resolve;
mod rules;
mod safety;
mod settings;
mod strike;
mod text;
mod unreadable;
mod update;
mod wildcard;
mod worktree;

pub use bash::bash_tree;
pub use condition::Condition;
pub use engine::PermissionEngine;
pub use explain::{Explanation, Target};
pub use grammar::{Rule, Why};
pub use guarded::Guarded;
pub use lint::Warning;
pub use place::{Place, inside};
pub use planning::{Planning, TasksWhilePlanning};
pub use rules::{Dropped, Rules};
pub use settings::{BadPermissions, Finding, PermissionSettings};
pub use text::shown;
pub use update::Refused;
pub use worktree::WorkTree;
