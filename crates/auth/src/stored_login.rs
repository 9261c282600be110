//! A login as it is kept between runs.
//!
//! Either tokens of a login server, or one long-lived value that the operator pasted. The
//! form written here is only ever seen encrypted, or in a keychain.

use crate::oauth::{GrantedTokens, OAuthClient};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A token is renewed this long before it expires (DEC-085).
const MARGIN: Duration = Duration::from_secs(60);
/// How the vendor's API keys begin.
const API_KEY_PREFIX: &str = "sk-ant-api";

/// How a login signs requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoginKind {
    /// Tokens of a login server.
    Oauth,
    /// A long-lived token that was pasted.
    Token,
    /// An API key that was pasted.
    ApiKey,
}

impl LoginKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LoginKind::Oauth => "oauth",
            LoginKind::Token => "token",
            LoginKind::ApiKey => "api_key",
        }
    }
}

#[derive(Clone)]
pub struct StoredLogin {
    pub kind: LoginKind,
    /// What signs requests.
    pub access: SecretString,
    pub refresh: Option<SecretString>,
    pub expires_at: Option<SystemTime>,
    pub scopes: Vec<String>,
    pub logged_in_at: SystemTime,
    /// Where the tokens come from, and where they are renewed and revoked.
    pub client: Option<OAuthClient>,
}

impl StoredLogin {
    /// A value that the operator pasted. What it is can be told from how it begins.
    pub fn pasted(text: &str, now: SystemTime) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let kind = if text.starts_with(API_KEY_PREFIX) { LoginKind::ApiKey } else { LoginKind::Token };
        Some(Self {
            kind,
            access: text.into(),
            refresh: None,
            expires_at: None,
            scopes: Vec::new(),
            logged_in_at: now,
            client: None,
        })
    }

    pub fn granted(tokens: GrantedTokens, client: OAuthClient, now: SystemTime) -> Self {
        let GrantedTokens { access_token, refresh_token, lifetime, scopes } = tokens;
        Self {
            kind: LoginKind::Oauth,
            access: access_token,
            refresh: refresh_token,
            expires_at: lifetime.and_then(|lifetime| now.checked_add(lifetime)),
            scopes: scopes.unwrap_or_else(|| client.scopes.clone()),
            logged_in_at: now,
            client: Some(client),
        }
    }

    /// Returns the login after a refresh. A server that hands out no new refresh token lets the old one stand.
    pub(crate) fn refreshed(&self, tokens: GrantedTokens, now: SystemTime) -> Self {
        Self {
            access: tokens.access_token,
            refresh: tokens.refresh_token.or_else(|| self.refresh.clone()),
            expires_at: tokens.lifetime.and_then(|lifetime| now.checked_add(lifetime)),
            scopes: tokens.scopes.unwrap_or_else(|| self.scopes.clone()),
            ..self.clone()
        }
    }

    /// Returns the login after the server refused to renew it.
    pub(crate) fn given_up(&self) -> Self {
        Self { refresh: None, ..self.clone() }
    }

    pub(crate) fn wants_refresh(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|at| at <= now + MARGIN)
    }

    pub fn is_expired(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Whether requests can be signed, as far as this machine can tell.
    pub fn is_usable(&self, now: SystemTime) -> bool {
        !self.is_expired(now) || self.can_refresh()
    }

    pub fn can_refresh(&self) -> bool {
        self.refresh.is_some() && self.client.is_some()
    }

    /// Returns every secret of it, with a name for the label.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        let refresh = self.refresh.as_ref().map(|token| ("refresh token", token.expose_secret()));
        let client = self.client.as_ref().and_then(|client| client.secret.as_ref());
        let client = client.map(|secret| ("client secret", secret.0.as_str()));
        std::iter::once(("login", self.access.expose_secret())).chain(refresh).chain(client)
    }

    pub(crate) fn to_json(&self) -> String {
        let written = Written {
            kind: self.kind,
            access: self.access.expose_secret().to_owned(),
            refresh: self.refresh.as_ref().map(|token| token.expose_secret().to_owned()),
            expires_at: self.expires_at.map(seconds),
            scopes: self.scopes.clone(),
            logged_in_at: seconds(self.logged_in_at),
            client: self.client.clone(),
        };
        serde_json::to_string(&written).expect("strings and numbers")
    }

    /// `None` for anything else than what `to_json` writes.
    pub(crate) fn from_json(text: &[u8]) -> Option<Self> {
        let written: Written = serde_json::from_slice(text).ok()?;
        let visible = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        let at = |seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        Some(Self {
            kind: written.kind,
            access: Some(written.access).filter(|text| visible(text))?.into(),
            refresh: written.refresh.filter(|text| !text.is_empty()).map(SecretString::from),
            expires_at: written.expires_at.and_then(at),
            scopes: written.scopes,
            logged_in_at: at(written.logged_in_at)?,
            client: written.client,
        })
    }
}

impl fmt::Debug for StoredLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoredLogin({})", self.kind.as_str())
    }
}

#[derive(Serialize, Deserialize)]
struct Written {
    kind: LoginKind,
    access: String,
    #[serde(default)]
    refresh: Option<String>,
    #[serde(default)]
    expires_at: Option<u64>,
    #[serde(default)]
    scopes: Vec<String>,
    logged_in_at: u64,
    #[serde(default)]
    client: Option<OAuthClient>,
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_pasted_value_is_told_by_how_it_begins() {
        let kind = |text: &str| StoredLogin::pasted(text, at(0)).map(|login| login.kind);
        assert_eq!(kind(" sk-ant-api03-abc\n"), Some(LoginKind::ApiKey));
        assert_eq!(kind("sk-ant-oat01-abc"), Some(LoginKind::Token));
        assert_eq!(kind("another-gateway"), Some(LoginKind::Token));
        assert_eq!(kind(" \n"), None);
        assert_eq!(kind("two words"), None);
    }

    #[test]
    fn a_token_is_renewed_a_minute_before_it_expires() {
        let login = StoredLogin { expires_at: Some(at(1000)), ..StoredLogin::pasted("x", at(0)).unwrap() };
        assert!(!login.wants_refresh(at(939)) && login.wants_refresh(at(940)));
        assert!(!login.is_expired(at(999)) && login.is_expired(at(1000)));
        assert!(!login.is_usable(at(1000)), "nothing renews a pasted value");
        assert!(!StoredLogin::pasted("x", at(0)).unwrap().wants_refresh(at(u64::MAX / 4)));
    }

    #[test]
    fn what_is_written_is_read_again_and_nothing_else() {
        let login = StoredLogin { expires_at: Some(at(5)), ..StoredLogin::pasted("value", at(3)).unwrap() };
        let read = StoredLogin::from_json(login.to_json().as_bytes()).unwrap();
        assert_eq!(read.to_json(), login.to_json());
        for text in ["", "null", "[]", "{}", r#"{"kind":"oauth","access":7,"logged_in_at":0}"#, r#"{"kind":"x"}"#] {
            assert!(StoredLogin::from_json(text.as_bytes()).is_none(), "{text}");
        }
    }
}
