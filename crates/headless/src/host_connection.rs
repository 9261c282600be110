//! Sends requests to the driving program and waits for its responses.
//!
//! Any number of requests may be open at once, and responses come in any order. A request that
//! nothing waits for any more is cancelled; when stdin ends, no request is answered.

use super::messages::StreamMessage;
use super::printer::Printer;
use ona_api::CallId;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

type Reply = Result<Value, String>;

pub(crate) struct HostConnection {
    printer: Arc<Printer>,
    /// The open requests; `None` once no more responses will come.
    waiting: Mutex<Option<HashMap<String, oneshot::Sender<Reply>>>>,
}

/// Why no response came.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostError {
    #[error("the driving program has closed the connection")]
    Gone,
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Refused(String),
}

impl HostConnection {
    pub(crate) fn new(printer: Arc<Printer>) -> Self {
        Self { printer, waiting: Mutex::new(Some(HashMap::new())) }
    }

    /// Sends a request and waits for the response, without a time limit.
    pub(crate) async fn request(&self, request: Value, cancel: &CancellationToken) -> Result<Value, HostError> {
        if self.printer.is_closed() {
            return Err(HostError::Gone);
        }
        let (sender, receiver) = oneshot::channel();
        let id = CallId::random().0;
        self.waiting().as_mut().ok_or(HostError::Gone)?.insert(id.clone(), sender);
        let mut open = Open { host: self, id: Some(id.clone()) };
        self.printer.send(&StreamMessage::ControlRequest { request_id: id, request });
        tokio::select! {
            answer = receiver => {
                open.id = None;
                answer.map_err(|_| HostError::Gone)?.map_err(HostError::Refused)
            }
            () = cancel.cancelled() => Err(HostError::Interrupted),
        }
    }

    /// Passes a response on. One without an open request, or a second one, is dropped.
    pub(crate) fn answer(&self, id: &str, answer: Reply) {
        if let Some(sender) = self.waiting().as_mut().and_then(|waiting| waiting.remove(id)) {
            // The request may just have been dropped.
            sender.send(answer).ok();
        }
    }

    /// No more responses will come.
    pub(crate) fn close(&self) {
        *self.waiting() = None;
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<String, oneshot::Sender<Reply>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is cancelled unless it was answered, also when its future is dropped.
struct Open<'a> {
    host: &'a HostConnection,
    id: Option<String>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let Some(request_id) = self.id.take() else { return };
        if let Some(waiting) = self.host.waiting().as_mut() {
            waiting.remove(&request_id);
        }
        self.host.printer.send(&StreamMessage::ControlCancelRequest { request_id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Protocol;
    use serde_json::json;

    #[tokio::test]
    async fn a_question_ends_with_an_answer_an_interrupt_or_the_other_side() {
        let protocol = Protocol::new();
        let host = &protocol.host;
        let cancel = CancellationToken::new();
        let (refused, ()) = tokio::join!(host.request(json!({}), &cancel), async {
            let id = protocol.output.take_messages()[0]["request_id"].as_str().unwrap().to_owned();
            host.answer("of nobody", Ok(json!(1)));
            host.answer(&id, Err("no".into()));
        });
        assert_eq!(refused, Err(HostError::Refused("no".into())));
        assert!(protocol.output.take_messages().is_empty(), "an answered question is not taken back");

        cancel.cancel();
        assert_eq!(host.request(json!({}), &cancel).await, Err(HostError::Interrupted));
        let kinds: Vec<_> = protocol.output.take_messages().iter().map(|one| one["type"].clone()).collect();
        assert_eq!(kinds, ["control_request", "control_cancel_request"]);

        host.close();
        assert_eq!(host.request(json!({}), &CancellationToken::new()).await, Err(HostError::Gone));
    }
}
