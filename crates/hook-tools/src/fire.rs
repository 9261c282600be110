//! Fires the hooks of any event and records what they did, so that all 27 contracts can be tried
//! from outside (DEC-063).

use crate::event_input::{firing, parse};
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{EventName, Group, LoggedEvent, Row, Ruling, SessionOrigin};
use ona_hookplane::HookOutcome;
use ona_orchestration::{Operator, Profile, builtin_tools};
use ona_runtime::{
    Failure, Launch, Purpose, Runtime, hook_handlers,
    session_lookup::{self, Wanted},
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs the hooks of an event in a session of their own, unless the event names one. Returns
/// what came of it, as redacted JSON.
pub async fn fire_event(
    launch: &Launch,
    text: &str,
    conversation: &str,
    operator: Arc<dyn Operator>,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let asked = parse(text)?;
    let cwd = asked.text("cwd").map_or_else(|| launch.cwd.clone(), PathBuf::from);
    let open = launch.open()?;
    let store = &open.store;
    let mut runtime = Runtime::new(launch, &open, &cwd, Purpose::Call, cancel)?;
    runtime.load_modules(launch, &open).await?;
    runtime.announce_guards(launch, &open)?;
    runtime.judge_flags(launch).await?;
    let wanted = Wanted {
        conversation: asked.base_text("conversation_id").map(Into::into),
        session: asked.base_text("session_id").map(Into::into),
        otherwise: conversation.into(),
        start: SequenceStart::Zero,
    };
    let place = session_lookup::find(launch, store, wanted)?;
    let _lock = asked.base_text("session_id").is_some().then(|| launch.lock_session(&place.session)).transpose()?;
    let mut opening = Group::default();
    opening.push(Row::Conversation { project_dir: runtime.project().to_string_lossy().into_owned() });
    opening.push(Row::Session);
    opening.log(LoggedEvent::SessionCreated(SessionOrigin::FireHook));
    opening.append(runtime.take_findings());
    let failed = |error| launch.store_failure(error);
    store.commit(&place, opening).await.map_err(failed)?;

    let mut session = runtime.session(store, place.clone()).map_err(failed)?;
    hook_handlers::set_judge_model_if_needed(launch, &open, &runtime, &session, &operator)?;
    let firing = firing(&asked, &mut session, &builtin_tools(Profile::FiredHook))?;
    runtime.mcp.start_for_hooks(&runtime.hooks.list()).await;
    let outcome = runtime.hooks.fire(firing).await;
    runtime.mcp.servers.close().await;
    store.commit(&place, outcome.rows()).await.map_err(failed)?;
    let described = described(asked.event, &place, &outcome).to_string();
    Ok(open.redactor.apply(&described).into_owned())
}

fn described(event: EventName, place: &SessionKey, outcome: &HookOutcome) -> Value {
    let hooks: Vec<_> = outcome
        .runs
        .iter()
        .map(|run| {
            json!({
                "hook_ordinal": run.ordinal,
                "matcher": run.matcher,
                "command": run.command,
                "exit_code": run.exit_code,
                "skipped_reason": run.skipped.map(|skip| skip.as_str()),
            })
        })
        .collect();
    let ruling = outcome.ruling.as_ref().map(|(ruling, ..)| match ruling {
        Ruling::Allow => "allow",
        Ruling::Ask => "ask",
        Ruling::Deny => "deny",
    });
    let pairs = |all: &[(ona_api::Ordinal, String)]| -> Vec<Value> {
        all.iter().map(|(ordinal, text)| json!({"hook_ordinal": ordinal, "text": text})).collect()
    };
    let mut described = json!({
        "hook_event_name": event.as_str(),
        "session_id": place.session,
        "conversation_id": place.conversation,
        "permission": ruling,
        "denied": outcome.is_denied(),
        "message": outcome.message(),
        "blocks": pairs(&outcome.blocks),
        "continue": outcome.stop.is_none(),
        "additional_context": outcome.context.iter().map(|d| d.context.text.clone()).collect::<Vec<_>>(),
        "system_messages": pairs(&outcome.messages),
        "hook_specific_output": outcome.specific.iter().map(|(ordinal, fields)| {
            json!({"hook_ordinal": ordinal, "fields": fields})
        }).collect::<Vec<_>>(),
        "notes": outcome.notes.iter().map(|note| {
            json!({"event_type": note.kind.as_str(), "hook_ordinal": note.ordinal, "why": note.why})
        }).collect::<Vec<_>>(),
        "failed": outcome.failed,
        "hooks": hooks,
    });
    if let Some((_, reason)) = &outcome.stop {
        described["stop_reason"] = json!(reason);
    }
    if let Some(input) = &outcome.input {
        described["updated_input"] = input.clone();
    }
    described
}
