//! `ona mcp list` and `ona mcp get`: what is configured. No server is started to be looked at.

use crate::args::Mcp;
use crate::output;
use ona_mcp::{Environments, ExcludeReason, ServerDefinition, ServerTransport};
use ona_runtime::mcp::{Gathered, gather};
use ona_runtime::{Failure, Launch, Purpose};
use serde_json::{Value, json};

pub(crate) fn run(launch: &Launch, command: &Mcp) -> Result<u8, Failure> {
    let open = launch.look()?;
    let settings = launch.effective(&open, Purpose::Look)?;
    let gathered = gather(launch, &open, &settings, &launch.project, &Environments::one(&launch.env))?;
    for (name, secret) in gathered.catalog.definitions.iter().flat_map(ServerDefinition::secrets) {
        open.redactor.learn(name, secret);
    }
    let clean = |text: String| open.redactor.apply(&text).into_owned();
    match command {
        Mcp::List { json: true } => output::line(clean(Value::Array(all(&gathered)).to_string())),
        Mcp::List { json: false } => {
            let servers = all(&gathered);
            if servers.is_empty() {
                output::note("No MCP servers.");
            }
            for server in servers {
                let word = |key: &str| server[key].as_str().unwrap_or_default().to_owned();
                output::line(clean(format!(
                    "{}  {}  {}  {}",
                    word("name"),
                    word("status"),
                    word("origin"),
                    word("endpoint")
                )));
            }
            gathered.sentences().into_iter().for_each(|sentence| output::note(clean(format!("ona: {sentence}"))));
        }
        Mcp::Get { name, json: as_json } => {
            let Some(server) = all(&gathered).into_iter().find(|server| server["name"] == name.as_str()) else {
                return Err(Failure::refused(format_args!("unknown MCP server {name}")).hint("ona mcp list"));
            };
            if *as_json {
                output::line(clean(server.to_string()));
            } else {
                for (key, value) in server.as_object().into_iter().flatten() {
                    let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    output::line(clean(format!("{key:<12} {value}")));
                }
            }
        }
    }
    Ok(0)
}

fn all(gathered: &Gathered) -> Vec<Value> {
    let used = gathered.catalog.definitions.iter().map(|one| shown(one, "configured"));
    let pending = gathered.pending.iter().map(|one| shown(one, "pending approval"));
    let left_out = gathered.catalog.left_out.iter().map(|one| {
        let status = match one.cause {
            ExcludeReason::Broken => "broken",
            ExcludeReason::Collision => "dropped",
            ExcludeReason::Disabled => "disabled",
            ExcludeReason::Policy => "denied",
        };
        json!({"name": one.name, "status": status, "origin": one.origin.as_str(), "why": one.why})
    });
    used.chain(pending).chain(left_out).collect()
}

/// Names of variables and headers, never their values.
fn shown(server: &ServerDefinition, status: &str) -> Value {
    let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let mut shown = json!({
        "name": server.name,
        "status": status,
        "origin": server.origin.as_str(),
        "tools": format!("mcp__{}__*", server.slug),
        "timeout_ms": server.timeout.as_millis() as u64,
    });
    match &server.endpoint {
        ServerTransport::Stdio { command, args, env } => {
            shown["transport"] = "stdio".into();
            shown["endpoint"] = std::iter::once(command).chain(args).cloned().collect::<Vec<_>>().join(" ").into();
            shown["env"] = json!(names(env));
        }
        ServerTransport::Http { url, headers } => {
            shown["transport"] = "http".into();
            // What follows the path may be a credential.
            shown["endpoint"] = url.split(['?', '#']).next().unwrap_or(url).into();
            shown["headers"] = json!(names(headers));
        }
        ServerTransport::Host => shown["transport"] = "sdk".into(),
    }
    shown
}
