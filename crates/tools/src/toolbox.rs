//! The tools a session has, by name.

use crate::ask_user_question::AskUserQuestion;
use crate::bash::Bash;
use crate::edit::Edit;
use crate::glob::Glob;
use crate::grep::Grep;
use crate::notebook_edit::NotebookEdit;
use crate::read::Read;
use crate::task_output::TaskOutput;
use crate::task_stop::TaskStop;
use crate::tool::AnyTool;
use crate::write::Write;
use ona_api::ToolSpec;
use ona_api::tool::{BUILTINS, canonical};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Default)]
pub struct ToolBox(BTreeMap<Position, Arc<dyn AnyTool>>);

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
        tools.add(Arc::new(Read));
        tools.add(Arc::new(Write));
        tools.add(Arc::new(Edit));
        tools.add(Arc::new(NotebookEdit));
        tools.add(Arc::new(Bash));
        tools.add(Arc::new(Glob));
        tools.add(Arc::new(Grep));
        tools.add(Arc::new(AskUserQuestion));
        tools.add(Arc::new(TaskOutput));
        tools.add(Arc::new(TaskStop));
        tools
    }

    /// Adds a tool; one of the same name is replaced.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) {
        self.0.insert(Position::of(&tool.spec().name), tool);
    }

    /// Takes away the tools for which `keep` says no.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.0.retain(|position, _| keep(&position.1));
    }

    /// By name or alias.
    pub fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.0.get(&Position::of(canonical(name))).cloned()
    }

    pub fn specs(&self) -> Vec<ToolSpec> {
        self.0.values().map(|tool| tool.spec()).collect()
    }
}
