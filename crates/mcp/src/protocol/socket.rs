//! WebSocket: one message per frame of text, both ways.
//!
//! The connection begins as a request of `HttpLink`, with our headers, proxy and words; what follows is
//! tungstenite's. The library has no such transport.

use super::incoming;
use crate::connection::McpCallError;
use crate::http::{HttpLink, LONGEST};
use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use reqwest::Upgraded;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};

const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");
const VERSION: HeaderName = HeaderName::from_static("sec-websocket-version");
const PROTOCOL: HeaderName = HeaderName::from_static("sec-websocket-protocol");

type Stream = WebSocketStream<Upgraded>;

pub(crate) struct Socket {
    reader: SplitStream<Stream>,
    writer: Arc<Mutex<SplitSink<Stream, Message>>>,
    ready: VecDeque<ServerJsonRpcMessage>,
    closed: Option<String>,
}

impl Socket {
    pub(crate) async fn open(link: HttpLink) -> Result<Self, McpCallError> {
        let key = ona_api::digest::base64(uuid::Uuid::new_v4().as_bytes());
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(VERSION, HeaderValue::from_static("13"));
        headers.insert(PROTOCOL, HeaderValue::from_static("mcp"));
        headers.insert(KEY, HeaderValue::from_str(&key).expect("base64 is a header"));
        let response = link.send(Method::GET, &link.url, &headers, None).await?;
        let wrong = || McpCallError::NotTaken("the address is not that of a WebSocket; try \"type\": \"http\"".into());
        if response.status() != StatusCode::SWITCHING_PROTOCOLS {
            return Err(if response.status().is_success() { wrong() } else { link.refusal(response, false).await });
        }
        let accepted = response.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
        if accepted != Some(ona_api::digest::websocket_accept(&key).as_str()) {
            return Err(wrong());
        }
        let upgraded = response.upgrade().await.map_err(|_| wrong())?;
        let config = WebSocketConfig::default().max_message_size(Some(LONGEST)).max_frame_size(Some(LONGEST));
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(config)).await;
        let (writer, reader) = stream.split();
        Ok(Self { reader, writer: Arc::new(Mutex::new(writer)), ready: VecDeque::new(), closed: None })
    }

    pub(super) fn why_closed(&self) -> String {
        self.closed.clone().unwrap_or_default()
    }
}

impl Transport<RoleClient> for Socket {
    type Error = McpCallError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), McpCallError>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let text = serde_json::to_string(&message).map_err(|error| McpCallError::NotTaken(error.to_string()))?;
            let sent = writer.lock().await.send(Message::text(text)).await;
            sent.map_err(|error| McpCallError::Lost(words(&error)))
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.closed.is_some() {
                return None;
            }
            match self.reader.next().await {
                Some(Ok(Message::Text(text))) => self.ready.extend(incoming::messages(text.as_bytes())),
                Some(Ok(Message::Binary(bytes))) => self.ready.extend(incoming::messages(&bytes)),
                // Pings are answered below.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(frame))) => {
                    let reason = frame.map(|frame| frame.reason.to_string()).filter(|reason| !reason.is_empty());
                    let reason = reason.map(|reason| format!(": {}", ona_api::text::head(&reason, 200).0));
                    self.closed = Some(format!("the server closed it{}", reason.unwrap_or_default()));
                }
                Some(Err(error)) => self.closed = Some(words(&error)),
                None => self.closed = Some("the server closed it".into()),
            }
        }
    }

    async fn close(&mut self) -> Result<(), McpCallError> {
        // A write that is under way keeps it; the stream ends with its last owner.
        if let Ok(mut writer) = self.writer.try_lock() {
            writer.close().await.ok();
        }
        Ok(())
    }
}

fn words(error: &Error) -> String {
    match error {
        Error::Capacity(_) => format!("a message of more than {LONGEST} bytes"),
        Error::ConnectionClosed | Error::AlreadyClosed => "the server closed it".into(),
        Error::Io(error) => error.to_string(),
        other => {
            tracing::debug!(error = %other, "the stream broke off");
            "the connection was cut".into()
        }
    }
}
