//! `ona test run`: the operator's word that the tests of a plan may run now.

use super::progress::Bar;
use crate::interrupt;
use crate::output;
use ona_api::testing::TestCase;
use ona_runtime::plan_tests::{Subject, chosen_cases, run_tests};
use ona_runtime::{Failure, Launch, OpenProject, block_on};
use ona_test_runner::{PlanSelector, PlanTests, RunSummary};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(super) whose: super::Whose,

    /// Ids of the cases to run [default: all accepted ones]
    #[arg(value_name = "CASE")]
    cases: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(launch: &Launch, run: &Run) -> Result<u8, Failure> {
    // Choosing the environment of a run would be choosing its result.
    launch.operator_only("test results")?;
    let open = launch.open()?;
    let subject = Subject::new(launch, &open)?;
    let tests = subject.tests(launch, &open, PlanSelector::Approved)?;
    let cases = chosen_cases(&tests, &run.cases)?;
    if cases.is_empty() {
        return Err(Failure::refused("no tests to run").hint("ona test add FILE --conversation ID"));
    }
    let ended = execute(launch, &open, &subject, &tests, &cases)?;
    if run.json {
        output::json(&described(&subject, &ended));
    }
    let passed = ended.runs.iter().filter(|done| done.run.exit_code == Some(0)).count();
    Ok(match ended.interrupted {
        true => interrupt::INTERRUPTED,
        false => u8::from(passed < cases.len()),
    })
}

/// Runs every accepted case of the conversation, if it has any.
pub(super) fn all(launch: &Launch, open: &OpenProject) -> Result<(), Failure> {
    let subject = Subject::new(launch, open)?;
    let reader = open.store.reader().map_err(|error| launch.store_failure(error))?;
    let tests = ona_test_runner::load(reader, &subject.id, &subject.project, PlanSelector::Approved);
    let Some(tests) = tests.map_err(|error| launch.store_failure(error))? else { return Ok(()) };
    let cases = chosen_cases(&tests, &[])?;
    if cases.is_empty() {
        return Ok(());
    }
    execute(launch, open, &subject, &tests, &cases).map(drop)
}

/// Runs cases and says on stderr how it goes.
fn execute(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    cases: &[TestCase],
) -> Result<RunSummary, Failure> {
    let cancel = CancellationToken::new();
    interrupt::on_signal(&cancel);
    let ended = block_on(run_tests(
        launch,
        open,
        subject,
        tests,
        cases,
        Bar::new(cases.len(), output::is_coloured(&launch.env)),
        &cancel,
    ))?;
    if ended.project_changed {
        output::note("ona: files of the project changed while the tests ran, so these results count for nothing");
    }
    Ok(ended)
}

fn described(subject: &Subject, ended: &RunSummary) -> Value {
    let cases = ended.runs.iter().map(|done| {
        let run = &done.run;
        json!({
            "id": done.case.id,
            "criterion_id": done.case.criterion,
            "title": done.case.title,
            "passed": run.exit_code == Some(0),
            "exit_code": run.exit_code,
            "timed_out": run.timed_out,
            "refused": done.refused,
            "took_ms": run.took_ms,
            "stdout": run.stdout,
            "stderr": run.stderr,
        })
    });
    let passed = ended.runs.iter().filter(|done| done.run.exit_code == Some(0)).count();
    json!({
        "run_id": ended.run,
        "conversation_id": subject.id,
        "cases": cases.collect::<Vec<_>>(),
        "totals": {"run": ended.runs.len(), "passed": passed, "failed": ended.runs.len() - passed},
        "interrupted": ended.interrupted,
        "project_changed": ended.project_changed,
    })
}
