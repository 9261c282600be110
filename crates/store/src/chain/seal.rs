//! Adds the row of the chain for a group, inside the group's transaction.
//!
//! Rows are read back before they are hashed: defaults, copies and what a trigger made of a row are
//! then covered as they are on disk.

use crate::chain::ChainedTable;
use crate::chain::encoding::{ListedRow, NO_HASH, group_hash, row_digest};
use crate::error::StoreError;
use ona_api::row::SessionKey;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, params};

/// Rows listed by one `before` row.
const PART: usize = 1000;

/// Ids of the rows that a group wrote, by table, ascending.
#[derive(Debug, Default)]
pub(crate) struct OwnRows([Vec<i64>; 4]);

impl OwnRows {
    pub(crate) fn add(&mut self, table: ChainedTable, id: i64) {
        self.0[table.index()].push(id);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// Each table with rows, and their ids.
    fn tables(&self) -> impl Iterator<Item = (ChainedTable, &[i64])> {
        let tables = ChainedTable::ALL.into_iter().zip(self.0.iter().map(Vec::as_slice));
        tables.filter(|(_, ids)| !ids.is_empty())
    }
}

/// Why a chain begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainStart {
    First,
    /// The table of the chain was dropped.
    Again,
}

impl ChainStart {
    fn kind(self) -> &'static str {
        match self {
            ChainStart::First => "start",
            ChainStart::Again => "restart",
        }
    }
}

/// The newest row of the chain: what the next one continues.
struct ChainEnd {
    group: i64,
    /// As stored. Whatever an attacker has put there, groups are still committed, and it shows.
    hash: Value,
    /// Highest id listed of each table.
    listed: [i64; 4],
}

/// A row of the chain without its number and hash.
struct NewRow<'a> {
    kind: &'static str,
    database: Option<&'a str>,
    session: Option<&'a str>,
    conversation: Option<&'a str>,
    written_at: &'a str,
    listed: [i64; 4],
    rows: &'a [u8],
}

impl<'a> NewRow<'a> {
    fn of_start(kind: &'static str, written_at: &'a str, listed: [i64; 4], rows: &'a [u8]) -> Self {
        NewRow { kind, database: None, session: None, conversation: None, written_at, listed, rows }
    }
}

const END: &str = "SELECT group_id, hash, transcript_id, hook_id, permission_id, event_id, \
    (SELECT seq FROM sqlite_sequence WHERE name = 'sdlc_chain'), strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), \
    (SELECT conversation_id FROM sessions WHERE session_id = ?1) FROM sdlc_chain ORDER BY group_id DESC LIMIT 1";

/// Chains the rows of a group. Nothing if it has none in these tables.
pub(crate) fn seal(connection: &Connection, at: &SessionKey, own: &OwnRows) -> Result<(), StoreError> {
    if own.is_empty() {
        return Ok(());
    }
    let session = (!at.session.as_str().is_empty()).then_some(at.session.as_str());
    let read = || -> Result<_, StoreError> {
        let mut statement = connection.prepare_cached(END)?;
        let found = statement.query_row([session], |row| {
            let end = ChainEnd {
                // An id that was given once is not given again, even if its row is gone.
                group: row.get::<_, i64>(0)?.max(integer(row.get_ref(6)?)),
                hash: row.get(1)?,
                listed: [2, 3, 4, 5].map(|column| row.get_ref(column).map_or(0, integer)),
            };
            Ok((end, row.get::<_, String>(7)?, row.get::<_, Option<String>>(8)?))
        });
        Ok(found.optional()?)
    };
    let found = match read()? {
        Some(found) => Some(found),
        None => {
            begin(connection, ChainStart::First, own)?;
            read()?
        }
    };
    let Some((end, written_at, conversation)) = found else {
        return Err(StoreError::Corrupt("a row of sdlc_chain was not stored".to_owned()));
    };
    let mut listed = end.listed;
    let mut rows = Vec::new();
    for (table, ids) in own.tables() {
        // The second is the lower one only if the chain was tampered with.
        let above = listed[table.index()].min(ids[0].saturating_sub(1));
        let mut own = ids.iter().copied().peekable();
        let mut statement = connection.prepare_cached(table.rows_above())?;
        let mut found = statement.query([above])?;
        while let Some(row) = found.next()? {
            let id = row.get(0)?;
            let is_foreign = own.next_if_eq(&id).is_none();
            ListedRow { table, is_foreign, id, digest: row_digest(table, row)? }.append_to(&mut rows);
            listed[table.index()] = id;
        }
    }
    let new = NewRow {
        kind: "group",
        database: None,
        session,
        conversation: conversation.as_deref(),
        written_at: &written_at,
        listed,
        rows: &rows,
    };
    append(connection, &end, &new).map(drop)
}

/// Begins the chain unless it has begun. Linear in the size of the tables.
pub(crate) fn begin_if_empty(connection: &Connection, start: ChainStart) -> Result<(), StoreError> {
    let found = connection.query_row("SELECT 1 FROM sdlc_chain LIMIT 1", [], |_| Ok(())).optional()?;
    if found.is_some() { Ok(()) } else { begin(connection, start, &OwnRows::default()) }
}

/// `own` is not yet part of the chain: a group that finds none has written its rows already.
fn begin(connection: &Connection, start: ChainStart, own: &OwnRows) -> Result<(), StoreError> {
    let mut listed = [0; 4];
    for table in ChainedTable::ALL {
        let sql = format!(
            "SELECT max(coalesce((SELECT max(id) FROM {0}), 0), \
             coalesce((SELECT CAST(seq AS INTEGER) FROM sqlite_sequence WHERE name = '{0}'), 0))",
            table.name()
        );
        listed[table.index()] = connection.query_row(&sql, [], |row| row.get(0))?;
    }
    for (table, ids) in own.tables() {
        listed[table.index()] = ids[0].saturating_sub(1);
    }
    let sql = "SELECT coalesce((SELECT max(CAST(seq AS INTEGER)) FROM sqlite_sequence WHERE name = 'sdlc_chain'), 0), \
               lower(hex(randomblob(16))), strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";
    let (group, database, written_at): (i64, String, String) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let none = ChainEnd { group, hash: Value::Blob(NO_HASH.to_vec()), listed };
    let first = NewRow { database: Some(&database), ..NewRow::of_start(start.kind(), &written_at, listed, &[]) };
    let mut end = append(connection, &none, &first)?;
    let mut part = Vec::new();
    for table in ChainedTable::ALL {
        let mut statement = connection.prepare(table.rows_above())?;
        let mut found = statement.query([i64::MIN])?;
        while let Some(row) = found.next()? {
            let id = row.get(0)?;
            if id > listed[table.index()] {
                break;
            }
            ListedRow { table, is_foreign: false, id, digest: row_digest(table, row)? }.append_to(&mut part);
            if part.len() >= PART * ListedRow::SIZE {
                end = append(connection, &end, &NewRow::of_start("before", &written_at, listed, &part))?;
                part.clear();
            }
        }
    }
    if !part.is_empty() {
        append(connection, &end, &NewRow::of_start("before", &written_at, listed, &part))?;
    }
    Ok(())
}

fn append(connection: &Connection, end: &ChainEnd, new: &NewRow<'_>) -> Result<ChainEnd, StoreError> {
    let group = end.group.saturating_add(1);
    let text = |text: Option<&'_ str>| text.map(|text| Value::Text(text.to_owned())).unwrap_or(Value::Null);
    let texts = [Some(new.kind), new.database, new.session, new.conversation, Some(new.written_at)].map(text);
    let columns = std::iter::once(ValueRef::Integer(group))
        .chain(texts.iter().map(ValueRef::from))
        .chain(new.listed.map(ValueRef::Integer))
        .chain([ValueRef::Blob(new.rows)]);
    let hash = group_hash(ValueRef::from(&end.hash), columns);
    let sql = "INSERT INTO sdlc_chain(group_id, kind, database_id, session_id, conversation_id, written_at, \
               transcript_id, hook_id, permission_id, event_id, rows, hash) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let [kind, database, session, conversation, written_at] = texts;
    let [transcript, hooks, permissions, events] = new.listed;
    connection.prepare_cached(sql)?.execute(params![
        group,
        kind,
        database,
        session,
        conversation,
        written_at,
        transcript,
        hooks,
        permissions,
        events,
        new.rows,
        hash
    ])?;
    Ok(ChainEnd { group, hash: Value::Blob(hash.to_vec()), listed: new.listed })
}

/// Another program put there what is not a number, and `verify` reports it.
fn integer(value: ValueRef<'_>) -> i64 {
    value.as_i64().unwrap_or_default()
}
