//! A build without the feature `keychain`: a login is kept in the encrypted file.

use crate::credential_store::CredentialStoreError;
use crate::stored_login::StoredLogin;

pub(crate) fn load() -> Option<StoredLogin> {
    None
}

pub(crate) fn save(_: &StoredLogin) -> bool {
    false
}

pub(crate) fn delete() -> Result<bool, CredentialStoreError> {
    Ok(false)
}
