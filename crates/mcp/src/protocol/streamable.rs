//! Streamable HTTP: sessions, streams and what of them is fetched again are the library's; each request
//! it makes goes through `HttpLink`, which has our headers, our limits and our words.
//!
//! A session that the server has forgotten is not made anew by the library, which would keep the
//! tools of the old one: the connection is (`server`).

use super::{incoming, is_id};
use crate::connection::McpCallError;
use crate::http::{EventReader, HttpLink, LONGEST, content_type, limited};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use reqwest::Response;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, NumberOrString};
use rmcp::transport::common::client_side_sse::ExponentialBackoff;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
    StreamableHttpError, StreamableHttpPostResponse,
};
use serde_json::Value;
use sse_stream::Sse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// The server is told for this long that a session ends.
const FAREWELL: Duration = Duration::from_millis(500);
/// Before a stream is opened again, unless the server says otherwise.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often a stream that brings nothing is opened again.
const TRIES: usize = 5;

pub(crate) type StreamableTransport = StreamableHttpClientTransport<Requests>;

/// Nothing is sent before the first message.
pub(crate) fn streamable(link: HttpLink) -> StreamableTransport {
    let mut pauses = ExponentialBackoff::default();
    pauses.max_times = Some(TRIES);
    pauses.base_duration = PAUSE;
    pauses.max_delay = Some(LONGEST_PAUSE);
    let mut config = StreamableHttpClientTransportConfig::with_uri(link.url.as_str()).reinit_on_expired_session(false);
    config.retry_config = Arc::new(pauses);
    let requests = Requests { link: Arc::new(link), fruitless: Arc::default() };
    StreamableHttpClientTransport::with_client(requests, config)
}

type Failure = StreamableHttpError<McpCallError>;

/// The requests of one session.
#[derive(Clone)]
pub(crate) struct Requests {
    link: Arc<HttpLink>,
    /// Number of streams in a row that ended without an event.
    fruitless: Arc<AtomicUsize>,
}

impl From<Failure> for McpCallError {
    fn from(failure: Failure) -> Self {
        match failure {
            StreamableHttpError::Client(own) => own,
            StreamableHttpError::SessionExpired => McpCallError::SessionEnded,
            StreamableHttpError::TransportChannelClosed => McpCallError::Lost(String::new()),
            other => {
                tracing::debug!(error = %other, "the exchange over HTTP broke off");
                McpCallError::Lost("the exchange over HTTP broke off".into())
            }
        }
    }
}

fn to_library(error: McpCallError) -> Failure {
    match error {
        McpCallError::SessionEnded => StreamableHttpError::SessionExpired,
        other => StreamableHttpError::Client(other),
    }
}

fn lost(why: &str) -> McpCallError {
    McpCallError::Lost(why.to_owned())
}

impl StreamableHttpClient for Requests {
    type Error = McpCallError;

    async fn post_message(
        &self,
        _: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let headers = all("application/json, text/event-stream", session.as_deref(), headers);
        let posted = self.post(&message, session.is_some(), headers).await;
        match posted {
            Ok(response) => Ok(response),
            Err(error) if matches!(message, ClientJsonRpcMessage::Request(_)) => Err(to_library(error)),
            Err(error) => {
                // The next request fails with the cause.
                tracing::debug!(%error, "a message was not delivered");
                Ok(StreamableHttpPostResponse::Accepted)
            }
        }
    }

    async fn delete_session(
        &self,
        _: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let headers = all("application/json, text/event-stream", Some(&session), headers);
        let told = self.link.send(Method::DELETE, &self.link.url, &headers, None);
        // A server that does not want to hear of it need not.
        tokio::time::timeout(FAREWELL, told).await.ok();
        Ok(())
    }

    async fn get_stream(
        &self,
        _: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        if self.fruitless.fetch_add(1, Ordering::SeqCst) >= TRIES {
            self.fruitless.store(0, Ordering::SeqCst);
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let mut headers = all("text/event-stream", session.as_deref(), headers);
        headers.extend(last_event.and_then(|id| HeaderValue::from_str(&id).ok()).map(|id| (LAST_EVENT, id)));
        let response = self.link.send(Method::GET, &self.link.url, &headers, None).await.map_err(to_library)?;
        if response.status().is_server_error() {
            return Err(to_library(lost("the stream of the server is not open")));
        }
        // It has no such stream.
        if !response.status().is_success() || content_type(&response) != "text/event-stream" {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        Ok(self.events(response))
    }
}

impl Requests {
    async fn post(
        &self,
        message: &ClientJsonRpcMessage,
        in_session: bool,
        headers: HeaderMap,
    ) -> Result<StreamableHttpPostResponse, McpCallError> {
        let body = serde_json::to_string(message).map_err(|error| McpCallError::NotTaken(error.to_string()))?;
        let response = self.link.send(Method::POST, &self.link.url, &headers, Some(&body)).await?;
        if !response.status().is_success() {
            let status = response.status();
            let refusal = self.link.refusal(response, in_session).await;
            return Err(match (is_handshake(message), status, refusal) {
                (true, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED, McpCallError::NotTaken(why)) => {
                    McpCallError::NotTaken(format!("{why}; for a server of the older kind use \"type\": \"sse\""))
                }
                (.., refusal) => refusal,
            });
        }
        let ClientJsonRpcMessage::Request(request) = message else { return Ok(StreamableHttpPostResponse::Accepted) };
        let session = response.headers().get(SESSION).and_then(|value| value.to_str().ok()).map(str::to_owned);
        match content_type(&response).as_str() {
            "application/json" => answered(response, &request.id, session).await,
            "text/event-stream" => Ok(StreamableHttpPostResponse::Sse(self.events(response), session)),
            _ if response.status() == StatusCode::ACCEPTED => {
                Err(lost("the server accepted the request and answered nothing"))
            }
            "" => Err(lost("the answer does not say what it is (content-type)")),
            other => Err(lost(&format!("the answer is {other}, not JSON; is the address right?"))),
        }
    }

    /// Returns the events of a response as the library takes them. A stream ends the same way however it
    /// was cut; whether the rest can be fetched, its ids say.
    fn events(&self, response: Response) -> BoxStream<'static, Result<Sse, SseError>> {
        let fruitless = Arc::clone(&self.fruitless);
        let events = Events { reader: EventReader::new(response), ready: VecDeque::new(), told: None };
        stream::unfold((events, fruitless), |(mut events, fruitless)| async move {
            let event = events.next().await?;
            fruitless.store(0, Ordering::SeqCst);
            Some((Ok(event), (events, fruitless)))
        })
        .boxed()
    }
}

struct Events {
    reader: EventReader,
    ready: VecDeque<Sse>,
    /// The id that the library knows.
    told: Option<String>,
}

impl Events {
    async fn next(&mut self) -> Option<Sse> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.told.clone_from(&event.id);
                return Some(event);
            }
            let read = self.reader.next().await;
            let id = self.reader.last_id().map(str::to_owned);
            let texts = match read {
                Some(event) => texts(event.data),
                // An id may come without data.
                None if id != self.told => Vec::new(),
                None => return None,
            };
            let retry = self.reader.retry().and_then(|pause| u64::try_from(pause.as_millis()).ok());
            let event = |data| Sse { event: None, data, id: id.clone(), retry };
            if texts.is_empty() {
                self.ready.push_back(event(None));
            }
            self.ready.extend(texts.into_iter().map(|text| event(Some(text))));
        }
    }
}

/// Returns the texts of the messages in an event.
fn texts(data: String) -> Vec<String> {
    match serde_json::from_str::<Value>(&data) {
        Ok(value) => incoming::parts(value).iter().map(Value::to_string).collect(),
        Err(error) => {
            tracing::debug!(%error, bytes = data.len(), "an event that is not JSON is ignored");
            Vec::new()
        }
    }
}

/// Returns the answer in a body of JSON.
async fn answered(
    response: Response,
    id: &NumberOrString,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, McpCallError> {
    let body = limited(response, LONGEST).await.ok_or_else(|| lost("the answer was cut off"))?;
    let value = serde_json::from_slice(&body).map_err(|_| lost("the answer is not JSON"))?;
    let mut parts = incoming::parts(value);
    if !parts.iter().any(|part| part.get("method").is_none() && is_id(&part["id"], id)) {
        return Err(lost("the answer belongs to another request"));
    }
    if parts.len() > 1 {
        let events = parts.into_iter().map(|part| Ok(Sse { data: Some(part.to_string()), ..Sse::default() }));
        return Ok(StreamableHttpPostResponse::Sse(stream::iter(events.collect::<Vec<_>>()).boxed(), session));
    }
    let message = parts.pop().and_then(incoming::message);
    let message = message.ok_or_else(|| lost("the answer is not one of the protocol"))?;
    Ok(StreamableHttpPostResponse::Json(message, session))
}

fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(one) if matches!(one.request, ClientRequest::InitializeRequest(_)))
}

fn all(accept: &'static str, session: Option<&str>, own: HashMap<HeaderName, HeaderValue>) -> HeaderMap {
    let mut headers: HeaderMap = own.into_iter().collect();
    headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
    headers.extend(session.and_then(|id| HeaderValue::from_str(id).ok()).map(|id| (SESSION, id)));
    headers
}
