//! JSON-RPC with one server: requests of ours and their answers, and what the server sends unasked.
//!
//! Messages are plain JSON: what a server adds to the protocol must not make the rest of its answer
//! unreadable. How messages travel is for the transport; what requests of a server mean, for `handler`.

use crate::connection::McpCallError;
use crate::handler::McpClientHandler;
use crate::wire::{Incoming, Wire, WireEnding};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// What a server says about a call that still runs.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProgress {
    pub progress: f64,
    pub total: Option<f64>,
    pub message: Option<String>,
}

impl CallProgress {
    fn read(params: &Value) -> Self {
        Self {
            progress: params["progress"].as_f64().unwrap_or_default(),
            total: params["total"].as_f64(),
            message: params["message"].as_str().map(|words| ona_api::text::head(words, 500).0.to_owned()),
        }
    }
}

pub(crate) type OnProgress = Arc<dyn Fn(CallProgress) + Send + Sync>;

/// One request and how long it may take.
pub(crate) struct Request<'a> {
    pub method: &'a str,
    pub params: Value,
    pub timeout: Duration,
    pub cancel: &'a CancellationToken,
    pub progress: Option<OnProgress>,
}

pub(crate) struct Peer {
    outgoing: UnboundedSender<Value>,
    calls: Arc<Calls>,
    handler: Arc<McpClientHandler>,
}

#[derive(Default)]
struct Calls(Mutex<Open>);

#[derive(Default)]
struct Open {
    last: u64,
    waiting: HashMap<u64, Waiting>,
    /// Why nothing can be exchanged any more.
    closed: Option<String>,
}

struct Waiting {
    answer: oneshot::Sender<Result<Value, McpCallError>>,
    progress: Option<OnProgress>,
}

impl Calls {
    fn open(&self) -> MutexGuard<'_, Open> {
        // Every change is one insertion or removal.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, id: u64, result: Result<Value, McpCallError>) {
        if let Some(waiting) = self.open().waiting.remove(&id) {
            // The caller may have given up.
            waiting.answer.send(result).ok();
        }
    }

    fn close(&self, why: &str) {
        let mut open = self.open();
        open.closed = Some(why.to_owned());
        for (_, waiting) in open.waiting.drain() {
            // The caller may have given up.
            waiting.answer.send(Err(McpCallError::Lost(why.to_owned()))).ok();
        }
    }
}

impl Peer {
    pub(crate) fn start(wire: Wire, handler: Arc<McpClientHandler>) -> (Self, WireEnding) {
        let Wire { outgoing, incoming, ending } = wire;
        let calls = Arc::new(Calls::default());
        tokio::spawn(receive(incoming, outgoing.clone(), Arc::clone(&calls), Arc::clone(&handler)));
        (Self { outgoing, calls, handler }, ending)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.calls.open().closed.is_some()
    }

    pub(crate) fn notify(&self, method: &str, params: Value) {
        // A transport that has ended reports it to those who wait.
        self.outgoing.send(json!({"jsonrpc": "2.0", "method": method, "params": params})).ok();
    }

    pub(crate) async fn request(&self, request: Request<'_>) -> Result<Value, McpCallError> {
        let Request { method, mut params, timeout, cancel, progress } = request;
        let (answer, mut answered) = oneshot::channel();
        let id = {
            let mut open = self.calls.open();
            if let Some(why) = &open.closed {
                return Err(McpCallError::Lost(why.clone()));
            }
            open.last += 1;
            let id = open.last;
            if progress.is_some() {
                params["_meta"]["progressToken"] = id.into();
            }
            open.waiting.insert(id, Waiting { answer, progress });
            id
        };
        let _waiting = Forget { calls: &self.calls, id };
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        if self.outgoing.send(message).is_err() {
            return Err(McpCallError::Lost(String::new()));
        }
        let gave_up = loop {
            tokio::select! {
                answer = &mut answered => return answer.unwrap_or(Err(McpCallError::Lost(String::new()))),
                () = cancel.cancelled() => break McpCallError::Interrupted,
                () = tokio::time::sleep(timeout) => {
                    // A person who is thinking about a question of the server is waited for.
                    if *self.handler.inbox.open.borrow() == 0 {
                        break McpCallError::TimedOut(timeout);
                    }
                }
            }
        };
        self.notify("notifications/cancelled", json!({"requestId": id, "reason": gave_up.to_string()}));
        Err(gave_up)
    }
}

/// Nobody waits for this answer any more once it is dropped.
struct Forget<'a> {
    calls: &'a Calls,
    id: u64,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.calls.open().waiting.remove(&self.id);
    }
}

async fn receive(
    mut incoming: UnboundedReceiver<Incoming>,
    outgoing: UnboundedSender<Value>,
    calls: Arc<Calls>,
    handler: Arc<McpClientHandler>,
) {
    while let Some(received) = incoming.recv().await {
        match received {
            // Some versions of the protocol send several at once.
            Incoming::Message(Value::Array(messages)) => {
                messages.into_iter().for_each(|message| take(message, &outgoing, &calls, &handler));
            }
            Incoming::Message(message) => take(message, &outgoing, &calls, &handler),
            Incoming::Failed { id, why } => calls.settle(id, Err(why)),
            Incoming::Closed(why) => return calls.close(&why),
        }
    }
    calls.close("");
}

fn take(mut message: Value, outgoing: &UnboundedSender<Value>, calls: &Calls, handler: &Arc<McpClientHandler>) {
    let id = message.get("id").filter(|id| !id.is_null()).cloned();
    let method = message["method"].as_str().map(str::to_owned);
    let params = message.get_mut("params").map(Value::take).unwrap_or_default();
    match (method, id) {
        (Some(method), Some(id)) => {
            let (outgoing, handler) = (outgoing.clone(), Arc::clone(handler));
            tokio::spawn(async move {
                let answer = match handler.request(&method, params).await {
                    Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                    Err((code, words)) => {
                        json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": words}})
                    }
                };
                // A server that is gone needs no answer.
                outgoing.send(answer).ok();
            });
        }
        (Some(method), None) if method == "notifications/progress" => {
            let listener = number(&params["progressToken"])
                .and_then(|id| calls.open().waiting.get(&id).and_then(|waiting| waiting.progress.clone()));
            if let Some(listener) = listener {
                listener(CallProgress::read(&params));
            }
        }
        (Some(method), None) => handler.notification(&method),
        (None, Some(id)) => {
            let Some(id) = number(&id) else { return };
            calls.settle(id, answer(message));
        }
        (None, None) => tracing::debug!("a message that is neither request nor answer is ignored"),
    }
}

fn answer(mut message: Value) -> Result<Value, McpCallError> {
    match message.get("error") {
        Some(error) if !error.is_null() => Err(McpCallError::refused(error)),
        _ => Ok(message.get_mut("result").map(Value::take).unwrap_or_default()),
    }
}

/// Some servers return ids as strings.
pub(crate) fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}
