//! Streamable HTTP: each message is a POST, its answer JSON or a stream of events; what the server
//! sends unasked comes over a stream that we open.

use super::{EventReader, HttpLink, LONGEST, content_type, limited};
use crate::connection::McpCallError;
use crate::peer::number;
use crate::wire::{Incoming, WireTask};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use reqwest::Response;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::{AbortHandle, JoinSet};

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// The messages of a session are told that it ends for this long.
const FAREWELL: Duration = Duration::from_millis(500);
/// Before a stream is opened again, unless the server says otherwise.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often a stream that breaks is opened again.
const TRIES: u32 = 5;

struct Streamable {
    link: HttpLink,
    incoming: UnboundedSender<Incoming>,
    /// What the server chose in the handshake.
    session: Mutex<Option<HeaderValue>>,
    version: Mutex<Option<HeaderValue>>,
    /// Requests that are under way.
    open: Mutex<HashMap<u64, AbortHandle>>,
}

pub(super) async fn run(link: HttpLink, task: WireTask) {
    let WireTask { mut outgoing, incoming, ending } = task;
    let this = Arc::new(Streamable {
        link,
        incoming,
        session: Mutex::default(),
        version: Mutex::default(),
        open: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    loop {
        let message = tokio::select! {
            message = outgoing.recv() => message,
            () = ending.cancelled() => None,
            // Results of finished tasks are collected as they come.
            Some(_) = tasks.join_next() => continue,
        };
        let Some(message) = message else { break };
        let method = message["method"].as_str().map(str::to_owned);
        match (method.as_deref(), message["id"].as_u64()) {
            (Some("notifications/initialized"), _) => {
                // Requests follow only when the server has heard of it.
                tokio::select! {
                    () = this.post(message, None) => {}
                    () = ending.cancelled() => break,
                }
                tasks.spawn(Arc::clone(&this).listen());
            }
            (Some("notifications/cancelled"), _) => {
                let cancelled = number(&message["params"]["requestId"]);
                let this = Arc::clone(&this);
                tasks.spawn(async move {
                    this.post(message, None).await;
                    let running = cancelled.and_then(|id| locked(&this.open).remove(&id));
                    if let Some(running) = running {
                        running.abort();
                    }
                });
            }
            (Some(_), Some(id)) => {
                let posting = Arc::clone(&this);
                let running = tasks.spawn(async move {
                    posting.post(message, Some(id)).await;
                    locked(&posting.open).remove(&id);
                });
                locked(&this.open).insert(id, running);
            }
            _ => {
                let this = Arc::clone(&this);
                tasks.spawn(async move { this.post(message, None).await });
            }
        }
    }
    tasks.abort_all();
    this.say_goodbye().await;
}

impl Streamable {
    /// Sends one message. What becomes of a request (`id`) is reported.
    async fn post(&self, message: Value, id: Option<u64>) {
        match (self.exchange(&message, id).await, id) {
            (Err(why), Some(id)) => {
                // The run may have ended.
                self.incoming.send(Incoming::Failed { id, why }).ok();
            }
            (Err(error), None) => tracing::debug!(%error, "a message was not delivered"),
            (Ok(()), _) => {}
        }
    }

    async fn exchange(&self, message: &Value, id: Option<u64>) -> Result<(), McpCallError> {
        let body = message.to_string();
        let headers = self.headers("application/json, text/event-stream", None);
        let response = self.link.send(Method::POST, &self.link.url, &headers, Some(&body)).await?;
        if !response.status().is_success() {
            let in_session = locked(&self.session).is_some();
            let status = response.status();
            let refusal = self.link.refusal(response, in_session).await;
            return Err(match (message["method"].as_str(), status, refusal) {
                (
                    Some("initialize"),
                    StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED,
                    McpCallError::NotTaken(why),
                ) => McpCallError::NotTaken(format!("{why}; for a server of the older kind use \"type\": \"sse\"")),
                (.., refusal) => refusal,
            });
        }
        if let Some(session) = response.headers().get(SESSION) {
            *locked(&self.session) = Some(session.clone());
        }
        let Some(id) = id else { return Ok(()) };
        match content_type(&response).as_str() {
            "application/json" => {
                let lost = |why: &str| McpCallError::Lost(why.to_owned());
                let body = limited(response, LONGEST).await.ok_or_else(|| lost("the answer was cut off"))?;
                let message = serde_json::from_slice(&body).map_err(|_| lost("the answer is not JSON"))?;
                if self.deliver(message, Some(id)) {
                    Ok(())
                } else {
                    Err(lost("the answer belongs to another request"))
                }
            }
            "text/event-stream" => self.stream(response, id).await,
            _ if response.status() == StatusCode::ACCEPTED => {
                Err(McpCallError::Lost("the server accepted the request and answered nothing".into()))
            }
            "" => Err(McpCallError::Lost("the answer does not say what it is (content-type)".into())),
            other => Err(McpCallError::Lost(format!("the answer is {other}, not JSON; is the address right?"))),
        }
    }

    /// Reads the events of an answer. If the stream ends too early and has ids, the server is asked for the rest.
    async fn stream(&self, response: Response, id: u64) -> Result<(), McpCallError> {
        let cut = || McpCallError::Lost("the connection was cut before the answer was complete".into());
        let mut events = EventReader::new(response);
        for _ in 0..TRIES {
            while let Some(event) = events.next().await {
                if let Ok(message) = serde_json::from_str(&event.data)
                    && self.deliver(message, Some(id))
                {
                    return Ok(());
                }
            }
            let last = events.last_id().ok_or_else(cut)?.to_owned();
            tokio::time::sleep(events.retry().unwrap_or(PAUSE).min(LONGEST_PAUSE)).await;
            let headers = self.headers("text/event-stream", Some(&last));
            let response = self.link.send(Method::GET, &self.link.url, &headers, None).await.map_err(|_| cut())?;
            if !response.status().is_success() || content_type(&response) != "text/event-stream" {
                return Err(cut());
            }
            events = EventReader::new(response);
        }
        Err(cut())
    }

    /// Hands a message on. Returns whether it is the answer to this request.
    fn deliver(&self, message: Value, id: Option<u64>) -> bool {
        let answers = |one: &Value| id.is_some() && one.get("method").is_none() && number(&one["id"]) == id;
        let answered = answers(&message) || message.as_array().is_some_and(|all| all.iter().any(answers));
        let mut version = locked(&self.version);
        if version.is_none() {
            *version = message["result"]["protocolVersion"].as_str().and_then(|text| HeaderValue::from_str(text).ok());
        }
        drop(version);
        // The run may have ended.
        self.incoming.send(Incoming::Message(message)).ok();
        answered
    }

    /// Listens to what the server sends unasked, if it offers that.
    async fn listen(self: Arc<Self>) {
        let (mut last, mut pause, mut failures) = (None::<String>, PAUSE, 0);
        while failures < TRIES {
            let headers = self.headers("text/event-stream", last.as_deref());
            match self.link.send(Method::GET, &self.link.url, &headers, None).await {
                Ok(response) if response.status().is_success() && content_type(&response) == "text/event-stream" => {
                    let mut events = EventReader::new(response);
                    let mut any = false;
                    while let Some(event) = events.next().await {
                        any = true;
                        if let Ok(message) = serde_json::from_str(&event.data) {
                            self.deliver(message, None);
                        }
                    }
                    last = events.last_id().map(str::to_owned).or(last);
                    pause = events.retry().unwrap_or(PAUSE).min(LONGEST_PAUSE);
                    failures = if any { 0 } else { failures + 1 };
                }
                Ok(response) if response.status().is_server_error() => failures += 1,
                // It has no such stream.
                Ok(_) => return,
                Err(error) => {
                    tracing::debug!(%error, "the stream of the server is not open");
                    failures += 1;
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// The session is over; a server that does not want to hear of it need not.
    async fn say_goodbye(&self) {
        if locked(&self.session).is_some() {
            let headers = self.headers("application/json, text/event-stream", None);
            let told = self.link.send(Method::DELETE, &self.link.url, &headers, None);
            tokio::time::timeout(FAREWELL, told).await.ok();
        }
    }

    fn headers(&self, accept: &'static str, last: Option<&str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        headers.extend(locked(&self.session).clone().map(|session| (SESSION, session)));
        headers.extend(locked(&self.version).clone().map(|version| (VERSION, version)));
        headers.extend(last.and_then(|last| HeaderValue::from_str(last).ok()).map(|last| (LAST_EVENT, last)));
        headers
    }
}

fn locked<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Each value is replaced as a whole.
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
