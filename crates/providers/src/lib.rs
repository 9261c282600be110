//! Requests to models: two wire formats for three providers.
//!
//! `EncodedMessages` turns messages into the bytes of a request and keeps them, `Provider`
//! sends them and reads the response, `classify` turns failures into error classes.
//! `model_list` asks servers which models they have. Nothing here retries or waits: `RetryPolicy` only says how long a caller should wait.
//! Endpoints and credentials are decided in `auth`.

mod assemble;
mod chat;
pub mod classify;
mod encoded_messages;
mod fingerprint;
mod lone_surrogates;
mod messages;
pub mod model_list;
mod provider;
mod response;
mod retry;
mod retry_after;
mod transport;
mod wire;
mod wire_text;

pub use assemble::{Assembler, IncompleteReply};
pub use encoded_messages::EncodedMessages;
pub use provider::{Provider, messages_headers};
pub use response::{BodyFormat, ResponseDecoder};
pub use retry::RetryPolicy;
pub use wire::{ImageSupport, WireFormat};
