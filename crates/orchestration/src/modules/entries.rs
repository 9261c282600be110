//! A session's rows in the words of oh-my-pi: entries and messages.
//!
//! Rows that belong together (a reply and its calls, a result and its exit code) are one
//! item; what no hook knows of goes with the item before it.

use crate::session::Session;
use crate::stored::record;
use ona_api::clock;
use ona_api::row::Block;
use ona_modules::rules::tool::presented;
use ona_store::{Store, StoreError, StoredEntry};
use ona_transcript::{AttachmentRecord, Body, ProgressRecord, Record, Rewinds};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::UNIX_EPOCH;

/// One entry of the session, with the rows it stands for.
pub(super) struct Item {
    sequence: i64,
    parent: Option<i64>,
    created_at: String,
    kind: Kind,
    pub rows: Vec<Record>,
}

enum Kind {
    Message(Value),
    Custom { custom_type: Value, data: Value },
    CustomMessage(Value),
    Compaction { summary: String, preserved: Value },
}

impl Item {
    pub(super) fn id(&self) -> String {
        id(self.sequence)
    }

    /// The last row it stands for: going back to it keeps all of it.
    pub(super) fn end(&self) -> i64 {
        self.rows.last().map_or(self.sequence, |row| row.sequence)
    }

    /// The files its calls were about: what was done with each, by the name hooks know.
    pub(super) fn files(&self) -> Vec<(&'static str, String)> {
        let Kind::Message(message) = &self.kind else { return Vec::new() };
        let used = |call: &Value| {
            let what = match call["name"].as_str()? {
                "read" => "read",
                "write" => "written",
                "edit" | "notebookedit" => "edited",
                _ => return None,
            };
            Some((what, call["arguments"]["path"].as_str()?.to_owned()))
        };
        message["content"].as_array().into_iter().flatten().filter_map(used).collect()
    }

    pub(super) fn is_compaction(&self) -> bool {
        matches!(self.kind, Kind::Compaction { .. })
    }

    /// As the model's context holds it; state of modules is not in it.
    pub(super) fn message(&self) -> Option<Value> {
        let timestamp = millis(&self.created_at);
        match &self.kind {
            Kind::Message(message) => {
                let mut message = message.clone();
                message["timestamp"] = timestamp.into();
                Some(message)
            }
            Kind::CustomMessage(fields) => Some(json!({
                "role": "custom", "customType": fields["custom_type"], "content": fields["content"],
                "display": fields["display"], "details": fields["details"], "timestamp": timestamp,
            })),
            Kind::Compaction { summary, .. } => Some(
                json!({"role": "compactionSummary", "summary": summary, "tokensBefore": 0, "timestamp": timestamp}),
            ),
            Kind::Custom { .. } => None,
        }
    }

    /// As `sessionManager` shows it.
    pub(super) fn entry(&self) -> Option<Value> {
        let mut entry = match &self.kind {
            Kind::Message(_) => json!({"type": "message", "message": self.message()}),
            Kind::Custom { custom_type, data } => json!({"type": "custom", "customType": custom_type, "data": data}),
            Kind::CustomMessage(fields) => json!({
                "type": "custom_message", "customType": fields["custom_type"], "content": fields["content"],
                "display": fields["display"], "details": fields["details"],
            }),
            Kind::Compaction { summary, preserved } => json!({
                "type": "compaction", "summary": summary, "firstKeptEntryId": self.id(), "tokensBefore": 0,
                "preserveData": preserved,
            }),
        };
        entry["id"] = self.id().into();
        entry["parentId"] = self.parent.map(id).into();
        entry["timestamp"] = self.created_at.clone().into();
        Some(entry)
    }
}

/// Eight hexadecimal digits, as hooks expect of an id.
fn id(sequence: i64) -> String {
    format!("{:08x}", sequence & 0xffff_ffff)
}

pub(super) fn read(store: &Store, session: &Session) -> Result<Vec<Item>, StoreError> {
    of(store, &session.place.session)
}

pub(super) fn of(store: &Store, session: &ona_api::SessionId) -> Result<Vec<Item>, StoreError> {
    let (mut rewinds, mut rows) = (Rewinds::default(), Vec::new());
    store.reader()?.each_entry(session, None, |entry| {
        // A row that cannot be read is not a message.
        if let Some(record) = record(&entry) {
            rewinds.push(&record);
            rows.push((entry, record));
        }
    })?;
    let mut reading = Reading::default();
    let counted = rows.into_iter().filter(|(_, record)| rewinds.is_current(record.sequence));
    counted.for_each(|(entry, record)| reading.take(entry, record));
    Ok(reading.items)
}

/// The newest note of this kind about something.
pub(super) fn noted(
    store: &Store,
    session: &ona_api::SessionId,
    kind: &str,
    about: impl Fn(&Value) -> bool,
) -> Result<Value, StoreError> {
    let mut newest = Value::Null;
    store.reader()?.each_entry(session, None, |entry| {
        if entry.entry_type == "attachment" {
            let fields = attachment(&entry.payload);
            if fields["kind"] == kind && about(&fields) {
                newest = fields;
            }
        }
    })?;
    Ok(newest)
}

#[derive(Default)]
struct Reading {
    items: Vec<Item>,
    /// Names of calls, for their results.
    calls: HashMap<String, String>,
}

impl Reading {
    fn take(&mut self, entry: StoredEntry, record: Record) {
        match self.kind(&record, &entry.payload) {
            Some(kind) => {
                let parent = self.items.last().map(|item| item.sequence);
                let created_at = entry.created_at;
                self.items.push(Item { sequence: entry.sequence, parent, created_at, kind, rows: vec![record] });
            }
            None => {
                if let Some(last) = self.items.last_mut() {
                    last.rows.push(record);
                }
            }
        }
    }

    fn kind(&mut self, record: &Record, payload: &str) -> Option<Kind> {
        match &record.body {
            Body::User { content, .. } => {
                let blocks: Vec<_> = content.iter().filter_map(text).collect();
                (!blocks.is_empty()).then(|| Kind::Message(json!({"role": "user", "content": blocks})))
            }
            Body::Assistant { content, .. } => {
                let blocks: Vec<_> = content.iter().filter_map(|block| self.said(block)).collect();
                let calls = content.iter().any(|block| matches!(block, Block::ToolUse { .. }));
                Some(Kind::Message(json!({
                    "role": "assistant", "content": blocks, "stopReason": if calls { "toolUse" } else { "stop" },
                    "usage": usage(0, 0, 0, 0),
                })))
            }
            Body::ToolResult { id, content, is_error } => Some(Kind::Message(json!({
                "role": "toolResult", "toolCallId": id, "toolName": self.calls.get(&id.0),
                "content": [{"type": "text", "text": content}], "isError": is_error,
            }))),
            Body::Progress(ProgressRecord::Usage { model, usage: used, .. }) => {
                if let Some(Item { kind: Kind::Message(message), .. }) = self.items.last_mut() {
                    message["model"] = model.clone().into();
                    message["usage"] =
                        usage(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens);
                }
                None
            }
            Body::CollapseCommit { summary, covers_to, .. } => {
                let covers_to = *covers_to;
                self.items.retain(|item| item.sequence > covers_to);
                // The row has been parsed before, as a record.
                let row: Value = serde_json::from_str(payload).unwrap_or_default();
                Some(Kind::Compaction { summary: summary.clone(), preserved: row["preserve_data"].clone() })
            }
            Body::Attachment(AttachmentRecord::Message { .. }) => Some(Kind::CustomMessage(attachment(payload))),
            Body::Attachment(AttachmentRecord::Other) => {
                let mut fields = attachment(payload);
                if fields["kind"] == "tool_details"
                    && let Some(Item { kind: Kind::Message(message), .. }) = self.items.last_mut()
                    && message["toolCallId"] == fields["tool_use_id"]
                {
                    message["details"] = fields["details"].take();
                }
                let own = fields["kind"] == "custom_entry";
                own.then(|| Kind::Custom { custom_type: fields["custom_type"].clone(), data: fields["data"].clone() })
            }
            _ => None,
        }
    }

    fn said(&mut self, block: &Block) -> Option<Value> {
        match block {
            Block::Text(_) => text(block),
            Block::ToolUse { id, name, input } => {
                let (name, input) = presented(name, input);
                self.calls.insert(id.0.clone(), name.clone());
                Some(json!({"type": "toolCall", "id": id, "name": name, "arguments": input}))
            }
            Block::ToolResult { .. } => None,
        }
    }
}

fn text(block: &Block) -> Option<Value> {
    match block {
        Block::Text(text) => Some(json!({"type": "text", "text": text})),
        Block::ToolUse { .. } | Block::ToolResult { .. } => None,
    }
}

/// The payload has been parsed before, as a record.
fn attachment(payload: &str) -> Value {
    serde_json::from_str::<Value>(payload).map(|mut row| row["attachment"].take()).unwrap_or_default()
}

fn usage(input: u64, output: u64, read: u64, written: u64) -> Value {
    json!({
        "input": input, "output": output, "cacheRead": read, "cacheWrite": written, "totalTokens": input + output,
        "cost": {"total": 0},
    })
}

pub(super) fn now() -> u64 {
    // A clock before 1970 counts as 1970.
    let since = clock::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

/// Milliseconds since 1970 of `2026-01-02 03:04:05` or `2026-01-02T03:04:05.678Z`.
fn millis(text: &str) -> u64 {
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<i64>().ok());
    let parsed = || -> Option<i64> {
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let ms = number(20..23).unwrap_or(0);
        // Days since the epoch, counting years from March.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 719_469;
        Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms)
    };
    parsed().and_then(|ms| u64::try_from(ms).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_of_rows_are_milliseconds() {
        assert_eq!(millis("1970-01-01 00:00:00"), 0);
        assert_eq!(millis("2000-03-01T00:00:00.250Z"), 951_868_800_250);
        assert_eq!(millis("2026-11-15 23:41:01"), 1_794_786_061_000);
        assert_eq!(millis("nonsense"), 0);
    }
}
