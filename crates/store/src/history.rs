//! Transcripts and sessions as they are read back.
//!
//! A session is a query: its rows in the order of their numbers, and a line per
//! session for a list to choose from. What the rows mean is decided in `transcript`,
//! so a row an operator wrote by SQL comes through here as it is.

use crate::error::StoreError;
use crate::reader::Reader;
use ona_api::text::head;
use ona_api::{ConversationId, SessionId};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use serde_json::Value;

/// One row of `transcript_entries`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    pub sequence: i64,
    pub entry_type: String,
    pub payload: String,
    pub tool_use_id: Option<String>,
    pub created_at: String,
}

/// One session as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLine {
    pub id: SessionId,
    pub conversation: ConversationId,
    /// The session whose Agent call made this one (DEC-036).
    pub parent: Option<SessionId>,
    pub project_dir: String,
    pub started_at: String,
    /// When its newest row was written.
    pub last_entry_at: Option<String>,
    pub entries: i64,
    /// The beginning of the first text of a user.
    pub first_user_text: Option<String>,
    pub title: Option<String>,
}

/// Longest `first_user_text`, in characters.
const PREVIEW: usize = 500;

const HISTORY: &str = "SELECT sequence, entry_type, payload_json, tool_use_id, created_at FROM transcript_entries \
    WHERE session_id = ?1 AND sequence > ?2 ORDER BY sequence";

// `newest` is the id, not the time, of the newest row: times have seconds only.
const SESSIONS: &str = "SELECT s.session_id, s.conversation_id, s.started_at, c.project_dir, \
    (SELECT value FROM state WHERE conversation_id = s.conversation_id AND key = 'session_parent:' || s.session_id), \
    (SELECT count(*) FROM transcript_entries WHERE session_id = s.session_id), \
    (SELECT created_at FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1), \
    (SELECT payload_json FROM transcript_entries WHERE session_id = s.session_id AND entry_type = 'user' \
     ORDER BY sequence LIMIT 1), \
    (SELECT payload_json FROM transcript_entries WHERE session_id = s.session_id AND entry_type = 'ai_title' \
     ORDER BY sequence DESC LIMIT 1), \
    (SELECT id FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1) AS newest \
    FROM sessions s JOIN conversations c ON c.id = s.conversation_id \
    WHERE ?1 IS NULL OR s.conversation_id = ?1 ORDER BY newest DESC NULLS LAST, s.rowid DESC";

const NEWEST: &str = "SELECT s.session_id, \
    (SELECT id FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1) AS newest, \
    (SELECT created_at FROM transcript_entries WHERE session_id = s.session_id ORDER BY sequence DESC LIMIT 1) \
    FROM sessions s JOIN conversations c ON c.id = s.conversation_id \
    WHERE c.project_dir = ?1 \
    AND EXISTS (SELECT 1 FROM transcript_entries WHERE session_id = s.session_id AND entry_type = 'user') \
    AND NOT EXISTS (SELECT 1 FROM state WHERE conversation_id = s.conversation_id \
                    AND key = 'session_parent:' || s.session_id) \
    ORDER BY newest DESC LIMIT 1";
/// The newest session that a person or a program began, in which no prompt is recorded and which did not end
/// by itself: a program that was killed before its first row.
const CUT_OFF: &str = "SELECT s.session_id, s.started_at \
    FROM sessions s JOIN conversations c ON c.id = s.conversation_id \
    WHERE c.project_dir = ?1 \
    AND NOT EXISTS (SELECT 1 FROM transcript_entries WHERE session_id = s.session_id AND entry_type = 'user') \
    AND NOT EXISTS (SELECT 1 FROM state WHERE conversation_id = s.conversation_id \
                    AND key IN ('session_parent:' || s.session_id, 'session_unused:' || s.session_id)) \
    AND EXISTS (SELECT 1 FROM events WHERE session_id = s.session_id AND event_type = 'session_created' \
                AND json_extract(detail, '$.by') IN ('print', 'terminal', 'clear')) \
    ORDER BY s.rowid DESC LIMIT 1";

/// The session that `--continue` continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewestSession {
    pub id: SessionId,
    /// A user said something in it.
    pub has_prompt: bool,
}

impl Reader {
    /// Returns the rows of a session whose number is above `after`, in order.
    pub fn history(&self, session: &SessionId, after: Option<i64>) -> Result<Vec<StoredEntry>, StoreError> {
        let mut entries = Vec::new();
        self.each_entry(session, after, |entry| entries.push(entry))?;
        Ok(entries)
    }

    /// `history`, one row at a time, for a session too long to hold twice. The
    /// reader is locked meanwhile: `visit` must not use it.
    pub fn each_entry(
        &self,
        session: &SessionId,
        after: Option<i64>,
        mut visit: impl FnMut(StoredEntry),
    ) -> Result<(), StoreError> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(HISTORY)?;
        let mut rows = statement.query((session.as_str(), after.unwrap_or(i64::MIN)))?;
        while let Some(row) = rows.next()? {
            visit(StoredEntry {
                sequence: row.get(0)?,
                entry_type: text(row, 1)?.unwrap_or_default(),
                payload: text(row, 2)?.unwrap_or_default(),
                tool_use_id: text(row, 3)?,
                created_at: text(row, 4)?.unwrap_or_default(),
            });
        }
        Ok(())
    }

    /// Returns all sessions, or those of one conversation, the one used last first. None
    /// is left out: not a subagent's, not one without a word in it.
    pub fn sessions(&self, conversation: Option<&ConversationId>) -> Result<Vec<SessionLine>, StoreError> {
        self.all(SESSIONS, [conversation.map(ConversationId::as_str)], line)
    }

    /// Returns the text of the newest reply that has one.
    pub fn last_assistant_text(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT payload_json FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'assistant' \
                   ORDER BY sequence DESC";
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([session.as_str()])?;
        while let Some(row) = rows.next()? {
            let found = text(row, 0)?.and_then(|payload| last_text(&payload));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Returns the session of a project that was used last and in which a user said
    /// something: neither a subagent's nor one that only `--eval` wrote to. A session that was cut
    /// off before its first prompt was recorded counts, if it began after everything else and
    /// no process works in it, which `is_held` tells.
    pub fn newest_session(
        &self,
        project_dir: &str,
        is_held: impl Fn(&SessionId) -> bool,
    ) -> Result<Option<NewestSession>, StoreError> {
        let used: Option<(String, Option<String>)> =
            self.first(NEWEST, [project_dir], |row| Ok((row.get(0)?, text(row, 2)?)))?;
        let cut_off: Option<(String, String)> =
            self.first(CUT_OFF, [project_dir], |row| Ok((row.get(0)?, text(row, 1)?.unwrap_or_default())))?;
        let cut_off = cut_off.filter(|(id, _)| !is_held(&SessionId(id.clone())));
        Ok(match (used, cut_off) {
            (Some((_, at)), Some((id, began))) if at.as_ref().is_none_or(|at| began >= *at) => {
                Some(NewestSession { id: SessionId(id), has_prompt: false })
            }
            (Some((id, _)), _) => Some(NewestSession { id: SessionId(id), has_prompt: true }),
            (None, Some((id, _))) => Some(NewestSession { id: SessionId(id), has_prompt: false }),
            (None, None) => None,
        })
    }

    /// Returns what a session is called.
    pub fn title(&self, session: &SessionId) -> Result<Option<String>, StoreError> {
        let sql = "SELECT payload_json FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'ai_title' \
                   ORDER BY sequence DESC LIMIT 1";
        let payload: Option<Option<String>> = self.first(sql, [session.as_str()], |row| text(row, 0))?;
        Ok(payload.flatten().and_then(|payload| title(&payload)))
    }

    /// Returns whether a user said anything in a session.
    pub fn has_prompt(&self, session: &SessionId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'user' LIMIT 1";
        Ok(self.first(sql, [session.as_str()], |_| Ok(()))?.is_some())
    }
}

fn line(row: &Row<'_>) -> rusqlite::Result<SessionLine> {
    Ok(SessionLine {
        id: SessionId(row.get(0)?),
        conversation: ConversationId(row.get(1)?),
        started_at: row.get(2)?,
        project_dir: row.get(3)?,
        parent: row.get::<_, Option<String>>(4)?.map(SessionId),
        entries: row.get(5)?,
        last_entry_at: text(row, 6)?,
        first_user_text: text(row, 7)?.and_then(|payload| said(&payload)),
        title: text(row, 8)?.and_then(|payload| title(&payload)),
    })
}

/// Returns a column as text, whatever SQL has put there: one broken row must not hide
/// the rest of a session.
pub(crate) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    })
}

/// Returns the first text of a `user` payload.
fn said(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    let text = match &payload["content"] {
        Value::String(text) => text,
        Value::Array(blocks) => blocks.iter().find_map(|block| block["text"].as_str())?,
        _ => return None,
    };
    Some(head(text, PREVIEW).0.to_owned())
}

/// Returns the last text of an `assistant` payload.
fn last_text(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    let text = |block: &Value| (block["type"] == "text").then(|| block["text"].as_str().map(str::to_owned))?;
    payload["content"].as_array()?.iter().rev().find_map(text)
}

fn title(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    Some(payload["title"].as_str()?.to_owned())
}
