//! `ona -p`: prompts, worked on without a terminal (DEC-101).
//!
//! One prompt from the command line, or a conversation with another program over stdin and
//! stdout. What is said is a value (`messages`), made of what happens (`translate`) and
//! written by one hand (`printer`); what is asked of us arrives at one desk (`desk`).

mod asker;
mod bill;
mod callback;
mod commands;
mod content;
mod control;
mod desk;
mod expand;
mod host;
mod input;
mod messages;
mod module_commands;
mod options;
mod prepare;
mod printer;
mod prompt;
mod result;
mod servers;
mod stage;
mod stream;
mod teller;
mod translate;

pub use options::HeadlessOptions;

use crate::args::OutputFormat;
use crate::interrupt::Interrupt;
use crate::output;
use bill::Bill;
use control::{Levers, Wishes};
use desk::Desk;
use host::Host;
use ona_api::{Group, LoggedEvent, Mode, Row, SessionId, SessionOrigin};
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
    Failure, Launch, OpenProject, Purpose, Runtime, agents, block_on,
    session_choice::{self, Begin},
    skills,
};
use ona_store::StoreError;
use ona_tools::TaskKind;
use ona_transcript::Trigger;
use prepare::Ready;
use printer::{Form, Printer};
use result::Setting;
use serde_json::Value;
use stage::Stage;
use std::sync::Arc;
use std::time::Duration;
use teller::Teller;
use translate::Wanted;

/// The version of the reference whose stream-json this speaks.
pub const PROTOCOL: &str = "2.1.240";
/// How long agents in the background are waited for at the end.
const FOR_AGENTS: Duration = Duration::from_secs(600);

pub fn run(
    launch: &Launch,
    options: &HeadlessOptions,
    flag: Option<&str>,
    argument: Option<&str>,
) -> Result<u8, Failure> {
    check(launch, options)?;
    let input = match (options.streams_in, options.init_only) {
        (true, _) if argument.is_some() || flag.is_some_and(|text| !text.is_empty()) => {
            return Err(Failure::usage("with --input-format stream-json prompts come on stdin, not as an argument"));
        }
        (true, _) => Input::Streamed,
        (false, true) => Input::None,
        (false, false) => Input::One(prompt::read(launch, flag, argument)?),
    };
    let open = launch.open()?;
    block_on(async {
        let interrupt = Interrupt::listen();
        let Begin { place, source, copy_of } = session_choice::begin(launch, &open.store)?;
        let _lock = launch.lock_session(&place.session)?;
        let form = Form::of(options.output_format, launch.options.verbose);
        let printer = Printer::new(form, place.session.0.clone(), open.redactor.clone(), interrupt.clone());
        let printer = Arc::new(printer);
        let host = Arc::new(Host::new(Arc::clone(&printer)));
        let cancellation = TurnCancellation::new(interrupt.token().clone());
        let stage = |processes| -> Arc<dyn ona_hookplane::Runner> {
            Arc::new(Stage { processes, printer: Arc::clone(&printer), told: options.include_hook_events })
        };
        let told = Arc::clone(&printer);
        let fails: OnFailure = Arc::new(move |failure: &HookFailure| stage::tell_failure(&told, failure));
        let mut runtime =
            Runtime::with_runner(launch, &open, &launch.cwd, Purpose::Session, &cancellation, stage, fails)?;
        let _settings = launch.keep_settings(&open)?;
        runtime.load_modules(launch, &open).await?;
        runtime.pin_scripts();
        runtime.announce_guards(launch, &open)?;
        let wanted = Wanted { partial: options.include_partial_messages, subagent_text: options.forward_subagent_text };
        let bill = Bill::new(runtime.prices());
        let teller = Teller::new(Arc::clone(&printer), wanted, launch.options.verbose, bill);
        let skills = Arc::new(skills::load(launch, &open));
        for (file, why) in &skills.left_out {
            output::note(format_args!("ona: {}: {why}", file.display()));
        }
        let person = options.streams_in.then(|| servers::Person::of(&host, &cancellation));
        let elicitations = Elicitations::new(Arc::clone(&runtime.hooks), Arc::clone(&open.store), person);
        let elicitations = Arc::new(elicitations);
        runtime.fleet.servers.around.set_elicit_handler(Arc::clone(&elicitations) as _);
        runtime.fleet.servers.around.set_relay(servers::Post::of(&host, &cancellation));
        // Those of the other side have to wait for its introduction.
        runtime.fleet.start(|definition| definition.endpoint != ServerTransport::Host);
        let mut run = Run { launch, options, open: &open, runtime, cancellation, host, teller, skills, elicitations };
        let code = run.go(input, Begin { place, source, copy_of }).await;
        run.runtime.tasks.stop_all().await;
        run.runtime.fleet.servers.close().await;
        // Nothing that was started here outlives the program.
        ona_process::kill_all();
        code.map(|code| interrupt.exit_code().unwrap_or(code))
    })
}

/// Flags that only make sense with others.
fn check(launch: &Launch, options: &HeadlessOptions) -> Result<(), Failure> {
    let streams_out = options.output_format == OutputFormat::StreamJson;
    if options.streams_in && !streams_out {
        return Err(Failure::usage("--input-format stream-json needs --output-format stream-json"));
    }
    let of_stream = [
        ("--include-partial-messages", options.include_partial_messages),
        ("--include-hook-events", options.include_hook_events),
        ("--forward-subagent-text", options.forward_subagent_text),
        ("--replay-user-messages", options.replay_user_messages),
    ];
    if let Some((flag, _)) = of_stream.iter().find(|(_, given)| *given && !streams_out) {
        return Err(Failure::usage(format_args!("{flag} needs --output-format stream-json")));
    }
    if options.replay_user_messages && !options.streams_in {
        return Err(Failure::usage("--replay-user-messages needs --input-format stream-json"));
    }
    match options.permission_prompt_tool.as_deref() {
        None | Some("stdio") => {}
        Some(other) => {
            return Err(Failure::usage(format_args!(
                "--permission-prompt-tool {other}: only stdio answers permission questions"
            )));
        }
    }
    let by_host = options.permission_prompts == Some(crate::args::PermissionPrompts::Host);
    if (options.permission_prompt_tool.is_some() || by_host) && !options.streams_in {
        return Err(Failure::usage("permission questions over stdio need --input-format stream-json"));
    }
    if options.allow_dangerously_skip_permissions {
        launch.operator_only("permissions")?;
    }
    Ok(())
}

/// Where prompts come from.
enum Input {
    One(String),
    /// One message per line of stdin.
    Streamed,
    /// Only what is done before a first prompt (`--init-only`).
    None,
}

/// Why a run breaks off.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Wrong(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Wrong(failure)
    }
}

struct Run<'a> {
    launch: &'a Launch,
    options: &'a HeadlessOptions,
    open: &'a OpenProject,
    runtime: Runtime,
    cancellation: TurnCancellation,
    host: Arc<Host>,
    teller: Arc<Teller>,
    skills: Arc<Skills>,
    elicitations: Arc<Elicitations>,
}

impl Run<'_> {
    async fn go(&mut self, input: Input, begin: Begin) -> Result<u8, Failure> {
        let failed = |error| self.launch.store_failure(error);
        let conversation = begin.place.conversation.0.clone();
        let levers = self.levers(agents::load(self.launch, self.open)?).map_err(failed)?;
        let printer = Arc::clone(&self.teller.printer);
        let mut desk = Desk::new(levers, Arc::clone(&self.host), printer, self.options.replay_user_messages);
        let alone = matches!(input, Input::None);
        match input {
            Input::One(prompt) => desk.put(prompt),
            Input::Streamed => desk.listen(input::read(std::io::stdin())),
            Input::None => {}
        }
        let first = desk.next().await;
        if first.is_none() && !alone {
            // A program that only introduced itself has got what it came for.
            return if desk.heard || self.cancellation.program().is_cancelled() {
                Ok(0)
            } else {
                Err(Failure::usage("stdin ended without a message"))
            };
        }
        desk.during(self.runtime.judge_flags(self.launch)).await?;
        let source = begin.source;
        self.may_resume(&begin).await?;
        let mut session = self.open_session(begin).await.map_err(failed)?;
        let events = self.teller.events();
        let talked = match first {
            None => self.setup(&mut session, &events).await.map(|_| TurnEnd::Done).map_err(Trouble::from),
            Some(first) => self.talk(&mut session, source, first, &mut desk, &events).await,
        };
        let ended = match talked {
            Ok(ended) => ended,
            Err(Trouble::Wrong(failure)) => return Err(failure),
            Err(Trouble::Store(error)) => {
                let failure = self.launch.store_failure(error);
                let setting = Setting { conversation: &conversation, provider: None };
                self.teller.broken(&failure.message, &setting);
                return Err(failure);
            }
        };
        self.end(&mut session, &mut desk).await.map_err(failed)?;
        Ok(match ended {
            TurnEnd::Done | TurnEnd::Stopped { .. } => 0,
            TurnEnd::Blocked { .. }
            | TurnEnd::MaxTurns
            | TurnEnd::NeverStopped { .. }
            | TurnEnd::Failed(_)
            | TurnEnd::Interrupted(_) => 1,
        })
    }

    fn levers(&self, agents: Agents) -> Result<Levers, StoreError> {
        let options = &self.launch.options;
        let rules = self.runtime.rules();
        let bypassing = options.dangerously_skip_permissions
            || self.options.allow_dangerously_skip_permissions
            || options.permission_mode.as_deref() == Some(Mode::BypassPermissions.as_str());
        let row = self.open.store.reader()?.settings()?;
        Ok(Levers {
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
            wishes: Wishes::default(),
            context: Arc::clone(&self.teller.context),
            changed: None,
            notices: Vec::new(),
            servers: Arc::clone(&self.runtime.fleet.servers),
        })
    }

    async fn open_session(&mut self, begin: Begin) -> Result<Session, StoreError> {
        let Begin { place, source, copy_of } = begin;
        let mut opening = Group::default();
        opening.push(Row::Conversation { project_dir: self.runtime.project().to_string_lossy().into_owned() });
        opening.push(Row::Session);
        if source == "startup" {
            opening.log(LoggedEvent::SessionCreated(SessionOrigin::Print));
        }
        if let Some(from) = copy_of {
            opening.log(LoggedEvent::SessionCreated(SessionOrigin::Fork { of: from.clone() }));
            opening.push(Row::CopyTranscript { from });
        }
        opening.append(self.runtime.take_findings());
        self.open.store.commit(&place, opening).await?;
        self.runtime.session(&self.open.store, place)
    }

    /// Prompt after prompt, a result for each. How the last one ended.
    async fn talk(
        &self,
        session: &mut Session,
        source: &str,
        first: UserPrompt,
        desk: &mut Desk,
        events: &Events,
    ) -> Result<TurnEnd, Trouble> {
        let conversation = session.place.conversation.0.clone();
        let (agents, mut wishes) = (desk.levers.agents.clone(), std::mem::take(&mut desk.levers.wishes));
        if wishes.subagent_text {
            self.teller.want_subagent_text();
        }
        session.cx.cancel = self.cancellation.begin_turn();
        let mut ready = desk.during(self.prepare(session, source, agents.clone(), &wishes, events)).await?;
        let configured = ready.model();
        let mut locks = Vec::new();
        let mut next = Some(first);
        let mut ended = TurnEnd::Done;
        while let Some(said) = next.take() {
            let clears = commands::clears(&said.text);
            let stays = clears && !self.may_leave(session).await?;
            if clears && !stays {
                let before = session.place.session.0.clone();
                wishes.model = ready.model().map(|model| model.choice.model_id.to_owned());
                let id = SessionId::random();
                locks.push(self.launch.lock_session(&id)?);
                desk.during(clear(&self.open.store, &self.runtime.hooks, session, events, id)).await?;
                self.teller.printer.reset(&session.place.session.0);
                self.left(session, before).await?;
                ready = desk.during(self.prepare(session, "clear", agents.clone(), &wishes, events)).await?;
            }
            let (turn, history) = match &mut ready {
                Ready::Turn(turn, history) => (turn, history),
                Ready::Refused(outcome) => {
                    self.teller.result(outcome, &Setting { conversation: &conversation, provider: None });
                    return Ok(outcome.ended.clone());
                }
            };
            let configured = configured.clone().unwrap_or_else(|| turn.current_model.model());
            desk.levers.current_model = Some((turn.current_model.clone(), configured));
            turn.cancel = self.cancellation.begin_turn();
            session.cx.cancel = turn.cancel.clone();
            let outcome = match clears {
                true if stays => module_commands::refused("A hook module cancelled /clear; the session goes on."),
                true => TurnOutcome::nothing(),
                false => match commands::compacts(&said.text) {
                    Some(wish) => desk.during(compacted(turn, session, history, wish)).await?,
                    None => match desk.during(self.command(turn, session, history, &said.text, &mut locks)).await? {
                        Some(outcome) => outcome,
                        None => match desk.during(self.heard_by_modules(session, said)).await? {
                            Some(said) => desk.during(self.prompt(turn, session, history, said, events)).await?,
                            None => TurnOutcome::nothing(),
                        },
                    },
                },
            };
            desk.during(granted(turn, session, history)).await?;
            desk.during(self.follow_up(turn, session, history, &mut locks)).await?;
            let provider = Some(turn.current_model.model().choice.provider);
            self.teller.result(&outcome, &Setting { conversation: &conversation, provider });
            ended = outcome.ended;
            next = desk.next().await;
            self.teller.begin();
        }
        Ok(ended)
    }

    /// Agents that still work, SessionEnd, and what the conversation came to (DEC-023).
    async fn end(&self, session: &mut Session, desk: &mut Desk) -> Result<(), StoreError> {
        let waiting = async {
            tokio::select! {
                () = self.runtime.tasks.finish(TaskKind::Agent) => {}
                () = self.cancellation.program().cancelled() => {}
                () = tokio::time::sleep(FOR_AGENTS) => {}
            }
        };
        desk.during(waiting).await;
        self.cancellation.begin_turn();
        if self.cancellation.program().is_cancelled() {
            // Nobody waits for what still runs, and its hooks are to be heard before the last ones.
            desk.during(self.runtime.tasks.stop_all()).await;
        }
        let events = self.teller.afterwards();
        let ending = end_session(&self.open.store, &self.runtime.hooks, session, &events, SessionEndReason::Other);
        desk.during(ending).await?;
        desk.during(self.shut_down(session)).await
    }
}

/// Compactions that modules wished for, now that nothing runs.
async fn granted(turn: &Turn, session: &mut Session, history: &mut History) -> Result<(), StoreError> {
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

/// A summary in the place of the conversation so far, because somebody asked for it.
async fn compacted(
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
