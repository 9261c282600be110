//! The conversation an `ona test` command is about, with its project and settings.

use ona_api::{ConversationId, environment};
use ona_runtime::{Failure, Launch, OpenProject, Purpose};
use ona_settings::SdlcSettings;
use ona_test_runner::{PlanSelector, PlanTests, Project, load};
use std::path::{Path, PathBuf};

pub(crate) struct Subject {
    pub id: ConversationId,
    pub project: Project,
}

impl Subject {
    pub(crate) fn new(launch: &Launch, open: &OpenProject) -> Result<Self, Failure> {
        let Some(id) = &launch.options.conversation else {
            return Err(Failure::usage("say whose tests: --conversation ID")
                .hint("ona plan list shows the conversations that have a plan"));
        };
        let id = ConversationId::from(id.as_str());
        let known = open.store.reader().and_then(|reader| reader.conversation(&id));
        let known = known.map_err(|error| launch.store_failure(error))?;
        let root = known.ok_or_else(|| Failure::usage(format_args!("conversation {id} does not exist")))?.project_dir;
        let settings = launch.effective(open, Purpose::Call)?;
        let project = project(launch, open, &id, Path::new(&root), &settings.sdlc)?;
        Ok(Self { id, project })
    }

    /// Everything known of its tests; a refusal if no plan exists that they could belong to.
    pub(crate) fn tests(&self, launch: &Launch, open: &OpenProject, which: PlanSelector) -> Result<PlanTests, Failure> {
        let tests = open.store.reader().and_then(|reader| load(reader, &self.id, &self.project, which));
        tests.map_err(|error| launch.store_failure(error))?.ok_or_else(|| {
            Failure::refused(format_args!("conversation {} has no approved plan that tests could trace", self.id))
                .hint("ona plan approve ID")
        })
    }
}

/// The project of a conversation, as this run sees it.
pub(crate) fn project(
    launch: &Launch,
    open: &OpenProject,
    id: &ConversationId,
    root: &Path,
    settings: &SdlcSettings,
) -> Result<Project, Failure> {
    let project = Project::new(root, &launch.database.path, settings).map_err(Failure::usage)?;
    let project = open.store.reader().and_then(|reader| project.with_reports(reader, id));
    project.map_err(|error| launch.store_failure(error))
}

/// Where tests get their rooms.
pub(crate) fn tmp(launch: &Launch) -> PathBuf {
    launch.env.non_empty(environment::TMPDIR).unwrap_or("/tmp").into()
}
