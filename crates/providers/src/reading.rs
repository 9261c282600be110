//! The bytes of an answer to a reply, without any network.
//!
//! An answer is a stream of events or one JSON document, on either wire; all four end
//! as the same deltas. How the bytes are cut into pieces makes no difference.

use crate::assemble::Assembler;
use crate::sse::Decoder;
use crate::{Wire, chat, classify, messages};
use ona_api::model::{Delta, ModelFailure, Reply};
use serde_json::Value;

/// A reply longer than this is not a reply.
const MAX_BYTES: usize = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Events,
    Json,
    /// The first character tells.
    Unknown,
}

impl Format {
    pub fn of(content_type: Option<&str>) -> Self {
        let kind = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => Format::Events,
            "application/json" => Format::Json,
            _ => Format::Unknown,
        }
    }
}

#[derive(Debug)]
pub struct Reading {
    format: Format,
    events: Decoder,
    /// What can not be read before more has come.
    held: Vec<u8>,
    reader: Reader,
    assembler: Assembler,
    received: usize,
}

#[derive(Debug)]
enum Reader {
    Messages(messages::decode::Reader),
    Chat(chat::decode::Reader),
}

impl Reading {
    pub fn new(wire: Wire, format: Format) -> Self {
        let reader = match wire {
            Wire::Messages(_) => Reader::Messages(Default::default()),
            Wire::Chat(_) => Reader::Chat(Default::default()),
        };
        let (events, held, assembler) = Default::default();
        Self { format, events, held, reader, assembler, received: 0 }
    }

    /// Takes the next bytes; `on_delta` sees what they complete.
    pub fn push(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(Delta)) -> Result<(), ModelFailure> {
        self.received += bytes.len();
        if self.received > MAX_BYTES {
            return Err(classify::garbled("it does not end"));
        }
        match self.format {
            Format::Events => self.events(bytes, on_delta),
            Format::Json => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
            Format::Unknown => {
                self.held.extend_from_slice(bytes);
                let first = self.held.iter().find(|byte| !byte.is_ascii_whitespace());
                self.format = match first {
                    None => return Ok(()),
                    Some(b'{') => Format::Json,
                    Some(b'<') => return Err(classify::garbled("a web page")),
                    Some(_) => Format::Events,
                };
                match self.format {
                    Format::Events => {
                        let held = std::mem::take(&mut self.held);
                        self.events(&held, on_delta)
                    }
                    Format::Json | Format::Unknown => Ok(()),
                }
            }
        }
    }

    /// The reply is whole; more would not change it.
    pub fn is_complete(&self) -> bool {
        self.assembler.is_complete()
    }

    /// The server has said that nothing more will come.
    pub fn is_over(&self) -> bool {
        match &self.reader {
            Reader::Messages(reader) => reader.is_over(),
            Reader::Chat(reader) => reader.is_over(),
        }
    }

    /// The answer has ended.
    pub fn finish(mut self, on_delta: &mut dyn FnMut(Delta)) -> Result<Reply, ModelFailure> {
        if self.format == Format::Json {
            let answer = serde_json::from_slice(&self.held).map_err(|_| classify::garbled("not JSON"))?;
            let mut deltas = Vec::new();
            match &mut self.reader {
                Reader::Messages(reader) => reader.whole(&answer, &mut deltas)?,
                Reader::Chat(reader) => reader.whole(&answer, &mut deltas)?,
            }
            self.hand_on(deltas, on_delta);
        }
        self.assembler.finish().map_err(|cut| classify::server(cut.to_string()))
    }

    fn events(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(Delta)) -> Result<(), ModelFailure> {
        let mut events = Vec::new();
        self.events.push(bytes, &mut events).map_err(|error| classify::garbled(&error.to_string()))?;
        let mut deltas = Vec::new();
        let outcome = events.iter().try_for_each(|event| self.reader.event(&event.data, &mut deltas));
        // What came before a failure was said.
        self.hand_on(deltas, on_delta);
        outcome
    }

    fn hand_on(&mut self, deltas: Vec<Delta>, on_delta: &mut dyn FnMut(Delta)) {
        for delta in deltas {
            self.assembler.push(&delta);
            on_delta(delta);
        }
    }
}

impl Reader {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        let json = || serde_json::from_str::<Value>(data).map_err(|_| classify::garbled("an event that is not JSON"));
        match self {
            Reader::Messages(reader) => reader.event(&json()?, deltas),
            Reader::Chat(reader) if data.trim() == chat::decode::Reader::DONE => {
                reader.done();
                Ok(())
            }
            Reader::Chat(reader) => reader.event(&json()?, deltas),
        }
    }
}
