//! Which row a transcript row answers to (DEC-030, DEC-037).
//!
//! `of` decides from the entry alone, `find` looks the row up inside the
//! writer's transaction, so that a parent may be part of the same group.

use crate::error::StoreError;
use crate::row_writer::{RowWriter, cells};
use ona_api::{CallId, Entry, SessionId};
use serde_json::Value;

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
        Entry::System(_) | Entry::Progress { .. } | Entry::CollapseCommit { .. } => ParentRef::Nothing,
    }
}

const CALL: &str = "SELECT id FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type = 'tool_use' AND tool_use_id = ?2 ORDER BY sequence DESC LIMIT 1";
const REPLY: &str = "SELECT id, payload_json FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type = 'assistant' ORDER BY sequence DESC LIMIT 1";
const PROMPT: &str = "SELECT id FROM transcript_entries \
    WHERE session_id = ?1 AND entry_type IN ('user', 'tool_result') ORDER BY sequence DESC LIMIT 1";

pub(crate) fn find(
    writer: &RowWriter<'_>,
    session: &SessionId,
    parent: &ParentRef<'_>,
) -> Result<Option<i64>, StoreError> {
    let session = session.as_str();
    let reply = || writer.first(REPLY, cells![session], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)));
    match parent {
        ParentRef::Nothing => Ok(None),
        ParentRef::Call(call) => writer.first(CALL, cells![session, call.as_str()], |row| row.get(0)),
        ParentRef::Prompt => writer.first(PROMPT, cells![session], |row| row.get(0)),
        ParentRef::Reply => Ok(reply()?.map(|(id, _)| id)),
        ParentRef::ReplyWith(call) => {
            let call = writer.clean(call.as_str());
            Ok(reply()?.filter(|(_, payload)| holds_call(payload, &call)).map(|(id, _)| id))
        }
    }
}

/// Returns whether an assistant payload has a `tool_use` block with this id. A payload
/// that is not JSON, which only foreign SQL can have written, holds nothing.
fn holds_call(payload: &str, call: &str) -> bool {
    let payload: Value = serde_json::from_str(payload).unwrap_or_default();
    let blocks = payload["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    blocks.iter().any(|block| block["type"] == "tool_use" && block["id"] == call)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let held: Vec<_> = ["c0", "c1", "c2", "c3"].into_iter().filter(|call| holds_call(&payload, call)).collect();
        assert_eq!(held, ["c1"]);
        assert!(!holds_call("not json", "c1"));
    }
}
