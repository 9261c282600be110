//! A connection to one server: where its messages go, its process, what a failed request means for it.

use crate::context::ServerContext;
use crate::definition::{DefinitionOwner, HttpStyle, ServerDefinition, ServerTransport};
use crate::http;
use crate::protocol::{
    self, EventStream, Inbox, Lines, ListKind, McpClientHandler, ProtocolVersion, Request, ServerCall, ServerLink,
    ServerSession, Socket,
};
use crate::relay;
use ona_process::{ChildCommand, ChildExit, ChildHandle, OnDeath, PersistentChild};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// How long a server that was told to end may take.
const GRACE: Duration = Duration::from_secs(1);
/// What is kept of a server's complaints.
const COMPLAINTS: usize = 64 * 1024;

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

/// Why a handshake did not succeed.
enum OpenError {
    Failed(ConnectError),
    /// The server names this version.
    Speaks(ProtocolVersion),
}

pub(crate) struct McpConnection {
    server: String,
    session: ServerSession,
    child: Mutex<Option<ChildHandle>>,
    /// A request failed in a way that leaves the session in doubt: the next call makes another.
    spoiled: AtomicBool,
}

impl McpConnection {
    pub(crate) async fn open(definition: &ServerDefinition, around: &Arc<ServerContext>) -> Result<Self, ConnectError> {
        let mut version = protocol::versions().swap_remove(0);
        loop {
            match Self::open_with(definition, around, version.clone()).await {
                Err(OpenError::Speaks(other)) => version = other,
                Err(OpenError::Failed(why)) => return Err(why),
                Ok(opened) => return Ok(opened),
            }
        }
    }

    async fn open_with(
        definition: &ServerDefinition,
        around: &Arc<ServerContext>,
        version: ProtocolVersion,
    ) -> Result<Self, OpenError> {
        let server = definition.name.clone();
        let failed = |why: String| OpenError::Failed(ConnectError::Failed(why));
        let mut child = None;
        let link = async {
            Ok(match &definition.endpoint {
                ServerTransport::Stdio { command, args, env } => {
                    let worker = PersistentChild::start(&stdio(definition.owner, command, args, env, around)).await;
                    let (stdout, stdin, rest) = worker.map_err(|error| failed(error.to_string()))?.streams();
                    child = Some(rest);
                    ServerLink::Lines(Lines::new(stdout, stdin))
                }
                ServerTransport::Http(endpoint) => {
                    let link = http::link(definition, endpoint, around).await.map_err(failed)?;
                    match endpoint.style {
                        HttpStyle::Streamable => ServerLink::Streamable(protocol::streamable(link)),
                        HttpStyle::WebSocket => {
                            let opened = Socket::open(link).await;
                            ServerLink::Socket(Box::new(opened.map_err(|error| OpenError::Failed(error.into()))?))
                        }
                        HttpStyle::Sse => {
                            let opened = EventStream::open(link).await;
                            ServerLink::EventStream(Box::new(opened.map_err(|error| OpenError::Failed(error.into()))?))
                        }
                    }
                }
                ServerTransport::Host => {
                    let relay = around.relay().ok_or_else(|| failed("no program drives this run".into()))?;
                    let (reader, writer) = tokio::io::split(relay::pipe(relay, server.clone()));
                    ServerLink::Lines(Lines::new(reader, writer))
                }
            })
        };
        let link = link.await?;
        let handler = McpClientHandler {
            server: server.clone(),
            inbox: Inbox::default(),
            around: Arc::clone(around),
            version: version.clone(),
        };
        let session = match ServerSession::open(link, Arc::new(handler)).await {
            Ok(session) => session,
            Err(error) => {
                if let Some(other) = protocol::another_version(&error, &version) {
                    tracing::debug!(server, version = other.as_str(), "trying an older version of the protocol");
                    return Err(OpenError::Speaks(other));
                }
                return Err(match (&mut child, error) {
                    (Some(child), McpCallError::Lost(_)) => failed(ended(child).await),
                    (_, error) => OpenError::Failed(error.into()),
                });
            }
        };
        tracing::debug!(server, version = session.info["protocolVersion"].as_str(), "connected");
        Ok(Self { server, session, child: Mutex::new(child), spoiled: AtomicBool::new(false) })
    }

    /// `serverInfo`, `capabilities` and `instructions`, as the server gave them.
    pub(crate) fn info(&self) -> &Value {
        &self.session.info
    }

    pub(crate) fn inbox(&self) -> &Inbox {
        &self.session.handler.inbox
    }

    /// Returns whether the server declared this capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.info()["capabilities"].get(capability).is_some_and(|value| !value.is_null())
    }

    /// Sends one request and returns its result.
    #[tracing::instrument(level = "debug", name = "mcp_request", skip_all, err(level = "debug"), fields(server = self.server, method = request.call.method()))]
    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Value, McpCallError> {
        match self.session.request(request).await {
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
    pub(crate) async fn list(&self, kind: ListKind, timeout: Duration) -> Result<Vec<Value>, McpCallError> {
        let (mut items, mut cursor) = (Vec::new(), None::<String>);
        let cancel = CancellationToken::new();
        for _ in 0..PAGES {
            let call = ServerCall::List { kind, cursor: cursor.as_deref() };
            let mut page = self.request(Request { call, timeout, cancel: &cancel, progress: None }).await?;
            if let Some(Value::Array(more)) = page.get_mut(kind.key()).map(Value::take) {
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
    pub(crate) async fn announce_roots(&self) {
        self.session.announce_roots().await;
    }

    async fn cause(&self, why: String) -> String {
        match self.child.lock().await.as_mut() {
            Some(child) if self.session.is_closed() => ended(child).await,
            _ if why.is_empty() => "the server closed it".into(),
            _ => why,
        }
    }

    /// Returns whether requests can still be answered.
    pub(crate) fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    /// Returns whether the next call needs another connection.
    pub(crate) fn is_unusable(&self) -> bool {
        self.is_closed() || self.spoiled.load(Ordering::SeqCst)
    }

    pub(crate) async fn close(&self) {
        self.session.close(GRACE).await;
        if let Some(mut child) = self.child.lock().await.take() {
            child.end(GRACE).await;
        }
    }
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
        wall: None,
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
