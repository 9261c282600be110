//! Parses one row.
//!
//! The runtime writes rows in the shape of Appendix C, but an operator may write
//! them too. So the column `entry_type` decides what a row is, `_t` is not needed,
//! and a field may have the shape another program would have given it. What still
//! cannot be read is a `RowProblem` instead of a record: one bad row never ends a session.
//!
//! Only fields that are used are kept. A row of which nothing is used is known by its
//! type alone, and its payload is not parsed.

use crate::lenient_json::{FromAnyJson, LenientObject, LenientValue, PlainText};
use ona_api::model::{Part, Usage};
use ona_api::row::Block;
use ona_api::{CallId, SystemEntry, ToolCall};
use serde::Deserialize;
use serde::de::{DeserializeOwned, SeqAccess};
use serde_json::{Value, json};

/// A row as the database holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRow<'a> {
    pub sequence: i64,
    pub entry_type: &'a str,
    pub payload: &'a str,
    pub tool_use_id: Option<&'a str>,
    pub created_at: &'a str,
}

/// A row that was ignored, or read as something else, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row {sequence}: {what}")]
pub struct RowProblem {
    pub sequence: i64,
    pub what: String,
}

/// A row that could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub sequence: i64,
    pub body: Body,
}

/// The subtype of a `system` row that rewinds a conversation.
const REWOUND: &str = SystemEntry::REWOUND;

/// The 15 entry types of section 4.5.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    User {
        uuid: String,
        content: Vec<Block>,
    },
    Assistant {
        uuid: String,
        content: Vec<Block>,
    },
    System {
        subtype: String,
        /// Its text for the operator, if it has one.
        message: Option<String>,
    },
    /// A `system` row that rewound the conversation; see `Rewinds`.
    Rewound {
        /// The last row that counts; never above the row's own number.
        to: i64,
    },
    ToolUse(ToolCall),
    ToolResult {
        id: CallId,
        content: String,
        is_error: bool,
    },
    Progress(ProgressRecord),
    Attachment(AttachmentRecord),
    InternalHook(HookRecord),
    ContentReplacement,
    CollapseCommit {
        trigger: String,
        summary: String,
        /// The last row the summary replaces; never above the row's own number.
        covers_to: i64,
    },
    FileHistorySnapshot,
    AttributionSnapshot,
    QueueOperation,
    SpeculationAccept,
    AiTitle(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgressRecord {
    /// Why a shell failed (DEC-090).
    ExitCode {
        call: CallId,
        code: i32,
    },
    /// Usage of the reply before it; see `usage_entry`.
    Usage {
        model: String,
        /// The model id the operator chose; absent in older rows.
        model_id: Option<String>,
        usage: Usage,
    },
    Other,
}

#[derive(Clone, Debug, PartialEq)]
pub enum AttachmentRecord {
    /// A picture or page, of a call or of the prompt before it (DEC-032).
    Picture { call: Option<CallId>, part: Part },
    /// Text that is sent as it is.
    Text(String),
    /// What a hook says to the model (DEC-176), or that a background task has ended.
    Message {
        parts: Vec<Part>,
        /// The model is to answer now.
        wakes: bool,
    },
    /// Kept, never sent.
    Other,
}

/// Context that a hook added for the model, or the input it changed.
#[derive(Clone, Debug, PartialEq)]
pub struct HookRecord {
    pub event: String,
    pub context: Option<String>,
    /// The input that was used instead of the model's.
    pub effective_input: Option<Value>,
}

impl Record {
    pub fn parse(raw: RawRow<'_>) -> Result<Record, RowProblem> {
        let sequence = raw.sequence;
        let body = body(raw).map_err(|what| RowProblem { sequence, what })?;
        Ok(Record { sequence, body })
    }
}

fn body(raw: RawRow<'_>) -> Result<Body, String> {
    let column = raw.tool_use_id.map(CallId::from);
    Ok(match raw.entry_type {
        "user" => {
            let MessageRow { uuid, content } = read(raw.payload)?;
            Body::User { uuid: text(uuid), content: content.0.0.ok_or("a message without content")? }
        }
        "assistant" => {
            let MessageRow { uuid, content } = read(raw.payload)?;
            Body::Assistant { uuid: text(uuid), content: content.0.0.ok_or("a message without content")? }
        }
        "system" => {
            let row: SystemRow = read(raw.payload)?;
            if let (Some(REWOUND), Some(to)) = (row.subtype.0.as_deref(), row.to_sequence.0) {
                return Ok(Body::Rewound { to: to.min(raw.sequence) });
            }
            Body::System { subtype: text(row.subtype), message: row.message.0.or(row.stop_reason.0) }
        }
        "tool_use" => {
            let row: UseRow = read(raw.payload)?;
            Body::ToolUse(ToolCall {
                id: call(row.id).or(column).ok_or("a tool_use without an id")?,
                name: row.name.0.ok_or("a tool_use without a name")?,
                input: object(row.input),
            })
        }
        "tool_result" => {
            let row: ResultRow = read(raw.payload)?;
            Body::ToolResult {
                id: call(row.tool_use_id).or(column).ok_or("a tool_result without a tool_use_id")?,
                content: row.content.0.0,
                is_error: row.is_error.0,
            }
        }
        "progress" => {
            let ProgressRow { data } = read(raw.payload)?;
            Body::Progress(data.0.0.ok_or("a progress without data")?.progress())
        }
        "attachment" => {
            let AttachmentRow { attachment } = read(raw.payload)?;
            Body::Attachment(attachment.0.0.ok_or("an attachment without an attachment")?.attached(column))
        }
        "internal_hook" => {
            let row: HookRow = read(raw.payload)?;
            Body::InternalHook(HookRecord {
                event: text(row.hook_event),
                context: row.additional_context.0,
                effective_input: row.effective_input,
            })
        }
        "collapse_commit" => {
            let row: CollapseRow = read(raw.payload)?;
            Body::CollapseCommit {
                trigger: text(row.trigger),
                summary: row.summary.0.ok_or("a collapse_commit without a summary")?,
                // A summary of rows that are still to come would hide them.
                covers_to: row.covers_to_sequence.0.unwrap_or(raw.sequence).min(raw.sequence),
            }
        }
        "ai_title" => Body::AiTitle(read::<TitleRow>(raw.payload)?.title.0.ok_or("an ai_title without a title")?),
        "content_replacement" => Body::ContentReplacement,
        "file_history_snapshot" => Body::FileHistorySnapshot,
        "attribution_snapshot" => Body::AttributionSnapshot,
        "queue_operation" => Body::QueueOperation,
        "speculation_accept" => Body::SpeculationAccept,
        unknown => return Err(format!("the entry type {unknown:?} is unknown")),
    })
}

fn read<T: DeserializeOwned>(payload: &str) -> Result<T, String> {
    let read: LenientValue<LenientObject<T>> =
        serde_json::from_str(payload).map_err(|error| format!("the payload cannot be read: {error}"))?;
    read.0.0.ok_or_else(|| "the payload is not an object".into())
}

type Text = LenientValue<Option<String>>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageRow {
    uuid: Text,
    content: LenientValue<Blocks>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SystemRow {
    subtype: Text,
    to_sequence: LenientValue<Option<i64>>,
    message: Text,
    stop_reason: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UseRow {
    id: Text,
    name: Text,
    input: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResultRow {
    tool_use_id: Text,
    content: LenientValue<PlainText>,
    is_error: LenientValue<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HookRow {
    hook_event: Text,
    additional_context: Text,
    effective_input: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CollapseRow {
    trigger: Text,
    summary: Text,
    covers_to_sequence: LenientValue<Option<i64>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TitleRow {
    title: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProgressRow {
    data: LenientValue<LenientObject<ProgressData>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProgressData {
    kind: Text,
    tool_use_id: Text,
    exit_code: LenientValue<Option<i64>>,
    model: Text,
    model_id: Text,
    input_tokens: LenientValue<Option<i64>>,
    output_tokens: LenientValue<Option<i64>>,
    cache_read_tokens: LenientValue<Option<i64>>,
    cache_write_tokens: LenientValue<Option<i64>>,
}

impl ProgressData {
    fn progress(self) -> ProgressRecord {
        let count =
            |tokens: LenientValue<Option<i64>>| tokens.0.and_then(|count| u64::try_from(count).ok()).unwrap_or(0);
        match self.kind.0.as_deref() {
            Some("exit_code") => {
                let code = self.exit_code.0.and_then(|code| i32::try_from(code).ok());
                match (call(self.tool_use_id), code) {
                    (Some(call), Some(code)) => ProgressRecord::ExitCode { call, code },
                    _ => ProgressRecord::Other,
                }
            }
            Some("usage") => ProgressRecord::Usage {
                model: text(self.model),
                model_id: self.model_id.0,
                usage: Usage {
                    input_tokens: count(self.input_tokens),
                    output_tokens: count(self.output_tokens),
                    cache_read_tokens: count(self.cache_read_tokens),
                    cache_write_tokens: count(self.cache_write_tokens),
                },
            },
            _ => ProgressRecord::Other,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AttachmentRow {
    attachment: LenientValue<LenientObject<AttachmentData>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AttachmentData {
    kind: Text,
    media_type: Text,
    data: Text,
    tool_use_id: Text,
    text: Text,
    content: Value,
    trigger_turn: LenientValue<bool>,
}

impl AttachmentData {
    fn attached(self, column: Option<CallId>) -> AttachmentRecord {
        let kind = text(self.kind);
        match (kind.as_str(), self.media_type.0, self.data.0, self.text.0) {
            ("image" | "document", Some(media_type), Some(data), _) => AttachmentRecord::Picture {
                call: call(self.tool_use_id).or(column),
                part: Part::Picture { kind, media_type, data },
            },
            ("text", _, _, Some(text)) => AttachmentRecord::Text(text),
            ("task_notification", _, _, Some(text)) => {
                AttachmentRecord::Message { parts: vec![Part::Text(text)], wakes: true }
            }
            ("custom_message", ..) => {
                AttachmentRecord::Message { parts: message(&self.content), wakes: self.trigger_turn.0 }
            }
            _ => AttachmentRecord::Other,
        }
    }
}

/// Returns the content of a custom message: a text, or texts and pictures in the words of omp.
fn message(content: &Value) -> Vec<Part> {
    let part = |block: &Value| match block["type"].as_str()? {
        "text" => Some(Part::Text(block["text"].as_str()?.to_owned())),
        "image" => Some(Part::Picture {
            kind: "image".into(),
            media_type: block["mimeType"].as_str().or(block["media_type"].as_str())?.to_owned(),
            data: block["data"].as_str()?.to_owned(),
        }),
        _ => None,
    };
    match content {
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(blocks) => blocks.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

/// The content of a message: a text, or blocks of the closed set. Any other block is
/// ignored.
#[derive(Default)]
struct Blocks(Option<Vec<Block>>);

impl FromAnyJson for Blocks {
    fn text(text: &str) -> Self {
        Blocks(Some(vec![Block::Text(text.to_owned())]))
    }

    fn array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut blocks = Vec::new();
        while let Some(LenientValue(LenientObject(fields))) =
            array.next_element::<LenientValue<LenientObject<BlockFields>>>()?
        {
            blocks.extend(fields.and_then(BlockFields::block));
        }
        Ok(Blocks(Some(blocks)))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BlockFields {
    #[serde(rename = "type")]
    kind: Text,
    text: Text,
    id: Text,
    name: Text,
    input: Value,
    tool_use_id: Text,
    content: LenientValue<PlainText>,
    is_error: LenientValue<bool>,
}

impl BlockFields {
    fn block(self) -> Option<Block> {
        match self.kind.0.as_deref()? {
            "text" => self.text.0.map(Block::Text),
            "tool_use" => Some(Block::ToolUse { id: call(self.id)?, name: self.name.0?, input: object(self.input) }),
            "tool_result" => Some(Block::ToolResult {
                id: call(self.tool_use_id)?,
                content: self.content.0.0,
                is_error: self.is_error.0,
            }),
            _ => None,
        }
    }
}

fn text(field: Text) -> String {
    field.0.unwrap_or_default()
}

fn call(field: Text) -> Option<CallId> {
    field.0.filter(|id| !id.is_empty()).map(CallId)
}

/// Providers take nothing but an object as input; see DEC-090 for `_raw`.
fn object(input: Value) -> Value {
    match input {
        Value::Object(_) => input,
        Value::Null => json!({}),
        other => json!({ "_raw": other }),
    }
}
