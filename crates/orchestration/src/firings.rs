//! The events around one tool call, as values.

use crate::operator::suggestions;
use crate::session::Session;
use ona_api::{EventName, ToolCall, ToolResult};
use ona_hookplane::{AccessOf, Firing, Lifetime};
use ona_tools::AnyTool;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

pub(crate) fn pre_tool_use(session: &Session, call: &ToolCall, tool: &Arc<dyn AnyTool>) -> Firing {
    let fields = json!({"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id});
    on_tool(session, EventName::PreToolUse, fields, tool)
}

/// `remember` are the rules that would let this very call pass from now on.
pub(crate) fn permission_request(
    session: &Session,
    call: &ToolCall,
    tool: &Arc<dyn AnyTool>,
    remember: &[String],
) -> Firing {
    let mut fields = json!({"tool_name": call.name, "tool_input": call.input});
    if let Some(update) = suggestions(remember) {
        fields["permission_suggestions"] = json!([update]);
    }
    Firing { call: Some(call.id.clone()), ..on_tool(session, EventName::PermissionRequest, fields, tool) }
}

pub(crate) fn permission_denied(session: &Session, call: &ToolCall, tool: &Arc<dyn AnyTool>, reason: &str) -> Firing {
    let fields = json!({"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id, "reason": reason});
    on_tool(session, EventName::PermissionDenied, fields, tool)
}

/// A person is about to be asked and may be looking elsewhere.
pub(crate) fn waits_for_answer(session: &Session, call: &ToolCall) -> Firing {
    let message = match call.name.as_str() {
        "AskUserQuestion" => "ona has a question for you".to_owned(),
        name => format!("ona needs your permission to use {name}"),
    };
    let fields = json!({"message": message, "title": "ona", "notification_type": "permission_prompt"});
    Firing { call: Some(call.id.clone()), ..Firing::new(EventName::Notification, session.base(), fields) }
}

/// PostToolUse after a success, PostToolUseFailure after anything else (DEC-063).
pub(crate) fn post_tool_use(
    session: &Session,
    call: &ToolCall,
    tool: &Arc<dyn AnyTool>,
    result: &ToolResult,
) -> Firing {
    if result.is_error() {
        let mut fields = json!({
            "tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id, "error": result.content,
        });
        let interrupted = session.cx.cancel.is_cancelled();
        if interrupted || result.data.get("is_interrupt") == Some(&Value::Bool(true)) {
            fields["is_interrupt"] = true.into();
        }
        let exit_code = result.data.get("exit_code").and_then(Value::as_i64);
        Firing { exit_code, ..on_tool(session, EventName::PostToolUseFailure, fields, tool) }
    } else {
        let fields = json!({
            "tool_name": call.name, "tool_input": call.input, "tool_response": result.response(), "tool_use_id": call.id,
        });
        on_tool(session, EventName::PostToolUse, fields, tool)
    }
}

/// A question that was not answered, as hooks written for Claude Code expect it:
/// they listen after the tool, whatever became of it (DECISIONS, section L).
pub(crate) fn unanswered(
    session: &Session,
    call: &ToolCall,
    tool: &Arc<dyn AnyTool>,
    result: &ToolResult,
) -> Option<Firing> {
    (call.name == "AskUserQuestion" && result.is_error()).then(|| {
        let fields = json!({
            "tool_name": call.name, "tool_input": call.input, "tool_response": result.response(), "tool_use_id": call.id,
        });
        on_tool(session, EventName::PostToolUse, fields, tool)
    })
}

pub(crate) fn cwd_changed(session: &mut Session, old: &Path, new: &Path) -> Firing {
    let fields = json!({"old_cwd": old.to_string_lossy(), "new_cwd": new.to_string_lossy()});
    let env_file = session.env_file.path().map(Path::to_owned);
    Firing { env_file, ..Firing::new(EventName::CwdChanged, session.base(), fields) }
}

fn on_tool(session: &Session, event: EventName, fields: Value, tool: &Arc<dyn AnyTool>) -> Firing {
    let mut firing = Firing { access: access_of(session, tool), ..Firing::new(event, session.base(), fields) };
    // A call that has run is reported, also when the turn was interrupted meanwhile.
    let reports = matches!(event, EventName::PostToolUse | EventName::PostToolUseFailure);
    if reports && session.cx.cancel.is_cancelled() {
        firing.lifetime = Lifetime::Report;
    }
    firing
}

/// Conditions look at what the input as it now is would touch. An input that cannot be
/// planned touches nothing: it is refused before anything runs.
fn access_of(session: &Session, tool: &Arc<dyn AnyTool>) -> AccessOf {
    let (tool, cx) = (Arc::clone(tool), session.cx.clone());
    Arc::new(move |input| Arc::clone(&tool).plan(input, &cx).map(|plan| plan.access).unwrap_or_default())
}
