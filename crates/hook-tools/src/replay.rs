//! Runs today's hooks on a recorded call and compares: whether the call is denied, and with what
//! input it would run. Only the hooks run, and no row is written.

use crate::bench::{HookBench, decision};
use crate::event_input::parse;
use ona_hookplane::HookOutcome;
use ona_orchestration::Session;
use ona_runtime::Failure;
use ona_store::RecordedCall;
use serde_json::{Value, json};

/// Runs the hooks on a recorded call and returns what would be different, if anything.
pub async fn replay_call(
    bench: &HookBench,
    session: &mut Session,
    call: &RecordedCall,
) -> Result<Option<Value>, Failure> {
    // Hooks are told absolute paths; a call that does not fit its tool reaches none.
    let planned = bench.tools.get(&call.name).map(|tool| tool.plan(&call.input, &session.cx).map(|plan| plan.input));
    let Ok(input) = planned.unwrap_or_else(|| Ok(call.input.clone())) else { return Ok(None) };
    let event = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": call.name,
        "tool_input": input,
        "tool_use_id": call.id,
    });
    let outcome = bench.fire(session, &parse(&event.to_string())?).await?;
    Ok(difference(call, &input, &outcome))
}

/// What would be different, or nothing.
fn difference(call: &RecordedCall, input: &Value, outcome: &HookOutcome) -> Option<Value> {
    let denied_then = denial(call);
    let now = decision(outcome);
    let input_then = call.effective_input.as_ref().unwrap_or(input);
    let input_now = outcome.input.as_ref().unwrap_or(input);
    let same_verdict = denied_then.is_some() == outcome.is_denied();
    if same_verdict && (outcome.is_denied() || input_then == input_now) {
        return None;
    }
    let mut told = json!({
        "tool_use_id": call.id,
        "tool": call.name,
        "input": call.input,
        "then": if denied_then.is_some() { "deny" } else { "pass" },
        "now": if outcome.is_denied() { "deny" } else { "pass" },
        "decision": now,
        "message": outcome.message(),
    });
    if let Some(message) = denied_then {
        told["message_then"] = json!(message);
    }
    if !outcome.is_denied() && input_then != input_now {
        told["input_then"] = input_then.clone();
        told["input_now"] = input_now.clone();
    }
    Some(told)
}

/// The words with which hooks denied the call, if they did.
fn denial(call: &RecordedCall) -> Option<String> {
    let by_hook = call.decisions.iter().any(|one| one.decision == "deny" && one.reason["source"] == "hook");
    let words = call.result.as_ref().and_then(|result| result["content"].as_str()).unwrap_or_default();
    let before_the_tool = words.starts_with("Denied by PreToolUse hook") || words.starts_with("Stopped by hook");
    (by_hook && before_the_tool).then(|| words.to_owned())
}

/// Returns a difference as text.
pub fn difference_text(one: &Value) -> String {
    let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let mut told = format!(
        "{} {}  {} -> {}\n  input  {}",
        text("tool"),
        text("tool_use_id"),
        text("then"),
        text("now"),
        one["input"]
    );
    if let (Some(then), Some(now)) = (one.get("input_then"), one.get("input_now")) {
        told.push_str(&format!("\n  then   {then}\n  now    {now}"));
    }
    let message = text("message");
    if !message.is_empty() {
        told.push_str(&format!("\n  says   {}", message.replace('\n', "\n         ")));
    }
    told
}
