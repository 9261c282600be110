//! Anthropic's Messages API: our words to its JSON and back.

pub(crate) mod decode;
pub(crate) mod encode;
