//! A session's rows as a turn needs them: messages for the model, the next step.
//!
//! Filled from the database and from nowhere else, also within a turn: what the model
//! sees is what the rows say, redacted, and a resumed session is no special case.

use ona_api::model::Message;
use ona_api::{Entry, SessionId};
use ona_providers::{Dialogue, Wire};
use ona_store::{Store, StoreError};
use ona_transcript::{Mapper, Raw, Record, State, Step, repair};

pub struct History {
    session: SessionId,
    mapper: Mapper,
    state: State,
    dialogue: Dialogue,
}

impl History {
    pub fn load(store: &Store, session: &SessionId, wire: Wire) -> Result<Self, StoreError> {
        let mut history = Self {
            session: session.clone(),
            mapper: Mapper::default(),
            state: State::default(),
            dialogue: Dialogue::new(wire),
        };
        history.refresh(store)?;
        Ok(history)
    }

    /// Takes in what was committed since the last time.
    pub fn refresh(&mut self, store: &Store) -> Result<(), StoreError> {
        let (mapper, state) = (&mut self.mapper, &mut self.state);
        let after = state.last_sequence();
        store.reader()?.each_entry(&self.session, after, |entry| {
            let raw = Raw {
                sequence: entry.sequence,
                entry_type: &entry.entry_type,
                payload: &entry.payload,
                tool_use_id: entry.tool_use_id.as_deref(),
                created_at: &entry.created_at,
            };
            // A row that can not be read is nobody's message; `ona db check` names it.
            if let Ok(record) = Record::parse(raw) {
                mapper.push(&record);
                state.push(&record);
            }
        })
    }

    pub fn step(&self) -> Step {
        self.state.next()
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    /// What a crash left to answer.
    pub fn repair(&self) -> Vec<Entry> {
        repair(&self.state)
    }

    /// Bytes the messages come to, for judging whether they still fit.
    pub fn weight(&self) -> usize {
        self.mapper.weight()
    }

    pub fn messages(&self) -> &[Message] {
        self.mapper.messages()
    }

    /// The encoded messages; only what changed is encoded anew.
    pub fn dialogue(&mut self) -> &Dialogue {
        self.dialogue.sync(self.mapper.messages(), self.mapper.changed_from());
        self.mapper.settle();
        &self.dialogue
    }

    /// The encoded messages with one more at the end that is not part of the session.
    pub fn dialogue_with(&self, extra: Message) -> Dialogue {
        let mut messages = self.mapper.messages().to_vec();
        messages.push(extra);
        let mut dialogue = Dialogue::new(self.dialogue.wire());
        dialogue.sync(&messages, 0);
        dialogue
    }
}
