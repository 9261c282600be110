//! The one writer: a thread that owns the writing connection.
//!
//! Groups arrive over a channel and are written one after another, which is the
//! "at most one writer transaction" of section 4.8. A group that was sent
//! is written even if the caller stops waiting for it. Dropping the writer
//! waits until everything that was sent is written.

use crate::error::StoreError;
use crate::health::Pragmas;
use crate::write::{self, Committed};
use ona_api::row::SessionKey;
use ona_api::{Group, Redactor};
use rusqlite::Connection;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// How the answer to a job gets back: to a future, or to a blocked thread.
pub(crate) type ReplyTo<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

pub(crate) enum WriteJob {
    Commit { at: SessionKey, group: Group, reply: ReplyTo<Committed> },
    Pragmas { reply: ReplyTo<Pragmas> },
}

pub(crate) struct Writer {
    /// `None` only while dropping.
    jobs: Option<Sender<WriteJob>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection, redactor: Redactor) -> Result<Self, StoreError> {
        let (jobs, queue) = channel();
        let thread = thread::Builder::new()
            .name("ona-store".to_owned())
            .spawn(move || work(connection, &redactor, &queue))
            .map_err(StoreError::Thread)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Sends a job. If the thread has ended, the reply is dropped without an answer.
    pub(crate) fn give(&self, job: WriteJob) -> Result<(), StoreError> {
        self.jobs.as_ref().ok_or(StoreError::Closed)?.send(job).map_err(|_| StoreError::Closed)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // It panicked: everyone who waited for a group received `Closed`.
            thread.join().unwrap_or_default();
        }
    }
}

fn work(mut connection: Connection, redactor: &Redactor, queue: &Receiver<WriteJob>) {
    for job in queue {
        match job {
            WriteJob::Commit { at, group, reply } => reply(commit(&mut connection, redactor, &at, &group)),
            WriteJob::Pragmas { reply } => reply(Pragmas::of(&connection)),
        }
    }
}

/// Busy after the full timeout is tried once more (DEC-018). The first attempt
/// left nothing behind, so the second writes the whole group.
fn commit(
    connection: &mut Connection,
    redactor: &Redactor,
    at: &SessionKey,
    group: &Group,
) -> Result<Committed, StoreError> {
    match write::group(connection, redactor, at, group) {
        Err(StoreError::Busy) => {
            tracing::debug!("the database is busy; trying once more");
            write::group(connection, redactor, at, group)
        }
        done => done,
    }
}
