//! Hook modules of oh-my-pi: which files count here, and the result of loading them.
//!
//! Modules are programs. `find` runs none of them, so that a runtime exists, and guards their
//! files, before the first one runs.

use super::{LoadedSource, SourceContext};
use crate::failure::Failure;
use crate::guards::Finding;
use crate::launch::{Launch, OpenProject};
use ona_api::{Env, Group, LoggedEvent, environment};
use ona_dialects::{LoadedHooks, omp};
use ona_hookplane::Hook;
use ona_modules::rules::{self, Emitter};
use ona_modules::{
    BadModulePath, ListedModule, LoadOutcome, Loader, Module, ModuleCandidate, ModuleContext, RuntimeChoice,
    SearchPaths, SystemCalls, candidates,
};
use ona_orchestration::{ModuleLog, Modules, SessionHost};
use ona_trust::project_root;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The module files of one directory, before any of them is run.
pub(crate) struct ModuleFiles {
    candidates: Vec<ModuleCandidate>,
    refused: Vec<BadModulePath>,
    /// Flags of modules, as they were given.
    flags: BTreeMap<String, Value>,
}

/// Folders of the project count only where it is trusted; nothing counts where hooks are off.
pub(super) fn find(context: &SourceContext<'_>) -> Result<LoadedSource, Failure> {
    let (options, env, settings) = (&context.launch.options, &context.launch.env, &context.settings.hooks);
    let off = settings.all_disabled || settings.managed_only;
    if off || env.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1") {
        return Ok(LoadedSource::default());
    }
    let cwd = &context.dirs.start;
    let paths = SearchPaths {
        cwd: cwd.clone(),
        home: env.home(),
        agent_dir: env.non_empty(environment::PI_CODING_AGENT_DIR).map(|dir| cwd.join(dir)),
        claude: !options.no_claude_settings && env.get(environment::ONA_CLAUDE_SETTINGS) != Some("0"),
        project: context.launch.trusts(context.open, &project_root(cwd)),
        nothing: options.bare,
    };
    let listed = settings.modules.iter().map(String::as_str);
    let flags = options.extension.iter().chain(&options.hook).map(String::as_str);
    let configured: Vec<_> = flags.chain(listed).map(str::to_owned).collect();
    let (candidates, refused) = candidates(&paths, &configured);
    let mut files = paths.folders();
    files.extend(candidates.iter().map(|one| one.path.clone()));
    let pending = ModuleFiles { candidates, refused, flags: flags_given(&options.extension_flag) };
    let loaded = LoadedHooks { files, ..LoadedHooks::default() };
    Ok(LoadedSource { loaded, pending: Some(pending), ..LoadedSource::default() })
}

impl ModuleFiles {
    /// Returns whether there is a module to run.
    pub(crate) fn any(&self) -> bool {
        !self.candidates.is_empty()
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
        let refused = host.refused().into_iter().map(|(module, why)| (module.display().to_string(), why));
        let errors: Vec<_> = errors.into_iter().map(|one| (one.path, one.error)).chain(refused).collect();
        check_flags(&self.flags, &modules)?;
        let context = ModuleContext { has_ui: false, cwd: cwd.to_string_lossy().into_owned(), model: None };
        let emitter = Arc::new(Emitter::new(modules, context));
        let mut rows = Group::default();
        for (path, why) in &errors {
            rows.log(LoggedEvent::DialectLoadError { dialect: "omp", path: path.clone(), error: why.clone() });
        }
        let mut findings: Vec<_> = errors.iter().map(|(path, why)| not_loaded(path, why)).collect();
        findings.extend(listing.iter().flat_map(unknown_events));
        let hooks = omp::hooks(&emitter);
        Ok(LoadedModules { hooks, modules: Some(Arc::new(Modules::new(emitter, host))), rows, findings, listing })
    }
}

/// The modules of one directory, after they ran.
#[derive(Default)]
pub(crate) struct LoadedModules {
    pub hooks: Vec<Hook>,
    pub modules: Option<Arc<Modules>>,
    /// Load errors, for the record.
    pub rows: Group,
    /// Load errors, and events that do not exist.
    pub findings: Vec<Finding>,
    pub listing: Vec<ListedModule>,
}

fn not_loaded(path: &str, why: &str) -> Finding {
    Finding { place: path.to_owned(), ..Finding::new("not-loaded", format!("hook module {path}: {why}")) }
}

/// Events that a module listens to and that do not exist.
fn unknown_events(module: &ListedModule) -> impl Iterator<Item = Finding> + '_ {
    let unknown = module.events.iter().map(|(name, _)| name).filter(|name| !rules::is_event(name));
    unknown.map(|event| {
        let path = &module.path;
        let meant = rules::nearest_event(event);
        let hint = meant.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
        let message = format!("hook module {path} listens to {event:?}, which is never fired{hint}");
        Finding { place: path.clone(), ..Finding::new("unknown-event", message) }
    })
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

/// What modules print is shown on request.
fn log(launch: &Launch, open: &OpenProject) -> ModuleLog {
    let (verbose, redactor, notices) = (launch.options.verbose, open.redactor.clone(), launch.notices.clone());
    Arc::new(move |module, level, text| {
        if verbose {
            notices.note(redactor.apply(&format!("{level} {}: {text}", module.display())));
        }
    })
}
