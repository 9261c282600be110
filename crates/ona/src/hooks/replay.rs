//! `ona hooks replay`: today's hooks over the calls of a recorded session.
//!
//! Only what hooks decide is compared: whether the call is denied, and with what input
//! it would run. Nothing is executed but the hooks themselves, and no row is written.

use super::stand::{Stand, decision};
use crate::fire_hook::parse;
use crate::interrupt;
use crate::output;
use ona_api::SessionId;
use ona_hookplane::HookOutcome;
use ona_orchestration::Session;
use ona_runtime::{Failure, Launch, block_on, guards};
use ona_store::RecordedCall;
use serde_json::{Value, json};
use std::io::IsTerminal;
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// How often a person is told how far it is.
const PROGRESS: i64 = 100;

pub fn run(launch: &Launch, session: &str, config: Option<&Path>, as_json: bool) -> Result<u8, Failure> {
    let open = launch.look()?;
    let failed = |error| launch.store_failure(error);
    let reader = open.store.reader().map_err(failed)?;
    let recorded = SessionId::from(session);
    if reader.conversation_of(&recorded).map_err(failed)?.is_none() {
        return Err(Failure::usage(format_args!("there is no session {recorded}")).hint("ona sessions list"));
    }
    let all = reader.count_calls(&recorded).map_err(failed)?;
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let mut stand = Stand::new(launch, &open, config, &cancel).await?;
        stand.is_trusted(launch, &open, config)?;
        guards::mention(launch, &open, &stand.runtime);
        let mut session = stand.session(&open, launch)?;
        let (mut number, mut different) = (0, Vec::new());
        let mut calls = reader.calls_after(&recorded, None).map_err(failed)?;
        while let Some(last) = calls.last() {
            for call in &calls {
                if cancel.is_cancelled() {
                    return Ok(interrupt::INTERRUPTED);
                }
                if number > 0 && number % PROGRESS == 0 && std::io::stderr().is_terminal() {
                    output::note(format_args!("{number} of {all} calls"));
                }
                number += 1;
                different.extend(replayed(&stand, &mut session, call).await?);
            }
            calls = reader.calls_after(&recorded, Some(last)).map_err(failed)?;
        }
        stand.close().await;
        let count = different.len();
        if as_json {
            let report = json!({"calls": all, "different": different});
            output::line(open.redactor.apply(&report.to_string()));
        } else {
            for one in &different {
                output::line(open.redactor.apply(&told(one)));
            }
            output::note(format_args!("{count} of {all} calls would be decided differently"));
        }
        Ok(u8::from(count > 0))
    })
}

/// One call before today's hooks: what would be different, or nothing.
async fn replayed(stand: &Stand, session: &mut Session, call: &RecordedCall) -> Result<Option<Value>, Failure> {
    // Hooks are told absolute paths; a call that does not fit its tool reaches none.
    let planned = stand.tools.get(&call.name).map(|tool| tool.plan(&call.input, &session.cx).map(|plan| plan.input));
    let Ok(input) = planned.unwrap_or_else(|| Ok(call.input.clone())) else { return Ok(None) };
    let event = json!({
        "hook_event_name": "PreToolUse",
        "tool_name": call.name,
        "tool_input": input,
        "tool_use_id": call.id,
    });
    let outcome = stand.fire(session, &parse(&event.to_string())?).await?;
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

fn told(one: &Value) -> String {
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
