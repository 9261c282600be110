//! Decides whether the tests of a plan are good enough to leave the test phase (section
//! 8.6.2, DEC-125).
//!
//! A result is valid for the script and the project it was made with. So
//! each run carries the digest of both, and a call that may have changed files begun
//! since makes it stale as well: a snapshot of a project does not include what `.gitignore`
//! leaves out, such as the program that was built. Stale results are renewed by
//! running the tests again; nothing is repaired here.

use ona_api::testing::{CaseStatus, Criterion, TestCase, TestRun};
use std::fmt;

/// Everything known of the tests of one plan.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRecord {
    pub plan: i64,
    pub criteria: Vec<Criterion>,
    /// All cases of the plan, rejected and retired ones too.
    pub cases: Vec<RecordedCase>,
    /// Of the project's files now; None if they cannot be read.
    pub project_sha256: Option<String>,
    /// Calls that may have changed files: the event each began with, and the tool.
    pub mutations: Vec<(i64, String)>,
    /// The newest event of the conversation when all this was read.
    pub newest_event: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RecordedCase {
    pub case: TestCase,
    /// Of the script as it is now.
    pub script_sha256: String,
    /// The newest one.
    pub run: Option<TestRun>,
}

/// What the newest run of a case is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseResult {
    Passed,
    Failed(i64),
    TimedOut,
    /// Refused or interrupted.
    NotCompleted,
    NotRun,
    /// It was run with another script than the one that is recorded.
    ScriptChanged,
    /// The project was changed since, by what.
    Stale(StaleReason),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StaleReason {
    Files,
    Call(String),
}

impl CaseResult {
    /// Returns one word for tables and machines.
    pub fn word(&self) -> &'static str {
        match self {
            CaseResult::Passed => "passed",
            CaseResult::Failed(_) => "failed",
            CaseResult::TimedOut => "timed out",
            CaseResult::NotCompleted => "not completed",
            CaseResult::NotRun => "not run",
            CaseResult::ScriptChanged | CaseResult::Stale(_) => "stale",
        }
    }
}

impl fmt::Display for CaseResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CaseResult::Failed(code) => write!(f, "failed with exit code {code}"),
            CaseResult::NotCompleted => f.write_str("was refused or interrupted"),
            CaseResult::NotRun => f.write_str("was not run"),
            CaseResult::ScriptChanged => f.write_str("was run with another script"),
            CaseResult::Stale(StaleReason::Files) => f.write_str("was run before the project's files changed"),
            CaseResult::Stale(StaleReason::Call(tool)) => write!(f, "was run before the last {tool} call"),
            CaseResult::Passed | CaseResult::TimedOut => f.write_str(self.word()),
        }
    }
}

/// Why the gate is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoverageGap {
    /// The plan promises nothing, so nothing can be shown.
    NoCriteria,
    Missing {
        /// Criteria without an accepted case.
        uncovered: Vec<String>,
        /// Traced cases that do not count, each with what it is worth and its criterion.
        wanting: Vec<(String, CaseResult, String)>,
    },
}

impl fmt::Display for CoverageGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (uncovered, wanting) = match self {
            CoverageGap::NoCriteria => return f.write_str("the approved plan has no success criteria"),
            CoverageGap::Missing { uncovered, wanting } => (uncovered, wanting),
        };
        let separator = if uncovered.is_empty() || wanting.is_empty() { "" } else { "; " };
        if !uncovered.is_empty() {
            write!(f, "no test for {}", uncovered.join(", "))?;
        }
        f.write_str(separator)?;
        let cases: Vec<_> =
            wanting.iter().map(|(id, status, criterion)| format!("{id} {status} ({criterion})")).collect();
        f.write_str(&cases.join(", "))
    }
}

impl TestRecord {
    /// Returns the cases that can be run, in order.
    pub fn accepted(&self) -> impl Iterator<Item = &RecordedCase> {
        self.cases.iter().filter(|case| case.case.status == CaseStatus::Accepted)
    }

    /// Accepted cases that trace one of the plan's criteria.
    pub fn traced(&self) -> impl Iterator<Item = &RecordedCase> {
        self.accepted().filter(|case| self.criteria.iter().any(|criterion| case.traces(&criterion.id)))
    }

    pub fn status(&self, case: &RecordedCase) -> CaseResult {
        let Some(run) = &case.run else { return CaseResult::NotRun };
        if run.timed_out {
            return CaseResult::TimedOut;
        }
        let Some(code) = run.exit_code.filter(|_| run.completed_at.is_some()) else { return CaseResult::NotCompleted };
        if code != 0 {
            return CaseResult::Failed(code);
        }
        // A run that does not say what it was made with proves nothing.
        if run.script_sha256.as_deref() != Some(&case.script_sha256) {
            return CaseResult::ScriptChanged;
        }
        if run.project_sha256.is_none() || run.project_sha256 != self.project_sha256 {
            return CaseResult::Stale(StaleReason::Files);
        }
        let since = run.seen_event.unwrap_or(i64::MIN);
        match self.mutations.iter().rfind(|(event, _)| *event > since) {
            Some((_, tool)) => CaseResult::Stale(StaleReason::Call(tool.clone())),
            None => CaseResult::Passed,
        }
    }

    /// Returns why the coverage gate is closed; `None` if it is open.
    pub fn gap(&self) -> Option<CoverageGap> {
        if self.criteria.is_empty() {
            return Some(CoverageGap::NoCriteria);
        }
        let covered = |criterion: &&Criterion| self.accepted().any(|case| case.traces(&criterion.id));
        let uncovered: Vec<_> = self
            .criteria
            .iter()
            .filter(|criterion| !covered(criterion))
            .map(|criterion| criterion.id.clone())
            .collect();
        let wanting: Vec<_> = self
            .traced()
            .map(|case| (case.case.id.clone(), self.status(case), case.case.criterion.clone().unwrap_or_default()))
            .filter(|(_, status, _)| *status != CaseResult::Passed)
            .collect();
        (!uncovered.is_empty() || !wanting.is_empty()).then_some(CoverageGap::Missing { uncovered, wanting })
    }
}

impl RecordedCase {
    fn traces(&self, criterion: &str) -> bool {
        self.case.criterion.as_deref() == Some(criterion)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn case(id: &str, criterion: Option<&str>) -> RecordedCase {
        let run = TestRun {
            case: id.into(),
            run: "run".into(),
            exit_code: Some(0),
            stdout: format!("output of {id}\n"),
            started_at: "2026-01-01 00:00:00".into(),
            completed_at: Some("2026-01-01 00:00:01".into()),
            took_ms: Some(1234),
            script_sha256: Some("script".into()),
            project_sha256: Some("project".into()),
            seen_event: Some(10),
            ..TestRun::default()
        };
        RecordedCase {
            case: TestCase {
                id: id.into(),
                plan: 1,
                criterion: criterion.map(str::to_owned),
                title: format!("title of {id}"),
                script: String::new(),
                surfaces: json!(["process_output"]),
                status: CaseStatus::Accepted,
                reject_reason: None,
                generator_session: None,
            },
            script_sha256: "script".into(),
            run: Some(run),
        }
    }

    pub(crate) fn record() -> TestRecord {
        let criterion = |id: &str| Criterion { id: id.into(), text: format!("text of {id}") };
        TestRecord {
            plan: 1,
            criteria: vec![criterion("SC-1"), criterion("SC-2")],
            cases: vec![case("t1", Some("SC-1")), case("t2", Some("SC-2")), case("helper", None)],
            project_sha256: Some("project".into()),
            mutations: vec![(9, "Bash".into())],
            newest_event: 20,
        }
    }

    fn with(change: impl FnOnce(&mut TestRecord)) -> Option<String> {
        let mut record = record();
        change(&mut record);
        record.gap().map(|gap| gap.to_string())
    }

    fn run(record: &mut TestRecord) -> &mut TestRun {
        record.cases[0].run.as_mut().unwrap()
    }

    #[test]
    fn the_gate_opens_when_every_criterion_has_a_passing_fresh_test() {
        assert_eq!(record().gap(), None);
        // A second passing test, a helper that failed, a rejected and a retired case change nothing.
        assert_eq!(with(|record| record.cases.push(case("t3", Some("SC-1")))), None);
        assert_eq!(with(|record| record.cases[2].run.as_mut().unwrap().exit_code = Some(1)), None);
        for status in [CaseStatus::Rejected, CaseStatus::Retired] {
            let mut other = case("t3", Some("SC-1"));
            other.case.status = status;
            other.run = None;
            assert_eq!(with(|record| record.cases.push(other)), None);
        }
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        let closed = |change: fn(&mut TestRecord)| with(change).unwrap();
        assert_eq!(closed(|record| record.criteria.clear()), "the approved plan has no success criteria");
        assert_eq!(
            closed(|record| {
                record.cases.remove(1);
            }),
            "no test for SC-2"
        );
        assert_eq!(closed(|record| record.cases.clear()), "no test for SC-1, SC-2");
        assert_eq!(closed(|record| record.cases[0].case.criterion = None), "no test for SC-1");
        assert_eq!(closed(|record| record.cases[0].case.criterion = Some("SC-9".into())), "no test for SC-1");
        assert_eq!(closed(|record| record.cases[0].case.status = CaseStatus::Rejected), "no test for SC-1");
        assert_eq!(closed(|record| record.cases[0].run = None), "t1 was not run (SC-1)");
        assert_eq!(closed(|record| run(record).exit_code = Some(3)), "t1 failed with exit code 3 (SC-1)");
        assert_eq!(closed(|record| run(record).timed_out = true), "t1 timed out (SC-1)");
        assert_eq!(closed(|record| run(record).completed_at = None), "t1 was refused or interrupted (SC-1)");
        assert_eq!(closed(|record| run(record).exit_code = None), "t1 was refused or interrupted (SC-1)");
        assert_eq!(
            closed(|record| {
                record.cases.remove(1);
                run(record).exit_code = Some(1);
                record.cases.push(case("t3", Some("SC-1")));
                record.cases[2].run = None;
            }),
            "no test for SC-2; t1 failed with exit code 1 (SC-1), t3 was not run (SC-1)"
        );
    }

    #[test]
    fn a_result_counts_for_its_script_and_its_project_alone() {
        let closed = |change: fn(&mut TestRecord)| with(change).unwrap();
        assert_eq!(
            closed(|record| record.cases[0].script_sha256 = "other".into()),
            "t1 was run with another script (SC-1)"
        );
        assert_eq!(closed(|record| run(record).script_sha256 = None), "t1 was run with another script (SC-1)");
        assert_eq!(
            closed(|record| run(record).project_sha256 = None),
            "t1 was run before the project's files changed (SC-1)"
        );
        assert_eq!(
            closed(|record| record.project_sha256 = Some("other".into())),
            "t1 was run before the project's files changed (SC-1), t2 was run before the project's files changed (SC-2)"
        );
        assert_eq!(
            closed(|record| {
                record.project_sha256 = None;
                record.cases.remove(1);
                record.criteria.remove(1);
            }),
            "t1 was run before the project's files changed (SC-1)"
        );
        assert_eq!(
            closed(|record| {
                record.mutations.push((11, "Edit".into()));
                record.cases[1].run.as_mut().unwrap().seen_event = Some(12);
            }),
            "t1 was run before the last Edit call (SC-1)"
        );
        assert_eq!(closed(|record| run(record).seen_event = None), "t1 was run before the last Bash call (SC-1)");
    }
}
