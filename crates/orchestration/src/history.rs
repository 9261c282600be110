//! A session's rows as a turn needs them: messages for the model, the next step.
//!
//! Filled from the database and from nowhere else, also within a turn: what the model
//! sees is what the rows say, redacted, and a resumed session needs no special case.

use crate::stored::record;
use ona_api::model::{Message, Part};
use ona_api::{Entry, SessionId};
use ona_providers::{EncodedMessages, ImageSupport, WireFormat};
use ona_store::{Store, StoreError};
use ona_transcript::{Mapper, Rewinds, Step, TurnState, repair};

pub struct History {
    session: SessionId,
    mapper: Mapper,
    state: TurnState,
    rewinds: Rewinds,
    dialogue: EncodedMessages,
}

impl History {
    pub fn load(store: &Store, session: &SessionId, wire: WireFormat) -> Result<Self, StoreError> {
        let mut history = Self {
            session: session.clone(),
            mapper: Mapper::default(),
            state: TurnState::default(),
            rewinds: Rewinds::default(),
            dialogue: EncodedMessages::new(wire),
        };
        history.refresh(store)?;
        Ok(history)
    }

    /// Takes in what was committed since the last time. A conversation that went back is
    /// read again from its beginning, without the rows that no longer count.
    pub fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
        if self.take_in(store)? {
            self.mapper = Mapper::default();
            self.state = TurnState::default();
            self.take_in(store)?;
        }
        Ok(())
    }

    /// `true` if a row changed what the rows before it are worth.
    fn take_in(&mut self, store: &Store) -> Result<bool, StoreError> {
        let Self { session, mapper, state, rewinds, .. } = self;
        let known = rewinds.clone();
        let mut turned = false;
        store.reader()?.each_entry(session, state.last_sequence(), |entry| {
            let Some(record) = record(&entry) else { return };
            if !known.contains(&record) {
                turned |= rewinds.push(&record);
            }
            if known.is_current(record.sequence) {
                mapper.push(&record);
                state.push(&record);
            } else {
                state.skip(&record);
            }
        })?;
        Ok(turned)
    }

    pub fn step(&self) -> Step {
        self.state.next()
    }

    pub fn state(&self) -> &TurnState {
        &self.state
    }

    /// What a crash left to answer.
    pub fn repair(&self) -> Vec<Entry> {
        repair(&self.state)
    }

    /// Bytes the messages come to, for judging whether they still fit.
    pub fn approximate_size(&self) -> usize {
        self.mapper.approximate_size()
    }

    pub fn messages(&self) -> &[Message] {
        self.mapper.messages()
    }

    /// Whether the model is shown anything but words.
    pub fn shows_pictures(&self) -> bool {
        let pictures = !matches!(
            self.dialogue.wire(),
            WireFormat::Messages(ImageSupport::TextOnly) | WireFormat::Chat(ImageSupport::TextOnly)
        );
        let shown = |message: &Message| message.parts.iter().any(|part| matches!(part, Part::Picture { .. }));
        pictures && self.messages().iter().any(shown)
    }

    /// From now on for this wire; a change encodes everything anew.
    pub fn speak(&mut self, wire: WireFormat) {
        if self.dialogue.wire() != wire {
            self.dialogue = EncodedMessages::new(wire);
            self.dialogue.sync(self.mapper.messages(), 0);
            self.mapper.settle();
        }
    }

    /// The encoded messages; only what changed is encoded anew.
    pub fn dialogue(&mut self) -> &EncodedMessages {
        self.dialogue.sync(self.mapper.messages(), self.mapper.changed_from());
        self.mapper.settle();
        &self.dialogue
    }

    /// Other messages, encoded as this session's model understands them.
    pub fn dialogue_of(&self, messages: &[Message]) -> EncodedMessages {
        let mut dialogue = EncodedMessages::new(self.dialogue.wire());
        dialogue.sync(messages, 0);
        dialogue
    }

    /// The encoded messages with one more at the end that is not part of the session.
    pub fn dialogue_with(&self, extra: Message) -> EncodedMessages {
        let mut messages = self.mapper.messages().to_vec();
        messages.push(extra);
        let mut dialogue = EncodedMessages::new(self.dialogue.wire());
        dialogue.sync(&messages, 0);
        dialogue
    }
}
