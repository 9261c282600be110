//! The conversation an `ona test` command is about, with its project and settings.

use crate::failure::Failure;
use crate::program::{Open, Program, Purpose};
use ona_api::{ConversationId, environment};
use ona_orchestration::ProjectFilesAt;
use ona_test_runner::{PlanSelector, PlanTests, Project, load};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Subject {
    pub id: ConversationId,
    pub project: Project,
}

impl Subject {
    pub fn new(program: &Program, open: &Open) -> Result<Self, Failure> {
        let Some(id) = &program.options.conversation else {
            return Err(Failure::usage("say whose tests: --conversation ID"));
        };
        let id = ConversationId::from(id.as_str());
        let known = open.store.reader().and_then(|reader| reader.conversation(&id));
        let known = known.map_err(|error| program.store_failure(error))?;
        let root = known.ok_or_else(|| Failure::usage(format_args!("there is no conversation {id}")))?.project_dir;
        let settings = program.effective(open, Purpose::Call)?;
        let project = project(program, open, &id, Path::new(&root), &settings)?;
        Ok(Self { id, project })
    }

    /// Everything known of its tests; a refusal if there is no plan they could belong to.
    pub fn tests(&self, program: &Program, open: &Open, which: PlanSelector) -> Result<PlanTests, Failure> {
        let tests = open.store.reader().and_then(|reader| load(reader, &self.id, &self.project, which));
        tests.map_err(|error| program.store_failure(error))?.ok_or_else(|| {
            Failure::refused(format_args!("conversation {} has no approved plan that tests could trace", self.id))
                .hint("ona plan approve ID")
        })
    }
}

/// The project of a conversation, as this run sees it.
pub fn project(
    program: &Program,
    open: &Open,
    id: &ConversationId,
    root: &Path,
    settings: &Value,
) -> Result<Project, Failure> {
    let project = Project::new(root, &program.database.path, settings).map_err(Failure::usage)?;
    let project = open.store.reader().and_then(|reader| project.with_reports(reader, id));
    project.map_err(|error| program.store_failure(error))
}

/// How ExitPlanMode looks at a project when its implementation begins.
pub fn look_at(program: &Program, settings: &Value) -> ProjectFilesAt {
    let (database, settings) = (program.database.path.clone(), settings.clone());
    Arc::new(move |root| Some(Project::new(root, &database, &settings).ok()?.snapshot().ok()?.files))
}

/// Where tests get their rooms.
pub fn tmp(program: &Program) -> PathBuf {
    program.env.non_empty(environment::TMPDIR).unwrap_or("/tmp").into()
}
