//! The rows that the usage of a session is computed from: its prompts and usage, and the
//! usage of the sessions its Agent calls created, however deep, in the order they were
//! written. The sums are made in `transcript`.

use crate::error::StoreError;
use crate::history::{StoredEntry, text};
use crate::reader::Reader;
use ona_api::SessionId;

/// The family is found through `state`, where each child names its parent (DEC-036).
/// UNION, not UNION ALL: rows written by SQL may name each other in a circle.
const ACCOUNT: &str = "WITH RECURSIVE family(id) AS (SELECT ?1 UNION \
    SELECT substr(state.key, 16) FROM state JOIN family ON state.value = family.id \
    WHERE state.key LIKE 'session\\_parent:%' ESCAPE '\\' \
    AND state.conversation_id = (SELECT conversation_id FROM sessions WHERE session_id = ?1)) \
    SELECT t.sequence, t.entry_type, t.payload_json, t.tool_use_id, t.created_at, t.session_id = ?1 \
    FROM family JOIN transcript_entries t ON t.session_id = family.id \
    WHERE t.id > ?2 AND (t.entry_type = 'progress' OR t.entry_type = 'user' AND t.session_id = ?1) ORDER BY t.id";

impl Reader {
    /// Returns the newest row of any session, after which later usage is counted.
    pub fn newest_entry(&self) -> Result<i64, StoreError> {
        let newest = self.first("SELECT max(id) FROM transcript_entries", [], |row| row.get::<_, Option<i64>>(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// The rows written after the row with id `after`. `own` is false for a subagent's.
    /// The reader is locked meanwhile: `visit` must not use it.
    pub fn each_usage_row(
        &self,
        session: &SessionId,
        after: i64,
        mut visit: impl FnMut(bool, StoredEntry),
    ) -> Result<(), StoreError> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(ACCOUNT)?;
        let mut rows = statement.query((session.as_str(), after))?;
        while let Some(row) = rows.next()? {
            let entry = StoredEntry {
                sequence: row.get(0)?,
                entry_type: text(row, 1)?.unwrap_or_default(),
                payload: text(row, 2)?.unwrap_or_default(),
                tool_use_id: text(row, 3)?,
                created_at: text(row, 4)?.unwrap_or_default(),
            };
            visit(row.get(5)?, entry);
        }
        Ok(())
    }
}
