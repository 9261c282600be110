//! The one writer: a thread that owns the writing connection.
//!
//! Groups arrive over a channel and are written one after another, which is the
//! "at most one writer transaction" of section 4.8. A group that was sent
//! is written even if the caller stops waiting for it. Dropping the writer
//! waits until everything that was sent is written.
//!
//! A group counts as committed only if the path named the same file before and after. Once it
//! did not, this group and all later ones of the process go to one rescue file, and each of them
//! is an error: nothing new begins, and results of what was running are kept.

use crate::error::StoreError;
use crate::health::Pragmas;
use crate::rescue::{LostDatabase, RescueFile, RescuedRows};
use crate::watched_file::{FileLoss, Found, WatchedFile};
use crate::write::{self, Committed};
use crate::{filesystem, health};
use ona_api::row::SessionKey;
use ona_api::{Group, Redactor};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    is_lost: Arc<AtomicBool>,
}

impl Writer {
    /// `files` are those the connection has open, if it is one that writes.
    pub(crate) fn start(
        connection: Connection,
        redactor: Redactor,
        files: Option<WatchedFile>,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = channel();
        let is_lost = Arc::new(AtomicBool::new(false));
        let work = Work { connection, redactor, files, lost: None, rescue: None, is_lost: Arc::clone(&is_lost) };
        let thread = thread::Builder::new()
            .name("ona-store".to_owned())
            .spawn(move || work.run(&queue))
            .map_err(StoreError::Thread)?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread), is_lost })
    }

    /// Whether the files differ from those that were opened. They are left alone then.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Acquire)
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

/// What the thread owns.
struct Work {
    connection: Connection,
    redactor: Redactor,
    files: Option<WatchedFile>,
    /// For good: rows in two places would be worse than an early end.
    lost: Option<FileLoss>,
    rescue: Option<RescueFile>,
    is_lost: Arc<AtomicBool>,
}

impl Work {
    fn run(mut self, queue: &Receiver<WriteJob>) {
        for job in queue {
            match job {
                WriteJob::Commit { at, group, reply } => reply(self.commit(&at, &group)),
                WriteJob::Pragmas { reply } => reply(Pragmas::of(&self.connection)),
            }
        }
    }

    fn commit(&mut self, at: &SessionKey, group: &Group) -> Result<Committed, StoreError> {
        if self.lost.is_none() {
            self.lost = self.look();
        }
        if let Some(loss) = self.lost.clone() {
            return Err(self.rescue(loss, at, group, false));
        }
        match self.write(at, group) {
            Ok(committed) => match self.look() {
                None => Ok(committed),
                // What was just written is part of a copy.
                Some(loss) => Err(self.rescue(loss, at, group, true)),
            },
            Err(error) => {
                // The group's own refusal counts, unless the file is to blame.
                match self.look().or_else(|| FileLoss::of(&error)) {
                    Some(loss) => Err(self.rescue(loss, at, group, false)),
                    None => Err(error),
                }
            }
        }
    }

    /// Busy after the full timeout is tried once more (DEC-018). The first attempt
    /// left nothing behind, so the second writes the whole group.
    fn write(&mut self, at: &SessionKey, group: &Group) -> Result<Committed, StoreError> {
        let done = match write::group(&mut self.connection, &self.redactor, at, group) {
            Err(StoreError::Busy) => {
                tracing::debug!("the database is busy; trying once more");
                write::group(&mut self.connection, &self.redactor, at, group)
            }
            done => done,
        };
        done.map_err(|error| match &self.files {
            Some(files) => filesystem::explain(files.real_path(), error),
            None => error,
        })
    }

    fn look(&mut self) -> Option<FileLoss> {
        match self.files.as_mut()?.look() {
            Found::Same => None,
            Found::Lost(loss) => Some(loss),
            Found::Shorter { empty: false } if self.is_whole() => None,
            Found::Shorter { .. } => Some(FileLoss::Truncated),
        }
    }

    /// Reads every page from the file: what this connection remembers of it says nothing.
    fn is_whole(&self) -> bool {
        let forgotten = self.connection.execute_batch("PRAGMA shrink_memory");
        let found =
            forgotten.map_err(StoreError::from).and_then(|()| health::problems(&self.connection, "quick_check"));
        found.is_ok_and(|problems| problems.is_empty())
    }

    fn rescue(&mut self, loss: FileLoss, at: &SessionKey, group: &Group, written: bool) -> StoreError {
        self.lost = Some(loss.clone());
        self.is_lost.store(true, Ordering::Release);
        let Some(files) = &self.files else { return StoreError::Closed };
        let path = files.real_path().to_owned();
        // Pages of this process would be put into a file of others, or over the traces of the damage.
        let kept = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        tracing::debug!(path = %path.display(), ?loss, ?kept, "the database is lost");
        let made = match self.rescue.take() {
            Some(rescue) => Ok(rescue),
            None => RescueFile::make(&self.connection, &path, &loss),
        };
        let rows = made.and_then(|mut rescue| {
            let in_copy = written && rescue.has_all();
            let added = if in_copy { Ok(()) } else { rescue.add(&self.redactor, at, group) };
            let rows = rescue.rows();
            self.rescue = Some(rescue);
            added.map(|()| rows)
        });
        let rows = rows.unwrap_or_else(|error| RescuedRows::Nowhere(error.to_string()));
        StoreError::Lost(Box::new(LostDatabase { path, loss, rows }))
    }
}
