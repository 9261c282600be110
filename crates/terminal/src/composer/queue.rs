//! What was sent while the agent works: it waits here, in sight, and can be taken back.

use super::chips::Image;
use super::{Composer, Draft, InputMode};

/// One input as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub mode: InputMode,
    /// In full, without the prefix of its mode. An image stands as `[Image #1]`.
    pub text: String,
    /// As it was seen: long pastes folded.
    pub shown: String,
    /// The images of the text, in order.
    pub images: Vec<Image>,
    /// For taking it back.
    draft: String,
}

impl Submission {
    /// A plain prompt, for what does not come from the composer.
    pub fn prompt(text: &str) -> Submission {
        Submission {
            mode: InputMode::Prompt,
            text: text.to_owned(),
            shown: text.to_owned(),
            images: Vec::new(),
            draft: text.to_owned(),
        }
    }

    /// What [`Submission::history_entry`] has made. An image is its label then.
    pub fn of_entry(entry: &str) -> Submission {
        let mode = [InputMode::Shell, InputMode::Memory].into_iter().find(|mode| entry.starts_with(mode.prefix()));
        let mode = mode.unwrap_or_default();
        Submission { mode, ..Submission::prompt(&entry[mode.prefix().len()..]) }
    }

    /// The input for the file of older prompts: in full, with its prefix.
    pub fn history_entry(&self) -> String {
        format!("{}{}", self.mode.prefix(), self.text)
    }

    /// A slash command with its arguments, if the text is one.
    pub fn is_command(&self) -> bool {
        self.mode == InputMode::Prompt && self.text.starts_with('/')
    }
}

impl Composer {
    /// Puts a submission behind those that wait.
    pub fn enqueue(&mut self, submission: Submission) {
        self.queue.push_back(submission);
    }

    /// Puts submissions in front of those that wait.
    pub fn give_back(&mut self, submissions: Vec<Submission>) {
        for submission in submissions.into_iter().rev() {
            self.queue.push_front(submission);
        }
    }

    /// Takes the oldest submission that waits.
    pub fn dequeue(&mut self) -> Option<Submission> {
        self.queue.pop_front()
    }

    /// Takes the prompts at the front of the queue that can go to a running turn: all up to the first command
    /// or shell line, which wait for its end.
    pub fn dequeue_prompts(&mut self) -> Vec<Submission> {
        let plain = |waiting: &Submission| waiting.mode == InputMode::Prompt && !waiting.is_command();
        let count = self.queue.iter().take_while(|waiting| plain(waiting)).count();
        self.queue.drain(..count).collect()
    }

    pub fn queued(&self) -> impl ExactSizeIterator<Item = &Submission> {
        self.queue.iter()
    }

    /// Takes everything that waits back into the text.
    pub fn take_queue_back(&mut self) {
        while self.take_newest_back() {}
    }

    /// Takes the newest submission that waits back, in front of what is being written.
    pub(super) fn take_newest_back(&mut self) -> bool {
        let Some(newest) = self.queue.pop_back() else { return false };
        let current = self.draft();
        let draft = match current.text.is_empty() {
            true => Draft { mode: newest.mode, text: newest.draft },
            false => Draft {
                mode: InputMode::Prompt,
                text: format!(
                    "{}{}\n{}{}",
                    newest.mode.prefix(),
                    newest.draft,
                    if current.mode == InputMode::Prompt { "" } else { current.mode.prefix() },
                    current.text
                ),
            },
        };
        self.set_draft(&draft);
        true
    }

    pub(super) fn submission(&self) -> Submission {
        let (chips, draft) = (&self.buffer.chips, self.buffer.text());
        let trimmed = draft.trim();
        Submission {
            mode: self.mode,
            text: chips.expand(trimmed),
            shown: chips.fold(trimmed),
            images: chips.images(trimmed),
            draft: trimmed.to_owned(),
        }
    }
}
