//! Which servers the operator's policy allows (K-3). Pure.
//!
//! An entry names a server by its name, by its whole command line, or by a pattern for
//! its address. A list of denied servers always counts; a list of allowed ones is, once
//! it is there, the whole of what is allowed. Broken means no: an entry of an allow list
//! that cannot be read allows nothing, and one of a deny list is named.

use crate::definition::{HttpEndpoint, ServerDefinition, ServerTransport};
use crate::slug::Slug;
use ona_api::notation::url_matches;
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Policy {
    /// `deniedMcpServers`
    pub denied: Vec<Value>,
    /// `allowedMcpServers`
    pub allowed: Option<Vec<Value>>,
}

impl Policy {
    /// Returns why this server may not be used.
    pub fn refuses(&self, definition: &ServerDefinition) -> Option<&'static str> {
        if self.denied.iter().any(|entry| means(entry, definition)) {
            return Some("the policy denies it (deniedMcpServers)");
        }
        let listed = |allowed: &Vec<Value>| allowed.iter().any(|entry| means(entry, definition));
        match &self.allowed {
            Some(allowed) if !listed(allowed) => Some("the policy does not allow it (allowedMcpServers)"),
            Some(_) | None => None,
        }
    }
}

fn means(entry: &Value, definition: &ServerDefinition) -> bool {
    if let Some(name) = entry["serverName"].as_str() {
        // Names that become the same here are the same server to rules and hooks.
        return name == definition.name || Slug::of(name) == definition.slug;
    }
    match &definition.endpoint {
        ServerTransport::Stdio { command, args, .. } => entry["serverCommand"].as_array().is_some_and(|words| {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            let line: Vec<_> = std::iter::once(command.as_str()).chain(args.iter().map(String::as_str)).collect();
            words.is_some_and(|words| words == line)
        }),
        ServerTransport::Http(HttpEndpoint { url, .. }) => {
            entry["serverUrl"].as_str().is_some_and(|pattern| url_matches(url, pattern))
        }
        ServerTransport::Host => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Environments;
    use crate::definition::{DefinitionOrigin, DefinitionOwner};
    use serde_json::json;

    fn definition(name: &str, value: Value) -> ServerDefinition {
        ServerDefinition::read(
            name,
            &value,
            DefinitionOrigin::Flag,
            DefinitionOwner::Operator,
            &Environments::default(),
        )
        .unwrap()
        .definition
    }

    #[test]
    fn an_entry_means_a_name_a_command_line_or_an_address() {
        let stdio = definition("My X", json!({"command": "npx", "args": ["-y", "srv"]}));
        let http = definition("web", json!({"type": "http", "url": "https://a.example/mcp"}));
        for (entry, of_stdio, of_http) in [
            (json!({"serverName": "My X"}), true, false),
            (json!({"serverName": "my_x"}), true, false),
            (json!({"serverCommand": ["npx", "-y", "srv"]}), true, false),
            (json!({"serverCommand": ["npx"]}), false, false),
            (json!({"serverUrl": "https://*.example/*"}), false, true),
            (json!({"serverUrl": "https://a.example"}), false, false),
            (json!("My X"), false, false),
        ] {
            assert_eq!((means(&entry, &stdio), means(&entry, &http)), (of_stdio, of_http), "{entry}");
        }
    }

    #[test]
    fn a_denied_server_stays_denied_whatever_is_allowed() {
        let server = definition("x", json!({"command": "x"}));
        let x = vec![json!({"serverName": "x"})];
        let refused = |denied: &[Value], allowed: Option<&[Value]>| {
            let policy = Policy { denied: denied.to_vec(), allowed: allowed.map(<[_]>::to_vec) };
            policy.refuses(&server).is_some()
        };
        assert!(!refused(&[], None));
        assert!(!refused(&[], Some(&x)));
        assert!(refused(&x, Some(&x)));
        assert!(refused(&[], Some(&[])));
        assert!(refused(&[], Some(&[json!(1)])));
    }
}
