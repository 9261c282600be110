//! Has behavioural tests written, runs them, and gathers what is known of them (sections
//! 8.5 and 8.6, DEC-122, DEC-123).
//!
//! A case is a bash script. It runs as a Bash call through the whole path of a call,
//! in a session of its own, with a home, a database and an environment of its own, and
//! where the system allows it with a project it cannot change. The live database is
//! written here and by no program that the case starts.
//!
//! What a result is worth is decided in `workflow`; nothing here prints.

mod environment;
mod generate;
mod phase;
mod plan_tests;
mod project;
mod public_api;
mod run;
mod sandbox;
mod shell;
mod test_dir;

pub use generate::{
    GenerationError, GenerationEvent, GenerationRequest, GenerationResult, GenerationWatcher, NewSession,
    TestGenerator, generate,
};
pub use phase::{PhaseChange, PhaseError, change_phase, report};
pub use plan_tests::{PlanSelector, PlanTests, load};
pub use project::Project;
pub use public_api::{DeclarationContext, Withheld, gather};
pub use run::{CaseRun, RunConfig, RunProgress, RunSummary, TestRunError, run};
pub use sandbox::Sandbox;
