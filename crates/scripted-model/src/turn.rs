//! One answer of the server, and how it is delivered.

use super::block::{ReplyBlock, ScriptedCall, ScriptedUsage, Split, Stop};
use super::fault::{HttpFailure, StreamFault};
use super::gate::Gate;
use serde_json::Value;
use std::time::Duration;

/// Made by `say`, `call` and their like, or by the functions of the faults. Options
/// that make no sense for a turn (the stop reason of a reset) have no effect on it.
#[derive(Clone, Debug)]
pub struct ScriptedTurn {
    pub(super) what: What,
    pub(super) form: BodyForm,
    pub(super) delivery: Delivery,
    pub(super) pause: Duration,
    pub(super) think: Duration,
    pub(super) holds: Vec<(StreamPosition, Gate)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) content_type: Option<String>,
    pub(super) sloppy: bool,
    pub(super) breaks: Option<StreamFault>,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Reply(ScriptedReply),
    Failure {
        failure: HttpFailure,
        message: Option<String>,
    },
    Body {
        content_type: String,
        bytes: Vec<u8>,
    },
    /// Bytes in the place of HTTP, then a close.
    Raw(Vec<u8>),
    /// Nothing, then a close; without a gate the nothing lasts.
    Silence(Option<Gate>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ScriptedReply {
    pub blocks: Vec<ReplyBlock>,
    pub usage: ScriptedUsage,
    pub stop: Option<Stop>,
    pub split_text: Option<Split>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// What `stream` (and on Chat `stream_options`) of the request says.
    AsAsked,
    Streamed,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    PerEvent,
    /// Bytes of the body per HTTP chunk and write.
    Pieces(usize),
}

/// A place in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPosition {
    /// Before its first byte.
    Start,
    /// After so many pieces of content: of text, thinking or arguments. With 0 the
    /// stream has been opened and nothing was said. A plain answer has only its
    /// headers out here.
    Deltas(usize),
    /// Before the last event, when all content and the stop reason are out.
    End,
}

/// Returns a text and the end of the turn.
pub fn say(text: &str) -> ScriptedTurn {
    ScriptedTurn::of([ReplyBlock::Text(text.to_owned())])
}

/// One tool call.
pub fn call(name: &str, input: Value) -> ScriptedTurn {
    calls([(name, input)])
}

/// Several tool calls in one reply.
pub fn calls<C: Into<ScriptedCall>>(calls: impl IntoIterator<Item = C>) -> ScriptedTurn {
    ScriptedTurn::of(calls.into_iter().map(|call| ReplyBlock::Call(call.into())))
}

/// Returns a text, then tool calls.
pub fn say_and_call<C: Into<ScriptedCall>>(text: &str, calls: impl IntoIterator<Item = C>) -> ScriptedTurn {
    let calls = calls.into_iter().map(|call| ReplyBlock::Call(call.into()));
    ScriptedTurn::of(std::iter::once(ReplyBlock::Text(text.to_owned())).chain(calls))
}

impl ScriptedTurn {
    /// A reply of any blocks; of none, if that is what it should be.
    pub fn of(blocks: impl IntoIterator<Item = ReplyBlock>) -> Self {
        Self::new(What::Reply(ScriptedReply { blocks: blocks.into_iter().collect(), ..ScriptedReply::default() }))
    }

    pub(super) fn new(what: What) -> Self {
        Self {
            what,
            form: BodyForm::AsAsked,
            delivery: Delivery::PerEvent,
            pause: Duration::ZERO,
            think: Duration::ZERO,
            holds: Vec::new(),
            headers: Vec::new(),
            content_type: None,
            sloppy: false,
            breaks: None,
        }
    }

    /// One JSON document, whatever the request asked for.
    pub fn plain(mut self) -> Self {
        self.form = BodyForm::Plain;
        self
    }

    /// A stream with usage, whatever the request asked for. The request is then not
    /// even parsed, which matters to a benchmark with long ones.
    pub fn streamed(mut self) -> Self {
        self.form = BodyForm::Streamed;
        self
    }

    pub fn usage(self, usage: ScriptedUsage) -> Self {
        self.with_reply(|reply| reply.usage = usage)
    }

    /// Otherwise the reason follows from the blocks.
    pub fn stop(self, stop: Stop) -> Self {
        self.with_reply(|reply| reply.stop = Some(stop))
    }

    /// A block that was not requested: before the first call, or first without a call.
    pub fn thinking(self, text: &str) -> Self {
        self.with_reply(|reply| {
            let calls = reply.blocks.iter().position(|block| matches!(block, ReplyBlock::Call(_)));
            reply.blocks.insert(calls.unwrap_or(0), ReplyBlock::Thinking(text.to_owned()));
        })
    }

    /// Changes every call of the turn: `.each_call(ScriptedCall::without_id)`.
    pub fn each_call(self, change: impl Fn(ScriptedCall) -> ScriptedCall) -> Self {
        self.with_reply(|reply| {
            for block in &mut reply.blocks {
                if let ReplyBlock::Call(call) = block {
                    *call = change(call.clone());
                }
            }
        })
    }

    /// Streams texts in pieces; otherwise a text is one piece.
    pub fn split_text(self, split: Split) -> Self {
        self.with_reply(|reply| reply.split_text = Some(split))
    }

    fn with_reply(mut self, change: impl FnOnce(&mut ScriptedReply)) -> Self {
        if let What::Reply(reply) = &mut self.what {
            change(reply);
        }
        self
    }

    /// The whole answer in one write; a streamed body is one HTTP chunk.
    pub fn whole(self) -> Self {
        self.pieces(usize::MAX)
    }

    /// So many bytes of the body per write, across the borders of events. In a stream
    /// each is an HTTP chunk of its own, so that a client sees the borders too however
    /// the kernel joins them. Headers are written in pieces of the same size.
    pub fn pieces(mut self, bytes: usize) -> Self {
        self.delivery = Delivery::Pieces(bytes.max(1));
        self
    }

    /// Like `pieces`, with a pause between two of them.
    pub fn drip(mut self, bytes: usize, pause: Duration) -> Self {
        self.pause = pause;
        self.pieces(bytes)
    }

    /// Time before the first byte.
    pub fn think(mut self, time: Duration) -> Self {
        self.think = time;
        self
    }

    /// Holds the whole answer back until the gate opens.
    pub fn hold(self, gate: &Gate) -> Self {
        self.hold_at(StreamPosition::Start, gate)
    }

    pub fn hold_at(mut self, spot: StreamPosition, gate: &Gate) -> Self {
        self.holds.push((spot, gate.clone()));
        self
    }

    /// One more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The right body under a wrong label.
    pub fn content_type(mut self, content_type: &str) -> Self {
        self.content_type = Some(content_type.to_owned());
        self
    }

    /// The words of a failure.
    pub fn message(mut self, text: &str) -> Self {
        if let What::Failure { message, .. } = &mut self.what {
            *message = Some(text.to_owned());
        }
        self
    }

    /// Events as the format allows them and few servers send them: CRLF, no space after
    /// the colon, comments, a field nobody knows.
    pub fn sloppy(mut self) -> Self {
        self.sloppy = true;
        self
    }

    /// Lets the answer end badly.
    pub fn breaks(mut self, breaks: StreamFault) -> Self {
        self.breaks = Some(breaks);
        self
    }

    pub(super) fn call_count(&self) -> usize {
        match &self.what {
            What::Reply(reply) => reply.blocks.iter().filter(|block| matches!(block, ReplyBlock::Call(_))).count(),
            What::Failure { .. } | What::Body { .. } | What::Raw(_) | What::Silence(_) => 0,
        }
    }
}

impl ScriptedReply {
    pub(crate) fn stop_reason(&self) -> Stop {
        let called = self.blocks.iter().any(|block| matches!(block, ReplyBlock::Call(_)));
        self.stop.clone().unwrap_or(if called { Stop::ToolUse } else { Stop::EndTurn })
    }

    pub(crate) fn text_pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        self.split_text.as_ref().unwrap_or(&Split::Never).pieces(text)
    }
}
