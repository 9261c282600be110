//! A database that is open: one writer, one reader opened when first asked for.

use crate::error::StoreError;
use crate::first_look::FirstLook;
use crate::health::PragmaReport;
use crate::migrate::{MigrationStep, STEPS, newest};
use crate::open::{self, BUSY_TIMEOUT, Opened};
use crate::ownership::{self, Identity};
use crate::reader::Reader;
use crate::schema::SchemaState;
use crate::write::Committed;
use crate::writer::{ReplyTo, WriteJob, Writer};
use ona_api::row::SessionKey;
use ona_api::{Group, Redactor};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::oneshot;

pub struct Store {
    path: PathBuf,
    /// Which file the writer has open.
    file: Option<Identity>,
    busy: Duration,
    writer: Writer,
    reader: OnceLock<Reader>,
    notices: Vec<String>,
}

impl Store {
    /// Opens the database at an absolute path, making it and what it lacks.
    /// Blocks while another process makes it.
    pub fn open(path: &Path, redactor: Redactor) -> Result<Store, StoreError> {
        Self::open_with_timeout(path, redactor, BUSY_TIMEOUT)
    }

    /// `open`, which first looks whether the file is damaged where that can be told at once.
    pub fn open_examined(path: &Path, redactor: Redactor) -> Result<Store, StoreError> {
        Self::open_by(path, redactor, BUSY_TIMEOUT, STEPS, FirstLook::Pages)
    }

    /// `open`, waiting for locks this long instead of 30 seconds.
    pub fn open_with_timeout(path: &Path, redactor: Redactor, busy: Duration) -> Result<Store, StoreError> {
        Self::open_with_steps(path, redactor, busy, STEPS)
    }

    pub(crate) fn open_with_steps(
        path: &Path,
        redactor: Redactor,
        busy: Duration,
        steps: &[MigrationStep],
    ) -> Result<Store, StoreError> {
        Self::open_by(path, redactor, busy, steps, FirstLook::Skipped)
    }

    fn open_by(
        path: &Path,
        redactor: Redactor,
        busy: Duration,
        steps: &[MigrationStep],
        look: FirstLook,
    ) -> Result<Store, StoreError> {
        let Opened { connection, notices, files } = open::writer(path, busy, steps, look)?;
        let file = Some(files.main());
        let writer = Writer::start(connection, redactor, Some(files))?;
        Ok(Store { path: path.to_owned(), file, busy, writer, reader: OnceLock::new(), notices })
    }

    /// Opens a database for reading: it is neither created nor changed, and every commit fails.
    /// If it does not exist, an empty one is shown.
    pub fn open_read_only(path: &Path, redactor: Redactor) -> Result<Store, StoreError> {
        Self::open_read_only_with_steps(path, redactor, STEPS)
    }

    pub(crate) fn open_read_only_with_steps(
        path: &Path,
        redactor: Redactor,
        steps: &[MigrationStep],
    ) -> Result<Store, StoreError> {
        let connection = || match open::read_only(path, BUSY_TIMEOUT, steps)? {
            // Queries are written for the newest version.
            Some((_, SchemaState::Outdated { found })) => Err(StoreError::TooOld { found, known: newest(steps) }),
            Some((connection, SchemaState::Complete | SchemaState::Lacking)) => Ok(connection),
            None => open::in_memory(),
        };
        let writer = Writer::start(connection()?, redactor, None)?;
        let reader = OnceLock::from(Reader::over(connection()?));
        Ok(Store { path: path.to_owned(), file: None, busy: BUSY_TIMEOUT, writer, reader, notices: Vec::new() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sentences for the operator: files that other users could read until now, an upgrade.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Writes a group in one transaction: all of it, or nothing and an error.
    /// The group is written even if the future is dropped after its first poll.
    #[tracing::instrument(level = "debug", skip_all, err(level = "debug"), fields(session = %at.session, rows = group.0.len()))]
    pub async fn commit(&self, at: &SessionKey, group: Group) -> Result<Committed, StoreError> {
        if group.is_empty() {
            return Ok(Committed::default());
        }
        let (sender, answer) = oneshot::channel();
        // The group is written even if the caller has stopped waiting.
        let reply = Box::new(move |result| drop(sender.send(result)));
        self.writer.give(WriteJob::Commit { at: at.clone(), group, reply })?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// `commit` for callers that are not async. Blocks the thread.
    #[tracing::instrument(level = "debug", name = "commit", skip_all, err(level = "debug"), fields(session = %at.session, rows = group.0.len()))]
    pub fn commit_now(&self, at: &SessionKey, group: Group) -> Result<Committed, StoreError> {
        if group.is_empty() {
            return Ok(Committed::default());
        }
        self.wait_for(|reply| WriteJob::Commit { at: at.clone(), group, reply })
    }

    /// Returns the reader, opened on first use and kept.
    pub fn reader(&self) -> Result<&Reader, StoreError> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        // Another file would answer with other rows than those that were written.
        let is_same = || ownership::is_same(&self.path, self.file).then_some(()).ok_or(StoreError::Replaced);
        is_same()?;
        let reader = Reader::open(&self.path, self.busy)?;
        is_same()?;
        Ok(self.reader.get_or_init(|| reader))
    }

    /// Returns the pragmas in force on the writing and the reading connection.
    pub fn pragmas(&self) -> Result<PragmaReport, StoreError> {
        let writer = self.wait_for(|reply| WriteJob::Pragmas { reply })?;
        Ok(PragmaReport { writer, reader: self.reader()?.pragmas()? })
    }

    fn wait_for<T: Send + 'static>(&self, job: impl FnOnce(ReplyTo<T>) -> WriteJob) -> Result<T, StoreError> {
        let (sender, answer) = mpsc::sync_channel(1);
        self.writer.give(job(Box::new(move |result| drop(sender.send(result)))))?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.writer.is_lost()
            && let Some(reader) = self.reader.get()
        {
            reader.leave_log_alone();
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("path", &self.path).finish_non_exhaustive()
    }
}
