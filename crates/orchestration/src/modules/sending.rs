//! What modules send, kept until the boundary it waits for (sheet section 8).

use super::host::SessionHost;
use super::{Boundary, records};
use ona_api::{Entry, Group, Row};
use serde_json::Value;

/// Something a module sent.
pub(super) enum Sent {
    Message {
        message: Value,
        triggers: bool,
        when: Due,
        while_idle: bool,
    },
    /// As if the user had said it.
    Words {
        content: Value,
        when: Due,
    },
    Entry(Entry),
}

/// What a message waits for while a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    ModelCall,
    /// The loop would end.
    End,
    /// The user's next prompt, which it goes along with.
    NextPrompt,
}

impl Due {
    pub(super) fn of(options: &Value) -> Self {
        match options["deliverAs"].as_str() {
            Some("followUp") => Due::End,
            Some("nextTurn") => Due::NextPrompt,
            _ => Due::ModelCall,
        }
    }
}

impl SessionHost {
    /// What was sent while nothing runs, written at once. It starts a turn if it says so.
    pub(super) fn sent_while_idle(&self) -> Group {
        let due = |sent: &Sent| !matches!(sent, Sent::Message { when: Due::NextPrompt, .. });
        if self.is_idle() { self.take(due) } else { Group::default() }
    }

    /// What was kept for the prompt that is given now.
    pub(super) fn sent_for_prompt(&self) -> Group {
        self.take(|sent| matches!(sent, Sent::Message { when: Due::NextPrompt, .. }))
    }

    /// Whether what was written since this was last asked wants an answer.
    pub(super) fn woke(&self) -> bool {
        std::mem::take(&mut self.lock().woke)
    }

    pub(super) fn sent(&self, when: Boundary) -> Group {
        self.take(|sent| match sent {
            Sent::Message { when: Due::NextPrompt, .. } => false,
            Sent::Message { when: due, .. } | Sent::Words { when: due, .. } => {
                when == Boundary::End || *due == Due::ModelCall
            }
            Sent::Entry(_) => true,
        })
    }

    fn take(&self, due: impl Fn(&Sent) -> bool) -> Group {
        let mut state = self.lock();
        let (now, later) = std::mem::take(&mut state.sent).into_iter().partition(|sent| due(sent));
        state.sent = later;
        drop(state);
        let now: Vec<Sent> = now;
        let wakes = |sent: &Sent| matches!(sent, Sent::Message { triggers: true, .. } | Sent::Words { .. });
        if now.iter().any(wakes) {
            self.lock().woke = true;
        }
        let row = |sent| match sent {
            Sent::Entry(entry) => entry,
            Sent::Words { content, .. } => records::words(&content),
            // While a turn runs a message is always answered; otherwise only if it asks for it.
            Sent::Message { message, triggers, while_idle, .. } => records::message(&message, !while_idle || triggers),
        };
        Group(now.into_iter().map(row).map(Row::Transcript).collect())
    }
}
