//! Everything between the opening of a session and its first prompt, the same for every front:
//! start hooks, instructions, model, tools, and answers to calls that a killed process left open.
//!
//! A front says who answers questions and where events go, shows what it got in its own form, and
//! runs the first prompt that a hook may have set. What prompts mean is left to the front.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use crate::runtime::{MAX_TOKENS, Runtime};
use crate::session_choice::Begin;
use crate::{hook_handlers, model_choice, skills};
use ona_api::model::{ModelFailure, RequestParams};
use ona_api::{EventName, Group, LoggedEvent, Phase, Row, SessionOrigin, environment, tool::canonical};
use ona_hookplane::HookOutcome;
use ona_instructions::skills::{Skills, WaitingSkills};
use ona_instructions::{
    AgentDefinition, Agents, Instruction, InstructionSources, Instructions, OutputStyle, PromptParts, system_prompt,
};
use ona_modules::ModuleContext;
use ona_modules::rules::ModuleEvent;
use ona_orchestration::{
    AgentTool, CurrentModel, Elicitations, Events, History, MemoryRecall, Model, Operator, Profile, PromptSource,
    ResumeKind, ScriptChangePrompt, Session, SessionContext, SubagentDeps, ToolParts, Turn, TurnEnd, TurnEvent,
    TurnOutcome, WaitingPrompts, hide_denied, lifecycle, loaded, refresh_tool_search, search_access, tool_box,
    unfinished,
};
use ona_process::TurnCancellation;
use ona_store::StoreError;
use ona_tools::ToolBox;
use ona_trust::{Trust, TrustState};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a session cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0}")]
    Failed(Failure),
}

impl From<Failure> for SessionError {
    fn from(failure: Failure) -> Self {
        SessionError::Failed(failure)
    }
}

/// What a person or a driving program chose for a session that has not begun, over the options
/// of the run.
#[derive(Debug, Default)]
pub struct SessionOverrides {
    pub model: Option<String>,
    pub system_prompt: Option<String>,
    pub append_system_prompt: Option<String>,
}

/// Which Setup hooks run before a session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupTrigger {
    Init,
    Maintenance,
}

impl SetupTrigger {
    fn as_str(self) -> &'static str {
        match self {
            SetupTrigger::Init => "init",
            SetupTrigger::Maintenance => "maintenance",
        }
    }
}

/// The result of the preparation.
pub enum Preparation {
    Ready(Box<ReadySession>),
    /// No model can be asked: a turn that ended before it began.
    Refused(Box<TurnOutcome>),
}

impl Preparation {
    /// Returns the model in use.
    pub fn model(&self) -> Option<Arc<Model>> {
        match self {
            Preparation::Ready(ready) => Some(ready.turn.current_model.model()),
            Preparation::Refused(_) => None,
        }
    }
}

/// A session that can be prompted.
pub struct ReadySession {
    pub turn: Turn,
    pub history: History,
    pub instructions: Vec<Instruction>,
    /// A prompt that a SessionStart hook has set, to be run before all others.
    pub first_prompt: Option<String>,
}

/// What a session is prepared from.
pub struct SessionStart<'a> {
    pub launch: &'a Launch,
    pub open: &'a OpenProject,
    pub runtime: &'a Runtime,
    pub skills: &'a Arc<Skills>,
    pub agents: &'a Agents,
    pub elicitations: &'a Elicitations,
    /// Who answers permission questions.
    pub operator: Arc<dyn Operator>,
    pub cancellation: &'a TurnCancellation,
    pub events: &'a Events,
    pub overrides: &'a SessionOverrides,
    /// How the agent talks.
    pub style: Option<&'a OutputStyle>,
    pub setup: Option<SetupTrigger>,
    /// Prompts that are sent while a turn runs.
    pub waiting: Option<&'a Arc<dyn WaitingPrompts>>,
}

/// The agent that the session works as, and its system prompt.
struct AgentSetup<'a> {
    agent: Option<&'a AgentDefinition>,
    instead: Option<String>,
    also: Option<String>,
}

/// Records that a session begins, and opens it.
pub async fn open_session(
    open: &OpenProject,
    runtime: &mut Runtime,
    begin: Begin,
    origin: SessionOrigin,
) -> Result<Session, StoreError> {
    let Begin { place, source, copy_of } = begin;
    let mut opening = Group::default();
    opening.push(Row::Conversation { project_dir: runtime.project().to_string_lossy().into_owned() });
    opening.push(Row::Session);
    if source == "startup" {
        opening.log(LoggedEvent::SessionCreated(origin));
    }
    if let Some(from) = copy_of {
        opening.log(LoggedEvent::SessionCreated(SessionOrigin::Fork { of: from.clone() }));
        opening.push(Row::CopyTranscript { from });
    }
    opening.append(runtime.take_findings());
    open.store.commit(&place, opening).await?;
    remove_left_over(runtime);
    runtime.session(&open.store, place)
}

/// Removes what programs that were killed left: in the folder for temporary files, and locks of their
/// sessions. Nobody waits for it.
fn remove_left_over(runtime: &Runtime) {
    let tmp = PathBuf::from(runtime.host.non_empty(environment::TMPDIR).unwrap_or("/tmp"));
    let database = runtime.database().to_owned();
    let thread = std::thread::Builder::new().name("ona-left-over".to_owned());
    let started = thread.spawn(move || {
        let removed = ona_process::scratch::remove_left_over(&tmp);
        let locks = ona_store::remove_unheld_locks(&database);
        tracing::debug!(removed, locks, tmp = %tmp.display(), "looked for what dead programs left");
    });
    if let Err(error) = started {
        tracing::debug!(%error, "what dead programs left stays until the next start");
    }
}

/// Runs the Setup hooks.
pub async fn run_setup_hooks(
    open: &OpenProject,
    runtime: &Runtime,
    session: &mut Session,
    events: &Events,
    trigger: SetupTrigger,
) -> Result<HookOutcome, StoreError> {
    let fields = json!({ "trigger": trigger.as_str() });
    lifecycle(&open.store, &runtime.hooks, session, events, EventName::Setup, fields).await
}

impl SessionStart<'_> {
    /// Prepares the session. `source` is SessionStart's.
    pub async fn prepare(&self, session: &mut Session, source: &str) -> Result<Preparation, SessionError> {
        let (events, overrides, agents) = (self.events, self.overrides, self.agents);
        let options = &self.launch.options;
        let agent_setup = self.agent_setup()?;
        let (store, hooks) = (&self.open.store, &self.runtime.hooks);
        hooks.set_script_confirmer(Arc::new(ScriptChangePrompt(Arc::clone(&self.operator))));
        session.agent_type = agent_setup.agent.map(|agent| agent.name.clone());
        let wanted = overrides.model.as_deref().or(options.model.as_deref());
        let wanted =
            wanted.or(agent_setup.agent.and_then(|agent| agent.model.as_deref()).filter(|name| *name != "inherit"));
        let chosen =
            model_choice::model(self.launch, self.open, wanted, &self.runtime.settings, &self.runtime.operators)?;
        if let Some(config) = &chosen.fresh {
            self.runtime.add_model(self.launch, self.open, config)?;
        }
        if let Some(agent) = agent_setup.agent {
            let problems = self.runtime.registrar.works_as(&session.place, agent)?;
            problems.into_iter().for_each(|problem| events(TurnEvent::Message(problem)));
            if !agent.own_servers.is_empty() {
                let names = agent.own_servers.keys().cloned().collect::<Vec<_>>().join(", ");
                events(TurnEvent::Message(format!(
                    "The agent {}: its own MCP servers ({names}) are those of a subagent; for a session, use --mcp-config",
                    agent.name
                )));
            }
        }
        let setup = match self.setup {
            Some(trigger) => run_setup_hooks(self.open, self.runtime, session, events, trigger).await?,
            None => HookOutcome::default(),
        };
        let mut started = json!({ "source": source });
        if let Ok(chosen) = &chosen.choice {
            started["model"] = json!(chosen.wire_model);
        }
        let start = lifecycle(store, hooks, session, events, EventName::SessionStart, started).await?;
        if let Some(modules) = session.modules.clone() {
            if let Ok(chosen) = &chosen.choice {
                let (id, provider) = (&chosen.wire_model, chosen.provider.as_str());
                let model = json!({"id": id, "provider": provider, "name": id});
                modules.emitter.set_context(ModuleContext { model: Some(model), ..modules.emitter.context() });
            }
            if source != "clear" {
                modules.fire(store, session, ModuleEvent::SessionStart, &self.cancellation.token()).await?;
            }
            if source == "resume" {
                let fork = options.fork_session;
                let how = if fork { ResumeKind::Fork } else { ResumeKind::Itself };
                let event = ModuleEvent::SessionSwitch { reason: how.as_str(), previous: None };
                modules.fire(store, session, event, &self.cancellation.token()).await?;
            }
        }
        if let Some((_, reason)) = start.stop.or(setup.stop) {
            events(TurnEvent::Message(format!("Stopped by hook: {reason}")));
            let ended = TurnEnd::Stopped { reason };
            return Ok(Preparation::Refused(Box::new(TurnOutcome { ended, ..TurnOutcome::nothing() })));
        }
        let instructions = self.instructions(session, events).await?;
        let model = match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
            Ok(model) => {
                model.look_up(&self.cancellation.token()).await;
                self.mention_unknown(&model);
                Arc::new(model)
            }
            // No request was made; the turn ends as any failed one does (section 2.4).
            Err(failure) => return Ok(Preparation::Refused(Box::new(self.fail_turn(session, events, failure).await?))),
        };
        let operator = Arc::clone(&self.operator);
        let current_model = CurrentModel::new(Arc::clone(&model));
        hook_handlers::set_judge_model(self.open, self.runtime, session, &current_model, &operator);
        let told = Arc::clone(events);
        let tell = Arc::new(move |note| told(TurnEvent::Message(note)));
        let skills = Arc::clone(self.skills);
        let mut loader = skills::loader(self.open, self.runtime, session, &skills, Arc::clone(&operator), tell);
        loader.current_model = Some(current_model.clone());
        let deps = SubagentDeps {
            store: Arc::clone(store),
            hooks: Arc::clone(hooks),
            operator: Arc::clone(&operator),
            current_model: current_model.clone(),
            agents: agents.clone(),
            events: Arc::clone(events),
            parent: session.as_parent(),
            max_tokens: model.output_limit(MAX_TOKENS),
            also: options.append_subagent_system_prompt.clone(),
            skills: loader.clone(),
            servers: Arc::clone(&self.runtime.mcp.servers),
            web: Arc::clone(&self.runtime.web),
            instructions: instructions.clone().into(),
            worktrees: Arc::clone(&self.runtime.worktrees),
        };
        let servers = Arc::clone(&self.runtime.mcp.servers);
        session.on_directories = Some(Arc::new(move |roots| servers.set_roots(roots)));
        self.wait_for_servers(session).await?;
        let granted = agent_setup.agent.cloned();
        let grants = move |name: &str| granted.as_ref().is_none_or(|agent| agent.grants(name));
        let mut tools = tool_box(
            Profile::Main,
            ToolParts {
                agent: Some(Arc::new(AgentTool::new(deps))),
                skills: Some(loader),
                servers: Some((&self.runtime.mcp.servers, Box::new(grants))),
                web: Some((&self.runtime.web, Some(search_access(&current_model)))),
                ..self.runtime.tool_parts(session)
            },
        );
        if let Some(modules) = &session.modules {
            modules.equip(&mut tools);
        }
        self.limit_tools(&mut tools, session, agent_setup.agent)?;
        if let Some(modules) = &session.modules {
            modules.offer(&tools, options.tools.is_none() && agent_setup.agent.is_none());
        }
        let asking = self.request_params(session, &model, &instructions, &tools, &agent_setup)?;
        if let Some(modules) = &session.modules {
            modules.host.tell_of(&asking.system, model.context());
        }
        let mut history = History::load(store, &session.place.session, model.wire())?;
        let left = unfinished(session, history.state(), store)?;
        let mut repair = Group(history.repair().into_iter().map(Row::Transcript).collect());
        repair.append(left.rows);
        if !repair.is_empty() {
            store.commit(&session.place, repair).await?;
            history.refresh(store)?;
        }
        left.sentence.into_iter().for_each(|sentence| events(TurnEvent::Message(sentence)));
        let turn = Turn {
            pipeline: self.runtime.pipeline(tools, &operator),
            current_model,
            asking,
            prompt_source: PromptSource::Operator,
            events: Arc::clone(events),
            cancel: self.cancellation.token(),
            max_turns: options.max_turns.or(agent_setup.agent.and_then(|agent| agent.max_turns)),
            waiting: self.waiting.cloned(),
        };
        let first = start.specific.iter().find_map(|(_, fields)| fields.get("initialUserMessage")?.as_str());
        let of_agent = || agent_setup.agent.filter(|_| source == "startup")?.initial_prompt.clone();
        let first_prompt = first.map(str::to_owned).or_else(of_agent);
        Ok(Preparation::Ready(Box::new(ReadySession { turn, history, instructions, first_prompt })))
    }

    /// Waits for the MCP servers, so that the first request has all their tools, and records
    /// those that are down.
    async fn wait_for_servers(&self, session: &Session) -> Result<(), StoreError> {
        let mcp = &self.runtime.mcp;
        self.elicitations.enter(session);
        tokio::select! {
            () = mcp.servers.settled() => {}
            () = session.cx.cancel.cancelled() => {}
        }
        let mut group = Group::default();
        for (name, why) in mcp.down() {
            group.log(LoggedEvent::McpServerFailed { server: name, why });
        }
        if group.0.is_empty() { Ok(()) } else { self.open.store.commit(&session.place, group).await.map(drop) }
    }

    /// Says what is taken for a model whose name says nothing, because it decides when a conversation is
    /// compacted and where replies are cut off.
    fn mention_unknown(&self, model: &Model) {
        if model.is_unknown() {
            let (name, context, output) =
                (&model.choice.wire_model, model.context_size(), model.output_limit(MAX_TOKENS));
            self.launch.note(format_args!(
                "ona: nothing is known of the model {name}: taking a context of {context} tokens and replies of \
                 {output}; the setting modelInfo says otherwise"
            ));
        }
    }

    fn agent_setup(&self) -> Result<AgentSetup<'_>, Failure> {
        let (agents, overrides, options) = (self.agents, self.overrides, &self.launch.options);
        let agent = match &options.agent {
            None => None,
            Some(name) => Some(agents.get(name).ok_or_else(|| {
                let known: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
                Failure::usage(format_args!("agent {name} does not exist; the agents are {}", known.join(", ")))
            })?),
        };
        let flag = file_or(options.system_prompt_file.as_deref(), options.system_prompt.as_ref())?;
        let also = file_or(options.append_system_prompt_file.as_deref(), options.append_system_prompt.as_ref())?;
        let instead = overrides.system_prompt.clone().or(flag.filter(|text| agent.is_none() || !text.is_empty()));
        Ok(AgentSetup {
            agent,
            instead: instead.or_else(|| agent.map(|agent| agent.prompt.clone())),
            also: overrides.append_system_prompt.clone().or(also),
        })
    }

    /// Removes the tools that rules, `--tools` or the agent's definition exclude.
    fn limit_tools(
        &self,
        tools: &mut ToolBox,
        session: &Session,
        agent: Option<&AgentDefinition>,
    ) -> Result<(), Failure> {
        if let Some(lists) = &self.launch.options.tools {
            let names: Vec<&str> = lists.iter().flat_map(|list| list.split([',', ' '])).map(str::trim).collect();
            let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).map(canonical).collect();
            // The flag is about built-in tools; those of servers stay.
            let known = tools.specs().into_iter().map(|tool| tool.name).filter(|name| !name.starts_with("mcp__"));
            let known: Vec<_> = known.collect();
            if let Some(unknown) =
                names.iter().find(|name| **name != "default" && !known.iter().any(|one| one == *name))
            {
                return Err(Failure::usage(format_args!(
                    "--tools names {unknown}, which is not a tool; the tools are {}",
                    known.join(", ")
                )));
            }
            tools.retain(|name| names.contains(&"default") || names.contains(&name));
        }
        if let Some(agent) = agent {
            tools.retain(|name| agent.grants(canonical(name)));
        }
        hide_denied(tools, &session.rules);
        refresh_tool_search(tools);
        Ok(())
    }

    async fn fail_turn(
        &self,
        session: &mut Session,
        events: &Events,
        failure: ModelFailure,
    ) -> Result<TurnOutcome, StoreError> {
        let (class, details) = (failure.class.as_str(), failure.message.clone());
        let mut group = Group::default();
        group.log(LoggedEvent::StopFailure { class, details: details.clone() });
        self.open.store.commit(&session.place, group).await?;
        let fields = json!({"error": class, "error_details": details});
        lifecycle(&self.open.store, &self.runtime.hooks, session, events, EventName::StopFailure, fields).await?;
        Ok(TurnOutcome { ended: TurnEnd::Failed(failure), ..TurnOutcome::nothing() })
    }

    async fn instructions(&self, session: &mut Session, events: &Events) -> Result<Vec<Instruction>, StoreError> {
        let options = &self.launch.options;
        let named = |name: &str| {
            options.setting_sources.as_ref().is_none_or(|list| list.split(',').any(|one| one.trim() == name))
        };
        // Text of a folder that nobody has trusted yet is only text; --no-trust leaves it out, too.
        let withheld = self.launch.trust_state() == TrustState::Withheld;
        let trusted = self.open.merged.trust != Trust::Withheld;
        let mut instructions = Instructions::at_start(InstructionSources {
            home: self.launch.env.home(),
            start: session.cx.cwd.clone(),
            project: session.cx.project.clone(),
            checkout: (!session.own_rules.worktrees.is_empty()).then(|| self.launch.project.clone()),
            managed: "/etc/ona".into(),
            compatible: !options.no_claude_settings,
            user_files: !options.bare && named("user"),
            project_files: !options.bare && !withheld && named("project"),
            local_files: !options.bare && !withheld && named("local"),
            links_may_leave: trusted,
        });
        for sentence in instructions.take_skipped() {
            self.launch.note(format_args!("ona: {sentence}"));
        }
        let (store, hooks) = (&self.open.store, &self.runtime.hooks);
        for one in instructions.loaded() {
            lifecycle(store, hooks, session, events, EventName::InstructionsLoaded, loaded(one)).await?;
        }
        let texts = instructions.loaded().to_vec();
        let memories = if options.bare { MemoryRecall::Disabled } else { MemoryRecall::Enabled };
        session.context = SessionContext::of(session, store.reader()?, instructions, memories)?;
        session.context.wait_for_files(WaitingSkills::of(self.skills, &session.cx.project));
        Ok(texts)
    }

    fn request_params(
        &self,
        session: &Session,
        model: &Model,
        instructions: &[Instruction],
        tools: &ToolBox,
        agent_setup: &AgentSetup<'_>,
    ) -> Result<RequestParams, StoreError> {
        let reader = self.open.store.reader()?;
        let conversation = &session.place.conversation;
        let system = system_prompt(&PromptParts {
            instead: agent_setup.instead.as_deref(),
            style: self.style,
            also: agent_setup.also.as_deref(),
            cwd: &session.cx.cwd,
            project: &session.cx.project,
            extra: &session.cx.extra,
            phase: reader.phase(conversation)?.unwrap_or(Phase::Idle),
            has_approved_plan: reader.has_approved_plan(conversation)?,
            instructions,
            servers: &self.runtime.mcp.servers.instructions(),
        });
        let max_tokens = model.output_limit(MAX_TOKENS);
        Ok(RequestParams { model: model.choice.wire_model.clone(), system, tools: tools.specs(), max_tokens })
    }
}

fn file_or(file: Option<&Path>, text: Option<&String>) -> Result<Option<String>, Failure> {
    let Some(file) = file else { return Ok(text.cloned()) };
    ona_files::read_named(file)
        .map(Some)
        .map_err(|why| Failure::usage(format_args!("the file of instructions {} {why}", file.display())))
}
