//! Whether the tests of a plan are good enough to leave the test phase (section
//! 8.6.2, DEC-125).
//!
//! A result is worth something for the script and the project it was got with. So
//! each run carries the digest of both, and a call that may have changed files begun
//! since makes it stale as well: a look at a project does not see what `.gitignore`
//! leaves out, such as the program that was built. Stale results are got again by
//! running the tests again; nothing is repaired here.

use ona_api::testing::{CaseStatus, Criterion, TestCase, TestRun};
use std::fmt;

/// Everything known of the tests of one plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Book {
    pub plan: i64,
    pub criteria: Vec<Criterion>,
    /// All cases of the plan, rejected and retired ones too.
    pub cases: Vec<Case>,
    /// Of the project's files now; None if they can not be read.
    pub project_sha256: Option<String>,
    /// Calls that may have changed files: the event each began with, and the tool.
    pub mutations: Vec<(i64, String)>,
    /// The newest event of the conversation when all this was read.
    pub newest_event: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub case: TestCase,
    /// Of the script as it is now.
    pub script_sha256: String,
    /// The newest one.
    pub run: Option<TestRun>,
}

/// What the newest run of a case is worth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Passed,
    Failed(i64),
    TimedOut,
    /// Refused or interrupted.
    NotCompleted,
    NotRun,
    /// It was run with another script than the one that is recorded.
    ScriptChanged,
    /// The project was changed since, by what.
    Stale(Change),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Files,
    Call(String),
}

impl Standing {
    /// One word for tables and machines.
    pub fn word(&self) -> &'static str {
        match self {
            Standing::Passed => "passed",
            Standing::Failed(_) => "failed",
            Standing::TimedOut => "timed out",
            Standing::NotCompleted => "not completed",
            Standing::NotRun => "not run",
            Standing::ScriptChanged | Standing::Stale(_) => "stale",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Standing::Failed(code) => write!(f, "failed with exit code {code}"),
            Standing::NotCompleted => f.write_str("was refused or interrupted"),
            Standing::NotRun => f.write_str("was not run"),
            Standing::ScriptChanged => f.write_str("was run with another script"),
            Standing::Stale(Change::Files) => f.write_str("was run before the project's files changed"),
            Standing::Stale(Change::Call(tool)) => write!(f, "was run before the last {tool} call"),
            Standing::Passed | Standing::TimedOut => f.write_str(self.word()),
        }
    }
}

/// Why the gate is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The plan promises nothing, so nothing can be shown.
    NoCriteria,
    Missing {
        /// Criteria without an accepted case.
        uncovered: Vec<String>,
        /// Traced cases that do not count, each with what it is worth and its criterion.
        wanting: Vec<(String, Standing, String)>,
    },
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (uncovered, wanting) = match self {
            Gap::NoCriteria => return f.write_str("the approved plan has no success criteria"),
            Gap::Missing { uncovered, wanting } => (uncovered, wanting),
        };
        let separator = if uncovered.is_empty() || wanting.is_empty() { "" } else { "; " };
        if !uncovered.is_empty() {
            write!(f, "no test for {}", uncovered.join(", "))?;
        }
        f.write_str(separator)?;
        let cases: Vec<_> =
            wanting.iter().map(|(id, standing, criterion)| format!("{id} {standing} ({criterion})")).collect();
        f.write_str(&cases.join(", "))
    }
}

impl Book {
    /// The cases that can be run, in order.
    pub fn accepted(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.case.status == CaseStatus::Accepted)
    }

    /// Accepted cases that trace one of the plan's criteria.
    pub fn traced(&self) -> impl Iterator<Item = &Case> {
        self.accepted().filter(|case| self.criteria.iter().any(|criterion| case.traces(&criterion.id)))
    }

    pub fn standing(&self, case: &Case) -> Standing {
        let Some(run) = &case.run else { return Standing::NotRun };
        if run.timed_out {
            return Standing::TimedOut;
        }
        let Some(code) = run.exit_code.filter(|_| run.completed_at.is_some()) else { return Standing::NotCompleted };
        if code != 0 {
            return Standing::Failed(code);
        }
        // A run that does not say what it was made with proves nothing.
        if run.script_sha256.as_deref() != Some(&case.script_sha256) {
            return Standing::ScriptChanged;
        }
        if run.project_sha256.is_none() || run.project_sha256 != self.project_sha256 {
            return Standing::Stale(Change::Files);
        }
        let since = run.seen_event.unwrap_or(i64::MIN);
        match self.mutations.iter().rfind(|(event, _)| *event > since) {
            Some((_, tool)) => Standing::Stale(Change::Call(tool.clone())),
            None => Standing::Passed,
        }
    }

    /// The coverage gate: nothing, or why it is closed.
    pub fn gap(&self) -> Option<Gap> {
        if self.criteria.is_empty() {
            return Some(Gap::NoCriteria);
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
            .map(|case| (case.case.id.clone(), self.standing(case), case.case.criterion.clone().unwrap_or_default()))
            .filter(|(_, standing, _)| *standing != Standing::Passed)
            .collect();
        (!uncovered.is_empty() || !wanting.is_empty()).then_some(Gap::Missing { uncovered, wanting })
    }
}

impl Case {
    fn traces(&self, criterion: &str) -> bool {
        self.case.criterion.as_deref() == Some(criterion)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    pub(crate) fn case(id: &str, criterion: Option<&str>) -> Case {
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
        Case {
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

    pub(crate) fn book() -> Book {
        let criterion = |id: &str| Criterion { id: id.into(), text: format!("text of {id}") };
        Book {
            plan: 1,
            criteria: vec![criterion("SC-1"), criterion("SC-2")],
            cases: vec![case("t1", Some("SC-1")), case("t2", Some("SC-2")), case("helper", None)],
            project_sha256: Some("project".into()),
            mutations: vec![(9, "Bash".into())],
            newest_event: 20,
        }
    }

    fn with(change: impl FnOnce(&mut Book)) -> Option<String> {
        let mut book = book();
        change(&mut book);
        book.gap().map(|gap| gap.to_string())
    }

    fn run(book: &mut Book) -> &mut TestRun {
        book.cases[0].run.as_mut().unwrap()
    }

    #[test]
    fn the_gate_opens_when_every_criterion_has_a_passing_fresh_test() {
        assert_eq!(book().gap(), None);
        // A second passing test, a helper that failed, a rejected and a retired case change nothing.
        assert_eq!(with(|book| book.cases.push(case("t3", Some("SC-1")))), None);
        assert_eq!(with(|book| book.cases[2].run.as_mut().unwrap().exit_code = Some(1)), None);
        for status in [CaseStatus::Rejected, CaseStatus::Retired] {
            let mut other = case("t3", Some("SC-1"));
            other.case.status = status;
            other.run = None;
            assert_eq!(with(|book| book.cases.push(other)), None);
        }
    }

    #[test]
    fn everything_that_is_missing_is_named() {
        let closed = |change: fn(&mut Book)| with(change).unwrap();
        assert_eq!(closed(|book| book.criteria.clear()), "the approved plan has no success criteria");
        assert_eq!(
            closed(|book| {
                book.cases.remove(1);
            }),
            "no test for SC-2"
        );
        assert_eq!(closed(|book| book.cases.clear()), "no test for SC-1, SC-2");
        assert_eq!(closed(|book| book.cases[0].case.criterion = None), "no test for SC-1");
        assert_eq!(closed(|book| book.cases[0].case.criterion = Some("SC-9".into())), "no test for SC-1");
        assert_eq!(closed(|book| book.cases[0].case.status = CaseStatus::Rejected), "no test for SC-1");
        assert_eq!(closed(|book| book.cases[0].run = None), "t1 was not run (SC-1)");
        assert_eq!(closed(|book| run(book).exit_code = Some(3)), "t1 failed with exit code 3 (SC-1)");
        assert_eq!(closed(|book| run(book).timed_out = true), "t1 timed out (SC-1)");
        assert_eq!(closed(|book| run(book).completed_at = None), "t1 was refused or interrupted (SC-1)");
        assert_eq!(closed(|book| run(book).exit_code = None), "t1 was refused or interrupted (SC-1)");
        assert_eq!(
            closed(|book| {
                book.cases.remove(1);
                run(book).exit_code = Some(1);
                book.cases.push(case("t3", Some("SC-1")));
                book.cases[2].run = None;
            }),
            "no test for SC-2; t1 failed with exit code 1 (SC-1), t3 was not run (SC-1)"
        );
    }

    #[test]
    fn a_result_counts_for_its_script_and_its_project_alone() {
        let closed = |change: fn(&mut Book)| with(change).unwrap();
        assert_eq!(
            closed(|book| book.cases[0].script_sha256 = "other".into()),
            "t1 was run with another script (SC-1)"
        );
        assert_eq!(closed(|book| run(book).script_sha256 = None), "t1 was run with another script (SC-1)");
        assert_eq!(
            closed(|book| run(book).project_sha256 = None),
            "t1 was run before the project's files changed (SC-1)"
        );
        assert_eq!(
            closed(|book| book.project_sha256 = Some("other".into())),
            "t1 was run before the project's files changed (SC-1), t2 was run before the project's files changed (SC-2)"
        );
        assert_eq!(
            closed(|book| {
                book.project_sha256 = None;
                book.cases.remove(1);
                book.criteria.remove(1);
            }),
            "t1 was run before the project's files changed (SC-1)"
        );
        assert_eq!(
            closed(|book| {
                book.mutations.push((11, "Edit".into()));
                book.cases[1].run.as_mut().unwrap().seen_event = Some(12);
            }),
            "t1 was run before the last Edit call (SC-1)"
        );
        assert_eq!(closed(|book| run(book).seen_event = None), "t1 was run before the last Bash call (SC-1)");
    }
}
