//! What is configured, as values for those who show it. No server is started to be looked at.

use super::read::Gathered;
use crate::failure::Failure;
use crate::launch::Launch;
use ona_api::nearest;
use ona_mcp::{ExcludeReason, HttpEndpoint, ServerDefinition, ServerTransport};
use serde_json::{Value, json};

/// Every server: those that are used, those that wait for the operator, those that are left out.
pub fn configured(launch: &Launch, gathered: &Gathered) -> Vec<Value> {
    let used = gathered.catalog.definitions.iter().map(|one| {
        let mut shown = described(one, "configured");
        if gathered.undecided.contains(&one.name) && one.origin == ona_mcp::DefinitionOrigin::Project {
            shown["approval"] = "by trust in the folder".into();
        }
        if let ServerTransport::Http(endpoint) = &one.endpoint {
            let store = ona_mcp::ServerLogins::from_env(&launch.env).of(&one.name, &endpoint.url);
            if store.file().exists() {
                shown["login"] = "stored".into();
            }
        }
        shown
    });
    let pending = gathered.pending.iter().map(|one| described(one, "pending approval"));
    let left_out = gathered.catalog.left_out.iter().map(|one| {
        let status = match one.cause {
            ExcludeReason::Broken => "broken",
            ExcludeReason::Collision => "dropped",
            ExcludeReason::Disabled => "disabled",
            ExcludeReason::Pending => "pending approval",
            ExcludeReason::Policy => "denied",
        };
        json!({"name": one.name, "status": status, "origin": one.origin.as_str(), "why": one.why})
    });
    used.chain(pending).chain(left_out).collect()
}

/// Names of variables and headers, never their values.
pub fn described(server: &ServerDefinition, status: &str) -> Value {
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
        ServerTransport::Http(HttpEndpoint { style, url, headers, headers_helper, .. }) => {
            shown["transport"] = style.as_str().into();
            // What follows the path may be a credential.
            shown["endpoint"] = url.split(['?', '#']).next().unwrap_or(url).into();
            shown["headers"] = json!(names(headers));
            if let Some(helper) = headers_helper {
                shown["headersHelper"] = helper.clone().into();
            }
        }
        ServerTransport::Host => shown["transport"] = "sdk".into(),
    }
    shown
}

/// A name that no server has, with the one that was probably meant.
pub fn unknown_server<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Failure {
    let known: Vec<_> = known.into_iter().collect();
    let failure = Failure::usage(format_args!("unknown MCP server {name}"));
    match nearest(name, known.iter().copied()) {
        Some(meant) => failure.hint(format!("did you mean {meant}? ona mcp list shows all")),
        None => failure.hint("ona mcp list"),
    }
}
