//! Prompts that were sent while a turn runs, for the turn to take along with its next request.

use crate::user_prompt::UserPrompt;
use std::future::Future;
use std::pin::Pin;

/// A front that queues prompts. What it hands out is the turn's: it is in the rows before the model is
/// asked again. What is left when the turn ends is the front's to send.
pub trait WaitingPrompts: Send + Sync {
    /// Returns the prompts that wait now, the oldest first.
    fn take(&self) -> Pin<Box<dyn Future<Output = Vec<UserPrompt>> + Send + '_>>;

    /// The turn was interrupted before this prompt was on record.
    fn give_back(&self, prompt: &UserPrompt);
}
