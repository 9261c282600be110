//! Hands the prompts that wait in the composer to the turn that runs.

use super::serve::prompt;
use super::{EventSender, SessionEvent};
use crate::composer::Submission;
use ona_api::CallId;
use ona_orchestration::{UserPrompt, WaitingPrompts};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// A screen that lends its terminal to an editor answers later; the prompts are there then, too.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where the screen puts the prompts that wait.
pub(crate) type QueueReply = oneshot::Sender<Vec<Submission>>;

/// The queue of the composer, which belongs to the screen.
pub(super) struct ComposerQueue {
    events: EventSender,
    /// What was handed out, by the id of its row.
    taken: Mutex<Vec<(String, Submission)>>,
}

impl ComposerQueue {
    pub(super) fn new(events: EventSender) -> Self {
        Self { events, taken: Mutex::default() }
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Vec<(String, Submission)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WaitingPrompts for ComposerQueue {
    fn take(&self) -> Pin<Box<dyn Future<Output = Vec<UserPrompt>> + Send + '_>> {
        Box::pin(async move {
            let (sender, receiver) = oneshot::channel();
            self.events.send(SessionEvent::WantsQueue(sender));
            let lines = match tokio::time::timeout(PATIENCE, receiver).await {
                Ok(Ok(lines)) => lines,
                Ok(Err(_)) | Err(_) => Vec::new(),
            };
            let named = lines.into_iter().map(|line| (CallId::random().0, line));
            let named: Vec<_> = named.collect();
            let with_id =
                |(id, line): &(String, Submission)| UserPrompt { uuid: Some(id.clone()), ..prompt(line, &self.events) };
            let prompts = named.iter().map(with_id).collect();
            *self.taken() = named;
            prompts
        })
    }

    fn give_back(&self, prompt: &UserPrompt) {
        let line = self.taken().iter().find(|(id, _)| prompt.uuid.as_ref() == Some(id)).map(|(_, line)| line.clone());
        if let Some(line) = line {
            self.events.send(SessionEvent::GiveBack(line));
        }
    }
}
