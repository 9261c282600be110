//! The transition table of section 8.2 with DEC-110 to DEC-114.

use ona_api::{EventKind, Group, Phase, PlanStatus, Row};
use serde_json::json;

/// What the database says about the conversation right now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    pub phase: Phase,
    pub has_approved_plan: bool,
    /// The operator approved the report that was shown to him (section 8.7).
    pub report_approved: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the conversation is already in phase {0}")]
    AlreadyThere(Phase),
    #[error("there is no way from {from} to {to}; from {from} the conversation can go to {}", reachable(*from))]
    NoSuchTransition { from: Phase, to: Phase },
    #[error("implement needs an approved plan, and this conversation has none; approve one with `ona plan approve ID`")]
    NoApprovedPlan,
    #[error("verify needs a passing traced test for every success criterion, and no test results are recorded")]
    NoTestResults,
    #[error("done needs the operator's approval of the test report; look at it, then repeat with --approve")]
    NotApproved,
    #[error("done needs test results to approve, and none are recorded")]
    NothingToApprove,
}

/// The rows that make the transition, to be committed together, or why there is none.
pub fn transition(facts: Facts, to: Phase) -> Result<Group, Refusal> {
    let from = facts.phase;
    if from == to {
        return Err(Refusal::AlreadyThere(to));
    }
    let mut group = Group::default();
    match (from, to) {
        (_, Phase::Planning) => {
            // An old approval must not disarm the gate of a new cycle (DEC-112), nor
            // one that is given while this transition waits for the database.
            let (status, event) = match from {
                Phase::Done => (PlanStatus::Completed, EventKind::PlanCompleted),
                _ => (PlanStatus::Superseded, EventKind::PlanSuperseded),
            };
            group.push(Row::RetireApprovedPlans(status));
            if facts.has_approved_plan {
                group.event(event, json!({"because": "a new planning phase began"}));
            }
        }
        (Phase::Planning, Phase::Implement) if !facts.has_approved_plan => return Err(Refusal::NoApprovedPlan),
        (Phase::Planning, Phase::Implement) => group.push(Row::NeedsApprovedPlan),
        (Phase::Implement, Phase::Test) => group.event(EventKind::ImplementationComplete, json!({})),
        (Phase::Test, Phase::Verify) => return Err(Refusal::NoTestResults),
        (Phase::Verify, Phase::Done) if !facts.report_approved => return Err(Refusal::NotApproved),
        (Phase::Verify, Phase::Done) => return Err(Refusal::NothingToApprove),
        _ => return Err(Refusal::NoSuchTransition { from, to }),
    }
    group.push(Row::Phase { from, to });
    group.event(EventKind::PhaseChanged, json!({"from": from.as_str(), "to": to.as_str()}));
    Ok(group)
}

fn reachable(from: Phase) -> &'static str {
    match from {
        Phase::Idle | Phase::Done => "planning",
        Phase::Planning => "implement",
        Phase::Implement => "test or planning",
        Phase::Test => "verify or planning",
        Phase::Verify => "done or planning",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_transitions_of_section_8_2_exist() {
        let mut open = Vec::new();
        for phase in Phase::ALL {
            for to in Phase::ALL {
                if transition(Facts { phase, has_approved_plan: true, report_approved: true }, to).is_ok() {
                    open.push(format!("{phase} {to}"));
                }
            }
        }
        assert_eq!(
            open,
            [
                "idle planning",
                "planning implement",
                "implement planning",
                "implement test",
                "test planning",
                "verify planning",
                "done planning",
            ]
        );
    }

    #[test]
    fn implement_needs_an_approved_plan() {
        let facts = Facts { phase: Phase::Planning, has_approved_plan: false, report_approved: false };
        assert_eq!(transition(facts, Phase::Implement), Err(Refusal::NoApprovedPlan));
    }

    #[test]
    fn implementation_complete_is_recorded_with_the_phase() {
        let group = transition(
            Facts { phase: Phase::Implement, has_approved_plan: false, report_approved: false },
            Phase::Test,
        )
        .unwrap();
        assert_eq!(
            group.0,
            [
                Row::Event { kind: EventKind::ImplementationComplete, detail: json!({}) },
                Row::Phase { from: Phase::Implement, to: Phase::Test },
                Row::Event { kind: EventKind::PhaseChanged, detail: json!({"from": "implement", "to": "test"}) },
            ]
        );
    }

    #[test]
    fn a_new_cycle_retires_the_old_approval() {
        let retired = |phase| {
            let group =
                transition(Facts { phase, has_approved_plan: true, report_approved: true }, Phase::Planning).unwrap();
            group.0[0].clone()
        };
        assert_eq!(retired(Phase::Implement), Row::RetireApprovedPlans(PlanStatus::Superseded));
        assert_eq!(retired(Phase::Done), Row::RetireApprovedPlans(PlanStatus::Completed));
    }

    #[test]
    fn a_refusal_says_where_one_can_go() {
        let facts = Facts { phase: Phase::Implement, has_approved_plan: true, report_approved: true };
        assert_eq!(
            transition(facts, Phase::Verify).unwrap_err().to_string(),
            "there is no way from implement to verify; from implement the conversation can go to test or planning"
        );
    }
}
