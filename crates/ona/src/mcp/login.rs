//! `ona mcp login` and `logout`.

use super::args::LoginOptions;
use super::looked;
use crate::auth::{ShellFront, hidden_line, short_text};
use crate::{interrupt, output};
use ona_api::environment;
use ona_auth::Revocation;
use ona_mcp::ServerDefinition;
use ona_runtime::mcp::{self, ServerLogin, unknown_server};
use ona_runtime::{Failure, Launch, block_on};
use serde_json::json;
use std::io::{IsTerminal, stdin};
use tokio_util::sync::CancellationToken;

pub(super) fn log_in(launch: &Launch, options: &LoginOptions) -> Result<u8, Failure> {
    mcp::login_by_operator_only(launch)?;
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let server = named(launch, &options.name)?;
    let secret = if options.client_secret { Some(client_secret(launch, &cancel)?) } else { None };
    let how = ServerLogin { secret, open_browser: !options.no_browser };
    block_on(mcp::log_in(launch, &server, how, &mut ShellFront::new(options.json), &cancel))?;
    if options.json {
        output::json(&json!({"event": "logged_in", "server": options.name}));
    } else {
        output::line(format_args!("Logged in to the MCP server {}.", options.name));
    }
    Ok(0)
}

pub(super) fn log_out(launch: &Launch, name: &str, as_json: bool) -> Result<u8, Failure> {
    mcp::login_by_operator_only(launch)?;
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let server = named(launch, name)?;
    let report = block_on(mcp::log_out(launch, &server, &cancel))?;
    let (revoked, why) = match &report.revocation {
        Revocation::Done => (Some(true), None),
        Revocation::NotNeeded => (None, None),
        Revocation::Failed(why) => (Some(false), Some(why)),
    };
    if as_json {
        output::json(&json!({"server": name, "removed": report.removed, "revoked": revoked, "problem": why}));
    } else {
        output::line(if report.removed { "Logged out." } else { "No login was stored." });
    }
    if let Some(why) = why {
        output::note(format_args!("ona: the login is removed here, but its server was not told: {why}"));
    }
    Ok(0)
}

/// A server that the next start would use.
fn named(launch: &Launch, name: &str) -> Result<ServerDefinition, Failure> {
    let (gathered, _) = looked(launch)?;
    let known = gathered.catalog.definitions;
    if let Some(server) = known.iter().find(|server| server.name == name) {
        return Ok(server.clone());
    }
    if gathered.pending.iter().any(|server| server.name == name) {
        let failure = Failure::refused(format_args!("the MCP server {name} belongs to a folder that is not trusted"));
        return Err(failure.hint("ona mcp get NAME shows it; ona --trust ... trusts the folder"));
    }
    if let Some(left_out) = gathered.catalog.left_out.iter().find(|one| one.name == name) {
        return Err(Failure::refused(left_out.sentence()));
    }
    Err(unknown_server(name, known.iter().map(|server| server.name.as_str())))
}

fn client_secret(launch: &Launch, cancel: &CancellationToken) -> Result<String, Failure> {
    let text = match launch.env.non_empty(environment::MCP_CLIENT_SECRET) {
        Some(secret) => secret.to_owned(),
        None if stdin().is_terminal() => hidden_line("Client secret (not shown): ", cancel)?,
        None => short_text()?,
    };
    let text = text.trim().to_owned();
    if text.is_empty() {
        return Err(Failure::usage("no client secret was given: set MCP_CLIENT_SECRET"));
    }
    output::redactor().learn("client secret", &text);
    Ok(text)
}
