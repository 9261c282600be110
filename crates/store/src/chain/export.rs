//! Writes the four tables of the record as lines for other programs, as they are stored.
//!
//! One row at a time, so that memory does not grow with the database. JSONL has an object per row,
//! its keys in the order of the columns. CSV (RFC 4180) has one header with the columns of all
//! four tables; a column a table does not have is empty, and so is NULL, while empty text is `""`.

use crate::chain::encoding::hexadecimal;
use crate::chain::{ChainedTable, verify};
use crate::error::StoreError;
use crate::open;
use ona_api::SessionId;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::json;
use std::io::{self, Write};
use std::path::Path;

/// Form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    Jsonl,
    Csv,
}

/// Where an export goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportTarget {
    /// Text is written as it is.
    File,
    /// Control characters of CSV text are shown as `\u{1b}`, so that stored text cannot steer it.
    Terminal,
}

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the rows cannot be written: {0}")]
    Output(#[from] io::Error),
}

impl From<rusqlite::Error> for ExportError {
    fn from(error: rusqlite::Error) -> Self {
        ExportError::Store(error.into())
    }
}

/// Writes all rows, or those of one session. Returns false if the session does not exist.
pub fn export(
    path: &Path,
    format: RecordFormat,
    session: Option<&SessionId>,
    target: ExportTarget,
    out: &mut dyn Write,
) -> Result<bool, ExportError> {
    let connection = open::record(path)?;
    let snapshot = connection.unchecked_transaction()?;
    let found = verify::contents(&snapshot)?;
    if let Some(session) = session
        && !verify::is_session(&snapshot, &found, session)?
    {
        return Ok(false);
    }
    let all = all_columns();
    if format == RecordFormat::Csv {
        writeln!(out, "table,{}\r", all.join(","))?;
    }
    for table in ChainedTable::ALL {
        if !found.is_complete(table.name()) {
            return Err(ExportError::Store(StoreError::Schema { table: table.name(), missing: vec!["columns"] }));
        }
        let columns: Vec<_> = table.columns().collect();
        let filter = if session.is_some() { " WHERE session_id = ?1" } else { " WHERE ?1 IS NULL" };
        let mut statement = snapshot.prepare(&format!("{}{filter} ORDER BY id", table.select()))?;
        let mut rows = statement.query([session.map(SessionId::as_str)])?;
        while let Some(row) = rows.next()? {
            match format {
                RecordFormat::Jsonl => write_json(table, &columns, row, out)?,
                RecordFormat::Csv => write_csv(table, &columns, &all, row, target, out)?,
            }
        }
    }
    out.flush()?;
    Ok(true)
}

/// The columns of all four tables, each once.
fn all_columns() -> Vec<&'static str> {
    let mut all = Vec::new();
    for column in ChainedTable::ALL.into_iter().flat_map(ChainedTable::columns) {
        if !all.contains(&column) {
            all.push(column);
        }
    }
    all
}

fn write_json(table: ChainedTable, columns: &[&str], row: &Row<'_>, out: &mut dyn Write) -> Result<(), ExportError> {
    write!(out, "{{\"table\":{}", json!(table.name()))?;
    for (at, column) in columns.iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => json!(null),
            ValueRef::Integer(number) => json!(number),
            ValueRef::Real(number) => json!(number),
            ValueRef::Text(bytes) => json!(String::from_utf8_lossy(bytes)),
            ValueRef::Blob(bytes) => json!({"blob": hexadecimal(bytes)}),
        };
        write!(out, ",{}:{value}", json!(column))?;
    }
    Ok(writeln!(out, "}}")?)
}

fn write_csv(
    table: ChainedTable,
    columns: &[&str],
    all: &[&str],
    row: &Row<'_>,
    target: ExportTarget,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    write!(out, "{}", table.name())?;
    for column in all {
        let field = match columns.iter().position(|one| one == column) {
            Some(at) => field(row.get_ref(at)?, target),
            None => String::new(),
        };
        write!(out, ",{field}")?;
    }
    Ok(write!(out, "\r\n")?)
}

fn field(value: ValueRef<'_>, target: ExportTarget) -> String {
    match value {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) => quoted(&String::from_utf8_lossy(bytes), target),
        ValueRef::Blob(bytes) => format!("x'{}'", hexadecimal(bytes)),
    }
}

/// Quoted where RFC 4180 asks for it, and where nothing would look like NULL.
fn quoted(text: &str, target: ExportTarget) -> String {
    let shown: String = match target {
        ExportTarget::File => text.to_owned(),
        ExportTarget::Terminal => text.chars().map(visible).collect(),
    };
    let is_plain = !shown.is_empty() && !shown.contains(['"', ',', '\r', '\n']);
    if is_plain { shown } else { format!("\"{}\"", shown.replace('"', "\"\"")) }
}

fn visible(character: char) -> String {
    match character {
        '\n' | '\t' => character.to_string(),
        other if other.is_control() => other.escape_unicode().to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_a_reader_would_take_them_for_something_else() {
        let file = |text: &str| quoted(text, ExportTarget::File);
        for (text, expected) in [
            ("plain text", "plain text"),
            ("", "\"\""),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("\u{1b}[2J", "\u{1b}[2J"),
        ] {
            assert_eq!(file(text), expected);
        }
        assert_eq!(quoted("\u{1b}[2J\r\n", ExportTarget::Terminal), "\"\\u{1b}[2J\\u{d}\n\"");
        assert_eq!(field(ValueRef::Null, ExportTarget::File), "");
    }
}
