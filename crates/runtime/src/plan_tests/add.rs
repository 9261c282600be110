//! The operator's own script, through the same lint as a generated one.

use super::Subject;
use crate::failure::Failure;
use crate::launch::{Launch, OpenProject, at};
use ona_api::testing::{CaseStatus, TestCase};
use ona_api::{Group, LoggedEvent, Row, digest};
use ona_test_runner::{PlanSelector, PlanTests};
use ona_workflow::testgen::lint::{self, LintContext};
use ona_workflow::testgen::touched::touched;
use std::borrow::Cow;

/// What `# traces:` says in a helper that counts for no criterion (section 8.6.1).
const HELPER: &str = "none";

/// A test that was added, and the ids of those it replaces.
pub struct AddedTest {
    pub case: TestCase,
    pub retired: Vec<String>,
}

/// Adds a script to the tests of the approved plan. `None`: it is not a behavioural test, and `tell`
/// has heard why, line by line.
pub fn add_test(
    launch: &Launch,
    open: &OpenProject,
    subject: &Subject,
    entry_points: &[String],
    script: Vec<u8>,
    criterion: Option<&str>,
    tell: impl Fn(String),
) -> Result<Option<AddedTest>, Failure> {
    let tests = subject.tests(launch, open, PlanSelector::Approved)?;
    let touched = touched_paths(launch, &open.store, subject)?;
    let around = LintContext { entry_points, touched: &touched };
    let lint::LintReport { findings, surfaces } = lint::examine(&script, &around);
    for finding in &findings {
        tell(format!("{}: {} {}", finding.line, finding.rule, finding.message));
    }
    if !findings.is_empty() {
        return Ok(None);
    }
    let script = String::from_utf8(script).map_err(|_| Failure::refused("the script is not UTF-8"))?;
    if let Cow::Owned(_) = open.redactor.apply(&script) {
        return Err(Failure::refused("the script holds a credential, which a database must not"));
    }
    let case = case(subject, &tests, script, &surfaces, criterion)?;
    let (group, retired) = rows(&tests, &case);
    open.store.commit_now(&at(&subject.id, ""), group).map_err(|error| launch.store_failure(error))?;
    Ok(Some(AddedTest { case, retired }))
}

/// Whether the head of a script has a `# traces:` line.
pub fn names_a_criterion(script: &[u8]) -> bool {
    String::from_utf8_lossy(script)
        .lines()
        .take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        .any(|line| line.trim_start_matches([' ', '\t', '#']).starts_with("traces:"))
}

/// Adds a `# traces:` line behind the line that names the interpreter, if there is one.
pub fn with_traces(script: Vec<u8>, criterion: &str) -> Vec<u8> {
    let first = script.iter().position(|byte| *byte == b'\n').map_or(script.len(), |end| end + 1);
    let at = if script.starts_with(b"#!") { first } else { 0 };
    let line = format!("# traces: {criterion}\n");
    [&script[..at], line.as_bytes(), &script[at..]].concat()
}

fn touched_paths(launch: &Launch, store: &ona_store::Store, subject: &Subject) -> Result<Vec<String>, Failure> {
    let rows = || {
        let reader = store.reader()?;
        Ok((reader.manifest(&subject.id)?, reader.written_paths(&subject.id)?))
    };
    let (before, written) = rows().map_err(|error| launch.store_failure(error))?;
    let now = match &before {
        Some(_) => subject.project.snapshot().map_err(Failure::refused)?.files,
        None => Vec::new(),
    };
    Ok(touched(&subject.project.root, before.as_deref(), &now, &written).paths())
}

fn case(
    subject: &Subject,
    tests: &PlanTests,
    script: String,
    surfaces: &[lint::Surface],
    wanted: Option<&str>,
) -> Result<TestCase, Failure> {
    let header = lint::header(&script).ok_or_else(|| Failure::refused("the script has no header"))?;
    if wanted.is_some_and(|wanted| wanted != header.traces) {
        return Err(Failure::usage(format_args!(
            "the script says that it traces {}, not {}",
            header.traces,
            wanted.unwrap_or_default()
        )));
    }
    let known: Vec<&str> = tests.record.criteria.iter().map(|criterion| criterion.id.as_str()).collect();
    let criterion = match header.traces.as_str() {
        HELPER => None,
        id if known.contains(&id) => Some(id.to_owned()),
        id => {
            let message = format!("plan {} has no success criterion {id}", tests.plan.id);
            return Err(Failure::usage(message).hint(format!("it has: {}", known.join(", "))));
        }
    };
    let name = format!("{}\0{}\0{script}", subject.id, tests.plan.id);
    Ok(TestCase {
        id: format!("T-{}", &digest::sha256_hex(name.as_bytes())[..10]),
        plan: tests.plan.id,
        criterion,
        title: header.title,
        script,
        surfaces: surfaces.iter().map(|surface| surface.as_str()).collect(),
        status: CaseStatus::Accepted,
        reject_reason: None,
        generator_session: None,
    })
}

/// The case takes the place of an older one of the same title for the same criterion.
fn rows(tests: &PlanTests, case: &TestCase) -> (Group, Vec<String>) {
    let mut group = Group::default();
    if tests.criteria_missing {
        group.push(Row::Criteria { plan: tests.plan.id, criteria: tests.record.criteria.clone() });
    }
    let older = tests
        .record
        .accepted()
        .map(|older| &older.case)
        .filter(|older| older.id != case.id && older.title == case.title && older.criterion == case.criterion);
    let retired: Vec<String> = older.map(|older| older.id.clone()).collect();
    for id in &retired {
        group.push(Row::TestCaseStatus { id: id.clone(), to: CaseStatus::Retired });
    }
    group.log(LoggedEvent::TestAdded {
        case: case.id.clone(),
        criterion: case.criterion.clone(),
        script_sha256: digest::sha256_hex(case.script.as_bytes()),
        retired: retired.clone(),
    });
    group.push(Row::TestCase(case.clone()));
    (group, retired)
}
