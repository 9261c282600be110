//! A step from phase to phase with everything it hangs on: what `--transition`, `/phase`
//! and `/verify` have in common.
//!
//! Rows and files are read here, `workflow` decides, and the rows of the step come back
//! to be committed. Showing the report and asking the operator is the caller's.

use crate::book::{Tests, Which, load};
use crate::project::Project;
use ona_api::{ConversationId, Group, Phase, Row};
use ona_store::{Reader, StoreError};
use ona_workflow::testgen::report::Report;
use ona_workflow::{Facts, Refusal, transition};

/// Why there is no step.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("there is no conversation {0}")]
    NoConversation(ConversationId),
}

/// A step that can be taken.
#[derive(Debug, PartialEq)]
pub struct Step {
    pub from: Phase,
    pub to: Phase,
    /// To be committed together.
    pub rows: Group,
    /// What could not be looked at on the way, for the operator.
    pub note: Option<String>,
}

/// The report of a conversation's tests, as it is now.
pub fn report(
    reader: &Reader,
    conversation: &ConversationId,
    project: &Project,
    which: Which,
) -> Result<Option<Report>, StoreError> {
    let tests = load(reader, conversation, project, which)?;
    Ok(tests.map(|Tests { plan, book, .. }| Report::new(conversation.as_str(), &plan.content, &book)))
}

/// `approved` is the digest of the report the operator was shown and said yes to.
pub fn step(
    reader: &Reader,
    conversation: &ConversationId,
    project: &Project,
    to: Phase,
    approved: Option<&str>,
) -> Result<Step, StepError> {
    let from = reader.phase(conversation)?.ok_or_else(|| StepError::NoConversation(conversation.clone()))?;
    let facts = Facts::new(from, reader.has_approved_plan(conversation)?);
    let mut step = Step { from, to, rows: Group::default(), note: None };
    step.rows = match (from, to) {
        (Phase::Test, Phase::Verify) | (Phase::Verify, Phase::Done) => {
            let tests = load(reader, conversation, project, Which::Approved)?;
            let report = tests
                .as_ref()
                .map(|tests| Report::new(conversation.as_str(), &tests.plan.content, &tests.book).sha256());
            if approved.is_some() && approved != report.as_deref() {
                return Err(Refusal::ReportChanged.into());
            }
            let book = tests.as_ref().map(|tests| &tests.book);
            transition(Facts { tests: book, approved_report: approved, ..facts }, to)?
        }
        _ => transition(facts, to)?,
    };
    if to == Phase::Implement {
        // Without a snapshot nothing is known to be untouched later, so this refuses nothing (DEC-123).
        match project.snapshot() {
            Ok(snapshot) => step.rows.push(Row::Manifest(snapshot.files)),
            Err(error) => step.note = Some(error.to_string()),
        }
    }
    Ok(step)
}
