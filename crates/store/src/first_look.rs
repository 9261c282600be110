//! A look at the first pages of a database before anything is written to it.
//!
//! It reads what is cheap at any size: the header, the schema, and the root and the outermost pages
//! of each table and index. Damage further inside is for `ona db check` and `ona doctor`, which
//! read everything; a commit that meets it ends with the rows in a rescue file (`rescue`).

use crate::error::StoreError;
use crate::open;
use crate::schema::TABLES;
use rusqlite::{Connection, OptionalExtension};
use std::collections::HashSet;
use std::path::Path;

/// Whether a start looks at the first pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstLook {
    Pages,
    /// For starts that have to be as quick as they can.
    Skipped,
}

/// Returns an error if the database is damaged where it can be told at once.
pub(crate) fn examine(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    size(connection, path)?;
    pages(connection)
}

/// Refuses a file that ends before its last page. SQLite reads the missing part as zeros.
pub(crate) fn size(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let expected = || -> Result<u64, StoreError> {
        let bytes = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        let bytes: i64 = connection.query_row(bytes, [], |row| row.get(0))?;
        Ok(bytes.unsigned_abs())
    };
    let before = expected()?;
    // Pages that the file lacks may be in the log.
    if open::has_log(path) {
        return Ok(());
    }
    match std::fs::metadata(path) {
        // Looked at again, because VACUUM may just have made it shorter.
        Ok(found) if found.len() < before && expected()? == before => {
            Err(damaged(format_args!("the file ends after {} of {before} bytes", found.len())))
        }
        _ => Ok(()),
    }
}

fn pages(connection: &Connection) -> Result<(), StoreError> {
    let snapshot = connection.unchecked_transaction()?;
    let pragma =
        |name: &str| -> Result<i64, StoreError> { Ok(snapshot.pragma_query_value(None, name, |row| row.get(0))?) };
    let (pages, free) = (pragma("page_count")?, pragma("freelist_count")?);
    if free >= pages && pages > 0 {
        return Err(damaged(format_args!("{free} of {pages} pages are said to be free")));
    }
    let entries = entries(&snapshot)?;
    let mut roots = HashSet::new();
    for entry in &entries {
        if entry.root != 0 && !(2..=pages).contains(&entry.root) {
            return Err(damaged(format_args!("{} begins at page {} of {pages}", entry.name, entry.root)));
        }
        if entry.root != 0 && !roots.insert(entry.root) {
            return Err(damaged(format_args!("{} begins at a page of another table or index", entry.name)));
        }
    }
    for entry in entries.iter().filter(|entry| TABLES.iter().any(|(table, _)| *table == entry.table)) {
        for sql in entry.queries() {
            // An index that a query cannot use, and tables of other programs, are not looked at.
            let Ok(mut statement) = snapshot.prepare(&sql) else { continue };
            let read = statement.query_row([], |_| Ok(())).optional();
            if let Err(error) = read.map_err(StoreError::from)
                && let StoreError::Corrupt(why) = error
            {
                return Err(damaged(format_args!("{} {}: {why}", entry.kind, entry.name)));
            }
        }
    }
    Ok(())
}

fn damaged(what: std::fmt::Arguments<'_>) -> StoreError {
    StoreError::Corrupt(what.to_string())
}

/// A table or an index of the schema.
struct SchemaEntry {
    kind: String,
    name: String,
    table: String,
    root: i64,
    sql: Option<String>,
}

fn entries(connection: &Connection) -> Result<Vec<SchemaEntry>, StoreError> {
    let sql = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master WHERE type IN ('table', 'index')";
    let mut statement = connection.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(SchemaEntry {
            kind: row.get(0)?,
            name: row.get(1)?,
            table: row.get(2)?,
            root: row.get::<_, Option<i64>>(3)?.unwrap_or_default(),
            sql: row.get(4)?,
        })
    };
    Ok(statement.query_map([], read)?.collect::<Result<_, _>>()?)
}

impl SchemaEntry {
    /// Queries that read its root and its outermost pages.
    fn queries(&self) -> Vec<String> {
        let (name, table) = (self.name.replace('"', "\"\""), self.table.replace('"', "\"\""));
        match self.kind.as_str() {
            // A virtual table has no pages of its own.
            "table" if self.root == 0 => Vec::new(),
            "table" if self.sql.as_ref().is_some_and(|sql| sql.contains("WITHOUT ROWID")) => {
                vec![format!("SELECT 1 FROM \"{name}\" LIMIT 1")]
            }
            "table" => {
                let from = format!("SELECT rowid FROM \"{name}\" NOT INDEXED ORDER BY rowid");
                vec![format!("{from} LIMIT 1"), format!("{from} DESC LIMIT 1")]
            }
            _ => {
                // A partial index answers only what its condition covers.
                let condition = self.sql.as_deref().and_then(|sql| sql.split_once(" WHERE "));
                let condition = condition.or_else(|| self.sql.as_deref()?.split_once("\n    WHERE "));
                let condition = condition.map(|(_, condition)| format!(" WHERE {condition}")).unwrap_or_default();
                vec![format!("SELECT 1 FROM \"{table}\" INDEXED BY \"{name}\"{condition} LIMIT 1")]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{INDEXES, SCHEMA};

    /// Otherwise a damaged index would be passed over in silence.
    #[test]
    fn every_table_and_index_of_ours_can_be_looked_at() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let mut seen = HashSet::new();
        for entry in entries(&connection).unwrap() {
            for sql in entry.queries() {
                connection.prepare(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
                seen.insert(entry.name.clone());
            }
        }
        let tables = TABLES.iter().map(|(table, _)| *table).filter(|table| *table != "memories_fts");
        for name in tables.chain(INDEXES).chain(["sqlite_autoindex_transcript_entries_1"]) {
            assert!(seen.contains(name), "{name}");
        }
        pages(&connection).unwrap();
    }
}
