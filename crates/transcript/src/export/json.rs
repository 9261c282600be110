//! A session as one JSON object, its payloads byte for byte as they are stored.

use super::ExportHead;
use crate::record::RawRow;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Document<'a> {
    session_id: &'a str,
    conversation_id: &'a str,
    parent_session_id: Option<&'a str>,
    project_dir: &'a str,
    started_at: &'a str,
    title: Option<&'a str>,
    ona_version: &'a str,
    account: Value,
    entries: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    sequence: i64,
    entry_type: &'a str,
    created_at: &'a str,
    tool_use_id: Option<&'a str>,
    payload: Payload<'a>,
}

impl<'a> Entry<'a> {
    fn of(row: &RawRow<'a>) -> Self {
        Entry {
            sequence: row.sequence,
            entry_type: row.entry_type,
            created_at: row.created_at,
            tool_use_id: row.tool_use_id,
            payload: serde_json::from_str(row.payload).map_or(Payload::Text(row.payload), Payload::Json),
        }
    }
}

/// A payload that is not JSON is written as a string.
#[derive(Serialize)]
#[serde(untagged)]
enum Payload<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

pub fn json(head: &ExportHead, rows: &[RawRow<'_>]) -> String {
    let document = Document {
        session_id: head.session.as_str(),
        conversation_id: head.conversation.as_str(),
        parent_session_id: head.parent.as_ref().map(|parent| parent.as_str()),
        project_dir: &head.project_dir,
        started_at: &head.started_at,
        title: head.title.as_deref(),
        ona_version: &head.version,
        account: head.account.json(&head.prices),
        entries: rows.iter().map(Entry::of).collect(),
    };
    let mut text = serde_json::to_string(&document).expect("strings, numbers and checked JSON can be written");
    text.push('\n');
    text
}
