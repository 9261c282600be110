//! The Agent tool: another agent, with a session of its own, works on one task.
//!
//! A subagent shares its parent's conversation, phase, rules and hooks and has its own
//! session_id (DEC-036). Its launch is not what is judged: every call it makes is,
//! by the parent's rules. Only its last words come back.

use crate::assembly::{AgentIdentity, Profile, ToolParts, child_opening, new_key, tool_box};
use crate::events::{Events, TurnEvent};
use crate::history::History;
use crate::mcp;
use crate::model::{CurrentModel, Model};
use crate::operator::Operator;
use crate::pipeline::Pipeline;
use crate::records;
use crate::search_access::search_access;
use crate::session::{ParentSession, Session};
use crate::skills::{NotLoaded, SkillLoader};
use crate::turn::{PromptSource, Turn, TurnEnd, TurnOutcome};
use crate::worktrees::{AGENT_PREFIX, Worktree, WorktreeFate, Worktrees, kept_words, random_name};
use ona_api::model::RequestParams;
use ona_api::{Access, CallId, EventName, Phase, SessionId, SessionOrigin, ToolResult, ToolSpec};
use ona_hookplane::{Firing, HookEngine};
use ona_instructions::{AgentDefinition, Agents, Instruction, PromptParts, system_prompt};
use ona_mcp::{AgentServers, DefinitionOwner, Servers};
use ona_store::{Store, StoreError};
use ona_tools::{
    AnyTool, BackgroundJob, BadInput, PlannedCall, TaskKind, TaskState, ToolBox, ToolContext, parse, schema,
};
use ona_web::Web;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How deep agents may start agents.
const DEEPEST: u32 = 3;
/// How many may run at once.
const MOST: usize = 20;

/// What every subagent of a run needs.
#[derive(Clone)]
pub struct SubagentDeps {
    pub store: Arc<Store>,
    pub hooks: Arc<HookEngine>,
    pub operator: Arc<dyn Operator>,
    pub current_model: CurrentModel,
    pub agents: Agents,
    pub events: Events,
    pub parent: ParentSession,
    pub max_tokens: u32,
    /// What every subagent is told after its own instructions.
    pub also: Option<String>,
    pub skills: SkillLoader,
    /// MCP servers, whose tools subagents have as well.
    pub servers: Arc<Servers>,
    /// Pages and searches of the web, which a run shares.
    pub web: Arc<Web>,
    /// Instruction files of the session, which agents that change things are told as well.
    pub instructions: Arc<[Instruction]>,
    /// Worktrees of the project.
    pub worktrees: Arc<Worktrees>,
}

pub struct AgentTool {
    deps: Arc<SubagentDeps>,
    /// One permit per agent that may still be started; shared by all depths.
    places: Arc<tokio::sync::Semaphore>,
}

/// Hands one task to another agent and returns its report.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentInput {
    /// The task in three to five words.
    description: String,
    /// The whole task. The other agent sees nothing of this conversation.
    prompt: String,
    /// Which kind of agent; `general-purpose` if left out.
    subagent_type: Option<String>,
    /// Another model than the agent's own: its id, or sonnet, opus or haiku.
    model: Option<String>,
    /// Go on at once; TaskOutput returns the report later.
    run_in_background: Option<bool>,
    /// `worktree`: it works in a git worktree of its own, which is kept if it changed something.
    isolation: Option<Isolation>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Isolation {
    Worktree,
}

impl AgentTool {
    pub fn new(deps: SubagentDeps) -> Self {
        Self { deps: Arc::new(deps), places: Arc::new(tokio::sync::Semaphore::new(MOST)) }
    }

    fn definition(&self, input: &AgentInput) -> Result<AgentDefinition, String> {
        let name = input.subagent_type.as_deref().unwrap_or("general-purpose");
        self.deps.agents.get(name).cloned().ok_or_else(|| {
            let known: Vec<_> = self.deps.agents.iter().map(|agent| agent.name.as_str()).collect();
            format!("Unknown agent {name}. The agents are: {}.", known.join(", "))
        })
    }
}

pub(crate) const DESCRIPTION: &str = "Hands a task of its own to another agent, which works with the same project and rules but sees \
    nothing of this conversation, and returns that agent's report. Use it for work that needs many steps or much reading of \
    which only the outcome matters.";

/// Characters of one agent's description in the description of the tool.
const DESCRIBED: usize = 1_000;

impl AnyTool for AgentTool {
    fn spec(&self) -> ToolSpec {
        let line = |agent: &AgentDefinition| {
            let words = agent.description.split_whitespace().collect::<Vec<_>>().join(" ");
            format!("- {}: {}", agent.name, ona_api::text::head(&words, DESCRIBED).0)
        };
        let agents: Vec<_> = self.deps.agents.iter().map(line).collect();
        ToolSpec {
            name: "Agent".into(),
            description: format!("{DESCRIPTION}\nAgents:\n{}", agents.join("\n")),
            input_schema: schema::<AgentInput>(),
        }
    }

    fn plan(self: Arc<Self>, input: &Value, _: &ToolContext) -> Result<PlannedCall, BadInput> {
        let parsed = parse::<AgentInput>(input)?;
        Ok(PlannedCall::new(input.clone(), vec![Access::Plain], move |cx| {
            Box::pin(async move { self.run(parsed, cx).await })
        }))
    }
}

impl AgentTool {
    async fn run(&self, input: AgentInput, cx: &ToolContext) -> ToolResult {
        let mut definition = match self.definition(&input) {
            Ok(definition) => definition,
            Err(unknown) => return ToolResult::rejected(unknown),
        };
        let named = self.deps.current_model.model().of_subagents().map(str::to_owned);
        definition.model = named.or(input.model).or(definition.model);
        definition.isolated |= input.isolation == Some(Isolation::Worktree);
        if self.deps.parent.depth >= DEEPEST {
            return ToolResult::rejected(format!("Agents cannot be nested more than {DEEPEST} deep."));
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return ToolResult::rejected(format!("There are {MOST} agents at work already."));
        };
        let background = input.run_in_background.unwrap_or(definition.background);
        let cancel = if background { CancellationToken::new() } else { cx.cancel.clone() };
        let task_run = SubagentTask {
            deps: Arc::clone(&self.deps),
            places: Arc::clone(&self.places),
            definition,
            prompt: input.prompt,
            cx: ToolContext { cancel: cancel.clone(), seen: Arc::default(), ..cx.clone() },
        };
        if !background {
            let report = task_run.go().await;
            drop(place);
            return report;
        }
        let (tell, report) = watch::channel(None);
        let job = Background { report, cancel };
        let description = input.description;
        let id = cx.tasks.add(TaskKind::Agent, description.clone(), Arc::new(job.clone()));
        let (deps, name) = (Arc::clone(&self.deps), task_run.definition.name.clone());
        let (task, call) = (id.clone(), cx.call.clone());
        (deps.events)(TurnEvent::TaskStarted {
            id: id.clone(),
            kind: TaskKind::Agent,
            call: call.clone(),
            description: description.clone(),
        });
        tokio::spawn(async move {
            let report = task_run.go().await;
            let summary = report.content.clone();
            tell.send_replace(Some(report));
            let status = job.state().status();
            (deps.events)(TurnEvent::TaskEnded { id: task, kind: TaskKind::Agent, call, description, status, summary });
            let fields = json!({"teammate_name": name, "team_name": "default"});
            deps.fire(EventName::TeammateIdle, fields).await;
            drop(place);
        });
        ToolResult::success(format!("Started task {id}. TaskOutput returns its report, TaskStop ends it."))
            .data(json!({"status": "async_launched", "agentId": id}))
    }
}

impl SubagentDeps {
    /// Fires an event in the parent's name and keeps its rows.
    async fn fire(&self, event: EventName, fields: serde_json::Value) -> ona_hookplane::HookOutcome {
        let said = self.hooks.fire(Firing::new(event, self.parent.base.clone(), fields)).await;
        // The rows of an event whose session is ending cannot be reported any more.
        self.store.commit(&self.parent.place, said.rows()).await.ok();
        said
    }
}

/// One task on its way.
struct SubagentTask {
    deps: Arc<SubagentDeps>,
    places: Arc<tokio::sync::Semaphore>,
    definition: AgentDefinition,
    prompt: String,
    cx: ToolContext,
}

impl SubagentTask {
    /// Boxed, because a task may start others.
    fn go(self) -> Pin<Box<dyn Future<Output = ToolResult> + Send>> {
        Box::pin(async move {
            let (agent, name) = (SessionId::random(), self.definition.name.clone());
            match self.work(&agent).await {
                Ok(finished) => finished.report().data_with(&agent, &name),
                Err(AgentFailure::Store(error)) => ToolResult::internal(error.to_string()),
                Err(AgentFailure::Worktree(why)) => {
                    ToolResult::rejected(format!("The agent {name} was not started: {why}"))
                }
            }
        })
    }

    async fn work(&self, agent: &SessionId) -> Result<FinishedAgent, AgentFailure> {
        let worktree = if self.definition.isolated { Some(self.make_worktree().await?) } else { None };
        let worked = self.work_in(agent, worktree.as_ref()).await;
        let kept = match &worktree {
            Some(worktree) => self.leave_worktree(worktree).await,
            None => None,
        };
        Ok(FinishedAgent { outcome: worked?, kept })
    }

    /// Fires WorktreeCreate in the parent's name, as nothing of the agent is there yet.
    async fn make_worktree(&self) -> Result<Worktree, AgentFailure> {
        let (deps, name) = (&self.deps, random_name().replacen("ona-", AGENT_PREFIX, 1));
        deps.worktrees.check(&name).map_err(|why| AgentFailure::Worktree(why.to_string()))?;
        let said = deps.fire(EventName::WorktreeCreate, json!({ "name": name })).await;
        let made = deps.worktrees.create(&name, &said, &self.cx.cwd).await;
        made.map_err(|why| AgentFailure::Worktree(why.to_string()))
    }

    /// Removes the worktree if nothing was changed in it. Returns it with a sentence if it is kept.
    async fn leave_worktree(&self, worktree: &Worktree) -> Option<KeptWorktree> {
        let deps = &self.deps;
        let kept = |why: &str| Some(KeptWorktree { worktree: worktree.clone(), words: kept_words(worktree, why) });
        if let WorktreeFate::Kept { why } = deps.worktrees.fate(worktree).await {
            return kept(why);
        }
        deps.fire(EventName::WorktreeRemove, json!({"worktree_path": worktree.path.to_string_lossy()})).await;
        if !worktree.path.exists() {
            return None;
        }
        deps.worktrees.remove(worktree).await.err().and_then(|why| kept(&why))
    }

    async fn work_in(&self, agent: &SessionId, worktree: Option<&Worktree>) -> Result<TurnOutcome, StoreError> {
        let deps = &self.deps;
        let place = new_key(&deps.parent.place.conversation, agent);
        let origin = SessionOrigin::Agent { agent_type: self.definition.name.clone() };
        let mut opening = child_opening(agent, &deps.parent.place.session, origin);
        let (_hooks, problems) = deps.skills.registrar.agent_started(&place, &self.definition)?;
        problems.into_iter().for_each(|problem| (deps.events)(TurnEvent::Message(problem)));
        if !self.definition.unused.is_empty() {
            let (name, unused) = (&self.definition.name, self.definition.unused.join(", "));
            (deps.events)(TurnEvent::Message(format!("The agent {name}: without effect in its definition: {unused}")));
        }
        let started = json!({"agent_id": agent, "agent_type": self.definition.name});
        let said = deps.fire(EventName::SubagentStart, started).await;
        records::contexts(&mut opening, EventName::SubagentStart, &said);
        deps.store.commit(&place, opening).await?;

        let identity = AgentIdentity { id: Some(agent.0.clone()), kind: Some(self.definition.name.clone()) };
        // It hears of no module: the events of oh-my-pi are those of the session a person sees.
        let mut session = deps.parent.child(place, identity, self.cx.clone());
        if let Some(worktree) = worktree {
            session.enter_worktree(&worktree.path);
        }
        session.own_rules.mode = self.definition.permission_mode.or(session.own_rules.mode);
        let servers = self.servers(&session).await;
        let tools = self.tools(&session, &servers.all);
        let current_model = self.current_model();
        let skills = self.preloaded_skills(&session).await?;
        let asking = self.asking(&session, &current_model.model(), (&tools, &servers.all), &skills)?;
        let mut history = History::load(&deps.store, agent, current_model.model().wire())?;
        let turn = Turn {
            pipeline: Pipeline::new(&deps.store, tools, &deps.hooks, &deps.operator),
            current_model,
            asking,
            prompt_source: PromptSource::Agent(Box::new(deps.parent.base.clone())),
            events: inside(&deps.events, self.cx.call.clone()),
            cancel: self.cx.cancel.clone(),
            max_turns: self.definition.max_turns,
            waiting: None,
        };
        let worked = turn.run(&mut session, &mut history, &self.prompt).await;
        servers.end().await;
        worked
    }

    /// The servers of the run, and those that its definition brings. Rules know them from now on.
    async fn servers(&self, session: &Session) -> AgentServers {
        let (definition, servers) = (&self.definition, &self.deps.servers);
        let owner = if definition.origin.of_project { DefinitionOwner::Project } else { DefinitionOwner::Operator };
        let servers = servers.for_agent(&definition.own_servers, owner).await;
        for (server, why) in &servers.left_out {
            (self.deps.events)(TurnEvent::Message(format!(
                "The agent {} works without its MCP server {server:?}: {why}",
                definition.name
            )));
        }
        let mut rules = session.rules.write().unwrap_or_else(PoisonError::into_inner);
        servers.own_names().for_each(|name| rules.add_server(name));
        drop(rules);
        servers
    }

    /// The texts of the skills its definition names.
    async fn preloaded_skills(&self, session: &Session) -> Result<String, StoreError> {
        let loader = self.deps.skills.of(session);
        let tell = |why: String| {
            (self.deps.events)(TurnEvent::Message(format!(
                "The agent {} works without a skill: {why}",
                self.definition.name
            )));
        };
        let mut texts = String::new();
        for name in &self.definition.skills {
            // What is for the user alone to start is not started by a definition either.
            let Some(skill) = loader.skills.get(name).filter(|skill| skill.by_model) else {
                tell(format!("{name} is not a skill that agents may load"));
                continue;
            };
            match loader.load(skill, "", &session.cx).await {
                Ok(text) => texts.push_str(&format!("\n\n# Skill {}\n{text}", skill.name)),
                Err(NotLoaded::Store(error)) => return Err(error),
                Err(why) => tell(why.to_string()),
            }
        }
        Ok(texts)
    }

    /// What the definition grants, never more than the parent has.
    fn tools(&self, session: &Session, servers: &Arc<Servers>) -> ToolBox {
        let depth = self.deps.parent.depth + 1;
        let agent = (depth < DEEPEST).then(|| -> Arc<dyn AnyTool> {
            let parent = ParentSession { depth, ..session.as_parent() };
            let deps = Arc::new(SubagentDeps { parent, ..(*self.deps).clone() });
            Arc::new(AgentTool { deps, places: Arc::clone(&self.places) })
        });
        let definition = self.definition.clone();
        let mut tools = tool_box(
            Profile::Subagent,
            ToolParts {
                agent,
                skills: Some(self.deps.skills.of(session)),
                servers: Some((servers, Box::new(move |name| definition.grants(name)))),
                web: Some((&self.deps.web, Some(search_access(&self.current_model())))),
                ..ToolParts::new(session, &self.deps.store, &self.deps.hooks)
            },
        );
        tools.retain(|name| self.definition.grants(name) && (name != "TaskOutput" || self.definition.tools.is_some()));
        mcp::hide_denied(&mut tools, &session.rules);
        mcp::refresh_tool_search(&mut tools);
        tools
    }

    /// The model of the definition, or the parent's.
    fn current_model(&self) -> CurrentModel {
        let current_model = &self.deps.current_model;
        let Some(name) = self.definition.model.as_deref().filter(|name| *name != "inherit") else {
            return current_model.clone();
        };
        match current_model.model().named(name) {
            Ok(model) => CurrentModel::new(Arc::new(model)),
            Err(failure) => {
                let name = &self.definition.name;
                (self.deps.events)(TurnEvent::Message(format!(
                    "The agent {name} works with its parent's model: {failure}"
                )));
                current_model.clone()
            }
        }
    }

    fn asking(
        &self,
        session: &Session,
        model: &Model,
        (tools, servers): (&ToolBox, &Servers),
        skills: &str,
    ) -> Result<RequestParams, StoreError> {
        let reader = self.deps.store.reader()?;
        let conversation = &session.place.conversation;
        // Agents that only look things up need no instructions for changing them.
        let looks = matches!(self.definition.name.as_str(), "explore" | "plan");
        let also = format!("{}{skills}", self.deps.also.as_deref().unwrap_or_default());
        let servers = servers.instructions();
        let system = system_prompt(&PromptParts {
            instead: Some(&self.definition.prompt),
            style: None,
            also: Some(also.trim()).filter(|also| !also.is_empty()),
            cwd: &session.cx.cwd,
            project: &session.cx.project,
            extra: &session.cx.extra,
            phase: reader.phase(conversation)?.unwrap_or(Phase::Idle),
            has_approved_plan: reader.has_approved_plan(conversation)?,
            instructions: if looks { &[] } else { &self.deps.instructions },
            servers: &servers,
        });
        let model = model.choice.wire_model.clone();
        Ok(RequestParams { model, system, tools: tools.specs(), max_tokens: self.deps.max_tokens })
    }
}

/// Why an agent did not work.
enum AgentFailure {
    Store(StoreError),
    Worktree(String),
}

impl From<StoreError> for AgentFailure {
    fn from(error: StoreError) -> Self {
        AgentFailure::Store(error)
    }
}

/// An agent that has ended, and its worktree if that is kept.
struct FinishedAgent {
    outcome: TurnOutcome,
    kept: Option<KeptWorktree>,
}

struct KeptWorktree {
    worktree: Worktree,
    words: String,
}

impl FinishedAgent {
    fn report(self) -> ToolResult {
        let mut report = report(self.outcome);
        if let Some(KeptWorktree { worktree, words }) = self.kept {
            report.content = format!("{}\n\n[{words}]", report.content.trim_end());
            report = report.data(json!({"worktreePath": worktree.path, "worktreeBranch": worktree.branch}));
        }
        report
    }
}

/// What the parent is told.
fn report(outcome: TurnOutcome) -> ToolResult {
    match outcome.ended {
        TurnEnd::Done | TurnEnd::Stopped { .. } => ToolResult::success(outcome.text),
        TurnEnd::MaxTurns => ToolResult::rejected(format!("The agent reached its limit of turns.\n{}", outcome.text)),
        TurnEnd::Failed(failure) | TurnEnd::Incomplete { failure, .. } => {
            ToolResult::rejected(format!("The agent ended early: {failure}\n{}", outcome.text).trim_end().to_owned())
        }
        TurnEnd::Blocked { message } => ToolResult::rejected(message),
        TurnEnd::NeverStopped { message } => ToolResult::rejected(format!("{message}\n{}", outcome.text)),
        TurnEnd::Interrupted(_) => ToolResult::rejected("Interrupted."),
    }
}

trait WithAgent {
    fn data_with(self, agent: &SessionId, name: &str) -> Self;
}

impl WithAgent for ToolResult {
    fn data_with(self, agent: &SessionId, name: &str) -> Self {
        let status = if self.is_error() { "failed" } else { "completed" };
        self.data(json!({"status": status, "agentId": agent, "agentType": name}))
    }
}

/// A subagent's events with the call they belong to. Pieces of replies belong to nobody but
/// its own; what a call took counts as the run's.
fn inside(events: &Events, call: Option<CallId>) -> Events {
    let events = Arc::clone(events);
    Arc::new(move |event| match (event, &call) {
        (TurnEvent::Delta(_) | TurnEvent::Requesting { .. }, _) => {}
        (event @ TurnEvent::Requested { .. }, _) | (event, None) => events(event),
        (event, Some(call)) => events(TurnEvent::Inside { call: call.clone(), event: Box::new(event) }),
    })
}

/// An agent that works while its parent goes on.
#[derive(Clone)]
struct Background {
    report: watch::Receiver<Option<ToolResult>>,
    cancel: CancellationToken,
}

impl BackgroundJob for Background {
    fn output(&self) -> String {
        self.report.borrow().as_ref().map(|report| report.content.clone()).unwrap_or_default()
    }

    fn state(&self) -> TaskState {
        match &*self.report.borrow() {
            None => TaskState::Running,
            Some(_) if self.cancel.is_cancelled() => TaskState::Stopped,
            Some(report) if report.is_error() => TaskState::Failed(report.content.clone()),
            Some(_) => TaskState::Finished,
        }
    }

    fn wait(&self) -> ona_tools::BoxFuture<'_, ()> {
        let mut report = self.report.clone();
        Box::pin(async move {
            // The task is gone, and with it what there was to wait for.
            report.wait_for(Option::is_some).await.ok();
        })
    }

    fn stop(&self) {
        self.cancel.cancel();
    }
}
