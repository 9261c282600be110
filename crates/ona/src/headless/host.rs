//! The program on the other side of stdin and stdout, as somebody who can be asked.
//!
//! Any number of questions may be open at once, and answers come in any order. A question
//! nobody waits for any more is taken back; when stdin ends, nobody is left to answer.

use super::messages::Message;
use super::printer::Printer;
use ona_api::CallId;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

type Reply = Result<Value, String>;

pub struct Host {
    printer: Arc<Printer>,
    /// Who waits for which answer; `None` once there will be no more.
    waiting: Mutex<Option<HashMap<String, oneshot::Sender<Reply>>>>,
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    #[error("the program that drives this one has closed its side")]
    Gone,
    #[error("interrupted")]
    Interrupted,
    #[error("{0}")]
    Refused(String),
}

impl Host {
    pub fn new(printer: Arc<Printer>) -> Self {
        Self { printer, waiting: Mutex::new(Some(HashMap::new())) }
    }

    /// Asks and waits, as long as it takes.
    pub async fn ask(&self, request: Value, cancel: &CancellationToken) -> Result<Value, Unanswered> {
        if self.printer.is_closed() {
            return Err(Unanswered::Gone);
        }
        let (sender, receiver) = oneshot::channel();
        let id = CallId::random().0;
        self.waiting().as_mut().ok_or(Unanswered::Gone)?.insert(id.clone(), sender);
        let mut open = OpenProject { host: self, id: Some(id.clone()) };
        self.printer.say(&Message::ControlRequest { request_id: id, request });
        tokio::select! {
            answer = receiver => {
                open.id = None;
                answer.map_err(|_| Unanswered::Gone)?.map_err(Unanswered::Refused)
            }
            () = cancel.cancelled() => Err(Unanswered::Interrupted),
        }
    }

    /// Hands an answer on. One that nobody waits for, or a second one, is nobody's.
    pub fn answer(&self, id: &str, answer: Reply) {
        if let Some(sender) = self.waiting().as_mut().and_then(|waiting| waiting.remove(id)) {
            // Who asked may just have given up.
            sender.send(answer).ok();
        }
    }

    /// There will be no more answers.
    pub fn close(&self) {
        *self.waiting() = None;
    }

    fn waiting(&self) -> MutexGuard<'_, Option<HashMap<String, oneshot::Sender<Reply>>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A question that is taken back unless it was answered, also when its asker is dropped.
struct OpenProject<'a> {
    host: &'a Host,
    id: Option<String>,
}

impl Drop for OpenProject<'_> {
    fn drop(&mut self) {
        let Some(request_id) = self.id.take() else { return };
        if let Some(waiting) = self.host.waiting().as_mut() {
            waiting.remove(&request_id);
        }
        self.host.printer.say(&Message::ControlCancelRequest { request_id });
    }
}
