//! One run: prompts, each answered by a turn, from the first hook to the last.
//!
//! What a prompt means and how a session goes on is `ona_commands::SessionRunner`'s. While it works,
//! `input_queue` goes on reading: every wait below is a `serve_while`.

use crate::control::ControlState;
use crate::event_printer::EventPrinter;
use crate::hook_reporter::{self, HookReporter};
use crate::host_connection::HostConnection;
use crate::input_queue::InputQueue;
use crate::live::LiveView;
use crate::options::HeadlessOptions;
use crate::output::Output;
use crate::prepare::{self, InitPrinter};
use crate::printer::{OutputForm, Printer};
use crate::run_cost::RunCost;
use crate::translate::StreamContent;
use crate::turn_result::ResultContext;
use crate::{host_mcp, input, prompt_tool};
use ona_api::SessionOrigin;
use ona_commands::{Answer, FrontParts, SessionParts, SessionRunner};
use ona_hookplane::{HookFailure, ObservedRunner, OnFailure};
use ona_mcp::ServerTransport;
use ona_orchestration::{Events, SessionEndReason, TurnEnd, UserPrompt};
use ona_process::TurnCancellation;
use ona_runtime::{
    Failure, Launch, OpenProject, Purpose, Runtime,
    session_choice::{self, Begin},
    session_start::{Preparation, SessionError, SessionOverrides, run_setup_hooks},
};
use ona_store::StoreError;
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
    let begin = session_choice::begin(launch, &open.store)?;
    let _lock = launch.lock_session(&begin.place.session)?;
    let form = OutputForm::of(options.output_format, launch.options.verbose);
    let live = options.live.map(|style| LiveView::new(style, open.redactor.clone(), Arc::clone(&output)));
    let printer = Printer::new(form, begin.place.session.0.clone(), open.redactor.clone(), output);
    let printer = Arc::new(printer);
    let host = Arc::new(HostConnection::new(Arc::clone(&printer)));
    let cancellation = TurnCancellation::new(cancel.clone());
    let reporting = |processes| -> Arc<dyn ona_hookplane::Runner> {
        let observer = HookReporter { printer: Arc::clone(&printer), all_events: options.include_hook_events };
        Arc::new(ObservedRunner { processes, observer })
    };
    let failures = Arc::clone(&printer);
    let on_failure: OnFailure =
        Arc::new(move |failure: &HookFailure| hook_reporter::report_failure(&failures, failure));
    let runtime =
        Runtime::with_runner(launch, open, &launch.cwd, Purpose::Session, &cancellation, reporting, on_failure)?;
    let content =
        StreamContent { partial: options.include_partial_messages, subagent_text: options.forward_subagent_text };
    let info = runtime.settings.model_info.clone().unwrap_or_default();
    let cost = RunCost::new(runtime.prices(), info);
    let event_printer = EventPrinter::new(Arc::clone(&printer), content, launch.options.verbose, live, cost);
    runtime.mcp.servers.around.set_progress_listener(event_printer.progress_listener());
    let front = FrontParts {
        operator: prepare::operator(options, &runtime.mcp.servers, &host, &printer, &cancellation),
        events: event_printer.events(),
        observer: Arc::new(InitPrinter(Arc::clone(&event_printer))),
        prompter: options.streams_in.then(|| host_mcp::HostPrompter::of(&host, &cancellation)),
        relay: Some(host_mcp::HostTransport::of(&host, &cancellation)),
        screen: None,
        person: None,
        setup: options.setup(),
        waiting: None,
    };
    // Servers of the driving program wait for its `initialize`.
    let starts = |definition: &ona_mcp::ServerDefinition| definition.endpoint != ServerTransport::Host;
    let parts = SessionParts::assemble(launch, open, runtime, cancellation, front, &begin, starts).await?;
    let (tasks, servers) = (Arc::clone(&parts.runtime.tasks), Arc::clone(&parts.runtime.mcp.servers));
    let run = Run { options, host, event_printer };
    let end = run.execute(parts, prompts, begin).await;
    tasks.stop_all().await;
    servers.close().await;
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
    pub(crate) options: &'a HeadlessOptions,
    pub(crate) host: Arc<HostConnection>,
    pub(crate) event_printer: Arc<EventPrinter>,
}

impl Run<'_> {
    async fn execute(&self, mut parts: SessionParts<'_>, prompts: Prompts, begin: Begin) -> Result<RunEnd, Failure> {
        let launch = parts.launch;
        let failed = |error| launch.store_failure(error);
        let conversation = begin.place.conversation.0.clone();
        let control = self.control_state(&parts, self.options.may_bypass(launch)?).map_err(failed)?;
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
            return if queue.received_any || parts.cancellation.program().is_cancelled() {
                Ok(RunEnd::Completed)
            } else {
                Err(Failure::usage("stdin ended without a message"))
            };
        }
        queue.serve_while(parts.runtime.judge_flags(launch)).await?;
        queue.serve_while(prompt_tool::check(self.options, &parts.runtime.mcp.servers)).await?;
        let answered = match first {
            None => self.run_setup_only(parts, begin).await.map(|()| TurnEnd::Done),
            Some(first) => {
                parts.agents = queue.control.agents.clone();
                parts.overrides = std::mem::take(&mut queue.control.overrides);
                if queue.control.subagent_text {
                    self.event_printer.include_subagent_text();
                }
                match queue.serve_while(SessionRunner::begin(parts, begin, SessionOrigin::Print)).await {
                    Ok(runner) => self.answer_prompts(runner, first, &mut queue).await,
                    Err(error) => Err(error),
                }
            }
        };
        let ended = match answered {
            Ok(ended) => ended,
            Err(SessionError::Failed(failure)) => return Err(failure),
            Err(SessionError::Store(error)) => {
                let failure = launch.store_failure(error);
                let setting = ResultContext { conversation: &conversation, model: None };
                self.event_printer.aborted(&failure.message, &setting);
                return Err(failure);
            }
        };
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

    fn control_state(&self, parts: &SessionParts<'_>, may_bypass: bool) -> Result<ControlState, StoreError> {
        let runtime = &parts.runtime;
        let row = parts.open.store.reader()?.settings()?;
        Ok(ControlState {
            env: runtime.operators.clone(),
            cancellation: parts.cancellation.clone(),
            rules: runtime.rules(),
            hooks: Arc::clone(&runtime.hooks),
            host: Arc::clone(&self.host),
            tasks: Arc::clone(&runtime.tasks),
            settings: runtime.settings.clone(),
            row: row.and_then(|(json, _)| serde_json::from_str(&json).ok()).unwrap_or(Value::Null),
            agents: parts.agents.clone(),
            skills: Arc::clone(&parts.skills),
            output_style: parts.style_name().to_owned(),
            output_styles: parts.output_styles.iter().map(|style| style.name.clone()).collect(),
            may_bypass,
            current_model: None,
            overrides: SessionOverrides::default(),
            subagent_text: false,
            context: Arc::clone(&self.event_printer.context),
            changed: None,
            notices: Vec::new(),
            servers: Arc::clone(&runtime.mcp.servers),
            store: Arc::clone(&parts.open.store),
            limits: runtime.keep_limits(),
            place: None,
            busy: false,
            went_back: false,
        })
    }

    async fn run_setup_only(&self, mut parts: SessionParts<'_>, begin: Begin) -> Result<(), SessionError> {
        let mut session = parts.open_session(begin, SessionOrigin::Print).await?;
        if let Some(trigger) = self.options.setup() {
            let events = self.event_printer.events();
            run_setup_hooks(parts.open, &parts.runtime, &mut session, &events, trigger).await?;
        }
        let events = self.event_printer.notes_only();
        Ok(parts.finish(&mut session, &events, SessionEndReason::Other).await?)
    }

    /// Answers prompt after prompt, each with a result, ends the session and returns how the last turn ended.
    async fn answer_prompts(
        &self,
        mut runner: SessionRunner<'_>,
        first: UserPrompt,
        queue: &mut InputQueue,
    ) -> Result<TurnEnd, SessionError> {
        let conversation = runner.session.place.conversation.0.clone();
        let configured = runner.ready.model();
        let mut next = Some(first);
        let mut ended = TurnEnd::Done;
        if let Preparation::Refused(outcome) = &runner.ready {
            self.event_printer.result(outcome, &ResultContext { conversation: &conversation, model: None });
            ended = outcome.ended.clone();
            next = None;
        }
        while let Some(prompt) = next.take() {
            self.follow(&runner, configured.as_ref(), queue);
            if std::mem::take(&mut queue.control.went_back) {
                runner.conversation_went_back()?;
            }
            let Answer { mut outcome, .. } = queue.serve_while(runner.answer(prompt)).await?;
            let Some(turn) = runner.turn() else {
                self.event_printer.result(&outcome, &ResultContext { conversation: &conversation, model: None });
                ended = outcome.ended;
                break;
            };
            let model = turn.current_model.model();
            self.follow(&runner, configured.as_ref(), queue);
            if !queue.is_driven() {
                self.answer_task_ends(&mut runner, queue, &mut outcome).await?;
            }
            self.event_printer.result(&outcome, &ResultContext { conversation: &conversation, model: Some(&model) });
            ended = outcome.ended;
            next = self.next_prompt(&mut runner, queue).await?;
            self.event_printer.begin();
        }
        if queue.is_driven() {
            self.report_left_running(&runner, false);
        }
        let events: Events = self.event_printer.notes_only();
        queue.serve_while(runner.finish(&events, SessionEndReason::Other)).await?;
        Ok(ended)
    }

    /// Requests are about the session that is there now.
    fn follow(
        &self,
        runner: &SessionRunner<'_>,
        configured: Option<&Arc<ona_orchestration::Model>>,
        queue: &mut InputQueue,
    ) {
        let Some(turn) = runner.turn() else { return };
        let configured = configured.cloned().unwrap_or_else(|| turn.current_model.model());
        queue.control.current_model = Some((turn.current_model.clone(), configured));
        queue.control.place = Some(runner.session.place.clone());
    }
}
