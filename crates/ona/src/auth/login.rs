//! `ona auth login`: obtains a login in one of three ways and stores it.

use super::front::ShellFront;
use super::{operator, terminal};
use crate::args::LoginOptions;
use crate::{interrupt, output};
use ona_hook_tools::fire_logged_in;
use ona_runtime::login::{
    LoggedIn, LoginStatus, LoginWay, described, interrupted, log_in, log_in_with_token, missing_client, operator_only,
    shown_place,
};
use ona_runtime::{Failure, Launch, block_on};
use serde_json::json;
use std::io::{IsTerminal, stdin};
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, options: &LoginOptions) -> Result<u8, Failure> {
    operator_only(launch)?;
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let logged_in = obtain(launch, options, &cancel)?;
    tell(launch, options, &logged_in);
    block_on(fire_logged_in(launch, operator(launch), &cancel));
    Ok(0)
}

fn obtain(launch: &Launch, options: &LoginOptions, cancel: &CancellationToken) -> Result<LoggedIn, Failure> {
    if options.token {
        return pasted(launch, cancel);
    }
    if !options.device
        && stdin().is_terminal()
        && let Some(missing) = missing_client(launch)
    {
        output::note(format_args!("ona: {missing}. A long-lived token or an API key can be stored instead."));
        return pasted(launch, cancel);
    }
    let way = match options.device {
        true => LoginWay::Device,
        false => LoginWay::Browser { open: !options.no_browser },
    };
    block_on(log_in(launch, way, &mut ShellFront::new(options.json), cancel))
}

fn pasted(launch: &Launch, cancel: &CancellationToken) -> Result<LoggedIn, Failure> {
    let text = match stdin().is_terminal() {
        true => terminal::hidden_line("Token or API key (not shown): ", cancel)?,
        false => terminal::short_text()?,
    };
    if cancel.is_cancelled() {
        return Err(interrupted());
    }
    block_on(log_in_with_token(launch, &text, cancel))
}

fn tell(launch: &Launch, options: &LoginOptions, LoggedIn { login, place }: &LoggedIn) {
    if options.json {
        let mut told = json!({"event": "logged_in"});
        told["stored_login"] = described(login, *place, launch);
        output::json(&told);
    } else {
        output::line(format_args!("Login successful. It is kept in {}", shown_place(*place, launch)));
    }
    if let Some(variable) = LoginStatus::variable_before_login(launch) {
        output::note(format_args!("ona: {variable} is set and is used instead of the login"));
    }
}
