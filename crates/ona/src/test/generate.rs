//! `ona test generate`: asks a model for tests of the approved plan (DEC-123). Also what
//! entering the test phase does by itself (DEC-110).

use super::subject::{Subject, tmp};
use crate::interrupt;
use crate::operator::EvalOperator;
use crate::output;
use ona_api::testing::TestCase;
use ona_api::{Phase, Row};
use ona_orchestration::{Model, Profile, tool_box};
use ona_runtime::{Failure, FailureKind, Launch, MAX_TOKENS, OpenProject, Purpose, Runtime, block_on, model_choice};
use ona_store::SCHEMA;
use ona_test_runner::{
    DeclarationContext, GenerationError, GenerationEvent, GenerationRequest, GenerationResult, GenerationWatcher,
    PlanSelector, PlanTests, TestGenerator, Withheld, gather, load,
};
use ona_tools::ToolBox;
use ona_workflow::testgen::generate::{TouchedSource, contract};
use ona_workflow::testgen::touched::{TouchedFiles, touched};
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, clap::Args)]
pub(crate) struct Generate {
    /// Write new tests for every criterion; generated tests they replace are retired
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Bytes of a touched file that are looked at; what is longer is data, not source.
const SOURCE: u64 = 8 << 20;

pub(super) fn run(launch: &Launch, generate: &Generate) -> Result<u8, Failure> {
    launch.operator_only("tests")?;
    let open = launch.open()?;
    let subject = Subject::new(launch, &open)?;
    let phase = open.store.reader().and_then(|reader| reader.phase(&subject.id));
    let phase = phase.map_err(|error| launch.store_failure(error))?.unwrap_or(Phase::Idle);
    if !matches!(phase, Phase::Implement | Phase::Test) {
        return Err(Failure::refused(format_args!("the phase is {phase}; tests are generated in phase test"))
            .hint(format!("ona --transition test --conversation {}", subject.id)));
    }
    let tests = subject.tests(launch, &open, PlanSelector::Approved)?;
    let wanted = wanted(&tests, generate.all)?;
    let written = if wanted.is_empty() {
        output::note("Every success criterion has an accepted test; --all asks for new ones.");
        GenerationResult::default()
    } else {
        write(launch, &open, &subject, &tests, wanted, generate.all)?
    };
    let tests = subject.tests(launch, &open, PlanSelector::Approved)?;
    let uncovered = uncovered(&tests);
    if generate.json {
        output::json(&described(&subject, &tests, &written, &uncovered));
    } else {
        for case in written.accepted.iter().chain(&written.rejected) {
            let criterion = case.criterion.as_deref().unwrap_or("-");
            let line = format!("{:<8}  {}  {criterion}  {}", case.status.as_str(), case.id, case.title);
            output::line(ona_permissions::printable(&line));
        }
    }
    if uncovered.is_empty() {
        return Ok(0);
    }
    output::note(format_args!("ona: no accepted test for {}", uncovered.join(", ")));
    Ok(1)
}

/// Has tests written for the criteria that have none, if there are any and a model can be
/// asked: what entering the test phase begins with (DEC-110).
pub(super) fn missing(launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
    let subject = Subject::new(launch, open)?;
    let loaded =
        open.store.reader().and_then(|reader| load(reader, &subject.id, &subject.project, PlanSelector::Approved));
    let Some(tests) = loaded.map_err(|error| launch.store_failure(error))? else { return Ok(()) };
    let wanted = uncovered(&tests);
    if wanted.is_empty() {
        return Ok(());
    }
    let settings = launch.effective(open, Purpose::Call)?;
    if !model_choice::can_be_asked(launch, &settings) {
        return Err(Failure::refused("no model can be asked for tests now").hint(format!(
            "ona test generate --conversation {id}, or ona test add FILE --conversation {id}",
            id = subject.id
        )));
    }
    write(launch, open, &subject, &tests, wanted, false).map(drop)
}

/// Ids of the criteria to ask for.
fn wanted(tests: &PlanTests, all: bool) -> Result<Vec<String>, Failure> {
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

fn uncovered(tests: &PlanTests) -> Vec<String> {
    let accepted: Vec<_> = tests.record.accepted().filter_map(|case| case.case.criterion.as_deref()).collect();
    let ids = tests.record.criteria.iter().map(|criterion| &criterion.id);
    ids.filter(|id| !accepted.contains(&id.as_str())).cloned().collect()
}

/// Everything up to the committed rows.
pub(super) fn write(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    wanted: Vec<String>,
    replace: bool,
) -> Result<GenerationResult, Failure> {
    block_on(async {
        let cancel = CancellationToken::new();
        interrupt::on_signal(&cancel);
        let mut runtime = Runtime::new(launch, open, &subject.project.root, Purpose::Call, &cancel)?;
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
        let request = request(launch, open, subject, tests, &mut runtime, wanted, replace, &cancel).await?;
        let generator = TestGenerator {
            store: Arc::clone(&open.store),
            operator: Arc::new(EvalOperator { agent_shell: true, yes: false }),
            redactor: open.redactor.clone(),
            project: subject.project.root.clone(),
            max_tokens: model.output_limit(MAX_TOKENS),
            model: Arc::new(model),
            cancel: cancel.clone(),
            watch: watch(open),
        };
        let store = Arc::clone(&open.store);
        let written =
            ona_test_runner::generate(&generator, &request, &mut |place| runtime.session(&store, place)).await;
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
    })
}

#[expect(clippy::too_many_arguments, reason = "what a generator may know comes from many places")]
async fn request(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    runtime: &mut Runtime,
    wanted: Vec<String>,
    replace: bool,
    cancel: &CancellationToken,
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
        cancel,
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
    let generated = |case: &&TestCase| replace && case.generator_session.is_some();
    Ok(GenerationRequest {
        conversation: subject.id.clone(),
        plan: tests.plan.clone(),
        criteria: tests.record.criteria.clone(),
        wanted,
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
    let nowhere = ona_runtime::nowhere();
    let session = runtime.session(&open.store, nowhere).map_err(|error| launch.store_failure(error))?;
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

/// How it goes, on stderr.
fn watch(open: &OpenProject) -> GenerationWatcher {
    let redactor = open.redactor.clone();
    Arc::new(move |writing| {
        let line = match writing {
            GenerationEvent::Asking { criteria, attempt: 1 } => format!("Asking for tests of {}", criteria.join(", ")),
            GenerationEvent::Asking { criteria, attempt } => {
                format!("Asking again for tests of {} (attempt {attempt})", criteria.join(", "))
            }
            GenerationEvent::Accepted { criterion, title } => format!("  accepted  {criterion}  {title}"),
            GenerationEvent::Rejected { criterion, title, rules } => {
                let rules: Vec<_> = rules.iter().map(ToString::to_string).collect();
                format!("  rejected  {}  {title}  ({})", criterion.as_deref().unwrap_or("-"), rules.join(", "))
            }
            GenerationEvent::Missing { criterion } => format!("  no test   {criterion}"),
            GenerationEvent::Retrying { failure } => format!("  {failure}; trying again"),
        };
        output::note(ona_permissions::printable(&redactor.apply(&line)));
    })
}

fn described(subject: &Subject, tests: &PlanTests, written: &GenerationResult, uncovered: &[String]) -> Value {
    let case = |case: &TestCase| {
        json!({
            "id": case.id,
            "criterion_id": case.criterion,
            "title": case.title,
            "reject_reason": case.reject_reason,
            "generator_session_id": case.generator_session,
        })
    };
    json!({
        "conversation_id": subject.id,
        "plan_id": tests.plan.id,
        "accepted": written.accepted.iter().map(case).collect::<Vec<_>>(),
        "rejected": written.rejected.iter().map(case).collect::<Vec<_>>(),
        "uncovered": uncovered,
        "sessions": written.sessions,
    })
}
