//! Having a model write tests of a plan (DEC-123).

use super::{Subject, tmp};
use crate::failure::{Failure, FailureKind};
use crate::launch::{Launch, OpenProject, Purpose, nowhere};
use crate::model_choice;
use crate::runtime::{MAX_TOKENS, Runtime};
use ona_api::Row;
use ona_api::testing::TestCase;
use ona_orchestration::{Model, Operator, Profile, tool_box};
use ona_store::SCHEMA;
use ona_test_runner::{
    DeclarationContext, GenerationError, GenerationRequest, GenerationResult, GenerationWatcher, PlanTests,
    TestGenerator, Withheld, gather,
};
use ona_tools::ToolBox;
use ona_workflow::testgen::generate::{TouchedSource, contract};
use ona_workflow::testgen::touched::{TouchedFiles, touched};
use std::io::Read;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Bytes of a touched file that are looked at; what is longer is data, not source.
const SOURCE: u64 = 8 << 20;

/// What is asked for, and who hears of it.
pub struct GenerationOptions {
    /// Ids of the criteria to ask for.
    pub wanted: Vec<String>,
    /// Accepted tests of these criteria are retired.
    pub replace: bool,
    pub operator: Arc<dyn Operator>,
    pub watch: GenerationWatcher,
    pub cancel: CancellationToken,
}

/// Ids of the criteria to ask for.
pub fn wanted(tests: &PlanTests, all: bool) -> Result<Vec<String>, Failure> {
    if tests.record.criteria.is_empty() {
        return Err(Failure::refused(format_args!(
            "plan {} has no success criteria that tests could trace",
            tests.plan.id
        ))
        .hint("give it a section \"Success criteria\" in a new planning phase"));
    }
    match all {
        true => Ok(tests.record.criteria.iter().map(|criterion| criterion.id.clone()).collect()),
        false => Ok(uncovered(tests)),
    }
}

/// Ids of the criteria without an accepted test.
pub fn uncovered(tests: &PlanTests) -> Vec<String> {
    let accepted: Vec<_> = tests.record.accepted().filter_map(|case| case.case.criterion.as_deref()).collect();
    let ids = tests.record.criteria.iter().map(|criterion| &criterion.id);
    ids.filter(|id| !accepted.contains(&id.as_str())).cloned().collect()
}

/// Everything up to the committed rows.
pub async fn write_tests(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    options: GenerationOptions,
) -> Result<GenerationResult, Failure> {
    let cancel = &options.cancel;
    let mut runtime = Runtime::new(launch, open, &subject.project.root, Purpose::Call, cancel)?;
    runtime.announce_guards(launch, open)?;
    let wanted_model = launch.options.model.as_deref();
    let chosen = model_choice::model(launch, open, wanted_model, &runtime.settings, &runtime.operators)?;
    if let Some(config) = &chosen.fresh {
        runtime.add_model(launch, open, config)?;
    }
    let model = chosen.choice.and_then(|choice| Model::new(choice, chosen.setup));
    let model = match model {
        Ok(model) => model,
        Err(failure) => {
            runtime.take_back_model(launch, open)?;
            return Err(Failure::refused(format_args!("no tests were written: {failure}")));
        }
    };
    let request = request(launch, open, subject, tests, &mut runtime, &options).await?;
    let generator = TestGenerator {
        store: Arc::clone(&open.store),
        operator: options.operator,
        redactor: open.redactor.clone(),
        project: subject.project.root.clone(),
        max_tokens: model.output_limit(MAX_TOKENS),
        model: Arc::new(model),
        cancel: options.cancel,
        watch: options.watch,
    };
    let store = Arc::clone(&open.store);
    let written = ona_test_runner::generate(&generator, &request, &mut |place| runtime.session(&store, place)).await;
    if matches!(written, Err(GenerationError::Model(_))) {
        runtime.take_back_model(launch, open)?;
    }
    written.map_err(|error| match error {
        GenerationError::Store(error) => launch.store_failure(error),
        GenerationError::Interrupted => Failure::new(FailureKind::Interrupted, "interrupted"),
        GenerationError::Isolation { .. } => Failure::refused(open.redactor.apply(&error.to_string()))
            .hint("take it out of sdlc.publicApi, or have the plan say that line"),
        GenerationError::Model(_) => Failure::refused(open.redactor.apply(&error.to_string())),
    })
}

async fn request(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    runtime: &mut Runtime,
    options: &GenerationOptions,
) -> Result<GenerationRequest, Failure> {
    let declared = runtime.settings.sdlc.public_api.clone().map_err(Failure::usage)?;
    let (touched, sources) = implementation(launch, open, subject)?;
    let program_dir = launch.own_dir();
    let ground = DeclarationContext {
        root: &subject.project.root,
        touched: &touched,
        host: &runtime.host,
        tmp: &tmp(launch),
        live_database: &launch.database.path,
        program_dir: program_dir.as_deref(),
        cancel: &options.cancel,
    };
    let public = gather(&declared, &ground).await.map_err(|withheld| {
        let what = match withheld {
            Withheld::Touched(_) | Withheld::History(_) => "sdlc.publicApi names what a test generator must not see",
            _ => "a text of sdlc.publicApi cannot be shown to the test generator",
        };
        Failure::refused(format_args!("{what}; {withheld}"))
    })?;
    let mut along = runtime.take_findings();
    if tests.criteria_missing {
        along.push(Row::Criteria { plan: tests.plan.id, criteria: tests.record.criteria.clone() });
    }
    let cases = tests.record.accepted().map(|case| &case.case);
    let generated = |case: &&TestCase| options.replace && case.generator_session.is_some();
    Ok(GenerationRequest {
        conversation: subject.id.clone(),
        plan: tests.plan.clone(),
        criteria: tests.record.criteria.clone(),
        wanted: options.wanted.clone(),
        contract: contract(&tools(launch, open, runtime)?.specs(), SCHEMA),
        entry_points: declared.entry_points,
        public,
        touched: touched.paths(),
        sources,
        accepted: tests.record.accepted().map(|case| case.case.id.clone()).collect(),
        replaced: cases.filter(generated).cloned().collect(),
        along,
    })
}

/// The tools whose contract tests may rely on.
fn tools(launch: &Launch, open: &OpenProject, runtime: &mut Runtime) -> Result<ToolBox, Failure> {
    let session = runtime.session(&open.store, nowhere()).map_err(|error| launch.store_failure(error))?;
    let tools = tool_box(Profile::TestContract, runtime.tool_parts(&session));
    runtime.keep(session);
    Ok(tools)
}

/// What the implementation touched, with the text of it. If nobody looked at the project
/// when it began, everything there may be part of it.
fn implementation(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
) -> Result<(TouchedFiles, Vec<TouchedSource>), Failure> {
    let rows = || {
        let reader = open.store.reader()?;
        Ok((reader.manifest(&subject.id)?, reader.written_paths(&subject.id)?))
    };
    let (before, written) = rows().map_err(|error| launch.store_failure(error))?;
    let root = &subject.project.root;
    let now = subject.project.snapshot().map_err(Failure::refused)?.files;
    let touched = touched(root, before.as_deref(), &now, &written);
    let mut paths = touched.paths();
    if before.is_none() {
        paths.extend(now.into_iter().map(|file| file.path));
        paths.sort();
        paths.dedup();
    }
    let read = |path: String| {
        let mut bytes = Vec::new();
        // What is gone cannot be shown.
        let file = ona_files::open_regular(&root.join(&path)).ok()?;
        file.take(SOURCE).read_to_end(&mut bytes).ok()?;
        Some(TouchedSource { path, text: String::from_utf8_lossy(&bytes).into_owned() })
    };
    Ok((touched, paths.into_iter().filter_map(read).collect()))
}
