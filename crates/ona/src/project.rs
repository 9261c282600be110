//! Commands about where a project stands: `ona status`, `phase`, `conversations`, `init`.

use crate::args::Conversations;
use crate::{output, transition};
use ona_api::{ConversationId, Group, Phase, Row};
use ona_runtime::overview::overview;
use ona_runtime::{Failure, Launch, at, block_on, ids, starter};
use ona_store::{Conversation, Reader};
use serde_json::{Value, json};

pub(crate) fn status(launch: &Launch, as_json: bool) -> Result<u8, Failure> {
    let told = block_on(overview(launch))?;
    if as_json {
        output::json(&told);
        return Ok(0);
    }
    for (name, value) in told.as_object().into_iter().flatten() {
        let name = name.replace('_', " ");
        match value {
            Value::Array(items) if items.is_empty() => output::line(format_args!("{name:<16} none")),
            Value::Array(items) => {
                items.iter().for_each(|item| output::line(format_args!("{name:<16} {}", plain(item))));
            }
            other => output::line(format_args!("{name:<16} {}", plain(other))),
        }
    }
    Ok(0)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| format!("{} {}", key.replace('_', " "), plain(value)))
            .collect::<Vec<_>>()
            .join(", "),
        other => other.to_string(),
    }
}

/// Prints the phase, or moves to another one.
pub(crate) fn phase(launch: &mut Launch, to: Option<&str>) -> Result<u8, Failure> {
    if launch.options.conversation.is_none() {
        let store = launch.look_plain()?;
        let failed = |error| launch.store_failure(error);
        let reader = store.reader().map_err(failed)?;
        launch.options.conversation = Some(ids::last_conversation(launch, reader)?.0);
    }
    if let Some(to) = to {
        return transition::run(launch, to, false);
    }
    let store = launch.look_plain()?;
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    let named = launch.options.conversation.as_deref().unwrap_or_default();
    let phase = reader.phase(&ids::conversation(launch, reader, named)?).map_err(failed)?;
    output::line(phase.map_or("idle", Phase::as_str));
    Ok(0)
}

pub(crate) fn conversations(launch: &Launch, command: &Conversations) -> Result<u8, Failure> {
    let failed = |error| launch.store_failure(error);
    match command {
        Conversations::List { json } => {
            let store = launch.look_plain()?;
            let all = store.reader().and_then(Reader::conversations).map_err(failed)?;
            if *json {
                output::json(&all.iter().map(described).collect());
            } else if all.is_empty() {
                output::note("No conversations.");
            }
            for one in all.iter().filter(|_| !*json) {
                let Conversation { id, last_active, project_dir, .. } = one;
                output::line(format_args!("{id:<36}  {:<9}  {last_active}  {project_dir}", phase_of(one)));
            }
        }
        Conversations::New => {
            launch.operator_only("conversations")?;
            let open = launch.open()?;
            let id = ConversationId::random();
            let project_dir = launch.project.to_string_lossy().into_owned();
            open.store.commit_now(&at(&id, ""), Group(vec![Row::Conversation { project_dir }])).map_err(failed)?;
            output::line(&id);
        }
    }
    Ok(0)
}

fn phase_of(one: &Conversation) -> String {
    one.phase.as_ref().map_or_else(|unknown| unknown.0.clone(), |phase| phase.as_str().to_owned())
}

fn described(one: &Conversation) -> Value {
    json!({"id": one.id, "phase": phase_of(one), "project_dir": one.project_dir, "created_at": one.created_at,
        "last_active": one.last_active})
}

pub(crate) fn init(launch: &Launch) -> Result<u8, Failure> {
    for file in starter::write(launch)? {
        let what = if file.is_new { "written" } else { "already there" };
        output::line(format_args!("{what}: {}", file.path.display()));
    }
    output::note("Hooks and allow rules of this folder count once you trust it: ona --trust doctor");
    Ok(0)
}
