//! Attachments that a model received besides prompts and results: instruction files and
//! memories, named in the `source` of their rows. Which of them still count after
//! summaries and rewinds is decided by the caller.

use crate::error::StoreError;
use crate::history::{StoredEntry, text};
use crate::reader::Reader;
use ona_api::SessionId;

// Of an attachment only what it is called: its text, or a picture, may be long. Rows
// written by SQL may hold anything: nothing is extracted from what is not JSON.
const GIVEN: &str = "SELECT sequence, entry_type, CASE WHEN entry_type = 'attachment' THEN json_object(\
        'source', json_extract(payload_json, '$.attachment.source'), \
        'path', json_extract(payload_json, '$.attachment.path'), \
        'memory_id', json_extract(payload_json, '$.attachment.memory_id')) ELSE payload_json END \
    FROM transcript_entries WHERE session_id = ?1 AND (entry_type IN ('system', 'collapse_commit') \
    OR entry_type = 'attachment' AND CASE WHEN json_valid(payload_json) \
       THEN json_extract(payload_json, '$.attachment.source') IN ('instructions', 'memory') END) ORDER BY sequence";

impl Reader {
    /// Those attachments as `{source, path, memory_id}`, and the rows that say what still
    /// counts. The reader is locked meanwhile: `visit` must not use it.
    pub fn each_context_attachment(
        &self,
        session: &SessionId,
        mut visit: impl FnMut(StoredEntry),
    ) -> Result<(), StoreError> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(GIVEN)?;
        let mut rows = statement.query([session.as_str()])?;
        while let Some(row) = rows.next()? {
            visit(StoredEntry {
                sequence: row.get(0)?,
                entry_type: text(row, 1)?.unwrap_or_default(),
                payload: text(row, 2)?.unwrap_or_default(),
                tool_use_id: None,
                created_at: String::new(),
            });
        }
        Ok(())
    }
}
