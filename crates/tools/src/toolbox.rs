//! The tools a session has, by name.

use crate::ask_user_question::AskUserQuestionTool;
use crate::bash::BashTool;
use crate::brief::BriefTool;
use crate::edit::EditTool;
use crate::glob::GlobTool;
use crate::grep::GrepTool;
use crate::notebook_edit::NotebookEditTool;
use crate::read::ReadTool;
use crate::task_output::TaskOutputTool;
use crate::task_stop::TaskStopTool;
use crate::tool::{AnyTool, BoxFuture};
use crate::write::WriteTool;
use ona_api::ToolSpec;
use ona_api::tool::{BUILTINS, canonical};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct ToolBox {
    fixed: BTreeMap<Position, Arc<dyn AnyTool>>,
    live: Option<Live>,
    hidden: Option<Keep>,
}

/// Tools that come and go while a session lasts.
pub trait ToolSource: Send + Sync {
    /// Those there are now, by name.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// Returns a tool by its name, also one that cannot be listed at the moment.
    fn find(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.tools().into_iter().find(|tool| tool.spec().name == name)
    }

    /// Returns the names by which a person points at what the source has beside tools (`@name:uri`).
    fn resource_owners(&self) -> Vec<String> {
        Vec::new()
    }

    /// Takes note of what has changed outside.
    fn refresh(&self) -> BoxFuture<'_, ()>;
}

/// Whether a tool of this name is for this session.
type Keep = Arc<dyn Fn(&str) -> bool + Send + Sync>;

#[derive(Clone)]
struct Live {
    source: Arc<dyn ToolSource>,
    keep: Keep,
}

impl Live {
    fn tools(&self) -> impl Iterator<Item = (ToolSpec, Arc<dyn AnyTool>)> {
        let tools = self.source.tools().into_iter().map(|tool| (tool.spec(), tool));
        tools.filter(|(spec, _)| (self.keep)(&spec.name))
    }
}

/// Built-ins in the order of section 7, then the others by name (DEC-090), so
/// that requests are reproducible.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Position(usize, String);

impl Position {
    fn of(name: &str) -> Self {
        let rank = BUILTINS.iter().position(|builtin| *builtin == name).unwrap_or(BUILTINS.len());
        Self(rank, name.into())
    }
}

impl ToolBox {
    /// The tools of this crate.
    pub fn builtin() -> Self {
        let mut tools = Self::default();
        tools.add(Arc::new(ReadTool));
        tools.add(Arc::new(WriteTool));
        tools.add(Arc::new(EditTool));
        tools.add(Arc::new(NotebookEditTool));
        tools.add(Arc::new(BashTool));
        tools.add(Arc::new(GlobTool));
        tools.add(Arc::new(GrepTool));
        tools.add(Arc::new(AskUserQuestionTool));
        tools.add(Arc::new(TaskOutputTool));
        tools.add(Arc::new(BriefTool));
        tools.add(Arc::new(TaskStopTool));
        tools
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) {
        self.fixed.insert(Position::of(&tool.spec().name), tool);
    }

    /// Adds the tools of a source for which `keep` says yes, now and later. A tool that
    /// was added by itself comes before one of the same name.
    pub fn attach(&mut self, source: Arc<dyn ToolSource>, keep: impl Fn(&str) -> bool + Send + Sync + 'static) {
        self.live = Some(Live { source, keep: Arc::new(keep) });
    }

    /// Takes away the tools for which `keep` says no. Those of a source have their own.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.fixed.retain(|position, _| keep(&position.1));
    }

    /// Leaves tools out of what is offered, as long as `hides` says so. Their calls still find
    /// them, so that a call of a denied tool goes the path of every call (DEC-185).
    pub fn hide(&mut self, hides: impl Fn(&str) -> bool + Send + Sync + 'static) {
        self.hidden = Some(Arc::new(hides));
    }

    /// By name or alias.
    pub fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let fixed = self.fixed.get(&Position::of(canonical(name))).cloned();
        fixed.or_else(|| self.live.as_ref().filter(|live| (live.keep)(name))?.source.find(name))
    }

    /// Returns what a model is offered.
    pub fn specs(&self) -> Vec<ToolSpec> {
        let mut specs: BTreeMap<_, _> =
            self.fixed.iter().map(|(position, tool)| (position.clone(), tool.spec())).collect();
        for (spec, _) in self.live.iter().flat_map(Live::tools) {
            specs.entry(Position::of(&spec.name)).or_insert(spec);
        }
        let is_offered = |spec: &ToolSpec| self.hidden.as_ref().is_none_or(|hides| !hides(&spec.name));
        specs.into_values().filter(is_offered).collect()
    }

    /// Returns whether `specs` may be others the next time.
    pub fn is_live(&self) -> bool {
        self.live.is_some()
    }

    /// Returns the names of `@name:uri` that a prompt may have.
    pub fn resource_owners(&self) -> Vec<String> {
        self.live.as_ref().map(|live| live.source.resource_owners()).unwrap_or_default()
    }

    pub async fn refresh(&self) {
        if let Some(live) = &self.live {
            live.source.refresh().await;
        }
    }
}
