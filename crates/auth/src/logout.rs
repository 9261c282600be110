//! Ends a login: tells the server if it can be reached, and removes what is stored in any case
//! (DEC-086).

use crate::credential_store::{CredentialStore, CredentialStoreError};
use crate::oauth;
use crate::stored_login::StoredLogin;
use ona_api::Redactor;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long the server may take: the login goes in any case.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogoutReport {
    /// Whether there was a stored login, readable or not.
    pub removed: bool,
    pub revocation: Revocation,
}

/// Whether the server knows that the login has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    Done,
    /// Nothing was stored, it was pasted, or its server takes no revocations.
    NotNeeded,
    Failed(String),
}

/// `cancel` ends the wait for the server, not the removal.
pub async fn log_out(
    store: &CredentialStore,
    redactor: &Redactor,
    cancel: &CancellationToken,
) -> Result<LogoutReport, CredentialStoreError> {
    let _lock = store.lock(cancel).await?;
    let reader = store.clone();
    let stored = tokio::task::spawn_blocking(move || reader.load()).await.expect("reading a login does not panic");
    let revocation = match &stored {
        Ok(Some((login, _))) => {
            redactor.learn_all(login.secrets());
            tokio::select! {
                told = tokio::time::timeout(PATIENCE, revoke(login)) => told.unwrap_or_else(|_| Revocation::Failed("it did not answer in time".to_owned())),
                () = cancel.cancelled() => Revocation::Failed("interrupted".to_owned()),
            }
        }
        // What cannot be read is removed as well.
        Ok(None) | Err(_) => Revocation::NotNeeded,
    };
    let remover = store.clone();
    let removed =
        tokio::task::spawn_blocking(move || remover.delete()).await.expect("removing a login does not panic")?;
    Ok(LogoutReport { removed, revocation })
}

async fn revoke(login: &StoredLogin) -> Revocation {
    let Some((client, url)) = login.client.as_ref().and_then(|client| Some((client, client.revoke_url.as_ref()?)))
    else {
        return Revocation::NotNeeded;
    };
    // The refresh token stands for the whole login.
    let token = login.refresh.as_ref().unwrap_or(&login.access);
    match oauth::revoke(client, url, token).await {
        Ok(()) => Revocation::Done,
        Err(error) => Revocation::Failed(error.to_string()),
    }
}
