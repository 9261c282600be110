//! The system's keychain: the secret service on Linux, the Keychain on macOS.
//!
//! It may be missing, locked or waiting for its user. Every call happens on a thread of its own
//! and is given up after a while; a keychain that does not answer counts as missing, except
//! where a login would stay in it unseen.

use crate::credential_store::CredentialStoreError;
use crate::stored_login::StoredLogin;
use keyring_core::{Entry, Error};
use std::sync::mpsc::channel;
use std::time::Duration;

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store;
#[cfg(not(target_os = "macos"))]
use zbus_secret_service_keyring_store::Store;

const SERVICE: &str = "ona";
const USER: &str = "login";
/// Its user may have to type a password first.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn load() -> Option<StoredLogin> {
    let found = with_entry(|entry| entry.get_secret())?;
    let text = found.inspect_err(|error| tracing::debug!(%error, "the keychain gives no login")).ok()?;
    StoredLogin::from_json(&text)
}

/// Returns whether the keychain has the login now.
pub(crate) fn save(login: &StoredLogin) -> bool {
    let text = login.to_json();
    let saved = with_entry(move |entry| entry.set_secret(text.as_bytes()));
    saved.is_some_and(|saved| saved.inspect_err(|error| tracing::debug!(%error, "the keychain takes no login")).is_ok())
}

/// Returns whether there was a login.
pub(crate) fn delete() -> Result<bool, CredentialStoreError> {
    match with_entry(|entry| entry.delete_credential()) {
        None | Some(Err(Error::NoEntry)) => Ok(false),
        Some(Ok(())) => Ok(true),
        Some(Err(error)) => Err(CredentialStoreError::Keychain(error.to_string())),
    }
}

/// Does something with the entry of the login; `None` without a keychain that answers.
fn with_entry<T: Send + 'static>(
    work: impl FnOnce(&Entry) -> Result<T, Error> + Send + 'static,
) -> Option<Result<T, Error>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let store = Store::new().inspect_err(|error| tracing::debug!(%error, "no keychain answers"));
        if let Ok(store) = store {
            keyring_core::set_default_store(store);
            let done = Entry::new(SERVICE, USER).and_then(|entry| work(&entry));
            // Nobody waits any more.
            sender.send(done).ok();
        }
    });
    receiver.recv_timeout(PATIENCE).ok()
}
