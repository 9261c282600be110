//! The path of a tool call: plan, hooks, gate, rules, person, run, hooks, one commit.
//!
//! This is the only crate that sees both hooks and store, so "no transaction is
//! open while a hook or a tool runs" (DEC-017) is a property of `pipeline.rs`.

mod firings;
mod operator;
mod pipeline;
mod records;
mod session;

pub use operator::{Operator, Question};
pub use pipeline::{Finished, Pipeline};
pub use session::{EnvFile, Keep, Session};
