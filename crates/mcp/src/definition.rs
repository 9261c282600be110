//! The definition of one server.
//!
//! The shape is the reference's (section 7.2): a command with arguments and an
//! environment, or an address with headers. What cannot be used is one sentence; it
//! never contains a value, because values may be credentials.

use crate::context::Environments;
use crate::expand::expand;
use crate::slug::Slug;
use ona_api::{Env, environment};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Per call, unless the definition says otherwise (section 7.1).
pub const CALL_TIMEOUT: Duration = Duration::from_millis(120_000);
/// No call can be made in less.
const SHORTEST: Duration = Duration::from_millis(1000);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerDefinition {
    pub name: String,
    pub slug: Slug,
    pub origin: DefinitionOrigin,
    pub owner: DefinitionOwner,
    pub endpoint: ServerTransport,
    pub timeout: Duration,
}

/// Who configured a server: `.mcp.json` and settings files of the project belong to the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionOwner {
    Operator,
    /// The operator has installed it, another person has written it.
    Plugin,
    Project,
}

/// Where a server is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionOrigin {
    /// `--mcp-config`
    Flag,
    /// The effective settings.
    Settings,
    /// `.mcp.json` of the project.
    Project,
    /// A plugin.
    Plugin,
    /// A request of the program on the other side of stdin and stdout.
    Request,
    /// The definition of an agent.
    Agent,
    /// The program on the other side of stdin and stdout.
    Host,
}

impl DefinitionOrigin {
    pub fn as_str(self) -> &'static str {
        match self {
            DefinitionOrigin::Flag => "--mcp-config",
            DefinitionOrigin::Settings => "settings",
            DefinitionOrigin::Project => ".mcp.json",
            DefinitionOrigin::Plugin => "plugin",
            DefinitionOrigin::Request => "dynamic",
            DefinitionOrigin::Agent => "agent",
            DefinitionOrigin::Host => "sdk",
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub enum ServerTransport {
    /// A child process; one message per line.
    Stdio {
        command: String,
        args: Vec<String>,
        env: Vec<(String, String)>,
    },
    Http(HttpEndpoint),
    /// Messages go through the program that drives this one.
    Host,
}

/// A server behind an address.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpEndpoint {
    pub style: HttpStyle,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// A command that prints more headers.
    pub headers_helper: Option<String>,
    pub oauth: OAuthHints,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpStyle {
    /// Streamable HTTP.
    Streamable,
    /// The older transport: a stream of events, and posts beside it.
    Sse,
    WebSocket,
}

impl HttpStyle {
    pub fn as_str(self) -> &'static str {
        match self {
            HttpStyle::Streamable => "http",
            HttpStyle::Sse => "sse",
            HttpStyle::WebSocket => "ws",
        }
    }
}

/// What a definition fixes about the login to its server; the rest is discovered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthHints {
    pub client_id: Option<String>,
    pub callback_port: Option<u16>,
    /// Where the metadata of the login server are.
    pub metadata_url: Option<String>,
    pub scopes: Option<Vec<String>>,
}

impl fmt::Debug for ServerTransport {
    /// Values of variables and headers may be credentials (DEC-015).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| pairs.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        match self {
            ServerTransport::Stdio { command, args, env } => {
                f.debug_struct("Stdio").field("command", command).field("args", args).field("env", &names(env)).finish()
            }
            ServerTransport::Http(HttpEndpoint { style, url, headers, .. }) => f
                .debug_struct("Http")
                .field("style", style)
                .field("url", url)
                .field("headers", &names(headers))
                .finish_non_exhaustive(),
            ServerTransport::Host => f.write_str("Host"),
        }
    }
}

/// A definition, and the variables in it that are not set.
pub(crate) struct ParsedDefinition {
    pub definition: ServerDefinition,
    pub missing: Vec<String>,
}

impl ServerDefinition {
    pub(crate) fn read(
        name: &str,
        value: &Value,
        origin: DefinitionOrigin,
        owner: DefinitionOwner,
        env: &Environments,
    ) -> Result<ParsedDefinition, String> {
        if name.trim().is_empty() {
            return Err("a server needs a name".into());
        }
        let fields = value.as_object().ok_or("its definition must be an object")?;
        let mut missing = Vec::new();
        let endpoint = match owner {
            DefinitionOwner::Operator => endpoint(fields, &env.operators, &mut missing)?,
            // What others have written cannot use the program's own credentials.
            DefinitionOwner::Plugin => {
                endpoint(fields, &env.operators.clone().without_own_credentials(), &mut missing)?
            }
            DefinitionOwner::Project => {
                endpoint(fields, &env.projects.clone().without_own_credentials(), &mut missing)?
            }
        };
        let timeout = timeout(fields, env.of(owner))?;
        let definition = Self { name: name.to_owned(), slug: Slug::of(name), origin, owner, endpoint, timeout };
        missing.sort();
        missing.dedup();
        Ok(ParsedDefinition { definition, missing })
    }

    /// Returns the definition that this value is, or why it cannot be used.
    pub fn check(name: &str, value: &Value, origin: DefinitionOrigin, env: &Environments) -> Result<Self, String> {
        Self::read(name, value, origin, DefinitionOwner::Operator, env).map(|read| read.definition)
    }

    /// A server of the program that drives this one.
    pub fn of_host(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            slug: Slug::of(name),
            origin: DefinitionOrigin::Host,
            owner: DefinitionOwner::Operator,
            endpoint: ServerTransport::Host,
            timeout: CALL_TIMEOUT,
        }
    }

    /// Returns the values that must not be recorded, each with a name.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs: &[_] = match &self.endpoint {
            ServerTransport::Stdio { env, .. } => env,
            ServerTransport::Http(HttpEndpoint { headers, .. }) => headers,
            ServerTransport::Host => &[],
        };
        pairs.iter().filter(|(name, _)| names_a_secret(name)).flat_map(|(name, value)| {
            // Of `Bearer x` the x turns up alone in what servers answer.
            let bare = value.split_once(' ').filter(|(scheme, _)| is_scheme(scheme));
            let bare = bare.map(|(_, bare)| (name.as_str(), bare.trim()));
            std::iter::once((name.as_str(), value.as_str())).chain(bare)
        })
    }
}

fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token"].iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["key", "token", "secret", "password", "credential", "auth", "cookie"].iter().any(|word| name.contains(word))
}

fn endpoint(fields: &Map<String, Value>, env: &Env, missing: &mut Vec<String>) -> Result<ServerTransport, String> {
    let kind = match fields.get("type") {
        None | Some(Value::Null) => None,
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(_) => return Err("`type` must be a string".into()),
    };
    let kind = match (kind, fields.contains_key("command"), fields.contains_key("url")) {
        (Some(kind), ..) => kind,
        (None, true, _) => "stdio",
        (None, false, true) => return Err("a server with a `url` needs a `type`; use http".into()),
        (None, false, false) => return Err("it has neither a `command` nor a `url`".into()),
    };
    match kind {
        "stdio" => Ok(ServerTransport::Stdio {
            command: expand(text(fields, "command")?, env, missing),
            args: texts(fields, "args")?.into_iter().map(|arg| expand(arg, env, missing)).collect(),
            env: pairs(fields, "env", env, missing)?,
        }),
        "http" | "streamable-http" => http(HttpStyle::Streamable, fields, env, missing),
        "sse" => http(HttpStyle::Sse, fields, env, missing),
        "sdk" => Ok(ServerTransport::Host),
        "ws" => http(HttpStyle::WebSocket, fields, env, missing),
        other => Err(format!("unknown transport {other:?}; use stdio, http, sse or ws")),
    }
}

fn http(
    style: HttpStyle,
    fields: &Map<String, Value>,
    env: &Env,
    missing: &mut Vec<String>,
) -> Result<ServerTransport, String> {
    let url = expand(text(fields, "url")?, env, missing);
    let (plain, safe) = match style {
        HttpStyle::Streamable | HttpStyle::Sse => ("http://", "https://"),
        HttpStyle::WebSocket => ("ws://", "wss://"),
    };
    if !url.starts_with(plain) && !url.starts_with(safe) {
        return Err(format!("its `url` must begin with {plain} or {safe}"));
    }
    let headers_helper = match fields.get("headersHelper") {
        None | Some(Value::Null) => None,
        Some(_) => Some(text(fields, "headersHelper")?.to_owned()),
    };
    let oauth = match fields.get("oauth") {
        None | Some(Value::Null) => OAuthHints::default(),
        Some(Value::Object(hints)) => oauth(hints)?,
        Some(_) => return Err("its `oauth` must be an object".into()),
    };
    let headers = pairs(fields, "headers", env, missing)?;
    Ok(ServerTransport::Http(HttpEndpoint { style, url, headers, headers_helper, oauth }))
}

fn oauth(hints: &Map<String, Value>) -> Result<OAuthHints, String> {
    let text = |name: &str| match hints.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
        Some(_) => Err(format!("its `oauth.{name}` must be a non-empty string")),
    };
    let port = match hints.get("callbackPort") {
        None | Some(Value::Null) => None,
        Some(port) => {
            let port = port.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port > 0);
            Some(port.ok_or("its `oauth.callbackPort` must be a port number")?)
        }
    };
    Ok(OAuthHints {
        client_id: text("clientId")?,
        callback_port: port,
        metadata_url: text("authServerMetadataUrl")?,
        scopes: text("scopes")?.map(|scopes| scopes.split_whitespace().map(str::to_owned).collect()),
    })
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    match fields.get(name) {
        Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
        None => Err(format!("it has no `{name}`")),
        Some(_) => Err(format!("its `{name}` must be a non-empty string")),
    }
}

fn texts<'a>(fields: &'a Map<String, Value>, name: &str) -> Result<Vec<&'a str>, String> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().ok_or_else(|| format!("its `{name}` must be an array of strings")))
            .collect(),
        Some(_) => Err(format!("its `{name}` must be an array of strings")),
    }
}

fn pairs(
    fields: &Map<String, Value>,
    name: &str,
    env: &Env,
    missing: &mut Vec<String>,
) -> Result<Vec<(String, String)>, String> {
    let wrong = || format!("its `{name}` must be an object of strings");
    match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(pairs)) => pairs
            .iter()
            .map(|(key, value)| {
                let value = match value {
                    Value::String(text) => expand(text, env, missing),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    Value::Null | Value::Array(_) | Value::Object(_) => return Err(wrong()),
                };
                let plain = !key.is_empty() && !key.contains(['=', '\0']) && !value.contains('\0');
                if plain { Ok((key.clone(), value)) } else { Err(wrong()) }
            })
            .collect(),
        Some(_) => Err(wrong()),
    }
}

/// MCP_TOOL_TIMEOUT is for definitions that say nothing.
fn timeout(fields: &Map<String, Value>, env: &Env) -> Result<Duration, String> {
    let otherwise = || {
        let chosen = env.get(environment::MCP_TOOL_TIMEOUT).and_then(|text| text.trim().parse::<u64>().ok());
        chosen.filter(|ms| *ms > 0).map_or(CALL_TIMEOUT, |ms| Duration::from_millis(ms).max(SHORTEST))
    };
    match fields.get("timeout") {
        None | Some(Value::Null) => Ok(otherwise()),
        Some(value) => match value.as_u64() {
            Some(ms) if ms > 0 => Ok(Duration::from_millis(ms).max(SHORTEST)),
            _ => Err("its `timeout` must be a positive number of milliseconds".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<(ServerDefinition, String), String> {
        let env = Env::default().with("TOKEN", "t0ken").with("BIN", "/opt");
        let env = Environments { operators: env, projects: Env::default() };
        ServerDefinition::read("s", &value, DefinitionOrigin::Settings, DefinitionOwner::Operator, &env)
            .map(|read| (read.definition, read.missing.join(",")))
    }

    #[test]
    fn a_command_is_read_with_its_variables() {
        let value = json!({"command": "${BIN}/srv", "args": ["-x", "${NOPE}"], "env": {"A_TOKEN": "${TOKEN}", "N": 3}});
        let (definition, missing) = read(value).unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            definition.endpoint,
            ServerTransport::Stdio {
                command: "/opt/srv".into(),
                args: vec!["-x".into(), "${NOPE}".into()],
                env: vec![pair("A_TOKEN", "t0ken"), pair("N", "3")],
            }
        );
        assert_eq!((definition.timeout, missing.as_str()), (CALL_TIMEOUT, "NOPE"));
        assert_eq!(definition.secrets().collect::<Vec<_>>(), [("A_TOKEN", "t0ken")]);
        assert!(!format!("{definition:?}").contains("t0ken"));
    }

    #[test]
    fn an_address_is_read_with_its_headers() {
        let value = json!({"type": "http", "url": "http://127.0.0.1:1/m", "headers": {"Authorization": "Bearer ${TOKEN}"}, "timeout": 5000});
        let (definition, _) = read(value).unwrap();
        assert_eq!(definition.timeout, Duration::from_millis(5000));
        let secrets: Vec<_> = definition.secrets().map(|(_, value)| value.to_owned()).collect();
        assert_eq!(secrets, ["Bearer t0ken", "t0ken"]);
    }

    #[test]
    fn what_cannot_be_used_is_one_sentence_without_values() {
        for (value, expected) in [
            (json!(1), "its definition must be an object"),
            (json!({}), "it has neither a `command` nor a `url`"),
            (json!({"url": "http://x"}), "a server with a `url` needs a `type`; use http"),
            (json!({"type": "http"}), "it has no `url`"),
            (json!({"type": "http", "url": "ftp://x"}), "its `url` must begin with http:// or https://"),
            (json!({"type": "ws", "url": "http://x"}), "its `url` must begin with ws:// or wss://"),
            (json!({"type": "x"}), "unknown transport \"x\"; use stdio, http, sse or ws"),
            (json!({"type": "sse"}), "it has no `url`"),
            (
                json!({"type": "http", "url": "http://x", "headersHelper": ""}),
                "its `headersHelper` must be a non-empty string",
            ),
            (json!({"type": "http", "url": "http://x", "oauth": 1}), "its `oauth` must be an object"),
            (
                json!({"type": "http", "url": "http://x", "oauth": {"callbackPort": 70000}}),
                "its `oauth.callbackPort` must be a port number",
            ),
            (json!({"command": ""}), "its `command` must be a non-empty string"),
            (json!({"command": "x", "args": "y"}), "its `args` must be an array of strings"),
            (json!({"command": "x", "env": {"A": []}}), "its `env` must be an object of strings"),
            (json!({"command": "x", "timeout": -1}), "its `timeout` must be a positive number of milliseconds"),
        ] {
            assert_eq!(read(value.clone()).unwrap_err(), expected, "{value}");
        }
    }
}
