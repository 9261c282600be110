//! Everything up to the first prompt: start hooks, instructions, model, tools, repair.

use crate::PROTOCOL;
use crate::builtin_commands::BUILTIN;
use crate::control::SessionOverrides;
use crate::host_operator::HostOperator;
use crate::messages::{Init, McpServerStatus, ServerError, StreamMessage, SystemMessage};
use crate::options::PermissionPrompts;
use crate::run::{Run, RunError};
use ona_api::model::{ModelFailure, RequestParams};
use ona_api::{EventName, Group, LoggedEvent, Phase, Row, environment, tool::canonical};
use ona_auth::CredentialKind;
use ona_hookplane::HookOutcome;
use ona_instructions::{
    AgentDefinition, Agents, Instruction, InstructionSources, Instructions, PromptParts, system_prompt,
};
use ona_modules::ModuleContext;
use ona_modules::rules::ModuleEvent;
use ona_orchestration::{
    AgentTool, CurrentModel, Events, History, MemoryRecall, Model, Operator, Profile, PromptSource, ResumeKind,
    ScriptChangePrompt, Session, SessionContext, SubagentDeps, ToolParts, Turn, TurnEnd, TurnEvent, TurnOutcome,
    hide_denied, lifecycle, loaded, refresh_tool_search, tool_box,
};
use ona_runtime::{Failure, MAX_TOKENS, NoOperator, hook_handlers, model_choice, skills};
use ona_store::StoreError;
use ona_tools::ToolBox;
use ona_trust::{Trust, TrustState};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// The result of the preparation.
pub(crate) enum Preparation {
    Turn(Box<Turn>, Box<History>),
    /// No model can be asked: a turn that ended before it began.
    Refused(TurnOutcome),
}

impl Preparation {
    /// Returns the model in use.
    pub(crate) fn model(&self) -> Option<Arc<Model>> {
        match self {
            Preparation::Turn(turn, _) => Some(turn.current_model.model()),
            Preparation::Refused(_) => None,
        }
    }
}

/// The agent that the session works as, and its system prompt.
struct AgentSetup<'a> {
    agent: Option<&'a AgentDefinition>,
    instead: Option<String>,
    also: Option<String>,
}

impl Run<'_> {
    pub(crate) async fn prepare(
        &self,
        session: &mut Session,
        source: &str,
        agents: Agents,
        overrides: &SessionOverrides,
        events: &Events,
    ) -> Result<Preparation, RunError> {
        let options = &self.launch.options;
        let agent_setup = self.agent_setup(&agents, overrides)?;
        let (store, hooks) = (&self.open.store, &self.runtime.hooks);
        hooks.set_script_confirmer(Arc::new(ScriptChangePrompt(self.operator())));
        session.agent_type = agent_setup.agent.map(|agent| agent.name.clone());
        let wanted = overrides.model.as_deref().or(options.model.as_deref());
        let wanted =
            wanted.or(agent_setup.agent.and_then(|agent| agent.model.as_deref()).filter(|name| *name != "inherit"));
        let chosen =
            model_choice::model(self.launch, self.open, wanted, &self.runtime.settings, &self.runtime.operators)?;
        if let Some(config) = &chosen.fresh {
            model_choice::remember(self.launch, self.open, config)?;
        }
        if let Some(agent) = agent_setup.agent {
            let problems = self.runtime.registrar.works_as(&session.place, agent)?;
            problems.into_iter().for_each(|problem| events(TurnEvent::Message(problem)));
        }
        let setup = self.run_setup_hooks(session, events).await?;
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
                self.notify_resumed(session, if fork { ResumeKind::Fork } else { ResumeKind::Itself }).await?;
            }
        }
        if let Some((_, reason)) = start.stop.or(setup.stop) {
            events(TurnEvent::Message(format!("Stopped by hook: {reason}")));
            let ended = TurnEnd::Stopped { reason };
            return Ok(Preparation::Refused(TurnOutcome { ended, ..TurnOutcome::nothing() }));
        }
        let instructions = self.instructions(session, events).await?;
        let model = match chosen.choice.and_then(|choice| Model::new(choice, chosen.setup)) {
            Ok(model) => Arc::new(model),
            // No request was made; the turn ends as any failed one does (section 2.4).
            Err(failure) => return Ok(Preparation::Refused(self.fail_turn(session, events, failure).await?)),
        };
        let operator = self.operator();
        let current_model = CurrentModel::new(Arc::clone(&model));
        hook_handlers::set_judge_model(self.open, &self.runtime, session, &current_model, &operator);
        let told = Arc::clone(events);
        let tell = Arc::new(move |note| told(TurnEvent::Message(note)));
        let skills = Arc::clone(&self.skills);
        let loader = skills::loader(self.open, &self.runtime, session, &skills, Arc::clone(&operator), tell);
        let deps = SubagentDeps {
            store: Arc::clone(store),
            hooks: Arc::clone(hooks),
            operator: Arc::clone(&operator),
            current_model: current_model.clone(),
            agents: agents.clone(),
            events: Arc::clone(events),
            parent: session.as_parent(),
            max_tokens: MAX_TOKENS,
            also: options.append_subagent_system_prompt.clone(),
            skills: loader.clone(),
            servers: Arc::clone(&self.runtime.mcp.servers),
        };
        self.wait_for_servers(session).await?;
        let granted = agent_setup.agent.cloned();
        let grants = move |name: &str| granted.as_ref().is_none_or(|agent| agent.grants(name));
        let mut tools = tool_box(
            Profile::Main,
            ToolParts {
                agent: Some(Arc::new(AgentTool::new(deps))),
                skills: Some(loader),
                servers: Some((&self.runtime.mcp.servers, Box::new(grants))),
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
        let asking = self.request_params(session, &model.choice.wire_model, &instructions, &tools, &agent_setup)?;
        if let Some(modules) = &session.modules {
            modules.host.tell_of(&asking.system, model.context());
        }
        self.event_printer.send(&self.init(session, source, &asking, &model, &agents, &instructions));
        let mut history = History::load(store, &session.place.session, model.wire())?;
        let repair = history.repair();
        if !repair.is_empty() {
            store.commit(&session.place, Group(repair.into_iter().map(Row::Transcript).collect())).await?;
            history.refresh(store)?;
        }
        let turn = Turn {
            pipeline: self.runtime.pipeline(tools, &operator),
            current_model,
            asking,
            prompt_source: PromptSource::Operator,
            events: Arc::clone(events),
            cancel: self.cancellation.token(),
            max_turns: options.max_turns.or(agent_setup.agent.and_then(|agent| agent.max_turns)),
        };
        let first = start.specific.iter().find_map(|(_, fields)| fields.get("initialUserMessage")?.as_str());
        if let Some(first) = first {
            turn.run(session, &mut history, first).await?;
        }
        Ok(Preparation::Turn(Box::new(turn), Box::new(history)))
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

    fn agent_setup<'a>(&self, agents: &'a Agents, overrides: &SessionOverrides) -> Result<AgentSetup<'a>, Failure> {
        let options = &self.launch.options;
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

    /// Runs Setup hooks if an option asks for them.
    pub(crate) async fn run_setup_hooks(
        &self,
        session: &mut Session,
        events: &Events,
    ) -> Result<HookOutcome, StoreError> {
        let options = self.options;
        let trigger = match (options.init || options.init_only, options.maintenance) {
            (true, _) => "init",
            (false, true) => "maintenance",
            (false, false) => return Ok(HookOutcome::default()),
        };
        let (store, hooks) = (&self.open.store, &self.runtime.hooks);
        lifecycle(store, hooks, session, events, EventName::Setup, json!({ "trigger": trigger })).await
    }

    /// Who answers permission questions: the driving program if an option says so, otherwise nobody.
    fn operator(&self) -> Arc<dyn Operator> {
        let options = self.options;
        let by_host = options.permission_prompt_tool.is_some();
        let asked = match options.permission_prompts {
            Some(PermissionPrompts::None) => false,
            Some(PermissionPrompts::Host) => true,
            None => by_host,
        };
        if !asked {
            return Arc::new(NoOperator);
        }
        Arc::new(HostOperator {
            host: Arc::clone(&self.host),
            printer: Arc::clone(&self.event_printer.printer),
            cancellation: self.cancellation.clone(),
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
        Ok(texts)
    }

    fn request_params(
        &self,
        session: &Session,
        model: &str,
        instructions: &[Instruction],
        tools: &ToolBox,
        agent_setup: &AgentSetup<'_>,
    ) -> Result<RequestParams, StoreError> {
        let reader = self.open.store.reader()?;
        let conversation = &session.place.conversation;
        let system = system_prompt(&PromptParts {
            instead: agent_setup.instead.as_deref(),
            also: agent_setup.also.as_deref(),
            cwd: &session.cx.cwd,
            project: &session.cx.project,
            extra: &session.cx.extra,
            phase: reader.phase(conversation)?.unwrap_or(Phase::Idle),
            has_approved_plan: reader.has_approved_plan(conversation)?,
            instructions,
        });
        Ok(RequestParams { model: model.to_owned(), system, tools: tools.specs(), max_tokens: MAX_TOKENS })
    }

    /// Returns the names of all slash commands, without the slash.
    fn slash_commands(&self, session: &Session) -> Vec<String> {
        let of_files = self.skills.iter().filter(|skill| skill.by_user).map(|skill| skill.name.clone());
        let modules = session.modules.iter().flat_map(|modules| modules.emitter.commands());
        let builtin = BUILTIN.iter().map(|(name, _)| (*name).to_owned());
        let mut names: Vec<_> = builtin.chain(of_files).chain(modules.map(|command| command.name)).collect();
        names.sort();
        names.dedup();
        names
    }

    fn init(
        &self,
        session: &Session,
        source: &str,
        asking: &RequestParams,
        model: &Model,
        agents: &Agents,
        instructions: &[Instruction],
    ) -> StreamMessage {
        let mcp = &self.runtime.mcp;
        let servers = mcp.servers.list();
        let server = |one: &Arc<ona_mcp::McpServer>| McpServerStatus {
            name: one.definition.name.clone(),
            status: one.status().as_str(),
            source: one.definition.origin.as_str(),
        };
        let error = |(name, message)| ServerError { name, kind: "connection", message };
        StreamMessage::System(SystemMessage::Init(Box::new(Init {
            cwd: session.cx.cwd.to_string_lossy().into_owned(),
            tools: asking.tools.iter().map(|tool| client_tool_name(&tool.name).to_owned()).collect(),
            mcp_servers: servers.iter().map(server).collect(),
            mcp_server_errors: mcp.down().into_iter().map(error).collect(),
            model: asking.model.clone(),
            permission_mode: session.with_rules(|rules| rules.mode()).as_str(),
            api_key_source: key_source(model),
            claude_code_version: PROTOCOL,
            ona_version: env!("CARGO_PKG_VERSION"),
            output_style: "default",
            agents: agents.iter().map(|agent| agent.name.clone()).collect(),
            slash_commands: self.slash_commands(session),
            skills: self.skills.iter().filter(|skill| skill.by_model).map(|skill| skill.name.clone()).collect(),
            capabilities: vec!["interrupt_receipt_v1", "interrupt_cancel_queued_v1"],
            memory_paths: instructions.iter().map(|one| one.path.to_string_lossy().into_owned()).collect(),
            original_cwd: self.launch.cwd.to_string_lossy().into_owned(),
            additional_directories: session.cx.extra.iter().map(|dir| dir.to_string_lossy().into_owned()).collect(),
            conversation_id: session.place.conversation.0.clone(),
            source: source.to_owned(),
            ..Init::default()
        })))
    }
}

/// Clients know the agent tool by its former name.
fn client_tool_name(name: &str) -> &str {
    if name == "Agent" { "Task" } else { name }
}

/// Returns where the credential comes from, in the terms of the reference where they exist.
fn key_source(model: &Model) -> &'static str {
    use ona_api::model::ProviderName::{ClaudeCodeSubscription, LmStudioLocal, OpenaiCompatible};
    match (model.credential_class(), model.choice.provider) {
        (CredentialKind::EnvApiKey, ClaudeCodeSubscription) => environment::ANTHROPIC_API_KEY.name(),
        (CredentialKind::EnvApiKey, OpenaiCompatible) => environment::OPENAI_API_KEY.name(),
        (CredentialKind::EnvApiKey, LmStudioLocal) => environment::LM_STUDIO_API_KEY.name(),
        (CredentialKind::EnvBearer, _) => environment::ANTHROPIC_AUTH_TOKEN.name(),
        (CredentialKind::Helper, _) => "apiKeyHelper",
        (CredentialKind::OauthToken | CredentialKind::Login, _) => "/login managed key",
        (CredentialKind::LocalDefault | CredentialKind::None, _) => "none",
    }
}

fn file_or(file: Option<&Path>, text: Option<&String>) -> Result<Option<String>, Failure> {
    let Some(file) = file else { return Ok(text.cloned()) };
    ona_files::read_named(file)
        .map(Some)
        .map_err(|why| Failure::usage(format_args!("the file of instructions {} {why}", file.display())))
}
