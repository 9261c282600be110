//! Sessions written down as entries, and messages as text one can read.

use ona_api::model::{Message, Part, Role};
use ona_api::row::Block;
use ona_api::{CallId, Entry, EventName, Ordinal, SystemEntry};
use ona_transcript::{Mapper, RawRow, Record};
use serde_json::{Map, Value, json};

/// Rows as the store would hold them, numbered from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    entry_type: String,
    payload: String,
    tool_use_id: Option<String>,
}

impl Session {
    pub(crate) fn of(entries: impl IntoIterator<Item = Entry>) -> Self {
        let mut session = Session::default();
        entries.into_iter().for_each(|entry| session.add(&entry));
        session
    }

    pub(crate) fn add(&mut self, entry: &Entry) {
        self.rows.push(Row {
            entry_type: entry.entry_type().into(),
            payload: entry.payload().to_string(),
            tool_use_id: entry.call().map(CallId::to_string),
        });
    }

    /// A row as an operator might write it.
    pub(crate) fn sql(mut self, entry_type: &str, payload: &str) -> Self {
        self.rows.push(Row { entry_type: entry_type.into(), payload: payload.into(), tool_use_id: None });
        self
    }

    pub(crate) fn raws(&self) -> Vec<RawRow<'_>> {
        fn raw((sequence, row): (i64, &Row)) -> RawRow<'_> {
            RawRow {
                sequence,
                entry_type: &row.entry_type,
                payload: &row.payload,
                tool_use_id: row.tool_use_id.as_deref(),
                created_at: "2026-01-02 03:04:05",
            }
        }
        (0..).zip(&self.rows).map(raw).collect()
    }

    pub(crate) fn records(&self) -> Vec<Record> {
        self.raws().into_iter().filter_map(|raw| Record::parse(raw).ok()).collect()
    }
}

/// The messages of these entries, and after a line what the mapper complained about.
pub(crate) fn mapped(entries: impl IntoIterator<Item = Entry>) -> String {
    shown(&Session::of(entries))
}

pub(crate) fn shown(session: &Session) -> String {
    let mut mapper = Mapper::default();
    let mut notes = Vec::new();
    for raw in session.raws() {
        match Record::parse(raw) {
            Ok(record) => mapper.push(&record),
            Err(note) => notes.push(note),
        }
    }
    let notes = notes.iter().chain(mapper.notes()).map(|note| format!("! {note}\n"));
    show(mapper.messages()) + &notes.collect::<String>()
}

pub(crate) fn show(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        text += match message.role {
            Role::User => "user\n",
            Role::Assistant => "assistant\n",
        };
        for part in &message.parts {
            text += &format!("  {}\n", show_part(part).replace('\n', "\n    "));
        }
    }
    text
}

fn show_part(part: &Part) -> String {
    match part {
        Part::Text(text) => format!("text: {text}"),
        Part::ToolUse { id, name, input } => format!("call {id}: {name} {input}"),
        Part::ToolResult { id, content, is_error, exit_code } => {
            let error = if *is_error { ", error" } else { "" };
            let code = exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
            format!("result {id}{error}{code}: {content}")
        }
        Part::Picture { kind, media_type, data } => format!("{kind}: {media_type} {data}"),
        Part::HookContext(text) => format!("hooks: {text}"),
    }
}

/// Compares texts whose lines may be indented in the source.
#[track_caller]
pub(crate) fn assert_shown(found: &str, expected: &str) {
    let indent =
        expected.lines().find(|line| !line.trim().is_empty()).map_or(0, |line| line.len() - line.trim_start().len());
    let lines =
        expected.lines().skip_while(|line| line.is_empty()).map(|line| line.get(indent..).unwrap_or("").trim_end());
    let expected = lines.collect::<Vec<_>>().join("\n");
    let found = found.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
    assert!(found.trim_end() == expected.trim_end(), "found:\n{found}\nexpected:\n{expected}");
}

pub(crate) fn fields(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

pub(crate) fn user(text: &str) -> Entry {
    Entry::User { uuid: "u".into(), content: vec![Block::Text(text.into())] }
}

pub(crate) fn says(text: &str) -> Entry {
    Entry::Assistant { uuid: "a".into(), content: vec![Block::Text(text.into())] }
}

pub(crate) fn block(id: &str) -> Block {
    Block::ToolUse { id: id.into(), name: "Read".into(), input: json!({"file_path": format!("{id}.txt")}) }
}

/// A reply that calls, and the `tool_use` rows behind it.
pub(crate) fn calls(text: &str, ids: &[&str]) -> Vec<Entry> {
    let text = (!text.is_empty()).then(|| Block::Text(text.into()));
    let content = text.into_iter().chain(ids.iter().map(|id| block(id))).collect();
    let mut entries = vec![Entry::Assistant { uuid: "a".into(), content }];
    entries.extend(ids.iter().map(|id| call(id)));
    entries
}

pub(crate) fn call(id: &str) -> Entry {
    Entry::ToolUse { id: id.into(), name: "Read".into(), input: json!({"file_path": format!("{id}.txt")}) }
}

pub(crate) fn result(id: &str, content: &str) -> Entry {
    Entry::ToolResult { id: id.into(), content: content.into(), is_error: false }
}

pub(crate) fn failure(id: &str, content: &str) -> Entry {
    Entry::ToolResult { id: id.into(), content: content.into(), is_error: true }
}

pub(crate) fn context(event: &str, text: &str) -> Entry {
    let said = json!({"hook_event": event, "hook_ordinal": 0, "dialect": "sdlc", "additional_context": text});
    Entry::InternalHook { fields: fields(said), call: None }
}

pub(crate) fn picture(data: &str, call: Option<&str>) -> Entry {
    let mut attachment = json!({"kind": "image", "media_type": "image/png", "data": data});
    if let Some(call) = call {
        attachment["tool_use_id"] = call.into();
    }
    Entry::Attachment { attachment: fields(attachment), call: call.map(CallId::from) }
}

pub(crate) fn attachment(value: Value) -> Entry {
    Entry::Attachment { attachment: fields(value), call: None }
}

pub(crate) fn snapshot(call: &str) -> Entry {
    Entry::FileHistorySnapshot { fields: fields(json!({"path": "/a", "sha256": "0"})), call: Some(call.into()) }
}

pub(crate) fn exit_code(call: &str, code: i32) -> Entry {
    Entry::Progress { data: fields(json!({"kind": "exit_code", "tool_use_id": call, "exit_code": code})) }
}

/// A row for the operator that changes nothing.
pub(crate) fn note() -> Entry {
    Entry::System(SystemEntry::NotAttached { message: "for the operator".into() })
}

pub(crate) fn hook_message() -> Entry {
    let message = "for the operator".into();
    Entry::System(SystemEntry::HookMessage { event: EventName::Stop, ordinal: Ordinal(0), message })
}

pub(crate) fn hook_stopped() -> Entry {
    let reason = "for the operator".into();
    Entry::System(SystemEntry::HookStopped { event: EventName::Stop, ordinal: Ordinal(0), reason })
}
