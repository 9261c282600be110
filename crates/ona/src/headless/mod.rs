//! `ona -p`: one prompt, worked on without a terminal (DEC-101).

mod bill;
pub mod choice;
mod commands;
mod content;
mod input;
mod place;
mod render;

use crate::args::{InputFormat, OutputFormat};
use crate::failure::Failure;
use crate::interrupt;
use crate::program::{Open, Program};
use crate::workplace::{Workplace, runtime};
use crate::workshop;
use ona_api::model::Asking;
use ona_api::{Authority, EventKind, EventName, Group, Phase, Row, Ruling, SessionId, Verdict};
use ona_orchestration::{
    Agent, Context, Ended, EndedBy, Events, History, Memories, Model, Office, Operator, Pipeline, PlanDesk, Question,
    Said, Session, Speaker, Turn, TurnOutcome, clear, end_session, lifecycle, loaded,
};
use ona_session::{Agents, Instruction, Instructions, Prompt, Sources, system_prompt};
use ona_store::StoreError;
use ona_tools::ToolBox;
use ona_trust::{How, Trust};
use place::Begin;
use render::Renderer;
use serde_json::json;
use std::future::Future;
use std::io::{IsTerminal, Read};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// What providers that need a limit are told.
const MAX_TOKENS: u32 = 8192;

pub fn run(program: &Program, argument: &str) -> Result<u8, Failure> {
    let streamed = program.options.input_format == InputFormat::StreamJson;
    if streamed && program.options.output_format != OutputFormat::StreamJson {
        return Err(Failure::usage("--input-format stream-json needs --output-format stream-json"));
    }
    let prompt = if streamed { Prompts::Streamed } else { Prompts::One(prompt(argument)?) };
    let open = program.open()?;
    runtime().block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let workplace = Workplace::new(program, &open, &program.cwd, How::AtStart, &cancel)?;
        let mut run = Run { program, open: &open, workplace, cancel: cancel.clone(), began: Instant::now() };
        let code = run.go(prompt).await?;
        run.workplace.tasks.stop_all().await;
        Ok(if cancel.is_cancelled() { interrupt::INTERRUPTED } else { code })
    })
}

/// The argument and what is piped in, in this order.
fn prompt(argument: &str) -> Result<String, Failure> {
    let mut piped = String::new();
    let mut stdin = std::io::stdin();
    if !stdin.is_terminal() {
        stdin
            .read_to_string(&mut piped)
            .map_err(|error| Failure::usage(format_args!("stdin could not be read as text: {error}")))?;
    }
    let parts: Vec<_> = [argument.trim(), piped.trim()].into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err(Failure::usage("there is no prompt").hint("ona -p 'what does this project do?'"));
    }
    Ok(parts.join("\n"))
}

/// Where prompts come from.
enum Prompts {
    One(String),
    /// One message per line of stdin.
    Streamed,
}

struct Run<'a> {
    program: &'a Program,
    open: &'a Open,
    workplace: Workplace,
    cancel: CancellationToken,
    began: Instant,
}

impl Run<'_> {
    async fn go(&mut self, prompts: Prompts) -> Result<u8, Failure> {
        let program = self.program;
        let failed = |error| program.store_failure(error);
        let Begin { place, source, copy_of } = place::begin(program, &self.open.store)?;
        let _lock = program.lock_session(&place.session)?;
        let mut opening = Group::default();
        opening.push(Row::Conversation { project_dir: self.workplace.project().to_string_lossy().into_owned() });
        opening.push(Row::Session);
        if source == "startup" {
            opening.event(EventKind::SessionCreated, json!({"by": "print"}));
        }
        if let Some(from) = copy_of {
            opening.event(EventKind::SessionCreated, json!({"by": "fork", "of": from}));
            opening.push(Row::CopyTranscript { from });
        }
        opening.append(self.workplace.take_findings());
        self.open.store.commit(&place, opening).await.map_err(failed)?;
        let mut session = self.workplace.session(&self.open.store, place).map_err(failed)?;

        let renderer = Arc::new(Renderer::new(program, &session, self.open.redactor.clone(), self.workplace.prices()));
        let events: Events = {
            let renderer = Arc::clone(&renderer);
            Arc::new(move |event| renderer.event(&event))
        };
        let ended = self.talk(&mut session, source, prompts, &renderer, &events).await.map_err(failed)??;
        end_session(&self.open.store, &self.workplace.hooks, &mut session, &events, EndedBy::Other)
            .await
            .map_err(failed)?;
        Ok(match ended {
            Ended::Done | Ended::Stopped { .. } => 0,
            Ended::Blocked { .. } | Ended::MaxTurns | Ended::Failed(_) | Ended::Interrupted => 1,
        })
    }

    /// Prompt after prompt, a result for each. How the last one ended.
    async fn talk(
        &self,
        session: &mut Session,
        source: &str,
        prompts: Prompts,
        renderer: &Renderer,
        events: &Events,
    ) -> Result<Result<Ended, Failure>, StoreError> {
        let mut lines = input::Lines::new();
        let first = match prompts {
            Prompts::One(prompt) => Said::from(&prompt),
            Prompts::Streamed => match lines.next(renderer).await {
                Some(prompt) => prompt,
                None => return Ok(Err(Failure::usage("stdin ended without a message"))),
            },
        };
        let mut began = self.began;
        let mut ready = self.prepare(session, source, renderer, events).await?;
        let mut prompt = Some(first);
        let mut ended = Ended::Done;
        let mut locks = Vec::new();
        while let Some(said) = prompt.take() {
            let clears = commands::clears(&said.text);
            if clears {
                let next = SessionId::random();
                match self.program.lock_session(&next) {
                    Ok(lock) => locks.push(lock),
                    Err(failure) => return Ok(Err(failure)),
                }
                clear(&self.open.store, &self.workplace.hooks, session, events, next).await?;
                renderer.reset(session);
                ready = self.prepare(session, "clear", renderer, events).await?;
            }
            let (turn, history) = match &mut ready {
                Ready::Turn(turn, history) => (turn, history),
                Ready::Refused(outcome) => {
                    renderer.result(outcome, began.elapsed());
                    return Ok(Ok(outcome.ended.clone()));
                }
                Ready::Wrong(_) => break,
            };
            let outcome = match clears {
                true => TurnOutcome::nothing(),
                false => turn.run(session, history, said).await?,
            };
            renderer.result(&outcome, began.elapsed());
            ended = outcome.ended;
            if self.program.options.input_format == InputFormat::StreamJson && !self.cancel.is_cancelled() {
                prompt = lines.next(renderer).await;
                began = Instant::now();
            }
        }
        match ready {
            Ready::Wrong(failure) => Ok(Err(failure)),
            Ready::Turn(..) | Ready::Refused(_) => Ok(Ok(ended)),
        }
    }

    /// Everything up to the first prompt: start hooks, instructions, model, tools, repair.
    async fn prepare(
        &self,
        session: &mut Session,
        source: &str,
        renderer: &Renderer,
        events: &Events,
    ) -> Result<Ready, StoreError> {
        let (store, hooks) = (&self.open.store, &self.workplace.hooks);
        let choice = match choice::model(self.program, self.open, &self.workplace.settings, &self.workplace.host) {
            Ok(choice) => choice,
            Err(failure) => return Ok(Ready::Wrong(failure)),
        };
        let mut started = json!({ "source": source });
        if let Ok(chosen) = &choice.choice {
            started["model"] = json!(chosen.wire_model);
        }
        let start = lifecycle(store, hooks, session, events, EventName::SessionStart, started).await?;
        let instructions = self.instructions(session, events).await?;
        let model = match choice.choice.and_then(|chosen| Model::new(chosen, choice.setup)) {
            Ok(model) => Arc::new(model),
            // No request was made; the turn ends as any failed one does (section 2.4).
            Err(failure) => return self.refuse(session, events, failure).await.map(Ready::Refused),
        };
        let agents = match self.agents() {
            Ok(agents) => agents,
            Err(failure) => return Ok(Ready::Wrong(failure)),
        };
        let operator: Arc<dyn Operator> = Arc::new(Nobody);
        workshop::seat(self.open, &self.workplace, session, &model, &operator);
        let mut tools = ToolBox::builtin();
        let office = Office {
            store: Arc::clone(store),
            hooks: Arc::clone(hooks),
            operator: Arc::clone(&operator),
            model: Arc::clone(&model),
            agents,
            events: Arc::clone(events),
            parent: session.as_parent(),
            max_tokens: MAX_TOKENS,
        };
        tools.add(Arc::new(Agent::new(office)));
        let look = crate::test::subject::look_at(self.program, &self.workplace.settings);
        PlanDesk::of(session, store, look).equip(&mut tools);
        tools.retain(|name| !session.with_rules(|rules| rules.removes(name)));
        let asking = self.asking(session, &model.choice.wire_model, &instructions, &tools)?;
        renderer.init(&asking, session, source);
        let mut history = History::load(store, &session.place.session, model.wire())?;
        let repair = history.repair();
        if !repair.is_empty() {
            store.commit(&session.place, Group(repair.into_iter().map(Row::Transcript).collect())).await?;
            history.refresh(store)?;
        }
        let turn = Turn {
            pipeline: Pipeline { store: Arc::clone(store), tools: Arc::new(tools), hooks: Arc::clone(hooks), operator },
            model,
            asking,
            speaker: Speaker::Operator,
            events: Arc::clone(events),
            cancel: self.cancel.clone(),
            max_turns: self.program.options.max_turns,
        };
        let first = start.specific.iter().find_map(|(_, fields)| fields.get("initialUserMessage")?.as_str());
        if let Some(first) = first {
            turn.run(session, &mut history, first).await?;
        }
        Ok(Ready::Turn(Box::new(turn), Box::new(history)))
    }

    async fn refuse(
        &self,
        session: &mut Session,
        events: &Events,
        failure: ona_api::model::ModelFailure,
    ) -> Result<TurnOutcome, StoreError> {
        let (class, details) = (failure.class.as_str(), failure.message.clone());
        let mut group = Group::default();
        group.event(EventKind::StopFailure, json!({"error": class, "details": details}));
        self.open.store.commit(&session.place, group).await?;
        let fields = json!({"error": class, "error_details": details});
        lifecycle(&self.open.store, &self.workplace.hooks, session, events, EventName::StopFailure, fields).await?;
        Ok(TurnOutcome { ended: Ended::Failed(failure), ..TurnOutcome::nothing() })
    }

    fn agents(&self) -> Result<Agents, Failure> {
        let (home, project) = (self.program.env.home(), &self.program.project);
        let mut folders = Vec::new();
        for base in [&home, project] {
            if !self.program.options.no_claude_settings {
                folders.push(base.join(".claude/agents"));
            }
            folders.push(base.join(".ona/agents"));
        }
        // Definitions of a folder count as its settings do.
        if self.open.merged.trust == Trust::Withheld {
            folders.retain(|folder| !folder.starts_with(project) || folder.starts_with(&home));
        }
        if self.program.options.bare {
            folders.clear();
        }
        Agents::load(folders.iter().map(AsRef::as_ref), self.program.options.agents.as_deref()).map_err(Failure::usage)
    }

    async fn instructions(&self, session: &mut Session, events: &Events) -> Result<Vec<Instruction>, StoreError> {
        let options = &self.program.options;
        let named = |name: &str| {
            options.setting_sources.as_ref().is_none_or(|list| list.split(',').any(|one| one.trim() == name))
        };
        // What a folder tells the model counts as its settings do.
        let trusted = self.open.merged.trust != Trust::Withheld;
        let instructions = Instructions::at_start(Sources {
            home: self.program.env.home(),
            start: session.cx.cwd.clone(),
            project: session.cx.project.clone(),
            managed: "/etc/ona".into(),
            compatible: !options.no_claude_settings,
            user_files: !options.bare && named("user"),
            project_files: !options.bare && trusted && named("project"),
            local_files: !options.bare && trusted && named("local"),
        });
        let (store, hooks) = (&self.open.store, &self.workplace.hooks);
        for one in instructions.loaded() {
            lifecycle(store, hooks, session, events, EventName::InstructionsLoaded, loaded(one)).await?;
        }
        let texts = instructions.loaded().to_vec();
        let memories = if options.bare { Memories::LeftAlone } else { Memories::Recalled };
        session.context = Context::of(session, store.reader()?, instructions, memories)?;
        Ok(texts)
    }

    fn asking(
        &self,
        session: &Session,
        model: &str,
        instructions: &[Instruction],
        tools: &ToolBox,
    ) -> Result<Asking, StoreError> {
        let reader = self.open.store.reader()?;
        let conversation = &session.place.conversation;
        let options = &self.program.options;
        let system = system_prompt(&Prompt {
            instead: options.system_prompt.as_deref(),
            also: options.append_system_prompt.as_deref(),
            cwd: &session.cx.cwd,
            project: &session.cx.project,
            extra: &session.cx.extra,
            phase: reader.phase(conversation)?.unwrap_or(Phase::Idle),
            has_approved_plan: reader.has_approved_plan(conversation)?,
            instructions,
        });
        Ok(Asking { model: model.to_owned(), system, tools: tools.specs(), max_tokens: MAX_TOKENS })
    }
}

/// What `prepare` came to.
enum Ready {
    Turn(Box<Turn>, Box<History>),
    /// The model can not be asked; a turn that failed before it began.
    Refused(TurnOutcome),
    Wrong(Failure),
}

/// Without a terminal an ask is a no (DEC-071).
struct Nobody;

impl Operator for Nobody {
    fn rule<'a>(&'a self, question: Question<'a>) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>> {
        let message = format!("Denied: there is nobody to ask. {}", question.asked.message);
        Box::pin(async move { Verdict::new(Ruling::Deny, Authority::Headless, message) })
    }
}
