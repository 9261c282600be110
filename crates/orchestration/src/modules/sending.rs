//! What modules send, kept until the boundary it waits for.

use super::host::SessionHost;
use super::{DeliveryPoint, records};
use ona_api::{Entry, Group, Row};
use serde_json::Value;

/// Something a module sent.
pub(super) enum ModuleMessage {
    Message {
        message: Value,
        triggers: bool,
        when: DeliverAt,
        while_idle: bool,
    },
    /// As if the user had said it.
    Words {
        content: Value,
        when: DeliverAt,
    },
    Entry(Entry),
}

/// What a message waits for while a turn runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliverAt {
    ModelCall,
    /// The loop would end.
    End,
    /// The user's next prompt, which it goes along with.
    NextPrompt,
}

impl DeliverAt {
    pub(super) fn of(options: &Value) -> Self {
        match options["deliverAs"].as_str() {
            Some("followUp") => DeliverAt::End,
            Some("nextTurn") => DeliverAt::NextPrompt,
            _ => DeliverAt::ModelCall,
        }
    }
}

impl SessionHost {
    /// What was sent while nothing runs, written at once. It starts a turn if it says so.
    pub(super) fn sent_while_idle(&self) -> Group {
        let due = |sent: &ModuleMessage| !matches!(sent, ModuleMessage::Message { when: DeliverAt::NextPrompt, .. });
        if self.is_idle() { self.take(due) } else { Group::default() }
    }

    /// What was kept for the prompt that is given now.
    pub(super) fn sent_for_prompt(&self) -> Group {
        self.take(|sent| matches!(sent, ModuleMessage::Message { when: DeliverAt::NextPrompt, .. }))
    }

    /// Whether what was written since this was last asked wants an answer.
    pub(super) fn woke(&self) -> bool {
        std::mem::take(&mut self.lock().woke)
    }

    pub(super) fn sent(&self, when: DeliveryPoint) -> Group {
        self.take(|sent| match sent {
            ModuleMessage::Message { when: DeliverAt::NextPrompt, .. } => false,
            ModuleMessage::Message { when: due, .. } | ModuleMessage::Words { when: due, .. } => {
                when == DeliveryPoint::End || *due == DeliverAt::ModelCall
            }
            ModuleMessage::Entry(_) => true,
        })
    }

    fn take(&self, due: impl Fn(&ModuleMessage) -> bool) -> Group {
        let mut state = self.lock();
        let (now, later) = std::mem::take(&mut state.sent).into_iter().partition(|sent| due(sent));
        state.sent = later;
        drop(state);
        let now: Vec<ModuleMessage> = now;
        let wakes = |sent: &ModuleMessage| {
            matches!(sent, ModuleMessage::Message { triggers: true, .. } | ModuleMessage::Words { .. })
        };
        if now.iter().any(wakes) {
            self.lock().woke = true;
        }
        let row = |sent| match sent {
            ModuleMessage::Entry(entry) => entry,
            ModuleMessage::Words { content, .. } => records::words(&content),
            // While a turn runs a message is always answered; otherwise only if it asks for it.
            ModuleMessage::Message { message, triggers, while_idle, .. } => {
                records::message(&message, !while_idle || triggers)
            }
        };
        Group(now.into_iter().map(row).map(Row::Transcript).collect())
    }
}
