//! Plans: `plans.content` is the authority, and a plan's status moves only from
//! where the caller saw it (section 4.6).
//!
//! Which changes are allowed when is the workflow's business.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::row_writer::{RowWriter, cells};
use ona_api::{ConversationId, PlanStatus, digest};
use rusqlite::Row;

/// One row of `plans`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPlan {
    pub id: i64,
    pub conversation: ConversationId,
    pub file_path: Option<String>,
    pub content: String,
    /// SHA-256 of `content`, in hexadecimal.
    pub hash: String,
    pub status: PlanStatus,
    pub created_at: String,
    pub approved_at: Option<String>,
    pub completed_at: Option<String>,
}

pub(crate) fn draft(
    writer: &RowWriter<'_>,
    conversation: &str,
    content: &str,
    file_path: Option<&str>,
) -> Result<i64, StoreError> {
    let older = "UPDATE plans SET status = 'superseded' WHERE conversation_id = ?1 AND status = 'draft'";
    writer.run(older, cells![conversation])?;
    // Of the text as it is stored, so that it can be recomputed.
    let hash = digest::sha256_hex(writer.clean(content).as_bytes());
    let sql = "INSERT INTO plans(conversation_id, file_path, content, hash) VALUES (?1, ?2, ?3, ?4)";
    writer.insert(sql, cells![conversation, file_path, content, &hash])
}

/// Sets a status and the time that goes with it, for the rows `WHERE` names.
macro_rules! set_status {
    ($condition:literal) => {
        concat!(
            "UPDATE plans SET status = ?1, \
             approved_at = CASE ?1 WHEN 'approved' THEN datetime('now') ELSE approved_at END, \
             completed_at = CASE ?1 WHEN 'completed' THEN datetime('now') ELSE completed_at END WHERE ",
            $condition
        )
    };
}

pub(crate) fn change_status(
    writer: &RowWriter<'_>,
    id: i64,
    from: PlanStatus,
    to: PlanStatus,
) -> Result<(), StoreError> {
    let found: Option<String> = writer.first("SELECT status FROM plans WHERE id = ?1", cells![id], |row| row.get(0))?;
    let found = found.ok_or(StoreError::NoPlan(id))?;
    if found != from.as_str() {
        return Err(StoreError::PlanMoved { id, expected: from, found });
    }
    writer.run(set_status!("id = ?2"), cells![to.as_str(), id])?;
    Ok(())
}

pub(crate) fn retire_approved(writer: &RowWriter<'_>, conversation: &str, to: PlanStatus) -> Result<(), StoreError> {
    writer.run(set_status!("conversation_id = ?2 AND status = 'approved'"), cells![to.as_str(), conversation])?;
    Ok(())
}

const COLUMNS: &str =
    "SELECT id, conversation_id, file_path, content, hash, status, created_at, approved_at, completed_at FROM plans";

impl Reader {
    /// Returns all plans of a conversation, oldest first.
    pub fn plans(&self, conversation: &ConversationId) -> Result<Vec<StoredPlan>, StoreError> {
        let sql = format!("{COLUMNS} WHERE conversation_id = ?1 ORDER BY id");
        self.all(&sql, [conversation.as_str()], plan)?.into_iter().collect()
    }

    pub fn plan(&self, id: i64) -> Result<Option<StoredPlan>, StoreError> {
        self.first(&format!("{COLUMNS} WHERE id = ?1"), [id], plan)?.transpose()
    }

    /// Returns the approved plan of a conversation; the newest, if SQL has made several.
    pub fn approved_plan(&self, conversation: &ConversationId) -> Result<Option<StoredPlan>, StoreError> {
        let sql = format!("{COLUMNS} WHERE conversation_id = ?1 AND status = 'approved' ORDER BY id DESC LIMIT 1");
        self.first(&sql, [conversation.as_str()], plan)?.transpose()
    }

    pub fn has_approved_plan(&self, conversation: &ConversationId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM plans WHERE conversation_id = ?1 AND status = 'approved' LIMIT 1";
        Ok(self.first(sql, [conversation.as_str()], |_| Ok(()))?.is_some())
    }
}

fn plan(row: &Row<'_>) -> rusqlite::Result<Result<StoredPlan, StoreError>> {
    let status: String = row.get(5)?;
    let Some(status) = status_from(&status) else {
        return Ok(Err(StoreError::UnknownValue { column: "plans.status", found: status }));
    };
    Ok(Ok(StoredPlan {
        id: row.get(0)?,
        conversation: ConversationId(row.get(1)?),
        file_path: row.get(2)?,
        content: row.get(3)?,
        hash: row.get(4)?,
        status,
        created_at: row.get(6)?,
        approved_at: row.get(7)?,
        completed_at: row.get(8)?,
    }))
}

fn status_from(text: &str) -> Option<PlanStatus> {
    use PlanStatus::{Approved, Completed, Draft, Superseded};
    [Draft, Approved, Completed, Superseded].into_iter().find(|status| status.as_str() == text)
}
