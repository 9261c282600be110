//! Events around sessions and turns: fire, record, tell the operator.

use crate::events::{Events, TurnEvent};
use crate::records;
use crate::session::Session;
use ona_api::{EventName, Group};
use ona_hookplane::{Firing, HookEngine, HookOutcome, contract};
use ona_store::{Store, StoreError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Fires one event and commits its rows in a group of their own (DEC-017).
pub async fn lifecycle(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
    event: EventName,
    fields: Value,
) -> Result<HookOutcome, StoreError> {
    let outcome = fire(hooks, session, event, fields).await;
    let mut group = Group::default();
    records::chain(&mut group, event, None, &outcome);
    store.commit(&session.place, group).await?;
    tell(events, &outcome);
    if matches!(event, EventName::SessionStart | EventName::FileChanged | EventName::CwdChanged) {
        session.follow(&outcome, hooks);
    }
    Ok(outcome)
}

/// Moves a session to another folder and notifies hooks.
pub async fn change_folder(
    store: &Store,
    hooks: &HookEngine,
    session: &mut Session,
    events: &Events,
    folder: PathBuf,
) -> Result<(), StoreError> {
    let old = std::mem::replace(&mut session.cx.cwd, folder);
    let fields = json!({"old_cwd": old.to_string_lossy(), "new_cwd": session.cx.cwd.to_string_lossy()});
    lifecycle(store, hooks, session, events, EventName::CwdChanged, fields).await.map(drop)
}

pub(crate) async fn fire(hooks: &HookEngine, session: &mut Session, event: EventName, fields: Value) -> HookOutcome {
    if !hooks.listens_to(event) {
        return HookOutcome::default();
    }
    let env_file = contract::of(event).env_file.then(|| session.env_file.path().map(Path::to_owned)).flatten();
    let firing = Firing { env_file, ..Firing::new(event, session.base(), fields) };
    hooks.fire(firing).await
}

pub(crate) fn tell(events: &Events, outcome: &HookOutcome) {
    for (_, message) in &outcome.messages {
        events(TurnEvent::Message(message.clone()));
    }
}
