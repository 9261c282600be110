//! Logging in, logging out, and what signs requests to Anthropic (section 2.7, A3 to A5), for
//! every front.
//!
//! A login belongs to the operator and not to a project, so it needs no database. How it is
//! obtained from a server, kept and renewed is in `ona-auth`; hooks of a login are in
//! `ona-hook-tools`; a front shows the steps and hands in what a person types ([`LoginFront`]).

mod browser;
mod device;
pub(crate) mod page;
mod status;

pub use status::{LoginStatus, described, shown_place};

use crate::failure::{Failure, FailureKind};
use crate::launch::Launch;
use ona_api::{clock, environment};
use ona_auth::oauth::{GrantedTokens, OAuthClient, OAuthConfigError, OAuthError};
use ona_auth::{CredentialPlace, CredentialStoreError, LogoutReport, StoredLogin};
use secrecy::ExposeSecret;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const THE_LOGIN: &str = "the login";
const TOKEN_HINT: &str = "a long-lived token or an API key is stored with: ona auth login --token < FILE";

/// Shows the steps of a login and hands in what a person pastes.
pub trait LoginFront: Send {
    fn show(&mut self, step: LoginStep<'_>);

    /// Waits for a line that a person pastes; for ever if nobody can.
    fn pasted_line(&mut self) -> Pin<Box<dyn Future<Output = String> + Send + '_>>;

    /// Whether a person who pasted something wrong can paste again.
    fn can_paste_again(&self) -> bool;
}

/// What a person has to see while a login goes on.
#[derive(Clone, Copy, Debug)]
pub enum LoginStep<'a> {
    /// The address to approve the login at, in a browser.
    Approve { url: &'a str },
    /// The address to approve it at on any device, and the code to enter there.
    ApproveOnDevice { url: &'a str, complete_url: Option<&'a str>, code: &'a str, expires_in: Duration },
    /// What was pasted cannot be used, and why.
    PasteAgain { problem: &'a str },
}

/// How a login is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginWay {
    /// In a browser of this machine; it is opened unless the operator does not want that.
    Browser { open: bool },
    /// On another device.
    Device,
}

/// A login that was stored.
pub struct LoggedIn {
    pub login: StoredLogin,
    pub place: CredentialPlace,
}

/// Returns the client that logins of this installation use; a failure says what can be done without one.
pub fn client(launch: &Launch) -> Result<OAuthClient, Failure> {
    OAuthClient::from_env(&launch.env).map_err(|error| Failure::usage(error).hint(TOKEN_HINT))
}

/// Says why no login server can be used, where only its configuration is missing.
pub fn missing_client(launch: &Launch) -> Option<OAuthConfigError> {
    match OAuthClient::from_env(&launch.env) {
        Err(missing @ OAuthConfigError::Missing(_)) => Some(missing),
        Ok(_) | Err(_) => None,
    }
}

/// Refuses in a shell of an agent: a login belongs to no database (DEC-071).
pub fn operator_only(launch: &Launch) -> Result<(), Failure> {
    launch.never_from_an_agent(THE_LOGIN)
}

/// Obtains a login from the server and stores it.
pub async fn log_in(
    launch: &Launch,
    way: LoginWay,
    front: &mut dyn LoginFront,
    cancel: &CancellationToken,
) -> Result<LoggedIn, Failure> {
    operator_only(launch)?;
    let client = client(launch)?;
    let granted = match way {
        LoginWay::Device => device::log_in(launch, &client, front, cancel).await?,
        LoginWay::Browser { open } => {
            let open = open && launch.env.get(environment::ONA_OAUTH_NO_BROWSER) != Some("1");
            page::log_in(launch, &client, open, front, cancel).await?
        }
    };
    store(launch, StoredLogin::granted(granted, client, clock::now()), cancel).await
}

/// Stores a long-lived token or an API key.
pub async fn log_in_with_token(launch: &Launch, text: &str, cancel: &CancellationToken) -> Result<LoggedIn, Failure> {
    operator_only(launch)?;
    let login = StoredLogin::pasted(text, clock::now()).ok_or_else(|| {
        Failure::usage("stdin holds no token: one word of visible characters is expected").hint(TOKEN_HINT)
    })?;
    store(launch, login, cancel).await
}

async fn store(launch: &Launch, login: StoredLogin, cancel: &CancellationToken) -> Result<LoggedIn, Failure> {
    launch.notices.keep_out(login.secrets());
    let store = launch.credential_store();
    let _lock = store.lock(cancel).await.map_err(store_failure)?;
    let saved = {
        let (store, login) = (store.clone(), login.clone());
        tokio::task::spawn_blocking(move || store.save(&login)).await.expect("saving a login does not panic")
    };
    Ok(LoggedIn { login, place: saved.map_err(store_failure)? })
}

/// Removes the stored login and tells its server, if it can be reached.
pub async fn log_out(launch: &Launch, cancel: &CancellationToken) -> Result<LogoutReport, Failure> {
    operator_only(launch)?;
    ona_auth::log_out(&launch.credential_store(), &launch.notices.redactor(), cancel).await.map_err(store_failure)
}

/// Teaches the redactor what the server handed out, before anything else happens to it.
fn learned(launch: &Launch, tokens: GrantedTokens) -> GrantedTokens {
    let redactor = launch.notices.redactor();
    redactor.learn("login", tokens.access_token.expose_secret());
    if let Some(token) = &tokens.refresh_token {
        redactor.learn("refresh token", token.expose_secret());
    }
    tokens
}

fn store_failure(error: CredentialStoreError) -> Failure {
    match error {
        CredentialStoreError::Cancelled => interrupted(),
        error => Failure::refused(error),
    }
}

/// The command that starts a login again.
const AGAIN: &str = "ona auth login";

fn refused(error: &OAuthError, again: &str) -> Failure {
    Failure::refused(error).hint(format!("nothing was stored; start again: {again}"))
}

/// Why a login or logout that was cut short changed nothing.
pub fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted; nothing was changed")
}
