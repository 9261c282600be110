//! The protocol with one server, by way of the library `rmcp`; nothing outside this module knows it.
//!
//! The library has the messages, the handshake, ids of requests, cancellation, the server's requests
//! and the sessions of streamable HTTP. Ours are the words of errors, limits and what a failure means:
//! how a message travels is in `lines`, `legacy` and `socket` (transports) and `streamable` (the requests of the library's
//! transport), `watched` stands between all of them and the library, `handler` answers what servers ask.
//!
//! Answers are read as plain JSON outside: what a server adds to the protocol must not make
//! the rest of its answer unreadable (`incoming`).

mod handler;
mod incoming;
mod legacy;
mod lines;
mod outgoing;
mod socket;
mod streamable;
mod watched;

pub(crate) use handler::{Inbox, McpClientHandler};
pub(crate) use legacy::EventStream;
pub(crate) use lines::{LONGEST, Lines};
pub(crate) use outgoing::{ListKind, ServerCall};
pub(crate) use socket::Socket;
pub(crate) use streamable::streamable;
pub(crate) use watched::ServerLink;

use crate::connection::McpCallError;
use rmcp::model::{ClientNotification, ErrorData, NumberOrString, ProgressNotificationParam, ServerResult};
use rmcp::service::{
    ClientInitializeError, Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError, serve_client,
};
use rmcp::transport::DynamicTransportError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use watched::Watched;

pub(crate) use rmcp::model::ProtocolVersion;

/// How long to wait until a cancelled request was reported.
const COURTESY: Duration = Duration::from_millis(250);

/// What a server says about a call that still runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl CallProgress {
    fn of(params: &ProgressNotificationParam) -> Self {
        let message = params.message.as_deref().map(|words| ona_api::text::head(words, 500).0.to_owned());
        Self { progress: params.progress, total: params.total, message }
    }
}

pub(crate) type OnProgress = Arc<dyn Fn(CallProgress) + Send + Sync>;

/// One request and how long it may take.
pub(crate) struct Request<'a> {
    pub call: ServerCall<'a>,
    pub timeout: Duration,
    pub cancel: &'a CancellationToken,
    pub progress: Option<OnProgress>,
}

/// Returns the versions of the protocol that this program speaks, the newest first.
pub(crate) fn versions() -> Vec<ProtocolVersion> {
    ProtocolVersion::KNOWN_VERSIONS.iter().filter(|version| version.has_initialize()).rev().cloned().collect()
}

/// A session with a server, after the handshake.
pub(crate) struct ServerSession {
    service: Mutex<Option<RunningService<RoleClient, Arc<McpClientHandler>>>>,
    peer: Peer<RoleClient>,
    pub handler: Arc<McpClientHandler>,
    /// `protocolVersion`, `serverInfo`, `capabilities` and `instructions`, as the server gave them.
    pub info: Value,
}

impl ServerSession {
    /// Agrees on a version of the protocol. The server chooses; one that this program does not speak ends it.
    pub(crate) async fn open(link: ServerLink, handler: Arc<McpClientHandler>) -> Result<Self, McpCallError> {
        let watched = Watched { link, handler: Arc::clone(&handler) };
        let served = serve_client(Arc::clone(&handler), watched).await;
        let service = served.map_err(|error| not_opened(error, &handler.inbox))?;
        let peer = service.peer().clone();
        let info = peer.peer_info().expect("a handshake leaves what the server said");
        if !versions().contains(&info.protocol_version) {
            let versions: Vec<_> = versions().iter().map(ToString::to_string).collect();
            let why =
                format!("it speaks {:?}; this program speaks {}", info.protocol_version.as_str(), versions.join(", "));
            return Err(McpCallError::NotTaken(why));
        }
        let info = serde_json::to_value(&*info).expect("it was JSON");
        Ok(Self { service: Mutex::new(Some(service)), peer, handler, info })
    }

    /// Returns whether nothing can be exchanged any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.handler.inbox.closed().is_some() || self.peer.is_transport_closed()
    }

    pub(crate) async fn announce_roots(&self) {
        let changed = ClientNotification::RootsListChangedNotification(Default::default());
        // A server that does not read is not waited for, and a lost connection is noticed by requests.
        tokio::time::timeout(COURTESY, self.peer.send_notification(changed)).await.ok();
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Value, McpCallError> {
        let Request { call, timeout, cancel, progress } = request;
        let inbox = &self.handler.inbox;
        let message = watched::listened(call.message(), progress);
        let sent = self.peer.send_cancellable_request(message, PeerRequestOptions::no_options()).await;
        let mut handle = sent.map_err(|error| failed(error, inbox))?;
        let token = handle.progress_token.clone();
        let _listening = scopeguard(|| inbox.forget_listener(&token));
        let gave_up = loop {
            tokio::select! {
                answer = &mut handle.rx => {
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return answer.map(plain).map_err(|error| failed(error, inbox));
                }
                () = cancel.cancelled() => break McpCallError::Interrupted,
                () = tokio::time::sleep(timeout) => {
                    // A person who is thinking about a question of the server is waited for.
                    if *inbox.open.borrow() == 0 {
                        break McpCallError::TimedOut(timeout);
                    }
                }
            }
        };
        // A server that does not read is not waited for.
        tokio::time::timeout(COURTESY, handle.cancel(Some(gave_up.to_string()))).await.ok();
        Err(gave_up)
    }

    /// Ends the session; what has not ended after `grace` is left to itself.
    pub(crate) async fn close(&self, grace: Duration) {
        if let Some(mut service) = self.service.lock().await.take()
            && let Err(error) = service.close_with_timeout(grace).await
        {
            tracing::debug!(%error, "the session was not closed in order");
        }
    }
}

/// Returns an answer as the JSON it was.
fn plain(result: ServerResult) -> Value {
    serde_json::to_value(result).expect("it was JSON")
}

/// Returns the version to try instead, where a server names those it speaks instead of choosing one.
pub(crate) fn another_version(error: &McpCallError, tried: &ProtocolVersion) -> Option<ProtocolVersion> {
    let McpCallError::Refused { data, .. } = error else { return None };
    let newest = versions().first() == Some(tried);
    let speaks = |one: &ProtocolVersion| {
        data["supported"].as_array().is_some_and(|list| list.iter().any(|named| named == one.as_str()))
    };
    versions().into_iter().skip(1).find(speaks).filter(|_| newest)
}

fn not_opened(error: ClientInitializeError, inbox: &Inbox) -> McpCallError {
    match error {
        ClientInitializeError::TransportError { error, .. } => not_sent(error),
        ClientInitializeError::JsonRpcError(error) => refused(error),
        ClientInitializeError::ConnectionClosed(_) => McpCallError::Lost(inbox.closed().unwrap_or_default()),
        ClientInitializeError::ExpectedInitResult(Some(answer)) => {
            let read = serde_json::from_value::<rmcp::model::InitializeResult>(plain(answer));
            let why = read.err().map(|error| format!(": {error}")).unwrap_or_default();
            McpCallError::NotTaken(format!("its answer to the handshake cannot be used{why}"))
        }
        other => {
            tracing::debug!(error = %other, "no handshake");
            McpCallError::NotTaken("its answer to the handshake cannot be used".into())
        }
    }
}

fn failed(error: ServiceError, inbox: &Inbox) -> McpCallError {
    match error {
        ServiceError::McpError(error) => refused(error),
        ServiceError::TransportSend(error) => not_sent(error),
        ServiceError::TransportClosed => McpCallError::Lost(
            // The library says the same of one answer that broke off and of the whole session.
            inbox.closed().unwrap_or_else(|| "the connection was cut before the answer was complete".into()),
        ),
        other => {
            tracing::debug!(error = %other, "a request has no answer");
            McpCallError::Lost("the answer cannot be used".into())
        }
    }
}

/// Returns our own error, which the library carries.
fn not_sent(error: DynamicTransportError) -> McpCallError {
    match error.error.downcast::<McpCallError>() {
        Ok(own) => *own,
        Err(other) => McpCallError::Lost(other.to_string()),
    }
}

fn refused(error: ErrorData) -> McpCallError {
    let data = error.data.unwrap_or_else(|| json!(null));
    McpCallError::Refused { code: error.code.0.into(), message: error.message.into_owned(), data }
}

/// Calls a function when dropped.
fn scopeguard<F: FnMut()>(end: F) -> impl Drop {
    struct AtEnd<F: FnMut()>(F);
    impl<F: FnMut()> Drop for AtEnd<F> {
        fn drop(&mut self) {
            (self.0)();
        }
    }
    AtEnd(end)
}

/// Whether this id of an answer is that of a request of ours. Some servers return ids as strings.
fn is_id(answered: &Value, id: &NumberOrString) -> bool {
    match id {
        NumberOrString::Number(id) => {
            answered.as_i64() == Some(*id) || answered.as_str().is_some_and(|text| text.parse() == Ok(*id))
        }
        NumberOrString::String(id) => answered.as_str() == Some(id),
    }
}
