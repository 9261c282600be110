//! Runs cases one after another, each as one call and one row.

use crate::project::Project;
use crate::sandbox::Sandbox;
use crate::shell::{CaseOutcome, RunContext, TestShell, exit_code};
use ona_api::row::SessionKey;
use ona_api::testing::{TestCase, TestRun};
use ona_api::{CallId, Entry, Env, Group, LoggedEvent, Row, SessionId, SessionOrigin, ToolCall, clock, digest};
use ona_files::SnapshotError;
use ona_orchestration::{Pipeline, Profile, Session, builtin_tools};
use ona_process::ChildExit;
use ona_store::StoreError;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// Where and with what tests are run.
pub struct RunConfig {
    pub project: Project,
    /// The operator's environment.
    pub host: Env,
    pub tmp: PathBuf,
    /// Where this program lies.
    pub program_dir: Option<PathBuf>,
    pub cancel: CancellationToken,
}

/// Reported while it runs.
pub enum RunProgress<'a> {
    Begins { sandbox: &'a Sandbox, cases: usize },
    Started { number: usize, case: &'a TestCase },
    Finished { number: usize, case: &'a TestCase, run: &'a TestRun },
}

/// The result of a run. Rows of everything in `runs` are committed.
#[derive(Debug)]
pub struct RunSummary {
    pub run: SessionId,
    pub runs: Vec<CaseRun>,
    /// Ended by the operator before all cases had their turn.
    pub interrupted: bool,
    /// The project is not what it was when the run began, so nothing of it counts.
    pub project_changed: bool,
}

#[derive(Debug)]
pub struct CaseRun {
    pub case: TestCase,
    pub run: TestRun,
    /// The call was refused by a hook, a rule or the planning gate.
    pub refused: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum TestRunError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Project(#[from] SnapshotError),
}

/// Runs the cases in the session, which is theirs alone. `findings` are rows that
/// belong to its beginning.
pub async fn run(
    config: &RunConfig,
    pipeline: &Pipeline,
    session: &mut Session,
    cases: &[TestCase],
    findings: Group,
    watch: &mut (dyn FnMut(RunProgress<'_>) + Send),
) -> Result<RunSummary, TestRunError> {
    let store = &pipeline.store;
    let place = session.place.clone();
    let mut opening = Group::default();
    opening.push(Row::Session);
    opening.log(LoggedEvent::SessionCreated(SessionOrigin::TestRun));
    opening.append(findings);
    store.commit(&place, opening).await?;

    // In this order: a call that begins in between is newer than what is remembered.
    let seen_event = store.reader()?.newest_event(&place.conversation)?;
    let project_sha256 = config.project.snapshot()?.sha256();
    let sandbox = Sandbox::probe(&config.project, &config.tmp, &config.host, &config.cancel).await;
    watch(RunProgress::Begins { sandbox: &sandbox, cases: cases.len() });
    let context = Arc::new(RunContext {
        project: config.project.clone(),
        sandbox,
        host: config.host.clone(),
        tmp: config.tmp.clone(),
        program_dir: config.program_dir.clone(),
    });

    let mut runs = Vec::new();
    for (number, case) in (1..).zip(cases) {
        if config.cancel.is_cancelled() {
            break;
        }
        watch(RunProgress::Started { number, case });
        let known = Known { seen_event, project_sha256: &project_sha256 };
        let done = run_case(&context, pipeline, session, &place, case, known).await?;
        watch(RunProgress::Finished { number, case, run: &done.run });
        runs.push(done);
    }
    let interrupted = config.cancel.is_cancelled();
    let project_changed = config.project.snapshot().map(|snapshot| snapshot.sha256()).ok() != Some(project_sha256);
    Ok(RunSummary { run: place.session, runs, interrupted, project_changed })
}

/// What was known of the project when the run began.
#[derive(Clone, Copy)]
struct Known<'a> {
    seen_event: i64,
    project_sha256: &'a str,
}

async fn run_case(
    context: &Arc<RunContext>,
    pipeline: &Pipeline,
    session: &mut Session,
    place: &SessionKey,
    case: &TestCase,
    known: Known<'_>,
) -> Result<CaseRun, StoreError> {
    let outcome = Arc::new(Mutex::new(None));
    let mut tools = builtin_tools(Profile::TestRun);
    tools.add(Arc::new(TestShell { case: case.clone(), context: Arc::clone(context), outcome: Arc::clone(&outcome) }));
    let pipeline = pipeline.with_tools(tools);
    let call = ToolCall {
        id: CallId(format!("toolu_{}", CallId::random().0.replace('-', ""))),
        name: "Bash".into(),
        input: TestShell::input(case),
    };
    let asked = Entry::ToolUse { id: call.id.clone(), name: call.name.clone(), input: call.input.clone() };
    pipeline.store.commit(place, Group(vec![Row::Transcript(asked)])).await?;
    let started_at = clock::utc_seconds(clock::now());
    let finished = pipeline.run(session, call, Group::default()).await?;

    let outcome: Option<CaseOutcome> = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
    let refused = outcome.is_none();
    let end = outcome.as_ref().and_then(|outcome| outcome.end);
    let code = end.and_then(exit_code);
    let run = TestRun {
        case: case.id.clone(),
        run: place.session.to_string(),
        exit_code: code,
        started_at,
        completed_at: end.filter(|end| *end != ChildExit::Cancelled).map(|_| clock::utc_seconds(clock::now())),
        timed_out: end == Some(ChildExit::TimedOut),
        took_ms: outcome.as_ref().map(|outcome| i64::try_from(outcome.took.as_millis()).unwrap_or(i64::MAX)),
        script_sha256: Some(digest::sha256_hex(case.script.as_bytes())),
        project_sha256: Some(known.project_sha256.to_owned()),
        seen_event: Some(known.seen_event),
        // Why it never ran is what the report has to show for it.
        stderr: outcome.as_ref().map_or(finished.result.content, |outcome| outcome.stderr.clone()),
        stdout: outcome.map(|outcome| outcome.stdout).unwrap_or_default(),
    };
    let mut group = Group::default();
    group.log(LoggedEvent::TestRun {
        run: run.run.clone(),
        case: case.id.clone(),
        criterion: case.criterion.clone(),
        exit_code: run.exit_code,
        timed_out: run.timed_out,
        refused,
        sandbox: context.sandbox.name(),
        script_sha256: run.script_sha256.clone(),
        project_sha256: run.project_sha256.clone(),
    });
    if end == Some(ChildExit::Cancelled) {
        group.log(LoggedEvent::Interrupted { case: Some(case.id.clone()) });
    }
    group.push(Row::TestRun(run.clone()));
    pipeline.store.commit(place, group).await?;
    Ok(CaseRun { case: case.clone(), run, refused })
}
