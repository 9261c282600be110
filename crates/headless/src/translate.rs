//! Translates what happens in a turn into messages.

use super::messages::{AssistantMessage, CompactMetadata, Level, StreamMessage, SystemMessage, Tokens, UserMessage};
use super::stream::{ReplyEvents, stop_reason};
use ona_api::model::{EndReason, Part, Usage};
use ona_api::{CallId, Redactor, ToolCall, ToolResult, clock};
use ona_orchestration::{Compaction, TurnEvent};
use ona_tools::TaskKind;
use serde_json::{Value, json};
use std::time::Instant;

/// Which optional parts of a run are printed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StreamContent {
    /// Parts of replies as they arrive, and when a model request begins.
    pub partial: bool,
    /// The text of subagents, not only their calls.
    pub subagent_text: bool,
}

/// Remembers the reply that is arriving between two events.
#[derive(Default)]
pub(crate) struct Translator {
    pub wanted: StreamContent,
    redactor: Redactor,
    reply: Option<PendingReply>,
}

struct PendingReply {
    id: String,
    at: Instant,
    stream: ReplyEvents,
    first: bool,
}

impl Translator {
    pub(crate) fn new(wanted: StreamContent, redactor: Redactor) -> Self {
        Self { wanted, redactor, reply: None }
    }

    pub(crate) fn messages(&mut self, event: TurnEvent) -> Vec<StreamMessage> {
        match event {
            TurnEvent::Requesting { model } => {
                let id = new_id();
                let stream = ReplyEvents::new(id.clone(), model, &self.redactor);
                self.reply = Some(PendingReply { id, at: Instant::now(), stream, first: true });
                let told =
                    self.wanted.partial.then(|| StreamMessage::System(SystemMessage::status(Some("requesting"))));
                told.into_iter().collect()
            }
            TurnEvent::Delta(delta) => {
                let Some(asked) = self.reply.as_mut().filter(|_| self.wanted.partial) else { return Vec::new() };
                let mut told = Vec::new();
                for event in asked.stream.push(&delta) {
                    let first = std::mem::replace(&mut asked.first, false);
                    let ttft_ms = first.then(|| millis(asked.at.elapsed()));
                    told.push(StreamMessage::StreamEvent { event, parent_tool_use_id: None, ttft_ms });
                }
                told
            }
            TurnEvent::Requested { .. } | TurnEvent::ToolStarted { .. } => Vec::new(),
            TurnEvent::Assistant { model, parts, usage, end } => {
                let id = self.reply.take().map_or_else(new_id, |asked| asked.id);
                blocks(&id, &model, &parts, &usage, end.as_ref(), None, |_| true)
            }
            TurnEvent::ToolFinished { call, result, .. } => vec![finished(&call, &result, None)],
            TurnEvent::Denied { call, message } => vec![denied(call, message, None)],
            TurnEvent::Retrying { attempt, limit, wait, failure } => {
                vec![StreamMessage::System(SystemMessage::ApiRetry {
                    attempt,
                    max_retries: limit,
                    retry_delay_ms: millis(wait),
                    error_status: failure.status,
                    error: failure.class.as_str(),
                    message: failure.message,
                })]
            }
            TurnEvent::Message(content) => vec![informational(content, Level::Info)],
            TurnEvent::Compacting => vec![StreamMessage::System(SystemMessage::status(Some("compacting")))],
            TurnEvent::Compacted(Compaction { trigger, before, after, took }) => {
                let compact_metadata = CompactMetadata {
                    trigger: trigger.as_str(),
                    pre_tokens: before,
                    post_tokens: after,
                    duration_ms: millis(took),
                };
                vec![
                    compacted("success", None),
                    StreamMessage::System(SystemMessage::CompactBoundary { compact_metadata }),
                ]
            }
            TurnEvent::NotCompacted { why } => vec![compacted("failed", Some(why))],
            TurnEvent::Inside { call, event } => self.inside(call, *event),
            TurnEvent::TaskStarted { id, kind, call, description } => {
                vec![StreamMessage::System(SystemMessage::TaskStarted {
                    task_id: id,
                    tool_use_id: call,
                    description,
                    task_type: task_type(kind),
                })]
            }
            TurnEvent::TaskEnded { id, kind, call, description, status, summary } => {
                vec![StreamMessage::System(SystemMessage::TaskNotification {
                    task_id: id,
                    tool_use_id: call,
                    description,
                    task_type: task_type(kind),
                    status,
                    output_file: String::new(),
                    summary,
                })]
            }
        }
    }

    /// Messages of a subagent: its calls, and its text if that was requested.
    fn inside(&mut self, parent: CallId, event: TurnEvent) -> Vec<StreamMessage> {
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
            // The context of a subagent concerns only itself.
            TurnEvent::Requesting { .. }
            | TurnEvent::Delta(_)
            | TurnEvent::Requested { .. }
            | TurnEvent::ToolStarted { .. }
            | TurnEvent::Compacting
            | TurnEvent::Compacted(_)
            | TurnEvent::NotCompacted { .. } => Vec::new(),
        }
    }
}

pub(crate) fn informational(content: String, level: Level) -> StreamMessage {
    StreamMessage::System(SystemMessage::Informational { content, level })
}

/// The names that clients know.
fn task_type(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Bash => "local_bash",
        TaskKind::Agent => "local_agent",
    }
}

fn compacted(result: &'static str, error: Option<String>) -> StreamMessage {
    let (compact_result, compact_error) = (Some(result), error);
    StreamMessage::System(SystemMessage::Status { status: None, permission_mode: None, compact_result, compact_error })
}

fn denied(call: ToolCall, message: String, parent_tool_use_id: Option<CallId>) -> StreamMessage {
    StreamMessage::System(SystemMessage::PermissionDenied {
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
) -> Vec<StreamMessage> {
    let message = |block| StreamMessage::Assistant {
        message: AssistantMessage {
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

fn finished(call: &ToolCall, result: &ToolResult, parent_tool_use_id: Option<CallId>) -> StreamMessage {
    let block = json!({
        "type": "tool_result", "tool_use_id": call.id, "content": result.content, "is_error": result.is_error(),
    });
    StreamMessage::User(UserMessage {
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

pub(crate) fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ona_api::model::Delta;

    fn told(content: StreamContent, events: Vec<TurnEvent>) -> Vec<Value> {
        let mut translator = Translator::new(content, Redactor::default());
        let messages = events.into_iter().flat_map(|event| translator.messages(event));
        messages.map(|message| serde_json::to_value(message).unwrap()).collect()
    }

    fn call() -> ToolCall {
        ToolCall { id: "c1".into(), name: "Bash".into(), input: json!({"command": "ls"}) }
    }

    fn reply() -> TurnEvent {
        let call = call();
        TurnEvent::Assistant {
            model: "m".into(),
            parts: vec![Part::Text("hello".into()), Part::ToolUse { id: call.id, name: call.name, input: call.input }],
            usage: Usage::default(),
            end: Some(EndReason::ToolUse),
        }
    }

    fn kinds(messages: &[Value]) -> Vec<String> {
        let kind = |message: &Value| match message["subtype"].as_str() {
            Some(subtype) => format!("system {subtype}"),
            None => message["type"].as_str().unwrap().to_owned(),
        };
        messages.iter().map(kind).collect()
    }

    #[test]
    fn a_reply_is_a_message_per_block_with_one_id() {
        let messages = told(StreamContent::default(), vec![TurnEvent::Requesting { model: "m".into() }, reply()]);
        assert_eq!(kinds(&messages), ["assistant", "assistant"]);
        assert_eq!(messages[0]["message"]["id"], messages[1]["message"]["id"]);
        assert_eq!(messages[0]["message"]["content"], json!([{"type": "text", "text": "hello"}]));
        assert_eq!(messages[1]["message"]["content"][0]["type"], "tool_use");
        assert_eq!(messages[1]["message"]["stop_reason"], "tool_use");
    }

    #[test]
    fn pieces_are_printed_only_on_request() {
        let events = || vec![TurnEvent::Requesting { model: "m".into() }, TurnEvent::Delta(Delta::Text("a ".into()))];
        assert!(told(StreamContent::default(), events()).is_empty());
        let messages = told(StreamContent { partial: true, subagent_text: false }, events());
        assert_eq!(kinds(&messages), ["system status", "stream_event", "stream_event", "stream_event"]);
        assert!(messages[1]["ttft_ms"].is_u64() && messages[2].get("ttft_ms").is_none(), "{messages:?}");
    }

    #[test]
    fn subagents_show_their_calls_and_on_request_their_text() {
        let inside = || vec![TurnEvent::Inside { call: "parent".into(), event: Box::new(reply()) }];
        let calls = told(StreamContent::default(), inside());
        assert_eq!((calls.len(), &calls[0]["parent_tool_use_id"]), (1, &json!("parent")));
        let all = told(StreamContent { partial: false, subagent_text: true }, inside());
        assert_eq!(all.len(), 2);
        let compacting = TurnEvent::Inside { call: "parent".into(), event: Box::new(TurnEvent::Compacting) };
        assert!(told(StreamContent::default(), vec![compacting]).is_empty());
    }

    #[test]
    fn every_other_event_is_one_kind_of_message() {
        for (event, kind) in [
            (TurnEvent::Denied { call: call(), message: "no".into() }, "system permission_denied"),
            (TurnEvent::Message("words".into()), "system informational"),
            (TurnEvent::Compacting, "system status"),
            (TurnEvent::NotCompacted { why: "no".into() }, "system status"),
            (
                TurnEvent::TaskStarted { id: "a1".into(), kind: TaskKind::Agent, call: None, description: "d".into() },
                "system task_started",
            ),
        ] {
            assert_eq!(kinds(&told(StreamContent::default(), vec![event])), [kind]);
        }
    }
}
