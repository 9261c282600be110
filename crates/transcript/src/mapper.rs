//! Turns rows into the messages for a model (DEC-030).
//!
//! A fold, one row at a time: a turn pushes the few rows of its last step and encodes
//! again only what `changed_from` names, so the cost depends on what is new, not on the
//! length of the history. The same rows always give the same messages.
//!
//! | row | becomes |
//! |---|---|
//! | user | text of the user; a `tool_result` block in it answers its call |
//! | assistant | a message of the assistant |
//! | tool_use | nothing if a reply holds the call, else a message of the assistant |
//! | tool_result | the answer in the message after the call |
//! | attachment | a picture beside its result or prompt; the text of a hook's message |
//! | internal_hook | its context, joined with the others since the last reply (DEC-033) |
//! | progress | an exit code on its result (DEC-090); nothing else |
//! | collapse_commit | a summary in the place of the rows it covers (DEC-035) |
//! | any other | nothing |
//!
//! The order of parts within a message is decided in `draft`.

use crate::draft::{ContextScope, Draft};
use crate::record::{AttachmentRecord, Body, HookRecord, ProgressRecord, Record, RowProblem};
use ona_api::model::{Message, Part};
use ona_api::row::Block;

/// Precedes a summary, so that a model knows what it is reading.
const SUMMARY_LEAD: &str = "The conversation up to here was replaced by this summary:";

const USER_CALLS: &str = "a call in a message of the user was left out";
const ASSISTANT_ANSWERS: &str = "a result in a message of the assistant was left out";

#[derive(Debug, Default)]
pub struct Mapper {
    draft: Draft,
    notes: Vec<RowProblem>,
}

impl Mapper {
    pub fn push(&mut self, record: &Record) {
        let sequence = record.sequence;
        match &record.body {
            Body::User { content, .. } => content.iter().for_each(|block| self.user(sequence, block)),
            Body::Assistant { content, .. } => self.reply(sequence, content),
            Body::ToolUse(call) => {
                let part = Part::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
                self.draft.lone(sequence, &call.id, part);
            }
            Body::ToolResult { id, content, is_error } => {
                let part =
                    Part::ToolResult { id: id.clone(), content: content.clone(), is_error: *is_error, exit_code: None };
                let complaint = self.draft.answer(sequence, id, part);
                self.note(sequence, complaint);
            }
            Body::Attachment(attached) => self.attached(sequence, attached),
            Body::InternalHook(HookRecord { event, context: Some(text), .. }) if says_something(text) => {
                self.draft.context(sequence, scope(event), text);
            }
            Body::Progress(ProgressRecord::ExitCode { call, code }) => self.draft.exit_code(call, *code),
            Body::CollapseCommit { summary, covers_to, .. } => {
                self.draft.restart(*covers_to, format!("{SUMMARY_LEAD}\n\n{summary}"));
            }
            Body::System { .. }
            | Body::Rewound { .. }
            | Body::Progress(ProgressRecord::Usage { .. } | ProgressRecord::Other)
            | Body::InternalHook(_)
            | Body::ContentReplacement
            | Body::FileHistorySnapshot
            | Body::AttributionSnapshot
            | Body::QueueOperation
            | Body::SpeculationAccept
            | Body::AiTitle(_) => {}
        }
    }

    /// Returns the messages. The user and the assistant take turns, except for a
    /// `tool_use` row on its own behind a reply: that is a second message of the
    /// assistant. The first message may be the assistant's.
    pub fn messages(&self) -> &[Message] {
        self.draft.messages()
    }

    /// Returns the index of the first message that may have changed since `settle`, or the
    /// number of messages.
    pub fn changed_from(&self) -> usize {
        self.draft.changed()
    }

    /// Marks all messages as seen.
    pub fn settle(&mut self) {
        self.draft.settle();
    }

    /// Returns about how many bytes the messages take in a request; an image counts as text
    /// of the same cost.
    pub fn approximate_size(&self) -> usize {
        self.draft.approximate_size()
    }

    /// Returns the rows that were ignored or read as something else, and why.
    pub fn notes(&self) -> &[RowProblem] {
        &self.notes
    }

    fn user(&mut self, sequence: i64, block: &Block) {
        let complaint = match block {
            Block::Text(text) => {
                self.say(sequence, text);
                None
            }
            Block::ToolResult { id, content, is_error } => {
                let part =
                    Part::ToolResult { id: id.clone(), content: content.clone(), is_error: *is_error, exit_code: None };
                self.draft.answer(sequence, id, part)
            }
            Block::ToolUse { .. } => Some(USER_CALLS),
        };
        self.note(sequence, complaint);
    }

    fn reply(&mut self, sequence: i64, content: &[Block]) {
        let mut parts = Vec::with_capacity(content.len());
        for block in content {
            match block {
                Block::Text(text) if says_something(text) => parts.push(Part::Text(text.clone())),
                Block::Text(_) => {}
                Block::ToolUse { id, name, input } => {
                    parts.push(Part::ToolUse { id: id.clone(), name: name.clone(), input: input.clone() });
                }
                Block::ToolResult { .. } => self.note(sequence, Some(ASSISTANT_ANSWERS)),
            }
        }
        let complaint = self.draft.reply(sequence, parts);
        self.note(sequence, complaint);
    }

    fn attached(&mut self, sequence: i64, attached: &AttachmentRecord) {
        match attached {
            AttachmentRecord::Picture { call, part } => self.draft.picture(sequence, call.as_ref(), part.clone()),
            AttachmentRecord::Text(text) => self.say(sequence, text),
            AttachmentRecord::Message { parts, .. } => {
                for part in parts {
                    match part {
                        Part::Text(text) => self.say(sequence, text),
                        other => self.draft.say(sequence, other.clone()),
                    }
                }
            }
            AttachmentRecord::Other => {}
        }
    }

    fn say(&mut self, sequence: i64, text: &str) {
        if says_something(text) {
            self.draft.say(sequence, Part::Text(text.to_owned()));
        }
    }

    fn note(&mut self, sequence: i64, complaint: Option<&'static str>) {
        self.notes.extend(complaint.map(|what| RowProblem { sequence, what: what.into() }));
    }
}

impl<'a> Extend<&'a Record> for Mapper {
    fn extend<I: IntoIterator<Item = &'a Record>>(&mut self, records: I) {
        records.into_iter().for_each(|record| self.push(record));
    }
}

impl<'a> FromIterator<&'a Record> for Mapper {
    fn from_iter<I: IntoIterator<Item = &'a Record>>(records: I) -> Self {
        let mut mapper = Mapper::default();
        mapper.extend(records);
        mapper
    }
}

fn scope(event: &str) -> ContextScope {
    match event {
        "SessionStart" | "Setup" | "SubagentStart" => ContextScope::Session,
        _ => ContextScope::Turn,
    }
}

/// Providers refuse a text of nothing but space.
fn says_something(text: &str) -> bool {
    !text.trim().is_empty()
}
