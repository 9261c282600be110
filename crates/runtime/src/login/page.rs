//! A login in the browser: the page sends its answer to this machine, or a person pastes it.
//! Both ways stay open; the first that yields tokens ends the login.

use super::{AGAIN, LoginFront, LoginStep, browser, interrupted, learned, refused};
use crate::failure::Failure;
use crate::launch::Launch;
use ona_auth::oauth::{
    AuthorizationAttempt, CallbackListener, GrantedTokens, OAuthClient, OAuthError, PastedCode, read_pasted,
};
use secrecy::ExposeSecret;
use std::pin::pin;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_secs(600);

pub(super) async fn log_in(
    launch: &Launch,
    client: &OAuthClient,
    open_browser: bool,
    front: &mut dyn LoginFront,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    let listener = CallbackListener::bind().await;
    let listener =
        listener.map_err(|error| Failure::refused(format_args!("no port of this machine can be used: {error}")))?;
    let attempt = AuthorizationAttempt::begin(client, listener.redirect()).map_err(Failure::usage)?;
    let page = LoginPage { listener: &listener, attempt: &attempt, again: AGAIN };
    page.obtain(launch, open_browser, front, cancel).await
}

/// A page that is about to be shown, and where its answer arrives.
pub(crate) struct LoginPage<'a> {
    pub(crate) listener: &'a CallbackListener,
    pub(crate) attempt: &'a AuthorizationAttempt,
    /// The command that starts again.
    pub(crate) again: &'a str,
}

impl LoginPage<'_> {
    pub(crate) async fn obtain(
        &self,
        launch: &Launch,
        open_browser: bool,
        front: &mut dyn LoginFront,
        cancel: &CancellationToken,
    ) -> Result<GrantedTokens, Failure> {
        launch.notices.redactor().learn("login attempt", self.attempt.verifier().expose_secret());
        front.show(LoginStep::Approve { url: self.attempt.url.as_str() });
        if open_browser {
            browser::open(launch, &self.attempt.url);
        }
        wait(launch, self, front, cancel).await
    }
}

async fn wait(
    launch: &Launch,
    page: &LoginPage<'_>,
    front: &mut dyn LoginFront,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    let LoginPage { listener, attempt, again } = page;
    let state = attempt.state.expose_secret();
    let mut answer = pin!(listener.answer(state));
    let mut deadline = pin!(tokio::time::sleep(PATIENCE));
    loop {
        let (received, pasted) = tokio::select! {
            received = &mut answer => {
                let received = received.map_err(|error| Failure::refused(format_args!("the browser's answer was not received: {error}")))?;
                (received, false)
            }
            line = front.pasted_line() => (read_pasted(&line, state), true),
            () = cancel.cancelled() => return Err(interrupted()),
            () = &mut deadline => {
                let minutes = PATIENCE.as_secs() / 60;
                return Err(Failure::refused(format_args!("the login was not completed within {minutes} minutes; nothing was stored")));
            }
        };
        let problem = match received {
            PastedCode::Code(code) => {
                launch.notices.redactor().learn("login code", &code);
                let exchanged = tokio::select! {
                    exchanged = attempt.exchange(&code) => exchanged,
                    () = cancel.cancelled() => return Err(interrupted()),
                };
                match exchanged {
                    Ok(tokens) => return Ok(learned(launch, tokens)),
                    Err(OAuthError::InvalidGrant(why)) if pasted => format!("the code was refused: {why}"),
                    Err(error) => return Err(refused(&error, again)),
                }
            }
            PastedCode::Declined { error, description } => {
                return Err(refused(&OAuthError::declined(&error, description.as_deref()), again));
            }
            PastedCode::Nothing => continue,
            PastedCode::OtherState => "this code belongs to another login attempt".to_owned(),
            PastedCode::NotACode => "this is neither a code nor the address of a finished login".to_owned(),
        };
        // A person can paste again; a program that wrote a wrong line has nothing else to say.
        if !front.can_paste_again() {
            return Err(Failure::refused(problem).hint(format!("nothing was stored; start again: {again}")));
        }
        front.show(LoginStep::PasteAgain { problem: &problem });
    }
}
