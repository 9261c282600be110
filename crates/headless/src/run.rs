//! One run: prompts, each answered by a turn, from the first hook to the last.
//!
//! While a turn runs, `input_queue` goes on reading: every wait below is a `serve_while`.

use crate::control::ControlState;
use crate::event_printer::EventPrinter;
use crate::host_connection::HostConnection;
use crate::input_queue::InputQueue;
use crate::options::HeadlessOptions;
use crate::output::Output;
use crate::printer::{OutputForm, Printer};
use crate::reporting_runner::ReportingRunner;
use crate::run_cost::RunCost;
use crate::translate::StreamContent;
use crate::turn_result::ResultContext;
use crate::{builtin_commands, host_mcp, input, module_commands, reporting_runner};
use ona_api::{Mode, SessionId, SessionOrigin};
use ona_hookplane::{HookFailure, OnFailure};
use ona_instructions::Agents;
use ona_instructions::skills::Skills;
use ona_mcp::ServerTransport;
use ona_orchestration::{
    COMPACTION_CANCELLED, Compacted, Elicitations, Events, History, Session, SessionEndReason, Turn, TurnEnd,
    TurnOutcome, UserPrompt, clear, end_session,
};
use ona_process::TurnCancellation;
use ona_runtime::{
    Failure, Launch, OpenProject, Purpose, Runtime, agents,
    session_choice::{self, Begin},
    session_start::{Preparation, ReadySession, SessionError, SessionOverrides, open_session, run_setup_hooks},
    skills,
};
use ona_store::StoreError;
use ona_transcript::Trigger;
use serde_json::Value;
use std::io::Read;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Answers prompts until there are none left, and returns how the last turn ended. `cancel` ends
/// the whole run.
pub async fn run(
    launch: &Launch,
    open: &OpenProject,
    options: &HeadlessOptions,
    prompts: Prompts,
    output: Arc<dyn Output>,
    cancel: &CancellationToken,
) -> Result<RunEnd, Failure> {
    let Begin { place, source, copy_of } = session_choice::begin(launch, &open.store)?;
    let _lock = launch.lock_session(&place.session)?;
    let form = OutputForm::of(options.output_format, launch.options.verbose);
    let printer = Printer::new(form, place.session.0.clone(), open.redactor.clone(), output);
    let printer = Arc::new(printer);
    let host = Arc::new(HostConnection::new(Arc::clone(&printer)));
    let cancellation = TurnCancellation::new(cancel.clone());
    let reporting = |processes| -> Arc<dyn ona_hookplane::Runner> {
        Arc::new(ReportingRunner { processes, printer: Arc::clone(&printer), all_events: options.include_hook_events })
    };
    let failures = Arc::clone(&printer);
    let on_failure: OnFailure =
        Arc::new(move |failure: &HookFailure| reporting_runner::report_failure(&failures, failure));
    let mut runtime =
        Runtime::with_runner(launch, open, &launch.cwd, Purpose::Session, &cancellation, reporting, on_failure)?;
    let _settings = launch.keep_settings(open)?;
    runtime.load_modules(launch, open).await?;
    runtime.pin_scripts();
    runtime.announce_guards(launch, open)?;
    let content =
        StreamContent { partial: options.include_partial_messages, subagent_text: options.forward_subagent_text };
    let cost = RunCost::new(runtime.prices());
    let event_printer = EventPrinter::new(Arc::clone(&printer), content, launch.options.verbose, cost);
    let skills = Arc::new(skills::load(launch, open));
    for (file, why) in &skills.left_out {
        launch.note(format_args!("ona: {}: {why}", file.display()));
    }
    let prompter = options.streams_in.then(|| host_mcp::HostPrompter::of(&host, &cancellation));
    let elicitations = Elicitations::new(Arc::clone(&runtime.hooks), Arc::clone(&open.store), prompter);
    let elicitations = Arc::new(elicitations);
    runtime.mcp.servers.around.set_elicit_handler(Arc::clone(&elicitations) as _);
    runtime.mcp.servers.around.set_relay(host_mcp::HostTransport::of(&host, &cancellation));
    // Servers of the driving program wait for its `initialize`.
    runtime.mcp.start(|definition| definition.endpoint != ServerTransport::Host);
    let mut run = Run { launch, options, open, runtime, cancellation, host, event_printer, skills, elicitations };
    let end = run.execute(prompts, Begin { place, source, copy_of }).await;
    run.runtime.tasks.stop_all().await;
    run.runtime.mcp.servers.close().await;
    // Nothing that was started here outlives the program.
    ona_process::kill_all();
    end
}

/// Where prompts come from.
pub enum Prompts {
    One(String),
    /// One JSON message per line.
    Stream(Box<dyn Read + Send>),
    /// There are none: only the Setup hooks run (`--init-only`).
    None,
}

/// How the last turn of a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    Completed,
    Failed,
}

pub(crate) struct Run<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) options: &'a HeadlessOptions,
    pub(crate) open: &'a OpenProject,
    pub(crate) runtime: Runtime,
    pub(crate) cancellation: TurnCancellation,
    pub(crate) host: Arc<HostConnection>,
    pub(crate) event_printer: Arc<EventPrinter>,
    pub(crate) skills: Arc<Skills>,
    pub(crate) elicitations: Arc<Elicitations>,
}

impl Run<'_> {
    async fn execute(&mut self, prompts: Prompts, begin: Begin) -> Result<RunEnd, Failure> {
        let failed = |error| self.launch.store_failure(error);
        let conversation = begin.place.conversation.0.clone();
        let control = self.control_state(agents::load(self.launch, self.open)?).map_err(failed)?;
        let printer = Arc::clone(&self.event_printer.printer);
        let mut queue = InputQueue::new(control, Arc::clone(&self.host), printer, self.options.replay_user_messages);
        let setup_only = matches!(prompts, Prompts::None);
        match prompts {
            Prompts::One(prompt) => queue.push_text(prompt),
            Prompts::Stream(reader) => queue.listen(input::read(reader)),
            Prompts::None => {}
        }
        let first = queue.next().await;
        if first.is_none() && !setup_only {
            // A program may only introduce itself and send no prompt.
            return if queue.received_any || self.cancellation.program().is_cancelled() {
                Ok(RunEnd::Completed)
            } else {
                Err(Failure::usage("stdin ended without a message"))
            };
        }
        queue.serve_while(self.runtime.judge_flags(self.launch)).await?;
        let source = begin.source;
        self.check_resume(&begin).await?;
        let mut session =
            open_session(self.open, &mut self.runtime, begin, SessionOrigin::Print).await.map_err(failed)?;
        let events = self.event_printer.events();
        let answered = match first {
            None => {
                self.run_setup_only(&mut session, &events).await.map(|()| TurnEnd::Done).map_err(SessionError::from)
            }
            Some(first) => self.answer_prompts(&mut session, source, first, &mut queue, &events).await,
        };
        let ended = match answered {
            Ok(ended) => ended,
            Err(SessionError::Failed(failure)) => return Err(failure),
            Err(SessionError::Store(error)) => {
                let failure = self.launch.store_failure(error);
                let setting = ResultContext { conversation: &conversation, provider: None };
                self.event_printer.aborted(&failure.message, &setting);
                return Err(failure);
            }
        };
        self.finish(&mut session, &mut queue).await.map_err(failed)?;
        Ok(match ended {
            TurnEnd::Done | TurnEnd::Stopped { .. } => RunEnd::Completed,
            TurnEnd::Blocked { .. }
            | TurnEnd::MaxTurns
            | TurnEnd::NeverStopped { .. }
            | TurnEnd::Failed(_)
            | TurnEnd::Incomplete { .. }
            | TurnEnd::Interrupted(_) => RunEnd::Failed,
        })
    }

    fn control_state(&self, agents: Agents) -> Result<ControlState, StoreError> {
        let options = &self.launch.options;
        let rules = self.runtime.rules();
        let bypassing = options.dangerously_skip_permissions
            || self.options.allow_dangerously_skip_permissions
            || options.permission_mode.as_deref() == Some(Mode::BypassPermissions.as_str());
        let row = self.open.store.reader()?.settings()?;
        Ok(ControlState {
            cancellation: self.cancellation.clone(),
            rules,
            hooks: Arc::clone(&self.runtime.hooks),
            host: Arc::clone(&self.host),
            tasks: Arc::clone(&self.runtime.tasks),
            settings: self.runtime.settings.clone(),
            row: row.and_then(|(json, _)| serde_json::from_str(&json).ok()).unwrap_or(Value::Null),
            agents,
            skills: Arc::clone(&self.skills),
            may_bypass: bypassing && !self.launch.agent_shell,
            current_model: None,
            overrides: SessionOverrides::default(),
            subagent_text: false,
            context: Arc::clone(&self.event_printer.context),
            changed: None,
            notices: Vec::new(),
            servers: Arc::clone(&self.runtime.mcp.servers),
            store: Arc::clone(&self.open.store),
            limits: self.runtime.keep_limits(),
            place: None,
            busy: false,
            went_back: false,
        })
    }

    async fn run_setup_only(&self, session: &mut Session, events: &Events) -> Result<(), StoreError> {
        let Some(trigger) = self.options.setup() else { return Ok(()) };
        run_setup_hooks(self.open, &self.runtime, session, events, trigger).await.map(drop)
    }

    /// Answers prompt after prompt, each with a result, and returns how the last turn ended.
    async fn answer_prompts(
        &self,
        session: &mut Session,
        source: &str,
        first: UserPrompt,
        queue: &mut InputQueue,
        events: &Events,
    ) -> Result<TurnEnd, SessionError> {
        let conversation = session.place.conversation.0.clone();
        let (agents, mut overrides) = (queue.control.agents.clone(), std::mem::take(&mut queue.control.overrides));
        if queue.control.subagent_text {
            self.event_printer.include_subagent_text();
        }
        session.cx.cancel = self.cancellation.begin_turn();
        let mut ready = queue.serve_while(self.prepare(session, source, &agents, &overrides, events)).await?;
        let configured = ready.model();
        let mut locks = Vec::new();
        let mut next = Some(first);
        let mut ended = TurnEnd::Done;
        while let Some(prompt) = next.take() {
            let clears = builtin_commands::is_clear(&prompt.text);
            let stays = clears && !self.modules_allow_new_session(session).await?;
            if clears && !stays {
                let before = session.place.session.0.clone();
                overrides.model = ready.model().map(|model| model.choice.model_id.to_owned());
                let id = SessionId::random();
                locks.push(self.launch.lock_session(&id)?);
                queue.serve_while(clear(&self.open.store, &self.runtime.hooks, session, events, id)).await?;
                self.event_printer.printer.reset(&session.place.session.0);
                self.notify_new_session(session, before).await?;
                ready = queue.serve_while(self.prepare(session, "clear", &agents, &overrides, events)).await?;
            }
            let ReadySession { turn, history, .. } = match &mut ready {
                Preparation::Ready(ready) => ready.as_mut(),
                Preparation::Refused(outcome) => {
                    self.event_printer.result(outcome, &ResultContext { conversation: &conversation, provider: None });
                    return Ok(outcome.ended.clone());
                }
            };
            let configured = configured.clone().unwrap_or_else(|| turn.current_model.model());
            queue.control.current_model = Some((turn.current_model.clone(), configured));
            queue.control.place = Some(session.place.clone());
            if std::mem::take(&mut queue.control.went_back) {
                session.context.went_back(self.open.store.reader()?, &session.place.session)?;
            }
            turn.cancel = self.cancellation.begin_turn();
            session.cx.cancel = turn.cancel.clone();
            let mut outcome = match clears {
                true if stays => module_commands::refused("A hook module cancelled /clear; the session goes on."),
                true => TurnOutcome::nothing(),
                false => match builtin_commands::compact_command(&prompt.text) {
                    Some(wish) => queue.serve_while(compact_on_request(turn, session, history, wish)).await?,
                    None => match queue
                        .serve_while(self.run_module_command(turn, session, history, &prompt.text, &mut locks))
                        .await?
                    {
                        Some(outcome) => outcome,
                        None => match queue.serve_while(self.prompt_through_modules(session, prompt)).await? {
                            Some(prompt) => {
                                queue.serve_while(self.run_prompt(turn, session, history, prompt, events)).await?
                            }
                            None => TurnOutcome::nothing(),
                        },
                    },
                },
            };
            queue.serve_while(run_requested_compactions(turn, session, history)).await?;
            queue.serve_while(self.run_queued_commands(turn, session, history, &mut locks)).await?;
            if !queue.is_driven() {
                self.answer_task_ends(turn, session, history, queue, &mut outcome).await?;
            }
            let provider = Some(turn.current_model.model().choice.provider);
            self.event_printer.result(&outcome, &ResultContext { conversation: &conversation, provider });
            ended = outcome.ended;
            next = self.next_prompt(turn, session, history, queue, events).await?;
            self.event_printer.begin();
        }
        Ok(ended)
    }

    /// Ends the session and its conversation (DEC-023).
    async fn finish(&self, session: &mut Session, queue: &mut InputQueue) -> Result<(), StoreError> {
        if queue.is_driven() {
            self.report_left_running(false);
        }
        self.cancellation.begin_turn();
        if self.cancellation.program().is_cancelled() {
            // Nobody waits for running tasks any more, and their hooks must run before the last ones.
            queue.serve_while(self.runtime.tasks.stop_all()).await;
        }
        let events = self.event_printer.notes_only();
        let ending = end_session(&self.open.store, &self.runtime.hooks, session, &events, SessionEndReason::Other);
        queue.serve_while(ending).await?;
        queue.serve_while(self.notify_shutdown(session)).await
    }
}

/// Runs the compactions that modules requested, now that no turn runs.
async fn run_requested_compactions(
    turn: &Turn,
    session: &mut Session,
    history: &mut History,
) -> Result<(), StoreError> {
    let Some(modules) = session.modules.clone() else { return Ok(()) };
    while let Some(wish) = modules.host.wish() {
        let done = turn.compact(session, history, Trigger::Manual, wish.instructions.as_deref()).await?;
        wish.answer(match done {
            Compacted::To(summary) => Ok(summary),
            Compacted::Cancelled => Err(COMPACTION_CANCELLED),
            Compacted::Not => Err("Nothing was compacted."),
        });
        modules.emitter.settle().await;
    }
    Ok(())
}

/// Replaces the conversation so far with a summary (`/compact`).
async fn compact_on_request(
    turn: &Turn,
    session: &mut Session,
    history: &mut History,
    wish: Option<&str>,
) -> Result<TurnOutcome, StoreError> {
    let words = match turn.compact(session, history, Trigger::Manual, wish).await? {
        Compacted::To(_) => "The conversation was compacted.",
        Compacted::Not => "Nothing was compacted.",
        Compacted::Cancelled => return Ok(module_commands::refused(COMPACTION_CANCELLED)),
    };
    Ok(TurnOutcome { text: words.into(), ..TurnOutcome::nothing() })
}
