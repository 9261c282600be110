//! Credentials in settings files stay in memory (DEC-015).
//!
//! The row keeps `"${ONA_SECRET:<json-pointer>}"` in their place, and every start
//! reads the files again to know the values. A placeholder is filled only at the
//! place it names: one that was copied elsewhere, say into the environment of a
//! server from a project file, must not fetch another one's token.

use ona_api::Env;
use ona_api::redact::{Redactor, secrets_of};
use ona_settings::keys;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// Values by JSON pointer into the effective settings.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(BTreeMap<String, String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

const OPEN: &str = "${ONA_SECRET:";

fn placeholder(pointer: &str) -> String {
    format!("{OPEN}{pointer}}}")
}

impl Secrets {
    /// Moves the credentials out of `effective`.
    pub(crate) fn take(effective: &mut Value, env: &Env) -> Self {
        let redactor = Redactor::new(secrets_of(env));
        let mut secrets = BTreeMap::new();
        each_map(effective, |base, values| {
            for (name, value) in values {
                let text = match &*value {
                    Value::Null => continue,
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                // What the store would redact cannot be stored either.
                if names_a_secret(name) || redactor.apply(&text) != text {
                    let pointer = format!("{base}/{}", escaped(name));
                    *value = placeholder(&pointer).into();
                    secrets.insert(pointer, text);
                }
            }
        });
        Self(secrets)
    }

    /// Returns the settings with the credentials in place, for memory only. A
    /// placeholder without a credential is left out with its key, so that no child
    /// is started with the placeholder for a token.
    pub fn restore(&self, row: &Value) -> Value {
        let mut settings = row.clone();
        each_map(&mut settings, |base, values| {
            values.retain(|name, value| {
                let Some(text) = value.as_str().filter(|text| text.starts_with(OPEN)) else { return true };
                let pointer = format!("{base}/{}", escaped(name));
                match self.0.get(&pointer) {
                    Some(secret) if text == placeholder(&pointer) => {
                        *value = secret.as_str().into();
                        true
                    }
                    _ => false,
                }
            });
        });
        settings
    }

    /// Pairs of a name and a value for the redactor. Of `Bearer x` the `x` is
    /// listed too: it turns up alone in what servers answer.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(pointer, value)| {
            let name = pointer.rsplit('/').next().unwrap_or(pointer);
            let bare = value.split_once(' ').filter(|(scheme, _)| is_auth_scheme(scheme)).map(|(_, bare)| bare.trim());
            std::iter::once((name, value.as_str())).chain(bare.map(|bare| (name, bare)))
        })
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The objects in which credentials are looked for, with the pointer to each.
fn each_map(settings: &mut Value, mut visit: impl FnMut(&str, &mut Map<String, Value>)) {
    if let Some(env) = settings.get_mut(keys::ENV).and_then(Value::as_object_mut) {
        visit("/env", env);
    }
    let servers = settings.get_mut(keys::MCP_SERVERS).and_then(Value::as_object_mut);
    for (server, definition) in servers.into_iter().flatten() {
        for part in ["env", "headers"] {
            if let Some(values) = definition.get_mut(part).and_then(Value::as_object_mut) {
                visit(&format!("/mcpServers/{}/{part}", escaped(server)), values);
            }
        }
    }
}

/// Returns a reference token of RFC 6901.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "credential", "auth"].iter().any(|word| name.contains(word))
}

fn is_auth_scheme(word: &str) -> bool {
    ["bearer", "basic", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}
