//! Loads modules one after another; a module that cannot be loaded does not stop the others.

use crate::discover::{BadModulePath, ModuleCandidate, ModuleSource};
use crate::engine::{Engine, EngineLimits, ModuleProgram};
use crate::graph::Graph;
use crate::host::ModuleHost;
use crate::js_runtime::{RuntimeChoice, find};
use crate::module::Module;
use crate::worker::WorkerEngine;
use ona_api::Env;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::OnceCell;

pub struct Loader {
    pub cwd: PathBuf,
    pub env: Env,
    pub wanted: RuntimeChoice,
    /// Where a worker's files may be written.
    pub scratch: PathBuf,
    pub limits: EngineLimits,
    pub host: Arc<dyn ModuleHost>,
    found: OnceCell<Result<Arc<dyn Engine>, String>>,
}

/// The result of loading.
#[derive(Default)]
pub struct LoadOutcome {
    pub modules: Vec<Arc<Module>>,
    pub errors: Vec<LoadError>,
    /// One line per file, for people and `ona hooks list`.
    pub listing: Vec<ListedModule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    pub path: String,
    pub error: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ListedModule {
    pub path: String,
    pub source: ModuleSource,
    /// The engine it runs on; `None` if it was not loaded.
    pub engine: Option<String>,
    /// What its imports need beyond the embedded engine.
    pub needs: Vec<String>,
    pub error: Option<String>,
    pub events: Vec<(String, usize)>,
    pub commands: Vec<String>,
    pub tools: Vec<String>,
    pub flags: Vec<String>,
    pub shortcuts: Vec<String>,
    pub renderers: Vec<String>,
}

impl ListedModule {
    pub fn to_json(&self) -> Value {
        let events: serde_json::Map<_, _> =
            self.events.iter().map(|(name, count)| (name.clone(), (*count).into())).collect();
        json!({
            "path": self.path, "dialect": "omp", "source": self.source.as_str(), "engine": self.engine, "needs": self.needs,
            "error": self.error, "handlers": events, "commands": self.commands, "tools": self.tools, "flags": self.flags,
            "shortcuts": self.shortcuts, "renderers": self.renderers,
        })
    }
}

impl Loader {
    pub fn new(cwd: PathBuf, env: Env, wanted: RuntimeChoice, scratch: PathBuf, host: Arc<dyn ModuleHost>) -> Self {
        Self { cwd, env, wanted, scratch, limits: EngineLimits::default(), host, found: OnceCell::new() }
    }

    pub async fn load(&self, candidates: Vec<ModuleCandidate>, refused: Vec<BadModulePath>) -> LoadOutcome {
        let mut loaded = LoadOutcome::default();
        for candidate in candidates {
            let path = candidate.path.to_string_lossy().into_owned();
            let mut listed = ListedModule {
                path: path.clone(),
                source: candidate.source,
                engine: None,
                needs: Vec::new(),
                error: None,
                events: Vec::new(),
                commands: Vec::new(),
                tools: Vec::new(),
                flags: Vec::new(),
                shortcuts: Vec::new(),
                renderers: Vec::new(),
            };
            match self.module(&candidate.path, &mut listed).await {
                Ok(module) => {
                    let registry = module.registry();
                    listed.engine = Some(module.engine().to_owned());
                    listed.events = registry.handlers.into_iter().collect();
                    listed.commands = registry.commands.into_iter().map(|one| one.name).collect();
                    listed.tools = registry.tools.into_iter().map(|one| one.name).collect();
                    listed.flags = registry.flags.into_iter().map(|one| one.name).collect();
                    listed.shortcuts = registry.shortcuts.into_iter().map(|one| one.key).collect();
                    listed.renderers = registry.renderers;
                    loaded.modules.push(Arc::new(module));
                }
                Err(error) => {
                    listed.error = Some(error.clone());
                    loaded.errors.push(LoadError { path, error });
                }
            }
            loaded.listing.push(listed);
        }
        loaded.errors.extend(refused.into_iter().map(|one| LoadError { path: one.path, error: one.why }));
        loaded
    }

    async fn module(&self, path: &Path, listed: &mut ListedModule) -> Result<Module, String> {
        let graph = Graph::read(path).map_err(|error| format!("Failed to load hook: {error}"))?;
        listed.needs = graph.beyond_embedded().into_iter().collect();
        let engine = self.engine(&listed.needs).await.map_err(|why| format!("Failed to load hook: {why}"))?;
        let program = ModuleProgram { graph, cwd: self.cwd.clone(), env: self.env.clone(), limits: self.limits };
        Module::load(program, engine, Arc::clone(&self.host)).await
    }

    /// Returns the engine for a module with these needs (DEC-170).
    async fn engine(&self, needs: &[String]) -> Result<Arc<dyn Engine>, String> {
        let lacking = || format!("it imports {}", needs.join(", "));
        match (&self.wanted, needs.is_empty()) {
            (RuntimeChoice::Embedded, true) => embedded().ok_or_else(|| "this build has no embedded engine".to_owned()),
            (RuntimeChoice::Embedded, false) => Err(format!("{}, which the embedded engine does not have", lacking())),
            (RuntimeChoice::ByNeed, true) => match embedded() {
                Some(engine) => Ok(engine),
                None => self.worker().await,
            },
            (RuntimeChoice::ByNeed, false) => self.worker().await.map_err(|why| format!("{}, and {why}", lacking())),
            (RuntimeChoice::Runtime(_), _) => self.worker().await,
        }
    }

    async fn worker(&self) -> Result<Arc<dyn Engine>, String> {
        let found = self.found.get_or_init(async || {
            let runtime = find(&self.wanted, &self.env).await?;
            Ok(Arc::new(WorkerEngine::new(runtime, self.scratch.clone())) as Arc<dyn Engine>)
        });
        found.await.clone()
    }
}

#[cfg(feature = "embedded")]
fn embedded() -> Option<Arc<dyn Engine>> {
    Some(Arc::new(crate::embedded::QuickJs))
}

#[cfg(not(feature = "embedded"))]
fn embedded() -> Option<Arc<dyn Engine>> {
    None
}
