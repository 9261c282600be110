//! A database in a temporary directory, and a second pair of eyes on it: a plain
//! connection, as an operator with `sqlite3` would have.

use ona_api::row::{Block, SequenceStart, SessionKey};
use ona_api::{Entry, Group, Redactor, Row};
use ona_store::{Committed, Store};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct Db {
    pub dir: TempDir,
    pub path: PathBuf,
}

impl Db {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ona.db");
        Self { dir, path }
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path, Redactor::default()).unwrap()
    }

    /// A store with conversation `k` and session `s`.
    pub(crate) fn started(&self) -> Store {
        let store = self.open();
        store.commit_now(&place("s"), begin()).unwrap();
        store
    }

    /// The rows of a query as `sqlite3` prints them.
    pub(crate) fn sql(&self, sql: &str) -> Vec<String> {
        query(&plain(&self.path), sql)
    }
}

#[expect(clippy::disallowed_methods, reason = "the operator's own connection")]
pub(crate) fn plain(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

pub(crate) fn query(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    let line = |row: &rusqlite::Row<'_>| {
        let cells = (0..columns).map(|i| {
            Ok(match row.get::<_, Value>(i)? {
                Value::Null => "NULL".to_owned(),
                Value::Integer(n) => n.to_string(),
                Value::Real(n) => n.to_string(),
                Value::Text(text) => text,
                Value::Blob(_) => "BLOB".to_owned(),
            })
        });
        Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join("|"))
    };
    statement.query_map([], line).unwrap().map(Result::unwrap).collect()
}

pub(crate) fn place(session: &str) -> SessionKey {
    SessionKey { conversation: "k".into(), session: session.into(), start: SequenceStart::Zero }
}

pub(crate) fn begin() -> Group {
    Group(vec![Row::Conversation { project_dir: "/p".into() }, Row::Session])
}

pub(crate) fn write(store: &Store, entries: impl IntoIterator<Item = Entry>) -> Committed {
    store.commit_now(&place("s"), Group(entries.into_iter().map(Row::Transcript).collect())).unwrap()
}

pub(crate) fn user(text: &str) -> Entry {
    Entry::User { uuid: "u".into(), content: vec![Block::Text(text.into())] }
}

pub(crate) fn says(text: &str) -> Entry {
    Entry::Assistant { uuid: "a".into(), content: vec![Block::Text(text.into())] }
}

pub(crate) fn calls(ids: &[&str]) -> Entry {
    let block = |id: &&str| Block::ToolUse { id: (*id).into(), name: "Read".into(), input: serde_json::json!({}) };
    Entry::Assistant { uuid: "a".into(), content: ids.iter().map(block).collect() }
}

pub(crate) fn call(id: &str) -> Entry {
    Entry::ToolUse { id: id.into(), name: "Read".into(), input: serde_json::json!({}) }
}

pub(crate) fn result(id: &str) -> Entry {
    Entry::ToolResult { id: id.into(), content: "ok".into(), is_error: false }
}
