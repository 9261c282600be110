//! Talks to models: two wires for three providers.
//!
//! `Dialogue` turns messages into the bytes of a request and keeps them, `Provider`
//! sends them and reads the answer, `classify` names what went wrong. Nothing here
//! retries or waits: `Retry` only says how long a caller should. Where requests go
//! and what they are signed with is decided in `auth`.

mod assemble;
mod chat;
pub mod classify;
mod dialogue;
mod fingerprint;
mod messages;
mod provider;
mod reading;
mod retry;
mod retry_after;
mod sse;
mod transport;
mod wire;
mod words;

pub use assemble::{Assembler, CutOff};
pub use dialogue::Dialogue;
pub use provider::Provider;
pub use reading::{Format, Reading};
pub use retry::Retry;
pub use wire::{Sight, Wire};
