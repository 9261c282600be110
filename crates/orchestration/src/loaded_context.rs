//! What of instructions and memories still stands in a session's context, by its rows.

use crate::stored::record;
use ona_api::SessionId;
use ona_store::{Reader, StoreError, StoredEntry};
use ona_transcript::{Body, Rewinds};
use serde_json::Value;
use std::path::PathBuf;

/// Neither covered by a summary nor left behind by a turn back.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadedContext {
    pub instructions: Vec<PathBuf>,
    pub memories: Vec<String>,
}

pub(crate) fn loaded_context(reader: &Reader, session: &SessionId) -> Result<LoadedContext, StoreError> {
    let mut rows = Vec::new();
    reader.each_context_attachment(session, |row| rows.push(row))?;
    Ok(standing(&rows))
}

fn standing(rows: &[StoredEntry]) -> LoadedContext {
    let mut rewinds = Rewinds::default();
    let mut summaries = Vec::new();
    for row in rows.iter().filter(|row| row.entry_type != "attachment") {
        // A row that cannot be read rewinds nothing and covers nothing.
        let Some(record) = record(row) else { continue };
        rewinds.push(&record);
        if let Body::CollapseCommit { covers_to, .. } = record.body {
            summaries.push((row.sequence, covers_to));
        }
    }
    let covered = summaries.into_iter().filter(|(at, _)| rewinds.is_current(*at)).map(|(_, to)| to).max();
    let mut given = LoadedContext::default();
    for row in rows.iter().filter(|row| row.entry_type == "attachment") {
        if covered.is_some_and(|covered| row.sequence <= covered) || !rewinds.is_current(row.sequence) {
            continue;
        }
        // A row that is not JSON, which only foreign SQL can have written, names nothing.
        let named: Value = serde_json::from_str(&row.payload).unwrap_or_default();
        given
            .instructions
            .extend(named["path"].as_str().filter(|_| named["source"] == "instructions").map(PathBuf::from));
        given.memories.extend(named["memory_id"].as_str().filter(|_| named["source"] == "memory").map(str::to_owned));
    }
    given
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(sequence: i64, entry_type: &str, payload: Value) -> StoredEntry {
        let payload = payload.to_string();
        StoredEntry { sequence, entry_type: entry_type.into(), payload, tool_use_id: None, created_at: String::new() }
    }

    fn memory(sequence: i64, id: &str) -> StoredEntry {
        row(sequence, "attachment", json!({"source": "memory", "memory_id": id}))
    }

    #[test]
    fn summaries_cover_and_turns_leave_behind() {
        let file = row(1, "attachment", json!({"source": "instructions", "path": "/p/CLAUDE.md"}));
        let summary = |at, to| row(at, "collapse_commit", json!({"summary": "s", "covers_to_sequence": to}));
        let back = |at, to| row(at, "system", json!({"subtype": ona_api::SystemEntry::REWOUND, "to_sequence": to}));
        let memories = |rows: &[StoredEntry]| standing(rows).memories.join(" ");

        let all = [file.clone(), memory(2, "a"), memory(3, "b")];
        assert_eq!(
            standing(&all),
            LoadedContext { instructions: vec!["/p/CLAUDE.md".into()], memories: vec!["a".into(), "b".into()] }
        );
        let covered = [file, memory(2, "a"), summary(4, 2), memory(5, "c")];
        assert_eq!(standing(&covered), LoadedContext { instructions: vec![], memories: vec!["c".into()] });
        assert_eq!(memories(&[memory(1, "a"), memory(3, "b"), back(5, 2), memory(6, "c")]), "a c");
        // A summary that was left behind covers nothing.
        assert_eq!(memories(&[memory(1, "a"), summary(3, 2), back(5, 2), memory(6, "c")]), "a c");
    }
}
