//! Where hooks come from, as one list in the order they run (DEC-060).
//!
//! A start, `ona hooks list`, `ona hooks lint` and `ona doctor` all walk [`HOOK_SOURCES`], or
//! what loading it returned ([`LoadedSource`]). A new dialect is a file in `crates/dialects`,
//! which reads a configuration and says what an output means, and one line here.
//!
//! Hooks that a driving program registers (`initialize`) come behind all of these; they
//! belong to the control protocol.

mod config_file;
mod front_matter;
mod massgen;
pub(crate) mod modules;
pub(crate) mod pi;
pub(crate) mod pi_session;
mod settings;

use crate::failure::Failure;
use crate::guards::Finding;
use crate::launch::{Launch, OpenProject};
use crate::runtime::Runtime;
use modules::ModuleFiles;
use ona_api::{Env, Group};
use ona_dialects::{HandlerFactory, LoadedHooks};
use ona_hookplane::{Hook, HookList};
use ona_modules::ListedModule;
use ona_permissions::SessionDirs;
use ona_settings::Settings;
use pi_session::PiSession;
use tokio_util::sync::CancellationToken;

pub use config_file::HookConfig;
pub(crate) use front_matter::hook_builder;

/// One place that hooks come from.
pub struct HookSource {
    pub name: &'static str,
    loading: Loading,
}

/// When the hooks of a source are known.
enum Loading {
    /// When a run is assembled. Programs that register hooks themselves are only found then;
    /// `Runtime::load_modules` runs them.
    AtStart(fn(&SourceContext<'_>) -> Result<LoadedSource, Failure>),
    /// While a session runs, in the order they occur. Returns those that could be added.
    InSession(fn(&Launch, &OpenProject, &Runtime) -> Result<Vec<Hook>, Failure>),
}

/// All sources, in the order their hooks run.
pub const HOOK_SOURCES: &[HookSource] = &[
    HookSource { name: "settings", loading: Loading::AtStart(settings::settings) },
    HookSource { name: "plugins", loading: Loading::AtStart(settings::plugins) },
    HookSource { name: "pi", loading: Loading::AtStart(pi::load) },
    HookSource { name: "massgen", loading: Loading::AtStart(massgen::load) },
    HookSource { name: "modules", loading: Loading::AtStart(modules::find) },
    HookSource { name: "skills and agents", loading: Loading::InSession(front_matter::on_demand) },
];

/// What the sources are loaded with.
pub(crate) struct SourceContext<'a> {
    pub launch: &'a Launch,
    pub open: &'a OpenProject,
    /// The settings of this session, without hooks that do not count in it.
    pub settings: &'a Settings,
    pub dirs: &'a SessionDirs,
    /// The environment of the operator's own hooks.
    pub operators: &'a Env,
    /// Makes the handlers of hooks that are not a process.
    pub handlers: HandlerFactory<'a>,
    pub pi: &'a PiSession,
    pub cancel: &'a CancellationToken,
}

/// What loading one source returned.
#[derive(Default)]
pub struct LoadedSource {
    pub name: &'static str,
    pub loaded: LoadedHooks,
    /// What is wrong with the source itself.
    pub findings: Vec<Finding>,
    /// The same for the record.
    pub(crate) rows: Group,
    /// Modules that have not been run yet.
    pub(crate) pending: Option<ModuleFiles>,
    /// Modules that were run, whether they loaded or not.
    pub modules: Vec<ListedModule>,
}

impl From<LoadedHooks> for LoadedSource {
    fn from(loaded: LoadedHooks) -> Self {
        Self { loaded, ..Self::default() }
    }
}

/// Loads every source that is known at the start.
pub(crate) fn load(context: &SourceContext<'_>) -> Result<Vec<LoadedSource>, Failure> {
    let mut all = Vec::new();
    for source in HOOK_SOURCES {
        if let Loading::AtStart(load) = source.loading {
            all.push(LoadedSource { name: source.name, ..load(context)? });
        }
    }
    Ok(all)
}

/// Returns the hooks that a session could add, which `ona hooks list` shows behind the others.
pub(crate) fn on_demand(launch: &Launch, open: &OpenProject, runtime: &Runtime) -> Result<Vec<Hook>, Failure> {
    let mut hooks = Vec::new();
    for source in HOOK_SOURCES {
        if let Loading::InSession(on_demand) = source.loading {
            hooks.extend(on_demand(launch, open, runtime)?);
        }
    }
    Ok(hooks)
}

/// Returns the hooks of these sources in one list, numbered in the order they run.
pub(crate) fn hook_list(sources: &[LoadedSource]) -> HookList {
    HookList::new(sources.iter().flat_map(|source| source.loaded.hooks.iter().cloned()))
}
