//! A connection to one server. The only file, with `handler`, that knows the library.
//!
//! Requests and answers are plain JSON on this side: what a server adds to the protocol
//! must not make the rest of its answer unreadable.

use crate::context::ServerContext;
use crate::definition::{DefinitionOwner, ServerDefinition, ServerTransport};
use crate::handler::{Inbox, McpClientHandler};
use crate::relay;
use http::{HeaderName, HeaderValue};
use ona_process::{ChildCommand, ChildExit, ChildHandle, OnDeath, PersistentChild};
use rmcp::model::{ClientRequest, CustomRequest};
use rmcp::service::{PeerRequestOptions, RoleClient, RunningService, ServiceError, serve_client};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The longest message that is read.
const LONGEST: usize = 64 * 1024 * 1024;
/// How long a server that was told to end may take.
const GRACE: Duration = Duration::from_secs(1);
/// How long to wait for a cancelled request to be reported.
const COURTESY: Duration = Duration::from_millis(250);
/// What is kept of a server's complaints.
const COMPLAINTS: usize = 64 * 1024;

/// Why a server is not connected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error("{0}")]
    Failed(String),
    #[error("the server asks for a login: {0}")]
    NeedsAuth(String),
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum McpCallError {
    #[error("no answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("the connection was lost: {0}")]
    Lost(String),
    /// The server returned a JSON-RPC error.
    #[error("{message} (code {code})")]
    Refused { code: i64, message: String },
    #[error("interrupted")]
    Interrupted,
}

pub(crate) struct McpConnection {
    server: String,
    service: Mutex<Option<RunningService<RoleClient, McpClientHandler>>>,
    peer: rmcp::service::Peer<RoleClient>,
    child: Mutex<Option<ChildHandle>>,
    pub inbox: Arc<Inbox>,
    /// `serverInfo`, `capabilities` and `instructions`, as the server gave them.
    pub info: Value,
}

impl McpConnection {
    pub(crate) async fn open(definition: &ServerDefinition, around: &Arc<ServerContext>) -> Result<Self, ConnectError> {
        let inbox = Arc::new(Inbox::default());
        let server = definition.name.clone();
        let handler =
            McpClientHandler { server: server.clone(), inbox: Arc::clone(&inbox), around: Arc::clone(around) };
        let failed = |why: String| ConnectError::Failed(why);
        let mut child = None;
        let served = match &definition.endpoint {
            ServerTransport::Stdio { command, args, env } => {
                let worker = PersistentChild::start(&stdio(definition.owner, command, args, env, around)).await;
                let (stdout, stdin, rest) = worker.map_err(|error| failed(error.to_string()))?.streams();
                child = Some(rest);
                serve_client(handler, AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(LONGEST)).await
            }
            ServerTransport::Http { url, headers } => {
                let client = ona_auth::http::server_client(url).map_err(|error| failed(error.to_string()))?;
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(parsed(headers).map_err(failed)?);
                serve_client(handler, StreamableHttpClientTransport::with_client(client, config)).await
            }
            ServerTransport::Host => {
                let relay = around.relay().ok_or_else(|| failed("no program drives this run".into()))?;
                let (reader, writer) = tokio::io::split(relay::pipe(relay, server));
                serve_client(handler, AsyncRwTransport::new_client(reader, writer).with_max_line_length(LONGEST)).await
            }
        };
        let service = match served {
            Ok(service) => service,
            Err(error) if error.is_authorization_required() => {
                return Err(ConnectError::NeedsAuth("give it a header with a token, or log in elsewhere".into()));
            }
            Err(error) => {
                let words = without_address(&error.to_string(), &definition.endpoint);
                let end = match &mut child {
                    Some(child) => Some(ended(child).await),
                    None => None,
                };
                return Err(failed(end.unwrap_or(words)));
            }
        };
        let peer = service.peer().clone();
        // What cannot be written as JSON offers nothing.
        let info = peer.peer_info().and_then(|info| serde_json::to_value(&*info).ok()).unwrap_or_default();
        let server = definition.name.clone();
        tracing::debug!(server, "connected");
        Ok(Self { server, service: Mutex::new(Some(service)), peer, child: Mutex::new(child), inbox, info })
    }

    /// Returns whether the server declared this capability.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.info["capabilities"].get(capability).is_some_and(|value| !value.is_null())
    }

    /// Sends one request and returns its result.
    #[tracing::instrument(level = "debug", name = "mcp_request", skip_all, err(level = "debug"), fields(server = self.server, method))]
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Value, McpCallError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let sent = self.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return Err(self.because(error).await),
        };
        let gave_up = loop {
            tokio::select! {
                answer = &mut handle.rx => {
                    return match answer {
                        Ok(Ok(result)) => serde_json::to_value(result).map_err(|error| McpCallError::Lost(error.to_string())),
                        Ok(Err(error)) => Err(self.because(error).await),
                        Err(_) => Err(self.because(ServiceError::TransportClosed).await),
                    };
                }
                () = cancel.cancelled() => break McpCallError::Interrupted,
                () = tokio::time::sleep(timeout) => {
                    if *self.inbox.open.borrow() == 0 {
                        break McpCallError::TimedOut(timeout);
                    }
                }
            }
        };
        // A server that does not read is not waited for.
        tokio::time::timeout(COURTESY, handle.cancel(Some(gave_up.to_string()))).await.ok();
        Err(gave_up)
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

    async fn because(&self, error: ServiceError) -> McpCallError {
        match error {
            ServiceError::McpError(error) => {
                McpCallError::Refused { code: i64::from(error.code.0), message: error.message.into_owned() }
            }
            ServiceError::TransportClosed => match self.child.lock().await.as_mut() {
                Some(child) => McpCallError::Lost(ended(child).await),
                None => McpCallError::Lost("the server closed it".into()),
            },
            other => McpCallError::Lost(other.to_string()),
        }
    }

    /// Returns whether the connection is closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.peer.is_transport_closed()
    }

    pub(crate) async fn close(&self) {
        if let Some(mut service) = self.service.lock().await.take() {
            // The process is ended below, whatever it answers.
            if let Err(error) = service.close_with_timeout(GRACE).await {
                tracing::debug!(server = self.server, %error, "the connection was not closed in order");
            }
        }
        if let Some(mut child) = self.child.lock().await.take() {
            child.end(GRACE).await;
        }
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
        cwd: around.place().cwd,
        env,
        stdin: Vec::new(),
        cap: COMPLAINTS,
        deadline: None,
        grace: GRACE,
        on_death: OnDeath::Kill,
    }
}

fn parsed(headers: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let header = |(name, value): &(String, String)| {
        let wrong = || format!("the header {name:?} cannot be sent");
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value))
    };
    headers.iter().map(header).collect()
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

/// Removes the parts of an address that may hold a credential.
fn without_address(words: &str, endpoint: &ServerTransport) -> String {
    match endpoint {
        ServerTransport::Http { url, .. } => words.replace(url.as_str(), "its address"),
        ServerTransport::Stdio { .. } | ServerTransport::Host => words.to_owned(),
    }
}
