//! One turn: a prompt, then model and tools until there is nothing left to do.
//!
//! What comes next is read off the rows (`History::step`); this file only does it and
//! commits. A model is asked only when everything before it is on disk. There is one
//! task and no parallelism within a session.

use crate::account::account;
use crate::events::{Events, TurnEvent};
use crate::history::History;
use crate::lifecycle::{fire, tell};
use crate::model::{Model, Seat};
use crate::modules::Boundary;
use crate::pipeline::Pipeline;
use crate::records;
use crate::said::Said;
use crate::session::Session;
use crate::watch;
use ona_api::model::{Asking, EndReason, FailureClass, ModelFailure, Part, Reply, Usage};
use ona_api::row::Block;
use ona_api::{CallId, Entry, EventKind, EventName, Group, Row, ToolCall};
use ona_hookplane::{Base, Firing};
use ona_store::StoreError;
use ona_transcript::{STOP_FEEDBACK, Spent, Step};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// How often in a row Stop hooks may send the agent back to work (DEC-050).
const STOP_BLOCKS: u32 = 8;

pub struct Turn {
    pub pipeline: Pipeline,
    /// Who is asked; looked at before every call.
    pub seat: Seat,
    pub asking: Asking,
    pub speaker: Speaker,
    pub events: Events,
    pub cancel: CancellationToken,
    /// `--max-turns`: how many times the model may be asked.
    pub max_turns: Option<u32>,
}

/// Who gave the prompt.
#[derive(Clone, Debug)]
pub enum Speaker {
    /// A person, or a program in his place.
    Operator,
    /// The agent that started this one; the fields hooks are told of it (DEC-036).
    Agent(Box<Base>),
    /// A hook that asks for a verdict. What it says and how it ends is its own matter:
    /// no hooks hear of it.
    Hook,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    Done,
    /// A UserPromptSubmit hook refused the prompt.
    Blocked {
        message: String,
    },
    /// A hook said `continue: false`.
    Stopped {
        reason: String,
    },
    MaxTurns,
    Failed(ModelFailure),
    Interrupted(Activity),
}

/// What was going on when a turn was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Asking,
    Tools,
}

/// What a turn came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub ended: Ended,
    pub text: String,
    pub usage: Usage,
    /// By model, what subagents used included.
    pub spent: Spent,
    pub model_calls: u32,
    pub denials: Vec<ToolCall>,
    /// Why the newest reply ended.
    pub stop: Option<EndReason>,
}

impl Outcome {
    /// Of a turn in which no model was asked.
    pub fn nothing() -> Self {
        Self {
            ended: Ended::Done,
            text: String::new(),
            usage: Usage::default(),
            spent: Spent::default(),
            model_calls: 0,
            denials: Vec::new(),
            stop: None,
        }
    }
}

impl Turn {
    pub async fn run(
        &self,
        session: &mut Session,
        history: &mut History,
        said: impl Into<Said>,
    ) -> Result<Outcome, StoreError> {
        let ended = self.run_prompt(session, history, said.into()).await;
        // What a skill allowed or denied was for this turn.
        if matches!(self.speaker, Speaker::Operator) {
            session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
        }
        ended
    }

    async fn run_prompt(
        &self,
        session: &mut Session,
        history: &mut History,
        words: Said,
    ) -> Result<Outcome, StoreError> {
        let mut outcome = Outcome::nothing();
        let before = self.pipeline.store.reader()?.newest_entry()?;
        if let Some(ended) = self.submit(session, &words).await? {
            self.say_why(&ended);
            outcome.ended = ended;
            return Ok(outcome);
        }
        history.refresh(&self.pipeline.store)?;
        outcome.ended = self.agent(session, history, &mut outcome).await?;
        self.say_why(&outcome.ended);
        if let (Ended::Failed(failure), Speaker::Operator | Speaker::Agent(_)) = (&outcome.ended, &self.speaker) {
            self.stop_failure(session, failure, &outcome.text).await?;
        }
        outcome.spent = account(self.pipeline.store.reader()?, &session.place.session, before)?.spent;
        Ok(outcome)
    }

    /// A turn that ends early because a hook said so must not look like one that is done.
    fn say_why(&self, ended: &Ended) {
        if let Ended::Stopped { reason } = ended {
            let colon = if reason.is_empty() { "" } else { ": " };
            (self.events)(TurnEvent::Message(format!("Stopped by hook{colon}{reason}")));
        }
    }

    /// Goes on with what is there, without a prompt: what a command of a module has sent.
    pub async fn go_on(&self, session: &mut Session, history: &mut History) -> Result<Outcome, StoreError> {
        let mut outcome = Outcome::nothing();
        history.refresh(&self.pipeline.store)?;
        if history.step() == Step::AskModel {
            outcome.ended = self.agent(session, history, &mut outcome).await?;
            self.say_why(&outcome.ended);
        }
        Ok(outcome)
    }

    /// The work of one prompt, and once more for every module that asks for it at the end.
    async fn agent(
        &self,
        session: &mut Session,
        history: &mut History,
        outcome: &mut Outcome,
    ) -> Result<Ended, StoreError> {
        let Some(modules) = session.modules.clone() else { return self.work(session, history, outcome).await };
        let store = &*self.pipeline.store;
        loop {
            modules.agent_start(store, session, &self.cancel).await?;
            history.refresh(store)?;
            let ended = self.work(session, history, outcome).await?;
            modules.agent_end(store, session, &self.cancel).await?;
            history.refresh(store)?;
            if ended != Ended::Done || history.step() != Step::AskModel {
                return Ok(ended);
            }
        }
    }

    /// What the model is asked with; tools of servers come and go.
    pub(crate) async fn asking(&self) -> Cow<'_, Asking> {
        let tools = &self.pipeline.tools;
        if !tools.is_live() {
            return Cow::Borrowed(&self.asking);
        }
        tools.refresh().await;
        Cow::Owned(Asking { tools: tools.specs(), ..self.asking.clone() })
    }

    /// Takes in what modules have sent. Whether there was anything.
    async fn hear_modules(&self, session: &Session, history: &mut History, when: Boundary) -> Result<bool, StoreError> {
        let Some(modules) = &session.modules else { return Ok(false) };
        let heard = modules.deliver(&self.pipeline.store, session, when).await?;
        if heard {
            history.refresh(&self.pipeline.store)?;
        }
        Ok(heard)
    }

    /// Hooks first, then the user row and what belongs to it (section 2.5, step 3).
    async fn submit(&self, session: &mut Session, words: &Said) -> Result<Option<Ended>, StoreError> {
        let prompt = words.text.as_str();
        let event = EventName::UserPromptSubmit;
        let said = match self.speaker {
            Speaker::Operator => fire(&self.pipeline.hooks, session, event, json!({ "prompt": prompt })).await,
            // What one agent asks of another is not a prompt of the user.
            Speaker::Agent(_) | Speaker::Hook => ona_hookplane::Outcome::default(),
        };
        let mut group = Group::default();
        let ended = if said.is_denied() {
            // The text is erased: only the refusal is recorded (DEC-034).
            let message = said.message();
            let fields = records::object(json!({ "message": message }));
            group.append(said.rows());
            group.push(Row::Transcript(Entry::System { subtype: "prompt_blocked", fields }));
            Some(Ended::Blocked { message })
        } else {
            if let Some(typed) = &words.typed {
                let fields = records::object(json!({ "typed": typed }));
                group.push(Row::Transcript(Entry::System { subtype: "command", fields }));
            }
            group.push(Row::Transcript(user(prompt)));
            if matches!(self.speaker, Speaker::Operator) {
                let beside = self.pipeline.beside(session, words).await;
                group.append(beside.group);
                for message in beside.messages {
                    (self.events)(TurnEvent::Message(message));
                }
                let project = session.cx.project.clone();
                group.append(session.context.recall(self.pipeline.store.reader()?, prompt, &project)?);
            }
            if let Some(modules) = &session.modules {
                let store = &self.pipeline.store;
                let system = &self.asking.system;
                group.append(modules.before_agent_start(store, session, prompt, system, &self.cancel).await?);
            }
            records::chain(&mut group, event, None, &said);
            said.stop.as_ref().map(|(_, reason)| Ended::Stopped { reason: reason.clone() })
        };
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(ended)
    }

    async fn work(
        &self,
        session: &mut Session,
        history: &mut History,
        outcome: &mut Outcome,
    ) -> Result<Ended, StoreError> {
        let mut stop_blocks = 0;
        // The rows hold calls without their secrets; what runs is what the model said (DEC-016).
        let mut said: Vec<ToolCall> = Vec::new();
        loop {
            if self.cancel.is_cancelled() {
                return self.interrupted(session, history, Activity::Tools).await;
            }
            self.hear_modules(session, history, Boundary::ModelCall).await?;
            watch::look(&self.pipeline.store, &self.pipeline.hooks, session, &self.events).await?;
            match history.step() {
                Step::AskModel => {
                    if self.max_turns.is_some_and(|most| outcome.model_calls >= most) {
                        return Ok(Ended::MaxTurns);
                    }
                    let model = self.seat.model();
                    self.see(session, history, &model)?;
                    self.make_room(session, history, &model).await?;
                    let (events, retries) = self.watched();
                    let asked = match session.modules.clone() {
                        Some(modules) => modules.ask(self, session, history, &model, &events).await?,
                        None => self.ask(session, history, &model, &events, None).await?,
                    };
                    self.keep(session, &retries).await?;
                    match asked {
                        Ok(mut reply) => {
                            ona_transcript::tell_apart(history.state(), &mut reply);
                            outcome.model_calls += 1;
                            outcome.usage.add(reply.usage);
                            said = calls(&reply);
                            outcome.stop.clone_from(&reply.end);
                            let cut = was_cut(&reply);
                            let rows = self.record(&model, reply, outcome);
                            if said.is_empty() {
                                self.pipeline.store.commit(&session.place, rows).await?;
                            } else if let Some(cut) = self.tools(session, &said, rows, outcome).await? {
                                return self.cut_short(session, history, cut).await;
                            }
                            if let Some(failure) = cut {
                                return Ok(Ended::Failed(failure));
                            }
                        }
                        Err(_) if self.cancel.is_cancelled() => {
                            return self.interrupted(session, history, Activity::Asking).await;
                        }
                        Err(failure) => return Ok(Ended::Failed(failure)),
                    }
                }
                Step::RunTools(recorded) => {
                    let as_said = |call: ToolCall| said.iter().find(|one| one.id == call.id).cloned().unwrap_or(call);
                    let calls: Vec<_> = recorded.into_iter().map(as_said).collect();
                    if let Some(cut) = self.tools(session, &calls, Group::default(), outcome).await? {
                        return self.cut_short(session, history, cut).await;
                    }
                }
                Step::End if self.hear_modules(session, history, Boundary::End).await? => {}
                Step::End => match self.stop(session, stop_blocks, &outcome.text).await? {
                    None => stop_blocks += 1,
                    Some(ended) => return Ok(ended),
                },
            }
            history.refresh(&self.pipeline.store)?;
        }
    }

    /// The rows of a reply and its calls: one group (section 2.5, step 5).
    fn record(&self, model: &Model, reply: Reply, outcome: &mut Outcome) -> Group {
        let mut group = Group::default();
        let content = reply.parts.iter().filter_map(block).collect();
        group.push(Row::Transcript(Entry::Assistant { uuid: CallId::random().0, content }));
        group.push(Row::Transcript(used(model, &reply.usage)));
        for part in &reply.parts {
            match part {
                Part::ToolUse { id, name, input } => {
                    let name = ona_api::tool::canonical(name).to_owned();
                    group.push(Row::Transcript(Entry::ToolUse { id: id.clone(), name, input: input.clone() }));
                }
                Part::Text(text) => outcome.text.clone_from(text),
                Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => {}
            }
        }
        if !reply.dropped.is_empty() {
            let data = records::object(json!({"kind": "dropped_blocks", "types": reply.dropped}));
            group.push(Row::Transcript(Entry::Progress { data }));
        }
        (self.events)(TurnEvent::Assistant {
            model: model.choice.wire_model.clone(),
            parts: reply.parts,
            usage: reply.usage,
            end: reply.end,
        });
        group
    }

    async fn cut_short(&self, session: &Session, history: &mut History, cut: Cut) -> Result<Ended, StoreError> {
        match cut {
            Cut::Stopped(reason) => {
                history.refresh(&self.pipeline.store)?;
                self.answer_open(session, history, &format!("Stopped by hook: {reason}")).await?;
                Ok(Ended::Stopped { reason })
            }
            Cut::Interrupted => self.interrupted(session, history, Activity::Tools).await,
        }
    }

    /// The turn's events, with retries kept for the record as well.
    fn watched(&self) -> (Events, Retries) {
        let (events, retries) = (Arc::clone(&self.events), Retries::default());
        let kept = Arc::clone(&retries);
        let watched: Events = Arc::new(move |event| {
            if let TurnEvent::Retrying { attempt, wait, failure, .. } = &event {
                let (class, delay) = (failure.class.as_str(), wait.as_millis() as u64);
                let data = json!({"kind": "api_retry", "attempt": attempt, "delay_ms": delay, "error": class});
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(data);
            }
            events(event);
        });
        (watched, retries)
    }

    async fn keep(&self, session: &Session, retries: &Retries) -> Result<(), StoreError> {
        let retries = std::mem::take(&mut *retries.lock().unwrap_or_else(PoisonError::into_inner));
        if retries.is_empty() {
            return Ok(());
        }
        let row = |data| Row::Transcript(Entry::Progress { data: records::object(data) });
        self.pipeline.store.commit(&session.place, Group(retries.into_iter().map(row).collect())).await.map(drop)
    }

    /// Runs the calls one after another, unless something ends the turn. `held` are
    /// the rows of the reply that asked for them, committed with the first.
    async fn tools(
        &self,
        session: &mut Session,
        calls: &[ToolCall],
        mut held: Group,
        outcome: &mut Outcome,
    ) -> Result<Option<Cut>, StoreError> {
        for call in calls.iter().cloned() {
            if self.cancel.is_cancelled() {
                break;
            }
            let modules = session.modules.clone();
            if let Some(modules) = &modules {
                modules.tool_starts(&self.pipeline.store, session, &call, &self.cancel).await?;
            }
            let finished = self.pipeline.run(session, call.clone(), std::mem::take(&mut held)).await?;
            if let Some(modules) = &modules {
                modules.tool_ended(&self.pipeline.store, session, &call, &finished.result, &self.cancel).await?;
            }
            for message in finished.messages {
                (self.events)(TurnEvent::Message(message));
            }
            if finished.denied {
                outcome.denials.push(call.clone());
                (self.events)(TurnEvent::Denied { call: call.clone(), message: finished.result.content.clone() });
            }
            (self.events)(TurnEvent::ToolFinished { call, result: finished.result, account: finished.account });
            if finished.interrupt {
                return Ok(Some(Cut::Interrupted));
            }
            if let Some(reason) = finished.stop {
                return Ok(Some(Cut::Stopped(reason)));
            }
        }
        if !held.0.is_empty() {
            self.pipeline.store.commit(&session.place, held).await?;
        }
        Ok(None)
    }

    /// Stop hooks, and how the turn ends; `None` if one of them sent the agent back to work.
    async fn stop(&self, session: &mut Session, blocks: u32, text: &str) -> Result<Option<Ended>, StoreError> {
        let mut fields = json!({"stop_hook_active": blocks > 0});
        let (event, said) = match &self.speaker {
            Speaker::Operator => {
                fields["last_assistant_message"] = text.into();
                (EventName::Stop, fire(&self.pipeline.hooks, session, EventName::Stop, fields).await)
            }
            Speaker::Agent(parent) => {
                fields["agent_id"] = json!(session.agent_id);
                fields["agent_transcript_path"] = "".into();
                fields["agent_type"] = json!(session.agent_type);
                fields["last_assistant_message"] = text.into();
                let firing = Firing::new(EventName::SubagentStop, (**parent).clone(), fields);
                (EventName::SubagentStop, self.pipeline.hooks.fire(firing).await)
            }
            Speaker::Hook => return Ok(Some(Ended::Done)),
        };
        let mut group = Group::default();
        records::chain(&mut group, event, None, &said);
        let ended = match (&said.stop, said.is_denied()) {
            (Some((_, reason)), _) => Some(Ended::Stopped { reason: reason.clone() }),
            (None, true) if blocks < STOP_BLOCKS => {
                let feedback: Vec<_> = said.blocks.iter().map(|(_, text)| text.as_str()).collect();
                group.push(Row::Transcript(user(&format!("{STOP_FEEDBACK}{}", feedback.join("\n")))));
                None
            }
            (None, denied) => {
                if denied {
                    let words = format!("{event} hooks blocked {STOP_BLOCKS} times in a row; the turn ends.");
                    (self.events)(TurnEvent::Message(words));
                }
                Some(Ended::Done)
            }
        };
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(ended)
    }

    /// StopFailure takes the place of Stop (DEC-089).
    async fn stop_failure(&self, session: &mut Session, failure: &ModelFailure, text: &str) -> Result<(), StoreError> {
        let (class, details) = (failure.class.as_str(), failure.message.clone());
        let mut fields = json!({"error": class, "error_details": details});
        if !text.is_empty() {
            fields["last_assistant_message"] = text.into();
        }
        let said = fire(&self.pipeline.hooks, session, EventName::StopFailure, fields).await;
        let mut group = Group::default();
        group.event(EventKind::StopFailure, json!({"error": class, "details": details}));
        records::chain(&mut group, EventName::StopFailure, None, &said);
        self.pipeline.store.commit(&session.place, group).await?;
        tell(&self.events, &said);
        Ok(())
    }

    /// An interrupt leaves a transcript a provider accepts: every call has a result.
    async fn interrupted(
        &self,
        session: &Session,
        history: &mut History,
        during: Activity,
    ) -> Result<Ended, StoreError> {
        history.refresh(&self.pipeline.store)?;
        self.answer_open(session, history, "Interrupted by the operator").await?;
        let mut group = Group::default();
        group.event(EventKind::Interrupted, json!({}));
        self.pipeline.store.commit(&session.place, group).await?;
        Ok(Ended::Interrupted(during))
    }

    async fn answer_open(&self, session: &Session, history: &History, words: &str) -> Result<(), StoreError> {
        let rows = ona_transcript::answer_open(history.state(), words);
        let group = Group(rows.into_iter().map(Row::Transcript).collect());
        self.pipeline.store.commit(&session.place, group).await.map(drop)
    }
}

/// The row that says what a reply used.
pub(crate) fn used(model: &Model, usage: &Usage) -> Entry {
    ona_transcript::usage_entry(&model.choice.wire_model, model.choice.model_id, usage)
}

/// Why the calls of a reply were left where they are.
enum Cut {
    Stopped(String),
    Interrupted,
}

/// Rows about tries that failed, until the call is over.
type Retries = Arc<Mutex<Vec<Value>>>;

/// The calls of a reply as the model made them.
fn calls(reply: &Reply) -> Vec<ToolCall> {
    let call = |part: &Part| match part {
        Part::ToolUse { id, name, input } => {
            Some(ToolCall { id: id.clone(), name: name.clone(), input: input.clone() })
        }
        Part::Text(_) | Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    };
    reply.parts.iter().filter_map(call).collect()
}

/// A reply that ends at the output limit, with nothing to do that would go on from it.
fn was_cut(reply: &Reply) -> Option<ModelFailure> {
    let cut = reply.end == Some(EndReason::MaxTokens) && calls(reply).is_empty();
    cut.then(|| ModelFailure {
        class: FailureClass::MaxOutputTokens,
        message: "the reply was cut off at the output limit".into(),
        transient: false,
        retry_after: None,
        status: None,
    })
}

fn user(text: &str) -> Entry {
    // A prompt may be a picture alone.
    let content = if text.is_empty() { Vec::new() } else { vec![Block::Text(text.to_owned())] };
    Entry::User { uuid: CallId::random().0, content }
}

/// A part of a reply as a content block; the set is closed.
fn block(part: &Part) -> Option<Block> {
    match part {
        Part::Text(text) => Some(Block::Text(text.clone())),
        Part::ToolUse { id, name, input } => {
            let name = ona_api::tool::canonical(name).to_owned();
            Some(Block::ToolUse { id: id.clone(), name, input: input.clone() })
        }
        Part::ToolResult { .. } | Part::Picture { .. } | Part::HookContext(_) => None,
    }
}
