//! Everything the database and the project say about the tests of a conversation.

use crate::project::Project;
use ona_api::{ConversationId, PlanStatus};
use ona_store::{Reader, StoreError, StoredPlan};
use ona_workflow::testgen::coverage::{RecordedCase, TestRecord};
use ona_workflow::testgen::criteria;
use std::collections::HashMap;

/// The plan and its tests.
pub struct PlanTests {
    pub plan: StoredPlan,
    pub record: TestRecord,
    /// The plan was approved by SQL: what it promises is not stored yet.
    pub criteria_missing: bool,
}

/// Whose tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanSelector {
    /// Those of the approved plan.
    Approved,
    /// Those of the approved plan, or of the one that was completed last: a report
    /// outlives its approval.
    Reported,
}

/// None if the conversation has no such plan.
pub fn load(
    reader: &Reader,
    conversation: &ConversationId,
    project: &Project,
    which: PlanSelector,
) -> Result<Option<PlanTests>, StoreError> {
    let Some(plan) = plan(reader, conversation, which)? else { return Ok(None) };
    // Before anything else is read: what happens meanwhile is newer than this.
    let newest_event = reader.newest_event(conversation)?;
    let mut criteria = reader.criteria(plan.id)?;
    let criteria_missing = criteria.is_empty();
    if criteria_missing {
        criteria = criteria::parse(&plan.content);
    }
    let runs = reader.latest_runs(plan.id)?.into_iter().map(|stored| (stored.run.case.clone(), stored.run));
    let mut runs: HashMap<_, _> = runs.collect();
    let cases: Vec<RecordedCase> = reader
        .test_cases(plan.id)?
        .into_iter()
        .map(|stored| RecordedCase {
            run: runs.remove(&stored.case.id),
            script_sha256: stored.script_sha256,
            case: stored.case,
        })
        .collect();
    let oldest = cases.iter().filter_map(|case| case.run.as_ref()?.seen_event).min();
    let mutations = reader.mutations(conversation, oldest.unwrap_or(0))?;
    // Files that cannot be looked at make every result stale, which says so.
    let project_sha256 = match cases.iter().any(|case| case.run.is_some()) {
        true => project.snapshot().ok().map(|snapshot| snapshot.sha256()),
        false => None,
    };
    let mutations = mutations.into_iter().map(|mutation| (mutation.event, mutation.tool)).collect();
    let record = TestRecord { plan: plan.id, criteria, cases, project_sha256, mutations, newest_event };
    let criteria_missing = criteria_missing && !record.criteria.is_empty();
    Ok(Some(PlanTests { plan, record, criteria_missing }))
}

fn plan(reader: &Reader, conversation: &ConversationId, which: PlanSelector) -> Result<Option<StoredPlan>, StoreError> {
    match (reader.approved_plan(conversation)?, which) {
        (Some(plan), _) => Ok(Some(plan)),
        (None, PlanSelector::Approved) => Ok(None),
        (None, PlanSelector::Reported) => {
            Ok(reader.plans(conversation)?.into_iter().rfind(|plan| plan.status == PlanStatus::Completed))
        }
    }
}
