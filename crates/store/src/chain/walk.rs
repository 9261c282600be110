//! Compares the tables with the chain, row by row, in one pass and constant memory.
//!
//! Ids are only ever given once and a group lists everything above the highest id listed so far, so
//! the lists of the whole chain are in the order of the ids. One cursor per table is enough. What
//! is found goes to a [`Finder`] in the order of the chain; `verify` makes a report of it.

use crate::chain::ChainedTable;
use crate::chain::encoding::{Digest, ListedRow, NO_HASH, group_hash, row_digest};
use crate::error::StoreError;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, Rows};

/// A row of one of the tables as it is now.
#[derive(Clone, Debug)]
pub(crate) struct PresentRow {
    pub(crate) id: i64,
    pub(crate) digest: Digest,
    /// Only if sessions are asked for.
    pub(crate) session: Option<String>,
}

/// A row of the chain, read and checked against the one before it.
#[derive(Debug)]
pub(crate) struct ChainLink {
    pub(crate) group: i64,
    pub(crate) kind: String,
    pub(crate) database: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) written_at: String,
    /// As stored; `None` if it is not even a hash.
    pub(crate) hash: Option<Digest>,
    /// Whether the hash is that of the columns and the hash before.
    pub(crate) is_intact: bool,
    /// Highest id listed of each table.
    pub(crate) listed: [i64; 4],
    /// `None` if the list cannot be read.
    pub(crate) rows: Option<Vec<ListedRow>>,
}

/// What a walk reports to.
pub(crate) trait Finder {
    /// The next row of the chain, and the number of the one before it.
    fn link(&mut self, before: Option<i64>, link: &ChainLink);
    /// A listed row and what is there under its id.
    fn listed(&mut self, link: &ChainLink, listed: &ListedRow, present: Option<&PresentRow>);
    /// A row is listed a second time.
    fn again(&mut self, link: &ChainLink, listed: &ListedRow);
    /// A row that the chain passes over.
    fn passed_over(&mut self, table: ChainedTable, present: &PresentRow);
    /// A row above everything that is listed.
    fn above(&mut self, table: ChainedTable, present: &PresentRow);
}

/// What is at the end of a walk.
#[derive(Debug, Default)]
pub(crate) struct WalkEnd {
    pub(crate) last: Option<ChainLink>,
    /// Highest number ever given to a row of the chain.
    pub(crate) numbers_given: i64,
    /// Highest id ever given in each table.
    pub(crate) ids_given: [i64; 4],
    /// Highest id that is in each table now.
    pub(crate) ids_present: [i64; 4],
}

const LINKS: &str = "SELECT group_id, kind, database_id, session_id, conversation_id, written_at, \
    transcript_id, hook_id, permission_id, event_id, rows, hash FROM sdlc_chain ORDER BY group_id";
const HASH: usize = 11;

/// Walks the whole chain. `tables` says which of the four can be read.
pub(crate) fn walk(
    connection: &Connection,
    tables: [bool; 4],
    with_sessions: bool,
    finder: &mut dyn Finder,
) -> Result<WalkEnd, StoreError> {
    let mut statements = Vec::new();
    for table in ChainedTable::ALL {
        // A table that is missing has no rows.
        let sql = if tables[table.index()] { table.rows_above() } else { "SELECT 1 WHERE ?1 IS NULL" };
        statements.push(connection.prepare(sql)?);
    }
    let mut cursors = Vec::new();
    for (table, statement) in ChainedTable::ALL.into_iter().zip(&mut statements) {
        cursors.push(Cursor::start(table, statement.query([i64::MIN])?, with_sessions)?);
    }
    let mut links = connection.prepare(LINKS)?;
    let mut links = links.query([])?;
    let mut end = WalkEnd::default();
    let mut hash = Value::Blob(NO_HASH.to_vec());
    let mut newest = [i64::MIN; 4];
    // Above these ids, rows of missing groups are expected.
    let mut excused: [Option<i64>; 4] = [None; 4];
    while let Some(row) = links.next()? {
        let link = read(&hash, row)?;
        // Text that is not UTF-8 is as little a hash as any other text.
        hash = row.get(HASH).unwrap_or(Value::Null);
        let before = end.last.as_ref().map(|last| last.group);
        finder.link(before, &link);
        if before.unwrap_or(0).checked_add(1) != Some(link.group) {
            let listed = end.last.as_ref().map_or([i64::MIN; 4], |last| last.listed);
            excused = [0, 1, 2, 3].map(|table| Some(listed[table]));
        }
        for listed in link.rows.iter().flatten() {
            let at = listed.table.index();
            let cursor = &mut cursors[at];
            if listed.id <= newest[at] {
                finder.again(&link, listed);
                continue;
            }
            newest[at] = listed.id;
            let from = excused[at].take();
            while let Some(present) = cursor.take_if(|id| id < listed.id)? {
                if from.is_none_or(|from| present.id <= from) {
                    finder.passed_over(listed.table, &present);
                }
            }
            let present = cursor.take_if(|id| id == listed.id)?;
            finder.listed(&link, listed, present.as_ref());
        }
        end.last = Some(link);
    }
    let listed = end.last.as_ref().map_or([i64::MIN; 4], |last| last.listed);
    for cursor in &mut cursors {
        let at = cursor.table.index();
        while let Some(present) = cursor.take_if(|_| true)? {
            end.ids_present[at] = present.id;
            match excused[at] {
                _ if present.id > listed[at] => finder.above(cursor.table, &present),
                Some(from) if present.id > from => {}
                _ => finder.passed_over(cursor.table, &present),
            }
        }
        end.ids_present[at] = end.ids_present[at].max(cursor.highest);
        end.ids_given[at] = given(connection, cursor.table.name())?;
    }
    end.numbers_given = given(connection, super::TABLE)?;
    Ok(end)
}

/// Returns the newest row of the chain, unchecked.
pub(crate) fn newest(connection: &Connection) -> Result<Option<ChainLink>, StoreError> {
    let sql = LINKS.replace("ORDER BY group_id", "ORDER BY group_id DESC LIMIT 1");
    Ok(connection.query_row(&sql, [], |row| read(&Value::Null, row)).optional()?)
}

/// Returns the id that names the database in its chain.
pub(crate) fn database_id(connection: &Connection) -> Result<Option<String>, StoreError> {
    let sql = "SELECT CAST(database_id AS TEXT) FROM sdlc_chain ORDER BY group_id LIMIT 1";
    Ok(connection.query_row(sql, [], |row| row.get(0)).optional()?.flatten())
}

fn given(connection: &Connection, table: &str) -> Result<i64, StoreError> {
    let sql = "SELECT max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE name = ?1";
    Ok(connection.query_row(sql, [table], |row| row.get::<_, Option<i64>>(0))?.unwrap_or_default())
}

fn read(before: &Value, row: &Row<'_>) -> rusqlite::Result<ChainLink> {
    let text = |column: usize| match row.get_ref(column) {
        Ok(ValueRef::Text(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
        _ => None,
    };
    let columns = (0..HASH).map(|column| row.get_ref(column)).collect::<Result<Vec<_>, _>>()?;
    let computed = group_hash(ValueRef::from(before), columns);
    let hash = row.get_ref(HASH)?.as_blob().ok().and_then(|bytes| Digest::try_from(bytes).ok());
    let mut listed = [0; 4];
    for (at, highest) in listed.iter_mut().enumerate() {
        *highest = row.get_ref(6 + at)?.as_i64().unwrap_or_default();
    }
    Ok(ChainLink {
        group: row.get(0)?,
        kind: text(1).unwrap_or_default(),
        database: text(2),
        session: text(3),
        written_at: text(5).unwrap_or_default(),
        hash,
        is_intact: hash == Some(computed),
        listed,
        rows: row.get_ref(10)?.as_blob().ok().and_then(ListedRow::read_all),
    })
}

/// The rows of one table in order, one ahead.
struct Cursor<'s> {
    table: ChainedTable,
    rows: Rows<'s>,
    with_sessions: bool,
    next: Option<PresentRow>,
    highest: i64,
}

impl<'s> Cursor<'s> {
    fn start(table: ChainedTable, rows: Rows<'s>, with_sessions: bool) -> Result<Self, StoreError> {
        let mut cursor = Cursor { table, rows, with_sessions, next: None, highest: 0 };
        cursor.advance()?;
        Ok(cursor)
    }

    fn advance(&mut self) -> Result<(), StoreError> {
        self.next = match self.rows.next()? {
            None => None,
            Some(row) => {
                let session = match self.with_sessions {
                    true => row.get_ref("session_id")?.as_str().ok().map(str::to_owned),
                    false => None,
                };
                let id = row.get(0)?;
                self.highest = id;
                Some(PresentRow { id, digest: row_digest(self.table, row)?, session })
            }
        };
        Ok(())
    }

    fn take_if(&mut self, wanted: impl Fn(i64) -> bool) -> Result<Option<PresentRow>, StoreError> {
        match self.next.take() {
            Some(next) if wanted(next.id) => {
                self.advance()?;
                Ok(Some(next))
            }
            other => {
                self.next = other;
                Ok(None)
            }
        }
    }
}
