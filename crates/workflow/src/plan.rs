//! Saving and approving plans. `plans.content` is the plan; a file is only where it came from.

use crate::testgen::criteria;
use ona_api::{Group, LoggedEvent, PlanStatus, Row, digest};

/// Said when a plan is approved that promises nothing a test could trace (DEC-113).
pub const NO_CRITERIA: &str =
    "ona: the plan has no section \"Success criteria\", so its conversation cannot reach verify";

/// Returns a new draft; older drafts of the conversation are superseded in the same commit.
pub fn save_draft(content: &str, file_path: Option<&str>) -> Group {
    let mut group = Group::default();
    group.push(Row::PlanDraft { content: content.to_owned(), file_path: file_path.map(str::to_owned) });
    group.log(LoggedEvent::PlanSaved {
        hash: digest::sha256_hex(content.as_bytes()),
        file_path: file_path.map(str::to_owned),
    });
    group
}

/// Approval is an act of the operator; who that is, the caller has made sure of.
/// What the plan promises is read out of it in the same commit (DEC-120), so that
/// it cannot change between approval and test.
pub fn approve_plan(id: i64, hash: &str, content: &str) -> Group {
    let criteria = criteria::parse(content);
    let mut group = Group::default();
    // At most one plan of a conversation is approved.
    group.push(Row::RetireApprovedPlans(PlanStatus::Superseded));
    group.push(Row::PlanStatus { id, from: PlanStatus::Draft, to: PlanStatus::Approved });
    group.log(LoggedEvent::PlanApproved { plan: id, hash: hash.to_owned(), criteria: criteria.len() });
    group.push(Row::Criteria { plan: id, criteria });
    group
}
