//! `ona auth login`: obtains a login in one of three ways and stores it.

use super::{device, hooks, interrupted, page, status, store_failure, terminal};
use crate::args::LoginOptions;
use crate::{interrupt, output};
use ona_api::clock;
use ona_api::environment;
use ona_auth::oauth::{GrantedTokens, OAuthClient, OAuthConfigError};
use ona_auth::{CredentialPlace, StoredLogin};
use ona_runtime::{Failure, Launch, block_on};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use std::io::{IsTerminal, stdin};
use tokio_util::sync::CancellationToken;

const TOKEN_HINT: &str = "a long-lived token or an API key is stored with: ona auth login --token < FILE";

pub(super) fn run(launch: &Launch, options: &LoginOptions) -> Result<u8, Failure> {
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let login = obtain(launch, options, &cancel)?;
    for (name, secret) in login.secrets() {
        output::redactor().learn(name, secret);
    }
    let store = launch.credential_store();
    let place = block_on(async {
        let _lock = store.lock(&cancel).await?;
        let (store, login) = (store.clone(), login.clone());
        tokio::task::spawn_blocking(move || store.save(&login)).await.expect("saving a login does not panic")
    })
    .map_err(store_failure)?;
    tell(launch, options, &login, place);
    hooks::fire(launch, "Notification", json!({"notification_type": "auth_success", "message": "Login successful"}));
    Ok(0)
}

fn obtain(launch: &Launch, options: &LoginOptions, cancel: &CancellationToken) -> Result<StoredLogin, Failure> {
    if options.token {
        return pasted(cancel);
    }
    let client = match OAuthClient::from_env(&launch.env) {
        Ok(client) => client,
        Err(missing @ OAuthConfigError::Missing(_)) if !options.device && stdin().is_terminal() => {
            output::note(format_args!("ona: {missing}. A long-lived token or an API key can be stored instead."));
            return pasted(cancel);
        }
        Err(error) => return Err(Failure::usage(error).hint(TOKEN_HINT)),
    };
    let granted = match options.device {
        true => device::log_in(&client, options.json, cancel)?,
        false => page::log_in(launch, &client, options, cancel)?,
    };
    Ok(StoredLogin::granted(granted, client, clock::now()))
}

fn pasted(cancel: &CancellationToken) -> Result<StoredLogin, Failure> {
    let text = match stdin().is_terminal() {
        true => terminal::hidden_line("Token or API key (not shown): ", cancel)?,
        false => terminal::short_text()?,
    };
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    StoredLogin::pasted(&text, clock::now()).ok_or_else(|| {
        Failure::usage("stdin holds no token: one word of visible characters is expected").hint(TOKEN_HINT)
    })
}

fn tell(launch: &Launch, options: &LoginOptions, login: &StoredLogin, place: CredentialPlace) {
    if options.json {
        let mut told = json!({"event": "logged_in"});
        told["stored_login"] = status::described(login, place, launch);
        output::json(&told);
    } else {
        output::line(format_args!("Login successful. It is kept in {}", status::shown_place(place, launch)));
    }
    status::mention_shadowing(launch);
}

/// Teaches the redactor what the server handed out, before anything else happens to it.
pub(super) fn learned(tokens: GrantedTokens) -> GrantedTokens {
    output::redactor().learn("login", tokens.access_token.expose_secret());
    if let Some(token) = &tokens.refresh_token {
        output::redactor().learn("refresh token", token.expose_secret());
    }
    tokens
}

/// A line for programs, if they asked for them.
pub(super) fn event(as_json: bool, value: &Value) {
    if as_json {
        output::json(value);
    }
}

/// Whether a browser should be opened at all.
pub(super) fn wants_browser(launch: &Launch, options: &LoginOptions) -> bool {
    !options.no_browser && launch.env.get(environment::ONA_OAUTH_NO_BROWSER) != Some("1")
}
