//! The stored login as a source of credentials: renewed before it expires, or when a server refuses it.
//!
//! Many processes share one login, and a server may give each refresh token once only. So a
//! refresh happens under a lock between processes, and what is stored is read again after
//! the lock was acquired: of many processes one asks the server, the others find its answer.
//!
//! A refresh is not interrupted once it is under way: a token that the server has replaced and
//! nobody has stored would end the login.

use crate::credential_store::{CredentialPlace, CredentialStore, CredentialStoreError};
use crate::oauth::{self, OAuthError};
use crate::stored_login::{LoginKind, StoredLogin};
use ona_api::{Redactor, clock};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Why a stored login gives no credential.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    #[error("the stored login has expired; log in again: ona auth login")]
    Expired,
    #[error("the stored login was removed meanwhile; log in again: ona auth login")]
    LoggedOut,
    #[error("the stored login could not be renewed: {0}")]
    NotRenewed(String),
    /// The server has replaced the token, and nothing holds the new one.
    #[error("the login was renewed, but {0}; make room, then log in again: ona auth login")]
    NotSaved(String),
}

pub struct LoginSource {
    store: CredentialStore,
    redactor: Redactor,
    kind: LoginKind,
    known: Mutex<KnownLogin>,
}

struct KnownLogin {
    login: StoredLogin,
    /// The server refused this value.
    refused: bool,
}

impl LoginSource {
    /// Reads the stored login and makes the redactor know it. May wait for a keychain.
    pub fn open(store: CredentialStore, redactor: Redactor) -> Result<Option<Self>, CredentialStoreError> {
        let Some((login, _)) = store.load()? else { return Ok(None) };
        redactor.learn_all(login.secrets());
        let kind = login.kind;
        Ok(Some(Self { store, redactor, kind, known: Mutex::new(KnownLogin { login, refused: false }) }))
    }

    pub fn kind(&self) -> LoginKind {
        self.kind
    }

    /// The server refused this value: the next request needs another one. Returns whether there can be one.
    pub async fn refused(&self, value: &SecretString) -> bool {
        let mut known = self.known.lock().await;
        if known.login.access.expose_secret() == value.expose_secret() {
            known.refused = true;
        }
        known.login.can_refresh()
    }

    /// Returns what signs the next request.
    pub async fn value(&self, cancel: &CancellationToken) -> Result<SecretString, LoginError> {
        let mut known = self.known.lock().await;
        if known.refused || known.login.wants_refresh(clock::now()) {
            let login = self.renewed(&known, cancel).await?;
            *known = KnownLogin { login, refused: false };
        }
        Ok(known.login.access.clone())
    }

    async fn renewed(&self, known: &KnownLogin, cancel: &CancellationToken) -> Result<StoredLogin, LoginError> {
        let not_renewed = |error: CredentialStoreError| LoginError::NotRenewed(error.to_string());
        let _lock = self.store.lock(cancel).await.map_err(not_renewed)?;
        let stored = self.load().await.map_err(not_renewed)?;
        let (current, place) = stored.ok_or(LoginError::LoggedOut)?;
        self.redactor.learn_all(current.secrets());
        let is_other = current.access.expose_secret() != known.login.access.expose_secret();
        if is_other && !current.wants_refresh(clock::now()) {
            return Ok(current);
        }
        let usable = !current.is_expired(clock::now()) && (is_other || !known.refused);
        let (Some(client), Some(token)) = (&current.client, &current.refresh) else {
            return if usable { Ok(current) } else { Err(LoginError::Expired) };
        };
        // A disk that takes no file must be noticed before the server replaces the token.
        self.save(&current).await.map_err(not_renewed)?;
        tracing::debug!(place = place.as_str(), "renewing the stored login");
        match oauth::refresh(client, token).await {
            Ok(tokens) => {
                let next = current.refreshed(tokens, clock::now());
                self.redactor.learn_all(next.secrets());
                self.save(&next).await.map_err(|error| LoginError::NotSaved(error.to_string()))?;
                Ok(next)
            }
            Err(OAuthError::InvalidGrant(why)) => {
                tracing::debug!(why, "the login server does not renew the login");
                if let Err(error) = self.save(&current.given_up()).await {
                    tracing::debug!(%error, "the end of the login cannot be recorded");
                }
                Err(LoginError::Expired)
            }
            // It may work later; until it expires the value is good.
            Err(_) if usable => Ok(current),
            Err(error) => Err(LoginError::NotRenewed(self.redactor.apply(&error.to_string()).into_owned())),
        }
    }

    async fn load(&self) -> Result<Option<(StoredLogin, CredentialPlace)>, CredentialStoreError> {
        let store = self.store.clone();
        tokio::task::spawn_blocking(move || store.load()).await.expect("reading a login does not panic")
    }

    async fn save(&self, login: &StoredLogin) -> Result<CredentialPlace, CredentialStoreError> {
        let (store, login) = (self.store.clone(), login.clone());
        tokio::task::spawn_blocking(move || store.save(&login)).await.expect("saving a login does not panic")
    }
}

impl fmt::Debug for LoginSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LoginSource({})", self.kind.as_str())
    }
}
