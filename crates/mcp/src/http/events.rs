//! Server-sent events: bytes in any pieces to whole events, with their ids.

use super::LONGEST;
use reqwest::Response;
use std::time::Duration;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub name: String,
    pub data: String,
}

/// Reads the events of a response.
pub(super) struct EventReader {
    response: Response,
    decoder: EventDecoder,
    ready: std::collections::VecDeque<Event>,
}

#[derive(Debug, Default)]
struct EventDecoder {
    line: Vec<u8>,
    name: String,
    data: String,
    after_cr: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl EventReader {
    pub(super) fn new(response: Response) -> Self {
        Self { response, decoder: EventDecoder::default(), ready: Default::default() }
    }

    /// Returns the next event; `None` at the end of the stream, however it ended.
    pub(super) async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let chunk = self.response.chunk().await.ok().flatten()?;
            self.decoder.push(&chunk, &mut self.ready)?;
        }
    }

    /// Returns the id after which a server can go on.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.decoder.last_id.as_deref()
    }

    /// Returns how long the server wants to be left alone before it is asked again.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.decoder.retry
    }
}

impl EventDecoder {
    /// Adds the next bytes; `None` if an event is too long.
    fn push(&mut self, mut bytes: &[u8], events: &mut impl Extend<Event>) -> Option<()> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_cr) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.line.extend_from_slice(&bytes[..end.unwrap_or(bytes.len())]);
            if self.line.len() + self.data.len() > LONGEST {
                return None;
            }
            let Some(end) = end else { break };
            self.after_cr = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            events.extend(self.end_line());
        }
        Some(())
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let mut data = std::mem::take(&mut self.data);
            // Only the line feed of the last line; without one the event has no data.
            return data.pop().map(|_| Event { name, data });
        }
        let text = String::from_utf8_lossy(&line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field.trim_start_matches('\u{feff}') {
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

    #[test]
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        let stream =
            "event: message\nid: 7\ndata: {\"a\":\ndata: 1}\n\n: comment\r\n\r\nretry: 20\ndata: x\r\n\r\ndata: half";
        for size in [1, 2, 3, 7, 1000] {
            let (mut decoder, mut events) = (EventDecoder::default(), Vec::new());
            for piece in stream.as_bytes().chunks(size) {
                decoder.push(piece, &mut events).unwrap();
            }
            let event = |name: &str, data: &str| Event { name: name.into(), data: data.into() };
            assert_eq!(events, [event("message", "{\"a\":\n1}"), event("", "x")], "{size}");
            assert_eq!((decoder.last_id.as_deref(), decoder.retry), (Some("7"), Some(Duration::from_millis(20))));
        }
    }
}
