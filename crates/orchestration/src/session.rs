//! What the calls of one session share, and what a call may change for the next.

use crate::checkpoints::SessionCheckpoints;
use crate::config_watch::ConfigWatch;
use crate::context::SessionContext;
use crate::file_watch::FileWatch;
use crate::modules::Modules;
use crate::unfinished::RunningTask;
use ona_api::model::RequestParams;
use ona_api::permission_update::{Destination, PermissionUpdate};
use ona_api::row::SessionKey;
use ona_api::{Group, Mode, Phase};
use ona_hookplane::{Base, HookEngine, HookOutcome};
use ona_permissions::PermissionEngine;
use ona_process::scratch::{self, Purpose, ScratchFile};
use ona_store::{Store, StoreError};
use ona_tools::{AnyTool, ToolContext};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Keeps a permission update beyond this process (DEC-078): returns the rows that
/// belong to it, or a sentence saying why it is not kept.
pub type PersistUpdate = Arc<dyn Fn(&PermissionUpdate) -> Result<Group, String> + Send + Sync>;

/// Hears of the working directories of a session when they change: the project, then the others.
type DirectoriesListener = Arc<dyn Fn(Vec<PathBuf>) + Send + Sync>;

pub struct Session {
    pub place: SessionKey,
    /// The exact string of `AGENT_SDLC_DB`.
    pub database: String,
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
    pub cx: ToolContext,
    pub rules: Arc<RwLock<PermissionEngine>>,
    /// What of them is different here.
    pub own_rules: OwnRules,
    pub env_file: EnvFile,
    /// Files hooks want to hear of; only in the session a person sees.
    pub watch: Option<FileWatch>,
    /// Settings files and skills; none in a child session.
    pub config: ConfigWatch,
    pub persist: PersistUpdate,
    pub on_directories: Option<DirectoriesListener>,
    /// What its model has been given beside prompts and results.
    pub context: SessionContext,
    /// Hook modules that hear of what happens here.
    pub modules: Option<Arc<Modules>>,
    /// The newest row whose usage some turn has counted. What agents use between two turns
    /// is counted by the later one.
    pub counted_to: Option<i64>,
    /// Keeps files before they change; a session without a prompt has none.
    pub checkpoints: Option<SessionCheckpoints>,
    /// The background tasks that the `state` row names.
    pub(crate) recorded_tasks: Vec<RunningTask>,
}

impl Session {
    /// A session that nobody watches, with nothing loaded.
    pub fn new(
        place: SessionKey,
        database: String,
        cx: ToolContext,
        rules: Arc<RwLock<PermissionEngine>>,
        persist: PersistUpdate,
    ) -> Self {
        Self {
            place,
            database,
            agent_id: None,
            agent_type: None,
            cx,
            rules,
            own_rules: OwnRules::default(),
            env_file: EnvFile::default(),
            watch: None,
            config: ConfigWatch::default(),
            persist,
            on_directories: None,
            context: SessionContext::default(),
            modules: None,
            counted_to: None,
            checkpoints: None,
            recorded_tasks: Vec::new(),
        }
    }

    /// The fields every hook of this session is told.
    pub fn base(&self) -> Base {
        Base {
            session: self.place.session.clone(),
            conversation: self.place.conversation.clone(),
            database: self.database.clone(),
            cwd: self.cx.cwd.clone(),
            mode: Some(self.with_rules(PermissionEngine::mode)),
            agent_id: self.agent_id.clone(),
            agent_type: self.agent_type.clone(),
        }
    }

    /// What a subagent takes over from this session.
    pub fn as_parent(&self) -> ParentSession {
        ParentSession {
            place: self.place.clone(),
            base: self.base(),
            database: self.database.clone(),
            rules: Arc::clone(&self.rules),
            own_rules: self.own_rules.clone(),
            persist: Arc::clone(&self.persist),
            checkpoints: self.checkpoints.as_ref().map(|kept| kept.of_agent(&self.place.session)),
            depth: 0,
        }
    }

    /// Moves into a worktree of its project: calls work there and leave the checkout as it is.
    pub fn enter_worktree(&mut self, worktree: &Path) {
        let checkout = std::mem::replace(&mut self.cx.project, worktree.to_owned());
        self.cx.cwd = worktree.to_owned();
        self.own_rules.worktrees.push(worktree.to_owned());
        // What a rule hides in the checkout is hidden in its copy.
        let (shown, worktree) = (Arc::clone(&self.cx.may_show), worktree.to_owned());
        self.cx.may_show = Arc::new(move |path| {
            shown(path) && path.strip_prefix(&worktree).map_or(true, |below| shown(&checkout.join(below)))
        });
    }

    /// Goes back to where it was before it entered its worktree.
    pub fn leave_worktree(&mut self, checkout: &Path) {
        self.own_rules.worktrees.pop();
        self.cx.project = checkout.to_owned();
        self.cx.cwd = checkout.to_owned();
    }

    /// Watches what hooks have asked for.
    pub(crate) fn follow(&mut self, outcome: &HookOutcome, hooks: &HookEngine) {
        if let Some(watch) = &mut self.watch {
            watch.follow(outcome, hooks, &self.cx.cwd);
        }
    }

    pub fn with_rules<T>(&self, read: impl FnOnce(&PermissionEngine) -> T) -> T {
        let shared = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        match self.own_rules.over(&shared) {
            Some(own) => read(&own),
            None => read(&shared),
        }
    }

    /// A tool a module has registered since the session began. Rules may name it from now on.
    pub(crate) fn added_tool(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let tool = self.modules.as_ref()?.added(name)?;
        self.rules.write().unwrap_or_else(PoisonError::into_inner).register_tool(name);
        Some(tool)
    }

    /// Whether a rule takes a module's tool away. It may be the first that is heard of the tool.
    fn takes_away(&self, tool: &str) -> bool {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        rules.register_tool(tool);
        rules.hides_tool(tool)
    }

    /// What the model is told now: tools and words of modules may have come in between.
    pub(crate) fn asking<'a>(&self, first: &'a RequestParams) -> Cow<'a, RequestParams> {
        let Some(modules) = &self.modules else { return Cow::Borrowed(first) };
        let tools = modules.offered(&first.tools, |name| !self.takes_away(name));
        let system = modules.system_prompt();
        if tools.is_none() && system.is_none() {
            return Cow::Borrowed(first);
        }
        let tools = tools.unwrap_or_else(|| first.tools.clone());
        let system = system.unwrap_or_else(|| first.system.clone());
        Cow::Owned(RequestParams { tools, system, ..first.clone() })
    }

    /// Plan mode ends with the planning phase, whichever way that ended (DEC-115, DEC-116).
    pub fn follow_phase(&self, store: &Store) -> Result<(), StoreError> {
        if self.with_rules(|rules| rules.before_planning().is_some())
            && store.reader()?.phase(&self.place.conversation)? != Some(Phase::Planning)
        {
            self.rules.write().unwrap_or_else(PoisonError::into_inner).end_planning();
        }
        Ok(())
    }

    /// Applies an update at once and keeps it if it is meant to last (DEC-059,
    /// DEC-078): all of it or nothing. The rows of what was kept, or a sentence.
    pub fn update_rules(&mut self, update: &PermissionUpdate) -> Result<Group, String> {
        // Not what is different here: an update is for everyone who shares the rules.
        let mut tried = self.rules.read().unwrap_or_else(PoisonError::into_inner).clone();
        let dropped = tried.apply(update).map_err(|refused| refused.to_string())?;
        if let Some(dropped) = dropped.first() {
            return Err(format!("the rule {:?} means nothing: {}", dropped.rule, dropped.why));
        }
        let rows = (self.persist)(update)?;
        if self.cx.extra != tried.session_dirs().extra {
            self.cx.extra.clone_from(&tried.session_dirs().extra);
            if let Some(listener) = &self.on_directories {
                listener(std::iter::once(&self.cx.project).chain(&self.cx.extra).cloned().collect());
            }
        }
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = tried;
        Ok(rows)
    }
}

/// What an agent may do less, or elsewhere, than the session whose rules it shares. It is laid over the
/// shared rules whenever they are asked, so that a change of those counts at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnRules {
    /// The mode its definition asks for.
    pub mode: Option<Mode>,
    /// The worktrees it works in, the innermost last.
    pub worktrees: Vec<PathBuf>,
}

impl OwnRules {
    fn over(&self, shared: &PermissionEngine) -> Option<PermissionEngine> {
        if *self == Self::default() {
            return None;
        }
        let mut own = shared.clone();
        self.worktrees.iter().for_each(|worktree| own.enter_worktree(worktree));
        self.mode.into_iter().for_each(|mode| own.narrow_mode(mode));
        Some(own)
    }
}

/// Changes the mode of a session, also while a turn runs.
pub fn set_mode(rules: &RwLock<PermissionEngine>, mode: Mode) -> Result<(), String> {
    let update = PermissionUpdate::SetMode { mode, destination: Destination::Session };
    let mut rules = rules.write().unwrap_or_else(PoisonError::into_inner);
    rules.apply(&update).map(drop).map_err(|refused| refused.to_string())
}

/// A session as its subagents see it. They share its rules, so that none has more
/// authority than it.
#[derive(Clone)]
pub struct ParentSession {
    pub place: SessionKey,
    pub base: Base,
    pub database: String,
    pub rules: Arc<RwLock<PermissionEngine>>,
    pub own_rules: OwnRules,
    pub persist: PersistUpdate,
    /// What an agent changes belongs to the prompt of the session it works for.
    pub checkpoints: Option<SessionCheckpoints>,
    /// How many agents stand between it and a person.
    pub depth: u32,
}

/// The file in which hooks leave `export` lines for later shell calls (DEC-061).
///
/// Created when the first hook that may write it is about to run, private to the
/// user, removed with the session.
#[derive(Default)]
pub struct EnvFile {
    dir: PathBuf,
    file: Option<ScratchFile>,
}

impl EnvFile {
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), file: None }
    }

    /// Another one in the same place.
    pub fn renewed(&self) -> Self {
        Self::in_dir(self.dir.clone())
    }

    /// The file, created on first use; `None` if it cannot be created, in which
    /// case hooks simply do not get one.
    pub fn path(&mut self) -> Option<&Path> {
        if self.file.is_none() {
            match scratch::file(Purpose::EnvFile, ".sh", &self.dir) {
                Ok(file) => self.file = Some(file),
                Err(error) => tracing::debug!(dir = %self.dir.display(), %error, "hooks get no CLAUDE_ENV_FILE"),
            }
        }
        self.file.as_ref().map(ScratchFile::path)
    }

    /// What hooks have written so far.
    pub fn text(&self) -> String {
        let Some(path) = self.file.as_ref().map(ScratchFile::path) else { return String::new() };
        std::fs::read_to_string(path)
            .inspect_err(|error| tracing::debug!(path = %path.display(), %error, "ignoring what hooks have set"))
            .unwrap_or_default()
    }
}
