//! Commands of modules that open another session.
//!
//! Other modules are asked first. The new session stands in the same conversation, so that
//! phase and plan survive (DEC-103); the next prompt continues in it.

use super::entries::{self, Item};
use super::host::SessionHost;
use super::{records, rows};
use ona_api::row::{Block, SequenceStart, SessionKey};
use ona_api::{CallId, Entry, Group, LoggedEvent, Row, SessionId, SessionOrigin, SystemEntry};
use ona_modules::rules::{EmitOutcome, ModuleEvent, truthy};
use ona_modules::{HostCall, HostCallError};
use ona_store::StoreError;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

impl SessionHost {
    /// Asks, then makes the session; its rows come from `set_up`.
    pub(super) async fn new_session(&self, options: &Value) -> Result<Value, HostCallError> {
        let old = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let heard = self.tell_modules(&old, ModuleEvent::SessionBeforeSwitch { reason: "new", target: None }).await?;
        if heard.is_cancelled() {
            return Ok(json!({ "cancelled": true }));
        }
        let place = SessionKey { session: SessionId::random(), start: SequenceStart::Zero, ..old };
        let mut group = Group::default();
        group.push(Row::Session);
        let parent = options["parentSession"].clone();
        group.log(LoggedEvent::SessionCreated(SessionOrigin::Module { parent }));
        self.store.commit(&place, group).await.map_err(unstored)?;
        Ok(json!({"cancelled": false, "session": place.session}))
    }

    /// What is done next is done there.
    pub(super) async fn enter_session(&self, session: &str) -> Result<Value, HostCallError> {
        let old = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let place = SessionKey { session: SessionId::from(session), start: SequenceStart::Zero, ..old.clone() };
        self.enter_place(&place);
        let event = ModuleEvent::SessionSwitch { reason: "new", previous: Some(old.session.0) };
        self.tell_modules(&place, event).await?;
        Ok(Value::Null)
    }

    /// Another session that is there already.
    pub(super) async fn switch_session(&self, target: &str) -> Result<Value, HostCallError> {
        let old = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let session = SessionId::from(target);
        let conversation = self.store.reader().and_then(|reader| reader.conversation_of(&session)).map_err(unstored)?;
        let conversation =
            conversation.ok_or_else(|| HostCallError::new(format!("session {target} does not exist")))?;
        let event = ModuleEvent::SessionBeforeSwitch { reason: "resume", target: Some(target.to_owned()) };
        if self.tell_modules(&old, event).await?.is_cancelled() {
            return Ok(json!({ "cancelled": true }));
        }
        let place = SessionKey { conversation, session, start: SequenceStart::Zero };
        self.enter_place(&place);
        let event = ModuleEvent::SessionSwitch { reason: "resume", previous: Some(old.session.0) };
        self.tell_modules(&place, event).await?;
        Ok(json!({ "cancelled": false }))
    }

    /// A copy of the session that goes on from an earlier entry.
    pub(super) async fn branch(&self, entry: &str) -> Result<Value, HostCallError> {
        let old = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let at = self.position(&old, entry)?;
        let heard = self.tell_modules(&old, ModuleEvent::SessionBeforeBranch { entry: entry.to_owned() }).await?;
        if heard.is_cancelled() {
            return Ok(json!({ "cancelled": true }));
        }
        let place = SessionKey { session: SessionId::random(), start: SequenceStart::Zero, ..old.clone() };
        let mut group = Group::default();
        group.push(Row::Session);
        let of = old.session.clone();
        group.log(LoggedEvent::SessionCreated(SessionOrigin::ModuleBranch { of }));
        group.push(Row::CopyTranscript { from: old.session.clone() });
        self.store.commit(&place, group).await.map_err(unstored)?;
        let stays = heard.result.as_ref().is_some_and(|result| truthy(&result["skipConversationRestore"]));
        if !stays {
            // The copy has the entries of the original, in the same order.
            let items = entries::of(&self.store, &place.session).map_err(unstored)?;
            self.go_back(&place, items.get(at).map_or(0, Item::end), None).await?;
        }
        self.enter_place(&place);
        self.tell_modules(&place, ModuleEvent::SessionBranch { previous: Some(old.session.0) }).await?;
        Ok(json!({ "cancelled": false }))
    }

    /// The same session from an earlier entry on; a summary of what is left behind, if one
    /// is wanted and a module has it.
    pub(super) async fn navigate(&self, target: &str, options: &Value) -> Result<Value, HostCallError> {
        let place = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let at = self.position(&place, target)?;
        let items = entries::of(&self.store, &place.session).map_err(unstored)?;
        let old_leaf = items.last().map(Item::id);
        let wanted = truthy(&options["summarize"]);
        let left: Vec<_> = items[at + 1..].iter().filter_map(Item::entry).collect();
        let preparation = json!({
            "targetId": target, "oldLeafId": old_leaf, "commonAncestorId": target, "entriesToSummarize": left,
            "userWantsSummary": wanted,
        });
        let heard = self.tell_modules(&place, ModuleEvent::SessionBeforeTree { preparation }).await?;
        if heard.is_cancelled() {
            return Ok(json!({ "cancelled": true }));
        }
        let summary = heard.result.as_ref().map(|result| &result["summary"]).filter(|one| wanted && truthy(one));
        self.go_back(&place, items[at].end(), summary).await?;
        // The next prompt must read the session again.
        self.enter_place(&place);
        let now = entries::of(&self.store, &place.session).map_err(unstored)?;
        let event = ModuleEvent::SessionTree {
            new_leaf: now.last().map(Item::id),
            old_leaf,
            summary: summary.and_then(|_| now.last().and_then(Item::entry)),
            from_extension: summary.is_some(),
        };
        self.tell_modules(&place, event).await?;
        Ok(json!({ "cancelled": false }))
    }

    /// Which of the session's entries has this id.
    fn position(&self, place: &SessionKey, id: &str) -> Result<usize, HostCallError> {
        let items = entries::of(&self.store, &place.session).map_err(unstored)?;
        items
            .iter()
            .position(|item| item.id() == id)
            .ok_or_else(|| HostCallError::new(format!("entry {id} does not exist")))
    }

    async fn go_back(&self, place: &SessionKey, to: i64, summary: Option<&Value>) -> Result<(), HostCallError> {
        let mut group = Group::default();
        group.push(Row::Transcript(Entry::System(SystemEntry::Rewound { to_sequence: to })));
        if let Some(summary) = summary {
            let message = json!({
                "customType": "branch_summary", "content": summary["summary"], "display": true, "details": summary["details"],
            });
            group.push(Row::Transcript(records::message(&message, false)));
        }
        self.store.commit(place, group).await.map(drop).map_err(unstored)
    }

    fn enter_place(&self, place: &SessionKey) {
        let mut state = self.lock();
        state.place = Some(place.clone());
        state.switched = Some(place.clone());
    }

    /// One row of a new session, as its opener writes it.
    pub(super) fn set_up(&self, what: &str, call: &HostCall) -> Result<Value, HostCallError> {
        let old = self.lock().place.clone().ok_or_else(|| HostCallError::new("no session has begun yet"))?;
        let place = SessionKey { session: SessionId::from(call.text(0)), start: SequenceStart::Zero, ..old };
        let entry = match what {
            "appendMessage" => message(call.arg(1))?,
            "appendCustomEntry" => records::entry(call.arg(1), call.arg(2)),
            "appendCustomMessageEntry" => records::message(
                &json!({
                    "customType": call.arg(1), "content": call.arg(2), "display": call.arg(3), "details": call.arg(4),
                }),
                false,
            ),
            // Labels, models and thinking levels are not part of a session here.
            "appendLabelChange" | "appendModelChange" | "appendThinkingLevelChange" => return Ok(Value::Null),
            _ => return Err(HostCallError::unknown(&call.name)),
        };
        self.store.commit_now(&place, Group(vec![Row::Transcript(entry)])).map_err(unstored)?;
        Ok(Value::Null)
    }

    async fn tell_modules(&self, place: &SessionKey, event: ModuleEvent) -> Result<EmitOutcome, HostCallError> {
        let Some(emitter) = self.emitter.get().and_then(std::sync::Weak::upgrade) else {
            return Ok(EmitOutcome::default());
        };
        let heard = emitter.emit(&event, &CancellationToken::new()).await;
        let group = rows(&heard);
        if !group.0.is_empty() {
            self.store.commit(place, group).await.map_err(unstored)?;
        }
        Ok(heard)
    }
}

fn message(message: &Value) -> Result<Entry, HostCallError> {
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    let (uuid, content) = (CallId::random().0, vec![Block::Text(text)]);
    match message["role"].as_str() {
        Some("user") => Ok(Entry::User { uuid, content }),
        Some("assistant") => Ok(Entry::Assistant { uuid, content }),
        Some("custom" | "hookMessage") => Ok(records::message(message, false)),
        role => Err(HostCallError::new(format!("a message of role {role:?} cannot be appended"))),
    }
}

fn unstored(error: StoreError) -> HostCallError {
    HostCallError::new(error.to_string())
}
