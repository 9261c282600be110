//! The results of a plan's tests (section 8.7, DEC-126): the matrix from criterion
//! to case to status, what every case printed, what is not covered, and the totals.
//!
//! A report is a value; `text` and `html` render it, `json` is its exact form, whose
//! digest is what the operator approves. It needs no test source to be complete.

mod html;
mod text;

use super::coverage::{CaseResult, RecordedCase, TestRecord};
use ona_api::digest;
use ona_api::testing::CaseStatus;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq)]
pub struct TestReport {
    pub conversation: String,
    pub plan: i64,
    /// First line of the plan, for readers of the report alone.
    pub title: String,
    pub criteria: Vec<CriterionLine>,
    pub cases: Vec<CaseLine>,
    /// Scripts that were not taken as tests: id, title, why.
    pub rejected: Vec<(String, String, String)>,
    pub totals: Totals,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionLine {
    pub id: String,
    pub text: String,
    /// Ids of the cases that trace it.
    pub cases: Vec<String>,
    /// Whether at least one of them passes.
    pub covered: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CaseLine {
    pub id: String,
    /// None for a helper, which counts for nothing.
    pub criterion: Option<String>,
    pub title: String,
    pub surfaces: Value,
    pub status: CaseResult,
    pub exit_code: Option<i64>,
    pub stdout: String,
    pub stderr: String,
    pub started_at: Option<String>,
    pub completed_at: Option<String>,
    pub took_ms: Option<i64>,
    pub run: Option<String>,
    pub script_sha256: String,
}

/// Of the traced cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub traced: usize,
    pub passed: usize,
    /// Ran and did not pass, in whatever way.
    pub failed: usize,
    pub stale: usize,
    pub not_run: usize,
}

impl Totals {
    /// Between 0 and 1; None without a traced test.
    pub fn pass_rate(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "nobody has that many tests")]
        let rate = |passed: usize, traced: usize| passed as f64 / traced as f64;
        (self.traced > 0).then(|| rate(self.passed, self.traced))
    }

    /// The rate as a percentage, for people.
    pub fn percent(&self) -> String {
        self.pass_rate().map_or_else(|| "no traced test".to_owned(), |rate| format!("{:.1} %", rate * 100.0))
    }
}

impl TestReport {
    pub fn new(conversation: &str, plan_text: &str, record: &TestRecord) -> Self {
        let cases: Vec<CaseLine> = record.accepted().map(|case| line(record, case)).collect();
        let criteria: Vec<_> = record
            .criteria
            .iter()
            .map(|criterion| {
                let tracing = || cases.iter().filter(|case| case.criterion.as_deref() == Some(&criterion.id));
                CriterionLine {
                    id: criterion.id.clone(),
                    text: criterion.text.clone(),
                    cases: tracing().map(|case| case.id.clone()).collect(),
                    covered: tracing().any(|case| case.status == CaseResult::Passed),
                }
            })
            .collect();
        let mut totals = Totals::default();
        for case in record.traced() {
            totals.traced += 1;
            match record.status(case) {
                CaseResult::Passed => totals.passed += 1,
                CaseResult::Failed(_) | CaseResult::TimedOut | CaseResult::NotCompleted => totals.failed += 1,
                CaseResult::ScriptChanged | CaseResult::Stale(_) => totals.stale += 1,
                CaseResult::NotRun => totals.not_run += 1,
            }
        }
        let rejected = record.cases.iter().filter(|case| case.case.status == CaseStatus::Rejected);
        let title = plan_text.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        Self {
            conversation: conversation.to_owned(),
            plan: record.plan,
            title: title.unwrap_or_default().to_owned(),
            criteria,
            cases,
            rejected: rejected
                .map(|RecordedCase { case, .. }| {
                    (case.id.clone(), case.title.clone(), case.reject_reason.clone().unwrap_or_default())
                })
                .collect(),
            totals,
        }
    }

    /// Criteria without a passing traced test.
    pub fn uncovered(&self) -> impl Iterator<Item = &CriterionLine> {
        self.criteria.iter().filter(|criterion| !criterion.covered)
    }

    pub fn json(&self) -> Value {
        let criteria = self.criteria.iter().map(|criterion| {
            let CriterionLine { id, text, cases, covered } = criterion;
            json!({"id": id, "text": text, "cases": cases, "covered": covered})
        });
        let cases = self.cases.iter().map(|case| {
            json!({
                "id": case.id,
                "criterion_id": case.criterion,
                "title": case.title,
                "surfaces": case.surfaces,
                "status": case.status.word(),
                "status_text": case.status.to_string(),
                "exit_code": case.exit_code,
                "stdout": case.stdout,
                "stderr": case.stderr,
                "started_at": case.started_at,
                "completed_at": case.completed_at,
                "took_ms": case.took_ms,
                "run_id": case.run,
                "script_sha256": case.script_sha256,
            })
        });
        let rejected = self.rejected.iter().map(|(id, title, why)| json!({"id": id, "title": title, "reason": why}));
        let totals = &self.totals;
        json!({
            "conversation_id": self.conversation,
            "plan_id": self.plan,
            "title": self.title,
            "criteria": criteria.collect::<Vec<_>>(),
            "cases": cases.collect::<Vec<_>>(),
            "rejected": rejected.collect::<Vec<_>>(),
            "uncovered": self.uncovered().map(|criterion| &criterion.id).collect::<Vec<_>>(),
            "totals": {
                "traced": totals.traced,
                "passed": totals.passed,
                "failed": totals.failed,
                "stale": totals.stale,
                "not_run": totals.not_run,
                "pass_rate": totals.pass_rate(),
            },
        })
    }

    /// Of the JSON form on one line.
    pub fn sha256(&self) -> String {
        digest::sha256_hex(self.json().to_string().as_bytes())
    }

    /// For a terminal or a file.
    pub fn text(&self) -> String {
        text::render(self)
    }

    /// Returns one file that needs nothing else.
    pub fn html(&self) -> String {
        html::render(self)
    }
}

fn line(record: &TestRecord, case: &RecordedCase) -> CaseLine {
    let run = case.run.clone();
    CaseLine {
        id: case.case.id.clone(),
        criterion: case.case.criterion.clone(),
        title: case.case.title.clone(),
        surfaces: case.case.surfaces.clone(),
        status: record.status(case),
        exit_code: run.as_ref().and_then(|run| run.exit_code),
        started_at: run.as_ref().map(|run| run.started_at.clone()),
        completed_at: run.as_ref().and_then(|run| run.completed_at.clone()),
        took_ms: run.as_ref().and_then(|run| run.took_ms),
        run: run.as_ref().map(|run| run.run.clone()),
        script_sha256: case.script_sha256.clone(),
        stderr: run.as_ref().map(|run| run.stderr.clone()).unwrap_or_default(),
        stdout: run.map(|run| run.stdout).unwrap_or_default(),
    }
}

/// `1.2 s`, for people.
fn seconds(took_ms: Option<i64>) -> Option<String> {
    took_ms.map(|ms| format!("{}.{} s", ms / 1000, ms % 1000 / 100))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testgen::coverage::tests::{case, record};

    fn mixed() -> TestReport {
        let mut record = record();
        let failed = record.cases[1].run.as_mut().unwrap();
        failed.exit_code = Some(2);
        failed.stderr = "expected <b>3</b> & found 2\u{1b}[31m\n".into();
        let mut more = case("t4", Some("SC-1"));
        more.run = None;
        record.cases.push(more);
        let mut bad = case("t5", Some("SC-1"));
        bad.case.status = CaseStatus::Rejected;
        bad.case.reject_reason = Some("L05 line 3".into());
        record.cases.push(bad);
        TestReport::new("conv", "\n# The plan\nwords", &record)
    }

    #[test]
    fn totals_count_traced_cases_alone() {
        let report = mixed();
        assert_eq!(report.totals, Totals { traced: 3, passed: 1, failed: 1, stale: 0, not_run: 1 });
        assert_eq!(report.totals.percent(), "33.3 %");
        assert_eq!(report.uncovered().map(|criterion| criterion.id.as_str()).collect::<Vec<_>>(), ["SC-2"]);
        assert_eq!(Totals::default().pass_rate(), None);
    }

    #[test]
    fn the_text_has_matrix_output_uncovered_list_and_rate() {
        assert_eq!(
            mixed().text(),
            "\
Test report: The plan
conversation conv, plan 1

Success criteria
  SC-1  covered      text of SC-1
        t1      passed         title of t1 (1.2 s)
        t4      not run        title of t4
  SC-2  NOT COVERED  text of SC-2
        t2      failed         title of t2 (1.2 s)

Tests that count for no criterion
        helper  passed         title of helper (1.2 s)

Not taken as tests
        t5      title of t5: L05 line 3

Output

t1  title of t1
  passed, exit code 0, started 2026-01-01 00:00:00
  stdout
    output of t1
  stderr is empty

t2  title of t2
  failed with exit code 2, started 2026-01-01 00:00:00
  stdout
    output of t2
  stderr
    expected <b>3</b> & found 2␛[31m

helper  title of helper
  passed, exit code 0, started 2026-01-01 00:00:00
  stdout
    output of helper
  stderr is empty

t4  title of t4
  was not run

Uncovered: 1
  SC-2  text of SC-2

3 traced tests: 1 passed, 1 failed, 0 stale, 1 not run; pass rate 33.3 %
"
        );
    }

    #[test]
    fn an_empty_list_of_uncovered_criteria_is_shown_too() {
        let report = TestReport::new("conv", "# Plan", &record());
        assert!(report.text().contains("\nUncovered: 0\n"), "{}", report.text());
        assert_eq!(report.json()["uncovered"], json!([]));
        assert!(report.html().contains("Every success criterion has a passing test."));
    }

    #[test]
    fn a_page_quotes_what_tests_printed_and_loads_nothing() {
        let page = mixed().html();
        assert!(page.contains("expected &lt;b&gt;3&lt;/b&gt; &amp; found 2␛[31m"), "{page}");
        for outside in ["http:", "https:", "src=", "@import", "<script", "url("] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn the_digest_is_that_of_the_printed_line() {
        let report = mixed();
        assert_eq!(report.sha256(), digest::sha256_hex(report.json().to_string().as_bytes()));
    }
}
