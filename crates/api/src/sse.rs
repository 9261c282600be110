//! Server-sent events: bytes in any pieces to whole events.
//!
//! The event-stream format of the HTML standard without reconnection: lines end in CR,
//! LF or CRLF, a byte order mark at the beginning is skipped, several `data` lines are
//! one text, and an event that is cut off by the end of the stream never happened.
//! What an event means is for the readers of models and of MCP servers, and so is whether
//! a stream that was cut is opened again.

use std::time::Duration;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A line or an event is longer than the limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {0} bytes")]
pub struct EventTooLong(usize);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Empty when the server did not name it.
    pub name: String,
    pub data: String,
}

#[derive(Debug)]
pub struct SseDecoder {
    max: usize,
    line: Vec<u8>,
    name: String,
    /// The `data` lines so far, each with a line feed after it.
    data: String,
    past_first_line: bool,
    /// The last byte was a CR, so that a LF now belongs to it.
    after_cr: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl SseDecoder {
    /// Refuses lines and events of more than `max` bytes.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            line: Vec::new(),
            name: String::new(),
            data: String::new(),
            past_first_line: false,
            after_cr: false,
            last_id: None,
            retry: None,
        }
    }

    /// Returns the id after which the server can go on.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns how long the server wants to be left alone before it is asked again.
    pub fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Adds the next bytes and the events they complete.
    pub fn push(&mut self, mut bytes: &[u8], events: &mut Vec<SseEvent>) -> Result<(), EventTooLong> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.line.len() + self.data.len() > self.max {
                return Err(EventTooLong(self.max));
            }
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
        }
        Ok(())
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let first = !std::mem::replace(&mut self.past_first_line, true);
        let line = line.strip_prefix(BOM).filter(|_| first).unwrap_or(&line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let mut data = std::mem::take(&mut self.data);
            // Only the line feed of the last line; without one the event has no data.
            return data.pop().map(|_| SseEvent { name, data });
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => self.last_id = (!value.is_empty()).then(|| value.to_owned()),
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry),
            // A comment has an empty field.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MAX: usize = 16 << 20;

    fn event(name: &str, data: &str) -> SseEvent {
        SseEvent { name: name.into(), data: data.into() }
    }

    fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<SseEvent> {
        let (mut decoder, mut events) = (SseDecoder::new(MAX), Vec::new());
        for chunk in chunks {
            decoder.push(chunk, &mut events).unwrap();
        }
        events
    }

    #[test]
    fn the_grammar_of_the_standard() {
        for (stream, expected) in [
            ("data: a\n\n", vec![event("", "a")]),
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", vec![event("", "a"), event("", "b"), event("", "c")]),
            ("\u{feff}data: a\n\n", vec![event("", "a")]),
            ("\u{feff}\u{feff}data: a\n\n", vec![]),
            ("data: a\n\u{feff}data: b\n\n", vec![event("", "a")]),
            ("data: a\ndata: b\ndata\ndata:\n\n", vec![event("", "a\nb\n\n")]),
            ("data:a\ndata:  b\n\n", vec![event("", "a\n b")]),
            ("event: x\ndata: a\n\ndata: b\n\n", vec![event("x", "a"), event("", "b")]),
            (": keep-alive\n\n\n\n: more\ndata: a\n\n", vec![event("", "a")]),
            ("event: x\n\ndata: a\n\n", vec![event("", "a")]),
            ("id: 7\nretry: 10\nnonsense\ndata: a\n\n", vec![event("", "a")]),
            ("data: a\n\ndata: half", vec![event("", "a")]),
            ("data: a\n\ndata: whole line\n", vec![event("", "a")]),
            ("data: {\"k\":\"v: w\"}\n\n", vec![event("", "{\"k\":\"v: w\"}")]),
        ] {
            assert_eq!(decode([stream.as_bytes()]), expected, "{stream:?}");
        }
        assert_eq!(decode([&b"data: \xff\n\n"[..]]), [event("", "\u{fffd}")]);
    }

    #[test]
    fn ids_and_pauses_are_kept_for_reconnecting() {
        let mut decoder = SseDecoder::new(MAX);
        for (stream, id, retry) in [
            ("data: a\n\n", None, None),
            ("id: 7\nretry: 20\n\n", Some("7"), Some(20)),
            ("id: a\0b\nretry: soon\n", Some("7"), Some(20)),
            ("id\n", None, Some(20)),
        ] {
            decoder.push(stream.as_bytes(), &mut Vec::new()).unwrap();
            assert_eq!((decoder.last_id(), decoder.retry()), (id, retry.map(Duration::from_millis)), "{stream:?}");
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let mut decoder = SseDecoder::new(MAX);
        let chunk = vec![b'x'; 1 << 20];
        let took = (0..64).take_while(|_| decoder.push(&chunk, &mut Vec::new()).is_ok()).count();
        assert_eq!(took, 16);
    }

    proptest! {
        #[test]
        fn splitting_the_bytes_anywhere_gives_the_same_events(
            pieces in prop::collection::vec(
                prop_oneof![
                    Just("data: "), Just("data"), Just("event: "), Just(":"), Just("\n"), Just("\r"), Just("\r\n"),
                    Just("\u{feff}"), Just("ü😀"), Just("x"), Just("\n\n"),
                ],
                0..40,
            ),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let stream = pieces.concat().into_bytes();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.sort_unstable();
            let mut from = 0;
            let mut chunks: Vec<&[u8]> = Vec::new();
            for cut in cuts {
                chunks.push(&stream[from..cut]);
                from = cut;
            }
            chunks.push(&stream[from..]);
            prop_assert_eq!(decode(chunks), decode([&stream[..]]));
            prop_assert_eq!(decode(stream.chunks(1)), decode([&stream[..]]));
        }
    }
}
