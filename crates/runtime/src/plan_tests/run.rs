//! Running the tests of a plan at the operator's word.

use super::{Subject, tmp};
use crate::failure::Failure;
use crate::ids::{self, IdKind};
use crate::launch::{Launch, OpenProject, Purpose};
use crate::runtime::Runtime;
use ona_api::row::{SequenceStart, SessionKey};
use ona_api::testing::TestCase;
use ona_api::{Authority, Group, Ruling, SessionId, Verdict};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion, Profile, builtin_tools};
use ona_test_runner::{PlanTests, RunConfig, RunProgress, RunSummary, TestRunError};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a watcher hears that time has passed.
const TICK: Duration = Duration::from_millis(200);

/// Hears how a run goes.
pub trait RunWatcher: Send {
    fn show(&mut self, progress: &RunProgress<'_>);
    fn tick(&mut self);
    fn end(&mut self);
}

/// Runs cases with the hooks and rules of the project.
pub async fn run_tests(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    tests: &PlanTests,
    cases: &[TestCase],
    watcher: impl RunWatcher,
    cancel: &CancellationToken,
) -> Result<RunSummary, Failure> {
    if !subject.project.root.is_dir() {
        let root = subject.project.root.display();
        return Err(Failure::usage(format_args!("the project of the conversation is not there: {root}")));
    }
    let failed = |error| launch.store_failure(error);
    let mut runtime = Runtime::new(launch, open, &subject.project.root, Purpose::Call, cancel)?;
    runtime.announce_guards(launch, open)?;
    let place =
        SessionKey { conversation: subject.id.clone(), session: SessionId::random(), start: SequenceStart::Zero };
    let mut opening = runtime.take_findings();
    opening.append(criteria_of(tests));
    let mut session = runtime.session(&open.store, place).map_err(failed)?;
    session.rules = Arc::new(RwLock::new(session.with_rules(Clone::clone).for_tests()));
    let operator: Arc<dyn Operator> = Arc::new(TypedIt);
    let pipeline = runtime.pipeline(builtin_tools(Profile::TestRun), &operator);
    let bench = RunConfig {
        project: subject.project.clone(),
        host: runtime.host.clone(),
        tmp: tmp(launch),
        program_dir: launch.own_dir(),
        cancel: cancel.clone(),
    };
    let watcher = Mutex::new(watcher);
    let lock = || watcher.lock().unwrap_or_else(PoisonError::into_inner);
    let mut watch = |progress: RunProgress<'_>| lock().show(&progress);
    let mut tick = tokio::time::interval(TICK);
    let mut running = std::pin::pin!(ona_test_runner::run(&bench, &pipeline, &mut session, cases, opening, &mut watch));
    let ended = loop {
        tokio::select! {
            ended = &mut running => break ended,
            _ = tick.tick() => lock().tick(),
        }
    };
    lock().end();
    ended.map_err(|error| match error {
        TestRunError::Store(error) => failed(error),
        TestRunError::Project(error) => Failure::refused(error),
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

/// The accepted cases of these ids; all of them if none is named.
pub fn chosen_cases(tests: &PlanTests, wanted: &[String]) -> Result<Vec<TestCase>, Failure> {
    let accepted = || tests.record.accepted().map(|case| &case.case);
    if wanted.is_empty() {
        return Ok(accepted().cloned().collect());
    }
    let find = |id: &String| {
        let known = ids::find(IdKind::Test, id, accepted().map(|case| case.id.as_str()))?;
        Ok(accepted().find(|case| case.id == known).cloned().into_iter())
    };
    let found: Vec<_> = wanted.iter().map(find).collect::<Result<_, Failure>>()?;
    Ok(found.into_iter().flatten().collect())
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
