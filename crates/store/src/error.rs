//! What can go wrong with the database, sorted by what a caller does about it.
//!
//! Everything up to `Schema` refuses a path when it is opened and leaves it as
//! it was. The rest concerns one group or one query. Exit codes and hints are
//! added at the edge; the path of the database is known there too.

use crate::rescue::LostDatabase;
use ona_api::{CallId, ConversationId, Phase, PlanStatus, SessionId};
use rusqlite::{ErrorCode, ffi};
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("the path of the database is not absolute: {}", .0.display())]
    NotAbsolute(PathBuf),
    #[error("the path of the database is a directory: {}", .0.display())]
    Directory(PathBuf),
    #[error("the path of the database is not a regular file: {}", .0.display())]
    NotAFile(PathBuf),
    #[error("the directory of the database cannot be made: {}: {source}", path.display())]
    NoDirectory { path: PathBuf, source: io::Error },
    #[error("the database lies on a network file system ({kind}), where SQLite can lose data: {}", path.display())]
    NetworkFileSystem { path: PathBuf, kind: &'static str },
    #[error("the database belongs to another user (uid {uid}): {}", path.display())]
    ForeignOwner { path: PathBuf, uid: u32 },
    #[error("a file SQLite would write is a link: {}", .0.display())]
    LinkedCompanion(PathBuf),
    #[error("every user can replace files in the directory of the database: {}", .0.display())]
    OpenDirectory(PathBuf),
    #[error("the database was replaced while it was being opened")]
    Replaced,
    #[error("the database cannot be written: {0}")]
    ReadOnly(String),
    #[error("the file system of the database is mounted read-only: {}", .0.display())]
    ReadOnlyFileSystem(PathBuf),
    /// A checkpoint or a killed process cannot leave this behind.
    #[error("the database is empty, but {} shows that it was in use: {}", beside.display(), path.display())]
    Emptied { path: PathBuf, beside: PathBuf },
    #[error("the database does not exist, but its log {} holds committed rows: {}", log.display(), path.display())]
    LogWithoutDatabase { path: PathBuf, log: PathBuf },
    #[error("the database cannot be opened: {0}")]
    CannotOpen(String),
    #[error("the file is not a SQLite database")]
    NotADatabase,
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    #[error("the file system does not support write-ahead logging; SQLite chose journal mode {found}")]
    NoWal { found: String },
    #[error("the database has schema version {found}, newer than version 1, the newest this program knows")]
    SchemaTooNew { found: i64 },
    #[error("the database has the unknown schema version {found:?}")]
    SchemaVersion { found: String },
    #[error("this database was written by a newer ona (schema {found}, this one knows {known})")]
    TooNew { found: i64, known: i64 },
    #[error("the database has the unknown version {found:?} of ona's own tables")]
    OwnVersion { found: String },
    /// Only for a look, which changes nothing: opening it would upgrade it.
    #[error("the database was written by an older ona (schema {found}, this one uses {known})")]
    TooOld { found: i64, known: i64 },
    #[error("the backup before the upgrade cannot be written to {}: {reason}; the database is unchanged", path.display())]
    Backup { path: PathBuf, reason: String },
    #[error("the upgrade to schema {to} failed: {reason}; the database is unchanged")]
    Upgrade { to: i64, reason: String },
    #[error("a file is in the place of the new database: {}", .0.display())]
    Exists(PathBuf),
    #[error("the database has none of the tables of ona's record")]
    NotOurs,
    #[error("the table {table} is not ours: it lacks {}", missing.join(", "))]
    Schema { table: &'static str, missing: Vec<&'static str> },

    /// Waited twice for the lock. Nothing of the group is written.
    #[error("the database is busy: another process holds its lock")]
    Busy,
    #[error("the disk is full")]
    DiskFull,
    #[error("the disk or its driver reports an error: {0}")]
    InputOutput(String),
    /// The file under an open connection is not what it was. The rows are in a file of their own.
    #[error("{0}")]
    Lost(Box<LostDatabase>),
    #[error("the phase is {found}, not {expected} any more")]
    PhaseMoved { expected: Phase, found: String },
    #[error("the conversation has no approved plan any more")]
    NoApprovedPlan,
    #[error("something happened in the conversation meanwhile")]
    EventMeanwhile,
    #[error("test case {0} does not exist")]
    NoTestCase(String),
    #[error("plan {id} is {found}, not {} any more", expected.as_str())]
    PlanMoved { id: i64, expected: PlanStatus, found: String },
    #[error("plan {0} does not exist")]
    NoPlan(i64),
    #[error("conversation {0} does not exist")]
    NoConversation(ConversationId),
    #[error("session {session} belongs to conversation {owner}")]
    SessionElsewhere { session: SessionId, owner: String },
    /// A foreign key refused the row.
    #[error("a row refers to a conversation or session that does not exist")]
    Orphan,
    /// Redacting an id would give two things one name, so it is refused instead.
    #[error("the {what} id has the form of a credential")]
    SecretInId { what: &'static str },
    #[error("the verdict on call {0} is still a question")]
    Undecided(CallId),
    /// A value of a closed set that only foreign SQL can have written.
    #[error("{column} holds the unknown value {found:?}")]
    UnknownValue { column: &'static str, found: String },

    #[error("the writer thread cannot be started: {0}")]
    Thread(io::Error),
    #[error("the writer thread has ended")]
    Closed,
    #[error("sqlite: {0}")]
    Sqlite(#[source] rusqlite::Error),
}

impl StoreError {
    /// Returns what to do about it, where that depends on the error and not on the caller.
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            StoreError::DiskFull => "free some space on the disk of the database, then start again; nothing that was \
                 acknowledged is lost"
                .to_owned(),
            StoreError::InputOutput(_) => {
                "look at the system's log for the disk (dmesg), and save the rows on another \
                 disk: ona db recover /other/disk/new.db; nothing that was acknowledged was taken back"
                    .to_owned()
            }
            StoreError::ReadOnlyFileSystem(_) => "mount it writable, or name a database elsewhere: \
                 export AGENT_SDLC_DB=/absolute/path/ona.db; nothing that was acknowledged is lost"
                .to_owned(),
            StoreError::Corrupt(_) => "nothing was changed; save what can be read with: ona db recover \
                 /absolute/path/new.db"
                .to_owned(),
            StoreError::NotADatabase => "nothing was changed; move the file aside or name another one with \
                 AGENT_SDLC_DB. If it was a database of ona, try: ona db recover /absolute/path/new.db"
                .to_owned(),
            StoreError::Emptied { path, .. } => format!(
                "put the database back from a copy (look for {0}.rescue-* beside it); to start anew instead, move {0} \
                 and what lies beside it away",
                path.display()
            ),
            StoreError::LogWithoutDatabase { path, log } => format!(
                "put the database back where it was: {0} (look for {0}.rescue-* beside it); to start anew instead, move \
                 the log away: mv '{1}' '{1}.old'",
                path.display(),
                log.display()
            ),
            _ => return None,
        })
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let rusqlite::Error::SqliteFailure(failure, message) = &error else { return StoreError::Sqlite(error) };
        let words = || message.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
                StoreError::Busy
            }
            ErrorCode::NotADatabase => StoreError::NotADatabase,
            ErrorCode::DatabaseCorrupt => StoreError::Corrupt(words()),
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly(words()),
            ErrorCode::CannotOpen => StoreError::CannotOpen(words()),
            ErrorCode::DiskFull => StoreError::DiskFull,
            ErrorCode::SystemIoFailure => {
                StoreError::InputOutput(format!("{} (SQLite code {})", words(), failure.extended_code))
            }
            ErrorCode::ConstraintViolation if failure.extended_code == ffi::SQLITE_CONSTRAINT_FOREIGNKEY => {
                StoreError::Orphan
            }
            _ => StoreError::Sqlite(error),
        }
    }
}
