//! Saves what can still be read of a damaged database into a new one (`ona db recover`).
//!
//! The bundled SQLite has no recovery extension (it is not part of the amalgamation), and an own reader of
//! pages would be a second implementation of the file format. So SQLite itself reads, table by
//! table: upwards until it meets a damaged page, downwards from the other end, and what lies between is
//! halved until every id that can be read has been. Indexes are not used, so a damaged one costs nothing.
//! The damaged file is opened read-only and never copied as a file.
//!
//! Rows keep their ids, and the chain comes along: `chain::verify` on the result names each row
//! that did not come through or came through changed. Without a readable first page (header and schema)
//! SQLite reads no table, and this is an error.

use crate::chain::{self, ChainStart, begin_if_empty};
use crate::error::StoreError;
use crate::migrate::{self, STEPS};
use crate::schema::TABLES;
use crate::{filesystem, open};
use rusqlite::config::DbConfig;
use rusqlite::types::ToSqlOutput;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params_from_iter};
use std::collections::VecDeque;
use std::path::Path;

/// What came through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    pub tables: Vec<RecoveredTable>,
    /// Tables of other programs, which are left behind.
    pub left_behind: Vec<String>,
    /// Conversations and sessions that rows refer to and that had to be made again, without their
    /// own columns.
    pub made_again: u64,
}

impl RecoveryReport {
    /// Whether nothing was met that could not be read or stored.
    pub fn is_complete(&self) -> bool {
        self.made_again == 0 && self.tables.iter().all(RecoveredTable::is_complete)
    }
}

/// What came through of one table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveredTable {
    pub table: &'static str,
    pub rows: u64,
    /// Row ids, first and last of each range, on pages that cannot be read; some may never have existed.
    pub unread: Vec<(i64, i64)>,
    /// Rows that were read and broke a rule of the table.
    pub refused: u64,
    /// Why nothing, or an unknown number of rows, could be read.
    pub lost: Option<String>,
}

impl RecoveredTable {
    fn is_complete(&self) -> bool {
        self.unread.is_empty() && self.refused == 0 && self.lost.is_none()
    }
}

/// How many failing reads in a row end the search in one table.
const MOST_FAILURES: u32 = 200_000;

/// Filled from `memories` afterwards.
const MIRROR: &str = "memories_fts";

/// Reads the database at `from` into a new one at `to`, which must not exist.
pub fn recover(from: &Path, to: &Path) -> Result<RecoveryReport, StoreError> {
    let source = open::inspector(from)?;
    // An entry of the schema that cannot be parsed must not hide the others, and none of it may run.
    source.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    source.pragma_update(None, "writable_schema", true)?;
    source.pragma_update(None, "query_only", true)?;
    let found = source_tables(&source)?;
    open::may_be_made(to)?;
    if !open::reserve(to)? {
        return Err(StoreError::Exists(to.to_owned()));
    }
    let made = fill(&source, &found, to);
    if made.is_err() {
        for file in std::iter::once(to.to_owned()).chain(crate::ownership::companions(to)) {
            // What cannot be removed stays beside an error that names the place.
            std::fs::remove_file(file).unwrap_or_default();
        }
    }
    made.map_err(|error| filesystem::explain(to, error))
}

fn fill(source: &Connection, found: &[String], to: &Path) -> Result<RecoveryReport, StoreError> {
    let mut target = open::existing(to)?;
    target.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    target.pragma_update(None, "foreign_keys", false)?;
    migrate::make(&mut target)?;
    let ours = |name: &String| TABLES.iter().any(|(table, _)| table == name);
    let mut report = RecoveryReport {
        left_behind: found.iter().filter(|name| !ours(name) && !is_shadow(name)).cloned().collect(),
        ..RecoveryReport::default()
    };
    let snapshot = source.unchecked_transaction()?;
    let transaction = target.transaction()?;
    transaction.execute_batch(
        "DELETE FROM schema_meta; DELETE FROM sdlc_chain; DELETE FROM sqlite_sequence WHERE name = 'sdlc_chain'",
    )?;
    let counters = counters(&snapshot);
    for (table, columns) in TABLES {
        if table == MIRROR {
            continue;
        }
        let counter = counters.iter().find(|(name, _)| name == table).map(|(_, highest)| *highest);
        let recovered = match found.iter().any(|name| name == table) {
            true => TableCopy::new(&snapshot, &transaction, table, columns, counter)?.run()?,
            false => RecoveredTable {
                table,
                lost: (table != chain::TABLE).then(|| "the schema does not name it".to_owned()),
                ..RecoveredTable::default()
            },
        };
        report.tables.push(recovered);
    }
    drop(snapshot);
    report.made_again = make_parents(&transaction)?;
    // No id that was given once is given to another row.
    for (table, highest) in counters {
        let sql = "UPDATE sqlite_sequence SET seq = max(CAST(seq AS INTEGER), ?2) WHERE name = ?1";
        if transaction.execute(sql, (&table, highest))? == 0 && TABLES.iter().any(|(name, _)| *name == table) {
            transaction.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?1, ?2)", (&table, highest))?;
        }
    }
    let had_chain = migrate::recorded(&transaction)?.and_then(|text| text.parse().ok()) >= Some(chain::SINCE);
    let sql =
        "INSERT OR REPLACE INTO schema_meta(key, value) VALUES ('schema_version', '1'), ('sdlc_schema_version', ?1)";
    transaction.execute(sql, [migrate::newest(STEPS).to_string()])?;
    transaction.execute_batch(
        "DELETE FROM memories_fts;
         INSERT INTO memories_fts(title, content, keywords, anticipated_queries)
         SELECT title, content, keywords, anticipated_queries FROM memories;",
    )?;
    begin_if_empty(&transaction, if had_chain { ChainStart::Again } else { ChainStart::First })?;
    transaction.commit()?;
    target.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    target.close().map_err(|(_, error)| error)?;
    Ok(report)
}

fn source_tables(source: &Connection) -> Result<Vec<String>, StoreError> {
    let sql =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name";
    let mut statement = source.prepare(sql)?;
    let mut rows = statement.query([])?;
    let mut names = Vec::new();
    loop {
        match rows.next() {
            Ok(Some(row)) => names.extend(row.get::<_, String>(0)),
            Ok(None) => break,
            // The rest of a schema of several pages.
            Err(error) if names.is_empty() => return Err(error.into()),
            Err(_) => break,
        }
    }
    if TABLES.iter().any(|(table, _)| names.iter().any(|name| name == table)) {
        Ok(names)
    } else {
        Err(StoreError::NotOurs)
    }
}

/// Tables in which the full-text index keeps its own data.
fn is_shadow(name: &str) -> bool {
    name.strip_prefix(MIRROR).is_some_and(|rest| rest.starts_with('_'))
}

/// Highest id ever given, by table, as far as that can be read.
fn counters(source: &Connection) -> Vec<(String, i64)> {
    let sql = "SELECT name, CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name IS NOT NULL AND seq > 0";
    let Ok(mut statement) = source.prepare(sql) else { return Vec::new() };
    let Ok(rows) = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))) else { return Vec::new() };
    rows.map_while(Result::ok).collect()
}

/// Sessions and conversations that rows refer to.
fn make_parents(target: &Connection) -> Result<u64, StoreError> {
    let sessions = "INSERT INTO sessions(session_id, conversation_id) \
        SELECT DISTINCT t.session_id, coalesce( \
            (SELECT c.conversation_id FROM sdlc_chain c WHERE c.session_id = t.session_id AND c.conversation_id IS NOT NULL), \
            (SELECT h.conversation_id FROM hook_invocations h WHERE h.session_id = t.session_id), \
            (SELECT e.conversation_id FROM events e WHERE e.session_id = t.session_id), 'recovered') \
        FROM transcript_entries t WHERE t.session_id NOT IN (SELECT session_id FROM sessions)";
    let conversations = "INSERT INTO conversations(id, project_dir) \
        SELECT conversation_id, '' FROM (SELECT conversation_id FROM sessions UNION SELECT conversation_id FROM summaries) \
        WHERE conversation_id NOT IN (SELECT id FROM conversations)";
    Ok((target.execute(sessions, [])? + target.execute(conversations, [])?) as u64)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// How reading between two ids ended.
enum ReadEnd {
    Complete,
    /// A page cannot be read. With the last id that was.
    Damaged(Option<i64>, String),
}

/// Copies one table.
struct TableCopy<'c> {
    table: &'static str,
    /// Missing in tables without row ids.
    has_rowid: bool,
    up: Option<CachedStatement<'c>>,
    down: Option<CachedStatement<'c>>,
    insert: CachedStatement<'c>,
    columns: usize,
    counter: Option<i64>,
    report: RecoveredTable,
}

impl<'c> TableCopy<'c> {
    fn new(
        source: &'c Connection,
        target: &'c Connection,
        table: &'static str,
        columns: &str,
        counter: Option<i64>,
    ) -> Result<Self, StoreError> {
        let present = column_names(source, table).unwrap_or_default();
        let wanted: Vec<_> = columns.split_whitespace().filter(|one| present.iter().any(|name| name == one)).collect();
        let has_rowid = has_rowid(target, table)?;
        let list = wanted.join(", ");
        let rowid = if has_rowid { "rowid" } else { "0" };
        let own = if has_rowid && !is_rowid_alias(target, table)? { "rowid, " } else { "" };
        let marks = vec!["?"; wanted.len() + usize::from(!own.is_empty())].join(", ");
        let insert = target.prepare_cached(&format!("INSERT INTO {table}({own}{list}) VALUES ({marks})"))?;
        let select = format!("SELECT {rowid}, {own}{list} FROM {table} NOT INDEXED");
        let query = |order: &str| match has_rowid {
            true => source.prepare_cached(&format!("{select} WHERE rowid > ?1 AND rowid < ?2 ORDER BY rowid {order}")),
            false => source.prepare_cached(&format!("SELECT 0, {list} FROM {table} WHERE ?1 < ?2")),
        };
        let columns = wanted.len() + usize::from(!own.is_empty());
        let mut report = RecoveredTable { table, ..RecoveredTable::default() };
        let mut prepared = |order: &str| match query(order) {
            Ok(statement) => Some(statement),
            Err(error) => {
                report.lost = Some(error.to_string());
                None
            }
        };
        let (up, down) = (prepared(""), prepared("DESC"));
        Ok(TableCopy { table, has_rowid, up, down, insert, columns, counter, report })
    }

    fn run(mut self) -> Result<RecoveredTable, StoreError> {
        if self.up.is_none() || self.down.is_none() {
            return Ok(self.report);
        }
        let ReadEnd::Damaged(last, why) = self.read(Direction::Up, i64::MIN, i64::MAX)? else { return Ok(self.report) };
        if !self.has_rowid {
            self.report.lost = Some(why);
            return Ok(self.report);
        }
        let ReadEnd::Damaged(first, _) = self.read(Direction::Down, last.unwrap_or(i64::MIN), i64::MAX)? else {
            return Ok(self.report);
        };
        // Ids begin at 1; where the end cannot be read, the counter says how far they go.
        let low = last.unwrap_or(0);
        let unknown = || self.counter.unwrap_or(0).max(low).saturating_add(1);
        let high = first.unwrap_or_else(unknown);
        if first.is_none() && self.counter.is_none() {
            self.report.lost = Some(why);
        }
        self.search(low, high)?;
        Ok(self.report)
    }

    /// Reads what can be read between two ids that were read already.
    fn search(&mut self, low: i64, high: i64) -> Result<(), StoreError> {
        let mut open = VecDeque::from([(low, high)]);
        let mut unread = Vec::new();
        let mut failures = 0;
        while let Some((low, high)) = open.pop_front() {
            if high - low <= 1 {
                continue;
            }
            if failures > MOST_FAILURES {
                unread.push((low + 1, high - 1));
                continue;
            }
            let before = self.report.rows;
            let ReadEnd::Damaged(last, _) = self.read(Direction::Up, low, high)? else { continue };
            let low = last.unwrap_or(low);
            let ReadEnd::Damaged(first, _) = self.read(Direction::Down, low, high)? else { continue };
            let high = first.unwrap_or(high);
            failures = if self.report.rows > before { 0 } else { failures + 1 };
            match high - low {
                ..=1 => {}
                2 => unread.push((low + 1, low + 1)),
                width => {
                    let middle = low + width / 2;
                    open.push_back((low, middle + 1));
                    open.push_back((middle, high));
                }
            }
        }
        self.report.unread = joined(unread);
        Ok(())
    }

    fn read(&mut self, direction: Direction, low: i64, high: i64) -> Result<ReadEnd, StoreError> {
        let statement = match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        };
        let Some(statement) = statement else { return Ok(ReadEnd::Complete) };
        let mut last = None;
        let mut rows = match statement.query([low, high]) {
            Ok(rows) => rows,
            Err(error) => return damage(error, last),
        };
        loop {
            let row = match rows.next() {
                Ok(Some(row)) => row,
                Ok(None) => return Ok(ReadEnd::Complete),
                Err(error) => return damage(error, last),
            };
            let id = row.get(0)?;
            let goes_on = last.is_none_or(|last| if direction == Direction::Up { id > last } else { id < last });
            if self.has_rowid && !goes_on {
                return Ok(ReadEnd::Damaged(last, "pages are out of order".to_owned()));
            }
            match insert(&mut self.insert, row, self.columns) {
                Ok(()) => self.report.rows += 1,
                Err(StoreError::Corrupt(why)) => return Ok(ReadEnd::Damaged(last, why)),
                Err(StoreError::Sqlite(_) | StoreError::Orphan) => {
                    tracing::debug!(table = self.table, id, "a row breaks a rule of its table");
                    self.report.refused += 1;
                }
                Err(other) => return Err(other),
            }
            last = Some(id);
        }
    }
}

fn damage(error: rusqlite::Error, last: Option<i64>) -> Result<ReadEnd, StoreError> {
    match StoreError::from(error) {
        StoreError::Corrupt(why) | StoreError::InputOutput(why) => Ok(ReadEnd::Damaged(last, why)),
        StoreError::Sqlite(error) => Ok(ReadEnd::Damaged(last, error.to_string())),
        other => Err(other),
    }
}

/// Values pass as they are, also text that is not UTF-8.
fn insert(statement: &mut CachedStatement<'_>, row: &Row<'_>, columns: usize) -> Result<(), StoreError> {
    let values = (1..=columns).map(|at| row.get_ref(at).map(ToSqlOutput::Borrowed));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    statement.execute(params_from_iter(values))?;
    Ok(())
}

/// Ranges in order, those beside each other as one.
fn joined(mut ranges: Vec<(i64, i64)>) -> Vec<(i64, i64)> {
    ranges.sort_unstable();
    let mut joined: Vec<(i64, i64)> = Vec::new();
    for (from, to) in ranges {
        match joined.last_mut() {
            Some(last) if from <= last.1.saturating_add(1) => last.1 = last.1.max(to),
            _ => joined.push((from, to)),
        }
    }
    joined
}

fn column_names(connection: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    Ok(statement.query_map([table], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

fn has_rowid(connection: &Connection, table: &str) -> Result<bool, StoreError> {
    let sql = "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1";
    Ok(connection.query_row(sql, [table], |row| row.get::<_, bool>(0)).optional()? == Some(false))
}

/// Whether a column is the row id under another name.
fn is_rowid_alias(connection: &Connection, table: &str) -> Result<bool, StoreError> {
    let sql = "SELECT count(*) = 1 AND max(upper(type)) = 'INTEGER' FROM pragma_table_info(?1) WHERE pk > 0";
    Ok(connection.query_row(sql, [table], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_beside_each_other_are_one() {
        assert_eq!(joined(vec![(7, 9), (1, 2), (3, 3), (8, 12), (20, 20)]), [(1, 3), (7, 12), (20, 20)]);
        assert_eq!(joined(vec![]), []);
    }
}
