//! The only way to write a value into the database: SQL with cells.
//!
//! A statement of the writer takes nothing but cells, and a cell with text in it
//! is redacted here. So no row type can forget to (DEC-016).

use crate::error::StoreError;
use crate::redaction;
use ona_api::Redactor;
use rusqlite::types::{ToSqlOutput, Value as SqlValue, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params_from_iter};
use serde_json::Value;
use std::borrow::Cow;

/// One value for a column.
#[derive(Clone, Copy)]
pub(crate) enum Cell<'a> {
    Null,
    Int(i64),
    Text(&'a str),
    Json(&'a Value),
    /// Bytes that the caller has looked through: they are stored as they are.
    Clean(&'a [u8]),
}

/// Writes inside one transaction.
pub(crate) struct RowWriter<'t> {
    pub(crate) connection: &'t Connection,
    pub(crate) redactor: &'t Redactor,
}

impl RowWriter<'_> {
    /// Runs a statement; the number of rows it changed.
    pub(crate) fn run(&self, sql: &str, cells: &[Cell<'_>]) -> Result<usize, StoreError> {
        Ok(self.prepare(sql)?.execute(self.bind(cells))?)
    }

    /// Runs an insert; the id of the new row.
    pub(crate) fn insert(&self, sql: &str, cells: &[Cell<'_>]) -> Result<i64, StoreError> {
        Ok(self.prepare(sql)?.insert(self.bind(cells))?)
    }

    /// Runs an insert of many rows that ends in `RETURNING id`.
    pub(crate) fn ids(&self, sql: &str, cells: &[Cell<'_>]) -> Result<Vec<i64>, StoreError> {
        Ok(self.prepare(sql)?.query_map(self.bind(cells), |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the rows of a query for a text and a number.
    pub(crate) fn pairs(&self, sql: &str, cells: &[Cell<'_>]) -> Result<Vec<(String, i64)>, StoreError> {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        Ok(self.prepare(sql)?.query_map(self.bind(cells), read)?.collect::<Result<_, _>>()?)
    }

    /// Returns the first row of a query within the transaction.
    pub(crate) fn first<T>(
        &self,
        sql: &str,
        cells: &[Cell<'_>],
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.prepare(sql)?.query_row(self.bind(cells), read).optional()?)
    }

    /// Returns text as it will be stored.
    pub(crate) fn clean<'a>(&self, text: &'a str) -> Cow<'a, str> {
        redaction::text(self.redactor, text)
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>, StoreError> {
        Ok(self.connection.prepare_cached(sql)?)
    }

    fn bind<'c>(&self, cells: &'c [Cell<'c>]) -> impl rusqlite::Params {
        params_from_iter(cells.iter().map(|cell| self.value(cell)).collect::<Vec<_>>())
    }

    fn value<'c>(&self, cell: &Cell<'c>) -> ToSqlOutput<'c> {
        match *cell {
            Cell::Null => ToSqlOutput::Owned(SqlValue::Null),
            Cell::Int(number) => ToSqlOutput::Owned(SqlValue::Integer(number)),
            Cell::Text(text) => match self.clean(text) {
                Cow::Borrowed(same) => ToSqlOutput::Borrowed(ValueRef::Text(same.as_bytes())),
                Cow::Owned(clean) => ToSqlOutput::Owned(SqlValue::Text(clean)),
            },
            Cell::Clean(bytes) => ToSqlOutput::Borrowed(ValueRef::Blob(bytes)),
            Cell::Json(value) => ToSqlOutput::Owned(SqlValue::Text(redaction::json(self.redactor, value))),
        }
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(text: &'a str) -> Self {
        Cell::Text(text)
    }
}

impl<'a> From<&'a String> for Cell<'a> {
    fn from(text: &'a String) -> Self {
        Cell::Text(text)
    }
}

impl From<i64> for Cell<'_> {
    fn from(number: i64) -> Self {
        Cell::Int(number)
    }
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        Cell::Json(value)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Cell::Null, Into::into)
    }
}

macro_rules! cells {
    ($($value:expr),* $(,)?) => { &[$($crate::row_writer::Cell::from($value)),*] };
}
pub(crate) use cells;
