//! Tests written from the plan alone (section 8.5.1, DEC-123), as far as no model is asked.
//!
//! The generator sees one message, put together from closed kinds of text: our fixed
//! words, the contract of the product, the approved plan, its criteria, and what the
//! operator declared as the project's public interface. Nothing is taken from a working
//! context, so nothing forbidden can be in it; `isolation` checks that all the same
//! before anything is sent.
//!
//! Reading files, running commands, asking the model and writing rows is the caller's.

mod contract;
mod isolation;
mod prompt;
mod reply;

pub use contract::contract;
pub use isolation::{Leak, TouchedSource, leak};
pub use prompt::{GeneratorPrompt, PublicText, Rejection, SYSTEM, prompt};
pub use reply::{GeneratorReply, scripts};

/// `agent_type` of the session that writes tests.
pub const AGENT_TYPE: &str = "sdlc-test-generator";

/// How often a rejected case is asked for again (DEC-124).
pub const AGAIN: usize = 3;

/// How many criteria one request is about: few enough for whole answers.
pub const AT_ONCE: usize = 5;
