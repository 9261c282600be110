//! Logging in with OAuth 2 (section 2.7, A3; DEC-085).
//!
//! `config` says with which client and where; `protocol` speaks to the server, through the
//! `oauth2` library and our HTTP client; `callback` receives the browser; `pasted` reads what
//! a person copied from it. Nothing here prints, stores or opens a browser: a front does.

mod callback;
mod config;
mod error;
mod pasted;
mod protocol;

pub use callback::CallbackListener;
pub use config::{ClientSecret, OAuthClient, OAuthConfigError};
pub use error::OAuthError;
pub use pasted::{PastedCode, read_pasted};
pub use protocol::{AuthorizationAttempt, DeviceAttempt, GrantedTokens};
pub(crate) use protocol::{refresh, revoke};
