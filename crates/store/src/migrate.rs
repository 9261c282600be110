//! Versions of our own tables (`sdlc_*`), and the steps from one to the next.
//!
//! The tables of section 4.3 never change, so `schema_version` stays 1. Our own are
//! described by `sdlc_schema_version`. A database that has them but not this key was
//! made before the key existed and counts as version 1.
//!
//! All pending steps are one transaction. A backup is made before the first one, while
//! the write lock is already held: what the backup shows is what the steps change.
//! Killed at any moment, the database has either the old version or the new one.
//!
//! A process of the older version that has the database open is not stopped by an
//! upgrade. A step must therefore leave its statements working: add tables, and columns
//! with a default; do not rename or drop what the version before it uses.
//!
//! To add a step: append it to [`STEPS`], change `schema.sql` to what the steps lead to
//! (including the version at its end) and `schema::TABLES` with it.

use crate::backup::Backup;
use crate::chain::{self, ChainStart};
use crate::error::StoreError;
use crate::schema::{self, SchemaState};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use std::fmt;
use std::path::{Path, PathBuf};

/// One step. `sql` runs inside the transaction of the whole upgrade.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MigrationStep {
    /// The version it leads to.
    pub(crate) to: i64,
    pub(crate) sql: &'static str,
}

/// Every step there is, in order, the first one leading to version 2.
pub(crate) const STEPS: &[MigrationStep] = &[
    MigrationStep { to: chain::SINCE, sql: CHAIN },
    // Two new tables; `fill` adds them with everything else that is missing.
    MigrationStep { to: 3, sql: "" },
];

/// `complete` begins the chain, with the rows that are there.
const CHAIN: &str = "CREATE TABLE IF NOT EXISTS sdlc_chain (
    group_id        INTEGER PRIMARY KEY AUTOINCREMENT,
    kind            TEXT NOT NULL,
    database_id     TEXT,
    session_id      TEXT,
    conversation_id TEXT,
    written_at      TEXT NOT NULL,
    transcript_id   INTEGER NOT NULL,
    hook_id         INTEGER NOT NULL,
    permission_id   INTEGER NOT NULL,
    event_id        INTEGER NOT NULL,
    rows            BLOB NOT NULL,
    hash            BLOB NOT NULL
);";

/// The version of tables without a recorded version.
pub(crate) const FIRST: i64 = 1;

/// What an upgrade did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Upgrade {
    pub(crate) from: i64,
    pub(crate) to: i64,
    pub(crate) backup: PathBuf,
}

impl fmt::Display for Upgrade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Upgrade { from, to, backup } = self;
        write!(f, "upgraded the database from schema {from} to {to}; a backup is in {}", backup.display())
    }
}

/// Returns the version a list of steps leads to.
pub(crate) fn newest(steps: &[MigrationStep]) -> i64 {
    steps.last().map_or(FIRST, |step| step.to)
}

/// Returns what `sdlc_schema_version` says. `None` if the key does not exist.
pub(crate) fn recorded(connection: &Connection) -> Result<Option<String>, StoreError> {
    let sql = "SELECT CAST(value AS TEXT) FROM schema_meta WHERE key = 'sdlc_schema_version'";
    Ok(connection.query_row(sql, [], |row| row.get(0)).optional()?)
}

/// Reads a recorded version, and refuses one that no list of ours leads to.
pub(crate) fn accept(recorded: &str, steps: &[MigrationStep]) -> Result<i64, StoreError> {
    match recorded.parse::<i64>() {
        Ok(found) if found > newest(steps) => Err(StoreError::TooNew { found, known: newest(steps) }),
        Ok(found) if found >= FIRST => Ok(found),
        _ => Err(StoreError::OwnVersion { found: recorded.to_owned() }),
    }
}

/// Adds what is missing and takes the pending steps, in one transaction. Waits while
/// another process does the same, and then finds nothing left to do.
pub(crate) fn complete(
    connection: &mut Connection,
    path: &Path,
    steps: &[MigrationStep],
) -> Result<Option<Upgrade>, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let upgrade = match schema::judge(&transaction, steps)? {
        SchemaState::Complete => return Ok(None),
        SchemaState::Lacking => None,
        SchemaState::Outdated { found } => Some((found, Backup::make(path, found)?)),
    };
    let start = chain_start(&transaction, upgrade.is_some())?;
    if let Some((found, _)) = upgrade {
        take(&transaction, steps.iter().filter(|step| step.to > found))?;
    }
    fill(&transaction, steps)?;
    chain::begin_if_empty(&transaction, start)?;
    if schema::judge(&transaction, steps)? != SchemaState::Complete {
        return Err(StoreError::Upgrade { to: newest(steps), reason: "tables are missing afterwards".to_owned() });
    }
    // From here on the upgrade may be on disk even if an error is reported.
    let upgrade = upgrade.map(|(from, backup)| Upgrade { from, to: newest(steps), backup: backup.keep() });
    transaction.commit()?;
    Ok(upgrade)
}

/// Makes all tables in an empty database.
pub(crate) fn make(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    fill(&transaction, STEPS)?;
    chain::begin_if_empty(&transaction, ChainStart::First)?;
    Ok(transaction.commit()?)
}

/// A database that says it has the table of the chain, and has not, had it once.
fn chain_start(transaction: &Transaction<'_>, is_upgrade: bool) -> Result<ChainStart, StoreError> {
    let found = schema::SchemaContents::read(transaction)?;
    if is_upgrade || found.has_table(chain::TABLE) || !found.has_table("schema_meta") {
        return Ok(ChainStart::First);
    }
    let version = recorded(transaction)?.and_then(|text| text.parse::<i64>().ok());
    let had_it = version.is_some_and(|version| version >= chain::SINCE);
    Ok(if had_it { ChainStart::Again } else { ChainStart::First })
}

fn take<'s>(transaction: &Transaction<'_>, pending: impl Iterator<Item = &'s MigrationStep>) -> Result<(), StoreError> {
    for step in pending {
        transaction.execute_batch(step.sql).map_err(|error| match StoreError::from(error) {
            StoreError::Sqlite(error) => StoreError::Upgrade { to: step.to, reason: error.to_string() },
            known => known,
        })?;
    }
    Ok(())
}

/// Adds what is missing, touching nothing that exists, and records the version this
/// leads to. The database is in WAL mode by now, so the pragma in the DDL asks for nothing new.
fn fill(transaction: &Transaction<'_>, steps: &[MigrationStep]) -> Result<(), StoreError> {
    transaction.execute_batch(schema::SCHEMA)?;
    let sql = "INSERT OR REPLACE INTO schema_meta(key, value) VALUES ('sdlc_schema_version', ?1)";
    transaction.execute(sql, [newest(steps).to_string()])?;
    Ok(())
}

#[cfg(test)]
mod tests;
