//! The older transport over HTTP: one stream of events from the server, whose first event names the
//! address that messages are posted to. The library does not have it any more.

use super::incoming;
use crate::connection::McpCallError;
use crate::http::{EventReader, HttpLink, content_type};
use ::http::{HeaderMap, HeaderValue, Method, header};
use reqwest::Url;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) struct EventStream {
    link: Arc<HttpLink>,
    target: Url,
    events: Option<EventReader>,
    ready: VecDeque<ServerJsonRpcMessage>,
}

impl EventStream {
    /// Opens the stream and waits for the address of messages.
    pub(crate) async fn open(link: HttpLink) -> Result<Self, McpCallError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        let response = link.send(Method::GET, &link.url, &headers, None).await?;
        if !response.status().is_success() {
            return Err(link.refusal(response, false).await);
        }
        if content_type(&response) != "text/event-stream" {
            return Err(McpCallError::NotTaken(
                "the address is not that of a stream of events; try \"type\": \"http\"".into(),
            ));
        }
        let mut events = EventReader::new(response);
        while let Some(event) = events.next().await {
            if event.name != "endpoint" {
                continue;
            }
            let target = link.url.join(event.data.trim()).ok();
            // Messages carry credentials: no other server gets them.
            let Some(target) = target.filter(|target| target.origin() == link.url.origin()) else {
                return Err(McpCallError::NotTaken(
                    "the server wants its messages at another server, which is refused".into(),
                ));
            };
            return Ok(Self { link: Arc::new(link), target, events: Some(events), ready: VecDeque::new() });
        }
        Err(McpCallError::NotTaken("the server closed the stream before it said where messages go".into()))
    }
}

impl Transport<RoleClient> for EventStream {
    type Error = McpCallError;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), McpCallError>> + Send + 'static {
        let (link, target) = (Arc::clone(&self.link), self.target.clone());
        async move {
            let body = serde_json::to_string(&message).map_err(|error| McpCallError::NotTaken(error.to_string()))?;
            let posted = link.send(Method::POST, &target, &HeaderMap::new(), Some(&body)).await;
            let failure = match posted {
                Ok(response) if response.status().is_success() => return Ok(()),
                Ok(response) => link.refusal(response, true).await,
                Err(why) => why,
            };
            if matches!(message, ClientJsonRpcMessage::Request(_)) {
                return Err(failure);
            }
            tracing::debug!(%failure, "a message was not delivered");
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let event = self.events.as_mut()?.next().await?;
            self.ready.extend(incoming::messages(event.data.as_bytes()));
        }
    }

    async fn close(&mut self) -> Result<(), McpCallError> {
        self.events = None;
        Ok(())
    }
}
