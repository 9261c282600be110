//! What a session's model was already given beside prompts and results: instruction files
//! and memories. Attachment rows say so in their `source`.

use crate::error::StoreError;
use crate::reader::Reader;
use ona_api::SessionId;

/// What still stands in the context: rows that a summary covers do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Paths of instruction files.
    pub instructions: Vec<String>,
    /// Ids of memories.
    pub memories: Vec<String>,
}

// Rows written by SQL may hold anything: nothing is extracted from what is no JSON.
const GIVEN: &str = "SELECT source, name FROM (\
    SELECT sequence, \
    CASE WHEN json_valid(payload_json) THEN json_extract(payload_json, '$.attachment.source') END AS source, \
    CASE WHEN json_valid(payload_json) THEN \
        coalesce(json_extract(payload_json, '$.attachment.path'), json_extract(payload_json, '$.attachment.memory_id')) \
    END AS name \
    FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'attachment' AND sequence > \
    (SELECT coalesce(max(CASE WHEN json_valid(payload_json) THEN \
        min(sequence, coalesce(json_extract(payload_json, '$.covers_to_sequence'), sequence)) END), -1) \
     FROM transcript_entries WHERE session_id = ?1 AND entry_type = 'collapse_commit')) \
    WHERE source IN ('instructions', 'memory') AND typeof(name) = 'text' ORDER BY sequence";

impl Reader {
    pub fn given(&self, session: &SessionId) -> Result<Given, StoreError> {
        let rows =
            self.all(GIVEN, [session.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let mut given = Given::default();
        for (source, name) in rows {
            match source.as_str() {
                "instructions" => given.instructions.push(name),
                _ => given.memories.push(name),
            }
        }
        Ok(given)
    }
}
