//! What happens in a turn, as messages.

use super::messages::{CompactMetadata, Level, Message, Reply, System, Tokens, User};
use super::stream::{Stream, stop_reason};
use ona_api::model::{EndReason, Part, Usage};
use ona_api::{CallId, Redactor, ToolCall, ToolResult, clock};
use ona_orchestration::{Compaction, TurnEvent};
use serde_json::{Value, json};
use std::time::Instant;

/// What of a run is told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// Replies in pieces, and when a model is asked.
    pub partial: bool,
    /// What subagents say, not only what they do.
    pub subagent_text: bool,
}

/// Between two events it remembers the reply that is on its way.
#[derive(Default)]
pub struct Translator {
    pub wanted: Wanted,
    redactor: Redactor,
    reply: Option<Asked>,
}

struct Asked {
    id: String,
    at: Instant,
    stream: Stream,
    first: bool,
}

impl Translator {
    pub fn new(wanted: Wanted, redactor: Redactor) -> Self {
        Self { wanted, redactor, reply: None }
    }

    pub fn messages(&mut self, event: TurnEvent) -> Vec<Message> {
        match event {
            TurnEvent::Requesting { model } => {
                let id = new_id();
                let stream = Stream::new(id.clone(), model, &self.redactor);
                self.reply = Some(Asked { id, at: Instant::now(), stream, first: true });
                let told = self.wanted.partial.then(|| Message::System(System::status(Some("requesting"))));
                told.into_iter().collect()
            }
            TurnEvent::Delta(delta) => {
                let Some(asked) = self.reply.as_mut().filter(|_| self.wanted.partial) else { return Vec::new() };
                let mut told = Vec::new();
                for event in asked.stream.push(&delta) {
                    let first = std::mem::replace(&mut asked.first, false);
                    let ttft_ms = first.then(|| millis(asked.at.elapsed()));
                    told.push(Message::StreamEvent { event, parent_tool_use_id: None, ttft_ms });
                }
                told
            }
            TurnEvent::Requested { .. } => Vec::new(),
            TurnEvent::Assistant { model, parts, usage, end } => {
                let id = self.reply.take().map_or_else(new_id, |asked| asked.id);
                blocks(&id, &model, &parts, &usage, end.as_ref(), None, |_| true)
            }
            TurnEvent::ToolFinished { call, result, .. } => vec![finished(&call, &result, None)],
            TurnEvent::Denied { call, message } => vec![denied(call, message, None)],
            TurnEvent::Retrying { attempt, limit, wait, failure } => vec![Message::System(System::ApiRetry {
                attempt,
                max_retries: limit,
                retry_delay_ms: millis(wait),
                error_status: failure.status,
                error: failure.class.as_str(),
                message: failure.message,
            })],
            TurnEvent::Message(content) => vec![informational(content, Level::Info)],
            TurnEvent::Compacting => vec![Message::System(System::status(Some("compacting")))],
            TurnEvent::Compacted(Compaction { trigger, before, after, took }) => {
                let compact_metadata = CompactMetadata {
                    trigger: trigger.as_str(),
                    pre_tokens: before,
                    post_tokens: after,
                    duration_ms: millis(took),
                };
                vec![compacted("success", None), Message::System(System::CompactBoundary { compact_metadata })]
            }
            TurnEvent::NotCompacted { why } => vec![compacted("failed", Some(why))],
            TurnEvent::Inside { call, event } => self.inside(call, *event),
            TurnEvent::TaskStarted { id, call, description } => vec![Message::System(System::TaskStarted {
                task_id: id,
                tool_use_id: call,
                description,
                task_type: "local_agent",
            })],
            TurnEvent::TaskEnded { id, call, description, status, summary } => {
                vec![Message::System(System::TaskNotification {
                    task_id: id,
                    tool_use_id: call,
                    description,
                    status,
                    output_file: String::new(),
                    summary,
                })]
            }
        }
    }

    /// What an agent does that a call started; what it says only if that was asked for.
    fn inside(&mut self, parent: CallId, event: TurnEvent) -> Vec<Message> {
        match event {
            TurnEvent::Assistant { model, parts, usage, end } => {
                let text = self.wanted.subagent_text;
                let told = |part: &Part| text || matches!(part, Part::ToolUse { .. });
                blocks(&new_id(), &model, &parts, &usage, end.as_ref(), Some(&parent), told)
            }
            TurnEvent::ToolFinished { call, result, .. } => vec![finished(&call, &result, Some(parent))],
            TurnEvent::Denied { call, message } => vec![denied(call, message, Some(parent))],
            other @ (TurnEvent::Message(_)
            | TurnEvent::Retrying { .. }
            | TurnEvent::TaskStarted { .. }
            | TurnEvent::TaskEnded { .. }
            | TurnEvent::Inside { .. }) => self.messages(other),
            // A subagent's context is nobody's but its own.
            TurnEvent::Requesting { .. }
            | TurnEvent::Delta(_)
            | TurnEvent::Requested { .. }
            | TurnEvent::Compacting
            | TurnEvent::Compacted(_)
            | TurnEvent::NotCompacted { .. } => Vec::new(),
        }
    }
}

pub fn informational(content: String, level: Level) -> Message {
    Message::System(System::Informational { content, level })
}

fn compacted(result: &'static str, error: Option<String>) -> Message {
    let (compact_result, compact_error) = (Some(result), error);
    Message::System(System::Status { status: None, permission_mode: None, compact_result, compact_error })
}

fn denied(call: ToolCall, message: String, parent_tool_use_id: Option<CallId>) -> Message {
    Message::System(System::PermissionDenied {
        tool_name: call.name,
        tool_use_id: call.id,
        message,
        parent_tool_use_id,
    })
}

fn blocks(
    id: &str,
    model: &str,
    parts: &[Part],
    usage: &Usage,
    end: Option<&EndReason>,
    parent: Option<&CallId>,
    told: impl Fn(&Part) -> bool,
) -> Vec<Message> {
    let message = |block| Message::Assistant {
        message: Reply {
            id: id.to_owned(),
            kind: "message",
            role: "assistant",
            model: model.to_owned(),
            content: vec![block],
            stop_reason: end.map(|end| stop_reason(end).to_owned()),
            stop_sequence: None,
            usage: Tokens::from(usage),
        },
        parent_tool_use_id: parent.cloned(),
        timestamp: clock::utc_millis(clock::now()),
    };
    parts.iter().filter(|part| told(part)).filter_map(block).map(message).collect()
}

fn finished(call: &ToolCall, result: &ToolResult, parent_tool_use_id: Option<CallId>) -> Message {
    let block = json!({
        "type": "tool_result", "tool_use_id": call.id, "content": result.content, "is_error": result.is_error(),
    });
    Message::User(User {
        message: json!({"role": "user", "content": [block]}),
        parent_tool_use_id,
        timestamp: clock::utc_millis(clock::now()),
        tool_use_result: Some(result.response()),
        is_replay: None,
        uuid: None,
    })
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::ToolUse { id, name, input } => Some(json!({"type": "tool_use", "id": id, "name": name, "input": input})),
        Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    }
}

fn new_id() -> String {
    format!("msg_{}", CallId::random().0.replace('-', ""))
}

pub fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
