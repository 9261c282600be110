//! The server: its port, its threads and what a test asks it.

use super::connection::Connection;
use super::request::ModelRequest;
use super::script::{TurnScript, TurnSource};
use super::shared::{KeepOpen, Shared};
use super::turn::ScriptedTurn;
use super::{TIMEOUT, Wire};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The credential `env` hands out. It looks like nobody's key, so that only a program
/// that keeps its own secrets keeps this one.
pub const CANARY: &str = "ona-canary-9c41d07be2f85a36";

/// How long a drop waits for connections to end.
const FAREWELL: Duration = Duration::from_secs(5);

/// A server that lives as long as this value. Dropping it ends every answer, hanging
/// ones too; if a callback of the caller panicked, dropping panics with that.
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    /// Answers with these turns, then with "done". Panics if loopback has no free port.
    pub fn start(wire: Wire, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::try_start(wire, script).expect("loopback has a free port")
    }

    pub fn try_start(wire: Wire, script: impl IntoIterator<Item = ScriptedTurn>) -> io::Result<Self> {
        Self::listen(wire, TurnSource::Turns(script.into_iter().collect()), KeepOpen::Bodies)
    }

    /// Answers every request with the same turn, for benchmarks: only the newest body is
    /// kept. `call(..).streamed().whole()` is the turn that costs least.
    pub fn repeating(wire: Wire, turn: ScriptedTurn) -> Self {
        Self::listen(wire, TurnSource::Repeating(Box::new(turn)), KeepOpen::NewestBody)
            .expect("loopback has a free port")
    }

    /// Lets a function answer, where the order of requests is not the script's to say.
    /// It runs for one request at a time.
    pub fn answering(wire: Wire, answer: impl FnMut(&ModelRequest) -> ScriptedTurn + Send + 'static) -> Self {
        Self::listen(wire, TurnSource::Answering(Box::new(answer)), KeepOpen::Bodies).expect("loopback has a free port")
    }

    /// Like `answering`, but only the newest body is kept: for thousands of long requests.
    pub fn answering_many(wire: Wire, answer: impl FnMut(&ModelRequest) -> ScriptedTurn + Send + 'static) -> Self {
        Self::listen(wire, TurnSource::Answering(Box::new(answer)), KeepOpen::NewestBody)
            .expect("loopback has a free port")
    }

    fn listen(wire: Wire, source: TurnSource, keep: KeepOpen) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(wire, TurnScript::new(source), keep));
        let accepting = std::thread::Builder::new().name("scripted model".to_owned()).spawn({
            let shared = shared.clone();
            move || accept(&listener, &shared)
        })?;
        Ok(Self { shared, address, accepting: Some(accepting) })
    }

    /// Returns what the base URL variable of the wire is set to.
    pub fn url(&self) -> String {
        match self.shared.wire {
            Wire::Messages => format!("http://{}", self.address),
            Wire::Chat => format!("http://{}/v1", self.address),
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the environment in which a program talks to this server. On Chat both providers
    /// of that wire are set.
    pub fn env(&self) -> Vec<(&'static str, String)> {
        match self.shared.wire {
            Wire::Messages => vec![("ANTHROPIC_API_KEY", CANARY.to_owned()), ("ANTHROPIC_BASE_URL", self.url())],
            Wire::Chat => vec![
                ("OPENAI_API_KEY", CANARY.to_owned()),
                ("OPENAI_BASE_URL", self.url()),
                ("LM_STUDIO_API_KEY", CANARY.to_owned()),
                ("LM_STUDIO_BASE_URL", self.url()),
                ("LM_STUDIO_MODEL", "scripted".to_owned()),
            ],
        }
    }

    /// Runs after a request is recorded and before anything of its answer is sent.
    pub fn on_request(&self, callback: impl Fn(&ModelRequest) + Send + Sync + 'static) -> &Self {
        self.shared.on_request(Arc::new(callback));
        self
    }

    /// Returns every request so far, those to a wrong path too.
    pub fn requests(&self) -> Vec<Arc<ModelRequest>> {
        self.shared.requests()
    }

    pub fn request_count(&self) -> usize {
        self.shared.request_count()
    }

    /// Returns the request with this index, from 0; panics if it never came.
    pub fn request(&self, index: usize) -> Arc<ModelRequest> {
        let request = self.shared.request(index);
        request.unwrap_or_else(|| panic!("no request {index}: there were {}", self.request_count()))
    }

    /// Waits until so many requests have arrived; panics if they do not.
    pub fn wait_for_requests(&self, count: usize) -> Vec<Arc<ModelRequest>> {
        let seen = self.shared.wait_for_requests(count);
        assert!(seen >= count, "{seen} instead of {count} requests in {TIMEOUT:?}");
        self.requests()
    }

    /// Turns of the script that were not requested yet.
    pub fn turns_left(&self) -> usize {
        self.shared.turns_left()
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut number = 0;
    for stream in listener.incoming() {
        if shared.is_stopping() {
            return;
        }
        match stream {
            Ok(stream) => {
                number += 1;
                begin(number, stream, shared);
            }
            // Out of descriptors, or the client was gone before we came: it passes.
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn begin(number: usize, stream: TcpStream, shared: &Arc<Shared>) {
    // Only costs time where it is missing.
    stream.set_nodelay(true).ok();
    let present = shared.join(Arc::new(Connection::new(number, stream)));
    // Without a thread the connection is dropped, and the client sees it closed.
    std::thread::Builder::new().name(format!("scripted model {number}")).spawn(move || present.serve()).ok();
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stop();
        let knock = TcpStream::connect_timeout(&self.address, FAREWELL);
        if let (Ok(_), Some(accepting)) = (knock, self.accepting.take()) {
            // It catches nothing and has nothing to tell.
            accepting.join().ok();
        }
        self.shared.hang_up(FAREWELL);
        if let Some(panic) = self.shared.take_panic()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}
