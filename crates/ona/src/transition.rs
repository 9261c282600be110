//! `ona --transition PHASE --conversation ID` (DEC-102).

use crate::output;
use crate::test;
use ona_api::Phase;
use ona_runtime::{Failure, Launch, Purpose, at, ids, plan_tests};
use ona_test_runner::{PhaseError, PlanSelector, change_phase, report};
use ona_workflow::TransitionRefused;
use serde_json::json;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;

pub(crate) fn run(launch: &Launch, phase: &str, approve: bool) -> Result<u8, Failure> {
    let to: Phase = phase.parse().map_err(Failure::usage)?;
    if launch.options.conversation.is_none() {
        return Err(Failure::usage("--transition needs --conversation ID").hint("ona conversations list"));
    }
    launch.operator_only("the phase")?;
    let open = launch.open()?;
    let failed = |error| launch.store_failure(error);
    let settings = launch.effective(&open, Purpose::Call)?;
    let reader = open.store.reader().map_err(failed)?;
    let id = ids::named_conversation(launch, reader)?.expect("one is named");
    let known = reader.conversation(&id).map_err(failed)?;
    let root = known.ok_or_else(|| Failure::usage(format_args!("conversation {id} does not exist")))?.project_dir;
    let project = plan_tests::project(launch, &open, &id, Path::new(&root), &settings.sdlc)?;

    // The report is shown before it is approved, and what is recorded is the digest
    // of the one that was shown (DEC-114).
    let leaves_verify = to == Phase::Done && reader.phase(&id).map_err(failed)? == Some(Phase::Verify);
    let shown = match leaves_verify {
        true => report(reader, &id, &project, PlanSelector::Approved).map_err(failed)?,
        false => None,
    };
    if let Some(report) = &shown {
        output::note(report.text().trim_end());
    }
    let sha256 = shown.map(|report| report.sha256());
    let approved = sha256.as_deref().filter(|_| approve);
    let change_phase = match change_phase(reader, &id, &project, to, approved) {
        Err(PhaseError::Refused(TransitionRefused::NotApproved)) if asked("Approve this report?") => {
            change_phase(reader, &id, &project, to, sha256.as_deref())
        }
        decided => decided,
    };
    let change_phase = change_phase.map_err(|error| match error {
        PhaseError::Refused(refusal) => Failure::refused(refusal),
        PhaseError::Store(error) => failed(error),
        PhaseError::NoConversation(_) => Failure::usage(error),
    })?;
    if let Some(note) = &change_phase.note {
        output::note(format_args!("ona: {note}"));
    }
    open.store.commit_now(&at(&id, ""), change_phase.rows).map_err(failed)?;
    output::json(&json!({"conversation_id": id, "from": change_phase.from.as_str(), "to": to.as_str()}));
    if to == Phase::Test {
        test::entered(launch, &open);
    }
    Ok(0)
}

/// A person at a terminal can answer at once.
fn asked(question: &str) -> bool {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return false;
    }
    // A terminal that has gone away gives no answer below, which is a no.
    write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stderr().flush()).ok();
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).is_ok() && matches!(answer.trim(), "y" | "Y" | "yes")
}
