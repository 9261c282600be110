//! Where pipelines, child sessions and tool boxes are made, and nowhere else.
//!
//! What a session may use follows from what it is for: its [`Profile`]. One table says which tools each
//! profile has; [`ToolParts`] has what those tools are made of. A part that is not there
//! leaves its tool out, so a caller can only ever offer less than the table says.
//!
//! This module decides nothing about permissions: rules judge every call, whichever box it comes from.

use crate::mcp::{add_mcp_tools, refresh_tool_search};
use crate::operator::Operator;
use crate::pipeline::Pipeline;
use crate::plan_mode::{PlanModeTools, ProjectFilesAt};
use crate::session::{ParentSession, Session};
use crate::skills::{SkillLoader, SkillTool};
use crate::todos::TodoWrite;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::{ConversationId, Group, LoggedEvent, Row, SessionId, SessionOrigin};
use ona_hookplane::HookEngine;
use ona_mcp::Servers;
use ona_store::Store;
use ona_tools::{AnyTool, ToolBox, ToolContext};
use ona_web::{MessagesAccess, Web, WebFetchTool, WebSearchTool};
use std::sync::Arc;

/// What a session is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The session a person or a program talks to.
    Main,
    /// One call that the operator typed (`--eval`).
    Eval,
    /// A session of the Agent tool.
    Subagent,
    /// A hook that asks a model once.
    PromptHook,
    /// A hook that asks a model which may look things up.
    AgentHook,
    /// Commands in the text of a skill.
    SkillCommand,
    /// Files that a prompt mentions.
    Mention,
    /// Hooks that are fired from outside: their conditions read inputs of tools.
    FiredHook,
    /// The model that writes tests: it knows its prompt and nothing else.
    TestGenerator,
    /// What tests may rely on. Nothing is run with these tools.
    TestContract,
    /// Behavioural tests, which bring the one tool they run in.
    TestRun,
}

impl Profile {
    pub const ALL: [Profile; 11] = [
        Profile::Main,
        Profile::Eval,
        Profile::Subagent,
        Profile::PromptHook,
        Profile::AgentHook,
        Profile::SkillCommand,
        Profile::Mention,
        Profile::FiredHook,
        Profile::TestGenerator,
        Profile::TestContract,
        Profile::TestRun,
    ];

    /// The table: the tools of `ona-tools`, and the tools that belong to a session.
    fn contents(self) -> (Builtin, &'static [SessionTool]) {
        use SessionTool::{Agent, Internet, PlanMode, Servers, Skill, Todo};
        match self {
            Profile::Main => (Builtin::All, &[Internet, PlanMode, Todo, Agent, Skill, Servers]),
            Profile::Eval => (Builtin::All, &[Internet, PlanMode, Todo, Agent, Skill, Servers]),
            // There is nobody in front of a subagent.
            Profile::Subagent => {
                (Builtin::AllBut(&["AskUserQuestion", "Brief"]), &[Internet, Todo, Agent, Skill, Servers])
            }
            Profile::AgentHook => (Builtin::Only(&["Read", "Glob", "Grep"]), &[]),
            Profile::SkillCommand => (Builtin::Only(&["Bash"]), &[]),
            Profile::Mention => (Builtin::Only(&["Read"]), &[]),
            Profile::FiredHook => (Builtin::All, &[]),
            Profile::TestContract => (Builtin::All, &[PlanMode]),
            Profile::PromptHook | Profile::TestGenerator | Profile::TestRun => (Builtin::Only(&[]), &[]),
        }
    }
}

/// Which of the tools that need no session.
enum Builtin {
    All,
    AllBut(&'static [&'static str]),
    Only(&'static [&'static str]),
}

/// Tools that are made for one session.
#[derive(Clone, Copy)]
enum SessionTool {
    /// WebFetch and WebSearch.
    Internet,
    /// EnterPlanMode and ExitPlanMode.
    PlanMode,
    Todo,
    Agent,
    Skill,
    /// The tools of MCP servers, and those that deal with servers.
    Servers,
}

/// What the tools of one session are made of. What is `None` is not offered.
pub struct ToolParts<'a> {
    pub session: &'a Session,
    pub store: &'a Arc<Store>,
    pub hooks: &'a Arc<HookEngine>,
    pub project_files: Option<ProjectFilesAt>,
    pub agent: Option<Arc<dyn AnyTool>>,
    pub skills: Option<SkillLoader>,
    /// The servers, and which of their tools this session may see.
    pub servers: Option<(&'a Arc<Servers>, ToolFilter)>,
    /// Pages and searches, and what signs a search of the Messages API.
    pub web: Option<(&'a Arc<Web>, Option<MessagesAccess>)>,
}

/// Returns whether a tool of this name is for this session.
pub type ToolFilter = Box<dyn Fn(&str) -> bool + Send + Sync>;

impl<'a> ToolParts<'a> {
    /// Only what every session has.
    pub fn new(session: &'a Session, store: &'a Arc<Store>, hooks: &'a Arc<HookEngine>) -> Self {
        Self { session, store, hooks, project_files: None, agent: None, skills: None, servers: None, web: None }
    }
}

/// The tools of `ona-tools` that this profile has.
pub fn builtin_tools(profile: Profile) -> ToolBox {
    let (builtin, _) = profile.contents();
    let mut tools = ToolBox::builtin();
    match builtin {
        Builtin::All => {}
        Builtin::AllBut(left_out) => tools.retain(|name| !left_out.contains(&name)),
        Builtin::Only(names) => tools.retain(|name| names.contains(&name)),
    }
    tools
}

/// The tools of a session with this profile.
pub fn tool_box(profile: Profile, parts: ToolParts<'_>) -> ToolBox {
    let mut tools = builtin_tools(profile);
    let ToolParts { session, store, hooks, mut project_files, mut agent, mut skills, mut servers, mut web } = parts;
    // Skills may run as agents of their own.
    let forks = agent.clone();
    for one in profile.contents().1 {
        match one {
            SessionTool::Internet => {
                if let Some((web, search)) = web.take() {
                    tools.add(Arc::new(WebFetchTool::new(web)));
                    tools.add(Arc::new(WebSearchTool::new(web, search)));
                }
            }
            SessionTool::PlanMode => {
                if let Some(files) = project_files.take() {
                    PlanModeTools::of(session, store, files).equip(&mut tools);
                }
            }
            SessionTool::Todo => tools.add(Arc::new(TodoWrite::of(session, store, hooks))),
            SessionTool::Agent => agent.take().into_iter().for_each(|agent| tools.add(agent)),
            SessionTool::Skill => {
                skills.take().into_iter().for_each(|loader| tools.add(Arc::new(SkillTool::new(loader, forks.clone()))));
            }
            SessionTool::Servers => {
                if let Some((servers, keep)) = servers.take() {
                    add_mcp_tools(&mut tools, servers, keep);
                }
            }
        }
    }
    refresh_tool_search(&mut tools);
    tools
}

impl Pipeline {
    pub fn new(store: &Arc<Store>, tools: ToolBox, hooks: &Arc<HookEngine>, operator: &Arc<dyn Operator>) -> Self {
        Self {
            store: Arc::clone(store),
            tools: Arc::new(tools),
            hooks: Arc::clone(hooks),
            operator: Arc::clone(operator),
        }
    }

    /// The same pipeline with other tools.
    pub fn with_tools(&self, tools: ToolBox) -> Self {
        Self { tools: Arc::new(tools), ..self.clone() }
    }
}

/// Who acts in a child session.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentIdentity {
    pub id: Option<String>,
    /// The name of the agent's definition, or what the child is for.
    pub kind: Option<String>,
}

impl ParentSession {
    /// A session below this one. It shares rules and database and nothing else: what it loads, watches
    /// and is told by modules is its own.
    pub(crate) fn child(&self, key: SessionKey, agent: AgentIdentity, cx: ToolContext) -> Session {
        let mut session =
            Session::new(key, self.database.clone(), cx, Arc::clone(&self.rules), Arc::clone(&self.persist));
        session.own_rules.clone_from(&self.own_rules);
        session.agent_id = agent.id;
        session.agent_type = agent.kind;
        session.checkpoints.clone_from(&self.checkpoints);
        session
    }
}

/// The key of a new session in a conversation.
pub(crate) fn new_key(conversation: &ConversationId, session: &SessionId) -> SessionKey {
    SessionKey { conversation: conversation.clone(), session: session.clone(), start: SequenceStart::Zero }
}

/// The rows with which a child session begins.
pub(crate) fn child_opening(child: &SessionId, parent: &SessionId, origin: SessionOrigin) -> Group {
    let mut opening = Group::default();
    opening.push(Row::Session);
    opening.push(Row::State { key: format!("session_parent:{child}"), value: parent.0.clone() });
    opening.log(LoggedEvent::SessionCreated(origin));
    opening
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(profile: Profile) -> String {
        builtin_tools(profile).specs().into_iter().map(|spec| spec.name).collect::<Vec<_>>().join(" ")
    }

    fn session_tools(profile: Profile) -> String {
        let name = |tool: &SessionTool| match tool {
            SessionTool::Internet => "internet",
            SessionTool::PlanMode => "plan-mode",
            SessionTool::Todo => "todo",
            SessionTool::Agent => "agent",
            SessionTool::Skill => "skill",
            SessionTool::Servers => "servers",
        };
        profile.contents().1.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_profile_has_its_tools() {
        let mut table = String::new();
        for profile in Profile::ALL {
            table.push_str(&format!("{profile:?}: {} | {}\n", names(profile), session_tools(profile)));
        }
        let all = "Read Write Edit NotebookEdit Bash Glob Grep AskUserQuestion TaskOutput Brief TaskStop";
        let subagent = "Read Write Edit NotebookEdit Bash Glob Grep TaskOutput TaskStop";
        let expected = [
            format!("Main: {all} | internet plan-mode todo agent skill servers"),
            format!("Eval: {all} | internet plan-mode todo agent skill servers"),
            format!("Subagent: {subagent} | internet todo agent skill servers"),
            "PromptHook:  | ".to_owned(),
            "AgentHook: Read Glob Grep | ".to_owned(),
            "SkillCommand: Bash | ".to_owned(),
            "Mention: Read | ".to_owned(),
            format!("FiredHook: {all} | "),
            "TestGenerator:  | ".to_owned(),
            format!("TestContract: {all} | plan-mode"),
            "TestRun:  | ".to_owned(),
        ];
        let expected = expected.map(|line| format!("{line}\n")).concat();
        assert_eq!(table, expected, "{table}");
    }
}
