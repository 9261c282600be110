//! Credentials, endpoints and the HTTP client for model servers.
//!
//! Credentials are resolved in one order (DEC-084) and stay in memory; the model
//! and the endpoint follow from `model_config` and the environment (sections 2.2
//! and 2.3); `http` builds every client. `oauth` logs in, `credential_store` keeps the login,
//! `login_source` renews it. What is said to a model's server is for `providers`.

mod credential;
mod credential_store;
mod endpoint;
mod error;
mod helper;
pub mod http;
mod inherited_token;
#[cfg(feature = "keychain")]
mod keychain;
#[cfg(not(feature = "keychain"))]
#[path = "no_keychain.rs"]
mod keychain;
mod login_source;
mod logout;
mod model;
mod model_name;
pub mod oauth;
mod stored_login;

pub use credential::{Credential, CredentialKind, CredentialSources, lm_studio, openai, resolve_anthropic};
pub use credential_store::{CredentialPlace, CredentialStore, CredentialStoreError};
pub use endpoint::Endpoint;
pub use error::{AuthError, HelperFailure, ModelConfigError};
pub use helper::ApiKeyHelper;
pub use inherited_token::inherited_token;
pub use login_source::{LoginError, LoginSource};
pub use logout::{LogoutReport, Revocation, log_out};
pub use model::{ModelChoice, default_model_config, overrides, resolve_model, resolve_named};
pub use model_name::{NamedModel, WireModels, model_of_environment, named_model};
pub use stored_login::{LoginKind, StoredLogin};
