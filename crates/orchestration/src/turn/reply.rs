//! A reply of the model as rows, calls and verdict.

use super::{Turn, TurnOutcome};
use crate::events::TurnEvent;
use crate::model::Model;
use crate::pipeline::HeldRows;
use crate::records;
use ona_api::model::{EndReason, FailureClass, ModelFailure, Part, Reply, Usage};
use ona_api::row::Block;
use ona_api::{CallId, Entry, Group, Row, ToolCall};
use serde_json::json;
use std::sync::Arc;

impl Turn {
    /// The rows of a reply and its calls: one group (section 2.5, step 5). The reply is told
    /// once they are committed (DEC-194).
    pub(super) fn record(&self, model: &Model, reply: Reply, outcome: &mut TurnOutcome) -> HeldRows {
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
        let told = TurnEvent::Assistant {
            model: model.choice.wire_model.clone(),
            parts: reply.parts,
            usage: reply.usage,
            end: reply.end,
        };
        let events = Arc::clone(&self.events);
        HeldRows::new(group, move || events(told))
    }
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

/// A reply that ends at the output limit, with nothing to do that would go on from it.
pub(super) fn was_cut(reply: &Reply) -> Option<ModelFailure> {
    let cut = reply.end == Some(EndReason::MaxTokens) && calls(reply).is_empty();
    cut.then(|| ModelFailure {
        class: FailureClass::MaxOutputTokens,
        message: "the reply was cut off at the output limit".into(),
        transient: false,
        retry_after: None,
        status: None,
    })
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
