//! A step from phase to phase with everything it hangs on: what `--transition`, `/phase`
//! and `/verify` have in common.
//!
//! Rows and files are read here, `workflow` decides, and the rows of the step come back
//! to be committed. Showing the report and asking the operator is the caller's.

use crate::plan_tests::{PlanSelector, PlanTests, load};
use crate::project::Project;
use ona_api::{ConversationId, Group, Phase, Row};
use ona_store::{Reader, StoreError};
use ona_workflow::testgen::report::TestReport;
use ona_workflow::{Facts, TransitionRefused, transition};

/// Why a phase cannot change.
#[derive(Debug, thiserror::Error)]
pub enum PhaseError {
    #[error(transparent)]
    Refused(#[from] TransitionRefused),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("conversation {0} does not exist")]
    NoConversation(ConversationId),
}

/// A step that can be taken.
#[derive(Debug, PartialEq)]
pub struct PhaseChange {
    pub from: Phase,
    pub to: Phase,
    /// To be committed together.
    pub rows: Group,
    /// What could not be looked at on the way, for the operator.
    pub note: Option<String>,
}

/// Returns the report of a conversation's tests, as it is now.
pub fn report(
    reader: &Reader,
    conversation: &ConversationId,
    project: &Project,
    which: PlanSelector,
) -> Result<Option<TestReport>, StoreError> {
    let tests = load(reader, conversation, project, which)?;
    Ok(tests.map(|PlanTests { plan, record, .. }| TestReport::new(conversation.as_str(), &plan.content, &record)))
}

/// `approved` is the digest of the report the operator was shown and said yes to.
pub fn change_phase(
    reader: &Reader,
    conversation: &ConversationId,
    project: &Project,
    to: Phase,
    approved: Option<&str>,
) -> Result<PhaseChange, PhaseError> {
    let from = reader.phase(conversation)?.ok_or_else(|| PhaseError::NoConversation(conversation.clone()))?;
    let facts = Facts::new(from, reader.has_approved_plan(conversation)?);
    let mut change_phase = PhaseChange { from, to, rows: Group::default(), note: None };
    change_phase.rows = match (from, to) {
        (Phase::Test, Phase::Verify) | (Phase::Verify, Phase::Done) => {
            let tests = load(reader, conversation, project, PlanSelector::Approved)?;
            let report = tests
                .as_ref()
                .map(|tests| TestReport::new(conversation.as_str(), &tests.plan.content, &tests.record).sha256());
            if approved.is_some() && approved != report.as_deref() {
                return Err(TransitionRefused::ReportChanged.into());
            }
            let record = tests.as_ref().map(|tests| &tests.record);
            transition(Facts { tests: record, approved_report: approved, ..facts }, to)?
        }
        _ => transition(facts, to)?,
    };
    if to == Phase::Implement {
        // Without a snapshot nothing is known to be untouched later, so this refuses nothing (DEC-123).
        match project.snapshot() {
            Ok(snapshot) => change_phase.rows.push(Row::Manifest(snapshot.files)),
            Err(error) => change_phase.note = Some(error.to_string()),
        }
    }
    Ok(change_phase)
}
