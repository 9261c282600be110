//! Credentials, endpoints and the HTTP client for model servers.
//!
//! Credentials are resolved in one order (DEC-084) and stay in memory; the model
//! and the endpoint follow from `model_config` and the environment (sections 2.2
//! and 2.3); `http` builds every client. Login and the store of its tokens come
//! from elsewhere as one more secret. What is said to the server is for `providers`.

mod credential;
mod endpoint;
mod error;
mod helper;
pub mod http;
mod inherited_token;
mod model;

pub use credential::{Credential, CredentialKind, CredentialSources, lm_studio, openai, resolve_anthropic};
pub use endpoint::Endpoint;
pub use error::{AuthError, HelperFailure, ModelConfigError};
pub use helper::ApiKeyHelper;
pub use inherited_token::inherited_token;
pub use model::{ModelChoice, default_model_config, named_model, overrides, resolve_model};
