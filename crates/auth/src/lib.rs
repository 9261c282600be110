//! Who we are to a model server, and how we reach it.
//!
//! Credentials are resolved in one order (DEC-084) and stay in memory; the model
//! and the endpoint follow from `model_config` and the environment (sections 2.2
//! and 2.3); `http` builds every client. Login and the store of its tokens come
//! from elsewhere as one more secret. What is said to the server is for `providers`.

mod credential;
mod endpoint;
mod error;
mod handoff;
mod helper;
pub mod http;
mod model;

pub use credential::{Class, Credential, Sources, lm_studio, openai, resolve_anthropic};
pub use endpoint::Endpoint;
pub use error::{AuthError, ConfigError, HelperFailure};
pub use handoff::handed_token;
pub use helper::Helper;
pub use model::{Choice, default_model_config, named_model, overrides, resolve_model};
