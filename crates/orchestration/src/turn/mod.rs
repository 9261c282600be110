//! One turn: a prompt, then model and tools until there is nothing left to do.
//!
//! What comes next is read off the rows (`History::step`); this file only does it and
//! commits. A model is asked only when everything before it is on disk. There is one
//! task and no parallelism within a session.

mod ending;
mod prompt;
mod reply;
mod request_watch;
mod wire_name;

pub(crate) use reply::{ReplyFault, used};

use crate::events::{Events, TurnEvent};
use crate::file_watch;
use crate::history::History;
use crate::model::CurrentModel;
use crate::modules::DeliveryPoint;
use crate::pipeline::{FinishedCall, HeldRows, Pipeline};
use crate::records;
use crate::session::Session;
use crate::session_usage::usage_after;
use crate::task_ends;
use crate::user_prompt::UserPrompt;
use crate::waiting_prompts::WaitingPrompts;
use ona_api::model::{EndReason, ModelFailure, RequestParams, Usage};
use ona_api::{Entry, Group, Row, ToolCall, ToolResult};
use ona_hookplane::Base;
use ona_store::StoreError;
use ona_tools::TaskKind;
use ona_transcript::{Step, TokenUsage};
use reply::{NOT_RUN, calls, reply_text};
use serde_json::json;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use tokio_util::sync::CancellationToken;

pub struct Turn {
    pub pipeline: Pipeline,
    /// Who is asked; looked at before every call.
    pub current_model: CurrentModel,
    pub asking: RequestParams,
    pub prompt_source: PromptSource,
    pub events: Events,
    pub cancel: CancellationToken,
    /// `--max-turns`: how many times the model may be asked.
    pub max_turns: Option<u32>,
    /// Prompts that go along with the next request.
    pub waiting: Option<Arc<dyn WaitingPrompts>>,
}

/// Who gave the prompt.
#[derive(Clone, Debug)]
pub enum PromptSource {
    /// A person, or a program in their place.
    Operator,
    /// The agent that started this one; the fields hooks get about it (DEC-036).
    Agent(Box<Base>),
    /// A hook that asks for a verdict. What it says and how it ends is its own matter:
    /// no hooks hear of it.
    Hook,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnEnd {
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
    /// Stop hooks sent the agent back to work too often.
    NeverStopped {
        message: String,
    },
    Failed(ModelFailure),
    /// A reply came, but it is not whole or not an answer; `text` is what it says.
    Incomplete {
        failure: ModelFailure,
        text: String,
    },
    Interrupted(Activity),
}

/// What was going on when a turn was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Asking,
    Tools,
}

/// The outcome of a turn.
#[derive(Clone, Debug)]
pub struct TurnOutcome {
    pub ended: TurnEnd,
    pub text: String,
    pub usage: Usage,
    /// By model, what subagents used included.
    pub spent: TokenUsage,
    pub model_calls: u32,
    pub denials: Vec<ToolCall>,
    /// Why the newest reply ended.
    pub stop: Option<EndReason>,
}

impl TurnOutcome {
    /// Of a turn in which no model was asked.
    pub fn nothing() -> Self {
        Self {
            ended: TurnEnd::Done,
            text: String::new(),
            usage: Usage::default(),
            spent: TokenUsage::default(),
            model_calls: 0,
            denials: Vec::new(),
            stop: None,
        }
    }
}

impl TurnOutcome {
    /// Takes in what followed without another prompt.
    pub fn include(&mut self, more: TurnOutcome) {
        let TurnOutcome { ended, text, usage, spent, model_calls, mut denials, stop } = more;
        self.ended = ended;
        if !text.is_empty() {
            self.text = text;
        }
        self.usage.add(usage);
        self.spent.merge(&spent);
        self.model_calls += model_calls;
        self.denials.append(&mut denials);
        self.stop = stop.or(self.stop.take());
    }
}

impl Turn {
    #[tracing::instrument(level = "debug", name = "turn", skip_all, err(level = "debug"), fields(session = %session.place.session))]
    pub async fn run(
        &self,
        session: &mut Session,
        history: &mut History,
        said: impl Into<UserPrompt>,
    ) -> Result<TurnOutcome, StoreError> {
        let ended = self.run_prompt(session, history, said.into()).await;
        // What a skill allowed or denied was for this turn.
        if matches!(self.prompt_source, PromptSource::Operator) {
            session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
            self.current_model.end_turn();
        }
        ended
    }

    /// Records a prompt and what an agent of its own made of it; the model of this session reads both
    /// with its next request.
    pub async fn run_aside(
        &self,
        session: &mut Session,
        history: &mut History,
        words: UserPrompt,
        work: impl Future<Output = ToolResult>,
    ) -> Result<TurnOutcome, StoreError> {
        let mut outcome = TurnOutcome::nothing();
        self.begin_count(session)?;
        if let Some(ended) = self.submit(session, &words).await? {
            self.say_why(&ended);
            outcome.ended = ended;
        } else {
            let report = work.await;
            let text = format!("The user had this done by an agent of its own, which reports:\n{}", report.content);
            let fields = json!({"kind": "text", "source": "skill_fork", "text": text});
            let row = Row::Transcript(Entry::Attachment { attachment: records::object(fields), call: None });
            self.pipeline.store.commit(&session.place, Group(vec![row])).await?;
            match report.is_error() {
                true => outcome.ended = TurnEnd::Blocked { message: report.content },
                false => outcome.text = report.content,
            }
        }
        history.refresh(&self.pipeline.store)?;
        session.rules.write().unwrap_or_else(PoisonError::into_inner).end_turn();
        self.current_model.end_turn();
        outcome.spent = self.count_usage(session)?;
        Ok(outcome)
    }

    async fn run_prompt(
        &self,
        session: &mut Session,
        history: &mut History,
        words: UserPrompt,
    ) -> Result<TurnOutcome, StoreError> {
        let mut outcome = TurnOutcome::nothing();
        self.begin_count(session)?;
        if let Some(ended) = self.submit(session, &words).await? {
            self.say_why(&ended);
            outcome.ended = ended;
            return Ok(outcome);
        }
        history.refresh(&self.pipeline.store)?;
        outcome.ended = self.agent(session, history, &mut outcome).await?;
        tracing::debug!(ended = ?outcome.ended, model_calls = outcome.model_calls, "turn ended");
        self.say_why(&outcome.ended);
        if let (
            TurnEnd::Failed(failure) | TurnEnd::Incomplete { failure, .. },
            PromptSource::Operator | PromptSource::Agent(_),
        ) = (&outcome.ended, &self.prompt_source)
        {
            self.stop_failure(session, failure, &outcome.text).await?;
        }
        outcome.spent = self.count_usage(session)?;
        Ok(outcome)
    }

    fn begin_count(&self, session: &mut Session) -> Result<(), StoreError> {
        if session.counted_to.is_none() {
            session.counted_to = Some(self.pipeline.store.reader()?.newest_entry()?);
        }
        Ok(())
    }

    /// What this session and its agents have used since this was last asked.
    fn count_usage(&self, session: &mut Session) -> Result<TokenUsage, StoreError> {
        let reader = self.pipeline.store.reader()?;
        let (report, last) = usage_after(reader, &session.place.session, session.counted_to.unwrap_or(0))?;
        session.counted_to = Some(last);
        Ok(report.spent)
    }

    /// Continues with what is there, without a prompt: what a command of a module has sent, or that
    /// background tasks have ended.
    pub async fn go_on(&self, session: &mut Session, history: &mut History) -> Result<TurnOutcome, StoreError> {
        let mut outcome = TurnOutcome::nothing();
        self.begin_count(session)?;
        self.hear_tasks(session, history).await?;
        history.refresh(&self.pipeline.store)?;
        if history.step() == Step::AskModel {
            outcome.ended = self.agent(session, history, &mut outcome).await?;
            self.say_why(&outcome.ended);
            if let TurnEnd::Failed(failure) = &outcome.ended {
                self.stop_failure(session, failure, &outcome.text).await?;
            }
            outcome.spent = self.count_usage(session)?;
        }
        Ok(outcome)
    }

    /// The work of one prompt, and once more for every module that asks for it at the end.
    async fn agent(
        &self,
        session: &mut Session,
        history: &mut History,
        outcome: &mut TurnOutcome,
    ) -> Result<TurnEnd, StoreError> {
        let Some(modules) = session.modules.clone() else { return self.work(session, history, outcome).await };
        let store = &*self.pipeline.store;
        loop {
            modules.agent_start(store, session, &self.cancel).await?;
            history.refresh(store)?;
            let ended = self.work(session, history, outcome).await?;
            modules.agent_end(store, session, &self.cancel).await?;
            history.refresh(store)?;
            if ended != TurnEnd::Done || history.step() != Step::AskModel {
                return Ok(ended);
            }
        }
    }

    /// What the model is asked with; tools of servers come and go.
    pub(crate) async fn asking(&self) -> Cow<'_, RequestParams> {
        let tools = &self.pipeline.tools;
        if !tools.is_live() {
            return Cow::Borrowed(&self.asking);
        }
        tokio::select! {
            () = tools.refresh() => {}
            // A server that is slow to say what it has now does not hold up an interrupt.
            () = self.cancel.cancelled() => {}
        }
        Cow::Owned(RequestParams { tools: tools.specs(), ..self.asking.clone() })
    }

    /// Takes in what modules have sent. Whether there was anything.
    async fn hear_modules(
        &self,
        session: &Session,
        history: &mut History,
        when: DeliveryPoint,
    ) -> Result<bool, StoreError> {
        let Some(modules) = &session.modules else { return Ok(false) };
        let heard = modules.deliver(&self.pipeline.store, session, when).await?;
        if heard {
            history.refresh(&self.pipeline.store)?;
        }
        Ok(heard)
    }

    /// Takes in the ends of background tasks. Whether there was one the model is to hear of.
    async fn hear_tasks(&self, session: &mut Session, history: &mut History) -> Result<bool, StoreError> {
        if session.agent_id.is_some() || !matches!(self.prompt_source, PromptSource::Operator) {
            return Ok(false);
        }
        let heard = task_ends::look(session, &self.pipeline.store, &self.events).await?;
        if heard {
            history.refresh(&self.pipeline.store)?;
        }
        Ok(heard)
    }

    /// Takes in prompts that were sent since the turn began. A hook may end the turn over one; one that
    /// is refused is said and left out.
    async fn hear_waiting(&self, session: &mut Session, history: &mut History) -> Result<Option<TurnEnd>, StoreError> {
        let Some(waiting) = &self.waiting else { return Ok(None) };
        let prompts = waiting.take().await;
        let some = !prompts.is_empty();
        for mut prompt in prompts {
            if let Some(modules) = session.modules.clone() {
                let store = &self.pipeline.store;
                match modules.input(store, session, &prompt.text, &self.cancel).await? {
                    Some(text) => prompt.text = text,
                    None => continue,
                }
            }
            match self.submit(session, &prompt).await? {
                None => {}
                Some(TurnEnd::Blocked { message }) => (self.events)(TurnEvent::Message(message)),
                // The loop sees the interrupt as well.
                Some(TurnEnd::Interrupted(_)) => waiting.give_back(&prompt),
                Some(ended) => {
                    history.refresh(&self.pipeline.store)?;
                    return Ok(Some(ended));
                }
            }
        }
        if some {
            history.refresh(&self.pipeline.store)?;
        }
        Ok(None)
    }

    async fn work(
        &self,
        session: &mut Session,
        history: &mut History,
        outcome: &mut TurnOutcome,
    ) -> Result<TurnEnd, StoreError> {
        let mut stop_blocks = 0;
        // The rows hold calls without their secrets; what runs is what the model said (DEC-016).
        let mut said: Vec<ToolCall> = Vec::new();
        loop {
            if self.cancel.is_cancelled() {
                return self.interrupted(session, history, Activity::Tools).await;
            }
            self.hear_modules(session, history, DeliveryPoint::ModelCall).await?;
            file_watch::look_at_files(&self.pipeline.store, &self.pipeline.hooks, session, &self.events).await?;
            match history.step() {
                Step::AskModel => {
                    if self.max_turns.is_some_and(|most| outcome.model_calls >= most) {
                        return Ok(TurnEnd::MaxTurns);
                    }
                    self.hear_tasks(session, history).await?;
                    if outcome.model_calls > 0
                        && let Some(stopped) = self.hear_waiting(session, history).await?
                    {
                        return Ok(stopped);
                    }
                    let model = self.current_model.model();
                    self.record_wire_name(session, &model).await?;
                    self.see(session, history, &model)?;
                    self.make_room(session, history, &model).await?;
                    let (events, watch) = self.watched();
                    let asked = match session.modules.clone() {
                        Some(modules) => modules.request_reply(self, session, history, &model, &events).await?,
                        None => self.request_reply(session, history, &model, &events, None).await?,
                    };
                    self.keep_retries(session, &watch).await?;
                    match asked {
                        Ok(mut reply) => {
                            ona_transcript::make_call_ids_unique(history.state(), &mut reply);
                            outcome.model_calls += 1;
                            outcome.usage.add(reply.usage);
                            said = calls(&reply);
                            outcome.stop.clone_from(&reply.end);
                            let fault = ReplyFault::of(&reply);
                            let text = reply_text(&reply);
                            let rows = self.record(&model, reply, fault.as_ref(), outcome);
                            if let Some(fault) = fault.filter(|fault| said.is_empty() || !fault.calls_count) {
                                rows.commit(&self.pipeline.store, &session.place).await?;
                                history.refresh(&self.pipeline.store)?;
                                self.answer_open(session, history, NOT_RUN).await?;
                                return Ok(TurnEnd::Incomplete { failure: fault.failure, text });
                            }
                            if said.is_empty() {
                                rows.commit(&self.pipeline.store, &session.place).await?;
                            } else if let Some(cut) = self.tools(session, &said, rows, outcome).await? {
                                return self.cut_short(session, history, cut).await;
                            }
                        }
                        Err(_) if self.cancel.is_cancelled() => {
                            self.record_partial(session, &model, watch.partial_reply(), outcome).await?;
                            return self.interrupted(session, history, Activity::Asking).await;
                        }
                        Err(failure) => return Ok(TurnEnd::Failed(failure)),
                    }
                }
                Step::RunTools(recorded) => {
                    let known: HashMap<_, _> = said.iter().map(|one| (&one.id, one)).collect();
                    let as_said = |call: ToolCall| known.get(&call.id).map_or(call, |one| (*one).clone());
                    let calls: Vec<_> = recorded.into_iter().map(as_said).collect();
                    if let Some(cut) = self.tools(session, &calls, HeldRows::default(), outcome).await? {
                        return self.cut_short(session, history, cut).await;
                    }
                }
                Step::End if self.hear_modules(session, history, DeliveryPoint::End).await? => {}
                Step::End if self.hear_tasks(session, history).await? => {}
                Step::End => match self.stop(session, stop_blocks, &outcome.text).await? {
                    None => stop_blocks += 1,
                    Some(ended) => return Ok(ended),
                },
            }
            history.refresh(&self.pipeline.store)?;
        }
    }

    /// Runs the calls one after another, unless something ends the turn. `held` are
    /// the rows of the reply that asked for them, committed with the first.
    async fn tools(
        &self,
        session: &mut Session,
        calls: &[ToolCall],
        mut held: HeldRows,
        outcome: &mut TurnOutcome,
    ) -> Result<Option<Cut>, StoreError> {
        for call in calls.iter().cloned() {
            if self.cancel.is_cancelled() {
                break;
            }
            (self.events)(TurnEvent::ToolStarted { call: call.clone() });
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
            if let Some(id) = finished.result.data.get("backgroundTaskId").and_then(serde_json::Value::as_str) {
                let description = session.cx.tasks.title(id).unwrap_or_default();
                let (id, call) = (id.to_owned(), Some(call.id.clone()));
                (self.events)(TurnEvent::TaskStarted { id, kind: TaskKind::Bash, call, description });
            }
            let FinishedCall { result, account, hooks, interrupt, stop, .. } = finished;
            (self.events)(TurnEvent::ToolFinished { call, result, account, hooks });
            if interrupt {
                return Ok(Some(Cut::Interrupted));
            }
            if let Some(reason) = stop {
                return Ok(Some(Cut::Stopped(reason)));
            }
        }
        held.commit(&self.pipeline.store, &session.place).await?;
        Ok(None)
    }
}

/// Why the calls of a reply were left where they are.
enum Cut {
    Stopped(String),
    Interrupted,
}
