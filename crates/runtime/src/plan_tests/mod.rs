//! The behavioural tests of a plan, for fronts: whose tests, what is missing, having them written
//! and run.
//!
//! What a test is and how one runs is `ona-test-runner`'s; here it gets the hooks, rules and the
//! model of a runtime. Nothing is printed: watchers are told how it goes.

mod add;
mod generate;
mod public_api;
mod run;

pub use add::{AddedTest, add_test, names_a_criterion, with_traces};
pub use generate::{GenerationOptions, uncovered, wanted, write_tests};
pub use public_api::entry_points;
pub use run::{RunWatcher, chosen_cases, run_tests};

use crate::failure::Failure;
use crate::ids;
use crate::launch::{Launch, OpenProject, Purpose};

use ona_api::{ConversationId, environment};
use ona_settings::SdlcSettings;
use ona_test_runner::{PlanSelector, PlanTests, Project, load};
use std::path::{Path, PathBuf};

/// The conversation whose tests are meant, with its project.
pub struct Subject {
    pub id: ConversationId,
    pub project: Project,
}

impl Subject {
    /// The conversation of `--conversation`.
    pub fn new(launch: &Launch, open: &OpenProject) -> Result<Self, Failure> {
        let failed = |error| launch.store_failure(error);
        let reader = open.store.reader().map_err(failed)?;
        let Some(id) = ids::named_conversation(launch, reader)? else {
            return Err(Failure::usage("say whose tests: --conversation ID, or --last")
                .hint("ona plan list shows the conversations that have a plan"));
        };
        Self::of(launch, open, id)
    }

    /// A conversation by its id.
    pub fn of(launch: &Launch, open: &OpenProject, id: ConversationId) -> Result<Self, Failure> {
        let known = open.store.reader().and_then(|reader| reader.conversation(&id));
        let known = known.map_err(|error| launch.store_failure(error))?;
        let root = known.ok_or_else(|| Failure::usage(format_args!("conversation {id} does not exist")))?.project_dir;
        let settings = launch.effective(open, Purpose::Call)?;
        let project = project(launch, open, &id, Path::new(&root), &settings.sdlc)?;
        Ok(Self { id, project })
    }

    /// Everything known of its tests; a refusal if no plan exists that they could belong to.
    pub fn tests(&self, launch: &Launch, open: &OpenProject, which: PlanSelector) -> Result<PlanTests, Failure> {
        let tests = open.store.reader().and_then(|reader| load(reader, &self.id, &self.project, which));
        tests.map_err(|error| launch.store_failure(error))?.ok_or_else(|| {
            Failure::refused(format_args!("conversation {} has no approved plan that tests could trace", self.id))
                .hint("ona plan approve ID")
        })
    }
}

/// The project of a conversation, as this run sees it.
pub fn project(
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
