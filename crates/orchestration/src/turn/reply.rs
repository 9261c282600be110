//! A reply of the model as rows, calls and verdict.

use super::{Turn, TurnOutcome};
use crate::events::TurnEvent;
use crate::model::Model;
use crate::pipeline::HeldRows;
use crate::records;
use crate::session::Session;
use ona_api::model::{EndReason, FailureClass, ModelFailure, Part, Reply, Usage};
use ona_api::row::Block;
use ona_api::{CallId, Entry, Group, Row, SystemEntry, ToolCall};
use ona_store::StoreError;
use serde_json::json;
use std::sync::Arc;

impl Turn {
    /// The rows of a reply and its calls: one group (section 2.5, step 5). The reply is told
    /// once they are committed (DEC-194).
    pub(super) fn record(
        &self,
        model: &Model,
        reply: Reply,
        fault: Option<&ReplyFault>,
        outcome: &mut TurnOutcome,
    ) -> HeldRows {
        let mut group = Group::default();
        let content = reply.parts.iter().filter_map(block).collect();
        group.push(Row::Transcript(Entry::Assistant { uuid: CallId::random().0, content }));
        group.push(Row::Transcript(used(model, &reply.usage)));
        for part in &reply.parts {
            match part {
                Part::ToolUse { id, name, input } => {
                    let name = ona_api::tool::canonical(name).to_owned();
                    group.push(Row::Transcript(Entry::ToolUse { id: id.clone(), name, input: input.clone() }));
                }
                Part::Text(text) => outcome.text.clone_from(text),
                Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => {}
            }
        }
        if !reply.dropped.is_empty() {
            let data = records::object(json!({"kind": "dropped_blocks", "types": reply.dropped}));
            group.push(Row::Transcript(Entry::Progress { data }));
        }
        if let Some(fault) = fault {
            group.push(partial(fault.failure.message.clone()));
        }
        let told = TurnEvent::Assistant {
            model: model.choice.wire_model.clone(),
            parts: reply.parts,
            usage: reply.usage,
            end: reply.end,
        };
        let events = Arc::clone(&self.events);
        HeldRows::new(group, move || events(told))
    }

    /// Records the text that had arrived before an interrupt, if any: what a person has read is
    /// part of the conversation. A call in it is left out, because its input may be half.
    pub(super) async fn record_partial(
        &self,
        session: &Session,
        model: &Model,
        received: Reply,
        outcome: &mut TurnOutcome,
    ) -> Result<(), StoreError> {
        if reply_text(&received).trim().is_empty() {
            return Ok(());
        }
        let fault = ReplyFault::interrupted();
        self.record(model, received, Some(&fault), outcome).commit(&self.pipeline.store, &session.place).await
    }
}

/// Says of the reply before it that it is not whole.
fn partial(message: String) -> Row {
    Row::Transcript(Entry::System(SystemEntry::PartialReply { message }))
}

/// The row that says what a reply used.
pub(crate) fn used(model: &Model, usage: &Usage) -> Entry {
    ona_transcript::usage_entry(&model.choice.wire_model, model.choice.model_id, usage)
}

/// The calls of a reply as the model made them.
pub(super) fn calls(reply: &Reply) -> Vec<ToolCall> {
    let call = |part: &Part| match part {
        Part::ToolUse { id, name, input } => {
            Some(ToolCall { id: id.clone(), name: name.clone(), input: input.clone() })
        }
        Part::Text(_) | Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    };
    reply.parts.iter().filter_map(call).collect()
}

/// What a call is answered with that is not run because of how its reply ended.
pub(super) const NOT_RUN: &str = "Not run: the reply that asked for this call is not complete.";

/// Why a reply is not an answer like others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReplyFault {
    pub failure: ModelFailure,
    /// Its calls are whole and may run; the next request then goes on from there.
    pub calls_count: bool,
}

impl ReplyFault {
    fn interrupted() -> Self {
        let message = "interrupted while the reply arrived; this is what had arrived".to_owned();
        let class = FailureClass::Unknown;
        let failure = ModelFailure { class, message, transient: false, retry_after: None, status: None };
        Self { failure, calls_count: false }
    }

    /// Judged by the reason the provider gave; a reason nobody knows is not taken for an end.
    pub(crate) fn of(reply: &Reply) -> Option<Self> {
        use FailureClass::{InvalidRequest, MaxOutputTokens, Unknown};
        let (class, message, calls_count) = match reply.end.as_ref()? {
            EndReason::EndTurn | EndReason::ToolUse => return None,
            EndReason::MaxTokens => (MaxOutputTokens, "the reply was cut off at the output limit".to_owned(), true),
            EndReason::Refusal(word) => {
                (InvalidRequest, format!("the model or its provider refused to answer (stop reason {word})"), false)
            }
            EndReason::Other(word) => {
                let word: String = word.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect();
                match word.as_str() {
                    "model_context_window_exceeded" => (
                        MaxOutputTokens,
                        format!(
                            "the reply was cut off because the context window is full (stop reason {word}); /compact makes room"
                        ),
                        true,
                    ),
                    "pause_turn" => (
                        Unknown,
                        format!("the model paused before it was done (stop reason {word}); ask it to continue"),
                        true,
                    ),
                    _ => (
                        Unknown,
                        format!(
                            "the reply ended for a reason that is not known (stop reason {word}) and may be incomplete"
                        ),
                        true,
                    ),
                }
            }
        };
        let failure = ModelFailure { class, message, transient: false, retry_after: None, status: None };
        Some(Self { failure, calls_count })
    }
}

/// Characters of an unknown reason that are repeated.
const MAX_REASON: usize = 60;

/// The texts of a reply, one below the other.
pub(super) fn reply_text(reply: &Reply) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::ToolUse { .. } | Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    };
    reply.parts.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// A part of a reply as a content block; the set is closed.
fn block(part: &Part) -> Option<Block> {
    match part {
        Part::Text(text) => Some(Block::Text(text.clone())),
        Part::ToolUse { id, name, input } => {
            let name = ona_api::tool::canonical(name).to_owned();
            Some(Block::ToolUse { id: id.clone(), name, input: input.clone() })
        }
        Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_an_end_or_a_fault_with_its_words() {
        use FailureClass::{InvalidRequest, MaxOutputTokens, Unknown};
        let other = |word: &str| EndReason::Other(word.to_owned());
        for (end, expected) in [
            (EndReason::EndTurn, None),
            (EndReason::ToolUse, None),
            (EndReason::MaxTokens, Some((MaxOutputTokens, true, "output limit"))),
            (EndReason::Refusal("refusal".into()), Some((InvalidRequest, false, "stop reason refusal"))),
            (EndReason::Refusal("content_filter".into()), Some((InvalidRequest, false, "stop reason content_filter"))),
            (other("model_context_window_exceeded"), Some((MaxOutputTokens, true, "context window is full"))),
            (other("pause_turn"), Some((Unknown, true, "ask it to continue"))),
            (other("brand_new"), Some((Unknown, true, "not known (stop reason brand_new)"))),
            (other("a\u{1b}[2J"), Some((Unknown, true, "(stop reason a[2J)"))),
        ] {
            let fault = ReplyFault::of(&Reply { end: Some(end.clone()), ..Reply::default() });
            match (&fault, expected) {
                (None, None) => {}
                (Some(fault), Some((class, calls_count, words))) => {
                    assert_eq!((fault.failure.class, fault.calls_count), (class, calls_count), "{end:?}");
                    assert!(fault.failure.message.contains(words), "{fault:?}");
                }
                _ => panic!("{end:?}: {fault:?}"),
            }
        }
    }
}
