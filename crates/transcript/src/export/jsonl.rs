//! A session as the lines that usage counters and status lines read.
//!
//! Such programs look for lines of type `assistant` with `message.model` and
//! `message.usage`, tell repeated lines by `message.id` and `requestId`, and take
//! the newest main-chain line for the size of the context. So a reply is one line
//! here and its usage is counted once, however it is summed up. What only the
//! runtime needs (hooks, snapshots, progress) has no line.

use super::ExportHead;
use crate::cost::{ModelUsage, TokenUsage, counted};
use crate::prices::Prices;
use crate::record::{AttachmentRecord, Body, ProgressRecord, RawRow, Record};
use ona_api::digest::sha256_hex;
use ona_api::model::{Part, Usage};
use ona_api::row::Block;
use ona_api::{CallId, SessionId, ToolCall};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Who "said" a call that no model made; counters skip this name.
const SYNTHETIC: &str = "<synthetic>";
const UNKNOWN_MODEL: &str = "unknown";

pub fn jsonl(head: &ExportHead, rows: &[RawRow<'_>]) -> String {
    let mut lines = JsonlWriter::of(JsonlContext {
        session: head.session.clone(),
        is_subagent: head.parent.is_some(),
        cwd: head.project_dir.clone(),
        version: head.version.clone(),
        prices: head.prices.clone(),
    });
    lines.take(rows)
}

/// What every line repeats.
#[derive(Clone, Debug)]
pub struct JsonlContext {
    pub session: SessionId,
    pub is_subagent: bool,
    pub cwd: String,
    pub version: String,
    pub prices: Prices,
}

/// The lines of a session that grows. Rows come in whole groups, because a reply and what it
/// used are two rows of one group and one line.
#[derive(Debug)]
pub struct JsonlWriter {
    head: JsonlContext,
    text: String,
    /// The line before.
    parent: Option<String>,
    /// Calls that are part of a reply.
    replied: HashSet<CallId>,
}

impl JsonlWriter {
    pub fn of(head: JsonlContext) -> Self {
        Self { head, text: String::new(), parent: None, replied: HashSet::new() }
    }

    /// Returns the lines of the rows that follow those taken before.
    pub fn take(&mut self, rows: &[RawRow<'_>]) -> String {
        let mut rows = rows.iter().filter_map(|raw| Some((raw, Record::parse(*raw).ok()?))).peekable();
        while let Some((raw, record)) = rows.next() {
            let after = match rows.peek() {
                Some((_, usage @ Record { body: Body::Progress(ProgressRecord::Usage { .. }), .. })) => {
                    let mut spent = TokenUsage::default();
                    spent.push(usage);
                    spent.shares().first().cloned()
                }
                _ => None,
            };
            self.row(raw, &record, after.as_ref());
        }
        std::mem::take(&mut self.text)
    }

    fn row(&mut self, raw: &RawRow<'_>, record: &Record, used: Option<&ModelUsage>) {
        match &record.body {
            Body::User { uuid, content } => {
                self.message(raw, uuid, "user", json!({"role": "user", "content": blocks(content)}), json!({}));
            }
            Body::Assistant { uuid, content } => self.reply(raw, uuid, content, used),
            Body::ToolUse(call) if !self.replied.contains(&call.id) => self.lone(raw, call),
            Body::ToolResult { id, content, is_error } => {
                let block = Block::ToolResult { id: id.clone(), content: content.clone(), is_error: *is_error };
                self.message(raw, "", "user", json!({"role": "user", "content": [block.json()]}), json!({}));
            }
            Body::Attachment(AttachmentRecord::Picture { part, .. }) => {
                let content: Vec<_> = part_block(part).into_iter().collect();
                self.message(raw, "", "user", json!({"role": "user", "content": content}), json!({"isMeta": true}));
            }
            Body::Attachment(AttachmentRecord::Text(text)) => {
                let content = json!([{"type": "text", "text": text}]);
                self.message(raw, "", "user", json!({"role": "user", "content": content}), json!({"isMeta": true}));
            }
            Body::Attachment(AttachmentRecord::Message { parts, .. }) => {
                let content: Vec<_> = parts.iter().filter_map(part_block).collect();
                self.message(raw, "", "user", json!({"role": "user", "content": content}), json!({"isMeta": true}));
            }
            Body::CollapseCommit { trigger, summary, .. } => self.compacted(raw, trigger, summary),
            Body::AiTitle(title) => {
                let leaf = self.parent.clone();
                self.line(json!({"type": "summary", "summary": title, "leafUuid": leaf}));
            }
            Body::ToolUse(_)
            | Body::System { .. }
            | Body::Rewound { .. }
            | Body::Progress(_)
            | Body::Attachment(AttachmentRecord::Other)
            | Body::InternalHook(_)
            | Body::ContentReplacement
            | Body::FileHistorySnapshot
            | Body::AttributionSnapshot
            | Body::QueueOperation
            | Body::SpeculationAccept => {}
        }
    }

    fn reply(&mut self, raw: &RawRow<'_>, uuid: &str, content: &[Block], used: Option<&ModelUsage>) {
        let mut stop = "end_turn";
        for block in content {
            if let Block::ToolUse { id, .. } = block {
                self.replied.insert(id.clone());
                stop = "tool_use";
            }
        }
        let uuid = self.uuid(raw, uuid);
        let mut message = json!({
            "id": format!("msg_{uuid}"),
            "type": "message",
            "role": "assistant",
            "model": used.map_or(UNKNOWN_MODEL, |share| &share.model),
            "content": blocks(content),
            "stop_reason": stop,
            "stop_sequence": null,
        });
        let mut more = json!({"requestId": format!("req_{uuid}")});
        if let Some(share) = used {
            message["usage"] = counted(&share.usage);
            if let Some(dollars) = share.cost(&self.head.prices) {
                more["costUSD"] = dollars.into();
            }
        }
        self.message(raw, &uuid, "assistant", message, more);
    }

    fn lone(&mut self, raw: &RawRow<'_>, call: &ToolCall) {
        let uuid = self.uuid(raw, "");
        let block = Block::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
        let message = json!({
            "id": format!("msg_{uuid}"),
            "type": "message",
            "role": "assistant",
            "model": SYNTHETIC,
            "content": [block.json()],
            "stop_reason": "tool_use",
            "stop_sequence": null,
            "usage": counted(&Usage::default()),
        });
        self.message(raw, &uuid, "assistant", message, json!({}));
    }

    fn compacted(&mut self, raw: &RawRow<'_>, trigger: &str, summary: &str) {
        let boundary = json!({
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "compactMetadata": {"trigger": trigger},
            "logicalParentUuid": self.parent.take(),
        });
        let uuid = self.uuid(raw, "");
        self.placed(raw, &uuid, boundary);
        let uuid = id(&format!("{}:{}:summary", self.head.session, raw.sequence));
        let said = json!({"role": "user", "content": summary});
        self.message(raw, &uuid, "user", said, json!({"isCompactSummary": true}));
    }

    fn message(&mut self, raw: &RawRow<'_>, uuid: &str, kind: &str, message: Value, more: Value) {
        let uuid = self.uuid(raw, uuid);
        let mut line = json!({"type": kind, "message": message});
        extend(&mut line, more);
        self.placed(raw, &uuid, line);
    }

    /// Writes a line with the fields every line of a conversation has.
    fn placed(&mut self, raw: &RawRow<'_>, uuid: &str, fields: Value) {
        let mut line = json!({
            "parentUuid": self.parent,
            "isSidechain": self.head.is_subagent,
            "userType": "external",
            "cwd": self.head.cwd,
            "sessionId": self.head.session,
            "version": self.head.version,
        });
        extend(&mut line, fields);
        extend(&mut line, json!({"uuid": uuid, "timestamp": timestamp(raw.created_at)}));
        self.line(line);
        self.parent = Some(uuid.to_owned());
    }

    fn line(&mut self, line: Value) {
        self.text.push_str(&line.to_string());
        self.text.push('\n');
    }

    /// Returns the row's own uuid, or one that is the same whenever the session is exported.
    fn uuid(&self, raw: &RawRow<'_>, own: &str) -> String {
        if own.is_empty() { id(&format!("{}:{}", self.head.session, raw.sequence)) } else { own.to_owned() }
    }
}

fn extend(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

fn blocks(content: &[Block]) -> Vec<Value> {
    content.iter().map(Block::json).collect()
}

/// Returns a text or a picture as a block of the Messages API.
fn part_block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Picture { kind, media_type, data } => {
            Some(json!({"type": kind, "source": {"type": "base64", "media_type": media_type, "data": data}}))
        }
        Part::ToolUse { .. } | Part::ToolResult { .. } | Part::HookContext(_) => None,
    }
}

/// `YYYY-MM-DD HH:MM:SS` (DEC-020) as other programs write it.
fn timestamp(stored: &str) -> String {
    match stored.split_once(' ') {
        Some((day, time)) if time.contains('.') => format!("{day}T{time}Z"),
        Some((day, time)) => format!("{day}T{time}.000Z"),
        None => stored.to_owned(),
    }
}

/// Returns a UUID (version 8) made of a digest.
fn id(of: &str) -> String {
    let hex = sha256_hex(of.as_bytes());
    format!("{}-{}-8{}-8{}-{}", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..32])
}
