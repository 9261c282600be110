//! The life cycle of a conversation: phases, plans, the planning gate, behavioural tests.
//!
//! Everything here is a pure decision over what the database says at that moment
//! (DEC-116): a transition is either a refusal with its reason or the rows that
//! must be committed together. The caller reads and writes those rows.

pub mod commands;
mod gate;
mod plan;
pub mod testgen;
mod transition;

pub use gate::{GATED_TOOLS, planning_gate};
pub use plan::{NO_CRITERIA, approve_plan, save_draft};
pub use transition::{Facts, TransitionRefused, transition};
