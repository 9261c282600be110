//! Hook modules of oh-my-pi: which files count here, and what loading them came to.

use crate::failure::Failure;
use crate::launch::{Launch, OpenProject};
use ona_api::{Env, Group, LoggedEvent, environment};
use ona_modules::rules::Emitter;
use ona_modules::{
    BadModulePath, ListedModule, LoadOutcome, Loader, Module, ModuleCandidate, ModuleContext, RuntimeChoice,
    SearchPaths, SystemCalls, candidates,
};
use ona_orchestration::{ModuleLog, Modules, SessionHost};
use ona_settings::HookSettings;
use ona_trust::project_root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The module files of one directory, before any of them is run.
#[derive(Default)]
pub(crate) struct Files {
    candidates: Vec<ModuleCandidate>,
    refused: Vec<BadModulePath>,
    /// What the agent must not change: the files, and the folders they are found in.
    pub guarded: Vec<PathBuf>,
    /// Flags of modules, as they were given.
    flags: BTreeMap<String, Value>,
}

impl Files {
    /// Whether there is a module to load.
    pub(crate) fn any(&self) -> bool {
        !self.candidates.is_empty()
    }

    /// Folders of the project count only where it is trusted; nothing counts where hooks are off.
    pub(crate) fn find(launch: &Launch, open: &OpenProject, settings: &HookSettings, cwd: &Path) -> Self {
        let (options, env) = (&launch.options, &launch.env);
        let off = settings.all_disabled || settings.managed_only;
        if off || env.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1") {
            return Self::default();
        }
        let places = SearchPaths {
            cwd: cwd.to_owned(),
            home: env.home(),
            agent_dir: env.non_empty(environment::PI_CODING_AGENT_DIR).map(|dir| cwd.join(dir)),
            claude: !options.no_claude_settings && env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0"),
            project: launch.trusts(open, &project_root(cwd)),
            nothing: options.bare,
        };
        let listed = settings.modules.iter().map(String::as_str);
        let flags = options.extension.iter().chain(&options.hook).map(String::as_str);
        let configured: Vec<_> = flags.chain(listed).map(str::to_owned).collect();
        let (candidates, refused) = candidates(&places, &configured);
        let mut guarded = places.folders();
        guarded.extend(candidates.iter().map(|one| one.path.clone()));
        Self { candidates, refused, guarded, flags: flags_given(&options.extension_flag) }
    }

    /// Runs every module's factory, one after another.
    pub(crate) async fn load(
        self,
        launch: &Launch,
        open: &OpenProject,
        env: &Env,
        cwd: &Path,
    ) -> Result<LoadedModules, Failure> {
        if self.candidates.is_empty() && self.refused.is_empty() && self.flags.is_empty() {
            return Ok(LoadedModules::default());
        }
        let system = SystemCalls { env: env.clone(), cwd: cwd.to_owned() };
        let host = Arc::new(
            SessionHost::new(system, Arc::clone(&open.store), log(launch, open)).with_flags(self.flags.clone()),
        );
        let scratch = launch.env.non_empty(environment::TMPDIR).unwrap_or("/tmp");
        let wanted = RuntimeChoice::parse(launch.env.get(environment::ONA_JS_RUNTIME));
        let loader = Loader::new(cwd.to_owned(), env.clone(), wanted, scratch.into(), Arc::clone(&host) as _);
        let LoadOutcome { modules, errors, listing } = loader.load(self.candidates, self.refused).await;
        let mut rows = Group::default();
        let refused = host.refused().into_iter().map(|(module, why)| (module.display().to_string(), why));
        let errors: Vec<_> = errors.into_iter().map(|one| (one.path, one.error)).chain(refused).collect();
        for (path, why) in &errors {
            rows.log(LoggedEvent::DialectLoadError { dialect: "omp", path: path.clone(), error: why.clone() });
        }
        check_flags(&self.flags, &modules)?;
        let moment = ModuleContext { has_ui: false, cwd: cwd.to_string_lossy().into_owned(), model: None };
        let emitter = Arc::new(Emitter::new(modules, moment));
        Ok(LoadedModules { modules: Some(Arc::new(Modules::new(emitter, host))), rows, errors, listing })
    }
}

#[derive(Default)]
pub(crate) struct LoadedModules {
    pub modules: Option<Arc<Modules>>,
    /// Load errors, for the record.
    pub rows: Group,
    /// The same for people: which module, and why.
    pub errors: Vec<(String, String)>,
    pub listing: Vec<ListedModule>,
}

/// `--extension-flag plan --extension-flag preset=quick`
fn flags_given(given: &[String]) -> BTreeMap<String, Value> {
    let value = |text: &String| match text.trim_start_matches("--").split_once('=') {
        Some((name, value)) => (name.to_owned(), value.into()),
        None => (text.trim_start_matches("--").to_owned(), true.into()),
    };
    given.iter().map(value).collect()
}

/// A flag no module knows would silently do nothing.
fn check_flags(given: &BTreeMap<String, Value>, modules: &[Arc<Module>]) -> Result<(), Failure> {
    let known: Vec<_> = modules.iter().flat_map(|module| module.registry().flags).collect();
    for (name, value) in given {
        let Some(flag) = known.iter().find(|flag| flag.name == *name) else {
            let mut names: Vec<_> = known.iter().map(|flag| flag.name.as_str()).collect();
            names.sort_unstable();
            let names = if names.is_empty() { "no flags".to_owned() } else { names.join(", ") };
            return Err(Failure::usage(format_args!("no hook module has the flag {name}; they have {names}")));
        };
        let is_switch = flag.kind.as_deref() == Some("boolean");
        match value {
            Value::Bool(_) if !is_switch => {
                return Err(Failure::usage(format_args!("the flag {name} needs a value: {name}=VALUE")));
            }
            Value::String(text) if is_switch && !matches!(text.as_str(), "true" | "false") => {
                return Err(Failure::usage(format_args!("the flag {name} is true or false, not {text}")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// What modules print is for whoever asks to see it.
fn log(launch: &Launch, open: &OpenProject) -> ModuleLog {
    let (verbose, redactor, notices) = (launch.options.verbose, open.redactor.clone(), launch.notices.clone());
    Arc::new(move |module, level, text| {
        if verbose {
            notices.note(redactor.apply(&format!("{level} {}: {text}", module.display())));
        }
    })
}
