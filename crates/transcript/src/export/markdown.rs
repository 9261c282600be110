//! A session as a page to read.
//!
//! Prompts are quoted, replies stand as they are, calls and results are fenced.
//! Nothing in them can act on a terminal or close its fence. Bookkeeping rows are
//! left out; a row that cannot be read is named.

use super::ExportHead;
use super::visible::visible;
use crate::record::{AttachmentRecord, Body, ProgressRecord, RawRow, Record};
use ona_api::model::Part;
use ona_api::row::Block;
use ona_api::{CallId, ToolCall};
use serde_json::Value;
use std::collections::HashMap;

pub fn markdown(head: &ExportHead, rows: &[RawRow<'_>]) -> String {
    let mut page = Page { text: String::new(), calls: HashMap::new() };
    page.head(head);
    for raw in rows {
        match Record::parse(*raw) {
            Ok(record) => page.record(&record),
            Err(note) => page.aside(&note.to_string()),
        }
    }
    page.text
}

struct Page {
    text: String,
    /// The names of the calls shown so far.
    calls: HashMap<CallId, String>,
}

impl Page {
    fn head(&mut self, head: &ExportHead) {
        let title = head.title.clone().unwrap_or_else(|| format!("Session {}", head.session));
        self.text = format!("# {}\n", line(&title));
        let mut facts = vec![("Session", head.session.as_str()), ("Conversation", head.conversation.as_str())];
        facts.extend(head.parent.as_ref().map(|parent| ("Part of", parent.as_str())));
        let (tokens, cost) = head.account.words(&head.prices);
        facts.extend([("Project", head.project_dir.as_str()), ("Started (UTC)", head.started_at.as_str())]);
        if head.account.spent.replies() > 0 {
            facts.extend([("Tokens", tokens.as_str()), ("Cost", cost.as_str())]);
        }
        let facts: String = facts.iter().map(|(name, value)| format!("- {name}: {}\n", code(value))).collect();
        self.block(&facts);
    }

    fn record(&mut self, record: &Record) {
        match &record.body {
            Body::User { content, .. } => self.blocks("Prompt", content),
            Body::Assistant { content, .. } => self.blocks("Reply", content),
            Body::ToolUse(call) => self.call(call),
            Body::ToolResult { id, content, is_error } => self.result(id, content, *is_error),
            Body::Progress(ProgressRecord::ExitCode { code, .. }) => self.aside(&format!("exit code {code}")),
            Body::Attachment(attached) => self.attached(attached),
            Body::InternalHook(note) => {
                if let Some(context) = &note.context {
                    self.aside(&format!("context of a {} hook", note.event));
                    self.fence("", context);
                }
                if let Some(input) = &note.effective_input {
                    self.aside(&format!("a {} hook changed the input to", note.event));
                    self.fence("json", &pretty(input));
                }
            }
            Body::Rewound { to } => self.aside(&format!("went back to row {to}")),
            Body::System { subtype, message: None } => self.aside(subtype),
            Body::System { subtype, message: Some(message) } => self.aside(&format!("{subtype}: {message}")),
            Body::CollapseCommit { summary, .. } => {
                self.block("## Summary of everything above\n");
                self.quote(summary);
            }
            Body::Progress(ProgressRecord::Usage { .. } | ProgressRecord::Other)
            | Body::ContentReplacement
            | Body::FileHistorySnapshot
            | Body::AttributionSnapshot
            | Body::QueueOperation
            | Body::SpeculationAccept
            | Body::AiTitle(_) => {}
        }
    }

    fn blocks(&mut self, heading: &str, content: &[Block]) {
        self.block(&format!("## {heading}\n"));
        for block in content {
            match block {
                Block::Text(text) if heading == "Prompt" => self.quote(text),
                Block::Text(text) => {
                    let text = visible(text);
                    self.block(&format!("{}\n", text.trim_end()));
                }
                Block::ToolUse { id, name, input } => {
                    self.call(&ToolCall { id: id.clone(), name: name.clone(), input: input.clone() });
                }
                Block::ToolResult { id, content, is_error } => self.result(id, content, *is_error),
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        if self.calls.insert(call.id.clone(), call.name.clone()).is_none() {
            self.block(&format!("### {} {}\n", line(&call.name), code(call.id.as_str())));
            self.fence("json", &pretty(&call.input));
        }
    }

    fn result(&mut self, id: &CallId, content: &str, is_error: bool) {
        let kind = if is_error { "Error" } else { "Result" };
        let of = self.calls.get(id).map_or_else(String::new, |name| format!(" of {}", line(name)));
        self.block(&format!("#### {kind}{of} {}\n", code(id.as_str())));
        self.fence("", content);
    }

    fn attached(&mut self, attached: &AttachmentRecord) {
        match attached {
            AttachmentRecord::Picture { part, .. } => self.part(part),
            AttachmentRecord::Text(text) => self.quote(text),
            AttachmentRecord::Message { parts, .. } => {
                self.aside("message of a hook");
                parts.iter().for_each(|part| self.part(part));
            }
            AttachmentRecord::Other => {}
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.quote(text),
            Part::Picture { kind, media_type, data } => {
                let bytes = data.trim_end_matches('=').len() * 3 / 4;
                self.aside(&format!("{kind}, {media_type}, {bytes} bytes, not shown"));
            }
            Part::ToolUse { .. } | Part::ToolResult { .. } | Part::HookContext(_) => {}
        }
    }

    /// One line in ona's own voice.
    fn aside(&mut self, text: &str) {
        self.block(&format!("*{}*\n", line(text).replace('*', "\\*")));
    }

    fn quote(&mut self, text: &str) {
        let quoted: String = visible(text.trim_end()).lines().map(|line| format!("> {line}\n")).collect();
        self.block(&quoted);
    }

    fn fence(&mut self, language: &str, text: &str) {
        let text = visible(text);
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.block(&format!("{fence}{language}\n{text}{end}{fence}\n"));
    }

    fn block(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(text);
    }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

/// Replaces line breaks in a text that must stay on one line.
fn line(text: &str) -> String {
    visible(text).replace('\n', "␊")
}

fn code(text: &str) -> String {
    let text = line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
