//! Chat Completions: our words to its JSON and back.

pub mod decode;
pub mod encode;
