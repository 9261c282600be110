//! The store against real files. Each module is about one kind of fact.

mod atomic;
mod audit;
mod check;
mod damage;
mod history;
mod kept_files;
mod lock;
mod lost;
mod memory;
mod open;
mod race;
mod reader;
mod redaction;
mod refusal;
mod sequence;
mod settings;
mod support;
mod testing;
mod transcript;
mod workflow;
