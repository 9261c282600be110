//! How a person logs in to a server: which login server it names, and which client this program
//! is there (RFC 9728, RFC 8414, RFC 7591; the authorization part of the protocol).
//!
//! Nothing here prints, opens a browser or stores anything. The login itself is that of
//! `ona_auth::oauth`: the code comes back to this machine, with PKCE.

mod discover;
mod fetch;
mod metadata;
mod register;

pub use discover::{Discovery, discover};
pub use register::client;

/// Why nobody can log in to a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginUnavailable {
    /// Requests without a login are answered.
    #[error("the server asks for no login")]
    NotNeeded,
    #[error("{0}")]
    Failed(String),
}

impl From<String> for LoginUnavailable {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}
