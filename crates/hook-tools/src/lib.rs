//! Tools for people who write hooks (`ona hooks`): try them on fixtures, replay recorded sessions,
//! explain a recorded call, list and lint what is configured.
//!
//! A `HookBench` holds the hooks that are tried; the rest reads, compares and reports. What
//! is printed, and with which exit code, is up to the front.

mod bench;
mod event_input;
mod explain;
mod fire;
mod fixture;
mod hook_schema;
mod lint;
mod listing;
mod login_hooks;
mod module_fixture;
mod replay;
pub mod report;
mod scripted_user;

pub use bench::HookBench;
pub use event_input::{EventInput, firing, parse as parse_event};
pub use explain::{explanation_json, explanation_text};
pub use fire::fire_event;
pub use fixture::{EventTrial, Fixture, Trial, load_fixtures};
pub use hook_schema::hook_schema;
pub use lint::lint_findings;
pub use listing::{HookListing, ListedHook, RunTimes};
pub use login_hooks::{fire_logged_in, fire_logged_out};
pub use module_fixture::ModuleFixture;
pub use replay::{difference_text, replay_call};
pub use report::FixtureResult;
pub use scripted_user::ScriptedUser;
