//! Chunks, or a whole answer, of Chat Completions as deltas.
//!
//! Servers differ most in how they number calls: some leave out the index, some repeat
//! it for several calls, some repeat id and name in every chunk. A new call is seen by a
//! new index or a new id, and, where there is neither, by a name.

use crate::classify;
use ona_api::model::{Delta, EndReason, ModelFailure, Usage};
use serde_json::Value;

/// Fields in which servers send what a model thought; not requested, not kept (DEC-032).
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

#[derive(Debug, Default)]
pub(crate) struct ChatDecoder {
    calls: Vec<Call>,
    noted_thoughts: bool,
    over: bool,
}

/// A call as the server numbers it; its place in the list is the number we give it.
#[derive(Debug)]
struct Call {
    index: Option<u64>,
    id: Option<String>,
}

impl ChatDecoder {
    /// The end of the stream, which is not JSON.
    pub(crate) const DONE: &str = "[DONE]";

    pub(crate) fn done(&mut self) {
        self.over = true;
    }

    pub(crate) fn event(&mut self, chunk: &Value, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(classify::error_event(chunk));
        }
        self.choice(&chunk["choices"][0], "delta", deltas);
        usage(&chunk["usage"], deltas);
        Ok(())
    }

    /// An answer that did not come as a stream.
    pub(crate) fn whole(&mut self, answer: &Value, deltas: &mut Vec<Delta>) -> Result<(), ModelFailure> {
        if answer.get("error").is_some_and(|error| !error.is_null()) {
            return Err(classify::error_event(answer));
        }
        let choice = answer["choices"].get(0).ok_or_else(|| classify::unreadable("no choices"))?;
        self.choice(choice, "message", deltas);
        usage(&answer["usage"], deltas);
        self.over = true;
        Ok(())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    fn choice(&mut self, choice: &Value, said: &str, deltas: &mut Vec<Delta>) {
        let message = &choice[said];
        if !self.noted_thoughts
            && let Some(field) = REASONING_FIELDS.into_iter().find(|field| !is_empty(&message[*field]))
        {
            self.noted_thoughts = true;
            deltas.push(Delta::Dropped(field.to_owned()));
        }
        content(&message["content"], deltas);
        content(&message["refusal"], deltas);
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            self.call(call, deltas);
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            deltas.push(Delta::End(match reason {
                // The first of each is the documented word; local servers and gateways have others.
                "stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token" | "stop_token" | "STOP" => {
                    EndReason::EndTurn
                }
                "tool_calls" | "function_call" | "tool_use" => EndReason::ToolUse,
                "length" | "max_tokens" | "model_length" | "MAX_TOKENS" => EndReason::MaxTokens,
                "content_filter" | "refusal" | "safety" | "SAFETY" => EndReason::Refusal(reason.to_owned()),
                other => EndReason::Other(other.to_owned()),
            }));
        }
    }

    fn call(&mut self, call: &Value, deltas: &mut Vec<Delta>) {
        let index = call["index"].as_u64();
        let non_empty = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let id = non_empty(&call["id"]);
        let name = non_empty(&call["function"]["name"]);
        let json = match &call["function"]["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers send the object itself.
            other => other.to_string(),
        };
        let known = self.calls.iter().rposition(|known| match (index, &id) {
            (Some(_), Some(_)) => known.index == index && (known.id.is_none() || known.id == id),
            (Some(_), None) => known.index == index,
            (None, Some(_)) => known.id == id,
            (None, None) => name.is_none(),
        });
        match known {
            Some(at) => {
                let kept = &mut self.calls[at];
                kept.id = kept.id.take().or_else(|| id.clone());
                deltas.push(Delta::Call { index: at, id, name, json });
            }
            None => {
                self.calls.push(Call { index, id: id.clone() });
                let name = Some(name.unwrap_or_default());
                deltas.push(Delta::Call { index: self.calls.len() - 1, id, name, json });
            }
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A text, or a list of pieces of which some are text.
fn content(content: &Value, deltas: &mut Vec<Delta>) {
    match content {
        Value::String(text) if !text.is_empty() => deltas.push(Delta::Text(text.clone())),
        Value::Array(pieces) => {
            for piece in pieces {
                match piece["text"].as_str() {
                    Some(text) if !text.is_empty() => deltas.push(Delta::Text(text.to_owned())),
                    Some(_) => {}
                    None => deltas.push(Delta::Dropped(piece["type"].as_str().unwrap_or("unknown").to_owned())),
                }
            }
        }
        _ => {}
    }
}

/// The wire counts cached tokens as part of the prompt, we do not.
fn usage(usage: &Value, deltas: &mut Vec<Delta>) {
    if usage.is_object() {
        let tokens = |key| usage[key].as_u64().unwrap_or_default();
        let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or_default();
        deltas.push(Delta::Usage(Usage {
            input_tokens: tokens("prompt_tokens").saturating_sub(cached),
            output_tokens: tokens("completion_tokens"),
            cache_read_tokens: cached,
            cache_write_tokens: 0,
        }));
    }
}
