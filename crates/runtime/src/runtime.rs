//! Hooks, rules and surroundings of one directory, frozen for the calls made there (DEC-059).

use crate::environments::{host_environment, operator_environment, withhold_credentials};
use crate::failure::Failure;
use crate::findings;
use crate::guards::{self, IneffectivePermissions, flags};
use crate::hook_files;
use crate::hook_handlers;
use crate::hook_sources::modules::{LoadedModules, ModuleFiles};
use crate::hook_sources::pi_session::PiSession;
use crate::hook_sources::{self, HookConfig, LoadedSource, SourceContext};
use crate::launch::{Launch, OpenProject, Purpose};
use crate::mcp::{self, McpServers};
use crate::model_choice;
use crate::notices::Notices;
use crate::permission_writer;
use crate::permissions::{managed_rules, permissions, session_dirs};
use crate::worktree;
use crate::worktrees;
use ona_api::row::SessionKey;
use ona_api::tool::FileState;
use ona_api::{Env, Group, Phase, environment};
use ona_files::FileInfo;
use ona_hookplane::{
    Hook, HookEngine, HookEnvironment, HookFailure, HookList, LogEntry, OnFailure, ProcessRunner, Runner, Timeouts,
    TranscriptOf, name_session,
};
use ona_mcp::{Additions, Environments, ServerContext, ServerLogins};
use ona_orchestration::{
    ConfigSource, ConfigWatch, EnvFile, FileWatch, IN_PLAN_MODE, KeepLimits, Modules, Operator, PersistUpdate,
    Pipeline, ProjectFilesAt, Session, SessionCheckpoints, SessionHookRegistry, SharedJudgeDeps, ToolParts,
    TranscriptFiles, Worktrees,
};
use ona_permissions::{GuardedFiles, PermissionEngine, Rules, SessionDirs};
use ona_process::TurnCancellation;
use ona_settings::{CheckpointSettings, Settings};
use ona_store::{Store, StoreError};
use ona_test_runner::Project;
use ona_tools::{AddressRuling, CallAuthor, SeenFiles, Tasks, ToolBox, ToolContext};
use ona_transcript::Prices;
use ona_web::Web;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use tokio_util::sync::CancellationToken;

pub struct Runtime {
    store: Arc<Store>,
    project_files: ProjectFilesAt,
    pub hooks: Arc<HookEngine>,
    /// What each source of hooks contributed, in the order of their hooks.
    pub hook_sources: Vec<LoadedSource>,
    /// What hooks that ask a model go by.
    pub judges: Arc<SharedJudgeDeps>,
    pub tasks: Arc<Tasks>,
    /// Keeps the hooks that skills and agents bring.
    pub registrar: Arc<SessionHookRegistry>,
    /// A transcript in a file, where hooks are to have one.
    projection: Option<Arc<TranscriptFiles>>,
    rules: Arc<RwLock<PermissionEngine>>,
    place: SessionDirs,
    /// Files and folders that are part of the record and its guards.
    guarded: Vec<PathBuf>,
    database: String,
    /// What tools' children get.
    env: Env,
    /// The variables it lacks, because they carry a credential.
    withheld: Arc<[String]>,
    persist: PersistUpdate,
    findings: Group,
    cancel: CancellationToken,
    env_file: EnvFile,
    cwd: PathBuf,
    /// Hooks of `.claude` files that do not count in this session.
    pub claude_off: usize,
    /// What of the permissions has no effect.
    pub ineffective: IneffectivePermissions,
    /// Rules of flags whose tools are not known before servers and modules are there.
    pending_rules: flags::PendingRules,
    /// Tools of hook modules.
    module_tools: Vec<String>,
    pub modules: Option<Arc<Modules>>,
    /// MCP servers.
    pub mcp: McpServers,
    notices: Notices,
    /// The model that this run added to the settings row.
    added_model: OnceLock<Value>,
    /// Where the configuration comes from, for hooks that want to hear of changes.
    config_sources: Vec<ConfigSource>,
    /// Worktrees of the project the run was started in.
    pub worktrees: Arc<Worktrees>,
    /// Pages that were fetched, and searches.
    pub web: Arc<Web>,
    /// The frozen settings, secrets in their places.
    pub settings: Settings,
    /// The process environment with the settings' own over it.
    pub host: Env,
    /// The same without what project files set, for the operator's hooks, helpers and workers.
    pub operators: Env,
}

/// Hooks that are not the configured ones.
pub struct OtherHooks {
    pub engine: HookEngine,
    pub source: LoadedSource,
}

/// Returns the rule that keeps tools from reading a file.
fn unreadable(file: &Path) -> Option<String> {
    let escaped = file.to_str()?.chars().fold(String::new(), |mut pattern, c| {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
        pattern
    });
    Some(format!("Read(/{escaped})"))
}

/// One thread is enough for one call: children do the work.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    let threads = tokio::runtime::Builder::new_current_thread().enable_all().build();
    threads.expect("the system gives us timers and polling").block_on(work)
}

/// Settings files and folders of skills; those of a folder that is not trusted do not count.
fn config_sources(launch: &Launch, open: &OpenProject) -> Result<Vec<ConfigSource>, Failure> {
    let settings = ona_trust::settings_sources(&launch.discovery()?, &launch.env);
    let settings = settings.into_iter().map(|(path, source)| ConfigSource::Settings(path, source));
    let skills = crate::skills::folders(launch, open).into_iter().map(ConfigSource::Skills);
    Ok(settings.chain(skills).collect())
}

/// What providers that need a limit are told.
pub const MAX_TOKENS: u32 = 8192;

impl Runtime {
    pub fn new(
        launch: &Launch,
        open: &OpenProject,
        cwd: &Path,
        purpose: Purpose,
        cancel: &CancellationToken,
    ) -> Result<Self, Failure> {
        let cancellation = TurnCancellation::new(cancel.clone());
        Self::with_runner(
            launch,
            open,
            cwd,
            purpose,
            &cancellation,
            |processes| Arc::new(processes),
            failures_to_notices(&launch.notices),
        )
    }

    /// With hooks that run, or are watched, in a way of the caller's own.
    pub fn with_runner(
        launch: &Launch,
        open: &OpenProject,
        cwd: &Path,
        purpose: Purpose,
        cancellation: &TurnCancellation,
        runner: impl FnOnce(ProcessRunner) -> Arc<dyn Runner>,
        on_failure: OnFailure,
    ) -> Result<Self, Failure> {
        let (pi, settings) = PiSession::read(launch, open, launch.effective(open, purpose)?);
        let pending_rules = flags::read(&launch.options)?;
        let (mut permissions, mut notes, strange) = permissions(launch, &settings)?;
        // No tool needs what opens the stored login.
        permissions.deny.extend(launch.credential_store().files().iter().filter_map(|file| unreadable(file)));
        let logins = ServerLogins::from_env(&launch.env).folder();
        permissions.deny.extend(unreadable(&logins.join("x")).map(|rule| rule.replace("/x)", "/**)")));
        let place = session_dirs(launch, &permissions, cwd);
        let (mut rules, dropped) = Rules::parse(&permissions);
        rules.set_managed(managed_rules(open));
        let judges = Arc::new(SharedJudgeDeps::default());
        let host = host_environment(launch, &settings);
        let operators = operator_environment(launch, open, &settings);
        let database = launch.database.path.to_string_lossy().into_owned();
        // Children of tools are told whose database is live, so that an `ona`
        // they start knows it speaks for the agent.
        let hooks_of_agent = |env: &Env| {
            let mut env =
                env.clone().with(environment::AGENT_SDLC_DB, &database).with(environment::ONA_AGENT_DB, &database);
            // Gastown takes what has it for a hook.
            env.remove(environment::GT_HOOK_SOURCE);
            env
        };
        let mut env = hooks_of_agent(&host);
        let withheld = withhold_credentials(launch, &mut env, &settings);
        let named = Environments { operators: operators.clone(), projects: host.clone() };
        let children = Environments { operators: hooks_of_agent(&operators), projects: env.clone() };
        let mcp = mcp_servers(launch, open, &settings, &place, &named, children)?;
        let mut hook_sources = hook_sources::load(&SourceContext {
            launch,
            open,
            settings: &settings,
            dirs: &place,
            operators: &operators,
            handlers: &hook_handlers::factory(&judges, &mcp.servers),
            pi: &pi,
            cancel: cancellation.program(),
        })?;
        let list = hook_sources::hook_list(&hook_sources);
        notes.extend(dropped.iter().map(findings::dropped_rule));
        let rejected = hook_sources.iter().flat_map(|source| &source.loaded.rejected);
        notes.extend(rejected.map(findings::rejected_hook));
        let mut guarded = ona_trust::guarded_files(&launch.discovery()?, &launch.env);
        guarded.extend(launch.credential_store().files());
        guarded.push(logins);
        guarded.extend(hook_sources.iter().flat_map(|source| source.loaded.files.iter().cloned()));
        let pending = hook_sources.iter().filter_map(|source| source.pending.as_ref()).any(ModuleFiles::any);
        // Without hooks the floor asks about these; with hooks they are part of the guard.
        if !list.is_empty() || pending {
            guarded.extend(ona_trust::startup_files(&host));
        }
        let guard = GuardedFiles::new(Some(launch.database.path.clone()), guarded.iter().cloned(), &place);
        guarded.extend(database_files(&launch.database.path));
        notes.extend(mcp.findings());
        let servers = mcp.servers.list();
        settings.sdlc.planning_problems.iter().for_each(|why| launch.note(format_args!("ona: {why}")));
        let engine = PermissionEngine::new(rules, permissions.default_mode, place.clone(), guard)
            .with_planning(settings.sdlc.planning)
            .with_servers(servers.iter().map(|one| one.definition.slug.to_string()))
            .with_worktree({
                let env = launch.env.clone();
                move |dir| worktree::look(&env, dir)
            });
        let projection = projection(launch, open, &settings);
        let hooks = hook_engine(launch, open, list, (&operators, &host), &place, |environment| {
            runner(ProcessRunner::new(environment, cancellation.clone()))
        });
        let hooks =
            hooks.with_failure_listener(on_failure).with_transcript(projection.as_ref().map(transcript_path_of));
        let (hooks, rules) = (Arc::new(hooks), Arc::new(RwLock::new(engine)));
        let registrar = SessionHookRegistry {
            engine: Arc::clone(&hooks),
            rules: Arc::clone(&rules),
            store: Arc::clone(&open.store),
            make: hook_sources::hook_builder(
                &settings,
                &place,
                &judges,
                &mcp.servers,
                open.merged.trust,
                ona_trust::startup_files(&host),
            ),
        };
        // Those of flags are judged by themselves.
        let given: Vec<_> =
            flags::rules(&launch.options.allowed_tools).chain(flags::rules(&launch.options.disallowed_tools)).collect();
        let ineffective = IneffectivePermissions {
            rules: dropped.into_iter().filter(|one| !given.contains(&one.rule)).collect(),
            values: strange,
        };
        let mut findings =
            findings::group(&open.store, settings.as_written(), notes).map_err(|error| launch.store_failure(error))?;
        hook_sources.iter_mut().for_each(|source| findings.append(std::mem::take(&mut source.rows)));
        Ok(Self {
            store: Arc::clone(&open.store),
            project_files: project_files_at(launch, &settings),
            hooks,
            registrar: Arc::new(registrar),
            projection,
            hook_sources,
            judges,
            tasks: Arc::new(Tasks::default()),
            rules,
            findings,
            database,
            env,
            withheld,
            persist: permission_writer::persist_update(launch, open),
            cancel: cancellation.token(),
            env_file: EnvFile::in_dir(launch.env.non_empty(environment::TMPDIR).unwrap_or("/tmp")),
            cwd: place.start.clone(),
            claude_off: pi.claude_off,
            ineffective,
            pending_rules,
            module_tools: Vec::new(),
            modules: None,
            mcp,
            notices: launch.notices.clone(),
            config_sources: config_sources(launch, open)?,
            worktrees: Arc::new(worktrees::of_project(launch, open, &settings)),
            added_model: OnceLock::new(),
            web: Arc::new(Web::from_env(&operators)),
            place,
            guarded,
            settings,
            host,
            operators,
        })
    }

    pub fn prices(&self) -> Prices {
        prices(&self.settings, &self.notices)
    }

    /// Adds the model of a first run to the settings row (DEC-082).
    pub fn add_model(&self, launch: &Launch, open: &OpenProject, config: &Value) -> Result<(), Failure> {
        model_choice::remember(launch, open, config)?;
        // A second session of the run adds the same.
        self.added_model.set(config.clone()).ok();
        Ok(())
    }

    /// For a run that ended before its first reply: the model it added is chosen anew next time (DEC-190).
    pub fn take_back_model(&self, launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
        match self.added_model.get() {
            Some(config) => model_choice::take_back(launch, open, config),
            None => Ok(()),
        }
    }

    /// The rules every session here shares.
    pub fn rules(&self) -> Arc<RwLock<PermissionEngine>> {
        Arc::clone(&self.rules)
    }

    pub fn database(&self) -> &Path {
        Path::new(&self.database)
    }

    pub fn start(&self) -> &Path {
        &self.place.start
    }

    /// Files and folders that are part of the record and its guards, whether they exist or not.
    pub fn guarded(&self) -> &[PathBuf] {
        &self.guarded
    }

    /// Where the session works: the first is where it started.
    pub fn working_dirs(&self) -> Vec<PathBuf> {
        [&self.place.start, &self.place.project].into_iter().chain(&self.place.extra).cloned().collect()
    }

    pub fn project(&self) -> &Path {
        &self.place.project
    }

    /// Hooks of another configuration, set up as if they were configured here.
    pub fn other_hooks(&self, launch: &Launch, open: &OpenProject, config: &HookConfig) -> Result<OtherHooks, Failure> {
        let mut settings = match config {
            HookConfig::Settings(settings) => Settings::clone(settings),
            HookConfig::Pi(_) | HookConfig::Massgen(_) => Settings::default(),
        };
        settings.gastown_mode = self.settings.gastown_mode;
        let source = config.load(&SourceContext {
            launch,
            open,
            settings: &settings,
            dirs: &self.place,
            operators: &self.operators,
            handlers: &hook_handlers::factory(&self.judges, &self.mcp.servers),
            pi: &PiSession::none(),
            cancel: &self.cancel,
        })?;
        let list = hook_sources::hook_list(std::slice::from_ref(&source));
        let processes =
            |environment| -> Arc<dyn Runner> { Arc::new(ProcessRunner::new(environment, self.cancel.clone())) };
        let engine = hook_engine(launch, open, list, (&self.operators, &self.host), &self.place, processes);
        let engine = engine
            .with_failure_listener(failures_to_notices(&launch.notices))
            .with_transcript(self.projection.as_ref().map(transcript_path_of));
        Ok(OtherHooks { engine, source })
    }

    /// Returns the hooks that skills and agents could add to a session.
    pub fn on_demand_hooks(&self, launch: &Launch, open: &OpenProject) -> Result<Vec<Hook>, Failure> {
        hook_sources::on_demand(launch, open, self)
    }

    /// Runs the hook modules, whose handlers take their place in the chain.
    pub async fn load_modules(&mut self, launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
        // What a hook's process would have (DEC-061); a module is not a child of the agent.
        let depth: u32 = self.host.get(environment::ONA_HOOK_DEPTH).and_then(|text| text.parse().ok()).unwrap_or(0);
        let env =
            self.operators.clone().with(environment::AGENT_SDLC_DB, &self.database).with(environment::SDLC_HOOK, "1");
        let env = env.with(environment::CLAUDE_PROJECT_DIR, self.place.project.as_os_str());
        let env = env.with(environment::ONA_HOOK_DEPTH, (depth + 1).to_string());
        for source in &mut self.hook_sources {
            let Some(files) = source.pending.take() else { continue };
            let LoadedModules { hooks, modules, rows, findings, listing } =
                files.load(launch, open, &env, &self.cwd).await?;
            self.findings.append(rows);
            self.module_tools.extend(listing.iter().flat_map(|module| module.tools.iter().cloned()));
            self.modules = modules;
            source.loaded.hooks = hooks;
            source.findings.extend(findings);
            source.modules = listing;
        }
        self.hooks.set_list(hook_sources::hook_list(&self.hook_sources));
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        for tool in &self.module_tools {
            let counting = rules.register_tool(tool);
            // What seemed to name no tool names one.
            self.findings.0.retain(|row| !findings::drops(row, &counting));
            self.ineffective.rules.retain(|one| !counting.contains(&one.rule));
        }
        Ok(())
    }

    /// The session begins: a script that changes from now on does not run unasked (DEC-189).
    pub fn pin_scripts(&self) {
        self.hooks.pin(hook_files::files_of(&self.place));
    }

    /// Says which guards do not work, or refuses to start with them (DEC-181). To be called
    /// when modules are loaded.
    pub fn announce_guards(&self, launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
        guards::announce(launch, open, self)
    }

    /// Judges the tools that rules of flags name; waits for servers if that takes them.
    pub async fn judge_flags(&self, launch: &Launch) -> Result<(), Failure> {
        if self.pending_rules.wait_for_servers() {
            tokio::select! {
                () = self.mcp.servers.settled() => {}
                () = self.cancel.cancelled() => {}
            }
        }
        self.pending_rules.judge(launch, &self.settings, &self.mcp.servers, &self.module_tools)
    }

    /// What is wrong with the settings, to be recorded once.
    pub fn take_findings(&mut self) -> Group {
        std::mem::take(&mut self.findings)
    }

    pub fn session(&mut self, store: &Store, place: SessionKey) -> Result<Session, StoreError> {
        let seen = SeenFiles::default();
        let known = store.reader()?.file_digests(&place.session)?;
        let known: Vec<_> = known.into_iter().map(|(path, sha256)| FileState { path: path.into(), sha256 }).collect();
        seen.note(&known);
        let mut env = self.env.clone();
        // The last name under which Gastown looks for the session of a command the agent runs.
        env.set(environment::CLAUDE_SESSION_ID, place.session.as_str());
        name_session(&mut env, &place.session);
        self.plan_mode(store, &place)?;
        self.registrar.enter(&place)?;
        let rules = Arc::clone(&self.rules);
        let may_show = move |path: &Path| rules.read().unwrap_or_else(PoisonError::into_inner).may_show(path);
        let rules = Arc::clone(&self.rules);
        let guarded = move |file: &FileInfo| {
            let rules = rules.read().unwrap_or_else(PoisonError::into_inner);
            rules.guarded_file(file.dev, file.ino).map(str::to_owned)
        };
        let rules = Arc::clone(&self.rules);
        let judge_address = move |url: &str| {
            let rules = rules.read().unwrap_or_else(PoisonError::into_inner);
            AddressRuling { verdict: rules.judge_address(url), named: rules.names_host(url) }
        };
        if let Some(modules) = &self.modules {
            modules.host.enter(&place, &self.cancel);
        }
        let cx = ToolContext {
            cwd: self.cwd.clone(),
            project: self.place.project.clone(),
            home: self.place.home.clone(),
            extra: self.place.extra.clone(),
            env: Arc::new(env),
            withheld: Arc::clone(&self.withheld),
            prelude: String::new(),
            seen: Arc::new(seen),
            tasks: Arc::clone(&self.tasks),
            may_show: Arc::new(may_show),
            guarded: Arc::new(guarded),
            judge_address: Arc::new(judge_address),
            author: CallAuthor::Model,
            judged: None,
            cancel: self.cancel.clone(),
            call: None,
        };
        let mut session =
            Session::new(place, self.database.clone(), cx, Arc::clone(&self.rules), Arc::clone(&self.persist));
        session.env_file = std::mem::take(&mut self.env_file);
        session.watch = Some(FileWatch::default());
        session.config = ConfigWatch::new(self.config_sources.iter().cloned());
        session.modules.clone_from(&self.modules);
        session.checkpoints = self.checkpoints();
        Ok(session)
    }

    /// Where files are kept before they change; `None` if that is switched off.
    fn checkpoints(&self) -> Option<SessionCheckpoints> {
        let CheckpointSettings { enabled, ref problems, .. } = self.settings.checkpoints;
        problems.iter().for_each(|problem| self.notices.note(format_args!("ona: {problem}")));
        let off = self.host.get(environment::CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING);
        if !enabled || off.is_some_and(|value| matches!(value, "0" | "false")) {
            return None;
        }
        Some(SessionCheckpoints::new(self.keep_limits(), database_files(Path::new(&self.database))))
    }

    /// How much is kept of files that change.
    pub fn keep_limits(&self) -> KeepLimits {
        let CheckpointSettings { file_bytes, session_bytes, database_bytes, memory_bytes, .. } =
            self.settings.checkpoints;
        KeepLimits { file_bytes, session_bytes, database_bytes, memory_bytes }
    }

    /// What the tools of a session here are made of; the caller adds what only it has.
    pub fn tool_parts<'a>(&'a self, session: &'a Session) -> ToolParts<'a> {
        ToolParts {
            project_files: Some(Arc::clone(&self.project_files)),
            servers: Some((&self.mcp.servers, Box::new(|_| true))),
            web: Some((&self.web, None)),
            ..ToolParts::new(session, &self.store, &self.hooks)
        }
    }

    /// The path that calls take here.
    pub fn pipeline(&self, tools: ToolBox, operator: &Arc<dyn Operator>) -> Pipeline {
        Pipeline::new(&self.store, tools, &self.hooks, operator)
    }

    /// A session that entered planning is in plan mode until planning ends, also when
    /// another process continues it (DEC-115). Calls of other sessions here are not.
    fn plan_mode(&self, store: &Store, place: &SessionKey) -> Result<(), StoreError> {
        let reader = store.reader()?;
        let planning = reader.phase(&place.conversation)? == Some(Phase::Planning);
        let entered = reader.state(&place.conversation, &format!("{IN_PLAN_MODE}{}", place.session))?.is_some();
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        match planning && entered {
            true => rules.begin_planning(),
            false => rules.end_planning(),
        }
        Ok(())
    }

    /// Takes back what the next call here goes on from.
    pub fn keep(&mut self, session: Session) {
        self.env_file = session.env_file;
        self.cwd = session.cx.cwd;
    }
}

/// The database and what lies beside it, in both forms of its path.
fn database_files(database: &Path) -> Vec<PathBuf> {
    let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
    let beside = |path: &Path, end: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    };
    let forms = [database, &real];
    forms.iter().flat_map(|path| ["", "-wal", "-shm", "-journal", ".locks"].map(|end| beside(path, end))).collect()
}

/// The copy of the transcript is removed with the process, even if the hooks are still in use.
impl Drop for Runtime {
    fn drop(&mut self) {
        if let Some(projection) = &self.projection {
            projection.end();
        }
    }
}

/// The transcript in a file, if the settings ask for it (DEC-062).
fn projection(launch: &Launch, open: &OpenProject, settings: &Settings) -> Option<Arc<TranscriptFiles>> {
    if let Some(problem) = &settings.transcript_path.problem {
        launch.note(format_args!("ona: {problem}"));
    }
    if !settings.transcript_path.value {
        return None;
    }
    let notices = launch.notices.clone();
    let tell = move |why: String| notices.note(format_args!("ona: {why}"));
    let (scratch, version) = (launch.env.non_empty(environment::TMPDIR).unwrap_or("/tmp"), env!("CARGO_PKG_VERSION"));
    Some(Arc::new(TranscriptFiles::new(
        Arc::clone(&open.store),
        scratch,
        version,
        prices(settings, &launch.notices),
        tell,
    )))
}

fn transcript_path_of(projection: &Arc<TranscriptFiles>) -> TranscriptOf {
    let projection = Arc::clone(projection);
    Arc::new(move |base| projection.path(base))
}

/// How ExitPlanMode looks at a project when its implementation begins.
fn project_files_at(launch: &Launch, settings: &Settings) -> ProjectFilesAt {
    let (database, settings) = (launch.database.path.clone(), settings.sdlc.clone());
    Arc::new(move |root| Some(Project::new(root, &database, &settings).ok()?.snapshot().ok()?.files))
}

/// What tokens cost by these settings; what is wrong with them is said here.
pub fn prices(settings: &Settings, notices: &Notices) -> Prices {
    // What is wrong with `modelInfo` is said where a model is chosen.
    let info = settings.model_info.clone().unwrap_or_default();
    let (prices, complaints) = Prices::with(&info.prices_under(&settings.model_prices));
    complaints.iter().for_each(|complaint| notices.note(format_args!("ona: {complaint}")));
    prices
}

/// The MCP servers of this place; none is started. `named` has the variables that definitions
/// speak of, `children` what the processes of servers are started with.
fn mcp_servers(
    launch: &Launch,
    open: &OpenProject,
    settings: &Settings,
    place: &SessionDirs,
    named: &Environments,
    mut children: Environments,
) -> Result<McpServers, Failure> {
    let gathered = mcp::gather(launch, open, settings, &place.project, named)?;
    for env in [&mut children.operators, &mut children.projects] {
        env.set(environment::CLAUDE_PROJECT_DIR, place.project.as_os_str());
    }
    let roots = std::iter::once(&place.project).chain(&place.extra).cloned().collect();
    let logins = (!launch.options.bare).then(|| ServerLogins::from_env(&launch.env));
    let refused = launch.operator_only("MCP servers").err().map(|failure| failure.to_string());
    let additions = Additions { variables: named.clone(), policy: gathered.policy.clone(), refused };
    let around = ServerContext::new(children, place.start.clone(), roots)
        .with_logins(logins, open.redactor.clone())
        .with_additions(additions);
    Ok(McpServers::new(gathered, around, open, launch.notices.clone()))
}

/// For forms that have no stream.
fn failures_to_notices(notices: &Notices) -> OnFailure {
    let notices = notices.clone();
    Arc::new(move |failure: &HookFailure| {
        if !failure.logged {
            notices.note(format_args!("ona: {}", failure.text));
        }
    })
}

fn hook_engine(
    launch: &Launch,
    open: &OpenProject,
    list: HookList,
    (operators, host): (&Env, &Env),
    place: &SessionDirs,
    runner: impl FnOnce(HookEnvironment) -> Arc<dyn Runner>,
) -> HookEngine {
    let (timeouts, warnings) = Timeouts::from_env(&launch.env);
    warnings.iter().for_each(|warning| launch.note(format_args!("ona: {warning}")));
    let environment =
        HookEnvironment::new(operators.clone(), place.project.clone(), timeouts).with_project(host.clone());
    let runner = runner(environment.clone());
    let (redactor, verbose, notices) = (open.redactor.clone(), launch.options.verbose, launch.notices.clone());
    HookEngine::new(list, environment, runner, open.redactor.clone()).with_log_listener(Arc::new(
        move |entry: &LogEntry| {
            entry.warnings.iter().for_each(|line| notices.note(redactor.apply(line)));
            if verbose {
                notices.note(redactor.apply(&Value::Object(entry.record.clone()).to_string()));
            }
        },
    ))
}
