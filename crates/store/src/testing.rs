//! Behavioural tests: criteria, cases, runs, and the files a project had when its
//! implementation began (DEC-121, DEC-123).
//!
//! Whether a set of runs is good enough, and which files count as touched, is the
//! workflow's business.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::row_writer::{RowWriter, cells};
use ona_api::testing::{CaseStatus, Criterion, ProjectFile, TestCase, TestRun};
use ona_api::{ConversationId, digest};
use rusqlite::Row;

/// A row of the table of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCase {
    pub case: TestCase,
    pub conversation: ConversationId,
    /// Of the stored script, recomputed: a column can be changed by itself.
    pub script_sha256: String,
    pub created_at: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    pub id: i64,
    pub run: TestRun,
}

/// A call that may have changed the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// `events.id` of its `tool_started` row.
    pub event: i64,
    pub tool: String,
}

pub(crate) fn put_criteria(writer: &RowWriter<'_>, plan: i64, criteria: &[Criterion]) -> Result<(), StoreError> {
    writer.run("DELETE FROM sdlc_criteria WHERE plan_id = ?1", cells![plan])?;
    let sql = "INSERT INTO sdlc_criteria(plan_id, criterion_id, ordinal, text) VALUES (?1, ?2, ?3, ?4)";
    for (ordinal, criterion) in (1i64..).zip(criteria) {
        writer.run(sql, cells![plan, &criterion.id, ordinal, &criterion.text])?;
    }
    Ok(())
}

pub(crate) fn put_case(writer: &RowWriter<'_>, conversation: &str, case: &TestCase) -> Result<(), StoreError> {
    // Of the text as it is stored, so that it can be recomputed.
    let sha256 = digest::sha256_hex(writer.clean(&case.script).as_bytes());
    let sql = "INSERT INTO sdlc_test_cases(id, conversation_id, plan_id, criterion_id, title, script, script_sha256, \
               surfaces, status, reject_reason, generator_session_id) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
               ON CONFLICT(id) DO UPDATE SET conversation_id = excluded.conversation_id, plan_id = excluded.plan_id, \
               criterion_id = excluded.criterion_id, title = excluded.title, script = excluded.script, \
               script_sha256 = excluded.script_sha256, surfaces = excluded.surfaces, status = excluded.status, \
               reject_reason = excluded.reject_reason, generator_session_id = excluded.generator_session_id";
    writer.run(
        sql,
        cells![
            &case.id,
            conversation,
            case.plan,
            case.criterion.as_ref(),
            &case.title,
            &case.script,
            &sha256,
            &case.surfaces,
            case.status.as_str(),
            case.reject_reason.as_ref(),
            case.generator_session.as_ref(),
        ],
    )?;
    Ok(())
}

pub(crate) fn change_status(writer: &RowWriter<'_>, id: &str, to: CaseStatus) -> Result<(), StoreError> {
    let changed = writer.run("UPDATE sdlc_test_cases SET status = ?1 WHERE id = ?2", cells![to.as_str(), id])?;
    if changed == 0 { Err(StoreError::NoTestCase(id.to_owned())) } else { Ok(()) }
}

pub(crate) fn put_run(writer: &RowWriter<'_>, run: &TestRun) -> Result<(), StoreError> {
    let sql = "INSERT INTO sdlc_test_runs(test_case_id, run_id, exit_code, stdout_text, stderr_text, started_at, \
               completed_at, timed_out, took_ms, script_sha256, project_sha256, seen_event) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    writer.run(
        sql,
        cells![
            &run.case,
            &run.run,
            run.exit_code,
            &run.stdout,
            &run.stderr,
            &run.started_at,
            run.completed_at.as_ref(),
            i64::from(run.timed_out),
            run.took_ms,
            run.script_sha256.as_ref(),
            run.project_sha256.as_ref(),
            run.seen_event,
        ],
    )?;
    Ok(())
}

/// Path of the row that says that there is a manifest: an empty project has one too.
const WHOLE: &str = "";

pub(crate) fn put_manifest(
    writer: &RowWriter<'_>,
    conversation: &str,
    files: &[ProjectFile],
) -> Result<(), StoreError> {
    writer.run("DELETE FROM sdlc_manifest WHERE conversation_id = ?1", cells![conversation])?;
    let count = u64::try_from(files.len()).unwrap_or(u64::MAX);
    let whole = ProjectFile { path: WHOLE.to_owned(), size: count, sha256: String::new() };
    // Two paths may become one by redaction; the second then says as much as the first.
    let sql = "INSERT OR REPLACE INTO sdlc_manifest(conversation_id, path, size, sha256) VALUES (?1, ?2, ?3, ?4)";
    for file in files.iter().chain([&whole]) {
        let size = i64::try_from(file.size).unwrap_or(i64::MAX);
        writer.run(sql, cells![conversation, &file.path, size, &file.sha256])?;
    }
    Ok(())
}

const CASES: &str = "SELECT id, conversation_id, plan_id, criterion_id, title, script, surfaces, status, \
    reject_reason, generator_session_id, created_at FROM sdlc_test_cases";

const LATEST: &str = "SELECT r.id, r.test_case_id, r.run_id, r.exit_code, r.stdout_text, r.stderr_text, r.started_at, \
    r.completed_at, r.timed_out, r.took_ms, r.script_sha256, r.project_sha256, r.seen_event \
    FROM sdlc_test_cases c JOIN sdlc_test_runs r ON r.test_case_id = c.id \
    WHERE c.plan_id = ?1 AND r.id = (SELECT max(id) FROM sdlc_test_runs WHERE test_case_id = c.id) ORDER BY r.id";

/// Calls that may change files without being seen by a look at them, newest last.
/// The runner's own calls do not count as changes: what they may write is named beforehand.
const MUTATIONS: &str = "SELECT id, tool FROM (SELECT id, session_id, \
    CASE WHEN json_valid(detail) THEN json_extract(detail, '$.tool_name') END AS tool FROM events \
    WHERE conversation_id = ?1 AND id > ?2 AND event_type = 'tool_started') e \
    WHERE tool IN ('Write', 'Edit', 'NotebookEdit', 'Bash') \
    AND NOT EXISTS (SELECT 1 FROM sdlc_test_runs r WHERE r.run_id = e.session_id) ORDER BY id";

/// What the model asked for and what a hook made of it. A payload that is not JSON,
/// which only foreign SQL can have written, names no path.
const WRITTEN: &str = "WITH entry AS (SELECT t.session_id, t.tool_use_id, t.entry_type, \
    CASE WHEN json_valid(t.payload_json) THEN t.payload_json ELSE '{}' END AS payload \
    FROM transcript_entries t JOIN sessions s ON s.session_id = t.session_id \
    WHERE s.conversation_id = ?1 AND t.entry_type IN ('tool_use', 'internal_hook')), \
    change AS (SELECT session_id, tool_use_id, payload FROM entry WHERE entry_type = 'tool_use' \
    AND json_extract(payload, '$.name') IN ('Write', 'Edit', 'NotebookEdit')) \
    SELECT path FROM ( \
    SELECT coalesce(json_extract(payload, '$.input.file_path'), json_extract(payload, '$.input.notebook_path')) AS path \
    FROM change \
    UNION \
    SELECT coalesce(json_extract(hook.payload, '$.effective_input.file_path'), \
                    json_extract(hook.payload, '$.effective_input.notebook_path')) \
    FROM change JOIN entry hook ON hook.session_id = change.session_id AND hook.tool_use_id = change.tool_use_id \
    WHERE hook.entry_type = 'internal_hook' \
    ) WHERE typeof(path) = 'text' AND path <> '' ORDER BY path";

impl Reader {
    /// Returns the criteria of a plan, in their order.
    pub fn criteria(&self, plan: i64) -> Result<Vec<Criterion>, StoreError> {
        let sql = "SELECT criterion_id, text FROM sdlc_criteria WHERE plan_id = ?1 ORDER BY ordinal, rowid";
        self.all(sql, [plan], |row| Ok(Criterion { id: row.get(0)?, text: row.get(1)? }))
    }

    /// Returns all cases of a plan, oldest first.
    pub fn test_cases(&self, plan: i64) -> Result<Vec<StoredCase>, StoreError> {
        self.all(&format!("{CASES} WHERE plan_id = ?1 ORDER BY rowid"), [plan], case)?.into_iter().collect()
    }

    /// Returns the newest run of each case of a plan that was ever run.
    pub fn latest_runs(&self, plan: i64) -> Result<Vec<StoredRun>, StoreError> {
        self.all(LATEST, [plan], run)
    }

    /// Returns the newest event of a conversation, or 0.
    pub fn newest_event(&self, conversation: &ConversationId) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(id), 0) FROM events WHERE conversation_id = ?1";
        Ok(self.first(sql, [conversation.as_str()], |row| row.get(0))?.unwrap_or(0))
    }

    /// Calls of Write, Edit, NotebookEdit and Bash that began after an event.
    pub fn mutations(&self, conversation: &ConversationId, after: i64) -> Result<Vec<Mutation>, StoreError> {
        self.all(MUTATIONS, (conversation.as_str(), after), |row| {
            Ok(Mutation { event: row.get(0)?, tool: row.get(1)? })
        })
    }

    /// Every path that was given to Write, Edit or NotebookEdit in a conversation, as it was given.
    pub fn written_paths(&self, conversation: &ConversationId) -> Result<Vec<String>, StoreError> {
        self.all(WRITTEN, [conversation.as_str()], |row| row.get(0))
    }

    /// Returns the files the project had when the implementation began, by path; None if
    /// nobody looked.
    pub fn manifest(&self, conversation: &ConversationId) -> Result<Option<Vec<ProjectFile>>, StoreError> {
        let sql = "SELECT path, size, sha256 FROM sdlc_manifest WHERE conversation_id = ?1 ORDER BY path";
        let mut files = self.all(sql, [conversation.as_str()], |row| {
            // Sizes are never below zero.
            let size = u64::try_from(row.get::<_, i64>(1)?).unwrap_or_default();
            Ok(ProjectFile { path: row.get(0)?, size, sha256: row.get(2)? })
        })?;
        let looked = files.first().is_some_and(|file| file.path == WHOLE);
        Ok(looked.then(|| files.split_off(1)))
    }
}

fn case(row: &Row<'_>) -> rusqlite::Result<Result<StoredCase, StoreError>> {
    let status: String = row.get(7)?;
    let Some(status) = CaseStatus::from_text(&status) else {
        return Ok(Err(StoreError::UnknownValue { column: "sdlc_test_cases.status", found: status }));
    };
    let script: String = row.get(5)?;
    Ok(Ok(StoredCase {
        script_sha256: digest::sha256_hex(script.as_bytes()),
        conversation: ConversationId(row.get(1)?),
        created_at: row.get(10)?,
        case: TestCase {
            id: row.get(0)?,
            plan: row.get(2)?,
            criterion: row.get(3)?,
            title: row.get(4)?,
            script,
            // Only foreign SQL can have written something else than a list.
            surfaces: serde_json::from_str(&row.get::<_, String>(6)?).unwrap_or_default(),
            status,
            reject_reason: row.get(8)?,
            generator_session: row.get(9)?,
        },
    }))
}

fn run(row: &Row<'_>) -> rusqlite::Result<StoredRun> {
    let text = |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<String>>(column)?.unwrap_or_default());
    Ok(StoredRun {
        id: row.get(0)?,
        run: TestRun {
            case: row.get(1)?,
            run: row.get(2)?,
            exit_code: row.get(3)?,
            stdout: text(4)?,
            stderr: text(5)?,
            started_at: row.get(6)?,
            completed_at: row.get(7)?,
            timed_out: row.get::<_, i64>(8)? != 0,
            took_ms: row.get(9)?,
            script_sha256: row.get(10)?,
            project_sha256: row.get(11)?,
            seen_event: row.get(12)?,
        },
    })
}
