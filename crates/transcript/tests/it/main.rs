//! Rows in, messages, steps and exports out. Each module is about one of these.

mod export;
mod laws;
mod mapping;
mod sessions;
mod support;
mod tolerance;
mod turn;
