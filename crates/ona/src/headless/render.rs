//! What `-p` prints: the final text, one object, or a line per event, in the shapes
//! programs written for the reference's stream-json read.

use super::bill::Bill;
use crate::args::OutputFormat;
use crate::output;
use crate::program::Program;
use ona_api::model::{Asking, Delta, Part, Usage};
use ona_api::{CallId, Redactor};
use ona_orchestration::{Ended, Session, TurnEvent, TurnOutcome};
use ona_transcript::Prices;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub struct Renderer {
    format: OutputFormat,
    partial: bool,
    /// Changes when the session is cleared.
    session: Mutex<String>,
    conversation: String,
    redactor: Redactor,
    bill: Bill,
}

impl Renderer {
    pub fn new(program: &Program, session: &Session, redactor: Redactor, prices: Prices) -> Self {
        Self {
            format: program.options.output_format,
            partial: program.options.include_partial_messages,
            session: Mutex::new(session.place.session.0.clone()),
            conversation: session.place.conversation.0.clone(),
            redactor,
            bill: Bill::new(prices),
        }
    }

    pub fn init(&self, asking: &Asking, session: &Session, source: &str) {
        let tools: Vec<_> = asking.tools.iter().map(|tool| tool.name.as_str()).collect();
        self.line(json!({
            "type": "system",
            "subtype": "init",
            "cwd": session.cx.cwd.to_string_lossy(),
            "tools": tools,
            "mcp_servers": [],
            "model": asking.model,
            "permissionMode": session.base().mode.map(|mode| mode.as_str()),
            "source": source,
            "conversation_id": self.conversation,
        }));
    }

    /// From now on in another session.
    pub fn reset(&self, session: &Session) {
        let id = session.place.session.0.clone();
        self.line(json!({"type": "conversation_reset", "new_conversation_id": id}));
        *self.session.lock().unwrap_or_else(PoisonError::into_inner) = id;
    }

    pub fn event(&self, event: &TurnEvent) {
        match event {
            TurnEvent::Delta(delta) if self.partial => self.delta(delta),
            TurnEvent::Delta(_) => {}
            TurnEvent::Assistant { parts, usage } => {
                for part in parts {
                    if let Some(block) = block(part) {
                        let message = json!({"role": "assistant", "content": [block], "usage": usage_json(usage)});
                        self.line(json!({"type": "assistant", "message": message, "parent_tool_use_id": null}));
                    }
                }
            }
            TurnEvent::ToolFinished { call, result } => {
                let block = json!({
                    "type": "tool_result", "tool_use_id": call.id, "content": result.content, "is_error": result.is_error(),
                });
                self.line(json!({
                    "type": "user",
                    "message": {"role": "user", "content": [block]},
                    "parent_tool_use_id": null,
                    "tool_use_result": result.response(),
                }));
            }
            TurnEvent::Denied { call, message } => self.line(json!({
                "type": "system", "subtype": "permission_denied",
                "tool_name": call.name, "tool_use_id": call.id, "message": message,
            })),
            TurnEvent::Retrying { attempt, limit, wait, failure } => {
                self.line(json!({
                    "type": "system", "subtype": "api_retry", "attempt": attempt, "max_retries": limit,
                    "retry_delay_ms": wait.as_millis() as u64, "error_status": failure.status, "error": failure.message,
                }));
                self.aside(&format!("ona: {}; trying again ({attempt} of {limit})", failure.message));
            }
            TurnEvent::Message(text) => {
                self.line(json!({"type": "system", "subtype": "informational", "content": text, "level": "info"}));
                self.aside(text);
            }
            TurnEvent::Compacting => self.line(json!({"type": "system", "subtype": "status", "status": "compacting"})),
        }
    }

    fn delta(&self, delta: &Delta) {
        let event = match delta {
            Delta::Text(text) => json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}),
            Delta::Call { index, json, .. } => {
                json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": json}})
            }
            Delta::Usage(_) | Delta::Dropped(_) | Delta::End(_) => return,
        };
        self.line(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
    }

    /// The last line, in every case.
    pub fn result(&self, outcome: &TurnOutcome, took: Duration) {
        let (subtype, is_error, text) = match &outcome.ended {
            Ended::Done | Ended::Stopped { .. } => ("success", false, outcome.text.clone()),
            Ended::Blocked { message } => ("success", true, message.clone()),
            Ended::MaxTurns => ("error_max_turns", true, outcome.text.clone()),
            Ended::Failed(failure) => ("success", true, failure.message.clone()),
            Ended::Interrupted => ("error_during_execution", true, outcome.text.clone()),
        };
        match self.format {
            OutputFormat::Text if is_error => {
                let why = match &outcome.ended {
                    Ended::MaxTurns => "the limit of --max-turns was reached".to_owned(),
                    Ended::Interrupted => "interrupted".to_owned(),
                    _ => text,
                };
                output::note(format_args!("ona: {}", self.redactor.apply(&why)));
            }
            OutputFormat::Text => output::line(self.redactor.apply(&text)),
            OutputFormat::Json | OutputFormat::StreamJson => {
                let denials: Vec<_> = outcome
                    .denials
                    .iter()
                    .map(|call| json!({"tool_name": call.name, "tool_use_id": call.id, "tool_input": call.input}))
                    .collect();
                let mut result = json!({
                    "type": "result",
                    "subtype": subtype,
                    "is_error": is_error,
                    "result": text,
                    "conversation_id": self.conversation,
                    "num_turns": outcome.model_calls,
                    "duration_ms": took.as_millis() as u64,
                    "usage": usage_json(&outcome.usage),
                    "permission_denials": denials,
                });
                self.bill.settle(&outcome.spent, &mut result);
                if let Ended::Failed(failure) = &outcome.ended {
                    result["error"] = failure.class.as_str().into();
                    result["api_error_status"] = failure.status.into();
                }
                self.print(result);
            }
        }
    }

    /// The answer to a control request; it has no uuid and no session.
    pub fn control(&self, response: &Value) {
        output::json(&json!({"type": "control_response", "response": response}));
    }

    /// One object of the stream.
    fn line(&self, value: Value) {
        if self.format == OutputFormat::StreamJson {
            self.print(value);
        }
    }

    fn print(&self, mut value: Value) {
        value["uuid"] = CallId::random().0.into();
        value["session_id"] = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone().into();
        output::line(self.redactor.apply(&value.to_string()));
    }

    /// For a person who watches stderr; programs read the stream.
    fn aside(&self, text: &str) {
        if self.format == OutputFormat::Text {
            output::note(self.redactor.apply(text));
        }
    }
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::ToolUse { id, name, input } => Some(json!({"type": "tool_use", "id": id, "name": name, "input": input})),
        Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    }
}

fn usage_json(usage: &Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
    })
}
