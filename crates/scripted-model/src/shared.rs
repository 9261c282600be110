//! What the connections of one server share: the script, the record, who is here.

use super::connection::Connection;
use super::http::IncomingRequest;
use super::request::{ModelRequest, path_of};
use super::script::{Cue, TurnScript};
use super::{TIMEOUT, Wire, lock};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub(super) type RequestCallback = Arc<dyn Fn(&ModelRequest) + Send + Sync>;

pub(super) struct Shared {
    pub wire: Wire,
    keep: KeepOpen,
    /// Locked before the record, so that turns go out in the order of arrival.
    script: Mutex<TurnScript>,
    record: Mutex<Record>,
    arrived: Condvar,
    lines: Mutex<Vec<Arc<Connection>>>,
    left: Condvar,
    stopping: AtomicBool,
    callback: Mutex<Option<RequestCallback>>,
    /// The first panic of the caller's own code.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeepOpen {
    Bodies,
    /// A benchmark would fill the memory.
    NewestBody,
}

#[derive(Default)]
struct Record {
    requests: Vec<Arc<ModelRequest>>,
    /// Requests that are not answered yet, by number, and who waits for the answer.
    open: Vec<(usize, Arc<Connection>)>,
}

pub(super) struct Admitted {
    pub request: Arc<ModelRequest>,
    pub open: OpenRequest,
    /// None if the request is not one to the model.
    pub cue: Option<Cue>,
}

/// A request that is not answered yet.
pub(super) struct OpenRequest {
    /// From 1.
    pub number: usize,
    shared: Arc<Shared>,
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        lock(&self.shared.record).open.retain(|(number, _)| *number != self.number);
    }
}

impl Shared {
    pub(crate) fn new(wire: Wire, script: TurnScript, keep: KeepOpen) -> Self {
        Self {
            wire,
            keep,
            script: Mutex::new(script),
            record: Mutex::default(),
            arrived: Condvar::new(),
            lines: Mutex::default(),
            left: Condvar::new(),
            stopping: AtomicBool::new(false),
            callback: Mutex::new(None),
            panic: Mutex::new(None),
        }
    }

    /// Records a request and finds its turn; `None` if the script itself panicked.
    pub(crate) fn admit(self: &Arc<Self>, incoming: IncomingRequest, line: &Arc<Connection>) -> Option<Admitted> {
        let mut script = lock(&self.script);
        let (request, open) = self.record(incoming, line);
        self.arrived.notify_all();
        let to_model = request.method == "POST" && request.path == self.wire.path();
        let cue = if to_model { Some(self.guarded(|| script.next(&request))?) } else { None };
        Some(Admitted { request, open, cue })
    }

    fn record(self: &Arc<Self>, incoming: IncomingRequest, line: &Arc<Connection>) -> (Arc<ModelRequest>, OpenRequest) {
        let mut record = lock(&self.record);
        let request = Arc::new(ModelRequest {
            path: path_of(&incoming.target),
            method: incoming.method,
            target: incoming.target,
            headers: incoming.headers,
            body: incoming.body,
            arrived: Instant::now(),
            overlapped: record.open.iter().any(|(_, other)| !other.is_abandoned()),
            connection: line.number,
            wire: self.wire,
            json: OnceLock::new(),
        });
        if self.keep == KeepOpen::NewestBody
            && let Some(last) = record.requests.last_mut().and_then(Arc::get_mut)
        {
            last.body = Vec::new();
            last.json = OnceLock::new();
        }
        record.requests.push(request.clone());
        let number = record.requests.len();
        record.open.push((number, line.clone()));
        drop(record);
        (request, OpenRequest { number, shared: self.clone() })
    }

    /// Runs the caller's callback; false if it panicked.
    pub(crate) fn tell(&self, request: &ModelRequest) -> bool {
        let callback = lock(&self.callback).clone();
        callback.is_none_or(|callback| self.guarded(|| callback(request)).is_some())
    }

    pub(crate) fn on_request(&self, callback: RequestCallback) {
        *lock(&self.callback) = Some(callback);
    }

    /// Code of the caller. A panic there is kept for the thread that owns the server.
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(value) => Some(value),
            Err(panic) => {
                lock(&self.panic).get_or_insert(panic);
                None
            }
        }
    }

    pub(crate) fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        lock(&self.panic).take()
    }

    pub(crate) fn requests(&self) -> Vec<Arc<ModelRequest>> {
        lock(&self.record).requests.clone()
    }

    pub(crate) fn request(&self, index: usize) -> Option<Arc<ModelRequest>> {
        lock(&self.record).requests.get(index).cloned()
    }

    pub(crate) fn request_count(&self) -> usize {
        lock(&self.record).requests.len()
    }

    /// Waits for so many requests; says how many there are.
    pub(crate) fn wait_for_requests(&self, count: usize) -> usize {
        let record = lock(&self.record);
        let few = |record: &mut Record| record.requests.len() < count;
        let waited = self.arrived.wait_timeout_while(record, TIMEOUT, few);
        waited.unwrap_or_else(PoisonError::into_inner).0.requests.len()
    }

    pub(crate) fn turns_left(&self) -> usize {
        lock(&self.script).left()
    }

    pub(crate) fn join(self: &Arc<Self>, line: Arc<Connection>) -> Present {
        lock(&self.lines).push(line.clone());
        Present { line, shared: self.clone() }
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Ends every connection and waits for their threads, but not for ever: one may be
    /// inside a callback that waits for the very thread that is here.
    pub(crate) fn hang_up(&self, at_most: Duration) {
        let lines = lock(&self.lines);
        lines.iter().for_each(|line| line.hang_up());
        let waited = self.left.wait_timeout_while(lines, at_most, |lines| !lines.is_empty());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// A connection, from when it was accepted until its thread ends.
pub(super) struct Present {
    line: Arc<Connection>,
    shared: Arc<Shared>,
}

impl Present {
    pub(crate) fn serve(self) {
        self.line.serve(&self.shared);
    }
}

impl Drop for Present {
    fn drop(&mut self) {
        lock(&self.shared.lines).retain(|line| line.number != self.line.number);
        self.shared.left.notify_all();
    }
}
