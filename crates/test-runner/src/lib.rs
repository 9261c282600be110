//! Has behavioural tests written, runs them, and gathers what is known of them (sections
//! 8.5 and 8.6, DEC-122, DEC-123).
//!
//! A case is a bash script. It runs as a Bash call through the whole path of a call,
//! in a session of its own, with a home, a database and an environment of its own, and
//! where the system allows it with a project it can not change. The live database is
//! written here and by nobody the case starts.
//!
//! What a result is worth is decided in `workflow`; nothing here prints.

mod author;
mod book;
mod environment;
mod phase;
mod project;
mod public_api;
mod room;
mod run;
mod sandbox;
mod shell;

pub use author::{Assignment, Author, NewSession, Watch, WriteError, Writing, Written, write};
pub use book::{Tests, Which, load};
pub use phase::{Step, StepError, report, step};
pub use project::{BadSettings, Project};
pub use public_api::{BadDeclaration, Ground, PublicApi, Withheld, gather};
pub use run::{Bench, Done, Ended, Progress, RunError, run};
pub use sandbox::Sandbox;
