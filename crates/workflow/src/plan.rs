//! Saving and approving plans. `plans.content` is the plan; a file is only where it came from.

use ona_api::{EventKind, Group, PlanStatus, Row, digest};
use serde_json::json;

/// A new draft; older drafts of the conversation are superseded in the same commit.
pub fn save_draft(content: &str, file_path: Option<&str>) -> Group {
    let mut group = Group::default();
    group.push(Row::PlanDraft { content: content.to_owned(), file_path: file_path.map(str::to_owned) });
    group.event(EventKind::PlanSaved, json!({"hash": digest::sha256_hex(content.as_bytes()), "file_path": file_path}));
    group
}

/// Approval is an act of the operator; who that is, the caller has made sure of.
pub fn approve_plan(id: i64, hash: &str) -> Group {
    let mut group = Group::default();
    group.push(Row::PlanStatus { id, from: PlanStatus::Draft, to: PlanStatus::Approved });
    group.event(EventKind::PlanApproved, json!({"plan_id": id, "hash": hash}));
    group
}
