//! A conversation as the bytes of the next request.
//!
//! Each message is encoded once and its bytes are kept in one buffer, so that a
//! request costs a copy and not a serialisation, however long the session is. What a
//! message becomes never depends on the messages after it; the cache marks, which do
//! move, are put in while the body is copied together.

use crate::fingerprint::Seed;
use crate::{WireFormat, chat, messages};
use ona_api::model::{Message, RequestParams};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How many of the newest user messages carry a cache mark. With the mark on the
/// system text and the one on the tools this is all the provider allows.
const CACHED_MESSAGES: usize = 2;

pub struct EncodedMessages {
    wire: WireFormat,
    seed: Seed,
    /// All messages, each with a comma before it.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    head: Mutex<Option<Head>>,
}

/// One encoded message.
struct Entry {
    /// Where its bytes end.
    end: usize,
    /// Where a cache mark would go.
    mark: Option<usize>,
}

/// The part of a body before the messages, kept because the tools rarely change.
struct Head {
    fingerprint: u64,
    bytes: Arc<[u8]>,
}

impl EncodedMessages {
    pub fn new(wire: WireFormat) -> Self {
        Self { wire, seed: Seed::random(), bytes: Vec::new(), entries: Vec::new(), head: Mutex::new(None) }
    }

    pub fn wire(&self) -> WireFormat {
        self.wire
    }

    /// Makes this the encoding of `messages`, of which the first `unchanged` are what
    /// they were the last time. Returns how many were encoded.
    pub fn sync(&mut self, messages: &[Message], unchanged: usize) -> usize {
        let same = unchanged.min(self.entries.len()).min(messages.len());
        self.entries.truncate(same);
        self.bytes.truncate(self.entries.last().map_or(0, |entry| entry.end));
        for message in &messages[same..] {
            let mark = match self.wire {
                WireFormat::Messages(images) => messages::encode::message(message, images, &mut self.bytes),
                WireFormat::Chat(images) => {
                    chat::encode::message(message, images, &mut self.bytes);
                    None
                }
            };
            self.entries.push(Entry { end: self.bytes.len(), mark });
        }
        messages.len() - same
    }

    /// Returns the body of a request.
    pub fn body(&self, params: &RequestParams) -> Vec<u8> {
        let head = self.head(params);
        let mut marks: Vec<usize> =
            self.entries.iter().rev().filter_map(|entry| entry.mark).take(CACHED_MESSAGES).collect();
        marks.reverse();
        let marked = marks.len() * messages::encode::CACHE.len();
        let mut body = Vec::with_capacity(head.len() + self.bytes.len() + marked + 2);
        body.extend_from_slice(&head);
        // The first message has nothing before it that would need its comma.
        let mut copied = usize::from(head.ends_with(b"[") && !self.bytes.is_empty());
        for mark in marks {
            body.extend_from_slice(&self.bytes[copied..mark]);
            body.extend_from_slice(messages::encode::CACHE);
            copied = mark;
        }
        body.extend_from_slice(&self.bytes[copied..]);
        body.extend_from_slice(b"]}");
        body
    }

    fn head(&self, params: &RequestParams) -> Arc<[u8]> {
        let fingerprint = self.seed.params(params);
        // A poisoned lock guards nothing but a cache.
        let mut kept = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = kept.as_ref().filter(|head| head.fingerprint == fingerprint) {
            return head.bytes.clone();
        }
        let bytes: Arc<[u8]> = match self.wire {
            WireFormat::Messages(_) => messages::encode::head(params),
            WireFormat::Chat(_) => chat::encode::head(params),
        }
        .into();
        *kept = Some(Head { fingerprint, bytes: bytes.clone() });
        bytes
    }
}

impl fmt::Debug for EncodedMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncodedMessages({:?}, {} messages, {} bytes)", self.wire, self.entries.len(), self.bytes.len())
    }
}
