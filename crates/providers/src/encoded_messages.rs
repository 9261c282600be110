//! A conversation as the bytes of the next request.
//!
//! Each message is encoded once and its bytes are kept, so that a request costs no
//! serialisation, however long the session is. What a message becomes never depends on the
//! messages after it; the cache marks, which do move, are put in while the body is put
//! together. All but the newest bytes are in segments that do not change, and a body shares
//! them: a session is in memory once, not once more for each request.

use crate::fingerprint::Seed;
use crate::{WireFormat, chat, messages};
use ona_api::model::{Message, RequestParams};
use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use tokio_util::bytes::Bytes;

/// How many of the newest user messages carry a cache mark. With the mark on the
/// system text and the one on the tools this is all the provider allows.
const CACHED_MESSAGES: usize = 2;
/// The open segment is closed when it has this many bytes; each request copies it.
const SEGMENT: usize = 64 << 10;

pub struct EncodedMessages {
    wire: WireFormat,
    seed: Seed,
    /// All messages, each with a comma before it: closed segments, then the open one.
    closed: Vec<Bytes>,
    closed_len: usize,
    open: Vec<u8>,
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
    bytes: Bytes,
}

impl EncodedMessages {
    pub fn new(wire: WireFormat) -> Self {
        let (closed, open, entries) = Default::default();
        Self { wire, seed: Seed::random(), closed, closed_len: 0, open, entries, head: Mutex::new(None) }
    }

    pub fn wire(&self) -> WireFormat {
        self.wire
    }

    /// Makes this the encoding of `messages`, of which the first `unchanged` are what
    /// they were the last time. Returns how many were encoded.
    pub fn sync(&mut self, messages: &[Message], unchanged: usize) -> usize {
        let same = unchanged.min(self.entries.len()).min(messages.len());
        self.entries.truncate(same);
        self.truncate(self.entries.last().map_or(0, |entry| entry.end));
        for message in &messages[same..] {
            if self.open.len() >= SEGMENT {
                self.close_segment();
            }
            let mark = match self.wire {
                WireFormat::Messages(images) => messages::encode::message(message, images, &mut self.open),
                WireFormat::Chat(images) => {
                    chat::encode::message(message, images, &mut self.open);
                    None
                }
            };
            self.entries.push(Entry { end: self.len(), mark: mark.map(|mark| self.closed_len + mark) });
        }
        messages.len() - same
    }

    /// Returns the body of a request, in the pieces it is to be sent in.
    pub fn body(&self, params: &RequestParams) -> Vec<Bytes> {
        let head = self.head(params);
        let mut marks: Vec<usize> =
            self.entries.iter().rev().filter_map(|entry| entry.mark).take(CACHED_MESSAGES).collect();
        marks.reverse();
        // The first message has nothing before it that would need its comma.
        let mut done = usize::from(head.ends_with(b"[") && self.len() > 0);
        let mut body = vec![head];
        let open = Bytes::copy_from_slice(&self.open);
        for mark in marks {
            self.share(done..mark, &open, &mut body);
            body.push(Bytes::from_static(messages::encode::CACHE));
            done = mark;
        }
        self.share(done..self.len(), &open, &mut body);
        body.push(Bytes::from_static(b"]}"));
        body
    }

    fn len(&self) -> usize {
        self.closed_len + self.open.len()
    }

    fn close_segment(&mut self) {
        let mut segment = std::mem::take(&mut self.open);
        segment.shrink_to_fit();
        self.closed_len += segment.len();
        self.closed.push(segment.into());
    }

    /// Drops what is behind `end`; a segment that is cut becomes the open one.
    fn truncate(&mut self, end: usize) {
        while end < self.closed_len {
            let Some(segment) = self.closed.pop() else { break };
            self.closed_len -= segment.len();
            self.open.clear();
            self.open.extend_from_slice(&segment[..end.saturating_sub(self.closed_len)]);
        }
        self.open.truncate(end - self.closed_len);
    }

    /// Adds a range of the messages to a body. `open` is a copy of the open segment.
    fn share(&self, range: Range<usize>, open: &Bytes, body: &mut Vec<Bytes>) {
        let mut start = 0;
        for segment in self.closed.iter().chain([open]) {
            let end = start + segment.len();
            let (from, to) = (range.start.max(start), range.end.min(end));
            if from < to {
                body.push(segment.slice(from - start..to - start));
            }
            start = end;
        }
    }

    fn head(&self, params: &RequestParams) -> Bytes {
        let fingerprint = self.seed.params(params);
        // A poisoned lock guards nothing but a cache.
        let mut kept = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(head) = kept.as_ref().filter(|head| head.fingerprint == fingerprint) {
            return head.bytes.clone();
        }
        let bytes: Bytes = match self.wire {
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
        write!(f, "EncodedMessages({:?}, {} messages, {} bytes)", self.wire, self.entries.len(), self.len())
    }
}
