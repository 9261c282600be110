//! `ona auth login|logout|status`: what signs requests to Anthropic (section 2.7, A3 to A5).
//!
//! A login belongs to the operator and not to a project, so it needs no database. Hooks of the
//! two events that belong here run where they are configured. How a login is obtained, kept and
//! renewed is in `ona-auth`.

mod browser;
mod device;
mod hooks;
mod login;
mod page;
mod status;
mod terminal;

use crate::args::Auth;
use crate::interrupt;
use crate::output;
use ona_auth::{CredentialStoreError, Revocation, log_out};
use ona_runtime::{Failure, FailureKind, Launch, block_on};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const THE_LOGIN: &str = "the login";

pub(crate) fn run(launch: &Launch, command: &Auth) -> Result<u8, Failure> {
    match command {
        Auth::Login(options) => {
            launch.never_from_an_agent(THE_LOGIN)?;
            login::run(launch, options)
        }
        Auth::Logout { json } => {
            launch.never_from_an_agent(THE_LOGIN)?;
            logout(launch, *json)
        }
        Auth::Status { json } => status::run(launch, *json),
    }
}

fn logout(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let report = block_on(log_out(&launch.credential_store(), &output::redactor(), &cancel)).map_err(store_failure)?;
    let (revoked, why) = match &report.revocation {
        Revocation::Done => (Some(true), None),
        Revocation::NotNeeded => (None, None),
        Revocation::Failed(why) => (Some(false), Some(why)),
    };
    if as_json {
        output::json(&json!({"removed": report.removed, "revoked": revoked, "problem": why}));
    } else {
        output::line(if report.removed { "Logged out." } else { "No login was stored." });
    }
    if let Some(why) = why {
        output::note(format_args!("ona: the login is removed here, but its server was not told: {why}"));
    }
    status::mention_other_sources(launch);
    if report.removed {
        hooks::fire(launch, "SessionEnd", json!({"reason": "logout"}));
    }
    Ok(0)
}

fn store_failure(error: CredentialStoreError) -> Failure {
    match error {
        CredentialStoreError::Cancelled => interrupted(),
        error => Failure::refused(error),
    }
}

fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted; nothing was changed")
}
