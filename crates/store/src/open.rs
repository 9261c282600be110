//! Opens connections: the only place in the program that does.
//!
//! A path is judged before anything is made there, and the file is touched by
//! SQLite alone. Even a plain read of it in this process would, on closing,
//! drop the POSIX locks of every connection we have. What tables there must be
//! is known to `schema`, how an older one becomes a newer one to `migrate`.

use crate::error::StoreError;
use crate::first_look::{self, FirstLook};
use crate::migrate::{self, MigrationStep};
use crate::schema::{self, SchemaState};
use crate::watched_file::WatchedFile;
use crate::{filesystem, lock, ownership};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, MAIN_DB, OpenFlags};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a connection waits for a lock (section 4.8).
pub const BUSY_TIMEOUT: Duration = Duration::from_millis(30_000);

/// A checkpoint cuts the write-ahead log back to this size, so that one huge
/// group does not leave its size on disk for ever.
const JOURNAL_SIZE_LIMIT: i64 = 64 << 20;

/// Pause between attempts where SQLite does not wait by itself.
const PAUSE: Duration = Duration::from_millis(10);

const CACHED_STATEMENTS: usize = 64;
/// Memory for pages of each connection that stays open, in KiB (negative: not pages). What a session
/// reads and writes is at the end of the tables; the rest of a file is in the system's cache.
const PAGE_CACHE: i64 = -512;

/// The writing connection of a database that was just opened.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    /// What the operator should know: files that were made private, an upgrade.
    pub(crate) notices: Vec<String>,
    /// The files the connection has open.
    pub(crate) files: WatchedFile,
}

/// Opens the connection that writes. Makes the file, directories on the way to it, and
/// missing tables, and takes the steps to the newest version; but first looks whether it
/// may, so that a refused database is left as it was.
pub(crate) fn writer(
    path: &Path,
    busy: Duration,
    steps: &[MigrationStep],
    look: FirstLook,
) -> Result<Opened, StoreError> {
    let judged = judge(path)?;
    writer_of(path, judged, busy, steps, look).map_err(|error| filesystem::explain(path, error))
}

fn writer_of(
    path: &Path,
    judged: Option<ownership::Identity>,
    busy: Duration,
    steps: &[MigrationStep],
    look: FirstLook,
) -> Result<Opened, StoreError> {
    let made = make_private(path)?;
    let before = ownership::identity(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut connection = connect(path, flags, busy).map_err(|error| made.explain(path, error))?;
    let opened = before.or_else(|| ownership::identity(path));
    if connection.is_readonly(MAIN_DB)? {
        return Err(StoreError::ReadOnly("the file or its directory is read-only".to_owned()));
    }
    made.protect(path)?;
    if !ownership::is_same(path, judged) {
        return Err(StoreError::Replaced);
    }
    // A file that is refused keeps its log as it is.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    let state = patiently(busy, || schema::examine(&connection, steps))?;
    if look == FirstLook::Pages {
        patiently(busy, || first_look::examine(&connection, path))?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    let mut notices: Vec<_> = ownership::repair(path).into_iter().collect();
    enter_wal(&connection, busy)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_SIZE_LIMIT)?;
    connection.pragma_update(None, "cache_size", PAGE_CACHE)?;
    match state {
        SchemaState::Complete => {}
        SchemaState::Lacking | SchemaState::Outdated { .. } => {
            let upgrade = migrate::complete(&mut connection, path, steps)?;
            notices.extend(upgrade.map(|upgrade| upgrade.to_string()));
        }
    }
    // Were it not the same file, the rows of this process would go where nobody looks.
    let files = WatchedFile::new(path).filter(|files| Some(files.main()) == opened).ok_or(StoreError::Replaced)?;
    tracing::debug!(path = %path.display(), ?state, "opened the database");
    Ok(Opened { connection, notices, files })
}

/// A database that is made anew, with mode 0600.
pub(crate) fn private(path: &Path, more: OpenFlags) -> Result<Connection, StoreError> {
    let made = make_private(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = connect(path, flags | more, BUSY_TIMEOUT).map_err(|error| made.explain(path, error))?;
    made.protect(path)?;
    Ok(connection)
}

/// Makes an empty file with mode 0600 for a new database; false if the name is taken. Only for
/// names that no connection has open.
pub(crate) fn reserve(path: &Path) -> Result<bool, StoreError> {
    if let Some(parent) = path.parent() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|source| StoreError::NoDirectory { path: parent.to_owned(), source })?;
    }
    match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(cannot_make(path, &error)),
    }
}

/// The connection to a file of that kind.
pub(crate) fn existing(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    connect(path, flags, BUSY_TIMEOUT).map_err(|error| filesystem::explain(path, error))
}

/// Returns a connection for queries on a database that is open already.
pub(crate) fn reader(path: &Path, busy: Duration) -> Result<Connection, StoreError> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy)?;
    enter_wal(&connection, busy)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", PAGE_CACHE)?;
    Ok(connection)
}

/// Returns a connection that only looks, and leaves a database as it is: no table is added, no
/// mode is changed. `None` if the database does not exist yet or the file is empty.
pub(crate) fn read_only(
    path: &Path,
    busy: Duration,
    steps: &[MigrationStep],
) -> Result<Option<(Connection, SchemaState)>, StoreError> {
    judge(path)?;
    if !path.exists() {
        return Ok(None);
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, busy)?;
    connection.pragma_update(None, "query_only", true)?;
    match patiently(busy, || schema::examine(&connection, steps))? {
        SchemaState::Lacking if schema::is_empty(&connection)? => Ok(None),
        state => Ok(Some((connection, state))),
    }
}

/// Returns what a database that was just made would show. It is nowhere but in memory.
pub(crate) fn in_memory() -> Result<Connection, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    migrate::make(&mut connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Returns a read-only connection for examining a database
/// of unknown state.
pub(crate) fn inspector(path: &Path) -> Result<Connection, StoreError> {
    usable(path)?;
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, BUSY_TIMEOUT)
}

/// Returns a connection for reading the record, also of a database on a medium that cannot be
/// written. Nothing in the files changes, not even the log is written back.
pub(crate) fn record(path: &Path) -> Result<Connection, StoreError> {
    let connection = inspector(path)?;
    connection.pragma_update(None, "query_only", true)?;
    match probe(&connection) {
        // The log's index cannot be made there. Without a log the file is all there is.
        Err(StoreError::CannotOpen(_) | StoreError::ReadOnly(_)) if !has_log(path) => {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let connection = connect(Path::new(&immutable(path)), flags, BUSY_TIMEOUT)?;
            probe(&connection)?;
            Ok(connection)
        }
        other => other.map(|()| connection),
    }
}

fn probe(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()))?)
}

pub(crate) fn has_log(path: &Path) -> bool {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let [wal, ..] = ownership::companions(&real);
    fs::symlink_metadata(&wal).is_ok_and(|found| found.len() > 0)
}

/// The path as a URI that tells SQLite that nobody changes the file.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri + "?immutable=1"
}

fn connect(path: &Path, access: OpenFlags, busy: Duration) -> Result<Connection, StoreError> {
    #[expect(clippy::disallowed_methods, reason = "the store is the one crate that opens databases, and here")]
    let connection = Connection::open_with_flags(path, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(busy)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Otherwise the planner looks at bound values, and a kept statement is compiled
    // anew whenever one of them changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Returns whether a database may be made or used at `path`. Makes nothing.
fn judge(path: &Path) -> Result<Option<ownership::Identity>, StoreError> {
    judge_form(path)?;
    match filesystem::network_at(path) {
        Some(kind) => Err(StoreError::NetworkFileSystem { path: path.to_owned(), kind }),
        None => ownership::judge(path),
    }
}

/// Checks that a new database may be made at `path`.
pub(crate) fn may_be_made(path: &Path) -> Result<(), StoreError> {
    judge(path).map(drop)
}

/// Checks that a database at `path` may be read. Changes nothing.
pub fn usable(path: &Path) -> Result<(), StoreError> {
    judge_form(path)?;
    ownership::judge(path).map(drop)
}

fn judge_form(path: &Path) -> Result<(), StoreError> {
    // SQLite would read other forms as URIs or as the name of a temporary database.
    if !path.is_absolute() {
        return Err(StoreError::NotAbsolute(path.to_owned()));
    }
    let found = fs::metadata(path);
    if found.as_ref().map_or(true, |found| found.is_file() && found.len() == 0) {
        judge_empty(path, found.is_ok())?;
    }
    if let Ok(found) = found {
        if found.is_dir() {
            return Err(StoreError::Directory(path.to_owned()));
        }
        if !found.is_file() {
            return Err(StoreError::NotAFile(path.to_owned()));
        }
    }
    Ok(())
}

/// Refuses to start anew where a database was: SQLite would make an empty one and delete the log,
/// which may hold the only copy of committed rows.
fn judge_empty(path: &Path, exists: bool) -> Result<(), StoreError> {
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let [wal, ..] = ownership::companions(&real);
    let log = fs::symlink_metadata(&wal).is_ok_and(|found| found.len() > 0);
    match (exists, log) {
        (false, true) => Err(StoreError::LogWithoutDatabase { path: path.to_owned(), log: wal }),
        (true, true) => Err(StoreError::Emptied { path: path.to_owned(), beside: wal }),
        (true, false) => match lock::directory(&real) {
            locks if locks.is_dir() => Err(StoreError::Emptied { path: path.to_owned(), beside: locks }),
            _ => Ok(()),
        },
        (false, false) => Ok(()),
    }
}

/// Who made the database file.
enum MadeBy {
    Before,
    ByUs,
    /// It could not be made private beforehand, so SQLite makes it, if it can.
    BySqlite(io::Error),
}

/// Makes the file with mode 0600 before SQLite would make it with 0644. The log
/// and its index inherit the mode of the file.
fn make_private(path: &Path) -> Result<MadeBy, StoreError> {
    if path.exists() {
        return Ok(MadeBy::Before);
    }
    if let Some(parent) = path.parent() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
        made.map_err(|source| StoreError::NoDirectory { path: parent.to_owned(), source })?;
    }
    match make_node(path) {
        Ok(()) => Ok(MadeBy::ByUs),
        // A link that leads nowhere is in the way too, but there SQLite makes the file.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_symlink() => Ok(MadeBy::Before),
        Err(error) => Ok(MadeBy::BySqlite(error)),
    }
}

/// Not `open`: closing that descriptor would drop locks which another thread
/// has taken on the new file in the meantime.
#[cfg(target_os = "linux")]
fn make_node(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode};
    Ok(rustix::fs::mknodat(CWD, path, FileType::RegularFile, Mode::RUSR | Mode::WUSR, 0)?)
}

#[cfg(not(target_os = "linux"))]
fn make_node(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl MadeBy {
    /// SQLite says only that a file cannot be opened; the system said why.
    fn explain(&self, path: &Path, error: StoreError) -> StoreError {
        match (self, error) {
            (MadeBy::BySqlite(cause), StoreError::CannotOpen(_)) => cannot_make(path, cause),
            (_, error) => error,
        }
    }

    fn protect(&self, path: &Path) -> Result<(), StoreError> {
        match self {
            MadeBy::Before | MadeBy::ByUs => Ok(()),
            MadeBy::BySqlite(_) => fs::set_permissions(path, fs::Permissions::from_mode(0o600))
                .map_err(|error| StoreError::ReadOnly(error.to_string())),
        }
    }
}

/// What the system said when a file could not be made.
fn cannot_make(path: &Path, cause: &io::Error) -> StoreError {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    match cause.kind() {
        PermissionDenied => StoreError::ReadOnly(cause.to_string()),
        ReadOnlyFilesystem => StoreError::ReadOnlyFileSystem(path.to_owned()),
        StorageFull | QuotaExceeded => StoreError::DiskFull,
        _ => StoreError::CannotOpen(cause.to_string()),
    }
}

/// In WAL mode already, nothing happens. Otherwise SQLite needs an exclusive
/// lock, for which it does not always wait.
fn enter_wal(connection: &Connection, budget: Duration) -> Result<(), StoreError> {
    let sql = "PRAGMA journal_mode = WAL";
    let found = patiently(budget, || Ok(connection.query_row(sql, [], |row| row.get::<_, String>(0))?))?;
    if found == "wal" { Ok(()) } else { Err(StoreError::NoWal { found }) }
}

/// Tries again while the database is busy, until the budget is spent.
fn patiently<T>(budget: Duration, mut attempt: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let deadline = Instant::now() + budget;
    loop {
        match attempt() {
            Err(StoreError::Busy) if Instant::now() < deadline => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
}
