//! One group of rows, one transaction: all of it or nothing.
//!
//! Rows are written in the order they were gathered, and those of the record are chained
//! at the end (`chain`). Which connection this runs
//! on, and what happens when the database is busy, is decided in `writer`.

use crate::chain::{self, ChainedTable, OwnRows};
use crate::error::StoreError;
use crate::parents::Parents;
use crate::row_writer::{RowWriter, cells};
use crate::{kept_files, memory, plans, settings, testing, transcript};
use ona_api::row::SessionKey;
use ona_api::{Group, HookRun, LoggedEvent, Redactor, Row, Ruling, SkipReason, Verdict};
use rusqlite::{Connection, TransactionBehavior};
use std::borrow::Cow;

/// Proof that a group is on disk, with the ids it got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// `transcript_entries.id` of each transcript row, in order.
    pub entries: Vec<i64>,
    /// `plans.id` of each new draft, in order.
    pub plans: Vec<i64>,
}

pub(crate) fn group(
    connection: &mut Connection,
    redactor: &Redactor,
    at: &SessionKey,
    group: &Group,
) -> Result<Committed, StoreError> {
    refuse_secret_ids(redactor, at)?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let writer = RowWriter { connection: &transaction, redactor };
    let mut committed = Committed::default();
    let mut own = OwnRows::default();
    let mut parents = Parents::default();
    for row in &group.0 {
        write(&writer, at, row, &mut committed, &mut own, &mut parents)?;
    }
    if group.0.iter().any(|row| matches!(row, Row::Memory(_) | Row::ForgetMemory(_) | Row::MemoriesAccessed(_))) {
        memory::rebuild_index(&writer)?;
    }
    if !committed.entries.is_empty() {
        let touch = "UPDATE conversations SET last_active = datetime('now') WHERE id = ?1";
        writer.run(touch, cells![at.conversation.as_str()])?;
    }
    chain::seal(&transaction, at, &own)?;
    transaction.commit()?;
    Ok(committed)
}

/// These two ids are keys. Redacting them would merge what they tell apart, and
/// storing them would break DEC-016.
fn refuse_secret_ids(redactor: &Redactor, at: &SessionKey) -> Result<(), StoreError> {
    for (what, id) in [("conversation", at.conversation.as_str()), ("session", at.session.as_str())] {
        if let Cow::Owned(_) = redactor.apply(id) {
            return Err(StoreError::SecretInId { what });
        }
    }
    Ok(())
}

fn write(
    writer: &RowWriter<'_>,
    at: &SessionKey,
    row: &Row,
    committed: &mut Committed,
    own: &mut OwnRows,
    parents: &mut Parents,
) -> Result<(), StoreError> {
    let conversation = at.conversation.as_str();
    let session = at.session.as_str();
    match row {
        Row::Conversation { project_dir } => {
            let sql = "INSERT INTO conversations(id, project_dir) VALUES (?1, ?2) ON CONFLICT(id) DO NOTHING";
            writer.run(sql, cells![conversation, project_dir])?;
        }
        Row::Session => open_session(writer, at)?,
        Row::Transcript(entry) => {
            let id = transcript::insert(writer, at, entry, parents)?;
            own.add(ChainedTable::Transcript, id);
            committed.entries.push(id);
        }
        Row::CopyTranscript { from } => {
            transcript::copy(writer, from.as_str(), session, own)?;
            *parents = Parents::default();
        }
        Row::Summary(text) => {
            let words = i64::try_from(text.split_whitespace().count()).unwrap_or(i64::MAX);
            let sql = "INSERT INTO summaries(conversation_id, content, word_count) VALUES (?1, ?2, ?3) \
                       ON CONFLICT(conversation_id) DO UPDATE SET content = excluded.content, \
                       word_count = excluded.word_count, created_at = excluded.created_at";
            writer.run(sql, cells![conversation, text, words])?;
        }
        Row::Hook(run) => own.add(ChainedTable::Hooks, hook(writer, at, run)?),
        Row::Permission { call, tool, verdict } => {
            let decision = decision(verdict).ok_or_else(|| StoreError::Undecided(call.clone()))?;
            let sql = "INSERT INTO tool_permission_log(session_id, tool_use_id, tool_name, decision, reason_json) \
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            let id = writer.insert(sql, cells![session, call.as_str(), tool, decision, &verdict.reason()])?;
            own.add(ChainedTable::Permissions, id);
        }
        Row::Event(event) => {
            own.add(ChainedTable::Events, self::event(writer, at, event)?);
        }
        Row::Settings(settings) => settings::change(writer, settings)?,
        Row::ImportedSettings(settings) => settings::import(writer, settings)?,
        Row::Meta { key, value } => {
            let sql = "INSERT INTO schema_meta(key, value) VALUES (?1, ?2) \
                       ON CONFLICT(key) DO UPDATE SET value = excluded.value";
            writer.run(sql, cells![key, value])?;
        }
        Row::State { key, value } => {
            let sql = "INSERT INTO state(conversation_id, key, value) VALUES (?1, ?2, ?3) \
                       ON CONFLICT(conversation_id, key) \
                       DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at";
            writer.run(sql, cells![conversation, key, value])?;
        }
        Row::PlanDraft { content, file_path } => {
            committed.plans.push(plans::draft(writer, conversation, content, file_path.as_deref())?);
        }
        Row::PlanStatus { id, from, to } => plans::change_status(writer, *id, *from, *to)?,
        Row::RetireApprovedPlans(status) => plans::retire_approved(writer, conversation, *status)?,
        Row::NeedsApprovedPlan => {
            let sql = "SELECT 1 FROM plans WHERE conversation_id = ?1 AND status = 'approved' LIMIT 1";
            let found: Option<i64> = writer.first(sql, cells![conversation], |row| row.get(0))?;
            found.ok_or(StoreError::NoApprovedPlan)?;
        }
        Row::Phase { from, to } => {
            let found: Option<String> =
                writer
                    .first("SELECT phase FROM conversations WHERE id = ?1", cells![conversation], |row| row.get(0))?;
            let found = found.ok_or_else(|| StoreError::NoConversation(at.conversation.clone()))?;
            if found != from.as_str() {
                return Err(StoreError::PhaseMoved { expected: *from, found });
            }
            let sql = "UPDATE conversations SET phase = ?1, last_active = datetime('now') WHERE id = ?2";
            writer.run(sql, cells![to.as_str(), conversation])?;
        }
        Row::Memory(memory) => memory::put(writer, memory)?,
        Row::ForgetMemory(id) => memory::forget(writer, id)?,
        Row::MemoriesAccessed(ids) => memory::accessed(writer, ids)?,
        Row::Criteria { plan, criteria } => testing::put_criteria(writer, *plan, criteria)?,
        Row::TestCase(case) => testing::put_case(writer, conversation, case)?,
        Row::TestCaseStatus { id, to } => testing::change_status(writer, id, *to)?,
        Row::TestRun(run) => testing::put_run(writer, run)?,
        Row::Manifest(files) => testing::put_manifest(writer, conversation, files)?,
        Row::KeptFile(kept) => kept_files::keep(writer, kept)?,
        Row::ChangedFile(changed) => kept_files::settle(writer, changed)?,
        Row::LimitKeptContent { session, session_bytes, database_bytes } => {
            for dropped in kept_files::limit(writer, session, *session_bytes, *database_bytes)? {
                own.add(ChainedTable::Events, event(writer, at, &dropped)?);
            }
        }
        Row::Rating { rating, objective } => {
            let sql = "INSERT INTO task_ratings(conversation_id, rating, objective) VALUES (?1, ?2, ?3)";
            writer.run(sql, cells![conversation, i64::from(*rating), objective.as_ref()])?;
        }
        Row::NoEventAfter(id) => {
            let sql = "SELECT 1 FROM events WHERE conversation_id = ?1 AND id > ?2 LIMIT 1";
            let newer: Option<i64> = writer.first(sql, cells![conversation, *id], |row| row.get(0))?;
            if newer.is_some() {
                return Err(StoreError::EventMeanwhile);
            }
        }
    }
    Ok(())
}

fn open_session(writer: &RowWriter<'_>, at: &SessionKey) -> Result<(), StoreError> {
    let (session, conversation) = (at.session.as_str(), at.conversation.as_str());
    let sql = "INSERT INTO sessions(session_id, conversation_id) VALUES (?1, ?2) ON CONFLICT(session_id) DO NOTHING";
    if writer.run(sql, cells![session, conversation])? == 1 {
        return Ok(());
    }
    let sql = "SELECT conversation_id FROM sessions WHERE session_id = ?1";
    match writer.first(sql, cells![session], |row| row.get::<_, String>(0))? {
        Some(owner) if owner != conversation => {
            Err(StoreError::SessionElsewhere { session: at.session.clone(), owner })
        }
        _ => Ok(()),
    }
}

fn event(writer: &RowWriter<'_>, at: &SessionKey, event: &LoggedEvent) -> Result<i64, StoreError> {
    let session = at.session.as_str();
    let session = (!session.is_empty()).then_some(session);
    let detail = event.detail();
    let sql = "INSERT INTO events(conversation_id, session_id, event_type, detail) VALUES (?1, ?2, ?3, ?4)";
    writer.insert(sql, cells![at.conversation.as_str(), session, event.kind().as_str(), &detail])
}

fn hook(writer: &RowWriter<'_>, at: &SessionKey, run: &HookRun) -> Result<i64, StoreError> {
    let sql = "INSERT INTO hook_invocations(session_id, conversation_id, hook_event, hook_ordinal, matcher, command, \
               tool_use_id, tool_name, input_json, exit_code, stdout_text, stderr_text, started_at, completed_at, \
               skipped_reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    writer.insert(
        sql,
        cells![
            at.session.as_str(),
            at.conversation.as_str(),
            run.event.as_str(),
            i64::from(run.ordinal.0),
            &run.matcher,
            &run.command,
            run.call.as_ref().map(|call| call.as_str()),
            run.tool.as_ref(),
            &run.input_json,
            run.exit_code.map(i64::from),
            run.stdout.as_ref(),
            run.stderr.as_ref(),
            &run.started_at,
            run.completed_at.as_ref(),
            run.skipped.map(SkipReason::as_str),
        ],
    )
}

/// The log has decisions only; a question is not one (DEC-076).
fn decision(verdict: &Verdict) -> Option<&'static str> {
    match verdict.ruling {
        Ruling::Allow | Ruling::Deny => Some(verdict.ruling.as_str()),
        Ruling::Ask => None,
    }
}
