//! Where rows go when the database is lost under a running process: a database of its own
//! beside it, `<db>.rescue-TIME.db`.
//!
//! While the connection still reads everything (the file was deleted, moved or replaced), the
//! rescue file is a complete copy through SQLite's backup interface with the rows on top, so that
//! it can take the place of what was lost. From a damaged file nothing is copied: the rescue
//! file then has the tables and the new rows alone, without the rows they refer to. Its rows are
//! redacted like all others, it has mode 0600 and no log beside it, and nothing ever reads it
//! back by itself.

use crate::error::StoreError;
use crate::row_writer::{RowWriter, cells};
use crate::watched_file::FileLoss;
use crate::{migrate, open, ownership, write};
use ona_api::row::SessionKey;
use ona_api::{Group, Redactor, clock};
use rusqlite::Connection;
use rusqlite::backup::{Backup as Copying, StepResult};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// What an operator needs to know about a database that was lost while it was in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostDatabase {
    pub path: PathBuf,
    pub loss: FileLoss,
    pub rows: RescuedRows,
}

/// Where the rows are that could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RescuedRows {
    /// In a copy of the whole database.
    WithAll(PathBuf),
    /// In a database that has nothing else.
    Alone(PathBuf),
    /// They are lost, and why.
    Nowhere(String),
}

impl fmt::Display for LostDatabase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LostDatabase { path, loss, rows } = self;
        write!(f, "the database {} {loss}; ", path.display())?;
        match rows {
            RescuedRows::WithAll(copy) => {
                let [wal, shm, _] = ownership::companions(path).map(|file| file.display().to_string());
                let (copy, path) = (copy.display(), path.display());
                write!(f, "a complete copy of it with the rows that were to be written is {copy}. ")?;
                if *loss == FileLoss::Replaced {
                    f.write_str("Decide which of the two files to keep. ")?;
                }
                write!(
                    f,
                    "To continue with the copy, first end every ona that uses the database, then: \
                     rm -f '{wal}' '{shm}' && mv '{copy}' '{path}'"
                )
            }
            RescuedRows::Alone(file) => write!(
                f,
                "the rows that were to be written are in {}. To save what can still be read of the database: \
                 ona db recover /absolute/path/new.db",
                file.display()
            ),
            RescuedRows::Nowhere(reason) => {
                write!(f, "the rows that were to be written are lost, because they cannot be kept beside it: {reason}")
            }
        }
    }
}

/// A rescue file that is open.
pub(crate) struct RescueFile {
    path: PathBuf,
    connection: Connection,
    with_all: bool,
}

impl RescueFile {
    /// Makes one beside the database at `real`, which `source` still has open.
    pub(crate) fn make(source: &Connection, real: &Path, loss: &FileLoss) -> Result<RescueFile, StoreError> {
        if loss.is_readable() {
            match Self::copy(source, real) {
                Ok(made) => return Ok(made),
                Err(error) => tracing::debug!(%error, "the database cannot be copied; keeping the rows alone"),
            }
        }
        let path = new_file(real)?;
        let mut connection = open::existing(&path)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        migrate::make(&mut connection)?;
        without_log(&connection)?;
        // The rows these refer to are in the damaged file.
        connection.pragma_update(None, "foreign_keys", false)?;
        Ok(RescueFile { path, connection, with_all: false })
    }

    fn copy(source: &Connection, real: &Path) -> Result<RescueFile, StoreError> {
        let path = new_file(real)?;
        let copied = Self::copy_to(source, &path);
        if copied.is_err() {
            fs::remove_file(&path).unwrap_or_default();
        }
        copied
    }

    fn copy_to(source: &Connection, path: &Path) -> Result<RescueFile, StoreError> {
        let mut target = open::existing(path)?;
        match Copying::new(source, &mut target)?.step(-1)? {
            StepResult::Done => {}
            _ => return Err(StoreError::Busy),
        }
        target.close().map_err(|(_, error)| error)?;
        let connection = open::existing(path)?;
        without_log(&connection)?;
        Ok(RescueFile { path: path.to_owned(), connection, with_all: true })
    }

    /// Whether it has everything the lost database had.
    pub(crate) fn has_all(&self) -> bool {
        self.with_all
    }

    pub(crate) fn rows(&self) -> RescuedRows {
        match self.with_all {
            true => RescuedRows::WithAll(self.path.clone()),
            false => RescuedRows::Alone(self.path.clone()),
        }
    }

    pub(crate) fn add(&mut self, redactor: &Redactor, at: &SessionKey, group: &Group) -> Result<(), StoreError> {
        match write::group(&mut self.connection, redactor, at, group) {
            // A condition on rows that only the lost file has.
            Err(_) if !self.with_all => self.add_one_by_one(redactor, at, group),
            done => done.map(drop),
        }
    }

    /// A row that cannot stand alone is kept as text, in `state`.
    fn add_one_by_one(&mut self, redactor: &Redactor, at: &SessionKey, group: &Group) -> Result<(), StoreError> {
        for row in &group.0 {
            let one = Group(vec![row.clone()]);
            if write::group(&mut self.connection, redactor, at, &one).is_ok() {
                continue;
            }
            let writer = RowWriter { connection: &self.connection, redactor };
            let sql = "INSERT INTO state(conversation_id, key, value) SELECT ?1, 'rescued_row:' || count(*), ?2 \
                       FROM state WHERE key GLOB 'rescued_row:*'";
            let text = format!("{row:?}");
            writer.run(sql, cells![at.conversation.as_str(), &text])?;
        }
        Ok(())
    }
}

/// A single file, complete after each group: it may be moved at any time.
fn without_log(connection: &Connection) -> Result<(), StoreError> {
    connection.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(()))?;
    Ok(connection.pragma_update(None, "synchronous", "FULL")?)
}

/// Makes an empty file with a name nobody has used yet.
fn new_file(real: &Path) -> Result<PathBuf, StoreError> {
    let time: String = clock::utc_seconds(clock::now()).chars().filter(|c| c.is_ascii_digit()).collect();
    let mut number = 1;
    loop {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        let mut name = OsString::from(real);
        name.push(format!(".rescue-{time}{more}.db"));
        let path = PathBuf::from(name);
        if open::reserve(&path)? {
            return Ok(path);
        }
        number += 1;
    }
}
