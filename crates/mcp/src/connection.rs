//! A connection to one server: its transport, the handshake, requests.

use crate::context::ServerContext;
use crate::definition::{DefinitionOwner, ServerDefinition, ServerTransport};
use crate::handler::{Inbox, McpClientHandler};
use crate::http;
use crate::peer::{OnProgress, Peer, Request};
use crate::relay;
use crate::wire::{Wire, WireEnding};
use ona_process::{ChildCommand, ChildExit, ChildHandle, OnDeath, PersistentChild};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// How long a server that was told to end may take.
const GRACE: Duration = Duration::from_secs(1);
/// What is kept of a server's complaints.
const COMPLAINTS: usize = 64 * 1024;
/// The versions of the protocol that this program speaks, the newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Why a server is not connected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Failed(String),
    /// What can be done about it.
    #[error("the server asks for a login: {0}")]
    NeedsAuth(String),
}

impl From<McpCallError> for ConnectError {
    fn from(error: McpCallError) -> Self {
        match error {
            McpCallError::NeedsAuth(remedy) => Self::NeedsAuth(remedy),
            other => Self::Failed(plainly(other)),
        }
    }
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpCallError {
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The server refused the request before it looked at it.
    #[error("{0}")]
    NotTaken(String),
    /// The server does not know our session any more; it did nothing.
    #[error("the server has ended the session")]
    SessionEnded,
    /// What can be done about it.
    #[error("the server asks for a login: {0}")]
    NeedsAuth(String),
    /// The server returned a JSON-RPC error.
    #[error("{message} (code {code})")]
    Refused { code: i64, message: String, data: Value },
    #[error("interrupted")]
    Interrupted,
}

impl McpCallError {
    /// The `error` of a JSON-RPC answer.
    pub(crate) fn refused(error: &Value) -> Self {
        Self::Refused {
            code: error["code"].as_i64().unwrap_or_default(),
            message: error["message"].as_str().unwrap_or("no reason was given").to_owned(),
            data: error["data"].clone(),
        }
    }
}

pub(crate) struct McpConnection {
    server: String,
    peer: Peer,
    ending: Mutex<Option<WireEnding>>,
    child: Mutex<Option<ChildHandle>>,
    handler: Arc<McpClientHandler>,
    /// A request failed in a way that leaves the session in doubt: the next call makes another.
    spoiled: AtomicBool,
    /// `serverInfo`, `capabilities` and `instructions`, as the server gave them.
    pub info: Value,
}

impl McpConnection {
    pub(crate) async fn open(definition: &ServerDefinition, around: &Arc<ServerContext>) -> Result<Self, ConnectError> {
        let server = definition.name.clone();
        let handler = McpClientHandler { server: server.clone(), inbox: Inbox::default(), around: Arc::clone(around) };
        let handler = Arc::new(handler);
        let failed = |why: String| ConnectError::Failed(why);
        let mut child = None;
        let wire = match &definition.endpoint {
            ServerTransport::Stdio { command, args, env } => {
                let worker = PersistentChild::start(&stdio(definition.owner, command, args, env, around)).await;
                let (stdout, stdin, rest) = worker.map_err(|error| failed(error.to_string()))?.streams();
                child = Some(rest);
                Wire::lines(stdout, stdin)
            }
            ServerTransport::Http(endpoint) => http::open(definition, endpoint, around).await?,
            ServerTransport::Host => {
                let relay = around.relay().ok_or_else(|| failed("no program drives this run".into()))?;
                let (reader, writer) = tokio::io::split(relay::pipe(relay, server.clone()));
                Wire::lines(reader, writer)
            }
        };
        let (peer, ending) = Peer::start(wire, Arc::clone(&handler));
        let info = match handshake(&peer, around.connect).await {
            Ok(info) => info,
            Err(McpCallError::NeedsAuth(remedy)) => return Err(ConnectError::NeedsAuth(remedy)),
            Err(error) => {
                let end = match (&mut child, &error) {
                    (Some(child), McpCallError::Lost(_)) => Some(ended(child).await),
                    _ => None,
                };
                return Err(failed(end.unwrap_or_else(|| plainly(error))));
            }
        };
        tracing::debug!(server, version = info["protocolVersion"].as_str(), "connected");
        Ok(Self {
            server,
            peer,
            ending: Mutex::new(Some(ending)),
            child: Mutex::new(child),
            handler,
            spoiled: AtomicBool::new(false),
            info,
        })
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.handler.inbox
    }

    /// Returns whether the server declared this capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.info["capabilities"].get(capability).is_some_and(|value| !value.is_null())
    }

    /// Sends one request and returns its result.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, McpCallError> {
        self.request_with_progress(method, params, timeout, cancel, None).await
    }

    #[tracing::instrument(level = "debug", name = "mcp_request", skip_all, err(level = "debug"), fields(server = self.server, method))]
    pub(crate) async fn request_with_progress(
        &self,
        method: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
        progress: Option<OnProgress>,
    ) -> Result<Value, McpCallError> {
        match self.peer.request(Request { method, params, timeout, cancel, progress }).await {
            Err(McpCallError::Lost(why)) => {
                self.spoiled.store(true, Ordering::SeqCst);
                Err(McpCallError::Lost(self.cause(why).await))
            }
            Err(error @ (McpCallError::SessionEnded | McpCallError::NotTaken(_) | McpCallError::NeedsAuth(_))) => {
                self.spoiled.store(true, Ordering::SeqCst);
                Err(error)
            }
            answered => answered,
        }
    }

    /// Returns all pages of a list.
    pub(crate) async fn list(&self, method: &str, key: &str, timeout: Duration) -> Result<Vec<Value>, McpCallError> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        let cancel = CancellationToken::new();
        for _ in 0..PAGES {
            let params = cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let mut page = self.request(method, params, timeout, &cancel).await?;
            if let Some(Value::Array(more)) = page.get_mut(key).map(Value::take) {
                items.extend(more);
            }
            let next = page["nextCursor"].as_str().filter(|next| !next.is_empty()).map(str::to_owned);
            // A repeated cursor means that this was the last page.
            if next.is_none() || next == cursor || items.len() >= MOST {
                break;
            }
            cursor = next;
        }
        Ok(items)
    }

    /// Tells the server that the directories have changed.
    pub(crate) fn announce_roots(&self) {
        self.peer.notify("notifications/roots/list_changed", json!({}));
    }

    async fn cause(&self, why: String) -> String {
        match self.child.lock().await.as_mut() {
            Some(child) if self.peer.is_closed() => ended(child).await,
            _ if why.is_empty() => "the server closed it".into(),
            _ => why,
        }
    }

    /// Returns whether requests can still be answered.
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    /// Returns whether the next call needs another connection.
    pub(crate) fn is_unusable(&self) -> bool {
        self.is_closed() || self.spoiled.load(Ordering::SeqCst)
    }

    pub(crate) async fn close(&self) {
        if let Some(ending) = self.ending.lock().await.take() {
            ending.end(GRACE).await;
        }
        if let Some(mut child) = self.child.lock().await.take() {
            child.end(GRACE).await;
        }
    }
}

/// Agrees on a version of the protocol. The server chooses; one that this program does not speak ends it.
async fn handshake(peer: &Peer, within: Duration) -> Result<Value, McpCallError> {
    let cancel = CancellationToken::new();
    let mut version = VERSIONS[0];
    let info = loop {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}},
            "clientInfo": {"name": "ona", "version": env!("CARGO_PKG_VERSION")},
        });
        let request = Request { method: "initialize", params, timeout: within, cancel: &cancel, progress: None };
        match peer.request(request).await {
            Ok(info) => break info,
            // A server may name the versions it speaks instead of choosing one.
            Err(McpCallError::Refused { code, message, data }) => {
                let speaks =
                    |one: &&str| data["supported"].as_array().is_some_and(|list| list.iter().any(|v| v == one));
                match VERSIONS.into_iter().skip(1).find(speaks) {
                    Some(other) if version == VERSIONS[0] => version = other,
                    Some(_) | None => return Err(McpCallError::Refused { code, message, data }),
                }
            }
            Err(error) => return Err(error),
        }
    };
    let chosen = info["protocolVersion"].as_str().unwrap_or_default();
    if !VERSIONS.contains(&chosen) {
        let chosen = if chosen.is_empty() { "no version of the protocol".to_owned() } else { format!("{chosen:?}") };
        let why = format!("it speaks {chosen}; this program speaks {}", VERSIONS.join(", "));
        return Err(McpCallError::NotTaken(why));
    }
    peer.notify("notifications/initialized", json!({}));
    Ok(info)
}

/// Words for a handshake that failed.
fn plainly(error: McpCallError) -> String {
    match error {
        McpCallError::Lost(why) if why.is_empty() => "the server closed the connection".into(),
        McpCallError::Lost(why) | McpCallError::NotTaken(why) => why,
        McpCallError::TimedOut(within) => format!("it did not complete the handshake within {} ms", within.as_millis()),
        McpCallError::Refused { .. } => format!("it refused the handshake: {error}"),
        other => other.to_string(),
    }
}

/// Maximum number of entries of a list.
const MOST: usize = 10_000;
/// Maximum number of pages of a list.
const PAGES: usize = 1_000;

fn stdio(
    owner: DefinitionOwner,
    command: &str,
    args: &[String],
    own: &[(String, String)],
    around: &ServerContext,
) -> ChildCommand {
    let mut env = around.env.of(owner).clone();
    for (name, value) in own {
        env.set(name, value);
    }
    ChildCommand {
        program: command.into(),
        args: args.iter().map(Into::into).collect(),
        cwd: around.cwd(),
        env,
        stdin: Vec::new(),
        cap: COMPLAINTS,
        deadline: None,
        grace: GRACE,
        on_death: OnDeath::Kill,
    }
}

/// How a server ended, with the last line of its stderr.
async fn ended(child: &mut ChildHandle) -> String {
    let how = match child.end(GRACE).await {
        Some(ChildExit::Exited(code)) => format!("the server ended with exit code {code}"),
        Some(ChildExit::Signalled(signal)) => format!("the server was ended by signal {signal}"),
        Some(ChildExit::TimedOut | ChildExit::Cancelled) | None => "the server closed its side".to_owned(),
    };
    let complaints = ona_api::text::decode(&child.stderr_so_far().bytes);
    match complaints.lines().rev().map(str::trim).find(|line| !line.is_empty()) {
        Some(line) => format!("{how}: {}", ona_api::text::head(line, 500).0),
        None => how,
    }
}
