//! A login in the browser: the page sends its answer to this machine, or a person pastes it.
//! Both ways stay open; the first that yields tokens ends the login.

use super::login::{event, wants_browser};
use super::{browser, interrupted, terminal};
use crate::args::LoginOptions;
use crate::output;
use ona_auth::oauth::{
    AuthorizationAttempt, CallbackListener, GrantedTokens, OAuthClient, OAuthError, PastedCode, read_pasted,
};
use ona_runtime::{Failure, Launch, block_on};
use secrecy::ExposeSecret;
use serde_json::json;
use std::io::{IsTerminal, stdin};
use std::pin::pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn log_in(
    launch: &Launch,
    client: &OAuthClient,
    options: &LoginOptions,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    block_on(async {
        let listener = CallbackListener::bind().await;
        let listener =
            listener.map_err(|error| Failure::refused(format_args!("no port of this machine can be used: {error}")))?;
        let attempt = AuthorizationAttempt::begin(client, listener.redirect()).map_err(Failure::usage)?;
        output::redactor().learn("login attempt", attempt.verifier().expose_secret());
        event(options.json, &json!({"event": "authorize", "url": attempt.url.as_str()}));
        output::note("Open this address in a browser and approve the login:");
        output::note(&attempt.url);
        output::note(
            "If the browser cannot reach this machine, paste the code, or the address it ends at, here and press Enter.",
        );
        if wants_browser(launch, options) {
            browser::open(launch, &attempt.url);
        }
        wait(&listener, &attempt, cancel).await
    })
}

async fn wait(
    listener: &CallbackListener,
    attempt: &AuthorizationAttempt,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    let state = attempt.state.expose_secret();
    let mut answer = pin!(listener.answer(state));
    let mut lines = terminal::Lines::read();
    let mut deadline = pin!(tokio::time::sleep(PATIENCE));
    loop {
        let (received, pasted) = tokio::select! {
            received = &mut answer => {
                let received = received.map_err(|error| Failure::refused(format_args!("the browser's answer was not received: {error}")))?;
                (received, false)
            }
            line = lines.next() => (read_pasted(&line, state), true),
            () = cancel.cancelled() => return Err(interrupted()),
            () = &mut deadline => {
                let minutes = PATIENCE.as_secs() / 60;
                return Err(Failure::refused(format_args!("the login was not completed within {minutes} minutes; nothing was stored")));
            }
        };
        let problem = match received {
            PastedCode::Code(code) => {
                output::redactor().learn("login code", &code);
                let exchanged = tokio::select! {
                    exchanged = attempt.exchange(&code) => exchanged,
                    () = cancel.cancelled() => return Err(interrupted()),
                };
                match exchanged {
                    Ok(tokens) => return Ok(super::login::learned(tokens)),
                    Err(OAuthError::InvalidGrant(why)) if pasted => format!("the code was refused: {why}"),
                    Err(error) => return Err(refused(&error)),
                }
            }
            PastedCode::Declined { error, description } => {
                return Err(refused(&OAuthError::declined(&error, description.as_deref())));
            }
            PastedCode::Nothing => continue,
            PastedCode::OtherState => "this code belongs to another login attempt".to_owned(),
            PastedCode::NotACode => "this is neither a code nor the address of a finished login".to_owned(),
        };
        // A person can paste again; a program that wrote a wrong line has nothing else to say.
        if !stdin().is_terminal() {
            return Err(Failure::refused(problem).hint("nothing was stored; start again: ona auth login"));
        }
        output::note(format_args!("ona: {problem}. Make sure the whole code was copied, and paste it again."));
    }
}

pub(super) fn refused(error: &OAuthError) -> Failure {
    Failure::refused(error).hint("nothing was stored; start again: ona auth login")
}
