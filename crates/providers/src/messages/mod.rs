//! Anthropic's Messages API: our words to its JSON and back.

pub mod decode;
pub mod encode;
