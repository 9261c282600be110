//! `ona --fire-hook`: runs the chain of any event and prints what it came to, so
//! that all 27 contracts can be tried from outside (DEC-063).

use crate::interrupt;
use crate::operator::EvalOperator;
use crate::output;
use crate::startup::read_text;
use ona_api::event::BASE_FIELDS;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{Access, EventName, Group, LoggedEvent, Mode, Row, Ruling, SessionOrigin};
use ona_hookplane::{Base, Firing, HookOutcome, contract};
use ona_orchestration::{Operator, Session};
use ona_runtime::{
    Failure, Launch, Purpose, Runtime, block_on, hook_handlers,
    session_lookup::{self, Wanted},
};
use ona_tools::ToolBox;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub fn run(launch: &Launch, text: &str, yes: bool) -> Result<u8, Failure> {
    let asked = parse(&read_text(text)?)?;
    let cwd = asked.text("cwd").map_or_else(|| launch.cwd.clone(), PathBuf::from);
    let open = launch.open()?;
    let store = &open.store;
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let mut runtime = Runtime::new(launch, &open, &cwd, Purpose::Call, &cancel)?;
        runtime.load_modules(launch, &open).await?;
        runtime.announce_guards(launch, &open)?;
        runtime.judge_flags(launch).await?;
        let wanted = Wanted {
            conversation: asked.base.get("conversation_id").and_then(Value::as_str).map(Into::into),
            session: asked.base.get("session_id").and_then(Value::as_str).map(Into::into),
            otherwise: "fire-hook".into(),
            start: SequenceStart::Zero,
        };
        let place = session_lookup::find(launch, store, wanted)?;
        let _lock = asked.base.contains_key("session_id").then(|| launch.lock_session(&place.session)).transpose()?;
        let mut opening = Group::default();
        opening.push(Row::Conversation { project_dir: runtime.project().to_string_lossy().into_owned() });
        opening.push(Row::Session);
        opening.log(LoggedEvent::SessionCreated(SessionOrigin::FireHook));
        opening.append(runtime.take_findings());
        let failed = |error| launch.store_failure(error);
        store.commit(&place, opening).await.map_err(failed)?;

        let mut session = runtime.session(store, place.clone()).map_err(failed)?;
        let operator: Arc<dyn Operator> = Arc::new(EvalOperator { agent_shell: launch.agent_shell, yes });
        hook_handlers::seat_if_needed(launch, &open, &runtime, &session, &operator)?;
        let firing = firing(&asked, &mut session, &ToolBox::builtin())?;
        runtime.fleet.start_for_hooks(&runtime.hooks.list()).await;
        let outcome = runtime.hooks.fire(firing).await;
        runtime.fleet.servers.close().await;
        store.commit(&place, outcome.rows()).await.map_err(failed)?;
        output::line(open.redactor.apply(&described(asked.event, &place, &outcome).to_string()));
        Ok(if cancel.is_cancelled() { interrupt::INTERRUPTED } else { 0 })
    })
}

/// The firing that was asked for, in this session.
pub fn firing(asked: &Asked, session: &mut Session, tools: &ToolBox) -> Result<Firing, Failure> {
    session.agent_id = asked.text("agent_id").map(str::to_owned);
    session.agent_type = asked.text("agent_type").map(str::to_owned);
    let mut base: Base = session.base();
    if let Some(mode) = asked.text("permission_mode") {
        base.mode = Some(mode.parse::<Mode>().map_err(Failure::usage)?);
    }
    let tool = asked.fields.get("tool_name").and_then(Value::as_str).and_then(|name| tools.get(name));
    let cx = session.cx.clone();
    let mut firing = Firing::new(asked.event, base, Value::Object(asked.fields.clone())).with_access(move |input| {
        let plan = tool.clone().and_then(|tool| tool.plan(input, &cx).ok());
        plan.map_or_else(|| told(input), |plan| plan.access)
    });
    if contract::of(asked.event).env_file {
        firing.env_file = session.env_file.path().map(ToOwned::to_owned);
    }
    Ok(firing)
}

/// What an input says by itself about a tool that is not here.
fn told(input: &Value) -> Vec<Access> {
    input["url"].as_str().map(|url| Access::Fetch { url: url.to_owned() }).into_iter().collect()
}

/// One event, as it was typed.
pub struct Asked {
    pub event: EventName,
    base: Map<String, Value>,
    fields: Map<String, Value>,
}

impl Asked {
    /// A base field, or an event's own field of the same name.
    fn text(&self, name: &str) -> Option<&str> {
        self.base.get(name).or(self.fields.get(name)).and_then(Value::as_str)
    }
}

const SHAPE: &str = r#"ona --fire-hook '{"hook_event_name":"SessionStart","source":"startup"}'"#;

pub fn parse(text: &str) -> Result<Asked, Failure> {
    let mut object: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| Failure::usage(format_args!("the event is not a JSON object: {error}")).hint(SHAPE))?;
    let wrong = |what: String| Failure::usage(what).hint(SHAPE);
    let name = object.get("hook_event_name").and_then(Value::as_str);
    let name = name.ok_or_else(|| wrong("the field \"hook_event_name\" is missing".into()))?;
    let event = name.parse::<EventName>().map_err(|unknown| wrong(unknown.to_string()))?;
    event.check(&object).map_err(|bad| wrong(format!("{event}: {bad}")))?;
    if event == EventName::SubagentStop {
        // There is no transcript file; the field is always sent empty (DEC-062).
        object.insert("agent_transcript_path".into(), "".into());
    }
    let (mut base, mut fields) = (Map::new(), Map::new());
    for (key, value) in &object {
        let is_base = BASE_FIELDS.iter().any(|field| field.name == key);
        if is_base && !value.is_string() {
            return Err(wrong(format!("{event}: the field {key:?} must be a string")));
        }
        if is_base {
            base.insert(key.clone(), value.clone());
        } else if !event.fields().iter().any(|field| field.name == key) {
            return Err(wrong(format!("{event} has no field {key:?}")));
        }
    }
    // In the order of Appendix A, whatever order they were typed in.
    for field in event.fields() {
        if let Some(value) = object.get(field.name) {
            fields.insert(field.name.to_owned(), value.clone());
        }
    }
    Ok(Asked { event, base, fields })
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
