//! A login that is approved on another device (RFC 8628).

use super::{AGAIN, LoginFront, LoginStep, interrupted, learned, refused};
use crate::failure::Failure;
use crate::launch::Launch;
use ona_auth::oauth::{DeviceAttempt, GrantedTokens, OAuthClient};
use tokio_util::sync::CancellationToken;

pub(super) async fn log_in(
    launch: &Launch,
    client: &OAuthClient,
    front: &mut dyn LoginFront,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    let device_url = client.device_url().map_err(Failure::usage)?;
    let begun = tokio::select! {
        begun = DeviceAttempt::begin(client, device_url) => begun,
        () = cancel.cancelled() => return Err(interrupted()),
    };
    let attempt = begun.map_err(|error| refused(&error, AGAIN))?;
    launch.notices.redactor().learn("device code", attempt.device_code());
    front.show(LoginStep::ApproveOnDevice {
        url: attempt.verification_url(),
        complete_url: attempt.complete_url(),
        code: attempt.user_code(),
        expires_in: attempt.expires_in(),
    });
    let granted = tokio::select! {
        granted = attempt.granted() => granted,
        () = cancel.cancelled() => return Err(interrupted()),
    };
    granted.map(|tokens| learned(launch, tokens)).map_err(|error| refused(&error, AGAIN))
}
