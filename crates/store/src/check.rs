//! Examines a database without changing it, for `ona db check`.
//!
//! Everything found is returned as data; the caller decides what to print and which exit
//! code to use. A query stops after `MAX_ROWS` rows: a hundred broken rows say
//! as much as a million.

use crate::error::StoreError;
use crate::first_look;
use crate::health;
use crate::migrate::{self, STEPS};
use crate::open;
use crate::schema::{self, OWN_PREFIX, SchemaContents, TABLES};
use ona_api::Phase;
use rusqlite::{Connection, Row};
use std::path::Path;

/// Section 4.5. Closed.
const ENTRY_TYPES: &str = "'user','assistant','system','tool_use','tool_result','progress','attachment',\
    'internal_hook','content_replacement','collapse_commit','file_history_snapshot','attribution_snapshot',\
    'queue_operation','speculation_accept','ai_title'";

const MAX_ROWS: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub schema_version: Option<String>,
    /// Of our own tables. `None` for those made before it was recorded, which are version 1.
    pub sdlc_schema_version: Option<String>,
    /// Tables of others. They are tolerated.
    pub foreign_tables: Vec<String>,
    pub findings: Vec<CheckFinding>,
}

impl CheckReport {
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Whether the file itself is damaged, and rows may be lost.
    pub fn is_damaged(&self) -> bool {
        let damage = |one: &CheckFinding| matches!(one, CheckFinding::Unreadable(_) | CheckFinding::Integrity(_));
        self.findings.iter().any(damage)
    }
}

/// One thing that is wrong, in a sentence if displayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckFinding {
    /// The examination ended here.
    #[error("{0}")]
    Unreadable(String),
    #[error("integrity: {0}")]
    Integrity(String),
    #[error("row {rowid:?} of {table} refers to a row of {parent} that does not exist")]
    ForeignKey { table: String, rowid: Option<i64>, parent: String },
    #[error("journal mode is {0}, not wal")]
    JournalMode(String),
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("table {table} lacks column {column}")]
    MissingColumn { table: &'static str, column: &'static str },
    #[error("table {table} has the additional column {column}")]
    ExtraColumn { table: &'static str, column: String },
    #[error("schema version is {0:?}, not 1")]
    SchemaVersion(Option<String>),
    /// Newer than this program knows, older, or not a version.
    #[error("{0}")]
    OwnVersion(String),
    #[error("session {session} continues with sequence {found} after {after}")]
    SequenceGap { session: String, after: i64, found: i64 },
    #[error("session {session} has the sequence {found}, below 0")]
    NegativeSequence { session: String, found: i64 },
    #[error("transcript entry {id} is not JSON")]
    NotJson { id: i64 },
    #[error("transcript entry {id} has the unknown type {entry_type:?}")]
    UnknownEntryType { id: i64, entry_type: String },
    #[error("conversation {conversation} is in the unknown phase {phase:?}")]
    UnknownPhase { conversation: String, phase: String },
    #[error(
        "the full-text index of memories is stale: {missing} memories are not in it, {left} entries are of no memory; \
         the next change of a memory renews it"
    )]
    StaleIndex { missing: i64, left: i64 },
}

pub fn check(path: &Path) -> CheckReport {
    let mut report = CheckReport::default();
    if let Err(error) = examine(path, &mut report) {
        report.findings.push(CheckFinding::Unreadable(error.to_string()));
    }
    report
}

fn examine(path: &Path, report: &mut CheckReport) -> Result<(), StoreError> {
    let connection = open::inspector(path)?;
    let found = SchemaContents::read(&connection)?;
    let short = first_look::size(&connection, path).err();
    report.findings.extend(short.map(|error| CheckFinding::Integrity(error.to_string())));
    report.foreign_tables = foreign_tables(&connection)?;
    if found.has_table("schema_meta") {
        report.schema_version = schema::stored_version(&connection)?;
        report.sdlc_schema_version = migrate::recorded(&connection)?;
    }
    let findings = &mut report.findings;
    if report.schema_version.as_deref() != Some("1") {
        findings.push(CheckFinding::SchemaVersion(report.schema_version.clone()));
    }
    if let Some(recorded) = &report.sdlc_schema_version {
        findings.extend(own_version(recorded));
    }
    findings.extend(shape(&found));
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        findings.push(CheckFinding::JournalMode(mode));
    }
    findings.extend(health::problems(&connection, "integrity_check")?.into_iter().map(CheckFinding::Integrity));
    findings.extend(query(&connection, "PRAGMA foreign_key_check", foreign_key)?);
    if found.is_complete("transcript_entries") {
        findings.extend(transcript(&connection)?);
    }
    if found.is_complete("conversations") {
        findings.extend(phases(&connection)?);
    }
    if found.is_complete("memories") && found.has_table("memories_fts") {
        findings.extend(index(&connection)?);
    }
    Ok(())
}

fn own_version(recorded: &str) -> Option<CheckFinding> {
    let known = migrate::newest(STEPS);
    let error = match migrate::accept(recorded, STEPS) {
        Ok(found) if found == known => return None,
        Ok(found) => StoreError::TooOld { found, known },
        Err(error) => error,
    };
    Some(CheckFinding::OwnVersion(error.to_string()))
}

fn shape(found: &SchemaContents) -> Vec<CheckFinding> {
    let mut findings: Vec<_> = found.missing_objects().into_iter().map(CheckFinding::Missing).collect();
    for (table, columns) in found.incomplete_tables() {
        findings.extend(columns.into_iter().map(|column| CheckFinding::MissingColumn { table, column }));
    }
    findings
        .extend(found.extra_columns().into_iter().map(|(table, column)| CheckFinding::ExtraColumn { table, column }));
    findings
}

fn transcript(connection: &Connection) -> Result<Vec<CheckFinding>, StoreError> {
    let gaps = "SELECT session_id, before, sequence FROM (SELECT session_id, sequence, \
                lag(sequence) OVER (PARTITION BY session_id ORDER BY sequence) AS before FROM transcript_entries) \
                WHERE sequence <> before + 1";
    let mut findings = query(connection, gaps, |row| {
        Ok(CheckFinding::SequenceGap { session: row.get(0)?, after: row.get(1)?, found: row.get(2)? })
    })?;
    let negative = "SELECT session_id, min(sequence) FROM transcript_entries GROUP BY 1 HAVING min(sequence) < 0";
    findings.extend(query(connection, negative, |row| {
        Ok(CheckFinding::NegativeSequence { session: row.get(0)?, found: row.get(1)? })
    })?);
    let broken = "SELECT id FROM transcript_entries WHERE NOT json_valid(payload_json)";
    findings.extend(query(connection, broken, |row| Ok(CheckFinding::NotJson { id: row.get(0)? }))?);
    let strange = format!("SELECT id, entry_type FROM transcript_entries WHERE entry_type NOT IN ({ENTRY_TYPES})");
    findings.extend(query(connection, &strange, |row| {
        Ok(CheckFinding::UnknownEntryType { id: row.get(0)?, entry_type: row.get(1)? })
    })?);
    Ok(findings)
}

fn phases(connection: &Connection) -> Result<Vec<CheckFinding>, StoreError> {
    let known: Vec<_> = Phase::ALL.iter().map(|phase| format!("'{phase}'")).collect();
    let strange = format!("SELECT id, phase FROM conversations WHERE phase NOT IN ({})", known.join(","));
    query(connection, &strange, |row| Ok(CheckFinding::UnknownPhase { conversation: row.get(0)?, phase: row.get(1)? }))
}

/// Compares memories with their mirror; texts that are there several times count as often.
fn index(connection: &Connection) -> Result<Option<CheckFinding>, StoreError> {
    let sql = "SELECT coalesce(sum(max(more, 0)), 0), coalesce(sum(max(-more, 0)), 0) FROM (SELECT sum(one) AS more FROM \
               (SELECT title, content, keywords, anticipated_queries, 1 AS one FROM memories UNION ALL \
               SELECT title, content, keywords, anticipated_queries, -1 FROM memories_fts) GROUP BY title, content, keywords, anticipated_queries)";
    let read = |row: &Row<'_>| Ok(CheckFinding::StaleIndex { missing: row.get(0)?, left: row.get(1)? });
    let found = query(connection, sql, read)?.pop();
    Ok(found.filter(|found| *found != CheckFinding::StaleIndex { missing: 0, left: 0 }))
}

fn foreign_key(row: &Row<'_>) -> rusqlite::Result<CheckFinding> {
    Ok(CheckFinding::ForeignKey { table: row.get(0)?, rowid: row.get(1)?, parent: row.get(2)? })
}

/// Tables that are neither in section 4.3, nor ours by prefix, nor SQLite's.
fn foreign_tables(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let ours = |name: &str| {
        TABLES.iter().any(|(table, _)| *table == name)
            || ["sqlite_", OWN_PREFIX, "memories_fts_"].iter().any(|prefix| name.starts_with(prefix))
    };
    let names = query(connection, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name", |row| {
        row.get::<_, String>(0)
    })?;
    Ok(names.into_iter().filter(|name| !ours(name)).collect())
}

fn query<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare(sql)?;
    Ok(statement.query_map([], read)?.take(MAX_ROWS).collect::<Result<_, _>>()?)
}
