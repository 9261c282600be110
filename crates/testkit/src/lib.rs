//! Runs the real program from outside, in a world of its own.
//!
//! Each `Ona` has its own HOME, project folder and database, and starts the
//! program with an otherwise empty environment. Rows are read back by SQL through
//! a plain connection, as an operator would. Nothing of the product is replaced; the
//! model it talks to is a scripted server outside of it (`crates/scripted-model`, here as `model`).

mod driven_process;
mod rows;
mod run;
pub mod terminal;

pub use driven_process::DrivenProcess;
pub use ona_scripted_model as model;
pub use run::{Ona, RunOutput, finish};
pub use terminal::Terminal;
