//! What users wrote in a project, newest first: the history that a composer walks through.

use crate::error::StoreError;
use crate::history::text;
use crate::reader::Reader;
use rusqlite::params;
use serde_json::Value;

// Sessions of agents have a parent; what is written there is not the user's.
const PROMPTS: &str = "SELECT t.payload_json FROM transcript_entries t \
    JOIN sessions s ON s.session_id = t.session_id JOIN conversations c ON c.id = s.conversation_id \
    WHERE t.entry_type = 'user' AND c.project_dir = ?1 \
    AND NOT EXISTS (SELECT 1 FROM state WHERE conversation_id = s.conversation_id \
                    AND key = 'session_parent:' || s.session_id) \
    ORDER BY t.id DESC LIMIT ?2";

impl Reader {
    /// Returns the texts of the newest prompts of a project, the oldest first. A row that cannot be read is left out.
    pub fn newest_prompts(&self, project_dir: &str, limit: usize) -> Result<Vec<String>, StoreError> {
        let payloads = self.all(PROMPTS, params![project_dir, limit as i64], |row| text(row, 0))?;
        let mut prompts: Vec<_> = payloads.into_iter().flatten().filter_map(|payload| prompt(&payload)).collect();
        prompts.reverse();
        Ok(prompts)
    }
}

fn prompt(payload: &str) -> Option<String> {
    let payload: Value = serde_json::from_str(payload).ok()?;
    let text = match &payload["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}
