//! Where the logins to servers are kept: each sealed in files of its own, beside the program's login.

use ona_api::{Env, digest};
use ona_auth::CredentialStore;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct ServerLogins {
    store: CredentialStore,
}

impl ServerLogins {
    pub fn from_env(env: &Env) -> Self {
        Self { store: CredentialStore::from_env(env) }
    }

    /// Returns the place of one server's login. It belongs to name and address together: a
    /// definition of the same name that leads elsewhere must not get the token.
    pub fn of(&self, server: &str, url: &str) -> CredentialStore {
        let key = digest::sha256_hex(format!("{server}\n{url}").as_bytes());
        self.store.for_server(&key[..24])
    }

    /// Returns the folder of all of them, for guards.
    pub fn folder(&self) -> PathBuf {
        self.store.servers_folder()
    }
}
