//! Chat Completions: our words to its JSON and back.

pub(crate) mod decode;
pub(crate) mod encode;
