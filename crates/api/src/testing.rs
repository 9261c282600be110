//! Behavioural tests as rows: what a plan promises, the scripts that check it, what
//! the results of their runs, and which files the project had (DEC-120 to DEC-123).

use serde_json::Value;

/// One success criterion of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Criterion {
    pub id: String,
    pub text: String,
}

/// One row of `sdlc_test_cases`: a bash script and the criterion it traces.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    pub id: String,
    pub plan: i64,
    /// `None` for helpers, which prove nothing (section 8.6.1).
    pub criterion: Option<String>,
    pub title: String,
    pub script: String,
    /// The surfaces of section 8.5.2 its assertions look at, as a JSON array.
    pub surfaces: Value,
    pub status: CaseStatus,
    /// Why it was rejected: rule ids and lines.
    pub reject_reason: Option<String>,
    /// The session that wrote it, if a model did.
    pub generator_session: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseStatus {
    Accepted,
    Rejected,
    Retired,
}

impl CaseStatus {
    pub const ALL: [CaseStatus; 3] = [CaseStatus::Accepted, CaseStatus::Rejected, CaseStatus::Retired];

    pub fn as_str(self) -> &'static str {
        match self {
            CaseStatus::Accepted => "accepted",
            CaseStatus::Rejected => "rejected",
            CaseStatus::Retired => "retired",
        }
    }

    pub fn from_text(text: &str) -> Option<CaseStatus> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// One row of `sdlc_test_runs`: one case, run once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestRun {
    pub case: String,
    /// The session of the run; all cases of one run share it.
    pub run: String,
    /// `None` if the script did not exit by itself: refused, timed out, interrupted.
    pub exit_code: Option<i64>,
    pub stdout: String,
    pub stderr: String,
    pub started_at: String,
    /// None if it was refused or interrupted.
    pub completed_at: Option<String>,
    pub timed_out: bool,
    pub took_ms: Option<i64>,
    /// Digest of the script that was run.
    pub script_sha256: Option<String>,
    /// Digest of the project's files when the run began.
    pub project_sha256: Option<String>,
    /// The newest event of the database when the snapshot was taken.
    pub seen_event: Option<i64>,
}

/// One file of a project, by its path below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectFile {
    pub path: String,
    pub size: u64,
    pub sha256: String,
}
