//! Decodes the bytes of a response into a reply, without any network.
//!
//! An answer is a stream of events or one JSON document, on either wire; all four end
//! as the same deltas. How the bytes are cut into pieces makes no difference.

use crate::assemble::Assembler;
use crate::{WireFormat, chat, classify, lone_surrogates, messages};
use ona_api::model::{Delta, ModelFailure, Reply};
use ona_api::sse::SseDecoder;

/// Maximum size of a response.
const MAX_BYTES: usize = 64 << 20;
/// A line or an event longer than this is not a reply of a model.
const MAX_EVENT_BYTES: usize = 16 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyFormat {
    Events,
    Json,
    /// The first character decides.
    Unknown,
}

impl BodyFormat {
    pub fn of(content_type: Option<&str>) -> Self {
        let kind = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => BodyFormat::Events,
            "application/json" => BodyFormat::Json,
            _ => BodyFormat::Unknown,
        }
    }
}

#[derive(Debug)]
pub struct ResponseDecoder {
    format: BodyFormat,
    events: SseDecoder,
    /// Bytes that cannot be decoded before more have arrived.
    held: Vec<u8>,
    decoder: WireDecoder,
    assembler: Assembler,
    received: usize,
}

#[derive(Debug)]
enum WireDecoder {
    Messages(messages::decode::MessagesDecoder),
    Chat(chat::decode::ChatDecoder),
}

impl ResponseDecoder {
    pub fn new(wire: WireFormat, format: BodyFormat) -> Self {
        let decoder = match wire {
            WireFormat::Messages(_) => WireDecoder::Messages(Default::default()),
            WireFormat::Chat(_) => WireDecoder::Chat(Default::default()),
        };
        let (held, assembler) = Default::default();
        Self { format, events: SseDecoder::new(MAX_EVENT_BYTES), held, decoder, assembler, received: 0 }
    }

    /// Takes the next bytes; `on_delta` sees what they complete.
    pub fn push(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(Delta)) -> Result<(), ModelFailure> {
        self.received += bytes.len();
        if self.received > MAX_BYTES {
            return Err(classify::unreadable("it does not end"));
        }
        match self.format {
            BodyFormat::Events => self.events(bytes, on_delta),
            BodyFormat::Json => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
            BodyFormat::Unknown => {
                self.held.extend_from_slice(bytes);
                let first = self.held.iter().find(|byte| !byte.is_ascii_whitespace());
                self.format = match first {
                    None => return Ok(()),
                    Some(b'{') => BodyFormat::Json,
                    Some(b'<') => return Err(classify::unreadable("a web page")),
                    Some(_) => BodyFormat::Events,
                };
                match self.format {
                    BodyFormat::Events => {
                        let held = std::mem::take(&mut self.held);
                        self.events(&held, on_delta)
                    }
                    BodyFormat::Json | BodyFormat::Unknown => Ok(()),
                }
            }
        }
    }

    /// Returns whether the reply is complete; more bytes would not change it.
    pub fn is_complete(&self) -> bool {
        self.assembler.is_complete()
    }

    /// Returns whether the server has said that nothing more will come.
    pub fn is_over(&self) -> bool {
        match &self.decoder {
            WireDecoder::Messages(decoder) => decoder.is_over(),
            WireDecoder::Chat(decoder) => decoder.is_over(),
        }
    }

    /// Returns the reply once the response has ended.
    pub fn finish(mut self, on_delta: &mut dyn FnMut(Delta)) -> Result<Reply, ModelFailure> {
        if self.format == BodyFormat::Json {
            let answer = lone_surrogates::parse(&String::from_utf8_lossy(&self.held));
            let answer = answer.map_err(|_| classify::unreadable("not JSON"))?;
            let mut deltas = Vec::new();
            match &mut self.decoder {
                WireDecoder::Messages(decoder) => decoder.whole(&answer, &mut deltas)?,
                WireDecoder::Chat(decoder) => decoder.whole(&answer, &mut deltas)?,
            }
            self.deliver(deltas, on_delta);
        }
        self.assembler.finish().map_err(|cut| classify::server(cut.to_string()))
    }

    fn events(&mut self, bytes: &[u8], on_delta: &mut dyn FnMut(Delta)) -> Result<(), ModelFailure> {
        let mut events = Vec::new();
        self.events.push(bytes, &mut events).map_err(|error| classify::unreadable(&error.to_string()))?;
        let mut deltas = Vec::new();
        // What comes behind the end is not part of the reply, whether it arrives with it or later.
        let outcome = events.iter().try_for_each(|event| match self.is_over() {
            true => Ok(()),
            false => self.decoder.event(&event.data, &mut deltas),
        });
        // What arrived before a failure was part of the reply.
        self.deliver(deltas, on_delta);
        outcome
    }

    fn deliver(&mut self, deltas: Vec<Delta>, on_delta: &mut dyn FnMut(Delta)) {
        for delta in deltas {
            self.assembler.push(&delta);
            on_delta(delta);
        }
    }
}

impl WireDecoder {
    fn event(&mut self, data: &str, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        let json = || lone_surrogates::parse(data).map_err(|_| classify::unreadable("an event that is not JSON"));
        match self {
            WireDecoder::Messages(decoder) => decoder.event(&json()?, deltas),
            WireDecoder::Chat(decoder) if data.trim() == chat::decode::ChatDecoder::DONE => {
                decoder.done();
                Ok(())
            }
            WireDecoder::Chat(decoder) => decoder.event(&json()?, deltas),
        }
    }
}
