//! `ona auth login|logout|status`: what signs requests to Anthropic (section 2.7, A3 to A5).
//!
//! What is done is in `ona_runtime::login`; here is what a shell sees of it.

mod front;
mod login;
mod terminal;

pub(crate) use front::ShellFront;
pub(crate) use terminal::{hidden_line, short_text};

use crate::args::Auth;
use crate::operator::EvalOperator;
use crate::{interrupt, output};
use ona_auth::Revocation;
use ona_hook_tools::fire_logged_out;
use ona_runtime::login::{LoginStatus, log_out, operator_only};
use ona_runtime::{Failure, Launch, block_on};
use serde_json::json;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) fn run(launch: &Launch, command: &Auth) -> Result<u8, Failure> {
    match command {
        Auth::Login(options) => login::run(launch, options),
        Auth::Logout { json } => logout(launch, *json),
        Auth::Status { json } => Ok(status(launch, *json)),
    }
}

fn status(launch: &Launch, as_json: bool) -> u8 {
    let status = LoginStatus::of(launch);
    if as_json {
        output::json(&status.to_json(launch));
    } else {
        status.sentences(launch).iter().for_each(output::line);
    }
    u8::from(!status.is_logged_in())
}

fn logout(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    operator_only(launch)?;
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let report = block_on(log_out(launch, &cancel))?;
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
    if let Some(variable) = LoginStatus::variable_before_login(launch) {
        output::note(format_args!("ona: {variable} is still set and signs requests"));
    }
    if report.removed {
        block_on(fire_logged_out(launch, operator(launch), &cancel));
    }
    Ok(0)
}

fn operator(launch: &Launch) -> Arc<EvalOperator> {
    Arc::new(EvalOperator { agent_shell: launch.agent_shell, yes: false })
}
