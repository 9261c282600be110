//! The older transport over HTTP: one stream of events from the server, whose first event names the
//! address that messages are posted to.

use super::{EventReader, HttpLink, content_type};
use crate::connection::McpCallError;
use crate::wire::{Incoming, WireTask};
use ::http::{HeaderMap, HeaderValue, Method, header};
use reqwest::Url;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

pub(super) async fn run(link: HttpLink, task: WireTask) {
    let WireTask { mut outgoing, incoming, ending } = task;
    let link = Arc::new(link);
    let opened = tokio::select! {
        opened = open(&link) => opened,
        () = ending.cancelled() => return,
    };
    let (mut events, target) = match opened {
        Ok(opened) => opened,
        Err(why) => return refuse(outgoing.recv().await, why, &incoming),
    };
    let mut posts = JoinSet::new();
    loop {
        tokio::select! {
            event = events.next() => match event {
                Some(event) => {
                    match serde_json::from_str(&event.data) {
                        // The run may have ended.
                        Ok(message) => drop(incoming.send(Incoming::Message(message))),
                        Err(error) => {
                            tracing::debug!(%error, bytes = event.data.len(), "an event that is not JSON is ignored");
                        }
                    }
                }
                None => {
                    // The run may have ended.
                    incoming.send(Incoming::Closed("the server closed the stream".into())).ok();
                    return;
                }
            },
            message = outgoing.recv() => {
                let Some(message) = message else { return };
                let (link, target, incoming) = (Arc::clone(&link), target.clone(), incoming.clone());
                posts.spawn(async move { post(&link, &target, &message, &incoming).await });
            }
            Some(_) = posts.join_next() => {}
            () = ending.cancelled() => return,
        }
    }
}

/// Opens the stream and waits for the address of messages.
async fn open(link: &HttpLink) -> Result<(EventReader, Url), McpCallError> {
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
        if event.name == "endpoint" {
            let target = link.url.join(event.data.trim()).ok();
            // Messages carry credentials: no other server gets them.
            let target = target.filter(|target| target.origin() == link.url.origin());
            return match target {
                Some(target) => Ok((events, target)),
                None => Err(McpCallError::NotTaken(
                    "the server wants its messages at another server, which is refused".into(),
                )),
            };
        }
    }
    Err(McpCallError::NotTaken("the server closed the stream before it said where messages go".into()))
}

async fn post(link: &HttpLink, target: &Url, message: &Value, incoming: &UnboundedSender<Incoming>) {
    let sent = link.send(Method::POST, target, &HeaderMap::new(), Some(&message.to_string())).await;
    let failed = match sent {
        Ok(response) if response.status().is_success() => None,
        Ok(response) => Some(link.refusal(response, true).await),
        Err(why) => Some(why),
    };
    if let Some(why) = failed {
        refuse(Some(message.clone()), why, incoming);
    }
}

/// The answer to a message that was not delivered.
fn refuse(message: Option<Value>, why: McpCallError, incoming: &UnboundedSender<Incoming>) {
    let id = message.filter(|message| message.get("method").is_some()).and_then(|message| message["id"].as_u64());
    let report = match id {
        Some(id) => Incoming::Failed { id, why },
        None => return tracing::debug!(%why, "a message was not delivered"),
    };
    // The run may have ended.
    incoming.send(report).ok();
}
