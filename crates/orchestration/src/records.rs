//! The transcript rows a call leaves beside its result.

use ona_api::tool::FileState;
use ona_api::{CallId, Entry, EventName, Group, Row, SystemEntry, ToolCall, ToolResult};
use ona_hookplane::{AttributedContext, HookOutcome};
use serde_json::{Map, Value, json};

/// Everything one chain leaves: its hook rows, its context for the model, its
/// messages for the operator.
pub(crate) fn chain(group: &mut Group, event: EventName, call: Option<&CallId>, outcome: &HookOutcome) {
    group.append(outcome.rows());
    for delivered in &outcome.context {
        context(group, event, call, delivered);
    }
    for (ordinal, message) in &outcome.messages {
        let entry = SystemEntry::HookMessage { event, ordinal: *ordinal, message: message.clone() };
        group.push(Row::Transcript(Entry::System(entry)));
    }
    if let Some((ordinal, reason)) = &outcome.stop {
        let entry = SystemEntry::HookStopped { event, ordinal: *ordinal, reason: reason.clone() };
        group.push(Row::Transcript(Entry::System(entry)));
    }
}

/// The context alone, for a session other than the one the hooks ran in.
pub(crate) fn contexts(group: &mut Group, event: EventName, outcome: &HookOutcome) {
    for delivered in &outcome.context {
        context(group, event, None, delivered);
    }
}

/// One row per text (DEC-033); a preview's whole text goes to an attachment row.
fn context(group: &mut Group, event: EventName, call: Option<&CallId>, delivered: &AttributedContext) {
    internal(
        group,
        call,
        json!({
            "hook_event": event.as_str(),
            "hook_ordinal": delivered.ordinal.0,
            "dialect": delivered.dialect,
            "additional_context": delivered.context.text,
        }),
    );
    if let Some(whole) = &delivered.context.whole {
        let attachment = json!({"kind": "hook_context", "hook_ordinal": delivered.ordinal.0, "text": whole});
        group.push(Row::Transcript(Entry::Attachment { attachment: object(attachment), call: call.cloned() }));
    }
}

/// Messages of PostToolUse hooks that exited 2, joined in ordinal order, for the model.
pub(crate) fn post_messages(group: &mut Group, event: EventName, call: &CallId, outcome: &HookOutcome) {
    if let Some((ordinal, _)) = outcome.blocks.first() {
        internal(
            group,
            Some(call),
            json!({"hook_event": event.as_str(), "hook_ordinal": ordinal.0, "additional_context": outcome.message()}),
        );
    }
}

/// The model's input stays in its tool_use row; what ran instead is kept beside it.
pub(crate) fn rewritten(group: &mut Group, event: EventName, call: &ToolCall, effective: &Value) {
    internal(
        group,
        Some(&call.id),
        json!({"hook_event": event.as_str(), "requested_input": call.input, "effective_input": effective}),
    );
}

pub(crate) fn may_retry(group: &mut Group, call: &CallId) {
    internal(
        group,
        Some(call),
        json!({"hook_event": "PermissionDenied", "additional_context": "A hook says this call may be tried again."}),
    );
}

/// The result, and what belongs directly after it (DEC-032).
pub(crate) fn result(group: &mut Group, call: &CallId, result: &ToolResult) {
    group.push(Row::Transcript(Entry::ToolResult {
        id: call.clone(),
        content: result.content.clone(),
        is_error: result.is_error(),
    }));
    for attachment in &result.attachments {
        let fields = json!({
            "kind": attachment.kind, "media_type": attachment.media_type, "data": attachment.data, "tool_use_id": call,
        });
        group.push(Row::Transcript(Entry::Attachment { attachment: object(fields), call: Some(call.clone()) }));
    }
    seen(group, &result.seen, Some(call));
    // What a module's tool wants to find again and no model sees (DEC-176).
    if let Some(details) = result.data.get("details") {
        let fields = json!({"kind": "tool_details", "tool_use_id": call, "details": details});
        group.push(Row::Transcript(Entry::Attachment { attachment: object(fields), call: Some(call.clone()) }));
    }
    // A model must learn why a shell failed; the result's own shape has no place for it (DEC-090).
    if let Some(code) = result.data.get("exit_code").filter(|code| result.is_error() && code.is_number()) {
        let data = json!({"kind": "exit_code", "tool_use_id": call, "exit_code": code});
        group.push(Row::Transcript(Entry::Progress { data: object(data) }));
    }
}

/// What the tool itself gave, where hooks put something else in its place.
pub(crate) fn replaced(group: &mut Group, call: &CallId, original: &ToolResult) {
    let fields = json!({"tool_use_id": call, "content": original.content, "is_error": original.is_error()});
    group.push(Row::Transcript(Entry::ContentReplacement { fields: object(fields), call: Some(call.clone()) }));
}

/// Words a hook puts into the user's mouth, after a result.
pub(crate) fn spoken(group: &mut Group, text: &str) {
    group.push(Row::Transcript(Entry::User {
        uuid: CallId::random().0,
        content: vec![ona_api::row::Block::Text(text.to_owned())],
    }));
}

/// The state of files as the session now knows it.
pub(crate) fn seen(group: &mut Group, seen: &[FileState], call: Option<&CallId>) {
    for seen in seen {
        let fields = json!({"path": seen.path.to_string_lossy(), "sha256": seen.sha256});
        group.push(Row::Transcript(Entry::FileHistorySnapshot { fields: object(fields), call: call.cloned() }));
    }
}

fn internal(group: &mut Group, call: Option<&CallId>, fields: Value) {
    group.push(Row::Transcript(Entry::InternalHook { fields: object(fields), call: call.cloned() }));
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => unreachable!("built as an object above"),
    }
}
