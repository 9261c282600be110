//! `ona test generate`: asks a model for tests of the approved plan (DEC-123). Also what
//! entering the test phase does by itself (DEC-110).

use crate::interrupt;
use crate::operator::EvalOperator;
use crate::output;
use ona_api::Phase;
use ona_api::testing::TestCase;
use ona_runtime::plan_tests::{GenerationOptions, Subject, uncovered, wanted, write_tests};
use ona_runtime::{Failure, Launch, OpenProject, Purpose, block_on, model_choice};
use ona_test_runner::{GenerationEvent, GenerationResult, GenerationWatcher, PlanSelector, PlanTests, load};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Debug, clap::Args)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(super) whose: super::Whose,

    /// Write new tests for every criterion; generated tests they replace are retired
    #[arg(long)]
    all: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

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

fn write(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    wanted: Vec<String>,
    replace: bool,
) -> Result<GenerationResult, Failure> {
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let operator = Arc::new(EvalOperator { agent_shell: true, yes: false });
    let options = GenerationOptions { wanted, replace, operator, watch: watch(open), cancel };
    block_on(write_tests(launch, open, subject, tests, options))
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
