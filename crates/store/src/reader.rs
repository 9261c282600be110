//! Typed queries on a connection of their own.
//!
//! Each method is one statement, so it sees whole groups only and keeps no
//! snapshot open afterwards: a forgotten one would keep the log from shrinking.
//! Plans, memories and health have their queries in their own files.

use crate::error::StoreError;
use crate::migrate::STEPS;
use crate::open;
use ona_api::phase::UnknownPhase;
use ona_api::{ConversationId, Phase, SessionId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub struct Reader {
    connection: Mutex<Connection>,
}

/// One row of `conversations`.
#[derive(Debug, PartialEq, Eq)]
pub struct Conversation {
    pub id: ConversationId,
    pub project_dir: String,
    /// An unknown phase must not hide the conversation from a list.
    pub phase: Result<Phase, UnknownPhase>,
    pub created_at: String,
    pub last_active: String,
}

const CONVERSATIONS: &str = "SELECT id, project_dir, phase, created_at, last_active FROM conversations";

impl Reader {
    pub(crate) fn open(path: &Path, busy: Duration) -> Result<Self, StoreError> {
        Ok(Self { connection: Mutex::new(open::reader(path, busy)?) })
    }

    /// Looks at a database before anything is known about this start. Makes nothing and
    /// changes nothing; `None` if the database does not exist yet. Tables of an older version are
    /// no obstacle: what is looked up before a start stands in tables of section 4.3.
    pub fn open_read_only(path: &Path) -> Result<Option<Self>, StoreError> {
        Ok(open::read_only(path, open::BUSY_TIMEOUT, STEPS)?.map(|(connection, _)| Self::over(connection)))
    }

    /// Closing this connection changes nothing in the files from here on.
    pub(crate) fn leave_log_alone(&self) {
        if let Err(error) = self.lock().set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) {
            tracing::debug!(%error, "the log may be written back on closing");
        }
    }

    pub(crate) fn over(connection: Connection) -> Self {
        Self { connection: Mutex::new(connection) }
    }

    /// `settings_snapshot` of scope `effective`: its JSON and when it was written.
    pub fn settings(&self) -> Result<Option<(String, String)>, StoreError> {
        let sql = "SELECT json, updated_at FROM settings_snapshot WHERE scope = 'effective'";
        self.first(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Returns a value of `schema_meta`.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.first("SELECT value FROM schema_meta WHERE key = ?1", [key], |row| row.get(0))
    }

    /// Returns a value of `state`.
    pub fn state(&self, conversation: &ConversationId, key: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT value FROM state WHERE conversation_id = ?1 AND key = ?2";
        Ok(self.first(sql, [conversation.as_str(), key], |row| row.get(0))?.flatten())
    }

    pub fn conversation(&self, id: &ConversationId) -> Result<Option<Conversation>, StoreError> {
        self.first(&format!("{CONVERSATIONS} WHERE id = ?1"), [id.as_str()], conversation)
    }

    /// Returns all conversations, the one used last first.
    pub fn conversations(&self) -> Result<Vec<Conversation>, StoreError> {
        self.all(&format!("{CONVERSATIONS} ORDER BY last_active DESC, rowid DESC"), [], conversation)
    }

    /// Returns the phase of a conversation that exists.
    pub fn phase(&self, id: &ConversationId) -> Result<Option<Phase>, StoreError> {
        let unknown = |UnknownPhase(found)| StoreError::UnknownValue { column: "conversations.phase", found };
        self.conversation(id)?.map(|found| found.phase.map_err(unknown)).transpose()
    }

    /// Returns the conversation a session belongs to.
    pub fn conversation_of(&self, session: &SessionId) -> Result<Option<ConversationId>, StoreError> {
        let sql = "SELECT conversation_id FROM sessions WHERE session_id = ?1";
        self.first(sql, [session.as_str()], |row| Ok(ConversationId(row.get(0)?)))
    }

    /// Returns the newest known digest of each file a session has seen, by path: the
    /// fields `path` and `sha256` of its `file_history_snapshot` rows. A row
    /// without them tells nothing, so its file counts as not seen.
    pub fn file_digests(&self, session: &SessionId) -> Result<BTreeMap<String, String>, StoreError> {
        let sql = "SELECT payload_json FROM transcript_entries \
                   WHERE session_id = ?1 AND entry_type = 'file_history_snapshot' ORDER BY sequence";
        let payloads = self.all(sql, [session.as_str()], |row| row.get::<_, String>(0))?;
        let digest = |payload: String| {
            let payload: Value = serde_json::from_str(&payload).ok()?;
            Some((payload["path"].as_str()?.to_owned(), payload["sha256"].as_str()?.to_owned()))
        };
        Ok(payloads.into_iter().filter_map(digest).collect())
    }

    pub(crate) fn all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        Ok(statement.query_map(params, read)?.collect::<Result<_, _>>()?)
    }

    pub(crate) fn first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        Ok(self.lock().prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    /// A panic in another thread leaves no statement half done, so the
    /// connection is as good as before.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn conversation(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    Ok(Conversation {
        id: ConversationId(row.get(0)?),
        project_dir: row.get(1)?,
        phase: row.get::<_, String>(2)?.parse(),
        created_at: row.get(3)?,
        last_active: row.get(4)?,
    })
}
