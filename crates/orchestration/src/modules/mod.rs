//! Hook modules around a session: what they are told beside tool calls, what they send.
//!
//! Each event of `ona_modules::rules` is fired by the operation it belongs to; every
//! handler that ran leaves one `omp_event` row, every failure one `hook_error` row
//! (DEC-174). What modules send while they run is kept and committed at the next boundary.

mod entries;
mod filtered;
mod host;
mod reading;
mod records;
mod requesting;
mod sending;
mod switching;
mod tools;

pub use host::{CompactionRequest, ModuleLog, ModuleUi, SessionHost};

use crate::history::History;
use crate::session::Session;
use entries::Item;
use ona_api::model::Message;
use ona_api::row::SessionKey;
use ona_api::{Group, LoggedEvent, Row, ToolCall, ToolResult};
use ona_modules::ModuleContext;
use ona_modules::rules::tool::presented;
use ona_modules::rules::{EmitOutcome, Emitter, ModuleEvent};
use ona_store::{Store, StoreError};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// The modules of one session.
pub struct Modules {
    pub emitter: Arc<Emitter>,
    pub host: Arc<SessionHost>,
    /// How many messages there were when the agent began.
    before: AtomicUsize,
    /// Model calls of this prompt that were announced, the newest still open.
    turns: AtomicU32,
    /// In place of the session's, for this prompt.
    system: Mutex<Option<String>>,
}

impl Modules {
    pub fn new(emitter: Arc<Emitter>, host: Arc<SessionHost>) -> Self {
        host.asks(&emitter);
        Self { emitter, host, before: AtomicUsize::new(0), turns: AtomicU32::new(0), system: Mutex::default() }
    }

    /// System prompt that replaces the session's for this prompt.
    pub(crate) fn system_prompt(&self) -> Option<String> {
        lock(&self.system).clone()
    }

    /// Fires one event and commits what it leaves.
    pub async fn fire(
        &self,
        store: &Store,
        session: &Session,
        event: ModuleEvent,
        cancel: &CancellationToken,
    ) -> Result<EmitOutcome, StoreError> {
        if !self.emitter.listens_to(event.name()) {
            return Ok(EmitOutcome::default());
        }
        let moment = ModuleContext { cwd: session.cx.cwd.to_string_lossy().into_owned(), ..self.emitter.context() };
        self.emitter.set_context(moment);
        let heard = self.emitter.emit(&event, cancel).await;
        let mut group = rows(&heard);
        group.append(self.refusals());
        group.append(self.host.sent_while_idle());
        store.commit(&session.place, group).await?;
        Ok(heard)
    }

    /// Whether modules let a run go on in a session that is there already (DEC-171). Asked before
    /// anything of it is touched; `place` is the session that would be left to them.
    pub async fn may_resume(
        &self,
        store: &Store,
        place: &SessionKey,
        how: ResumeKind,
        cancel: &CancellationToken,
    ) -> Result<bool, StoreError> {
        let target = Some(place.session.0.clone());
        let heard = self.emitter.emit(&ModuleEvent::SessionBeforeSwitch { reason: how.as_str(), target }, cancel).await;
        let group = rows(&heard);
        if !group.0.is_empty() {
            store.commit(place, group).await?;
        }
        Ok(!heard.is_cancelled())
    }

    /// Writes what modules sent since the last model call. Whether anything was.
    pub async fn deliver(&self, store: &Store, session: &Session, when: DeliveryPoint) -> Result<bool, StoreError> {
        let (mut group, sent) = (self.refusals(), self.host.sent(when));
        let any = !sent.0.is_empty();
        group.append(sent);
        if !group.0.is_empty() {
            store.commit(&session.place, group).await?;
        }
        Ok(any)
    }

    /// What modules wanted to register while they ran and could not.
    fn refusals(&self) -> Group {
        let mut group = Group::default();
        for (path, error) in self.host.refused() {
            let path = path.to_string_lossy().into_owned();
            group.log(LoggedEvent::ModuleError { path, event: "registerTool".to_owned(), error });
        }
        group
    }

    /// Runs a command that a module has registered; does nothing if none has this name.
    pub async fn command(
        &self,
        store: &Store,
        session: &Session,
        name: &str,
        args: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<ModuleCommandResult>, StoreError> {
        let Some(module) = self.emitter.command(name) else { return Ok(None) };
        let path = module.path().to_string_lossy().into_owned();
        let Some(answer) = self.emitter.run_command(name, args, cancel).await else { return Ok(None) };
        let error = ona_modules::rules::failure(&answer);
        let mut group = Group::default();
        group.log(LoggedEvent::ModuleCommand { command: name.to_owned(), path: path.clone(), error: error.clone() });
        if let Some(error) = &error {
            group.log(LoggedEvent::ModuleError { path, event: format!("command:{name}"), error: error.clone() });
        }
        // A command that opened another session speaks in it.
        let sent = self.host.sent_while_idle();
        let wakes = self.host.woke();
        store.commit(&session.place, group).await?;
        store.commit(&self.host.place().unwrap_or_else(|| session.place.clone()), sent).await?;
        Ok(Some(ModuleCommandResult { error, wakes }))
    }

    /// What modules make of what was said; nothing if one has seen to it.
    pub async fn input(
        &self,
        store: &Store,
        session: &Session,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<Option<String>, StoreError> {
        let heard = self.fire(store, session, ModuleEvent::Input { text: text.to_owned() }, cancel).await?;
        let Some(result) = heard.result else { return Ok(Some(text.to_owned())) };
        if result["handled"] == true {
            return Ok(None);
        }
        Ok(Some(result["text"].as_str().unwrap_or(text).to_owned()))
    }

    /// A prompt is about to be worked on; a message of a module comes with it.
    pub async fn before_agent_start(
        &self,
        store: &Store,
        session: &Session,
        prompt: &str,
        system: &str,
        cancel: &CancellationToken,
    ) -> Result<Group, StoreError> {
        self.host.set_idle(false);
        *lock(&self.system) = None;
        let (prompt, system) = (prompt.to_owned(), system.to_owned());
        let event = ModuleEvent::BeforeAgentStart { prompt, images: Vec::new(), system };
        let heard = self.fire(store, session, event, cancel).await?;
        *lock(&self.system) = heard.system;
        let mut group = self.host.sent_for_prompt();
        if let Some(result) = heard.result {
            group.push(Row::Transcript(records::message(&result["message"], false)));
        }
        Ok(group)
    }

    pub async fn agent_start(
        &self,
        store: &Store,
        session: &Session,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        self.host.set_idle(false);
        self.turns.store(0, Ordering::Relaxed);
        if self.emitter.listens_to("agent_end") {
            // The prompt itself is the first of the agent's messages.
            let count = messages(&entries::read(store, session)?).len();
            self.before.store(count.saturating_sub(1), Ordering::Relaxed);
        }
        self.fire(store, session, ModuleEvent::AgentStart, cancel).await.map(drop)
    }

    /// The last turn is over, and with it what the agent does for this prompt.
    pub async fn agent_end(
        &self,
        store: &Store,
        session: &Session,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        self.turn_end(store, session, cancel).await?;
        if self.emitter.listens_to("todo_reminder") {
            let todos = crate::todos::unfinished(store, &session.place)?;
            if !todos.is_empty() {
                // Said once; what comes of it is up to the modules.
                let event = ModuleEvent::TodoReminder { todos, attempt: 1, max_attempts: 1 };
                self.fire(store, session, event, cancel).await?;
            }
        }
        self.host.set_idle(true);
        let all =
            if self.emitter.listens_to("agent_end") { messages(&entries::read(store, session)?) } else { Vec::new() };
        let new = all.into_iter().skip(self.before.load(Ordering::Relaxed)).collect();
        self.fire(store, session, ModuleEvent::AgentEnd { messages: new }, cancel).await?;
        // Kept back for an end that has come.
        self.deliver(store, session, DeliveryPoint::End).await.map(drop)
    }

    /// A call is about to be made, or refused (extension API).
    pub async fn tool_starts(
        &self,
        store: &Store,
        session: &Session,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        let (tool, args) = presented(&call.name, &call.input);
        let event = ModuleEvent::ToolExecutionStart { call: call.id.0.clone(), tool, args };
        self.fire(store, session, event, cancel).await.map(drop)
    }

    pub async fn tool_ended(
        &self,
        store: &Store,
        session: &Session,
        call: &ToolCall,
        result: &ToolResult,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        if !self.emitter.listens_to("tool_execution_end") {
            return Ok(());
        }
        let (tool, _) = presented(&call.name, &Value::Null);
        let told =
            json!({"content": [{"type": "text", "text": result.content}], "details": result.data.get("details")});
        let is_error = result.is_error();
        let event = ModuleEvent::ToolExecutionEnd { call: call.id.0.clone(), tool, result: told, is_error };
        self.fire(store, session, event, cancel).await.map(drop)
    }

    /// A model call is about to be made: the turn before it is over, the next begins.
    pub async fn next_turn(
        &self,
        store: &Store,
        session: &Session,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        self.turn_end(store, session, cancel).await?;
        let index = self.turns.fetch_add(1, Ordering::Relaxed);
        let event = ModuleEvent::TurnStart { index, timestamp: entries::now() };
        self.fire(store, session, event, cancel).await.map(drop)
    }

    /// The newest reply and the results of its calls.
    async fn turn_end(&self, store: &Store, session: &Session, cancel: &CancellationToken) -> Result<(), StoreError> {
        let turns = self.turns.load(Ordering::Relaxed);
        if turns == 0 || !self.emitter.listens_to("turn_end") {
            return Ok(());
        }
        let mut all = messages(&entries::read(store, session)?);
        let Some(at) = all.iter().rposition(|one| one["role"] == "assistant") else { return Ok(()) };
        let results = all.split_off(at + 1).into_iter().filter(|one| one["role"] == "toolResult").collect();
        let message = all.pop().unwrap_or_default();
        self.fire(store, session, ModuleEvent::TurnEnd { index: turns - 1, message, results }, cancel).await.map(drop)
    }

    /// What the model is sent in place of the session's messages, if modules changed them.
    /// The rows stay as they are.
    pub async fn context(
        &self,
        store: &Store,
        session: &Session,
        cancel: &CancellationToken,
    ) -> Result<Option<Vec<Message>>, StoreError> {
        if !self.emitter.listens_to("context") {
            return Ok(None);
        }
        let items = entries::read(store, session)?;
        let heard = self.fire(store, session, ModuleEvent::Context { messages: messages(&items) }, cancel).await?;
        let Some(kept) = heard.result.as_ref().and_then(|result| result["messages"].as_array()) else {
            return Ok(None);
        };
        Ok(Some(filtered::messages(&items, kept)))
    }

    /// Asks modules before a compaction (DEC-171).
    pub async fn before_compact(
        &self,
        store: &Store,
        session: &Session,
        history: &History,
        wish: Option<&str>,
        cancel: &CancellationToken,
    ) -> Result<BeforeCompact, StoreError> {
        let mut said = BeforeCompact::default();
        let listens = |event: &str| self.emitter.listens_to(event);
        if !listens("session_before_compact") && !listens("session.compacting") {
            return Ok(said);
        }
        let items = entries::read(store, session)?;
        let all = messages(&items);
        let mut files = json!({"read": [], "written": [], "edited": []});
        for (what, path) in items.iter().flat_map(Item::files) {
            if let Some(list) = files[what].as_array_mut() {
                list.push(path.into());
            }
        }
        let before = items.iter().rev().find(|one| one.is_compaction()).and_then(Item::entry).unwrap_or_default();
        let mut preparation = json!({
            "firstKeptEntryId": items.last().map(Item::id), "messagesToSummarize": all, "turnPrefixMessages": [],
            "recentMessages": [], "isSplitTurn": false, "tokensBefore": ona_transcript::estimate_tokens(history.approximate_size()),
            "fileOps": files, "settings": {},
        });
        for (key, value) in [("previousSummary", &before["summary"]), ("previousPreserveData", &before["preserveData"])]
        {
            if !value.is_null() {
                preparation[key] = value.clone();
            }
        }
        let event = ModuleEvent::SessionBeforeCompact {
            preparation,
            branch_entries: items.iter().filter_map(Item::entry).collect(),
            instructions: wish.map(str::to_owned),
        };
        let heard = self.fire(store, session, event, cancel).await?;
        if heard.is_cancelled() {
            said.cancelled = true;
            return Ok(said);
        }
        let summary = heard.result.as_ref().and_then(|result| result["compaction"]["summary"].as_str());
        if let Some(summary) = summary.filter(|text| !text.trim().is_empty()) {
            said.summary = Some(summary.to_owned());
            return Ok(said);
        }
        let event = ModuleEvent::SessionCompacting { session: session.place.session.0.clone(), messages: all };
        let heard = self.fire(store, session, event, cancel).await?;
        if let Some(result) = heard.result {
            let lines = result["context"].as_array().into_iter().flatten();
            said.focus = lines.filter_map(|line| line.as_str().map(str::to_owned)).collect();
            said.prompt = result["prompt"].as_str().map(str::to_owned);
            said.preserved = result.get("preserveData").filter(|data| !data.is_null()).cloned();
        }
        Ok(said)
    }

    pub async fn compacted(
        &self,
        store: &Store,
        session: &Session,
        from_module: bool,
        cancel: &CancellationToken,
    ) -> Result<(), StoreError> {
        if !self.emitter.listens_to("session_compact") {
            return Ok(());
        }
        let items = entries::read(store, session)?;
        let entry = items.iter().rev().find(|one| one.is_compaction()).and_then(Item::entry);
        let event = ModuleEvent::SessionCompact { entry: entry.unwrap_or_default(), from_extension: from_module };
        self.fire(store, session, event, cancel).await.map(drop)
    }
}

/// How a run resumes a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResumeKind {
    Itself,
    /// In a copy.
    Fork,
}

impl ResumeKind {
    pub fn as_str(self) -> &'static str {
        match self {
            ResumeKind::Itself => "resume",
            ResumeKind::Fork => "fork",
        }
    }
}

/// How a command of a module went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleCommandResult {
    /// What it threw.
    pub error: Option<String>,
    /// It sent something that wants an answer.
    pub wakes: bool,
}

/// When messages of modules are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryPoint {
    /// Before a model call.
    ModelCall,
    /// The loop would end; what was held back until then comes now.
    End,
}

/// What modules said before a compaction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BeforeCompact {
    pub cancelled: bool,
    /// In place of the model's.
    pub summary: Option<String>,
    /// Lines for the summary request.
    pub focus: Vec<String>,
    /// In place of the summary request.
    pub prompt: Option<String>,
    /// Kept with the summary.
    pub preserved: Option<Value>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A text is set as a whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn messages(items: &[Item]) -> Vec<Value> {
    items.iter().filter_map(Item::message).collect()
}

/// One row per handler, one more per failure.
fn rows(heard: &EmitOutcome) -> Group {
    let mut group = Group::default();
    for run in &heard.runs {
        let error = run.error();
        let result = match &run.answer {
            // The messages themselves are in the session; a copy per call would outgrow it.
            ona_modules::CallOutcome::Returned(Some(value)) if run.event == "context" => {
                json!({"messages": value["messages"].as_array().map(Vec::len)})
            }
            ona_modules::CallOutcome::Returned(Some(value)) => value.clone(),
            _ => Value::Null,
        };
        group.log(LoggedEvent::ModuleHandler {
            event: run.event.to_owned(),
            path: run.path.clone(),
            handler: run.nth,
            result,
            error: error.clone(),
        });
        if let Some(error) = error {
            group.log(LoggedEvent::ModuleError { path: run.path.clone(), event: run.event.to_owned(), error });
        }
    }
    group
}
