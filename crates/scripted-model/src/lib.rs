//! A scripted model server on loopback with the real wire formats.
//!
//! A script is a list of turns; each POST to the wire's path is answered with the
//! next one, and every request is kept to be looked at. A turn is a reply as a model
//! would give it, or one of the ways in which a server fails. Every answer that is
//! HTTP says what it is: `x-ona-scripted: 1`, and the model's name is `scripted`.
//!
//! A turn becomes a list of steps (`answer`), which is pure and says every byte;
//! `line` carries the steps out on one connection, `server` owns the connections.
//! Nothing here knows the product: it is a server like any other, and a client that
//! sends nonsense gets an answer or a closed connection, never a panic.
//!
//! ```
//! use ona_scripted_model::{ModelServer, Wire, call, say};
//! use serde_json::json;
//!
//! let script = [call("Read", json!({"file_path": "a.txt"})), say("done")];
//! let model = ModelServer::start(Wire::Messages, script);
//! assert!(model.url().starts_with("http://127.0.0.1:"));
//! ```

mod answer;
mod block;
mod chat;
mod connection;
mod fault;
mod gate;
mod http;
mod messages;
mod request;
mod script;
mod server;
mod shared;
mod sse;
mod turn;

pub use block::{ReplyBlock, ScriptedCall, ScriptedUsage, Split, Stop};
pub use fault::{
    StreamFault, body, context_too_long, empty, error_event, garbage, half_line, hang, hang_until, html, out_of_credit,
    overloaded, rate_limited, raw, reset, status,
};
pub use gate::Gate;
pub use request::ModelRequest;
pub use server::{CANARY, ModelServer};
pub use turn::{ScriptedTurn, StreamPosition, call, calls, say, say_and_call};

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The API of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages: POST /v1/messages.
    Messages,
    /// OpenAI's Chat Completions: POST /v1/chat/completions.
    Chat,
}

impl Wire {
    fn path(self) -> &'static str {
        match self {
            Wire::Messages => "/v1/messages",
            Wire::Chat => "/v1/chat/completions",
        }
    }
}

/// How long a test waits for what must come.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A callback of a test may panic; the data is still consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
