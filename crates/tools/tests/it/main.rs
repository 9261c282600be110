//! Real files and real shells; nothing is simulated.

mod bash;
mod edit;
mod glob;
mod grep;
mod located;
mod notebook;
mod plan;
mod questions;
mod read;
mod room;
mod tasks;
mod write;
