//! The ways in which a server fails, as turns.

use super::gate::Gate;
use super::turn::{ScriptedTurn, What, say};

/// How an answer that began well ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// RST after so many bytes on the wire, headers included.
    Reset(usize),
    /// The connection is closed after so many bytes, headers included.
    Close(usize),
    /// Half of the line with the first piece of content, then closed. Of a plain
    /// answer half of the body.
    HalfLine,
    /// The body ends as HTTP wants it after so many pieces of content; the model's
    /// message does not.
    Unfinished(usize),
    /// An error in the stream after so many pieces of content.
    Error { after: usize, kind: String, message: String },
}

/// An answer with another status than 200, in the format of each wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HttpFailure {
    Status(u16),
    ContextTooLong,
    OutOfCredit,
}

/// RST instead of an answer. `ScriptedTurn::breaks` with `StreamFault::Reset` does it later.
pub fn reset() -> ScriptedTurn {
    raw("").breaks(StreamFault::Reset(0))
}

/// A stream that is cut in the middle of a line.
pub fn half_line() -> ScriptedTurn {
    say("This sentence is never").breaks(StreamFault::HalfLine)
}

/// Some text, then an error event: "overloaded_error" and the like.
pub fn error_event(kind: &str, message: &str) -> ScriptedTurn {
    let (kind, message) = (kind.to_owned(), message.to_owned());
    say("This much was said.").breaks(StreamFault::Error { after: 1, kind, message })
}

/// Any status, with the body the API sends with it.
pub fn status(code: u16) -> ScriptedTurn {
    failure(HttpFailure::Status(code))
}

/// 429 with Retry-After. `status(429)` has none.
pub fn rate_limited(seconds: u64) -> ScriptedTurn {
    status(429).header("retry-after", &seconds.to_string())
}

/// 529.
pub fn overloaded() -> ScriptedTurn {
    status(529)
}

/// 400: the conversation does not fit any more.
pub fn context_too_long() -> ScriptedTurn {
    failure(HttpFailure::ContextTooLong)
}

/// Nothing left to pay with: a 400 on Messages and a 429 on Chat, told only by its words.
/// `status(402)` is the plain case.
pub fn out_of_credit() -> ScriptedTurn {
    failure(HttpFailure::OutOfCredit)
}

fn failure(failure: HttpFailure) -> ScriptedTurn {
    ScriptedTurn::new(What::Failure { failure, message: None })
}

/// Takes the request and says nothing until the server is dropped or the client leaves.
pub fn hang() -> ScriptedTurn {
    ScriptedTurn::new(What::Silence(None))
}

/// Says nothing until the gate opens, then closes the connection.
pub fn hang_until(gate: &Gate) -> ScriptedTurn {
    ScriptedTurn::new(What::Silence(Some(gate.clone())))
}

/// Bytes that are neither HTTP nor text.
pub fn garbage() -> ScriptedTurn {
    raw(b"\x00\xff\xfe\x80 not http \r\n\x01\x02\xc3\x28\r\n\r\n\xf0\x9f")
}

/// Exactly these bytes in the place of an HTTP answer, then a close.
pub fn raw(bytes: impl AsRef<[u8]>) -> ScriptedTurn {
    ScriptedTurn::new(What::Raw(bytes.as_ref().to_vec()))
}

/// A page of some portal in between, with status 200.
pub fn html() -> ScriptedTurn {
    body("text/html; charset=utf-8", "<!doctype html><html><body><h1>Please sign in</h1></body></html>\n")
}

/// 200 and no body.
pub fn empty() -> ScriptedTurn {
    body("application/json", "")
}

/// 200 with any body, of a stated length.
pub fn body(content_type: &str, bytes: impl AsRef<[u8]>) -> ScriptedTurn {
    ScriptedTurn::new(What::Body { content_type: content_type.to_owned(), bytes: bytes.as_ref().to_vec() })
}
