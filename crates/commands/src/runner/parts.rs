//! What a session is made of beside its rows, assembled the same way for every front.

use crate::screen::CommandScreen;
use ona_instructions::skills::Skills;
use ona_instructions::{Agents, DEFAULT_STYLE, OutputStyle, OutputStyles};
use ona_mcp::{MessageRelay, ServerDefinition};
use ona_modules::ModuleContext;
use ona_orchestration::{
    ElicitationPrompter, Elicitations, Events, ModuleUi, Operator, Session, TurnEvent, WaitingPrompts, Worktree,
};
use ona_process::TurnCancellation;
use ona_runtime::session_choice::Begin;
use ona_runtime::session_start::{ReadySession, SessionOverrides, SetupTrigger};
use ona_runtime::worktrees::{self, WorktreePlan};
use ona_runtime::{Extension, Failure, Launch, OpenProject, Runtime, agents, extensions, output_styles, skills};
use ona_store::SettingsLock;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Hears what becomes of the session. A front shows it; it may not block.
pub trait SessionObserver: Send + Sync {
    /// A session can be prompted. `source` is SessionStart's.
    fn ready(&self, parts: &SessionParts<'_>, session: &Session, source: &str, ready: &ReadySession);

    /// Another session takes the place of the one before.
    fn entered(&self, session: &Session);

    /// A sentence for the person.
    fn note(&self, sentence: &str);
}

/// What a front brings.
pub struct FrontParts {
    /// Who answers permission questions.
    pub operator: Arc<dyn Operator>,
    pub events: Events,
    pub observer: Arc<dyn SessionObserver>,
    /// Who answers questions of MCP servers.
    pub prompter: Option<Arc<dyn ElicitationPrompter>>,
    /// Carries messages to servers of a driving program.
    pub relay: Option<Arc<dyn MessageRelay>>,
    /// Where hook modules show dialogs.
    pub screen: Option<Arc<dyn ModuleUi>>,
    /// Where commands ask a person; none without one.
    pub person: Option<Arc<dyn CommandScreen>>,
    pub setup: Option<SetupTrigger>,
    /// Prompts that were sent while a turn runs.
    pub waiting: Option<Arc<dyn WaitingPrompts>>,
}

type StartsServer = dyn Fn(&ServerDefinition) -> bool + Send + Sync;

/// Everything a session is made of beside its rows.
pub struct SessionParts<'a> {
    pub launch: &'a Launch,
    pub open: &'a OpenProject,
    pub runtime: Runtime,
    pub cancellation: TurnCancellation,
    pub skills: Arc<Skills>,
    pub agents: Agents,
    pub output_styles: OutputStyles,
    /// The style in use.
    pub output_style: Option<OutputStyle>,
    pub elicitations: Arc<Elicitations>,
    pub overrides: SessionOverrides,
    pub(crate) operator: Arc<dyn Operator>,
    pub(crate) events: Events,
    pub(crate) observer: Arc<dyn SessionObserver>,
    pub(crate) person: Option<Arc<dyn CommandScreen>>,
    pub(crate) setup: Option<SetupTrigger>,
    pub(crate) waiting: Option<Arc<dyn WaitingPrompts>>,
    /// The worktree that the session enters when it opens, and the one it is in.
    pub(crate) plan: Option<WorktreePlan>,
    pub(crate) worktree: Option<Worktree>,
    /// Which servers are started with the session.
    pub(crate) starts: Box<StartsServer>,
    /// Whether a model has replied in this run.
    pub(crate) has_replied: Arc<AtomicBool>,
    _settings: SettingsLock,
}

impl<'a> SessionParts<'a> {
    /// Loads modules, skills and agents, announces guards that do not work, and starts the MCP servers
    /// that `starts` names.
    pub async fn assemble(
        launch: &'a Launch,
        open: &'a OpenProject,
        mut runtime: Runtime,
        cancellation: TurnCancellation,
        front: FrontParts,
        begin: &Begin,
        starts: impl Fn(&ServerDefinition) -> bool + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let settings = launch.keep_settings(open)?;
        runtime.load_modules(launch, open).await?;
        runtime.pin_scripts();
        runtime.announce_guards(launch, open)?;
        let skills = Arc::new(skills::load(launch, open));
        for (file, why) in &skills.left_out {
            launch.note(format_args!("ona: {}: {why}", file.display()));
        }
        if let (Some(screen), Some(modules)) = (front.screen, &runtime.modules) {
            modules.host.show_on(screen);
            modules.emitter.set_context(ModuleContext { has_ui: true, ..modules.emitter.context() });
        }
        let elicitations = Elicitations::new(Arc::clone(&runtime.hooks), Arc::clone(&open.store), front.prompter);
        let elicitations = Arc::new(elicitations);
        runtime.mcp.servers.around.set_elicit_handler(Arc::clone(&elicitations) as _);
        if let Some(relay) = front.relay {
            runtime.mcp.servers.around.set_relay(relay);
        }
        if let Some(problem) = &runtime.settings.idle_prompt.problem {
            launch.note(format_args!("ona: {problem}"));
        }
        let plan = worktrees::plan(launch, open, &runtime, begin)?;
        // Those of a worktree are started in it.
        if plan.is_none() {
            runtime.mcp.start(&starts);
        }
        let has_replied = Arc::new(AtomicBool::new(false));
        let (replied, shown) = (Arc::clone(&has_replied), front.events);
        let events: Events = Arc::new(move |event| {
            if matches!(event, TurnEvent::Assistant { .. }) {
                replied.store(true, Ordering::Relaxed);
            }
            shown(event);
        });
        let output_styles = output_styles::load(launch, open);
        Ok(Self {
            output_style: output_styles::chosen(launch, &runtime.settings, &output_styles),
            output_styles,
            launch,
            open,
            agents: agents::load(launch, open)?,
            runtime,
            cancellation,
            skills,
            elicitations,
            overrides: SessionOverrides::default(),
            operator: front.operator,
            events,
            observer: front.observer,
            person: front.person,
            setup: front.setup,
            waiting: front.waiting,
            plan,
            worktree: None,
            starts: Box::new(starts),
            has_replied,
            _settings: settings,
        })
    }

    /// The name of the output style in use.
    pub fn style_name(&self) -> &str {
        self.output_style.as_ref().map_or(DEFAULT_STYLE, |style| &style.name)
    }

    /// The worktree that the session works in.
    pub fn worktree_path(&self) -> Option<&std::path::Path> {
        self.worktree.as_ref().map(|worktree| worktree.path.as_path())
    }

    /// What menus list beside the built-in commands.
    pub fn extensions(&self) -> Vec<Extension> {
        extensions(&self.skills, &self.agents, &self.output_styles)
    }

    /// Ends what was started here. Nothing of it outlives the program.
    pub async fn close(&self) {
        self.runtime.tasks.stop_all().await;
        self.runtime.mcp.servers.close().await;
        ona_process::kill_all();
    }
}
