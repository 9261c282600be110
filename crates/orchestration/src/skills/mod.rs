//! Skills at work: loading a text by its name, for a model (`tool`) or for a person who
//! typed it.
//!
//! A text may ask for commands to be run before it is read. Those are Bash calls like any
//! other, through the whole path of a call, in a session of their own whose parent is this
//! one: hooks see them, rules judge them, rows tell of them. One that may not run, or fails,
//! ends the loading; a text with a hole in it would be a different text.

pub mod fork;
mod tool;

pub use tool::SkillTool;

use crate::assembly::{AgentIdentity, Profile, builtin_tools, child_opening, new_key};
use crate::model::CurrentModel;
use crate::operator::Operator;
use crate::pipeline::Pipeline;
use crate::session::{ParentSession, Session};
use crate::session_hooks::{FrontMatterHooks, SessionHookRegistry};
use ona_api::{CallId, Entry, Group, Row, SessionId, SessionOrigin, ToolCall, environment};
use ona_hookplane::HookEngine;
use ona_instructions::skills::{Skill, SkillPart, SkillScope, SkillValues, Skills, pieces};
use ona_permissions::PermissionEngine;
use ona_store::{Store, StoreError};
use ona_tools::ToolContext;
use serde_json::json;
use std::sync::{Arc, PoisonError, RwLock};

const SHELL_OFF: &str = "[shell command execution disabled by policy]";

/// Everything loading a skill needs of the session that loads it.
#[derive(Clone)]
pub struct SkillLoader {
    pub skills: Arc<Skills>,
    pub store: Arc<Store>,
    pub hooks: Arc<HookEngine>,
    /// Who is asked about the commands of a text.
    pub operator: Arc<dyn Operator>,
    pub parent: ParentSession,
    pub terms: SkillPolicy,
    /// Takes the hooks a skill brings.
    pub registrar: Arc<SessionHookRegistry>,
    /// Hears what the operator should know.
    pub tell: Arc<dyn Fn(String) + Send + Sync>,
    /// The model of the session, which a skill may change for the turn; `None` if it may not.
    pub current_model: Option<CurrentModel>,
}

/// What the settings and the standing of the project say about skills.
#[derive(Clone, Debug)]
pub struct SkillPolicy {
    /// `disableSkillShellExecution`: the commands of texts are not run.
    pub no_shell: bool,
    /// The project is trusted: its skills may bring rules that allow.
    pub project_may_allow: bool,
    pub effort: String,
}

/// Why a skill was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum NotLoaded {
    #[error("The skill {name} was not loaded: its command `{command}` {why}")]
    Command { name: String, command: String, why: String },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SkillLoader {
    /// The loader of another session of the same run: a subagent's.
    pub(crate) fn of(&self, session: &Session) -> Self {
        Self { parent: session.as_parent(), current_model: None, ..self.clone() }
    }

    /// Renders a skill and lets it take effect: its rules count until the turn ends, its hooks
    /// until the session does.
    pub async fn load(&self, skill: &Skill, arguments: &str, cx: &ToolContext) -> Result<String, NotLoaded> {
        let variables = self.variables(skill, cx);
        let values = SkillValues { arguments, names: &skill.arguments, variables: &variables };
        // The commands of a text are what its own rules are written for, so they come first.
        self.allow(skill, &variables).into_iter().for_each(|note| (self.tell)(note));
        let text = match self.filled(skill, pieces(&skill.body, values), cx).await {
            Ok(text) => text,
            Err(failed) => {
                self.rules(PermissionEngine::end_turn_allows);
                return Err(failed);
            }
        };
        for why in self.rules(|rules| rules.deny_for_turn(&skill.disallowed_tools)) {
            (self.tell)(format!("The skill {}: a deny rule is left out: {why}", skill.name));
        }
        self.register(skill).await?;
        self.choose_model(skill);
        if !skill.unused.is_empty() {
            let keys = skill.unused.join(", ");
            (self.tell)(format!("The skill {}: {keys} of its front matter has no effect in this build", skill.name));
        }
        let files = match skill.has_files {
            true => format!("\n\nFiles of this skill: {}", skill.dir.display()),
            false => String::new(),
        };
        Ok(format!("{}{files}", text.trim()))
    }

    /// The model a skill asks for, until the turn ends. One that runs as an agent has its own.
    fn choose_model(&self, skill: &Skill) {
        let Some(name) = skill.model.as_deref().filter(|_| skill.fork.is_none()) else { return };
        let chosen = match &self.current_model {
            None => Err("its session keeps its model".to_owned()),
            Some(current) => match current.model().named(name) {
                Ok(model) => {
                    current.set_for_turn(Arc::new(model));
                    Ok(())
                }
                Err(failure) => Err(failure.to_string()),
            },
        };
        if let Err(why) = chosen {
            (self.tell)(format!("The skill {} does not get the model {name}: {why}", skill.name));
        }
    }

    async fn register(&self, skill: &Skill) -> Result<(), StoreError> {
        let Some(front) = front_hooks(skill) else { return Ok(()) };
        if front.of_project && !self.terms.project_may_allow {
            (self.tell)(format!(
                "The skill {} of a folder nobody has trusted yet brings hooks (--trust remembers it, --no-trust leaves them out)",
                skill.name
            ));
        }
        let place = &self.parent.place;
        let problems = match self.parent.base.agent_id {
            Some(_) => self.registrar.skill_loaded_by_agent(place, &front)?,
            None => self.registrar.skill_loaded(place, front).await?,
        };
        problems.into_iter().for_each(|problem| (self.tell)(problem));
        Ok(())
    }

    fn variables(&self, skill: &Skill, cx: &ToolContext) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            (environment::CLAUDE_SESSION_ID.name(), self.parent.place.session.0.clone()),
            (environment::CLAUDE_SKILL_DIR.name(), skill.dir.to_string_lossy().into_owned()),
            (environment::CLAUDE_PROJECT_DIR.name(), cx.project.to_string_lossy().into_owned()),
            (environment::CLAUDE_EFFORT.name(), self.terms.effort.clone()),
        ];
        if let Some(plugin) = &skill.plugin {
            variables.push((environment::CLAUDE_PLUGIN_ROOT.name(), plugin.root.to_string_lossy().into_owned()));
            variables.push((environment::CLAUDE_PLUGIN_DATA.name(), plugin.data.to_string_lossy().into_owned()));
        }
        variables
    }

    /// `allowed-tools` until the end of the turn. A folder that is not trusted cannot
    /// widen what may be done, and a subagent cannot widen what its parent may.
    fn allow(&self, skill: &Skill, variables: &[(&'static str, String)]) -> Vec<String> {
        if skill.allowed_tools.is_empty() || self.parent.base.agent_id.is_some() {
            return Vec::new();
        }
        if skill.scope == SkillScope::Project && !self.terms.project_may_allow {
            return vec![format!(
                "The skill {} asks for tools to be allowed; nobody has trusted this folder yet, so they are not (--trust remembers it)",
                skill.name
            )];
        }
        let placed = |rule: &String| {
            variables.iter().fold(rule.clone(), |rule, (name, value)| rule.replace(&format!("${{{name}}}"), value))
        };
        let rules: Vec<_> = skill.allowed_tools.iter().map(placed).collect();
        let left_out = self.rules(|engine| engine.allow_for_turn(&rules));
        left_out.iter().map(|why| format!("The skill {}: an allow rule is left out: {why}", skill.name)).collect()
    }

    fn rules<T>(&self, change: impl FnOnce(&mut PermissionEngine) -> T) -> T {
        let rules: &RwLock<PermissionEngine> = &self.parent.rules;
        change(&mut rules.write().unwrap_or_else(PoisonError::into_inner))
    }

    async fn filled(&self, skill: &Skill, pieces: Vec<SkillPart>, cx: &ToolContext) -> Result<String, NotLoaded> {
        let mut text = String::new();
        let mut shell = None;
        for piece in pieces {
            match piece {
                SkillPart::Text(words) => text.push_str(&words),
                SkillPart::Command(_) if self.terms.no_shell => text.push_str(SHELL_OFF),
                SkillPart::Command(command) => {
                    let shell = match &mut shell {
                        Some(shell) => shell,
                        none => none.insert(Shell::open(self, skill, cx).await?),
                    };
                    let output = shell.output(&command).await?;
                    let failed = |why| NotLoaded::Command { name: skill.name.clone(), command: command.clone(), why };
                    text.push_str(output.map_err(failed)?.trim_end_matches('\n'));
                }
            }
        }
        Ok(text)
    }
}

/// The hooks a skill brings, if it brings any.
pub fn front_hooks(skill: &Skill) -> Option<FrontMatterHooks> {
    (!skill.hooks.is_null()).then(|| FrontMatterHooks {
        by: format!("skill:{}", skill.name),
        file: skill.file.clone(),
        dialect: skill.family.dialect().to_owned(),
        of_project: skill.scope == SkillScope::Project,
        hooks: skill.hooks.clone(),
    })
}

/// The session in which the commands of one text run.
struct Shell {
    pipeline: Pipeline,
    session: Session,
}

impl Shell {
    async fn open(loader: &SkillLoader, skill: &Skill, cx: &ToolContext) -> Result<Self, StoreError> {
        let parent = &loader.parent;
        let id = SessionId::random();
        let place = new_key(&parent.place.conversation, &id);
        let origin = SessionOrigin::Skill { name: skill.name.clone() };
        let opening = child_opening(&id, &parent.place.session, origin);
        loader.store.commit(&place, opening).await?;
        let tools = builtin_tools(Profile::SkillCommand);
        let agent = AgentIdentity { id: parent.base.agent_id.clone(), kind: parent.base.agent_type.clone() };
        Ok(Self {
            pipeline: Pipeline::new(&loader.store, tools, &loader.hooks, &loader.operator),
            session: parent.child(place, agent, cx.clone()),
        })
    }

    /// What a command printed; or what became of it instead. An exit code of 1 is an answer,
    /// as it is of `grep` and `diff`.
    async fn output(&mut self, command: &str) -> Result<Result<String, String>, StoreError> {
        let call = ToolCall {
            id: CallId(format!("toolu_{}", CallId::random().0.replace('-', ""))),
            name: "Bash".into(),
            input: json!({ "command": command }),
        };
        let row = Entry::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
        let held = Group(vec![Row::Transcript(row)]);
        let finished = Box::pin(self.pipeline.run(&mut self.session, call, held)).await?;
        let (result, code) = (&finished.result, finished.result.data.get("exit_code"));
        Ok(match code {
            _ if !result.is_error() => Ok(result.content.clone()),
            Some(code) if *code == 1 => Ok(result.content.clone()),
            Some(code) => Err(format!("ended with exit code {code}.\n{}", result.content).trim_end().to_owned()),
            None if finished.denied => Err(format!("may not run. {}", result.content)),
            None => Err(format!("could not run. {}", result.content)),
        })
    }
}
