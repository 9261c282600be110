//! The transition table of section 8.2 with DEC-110 to DEC-114.

use crate::testgen::coverage::{CoverageGap, TestRecord};
use ona_api::{Group, LoggedEvent, Phase, PlanCompletion, PlanStatus, Row};

/// What the database says about the conversation right now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts<'a> {
    pub phase: Phase,
    pub has_approved_plan: bool,
    /// The tests of the approved plan. Needed for verify and done alone.
    pub tests: Option<&'a TestRecord>,
    /// SHA-256 of the report the operator was shown and approved (section 8.7).
    pub approved_report: Option<&'a str>,
}

impl Facts<'_> {
    /// Enough for every transition but those to verify and done.
    pub fn new(phase: Phase, has_approved_plan: bool) -> Self {
        Self { phase, has_approved_plan, tests: None, approved_report: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransitionRefused {
    #[error("the conversation is already in phase {0}")]
    AlreadyThere(Phase),
    #[error("cannot go from {from} to {to}; from {from} the conversation can go to {}", reachable(*from))]
    NoSuchTransition { from: Phase, to: Phase },
    #[error("implement needs an approved plan, and this conversation has none; approve one with `ona plan approve ID`")]
    NoApprovedPlan,
    #[error("{0} needs test results of an approved plan, and this conversation has no approved plan")]
    NothingToTest(Phase),
    #[error("{to} needs a passing traced test for every success criterion: {gap}")]
    NotCovered { to: Phase, gap: CoverageGap },
    #[error("done needs the operator's approval of the test report; look at it, then repeat with --approve")]
    NotApproved,
    #[error("the report is not the one that was approved any more; look at it again")]
    ReportChanged,
}

/// Returns the rows that make the transition, to be committed together, or why it is refused.
pub fn transition(facts: Facts<'_>, to: Phase) -> Result<Group, TransitionRefused> {
    let from = facts.phase;
    if from == to {
        return Err(TransitionRefused::AlreadyThere(to));
    }
    let mut group = Group::default();
    match (from, to) {
        (_, Phase::Planning) => {
            // An old approval must not disarm the gate of a new cycle (DEC-112), nor
            // one that is given while this transition waits for the database.
            let (status, event) = match from {
                Phase::Done => (PlanStatus::Completed, LoggedEvent::PlanCompleted(PlanCompletion::NewPlanning)),
                _ => (PlanStatus::Superseded, LoggedEvent::PlanSuperseded),
            };
            group.push(Row::RetireApprovedPlans(status));
            if facts.has_approved_plan {
                group.log(event);
            }
        }
        (Phase::Planning, Phase::Implement) if !facts.has_approved_plan => {
            return Err(TransitionRefused::NoApprovedPlan);
        }
        (Phase::Planning, Phase::Implement) => group.push(Row::NeedsApprovedPlan),
        (Phase::Implement, Phase::Test) => group.log(LoggedEvent::ImplementationComplete),
        (Phase::Test, Phase::Verify) => {
            let tests = covered(facts, to)?;
            group.push(Row::NoEventAfter(tests.newest_event));
            group.push(Row::NeedsApprovedPlan);
        }
        (Phase::Verify, Phase::Done) => {
            // Verify runs nothing, but what was approved must still be what is there.
            let tests = covered(facts, to)?;
            let report = facts.approved_report.ok_or(TransitionRefused::NotApproved)?;
            group.push(Row::NoEventAfter(tests.newest_event));
            group.push(Row::PlanStatus { id: tests.plan, from: PlanStatus::Approved, to: PlanStatus::Completed });
            // Older approvals, which only SQL can have left beside it.
            group.push(Row::RetireApprovedPlans(PlanStatus::Superseded));
            group.log(LoggedEvent::VerifyApproved { plan: tests.plan, report_sha256: report.to_owned() });
            group.log(LoggedEvent::PlanCompleted(PlanCompletion::Verified { plan: tests.plan }));
        }
        _ => return Err(TransitionRefused::NoSuchTransition { from, to }),
    }
    group.push(Row::Phase { from, to });
    group.log(LoggedEvent::PhaseChanged { from, to });
    Ok(group)
}

/// Checks the coverage gate (section 8.6.2).
fn covered<'a>(facts: Facts<'a>, to: Phase) -> Result<&'a TestRecord, TransitionRefused> {
    let tests = facts.tests.ok_or(TransitionRefused::NothingToTest(to))?;
    match tests.gap() {
        None => Ok(tests),
        Some(gap) => Err(TransitionRefused::NotCovered { to, gap }),
    }
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
    use crate::testgen::coverage::tests::record;

    fn open(tests: Option<&TestRecord>, approved_report: Option<&str>) -> Vec<String> {
        let mut open = Vec::new();
        for phase in Phase::ALL {
            for to in Phase::ALL {
                if transition(Facts { phase, has_approved_plan: true, tests, approved_report }, to).is_ok() {
                    open.push(format!("{phase} {to}"));
                }
            }
        }
        open
    }

    #[test]
    fn only_the_transitions_of_section_8_2_exist() {
        let always = [
            "idle planning",
            "planning implement",
            "implement planning",
            "implement test",
            "test planning",
            "test verify",
            "verify planning",
            "verify done",
            "done planning",
        ];
        assert_eq!(open(Some(&record()), Some("report")), always);
        let without = |missing: &[&str]| always.into_iter().filter(|way| !missing.contains(way)).collect::<Vec<_>>();
        assert_eq!(open(Some(&record()), None), without(&["verify done"]));
        assert_eq!(open(None, Some("report")), without(&["test verify", "verify done"]));
        let mut failing = record();
        failing.cases[0].run.as_mut().unwrap().exit_code = Some(1);
        assert_eq!(open(Some(&failing), Some("report")), without(&["test verify", "verify done"]));
    }

    #[test]
    fn implement_needs_an_approved_plan() {
        let facts = Facts::new(Phase::Planning, false);
        assert_eq!(transition(facts, Phase::Implement), Err(TransitionRefused::NoApprovedPlan));
    }

    #[test]
    fn implementation_complete_is_recorded_with_the_phase() {
        let group = transition(Facts::new(Phase::Implement, false), Phase::Test).unwrap();
        assert_eq!(
            group.0,
            [
                LoggedEvent::ImplementationComplete.into(),
                Row::Phase { from: Phase::Implement, to: Phase::Test },
                LoggedEvent::PhaseChanged { from: Phase::Implement, to: Phase::Test }.into(),
            ]
        );
    }

    #[test]
    fn approval_of_the_report_completes_the_plan_in_the_same_commit() {
        let tests = record();
        let facts =
            Facts { phase: Phase::Verify, has_approved_plan: true, tests: Some(&tests), approved_report: Some("0123") };
        assert_eq!(
            transition(facts, Phase::Done).unwrap().0,
            [
                Row::NoEventAfter(20),
                Row::PlanStatus { id: 1, from: PlanStatus::Approved, to: PlanStatus::Completed },
                Row::RetireApprovedPlans(PlanStatus::Superseded),
                LoggedEvent::VerifyApproved { plan: 1, report_sha256: "0123".into() }.into(),
                LoggedEvent::PlanCompleted(PlanCompletion::Verified { plan: 1 }).into(),
                Row::Phase { from: Phase::Verify, to: Phase::Done },
                LoggedEvent::PhaseChanged { from: Phase::Verify, to: Phase::Done }.into(),
            ]
        );
    }

    #[test]
    fn a_new_cycle_retires_the_old_approval() {
        let retired = |phase| transition(Facts::new(phase, true), Phase::Planning).unwrap().0[0].clone();
        assert_eq!(retired(Phase::Implement), Row::RetireApprovedPlans(PlanStatus::Superseded));
        assert_eq!(retired(Phase::Done), Row::RetireApprovedPlans(PlanStatus::Completed));
    }

    #[test]
    fn a_refusal_says_where_one_can_go_or_what_is_missing() {
        let facts = Facts::new(Phase::Implement, true);
        assert_eq!(
            transition(facts, Phase::Verify).unwrap_err().to_string(),
            "cannot go from implement to verify; from implement the conversation can go to test or planning"
        );
        let mut tests = record();
        tests.cases[1].run = None;
        let facts = Facts { tests: Some(&tests), ..Facts::new(Phase::Test, true) };
        assert_eq!(
            transition(facts, Phase::Verify).unwrap_err().to_string(),
            "verify needs a passing traced test for every success criterion: t2 was not run (SC-2)"
        );
    }
}
