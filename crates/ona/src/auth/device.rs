//! A login that is approved on another device (RFC 8628).

use super::login::{event, learned};
use super::{interrupted, page};
use crate::output;
use ona_auth::oauth::{DeviceAttempt, GrantedTokens, OAuthClient};
use ona_permissions::printable;
use ona_runtime::{Failure, block_on};
use serde_json::json;
use tokio_util::sync::CancellationToken;

pub(super) fn log_in(
    client: &OAuthClient,
    as_json: bool,
    cancel: &CancellationToken,
) -> Result<GrantedTokens, Failure> {
    let device_url = client.device_url().map_err(Failure::usage)?;
    block_on(async {
        let begun = tokio::select! {
            begun = DeviceAttempt::begin(client, device_url) => begun,
            () = cancel.cancelled() => return Err(interrupted()),
        };
        let attempt = begun.map_err(|error| page::refused(&error))?;
        output::redactor().learn("device code", attempt.device_code());
        let (url, code) = (printable(attempt.verification_url()), printable(attempt.user_code()));
        let minutes = attempt.expires_in().as_secs().div_ceil(60);
        event(
            as_json,
            &json!({
                "event": "device",
                "verification_uri": attempt.verification_url(),
                "verification_uri_complete": attempt.complete_url(),
                "user_code": attempt.user_code(),
                "expires_in": attempt.expires_in().as_secs(),
            }),
        );
        output::note(format_args!("Open this address on any device within {minutes} minutes:\n{url}"));
        output::note(format_args!("and enter this code:\n{code}"));
        if let Some(complete) = attempt.complete_url() {
            output::note(format_args!("This address has the code in it:\n{}", printable(complete)));
        }
        let granted = tokio::select! {
            granted = attempt.granted() => granted,
            () = cancel.cancelled() => return Err(interrupted()),
        };
        granted.map(learned).map_err(|error| page::refused(&error))
    })
}
