//! A turn as the steps that answer a request with it. Pure: every byte is decided here.

use super::Wire;
use super::fault::StreamFault;
use super::gate::Gate;
use super::http;
use super::sse::ServerSentEvent;
use super::turn::{BodyForm, Delivery, ScriptedReply, ScriptedTurn, StreamPosition, What};
use super::{chat, messages};
use std::time::Duration;

#[derive(Clone, Debug)]
pub(super) enum WriteStep {
    /// One write.
    Send(Vec<u8>),
    Pause(Duration),
    Hold(Gate),
    /// Until the client or the server goes away.
    Hang,
    /// From the next write on the client may know that the answer is over, and ask again.
    Settle,
    Close,
    Reset,
}

/// What a turn must know of the request it answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnsweredRequest {
    /// Of the request on its server, from 1.
    pub number: usize,
    /// Of the first call of this reply on its server, from 1.
    pub first_call: usize,
    pub stream: bool,
    pub usage: bool,
}

pub(super) fn steps(wire: Wire, turn: &ScriptedTurn, asked: AnsweredRequest) -> Vec<WriteStep> {
    let mut steps = Vec::new();
    if !turn.think.is_zero() {
        steps.push(WriteStep::Pause(turn.think));
    }
    steps.extend(holds(turn, |spot| spot == StreamPosition::Start).map(WriteStep::Hold));
    match &turn.what {
        What::Silence(gate) => {
            steps.push(gate.clone().map_or(WriteStep::Hang, WriteStep::Hold));
            steps.extend([WriteStep::Settle, WriteStep::Close]);
        }
        What::Raw(bytes) => {
            steps.extend(deliver(turn, &[], Framing::Length, document(turn, bytes)));
            steps.push(WriteStep::Close);
        }
        What::Body { content_type, bytes } => {
            steps.extend(with_length(wire, turn, asked, 200, content_type, bytes));
        }
        What::Failure { failure, message } => {
            let (status, body) = match wire {
                Wire::Messages => messages::failure(*failure, message.as_deref(), asked.number),
                Wire::Chat => chat::failure(*failure, message.as_deref()),
            };
            let body = body.to_string().into_bytes();
            steps.extend(with_length(wire, turn, asked, status, "application/json", &body));
        }
        What::Reply(reply) => match turn.form {
            BodyForm::Streamed => steps.extend(stream(wire, turn, AnsweredRequest { usage: true, ..asked }, reply)),
            BodyForm::AsAsked if asked.stream => steps.extend(stream(wire, turn, asked, reply)),
            BodyForm::AsAsked | BodyForm::Plain => {
                let body = match wire {
                    Wire::Messages => messages::document(reply, asked.number, asked.first_call),
                    Wire::Chat => chat::document(reply, asked.number, asked.first_call),
                };
                let body = body.to_string().into_bytes();
                steps.extend(with_length(wire, turn, asked, 200, "application/json", &body));
            }
        },
    }
    match turn.breaks {
        Some(StreamFault::Reset(bytes)) => cut(steps, bytes, WriteStep::Reset),
        Some(StreamFault::Close(bytes)) => cut(steps, bytes, WriteStep::Close),
        Some(StreamFault::HalfLine | StreamFault::Unfinished(_) | StreamFault::Error { .. }) | None => steps,
    }
}

/// Returns the steps up to so many bytes, and then the end.
fn cut(steps: Vec<WriteStep>, bytes: usize, end: WriteStep) -> Vec<WriteStep> {
    let mut left = bytes;
    let mut kept = Vec::new();
    for step in steps {
        match step {
            WriteStep::Send(mut part) if part.len() >= left => {
                part.truncate(left);
                kept.push(WriteStep::Send(part));
                break;
            }
            WriteStep::Send(part) => {
                left -= part.len();
                kept.push(WriteStep::Send(part));
            }
            // The end comes later than the answer thought.
            WriteStep::Settle | WriteStep::Close | WriteStep::Reset => {}
            WriteStep::Pause(_) | WriteStep::Hold(_) | WriteStep::Hang => kept.push(step),
        }
    }
    kept.extend([WriteStep::Settle, end]);
    kept
}

fn holds(turn: &ScriptedTurn, here: impl Fn(StreamPosition) -> bool) -> impl Iterator<Item = Gate> {
    turn.holds.iter().filter(move |(spot, _)| here(*spot)).map(|(_, gate)| gate.clone())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Chunked,
    Length,
}

/// Part of a body on its way.
enum Part {
    Bytes(Vec<u8>),
    Hold(Gate),
    Settle,
    /// Where HTTP is told that the body is complete.
    End,
}

fn with_length(
    wire: Wire,
    turn: &ScriptedTurn,
    asked: AnsweredRequest,
    status: u16,
    kind: &str,
    body: &[u8],
) -> Vec<WriteStep> {
    let length = ("content-length", body.len().to_string());
    let head = head(wire, turn, asked, status, kind, length);
    deliver(turn, &head, Framing::Length, document(turn, body))
        .into_iter()
        .chain((turn.breaks == Some(StreamFault::HalfLine)).then_some(WriteStep::Close))
        .collect()
}

fn document(turn: &ScriptedTurn, body: &[u8]) -> Vec<Part> {
    let body = if turn.breaks == Some(StreamFault::HalfLine) { &body[..body.len() / 2] } else { body };
    let mut parts: Vec<_> = holds(turn, |spot| spot != StreamPosition::Start).map(Part::Hold).collect();
    parts.extend([Part::Settle, Part::Bytes(body.to_vec()), Part::End]);
    parts
}

fn stream(wire: Wire, turn: &ScriptedTurn, asked: AnsweredRequest, reply: &ScriptedReply) -> Vec<WriteStep> {
    let mut events = match wire {
        Wire::Messages => messages::events(reply, asked.number, asked.first_call),
        Wire::Chat => chat::events(reply, asked.number, asked.first_call, asked.usage),
    };
    // Where the client can first know that this is all: with the last event, unless
    // only the end of the body tells.
    let mut settled = None;
    match &turn.breaks {
        Some(StreamFault::HalfLine) => events.truncate((place(&events, 0) + 1).min(events.len())),
        Some(StreamFault::Unfinished(after)) => {
            events.truncate(place(&events, *after));
            settled = Some(events.len());
        }
        Some(StreamFault::Error { after, kind, message }) => {
            events.truncate(place(&events, *after));
            events.push(match wire {
                Wire::Messages => messages::error_event(kind, message),
                Wire::Chat => chat::error_event(kind, message),
            });
        }
        Some(StreamFault::Reset(_) | StreamFault::Close(_)) | None => {}
    }
    let last = events.len().saturating_sub(1);
    let settled = settled.unwrap_or(last);
    let half = turn.breaks == Some(StreamFault::HalfLine);

    let mut parts = Vec::new();
    for (index, event) in events.iter().map(Some).chain([None]).enumerate() {
        let here = |spot| match spot {
            StreamPosition::Start => false,
            StreamPosition::Deltas(after) => place(&events, after) == index,
            StreamPosition::End => last == index,
        };
        parts.extend(holds(turn, here).map(Part::Hold));
        if index == settled {
            parts.push(Part::Settle);
        }
        parts.extend(event.map(|event| {
            Part::Bytes(if half && index == last { event.half(turn.sloppy) } else { event.bytes(turn.sloppy) })
        }));
    }
    if !half {
        parts.push(Part::End);
    }
    let chunked = ("transfer-encoding", "chunked".to_owned());
    let head = head(wire, turn, asked, 200, "text/event-stream; charset=utf-8", chunked);
    let mut steps = deliver(turn, &head, Framing::Chunked, parts);
    steps.extend(half.then_some(WriteStep::Close));
    steps
}

/// Returns the position after so many pieces of content; before the first, if none are asked for,
/// and before the last event, if there are fewer.
fn place(events: &[ServerSentEvent], deltas: usize) -> usize {
    let mut positions = events.iter().enumerate().filter(|(_, event)| event.delta).map(|(index, _)| index);
    let found = match deltas.checked_sub(1) {
        None => positions.next(),
        Some(before) => positions.nth(before).map(|index| index + 1),
    };
    found.unwrap_or(events.len().saturating_sub(1))
}

fn head(
    wire: Wire,
    turn: &ScriptedTurn,
    asked: AnsweredRequest,
    status: u16,
    kind: &str,
    framing: (&str, String),
) -> Vec<u8> {
    let id = match wire {
        Wire::Messages => "request-id",
        Wire::Chat => "x-request-id",
    };
    let number = format!("req_{}", asked.number);
    let kind = turn.content_type.as_deref().unwrap_or(kind);
    let fixed = [("content-type", kind), http::LABEL, (id, &number), (framing.0, &framing.1)];
    let own = turn.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    http::head(status, fixed.into_iter().chain(own))
}

/// Cuts the parts of a body into writes.
fn deliver(turn: &ScriptedTurn, head: &[u8], framing: Framing, parts: Vec<Part>) -> Vec<WriteStep> {
    let size = match (turn.delivery, framing) {
        (Delivery::PerEvent, Framing::Chunked) => None,
        (Delivery::PerEvent, Framing::Length) => Some(usize::MAX),
        (Delivery::Pieces(bytes), _) => Some(bytes),
    };
    let mut writes =
        Writes { framing, pause: turn.pause, steps: Vec::new(), run: Vec::new(), settle: None, begun: false };
    writes.steps.extend(head.chunks(size.unwrap_or(usize::MAX)).map(|piece| WriteStep::Send(piece.to_vec())));
    for part in parts {
        match part {
            Part::Bytes(bytes) => {
                writes.run.extend(bytes);
                if size.is_none() {
                    writes.flush(usize::MAX);
                }
            }
            Part::Settle => writes.settle = Some(writes.run.len()),
            Part::Hold(gate) => {
                writes.flush(size.unwrap_or(usize::MAX));
                writes.steps.push(WriteStep::Hold(gate));
            }
            Part::End => {
                writes.flush(size.unwrap_or(usize::MAX));
                writes.end();
            }
        }
    }
    writes.flush(size.unwrap_or(usize::MAX));
    if size == Some(usize::MAX) { joined(writes.steps) } else { writes.steps }
}

struct Writes {
    framing: Framing,
    pause: Duration,
    steps: Vec<WriteStep>,
    /// Bytes not cut yet, and the place in them where the answer settles.
    run: Vec<u8>,
    settle: Option<usize>,
    begun: bool,
}

impl Writes {
    fn flush(&mut self, size: usize) {
        let run = std::mem::take(&mut self.run);
        let mut start = 0;
        for piece in run.chunks(size) {
            let end = start + piece.len();
            if self.begun && !self.pause.is_zero() {
                self.steps.push(WriteStep::Pause(self.pause));
            }
            if self.settle.is_some_and(|place| place < end) {
                self.settle = None;
                self.steps.push(WriteStep::Settle);
            }
            self.steps.push(WriteStep::Send(match self.framing {
                Framing::Chunked => http::chunk(piece),
                Framing::Length => piece.to_vec(),
            }));
            self.begun = true;
            start = end;
        }
        if self.settle.take().is_some() {
            self.steps.push(WriteStep::Settle);
        }
    }

    fn end(&mut self) {
        match (self.framing, self.steps.last_mut()) {
            (Framing::Length, _) => {}
            (Framing::Chunked, Some(WriteStep::Send(last))) => last.extend(http::LAST_CHUNK),
            (Framing::Chunked, _) => self.steps.push(WriteStep::Send(http::LAST_CHUNK.to_vec())),
        }
    }
}

/// Writes with nothing to wait for in between become one.
fn joined(steps: Vec<WriteStep>) -> Vec<WriteStep> {
    let mut all = Vec::new();
    let mut pending = Vec::new();
    for step in steps {
        match step {
            WriteStep::Send(bytes) => pending.extend(bytes),
            WriteStep::Settle => all.push(step),
            WriteStep::Pause(_) | WriteStep::Hold(_) | WriteStep::Hang | WriteStep::Close | WriteStep::Reset => {
                if !pending.is_empty() {
                    all.push(WriteStep::Send(std::mem::take(&mut pending)));
                }
                all.push(step);
            }
        }
    }
    if !pending.is_empty() {
        all.push(WriteStep::Send(pending));
    }
    all
}
