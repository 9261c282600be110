//! The rows that the usage of a session is computed from: its prompts and usage, and the
//! usage of the sessions its Agent calls created, however deep, in the order they were
//! written. The sums are made in `transcript`.

use crate::error::StoreError;
use crate::history::{StoredEntry, text};
use crate::reader::Reader;
use ona_api::SessionId;

/// The family is found through `state`, where each child names its parent (DEC-036).
/// UNION, not UNION ALL: rows written by SQL may name each other in a circle.
macro_rules! usage_rows {
    ($from:literal) => {
        concat!(
            "WITH RECURSIVE family(id) AS (SELECT ?1 UNION \
             SELECT substr(state.key, 16) FROM state JOIN family ON state.value = family.id \
             WHERE state.key LIKE 'session\\_parent:%' ESCAPE '\\' \
             AND state.conversation_id = (SELECT conversation_id FROM sessions WHERE session_id = ?1)) \
             SELECT t.sequence, t.entry_type, t.payload_json, t.tool_use_id, t.created_at, t.session_id = ?1, t.id FROM ",
            $from,
            " WHERE t.id > ?2 AND (t.entry_type = 'progress' OR t.entry_type = 'user' AND t.session_id = ?1) \
             ORDER BY t.id"
        )
    };
}

/// Of whole sessions.
const ALL: &str = usage_rows!("family JOIN transcript_entries t ON t.session_id = family.id");
/// Of the rows since a certain one, by their ids: what a turn has written is looked at, and not
/// the whole session once a turn.
const SINCE: &str = usage_rows!("transcript_entries t NOT INDEXED CROSS JOIN family ON t.session_id = family.id");

impl Reader {
    /// Returns the newest row of any session, after which later usage is counted.
    pub fn newest_entry(&self) -> Result<i64, StoreError> {
        let newest = self.first("SELECT max(id) FROM transcript_entries", [], |row| row.get::<_, Option<i64>>(0))?;
        Ok(newest.flatten().unwrap_or(0))
    }

    /// The rows written after the row with id `after`. `own` is false for a subagent's. Returns
    /// the id of the last of them.
    /// The reader is locked meanwhile: `visit` must not use it.
    pub fn each_usage_row(
        &self,
        session: &SessionId,
        after: i64,
        mut visit: impl FnMut(bool, StoredEntry),
    ) -> Result<i64, StoreError> {
        let mut last = after;
        let connection = self.lock();
        let mut statement = connection.prepare_cached(if after > 0 { SINCE } else { ALL })?;
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
            last = row.get(6)?;
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SCHEMA;
    use rusqlite::{Connection, StatementStatus};

    #[test]
    fn the_usage_of_a_turn_is_found_without_looking_through_the_session() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection
            .execute_batch(
                "INSERT INTO conversations(id, project_dir) VALUES ('k', '/p');
                INSERT INTO sessions(session_id, conversation_id) VALUES ('s', 'k'), ('other', 'k');
                INSERT INTO state(conversation_id, key, value) VALUES ('k', 'session_parent:child', 's');
                INSERT INTO sessions(session_id, conversation_id) VALUES ('child', 'k');
                INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json)
                  WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 10000) SELECT 's', n, 'progress', '{}' FROM n;
                INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json)
                  VALUES ('child', 0, 'progress', '{}'), ('child', 1, 'user', '{}'), ('other', 0, 'progress', '{}'), ('s', 10001, 'user', '{}');",
            )
            .unwrap();
        let read = |sql: &str, after: i64| {
            let mut statement = connection.prepare(sql).unwrap();
            let rows = statement.query_map(("s", after), |row| row.get::<_, i64>(0)).unwrap();
            let rows: Vec<i64> = rows.map(Result::unwrap).collect();
            (rows, statement.get_status(StatementStatus::VmStep))
        };
        let (rows, steps) = read(SINCE, 9_999);
        assert_eq!(rows, [10_000, 0, 10_001]);
        assert!(steps < 1_000, "{steps}");
        assert_eq!(read(ALL, 9_999).0, rows, "both ask for the same rows");
    }
}
