//! `ona test run`: the operator's word that the tests of a plan may run now.

use super::progress::Bar;
use super::subject::{Subject, tmp};
use crate::interrupt;
use crate::output;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::testing::TestCase;
use ona_api::{Authority, Group, Ruling, SessionId, Verdict};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion, Profile, builtin_tools};
use ona_runtime::{Failure, Launch, OpenProject, Purpose, Runtime, block_on};
use ona_test_runner::{PlanSelector, PlanTests, RunConfig, RunProgress, RunSummary, TestRunError};
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// Ids of the cases to run [default: all accepted ones]
    #[arg(value_name = "CASE")]
    cases: Vec<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How often the elapsed time on a terminal moves on.
const TICK: Duration = Duration::from_millis(200);

pub(super) fn run(launch: &Launch, run: &Run) -> Result<u8, Failure> {
    // Choosing the environment of a run would be choosing its result.
    launch.operator_only("test results")?;
    let open = launch.open()?;
    let subject = Subject::new(launch, &open)?;
    let tests = subject.tests(launch, &open, PlanSelector::Approved)?;
    let cases = chosen(&tests, &run.cases)?;
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
    let cases = chosen(&tests, &[])?;
    if cases.is_empty() {
        return Ok(());
    }
    execute(launch, open, &subject, &tests, &cases).map(drop)
}

/// Runs cases and says on stderr how it goes.
pub(super) fn execute(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    cases: &[TestCase],
) -> Result<RunSummary, Failure> {
    if !subject.project.root.is_dir() {
        let root = subject.project.root.display();
        return Err(Failure::usage(format_args!("the project of the conversation is not there: {root}")));
    }
    let cancel = CancellationToken::new();
    let failed = |error| launch.store_failure(error);
    block_on(async {
        interrupt::on_signal(&cancel);
        let mut runtime = Runtime::new(launch, open, &subject.project.root, Purpose::Call, &cancel)?;
        runtime.announce_guards(launch, open)?;
        let place =
            SessionKey { conversation: subject.id.clone(), session: SessionId::random(), start: SequenceStart::Zero };
        let mut opening = runtime.take_findings();
        opening.append(criteria_of(tests));
        let mut session = runtime.session(&open.store, place).map_err(failed)?;
        session.rules = Arc::new(std::sync::RwLock::new(session.with_rules(Clone::clone).for_tests()));
        let operator: Arc<dyn Operator> = Arc::new(TypedIt);
        let pipeline = runtime.pipeline(builtin_tools(Profile::TestRun), &operator);
        let bench = RunConfig {
            project: subject.project.clone(),
            host: runtime.host.clone(),
            tmp: tmp(launch),
            program_dir: launch.own_dir(),
            cancel: cancel.clone(),
        };
        let bar = std::sync::Mutex::new(Bar::new(cases.len()));
        let lock = || bar.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut watch = |progress: RunProgress<'_>| lock().show(&progress);
        let mut tick = tokio::time::interval(TICK);
        let mut running =
            std::pin::pin!(ona_test_runner::run(&bench, &pipeline, &mut session, cases, opening, &mut watch));
        let ended = loop {
            tokio::select! {
                ended = &mut running => break ended,
                _ = tick.tick() => lock().tick(),
            }
        };
        lock().end();
        let ended = ended.map_err(|error| match error {
            TestRunError::Store(error) => failed(error),
            TestRunError::Project(error) => Failure::refused(error),
        })?;
        if ended.project_changed {
            output::note("ona: files of the project changed while the tests ran, so these results count for nothing");
        }
        Ok(ended)
    })
}

/// What a plan promises that was approved by SQL.
fn criteria_of(tests: &PlanTests) -> Group {
    let mut group = Group::default();
    if tests.criteria_missing {
        group.push(ona_api::Row::Criteria { plan: tests.plan.id, criteria: tests.record.criteria.clone() });
    }
    group
}

fn chosen(tests: &PlanTests, ids: &[String]) -> Result<Vec<TestCase>, Failure> {
    let accepted = || tests.record.accepted().map(|case| &case.case);
    if ids.is_empty() {
        return Ok(accepted().cloned().collect());
    }
    let find = |id: &String| {
        let known = || Failure::usage(format_args!("plan {} has no accepted test {id}", tests.plan.id));
        accepted().find(|case| case.id == *id).cloned().ok_or_else(known)
    };
    ids.iter().map(find).collect()
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

/// `ona test run` typed by the operator is the answer to every question about the
/// tests (DEC-122), except the floor's: nobody has read the scripts (DEC-183).
struct TypedIt;

impl Operator for TypedIt {
    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        let asked = question.asked;
        let verdict = match asked.by.asks_a_person() {
            true => {
                let message = format!("Denied: nobody can be asked about a test. {}", asked.message);
                Verdict::new(Ruling::Deny, Authority::NoOperator, message)
            }
            false => Verdict::new(Ruling::Allow, Authority::EvalOperator, ""),
        };
        Box::pin(std::future::ready(verdict.into()))
    }
}
