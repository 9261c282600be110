//! Which client logs in, and at which server.
//!
//! Neither the client id nor the endpoints of another product's login are ours to use, so
//! they come from variables, or from the distributor who built the program (DEC-085). Only the
//! environment of the process counts: a project that could set an endpoint would be
//! given a refresh token.

use crate::endpoint::is_loopback;
use ona_api::{Env, Variable, environment};
use reqwest::Url;
use serde::{Deserialize, Serialize};

/// The values a distributor may build in.
const BUILT_IN: [(Variable, Option<&str>); 5] = [
    (environment::ONA_OAUTH_CLIENT_ID, option_env!("ONA_BUILD_OAUTH_CLIENT_ID")),
    (environment::ONA_OAUTH_AUTHORIZE_URL, option_env!("ONA_BUILD_OAUTH_AUTHORIZE_URL")),
    (environment::ONA_OAUTH_TOKEN_URL, option_env!("ONA_BUILD_OAUTH_TOKEN_URL")),
    (environment::ONA_OAUTH_DEVICE_URL, option_env!("ONA_BUILD_OAUTH_DEVICE_URL")),
    (environment::ONA_OAUTH_REVOKE_URL, option_env!("ONA_BUILD_OAUTH_REVOKE_URL")),
];

/// A registered client and its server. A login keeps it, so that a refresh goes where the
/// login came from, whatever the environment says by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OAuthClient {
    pub client_id: String,
    pub token_url: Url,
    #[serde(default)]
    pub authorize_url: Option<Url>,
    #[serde(default)]
    pub device_url: Option<Url>,
    #[serde(default)]
    pub revoke_url: Option<Url>,
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Of a client that is not public.
    #[serde(default)]
    pub secret: Option<ClientSecret>,
    /// What the tokens are for (RFC 8707).
    #[serde(default)]
    pub resource: Option<String>,
}

/// It is stored sealed, with the login, and never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSecret(pub String);

impl std::fmt::Debug for ClientSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClientSecret")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OAuthConfigError {
    #[error("no OAuth client is configured: {0} is not set")]
    Missing(Variable),
    #[error("{0} is not a URL")]
    NotUrl(Variable),
    /// Codes and tokens travel in the clear otherwise.
    #[error("{0} must be an https URL; http is for this machine only")]
    NotSecure(Variable),
}

impl OAuthClient {
    pub fn from_env(env: &Env) -> Result<Self, OAuthConfigError> {
        let required = |variable| value(env, variable).ok_or(OAuthConfigError::Missing(variable));
        let client_id = required(environment::ONA_OAUTH_CLIENT_ID)?.trim().to_owned();
        let token_url = secure_url(environment::ONA_OAUTH_TOKEN_URL, required(environment::ONA_OAUTH_TOKEN_URL)?)?;
        let optional = |variable| value(env, variable).map(|text| secure_url(variable, text)).transpose();
        let scopes = env.non_empty(environment::ONA_OAUTH_SCOPES).unwrap_or_default();
        Ok(Self {
            client_id,
            token_url,
            authorize_url: optional(environment::ONA_OAUTH_AUTHORIZE_URL)?,
            device_url: optional(environment::ONA_OAUTH_DEVICE_URL)?,
            revoke_url: optional(environment::ONA_OAUTH_REVOKE_URL)?,
            scopes: scopes.split_whitespace().map(str::to_owned).collect(),
            secret: None,
            resource: None,
        })
    }

    /// Returns the page for the browser.
    pub fn authorize_url(&self) -> Result<&Url, OAuthConfigError> {
        self.authorize_url.as_ref().ok_or(OAuthConfigError::Missing(environment::ONA_OAUTH_AUTHORIZE_URL))
    }

    /// Returns the endpoint that hands out user codes.
    pub fn device_url(&self) -> Result<&Url, OAuthConfigError> {
        self.device_url.as_ref().ok_or(OAuthConfigError::Missing(environment::ONA_OAUTH_DEVICE_URL))
    }
}

fn value(env: &Env, variable: Variable) -> Option<&str> {
    let built_in = || BUILT_IN.iter().find(|(one, _)| *one == variable).and_then(|(_, value)| *value);
    env.non_empty(variable).or_else(built_in)
}

fn secure_url(variable: Variable, text: &str) -> Result<Url, OAuthConfigError> {
    let url = Url::parse(text.trim()).map_err(|_| OAuthConfigError::NotUrl(variable))?;
    match url.scheme() {
        "https" if url.host().is_some() => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        _ => Err(OAuthConfigError::NotSecure(variable)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_https_or_on_this_machine() {
        let variable = environment::ONA_OAUTH_TOKEN_URL;
        for good in ["https://auth.example/token", "http://127.0.0.1:80/t", "http://[::1]/t", "http://localhost/t"] {
            assert!(secure_url(variable, good).is_ok(), "{good}");
        }
        for bad in ["http://auth.example/token", "http://127.0.0.1.example/t", "file:///etc/passwd", "ftp://x/y"] {
            assert_eq!(secure_url(variable, bad), Err(OAuthConfigError::NotSecure(variable)), "{bad}");
        }
        assert_eq!(secure_url(variable, "auth.example"), Err(OAuthConfigError::NotUrl(variable)));
    }

    #[test]
    fn what_is_missing_is_named() {
        let env = Env::default();
        let missing = |variable| Err(OAuthConfigError::Missing(variable));
        assert_eq!(OAuthClient::from_env(&env), missing(environment::ONA_OAUTH_CLIENT_ID));
        let env = env.with("ONA_OAUTH_CLIENT_ID", "c");
        assert_eq!(OAuthClient::from_env(&env), missing(environment::ONA_OAUTH_TOKEN_URL));
        let client = OAuthClient::from_env(&env.with("ONA_OAUTH_TOKEN_URL", "https://a.example/t")).unwrap();
        assert_eq!(client.device_url(), Err(OAuthConfigError::Missing(environment::ONA_OAUTH_DEVICE_URL)));
    }
}
