//! Hooks that come into a running session: with a skill that is loaded, for the rest of the
//! session; with an agent, while it runs (section 5.2, DEC-060).
//!
//! What a skill brought is kept in one `state` row of the session, as it was when the skill
//! was loaded: a session that goes on in another process has the same guards, also if the
//! file was changed or removed meanwhile. Which of them have had their only run is in
//! rows of their own, written with the run. Another session has neither.

use ona_api::row::SessionKey;
use ona_api::{Group, Row, SessionId};
use ona_hookplane::{Hook, HookEngine};
use ona_instructions::AgentDefinition;
use ona_permissions::PermissionEngine;
use ona_store::{Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

/// The hooks of one file's front matter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontMatterHooks {
    /// `skill:careful`, `agent:reviewer`
    pub by: String,
    pub file: PathBuf,
    pub dialect: String,
    /// Whether the file is the project's, so that its trust is asked for.
    pub of_project: bool,
    pub hooks: Value,
}

/// In whose name hooks are made.
#[derive(Clone, Copy, Debug)]
pub enum HookOwner<'a> {
    /// A skill loaded in this session.
    Skill(&'a SessionId),
    /// A skill a subagent has loaded for itself.
    SkillOfAgent(&'a SessionId),
    /// An agent's own definition.
    Agent(&'a SessionId),
    /// The definition a session itself works by (`--agent`).
    Lead(&'a SessionId),
}

/// What came of it.
#[derive(Default)]
pub struct BuiltHooks {
    pub hooks: Vec<Hook>,
    /// Entries that are not used, a sentence each.
    pub problems: Vec<String>,
    /// Files the agent may not change while they count.
    pub files: Vec<PathBuf>,
}

/// Reads front matter in its dialect; handed in, because dialects are not known here.
pub type BuildHooks = Arc<dyn Fn(&FrontMatterHooks, HookOwner<'_>) -> BuiltHooks + Send + Sync>;

/// Keeps the list of a session's own hooks.
pub struct SessionHookRegistry {
    pub engine: Arc<HookEngine>,
    pub rules: Arc<RwLock<PermissionEngine>>,
    pub store: Arc<Store>,
    pub make: BuildHooks,
}

impl SessionHookRegistry {
    /// A skill was loaded in a session: its hooks run from now on. Loaded again it changes
    /// nothing. What is wrong with its hooks, a sentence each.
    pub(crate) async fn skill_loaded(
        &self,
        place: &SessionKey,
        front: FrontMatterHooks,
    ) -> Result<Vec<String>, StoreError> {
        let mut kept = self.kept(place)?;
        if kept.contains(&front) {
            return Ok(Vec::new());
        }
        let problems = self.add(place, HookOwner::Skill(&place.session), &front)?;
        kept.push(front);
        // Text, lists and maps always have a JSON form.
        let value = serde_json::to_string(&kept).unwrap_or_default();
        self.store.commit(place, Group(vec![Row::State { key: key(&place.session), value }])).await?;
        Ok(problems)
    }

    /// Hooks that a command of the operator adds to the session, for the rest of it. What is wrong with them,
    /// a sentence each.
    pub async fn add_for_session(
        &self,
        place: &SessionKey,
        front: FrontMatterHooks,
    ) -> Result<Vec<String>, StoreError> {
        self.skill_loaded(place, front).await
    }

    /// Removes what `by` has added to the session. Returns whether there was anything.
    pub async fn remove_from_session(&self, place: &SessionKey, by: &str) -> Result<bool, StoreError> {
        let mut kept = self.kept(place)?;
        let before = kept.len();
        kept.retain(|front| front.by != by);
        if kept.len() == before {
            return Ok(false);
        }
        let value = serde_json::to_string(&kept).unwrap_or_default();
        self.store.commit(place, Group(vec![Row::State { key: key(&place.session), value }])).await?;
        self.engine.unregister(|registered| registered.session == place.session && registered.by == by);
        Ok(true)
    }

    /// What skills and commands have added to the session.
    pub fn added(&self, place: &SessionKey) -> Result<Vec<FrontMatterHooks>, StoreError> {
        self.kept(place)
    }

    /// The same in a subagent, for as long as that runs.
    pub(crate) fn skill_loaded_by_agent(
        &self,
        place: &SessionKey,
        front: &FrontMatterHooks,
    ) -> Result<Vec<String>, StoreError> {
        self.add(place, HookOwner::SkillOfAgent(&place.session), front)
    }

    /// An agent starts. Its hooks, and those its skills bring, go when the guard is dropped.
    pub(crate) fn agent_started(
        self: &Arc<Self>,
        place: &SessionKey,
        agent: &AgentDefinition,
    ) -> Result<(AgentHooks, Vec<String>), StoreError> {
        let problems = match hooks_of_agent(agent) {
            Some(front) => self.add(place, HookOwner::Agent(&place.session), &front)?,
            None => Vec::new(),
        };
        Ok((AgentHooks { registrar: Arc::clone(self), session: place.session.clone() }, problems))
    }

    /// A session works as this agent from its start.
    pub fn works_as(&self, place: &SessionKey, agent: &AgentDefinition) -> Result<Vec<String>, StoreError> {
        match hooks_of_agent(agent) {
            Some(front) => self.add(place, HookOwner::Lead(&place.session), &front),
            None => Ok(Vec::new()),
        }
    }

    /// Only what this session brought counts from now on.
    pub fn enter(&self, place: &SessionKey) -> Result<(), StoreError> {
        self.engine.unregister(|_| true);
        let reader = self.store.reader()?;
        for key in self.engine.list().iter().filter_map(|hook| hook.once_key(&place.session)) {
            if reader.state(&place.conversation, &key)?.is_some() {
                self.engine.mark_used(key);
            }
        }
        for front in self.kept(place)? {
            self.add(place, HookOwner::Skill(&place.session), &front)?;
        }
        Ok(())
    }

    fn kept(&self, place: &SessionKey) -> Result<Vec<FrontMatterHooks>, StoreError> {
        let row = self.store.reader()?.state(&place.conversation, &key(&place.session))?;
        let Some(text) = row else { return Ok(Vec::new()) };
        let kept = serde_json::from_str(&text);
        Ok(kept.inspect_err(|error| tracing::debug!(%error, "ignoring the hooks of loaded skills")).unwrap_or_default())
    }

    fn add(
        &self,
        place: &SessionKey,
        bearer: HookOwner<'_>,
        front: &FrontMatterHooks,
    ) -> Result<Vec<String>, StoreError> {
        let mut made = (self.make)(front, bearer);
        let reader = self.store.reader()?;
        let mut left = Vec::new();
        for hook in made.hooks {
            let once = hook.registered.as_ref().and_then(|registered| registered.once.as_deref());
            let is_spent = match once {
                Some(key) => reader.state(&place.conversation, key)?.is_some(),
                None => false,
            };
            left.extend((!is_spent).then_some(hook));
        }
        if !left.is_empty() {
            made.files.extend(Some(front.file.clone()).filter(|file| file.is_absolute()));
            self.rules.write().unwrap_or_else(PoisonError::into_inner).add_guarded(made.files);
        }
        self.engine.register(left);
        Ok(made.problems)
    }
}

/// The hooks an agent brings, if it brings any.
pub fn hooks_of_agent(agent: &AgentDefinition) -> Option<FrontMatterHooks> {
    (!agent.hooks.is_null()).then(|| FrontMatterHooks {
        by: format!("agent:{}", agent.name),
        file: agent.origin.file.clone(),
        dialect: agent.origin.dialect.to_owned(),
        of_project: agent.origin.of_project,
        hooks: agent.hooks.clone(),
    })
}

/// `state` key of what skills have brought into a session.
fn key(session: &SessionId) -> String {
    format!("session_hooks:{session}")
}

/// While it is there, so are the hooks of an agent.
pub(crate) struct AgentHooks {
    registrar: Arc<SessionHookRegistry>,
    session: SessionId,
}

impl Drop for AgentHooks {
    fn drop(&mut self) {
        self.registrar.engine.unregister(|registered| registered.session == self.session);
    }
}
