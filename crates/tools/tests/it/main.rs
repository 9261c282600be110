//! Real files and real shells; nothing is simulated.

mod bash;
mod edit;
mod fixture;
mod glob;
mod grep;
mod notebook;
mod plan;
mod questions;
mod read;
mod resolved_file;
mod tasks;
mod write;
