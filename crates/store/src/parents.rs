//! Which row a transcript row answers to (DEC-030, DEC-037).
//!
//! `of` decides from the entry alone, `Parents` looks the row up inside the
//! writer's transaction, so that a parent may be part of the same group.

use crate::error::StoreError;
use crate::row_writer::{RowWriter, cells};
use ona_api::{CallId, Entry, SessionId};
use rusqlite::Row;
use serde_json::Value;
use std::collections::HashSet;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParentRef<'e> {
    Nothing,
    /// The `tool_use` row of this call.
    Call(&'e CallId),
    /// The newest assistant row, if it holds this call.
    ReplyWith(&'e CallId),
    /// The newest assistant row.
    Reply,
    /// The newest prompt or result.
    Prompt,
}

pub(crate) fn of(entry: &Entry) -> ParentRef<'_> {
    match entry {
        Entry::User { .. } => ParentRef::Reply,
        Entry::Assistant { .. } => ParentRef::Prompt,
        Entry::ToolUse { id, .. } => ParentRef::ReplyWith(id),
        Entry::ToolResult { id, .. } => ParentRef::Call(id),
        Entry::Attachment { call, .. }
        | Entry::InternalHook { call, .. }
        | Entry::ContentReplacement { call, .. }
        | Entry::FileHistorySnapshot { call, .. } => call.as_ref().map_or(ParentRef::Nothing, ParentRef::Call),
        Entry::System(_) | Entry::Progress { .. } | Entry::CollapseCommit { .. } | Entry::Title(_) => {
            ParentRef::Nothing
        }
    }
}

const CALL: &str = "SELECT id FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type = 'tool_use' AND tool_use_id = ?2 ORDER BY sequence DESC LIMIT 1";
const REPLY: &str = "SELECT id, payload_json FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type = 'assistant' ORDER BY sequence DESC LIMIT 1";
const PROMPT: &str = "SELECT id FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type IN ('user', 'tool_result') ORDER BY sequence DESC LIMIT 1";

/// Looks parents up for the rows of one group. The newest reply is read and parsed once for all
/// its calls: a reply with ten thousand calls would otherwise be parsed ten thousand times while
/// the write lock is held. No other writer can change it before the group is committed.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    reply: Option<Option<NewestReply>>,
}

#[derive(Debug)]
struct NewestReply {
    id: i64,
    calls: HashSet<String>,
}

impl Parents {
    pub(crate) fn find(
        &mut self,
        writer: &RowWriter<'_>,
        session: &SessionId,
        parent: &ParentRef<'_>,
    ) -> Result<Option<i64>, StoreError> {
        match parent {
            ParentRef::Nothing => Ok(None),
            ParentRef::Call(call) => writer.first(CALL, cells![session.as_str(), call.as_str()], |row| row.get(0)),
            ParentRef::Prompt => writer.first(PROMPT, cells![session.as_str()], |row| row.get(0)),
            ParentRef::Reply => Ok(self.reply(writer, session)?.map(|reply| reply.id)),
            ParentRef::ReplyWith(call) => {
                let call = writer.clean(call.as_str());
                let reply = self.reply(writer, session)?.filter(|reply| reply.calls.contains(&*call));
                Ok(reply.map(|reply| reply.id))
            }
        }
    }

    /// Takes note of rows that were added: a reply among them is the newest from now on.
    pub(crate) fn added(&mut self, entry: &Entry) {
        if matches!(entry, Entry::Assistant { .. }) {
            self.reply = None;
        }
    }

    fn reply(&mut self, writer: &RowWriter<'_>, session: &SessionId) -> Result<Option<&NewestReply>, StoreError> {
        if self.reply.is_none() {
            let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
            let newest = writer.first(REPLY, cells![session.as_str()], read)?;
            self.reply = Some(newest.map(|(id, payload)| NewestReply { id, calls: calls(&payload) }));
        }
        Ok(self.reply.as_ref().and_then(Option::as_ref))
    }
}

/// Returns the ids of the `tool_use` blocks of an assistant payload. A payload that is not JSON,
/// which only foreign SQL can have written, has none.
fn calls(payload: &str) -> HashSet<String> {
    let payload: Value = serde_json::from_str(payload).unwrap_or_default();
    let blocks = payload["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let made = blocks.iter().filter(|block| block["type"] == "tool_use");
    made.filter_map(|block| block["id"].as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::SCHEMA;
    use ona_api::Redactor;
    use rusqlite::{Connection, StatementStatus, params_from_iter};
    use serde_json::{Map, json};

    #[test]
    fn what_belongs_to_a_call_hangs_on_the_call() {
        let call = CallId::from("c1");
        let fields = Map::new();
        assert_eq!(
            of(&Entry::ToolResult { id: call.clone(), content: String::new(), is_error: false }),
            ParentRef::Call(&call)
        );
        assert_eq!(
            of(&Entry::InternalHook { fields: fields.clone(), call: Some(call.clone()) }),
            ParentRef::Call(&call)
        );
        assert_eq!(of(&Entry::InternalHook { fields: fields.clone(), call: None }), ParentRef::Nothing);
        assert_eq!(of(&Entry::CollapseCommit { fields }), ParentRef::Nothing);
    }

    #[test]
    fn a_reply_holds_a_call_only_as_a_tool_use_block() {
        let payload = json!({"content": [
            {"type": "text", "text": "c0"},
            {"type": "tool_use", "id": "c1", "name": "Read", "input": {"id": "c2"}},
            {"type": "tool_result", "tool_use_id": "c3", "id": "c3"},
        ]})
        .to_string();
        assert_eq!(calls(&payload), HashSet::from(["c1".to_owned()]));
        assert!(calls("not json").is_empty());
    }

    /// A session with one reply of 10,000 calls, each with its result.
    fn long_session() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        connection
            .execute_batch(
                r#"INSERT INTO conversations(id, project_dir) VALUES ('k', '/p');
                INSERT INTO sessions(session_id, conversation_id) VALUES ('s', 'k');
                CREATE TEMP TABLE numbers AS WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 10000) SELECT n FROM n;
                INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json) VALUES ('s', 0, 'assistant',
                  '{"content":[{"type":"tool_use","id":"c1"},{"type":"tool_use","id":"c2"}]}');
                INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id)
                  SELECT 's', n, 'tool_use', '{}', 'c' || n FROM numbers;
                INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id)
                  SELECT 's', 10000 + n, 'tool_result', '{}', 'c' || n FROM numbers;"#,
            )
            .unwrap();
        connection
    }

    #[test]
    fn a_parent_is_found_without_looking_through_the_session() {
        let connection = long_session();
        for (sql, values) in [(CALL, &["s", "c1"][..]), (REPLY, &["s"]), (PROMPT, &["s"])] {
            let mut statement = connection.prepare(sql).unwrap();
            let found = statement.query_row(params_from_iter(values), |row| row.get::<_, i64>(0)).unwrap();
            assert!(found > 0);
            let steps = statement.get_status(StatementStatus::VmStep);
            assert!(steps < 100, "{steps} steps for {sql}");
        }
    }

    #[test]
    fn the_newest_reply_is_read_once_for_a_group() {
        let connection = long_session();
        let redactor = Redactor::default();
        let writer = RowWriter { connection: &connection, redactor: &redactor };
        let mut parents = Parents::default();
        let (session, c1, c2) = (SessionId::from("s"), CallId::from("c1"), CallId::from("c2"));
        assert_eq!(parents.find(&writer, &session, &ParentRef::ReplyWith(&c1)).unwrap(), Some(1));
        let unread = "UPDATE transcript_entries SET payload_json = 'not read again' WHERE entry_type = 'assistant'";
        connection.execute(unread, []).unwrap();
        assert_eq!(parents.find(&writer, &session, &ParentRef::ReplyWith(&c2)).unwrap(), Some(1));
        parents.added(&Entry::Assistant { uuid: String::new(), content: Vec::new() });
        assert_eq!(parents.find(&writer, &session, &ParentRef::ReplyWith(&c2)).unwrap(), None);
    }
}
