//! One connection: reads a request, carries out the steps of its answer, and again.

use super::answer::{self, AnsweredRequest, WriteStep};
use super::fault::StreamFault;
use super::gate::Gate;
use super::http::{self, Broken, IncomingRequest};
use super::lock;
use super::request::path_of;
use super::script::Cue;
use super::shared::{Admitted, OpenRequest, Shared};
use super::turn::BodyForm;
use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a connection that waits looks whether anybody is still there.
const TICK: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Connection {
    pub number: usize,
    stream: TcpStream,
    /// Its thread waits for something and leaves the socket alone. Held while
    /// anybody looks at the socket for that thread.
    idle: Mutex<bool>,
}

enum After {
    NextRequest,
    HangUp,
}

impl Connection {
    pub(crate) fn new(number: usize, stream: TcpStream) -> Self {
        Self { number, stream, idle: Mutex::new(false) }
    }

    /// Answers requests until one of the two sides has had enough.
    pub(crate) fn serve(self: &Arc<Self>, shared: &Arc<Shared>) {
        loop {
            let incoming = match http::read(&self.stream) {
                Ok(incoming) => incoming,
                Err(Broken::Gone) => return,
                Err(Broken::Bad(status, text)) => return self.refuse(status, text),
            };
            if let After::HangUp = self.answer(shared, incoming) {
                return;
            }
        }
    }

    fn answer(self: &Arc<Self>, shared: &Arc<Shared>, incoming: IncomingRequest) -> After {
        let closing = incoming.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        // A list of models is asked for beside the conversation; it is not a request of it.
        if incoming.method == "GET" && path_of(&incoming.target).ends_with("/models") {
            if IncomingRequest::take_last(&self.stream).is_ok() {
                self.refuse(404, "this scripted server lists no models");
            }
            return After::HangUp;
        }
        let Some(Admitted { request, open, cue }) = shared.admit(incoming, self) else { return After::HangUp };
        let resets = cue.as_ref().is_some_and(|cue| matches!(cue.turn.breaks, Some(StreamFault::Reset(_))));
        if !resets && IncomingRequest::take_last(&self.stream).is_err() {
            return After::HangUp;
        }
        let idle = self.idle();
        let told = shared.tell(&request);
        drop(idle);
        if !told {
            return After::HangUp;
        }
        let Some(Cue { turn, first_call }) = cue else {
            drop(open);
            self.refuse(404, &format!("this scripted server answers POST {}", shared.wire.path()));
            return After::HangUp;
        };
        let (stream, usage) = match turn.form {
            BodyForm::AsAsked => {
                let asked = request.json();
                (asked["stream"] == true, asked["stream_options"]["include_usage"] == true)
            }
            BodyForm::Streamed | BodyForm::Plain => (false, false),
        };
        let asked = AnsweredRequest { number: open.number, first_call, stream, usage };
        let steps = answer::steps(shared.wire, &turn, asked);
        match self.carry_out(shared, steps, open) {
            After::NextRequest if !closing => After::NextRequest,
            After::NextRequest | After::HangUp => After::HangUp,
        }
    }

    fn carry_out(&self, shared: &Shared, steps: Vec<WriteStep>, open: OpenRequest) -> After {
        let mut open = Some(open);
        for step in steps {
            let on = match step {
                WriteStep::Send(bytes) => (&self.stream).write_all(&bytes).is_ok(),
                WriteStep::Pause(time) => self.wait(shared, &Gate::new(), Some(time)),
                WriteStep::Hold(gate) => {
                    gate.reach();
                    self.wait(shared, &gate, None)
                }
                WriteStep::Hang => self.wait(shared, &Gate::new(), None),
                WriteStep::Settle => {
                    drop(open.take());
                    true
                }
                WriteStep::Close | WriteStep::Reset => false,
            };
            if !on {
                return After::HangUp;
            }
        }
        After::NextRequest
    }

    /// Waits for a gate or a time; false if there is nobody left to answer.
    fn wait(&self, shared: &Shared, gate: &Gate, time: Option<Duration>) -> bool {
        let _idle = self.idle();
        let start = Instant::now();
        loop {
            let left = time.map(|time| time.saturating_sub(start.elapsed()));
            if gate.wait(left.unwrap_or(TICK).min(TICK)) || left.is_some_and(|left| left <= TICK) {
                return !shared.is_stopping();
            }
            if shared.is_stopping() || self.is_abandoned() {
                return false;
            }
        }
    }

    fn idle(&self) -> Idle<'_> {
        *lock(&self.idle) = true;
        Idle(self)
    }

    /// The client has closed its side while we were waiting. Exact, whichever thread
    /// asks, so that a client that gave up and asks again does not overlap itself; only
    /// a turn that is to end in a reset has a byte unread, which hides it.
    pub(crate) fn is_abandoned(&self) -> bool {
        let idle = lock(&self.idle);
        if !*idle || self.stream.set_nonblocking(true).is_err() {
            return false;
        }
        let abandoned = match self.stream.peek(&mut [0]) {
            Ok(seen) => seen == 0,
            Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
        };
        abandoned | self.stream.set_nonblocking(false).is_err()
    }

    fn refuse(&self, status: u16, text: &str) {
        // A client that does not listen has its answer already.
        (&self.stream).write_all(&http::refusal(status, text)).ok();
        self.stream.shutdown(Shutdown::Write).ok();
    }

    /// Wakes whatever blocks on the socket.
    pub(crate) fn hang_up(&self) {
        // Fails when the client was faster.
        self.stream.shutdown(Shutdown::Both).ok();
    }
}

struct Idle<'l>(&'l Connection);

impl Drop for Idle<'_> {
    fn drop(&mut self) {
        *lock(&self.0.idle) = false;
    }
}
