//! `ona --transition PHASE --conversation ID` (DEC-102).

use crate::failure::Failure;
use crate::output;
use crate::program::{Program, at};
use crate::test;
use ona_api::{ConversationId, Group, Phase, Row};
use ona_store::Reader;
use ona_trials::{Project, Tests, Which, load};
use ona_trust::How;
use ona_workflow::testgen::report::Report;
use ona_workflow::{Facts, Refusal, transition};
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

pub fn run(program: &Program, phase: &str) -> Result<u8, Failure> {
    let to: Phase = phase.parse().map_err(Failure::usage)?;
    let Some(id) = &program.options.conversation else {
        return Err(Failure::usage("--transition needs --conversation ID"));
    };
    let id = ConversationId::from(id.as_str());
    program.operator_only("the phase")?;
    let open = program.open()?;
    let store = &open.store;
    let failed = |error| program.store_failure(error);
    let settings = program.effective(&open, How::FirstUseOnly)?;
    let reader = store.reader().map_err(failed)?;
    let known = reader.conversation(&id).map_err(failed)?;
    let root = known.ok_or_else(|| Failure::usage(format_args!("there is no conversation {id}")))?.project_dir;
    let project = test::subject::project(program, Path::new(&root), &settings)?;

    let from = reader.phase(&id).map_err(failed)?.expect("the conversation was just read");
    let facts = Facts::new(from, reader.has_approved_plan(&id).map_err(failed)?);
    let group = match (from, to) {
        (Phase::Test, Phase::Verify) | (Phase::Verify, Phase::Done) => {
            tested(program, reader, &id, &project, facts, to)?
        }
        _ => transition(facts, to).map_err(Failure::refused)?,
    };
    let group = match to {
        Phase::Implement => with_manifest(group, &project),
        _ => group,
    };
    store.commit_now(&at(&id, ""), group).map_err(failed)?;
    output::json(&json!({"conversation_id": id, "from": from.as_str(), "to": to.as_str()}));
    Ok(0)
}

/// The two transitions that hang on test results. The report is shown before it is
/// approved, and it is the one that was shown whose digest is recorded (DEC-114).
fn tested(
    program: &Program,
    reader: &Reader,
    id: &ConversationId,
    project: &Project,
    facts: Facts<'_>,
    to: Phase,
) -> Result<Group, Failure> {
    let tests = load(reader, id, project, Which::Approved).map_err(|error| program.store_failure(error))?;
    let report = tests.as_ref().map(|Tests { plan, book, .. }| Report::new(id.as_str(), &plan.content, book));
    if let (Phase::Done, Some(report)) = (to, &report) {
        output::note(report.text().trim_end());
    }
    let sha256 = report.map(|report| report.sha256());
    let approved = sha256.as_deref().filter(|_| program.options.approve);
    let facts = Facts { tests: tests.as_ref().map(|tests| &tests.book), approved_report: approved, ..facts };
    match transition(facts, to) {
        Err(Refusal::NotApproved) if asked("Approve this report?") => {
            transition(Facts { approved_report: sha256.as_deref(), ..facts }, to)
        }
        decided => decided,
    }
    .map_err(Failure::refused)
}

/// A person at a terminal can answer at once.
fn asked(question: &str) -> bool {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stderr().flush()).ok();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}

/// What the project looks like before anything is implemented (DEC-123). Without a
/// look nothing is known to be untouched later, so this refuses nothing.
fn with_manifest(mut group: Group, project: &Project) -> Group {
    match project.look() {
        Ok(look) => group.push(Row::Manifest(look.files)),
        Err(error) => output::note(format_args!("ona: {error}")),
    }
    group
}
