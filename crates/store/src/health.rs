//! Numbers for `ona doctor`: pragmas as the connections report them and rows per
//! table. SQLite's own checks.
//!
//! `check` examines a database that is not open.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::schema::TABLES;
use rusqlite::Connection;
use rusqlite::types::FromSql;

/// Pragmas as one connection reports them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragmas {
    pub foreign_keys: bool,
    pub journal_mode: String,
    /// Milliseconds.
    pub busy_timeout: i64,
    /// 2 is FULL.
    pub synchronous: i64,
}

/// The pragmas of both kinds of connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PragmaReport {
    pub writer: Pragmas,
    pub reader: Pragmas,
}

impl Pragmas {
    pub(crate) fn of(connection: &Connection) -> Result<Self, StoreError> {
        fn query<T: FromSql>(connection: &Connection, name: &str) -> Result<T, StoreError> {
            Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
        }
        Ok(Self {
            foreign_keys: query(connection, "foreign_keys")?,
            journal_mode: query(connection, "journal_mode")?,
            busy_timeout: query(connection, "busy_timeout")?,
            synchronous: query(connection, "synchronous")?,
        })
    }
}

impl Reader {
    /// Rows per table, in the order of section 4.3.
    pub fn counts(&self) -> Result<Vec<(&'static str, i64)>, StoreError> {
        let count = |table: &str| self.first(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0));
        TABLES.iter().map(|(table, _)| Ok((*table, count(table)?.unwrap_or(0)))).collect()
    }

    pub fn pragmas(&self) -> Result<Pragmas, StoreError> {
        Pragmas::of(&self.lock())
    }
}

/// Returns what a check of SQLite's (`quick_check`, `integrity_check`) finds wrong; empty if nothing.
pub(crate) fn problems(connection: &Connection, check: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare(&format!("PRAGMA {check}"))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}
