//! The tables of section 4.3 and our own beside them (DEC-121): what `schema.sql`
//! makes and what a database must have to be ours.
//!
//! Tables we do not know are none of our business (replication tools add some).
//! Opening files and setting pragmas is left to `open`, changing a database to `migrate`.

use crate::error::StoreError;
use crate::migrate::{self, MigrationStep};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, BTreeSet};

/// The DDL, also usable as `sqlite3 new.db < schema.sql`.
pub const SCHEMA: &str = include_str!("../../../schema.sql");

const VERSION: i64 = 1;

/// Every table of 4.3, then our own, with its columns, separated by blanks.
pub(crate) const TABLES: [(&str, &str); 21] = [
    ("schema_meta", "key value"),
    ("conversations", "id project_dir created_at last_active phase"),
    ("sessions", "session_id conversation_id started_at"),
    ("state", "conversation_id key value updated_at"),
    ("plans", "id conversation_id file_path content hash status created_at approved_at completed_at"),
    ("summaries", "conversation_id content word_count created_at"),
    ("events", "id conversation_id session_id timestamp event_type detail"),
    ("task_ratings", "id conversation_id rating objective timestamp"),
    (
        "memories",
        "id type title content keywords anticipated_queries concept_tags project_scope correction_count \
         created_at updated_at last_accessed access_count attention_score",
    ),
    ("memories_fts", "title content keywords anticipated_queries"),
    ("transcript_entries", "id session_id sequence parent_entry_id entry_type payload_json tool_use_id created_at"),
    (
        "hook_invocations",
        "id session_id conversation_id hook_event hook_ordinal matcher command tool_use_id tool_name \
         input_json exit_code stdout_text stderr_text started_at completed_at skipped_reason",
    ),
    ("tool_permission_log", "id session_id tool_use_id tool_name decision reason_json created_at"),
    ("settings_snapshot", "scope json updated_at"),
    ("sdlc_criteria", "plan_id criterion_id ordinal text"),
    (
        "sdlc_test_cases",
        "id conversation_id plan_id criterion_id title script script_sha256 surfaces status reject_reason \
         generator_session_id created_at",
    ),
    (
        "sdlc_test_runs",
        "id test_case_id run_id exit_code stdout_text stderr_text started_at completed_at timed_out took_ms \
         script_sha256 project_sha256 seen_event",
    ),
    ("sdlc_manifest", "conversation_id path size sha256"),
    (
        "sdlc_chain",
        "group_id kind database_id session_id conversation_id written_at transcript_id hook_id permission_id event_id \
         rows hash",
    ),
    (
        "sdlc_file_changes",
        "id session_id sequence path before_kind before_sha256 before_mode before_why after_kind after_sha256 \
         after_mode settled created_at",
    ),
    ("sdlc_kept_content", "sha256 size stored_size deflated created_at content"),
];

/// Those of 4.3, then our own. Three of them are on tables of 4.3: what belongs to a call or a reply
/// is found by them, however long the session is.
pub(crate) const INDEXES: [&str; 9] = [
    "idx_transcript_session",
    "idx_hook_inv_session",
    "idx_sdlc_transcript_call",
    "idx_sdlc_transcript_reply",
    "idx_sdlc_permission_call",
    "idx_sdlc_test_cases_plan",
    "idx_sdlc_test_runs_case",
    "idx_sdlc_file_changes_content",
    "idx_sdlc_kept_content_size",
];

/// What a name of ours begins with, beyond section 4.3.
pub(crate) const OWN_PREFIX: &str = "sdlc_";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaState {
    Complete,
    /// Something is missing that `migrate::complete` can add.
    Lacking,
    /// Our own tables have an older version, for which there are steps.
    Outdated {
        found: i64,
    },
}

/// Returns whether a database is ours or can become ours. Reads only. The caller holds a
/// transaction: between two statements another process may upgrade the database.
pub(crate) fn judge(connection: &Connection, steps: &[MigrationStep]) -> Result<SchemaState, StoreError> {
    let found = SchemaContents::read(connection)?;
    let lacking = |wanted: &dyn Fn(&str) -> bool| {
        let first = found.incomplete_tables().into_iter().find(|(table, _)| wanted(table));
        first.map_or(Ok(()), |(table, missing)| Err(StoreError::Schema { table, missing }))
    };
    lacking(&|table| table == "schema_meta")?;
    let (base, own) = match found.has_table("schema_meta") {
        true => (stored_version(connection)?, migrate::recorded(connection)?),
        false => (None, None),
    };
    if let Some(base) = &base {
        accept(base)?;
    }
    let version = match &own {
        Some(recorded) => Some(migrate::accept(recorded, steps)?),
        None => found.has_own_table().then_some(migrate::FIRST),
    };
    if let Some(version) = version
        && version < migrate::newest(steps)
    {
        // What our own tables lack is what the steps add.
        lacking(&|table| !table.starts_with(OWN_PREFIX))?;
        return Ok(SchemaState::Outdated { found: version });
    }
    lacking(&|_| true)?;
    let complete = base.is_some() && own.is_some() && found.missing_objects().is_empty();
    Ok(if complete { SchemaState::Complete } else { SchemaState::Lacking })
}

/// `judge` for a connection without a transaction.
pub(crate) fn examine(connection: &Connection, steps: &[MigrationStep]) -> Result<SchemaState, StoreError> {
    let transaction = connection.unchecked_transaction()?;
    judge(&transaction, steps)
}

/// Returns whether a database has none of our tables. Reads only.
pub(crate) fn is_empty(connection: &Connection) -> Result<bool, StoreError> {
    Ok(SchemaContents::read(connection)?.columns.is_empty())
}

pub(crate) fn stored_version(connection: &Connection) -> Result<Option<String>, StoreError> {
    let sql = "SELECT CAST(value AS TEXT) FROM schema_meta WHERE key = 'schema_version'";
    Ok(connection.query_row(sql, [], |row| row.get(0)).optional()?)
}

pub(crate) fn accept(version: &str) -> Result<(), StoreError> {
    match version.parse::<i64>() {
        Ok(VERSION) => Ok(()),
        Ok(found) if found > VERSION => Err(StoreError::SchemaTooNew { found }),
        _ => Err(StoreError::SchemaVersion { found: version.to_owned() }),
    }
}

/// What of our names a database has.
#[derive(Debug, Default)]
pub(crate) struct SchemaContents {
    /// Columns by table. A view of that name has none here.
    columns: BTreeMap<String, BTreeSet<String>>,
    indexes: BTreeSet<String>,
}

impl SchemaContents {
    /// One read of `sqlite_master`, limited to our names: asking a foreign
    /// virtual table for its columns would need its module.
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let names = TABLES.iter().map(|(table, _)| *table).chain(INDEXES);
        let list = names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(",");
        let sql = format!(
            "SELECT m.type, m.name, c.name FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c \
             ON m.type = 'table' WHERE m.name IN ({list})"
        );
        let mut found = SchemaContents::default();
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
            match kind.as_str() {
                "index" => {
                    found.indexes.insert(name);
                }
                _ => found.columns.entry(name).or_default().extend(row.get::<_, Option<String>>(2)?),
            }
        }
        Ok(found)
    }

    pub(crate) fn has_table(&self, table: &str) -> bool {
        self.columns.contains_key(table)
    }

    fn has_own_table(&self) -> bool {
        self.columns.keys().any(|table| table.starts_with(OWN_PREFIX))
    }

    /// There, with all its columns.
    pub(crate) fn is_complete(&self, table: &str) -> bool {
        self.has_table(table) && !self.incomplete_tables().iter().any(|(incomplete, _)| *incomplete == table)
    }

    pub(crate) fn missing_objects(&self) -> Vec<&'static str> {
        let tables = TABLES.iter().map(|(table, _)| *table).filter(|table| !self.has_table(table));
        tables.chain(INDEXES.into_iter().filter(|index| !self.indexes.contains(*index))).collect()
    }

    /// Tables that are there but lack columns, with what they lack.
    pub(crate) fn incomplete_tables(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let lacking = |(table, expected): (&'static str, &'static str)| {
            let found = self.columns.get(table)?;
            let missing: Vec<_> = expected.split_whitespace().filter(|column| !found.contains(*column)).collect();
            (!missing.is_empty()).then_some((table, missing))
        };
        TABLES.into_iter().filter_map(lacking).collect()
    }

    /// Returns additional columns.
    pub(crate) fn extra_columns(&self) -> Vec<(&'static str, String)> {
        let mut extra = Vec::new();
        for (table, expected) in TABLES {
            let expected: BTreeSet<_> = expected.split_whitespace().collect();
            let found = self.columns.get(table).into_iter().flatten();
            extra.extend(found.filter(|column| !expected.contains(column.as_str())).map(|c| (table, c.clone())));
        }
        extra
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tables_and_columns_is_what_the_ddl_makes() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let found = SchemaContents::read(&connection).unwrap();
        let expected: BTreeMap<_, BTreeSet<_>> = TABLES
            .iter()
            .map(|(table, columns)| ((*table).to_owned(), columns.split_whitespace().map(str::to_owned).collect()))
            .collect();
        assert_eq!(found.columns, expected);
        assert_eq!(found.missing_objects(), [""; 0]);
    }

    /// `SchemaContents` reads only names it knows, so a table that is in the DDL alone needs another look.
    #[test]
    fn the_ddl_makes_nothing_that_is_not_listed() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let sql = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
                   AND name NOT LIKE 'memories\\_fts\\_%' ESCAPE '\\'";
        let mut statement = connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
        let made: BTreeSet<_> = names.map(Result::unwrap).collect();
        let listed = TABLES.iter().map(|(table, _)| *table).chain(INDEXES);
        assert_eq!(made, listed.map(str::to_owned).collect());
    }

    #[test]
    fn the_ddl_records_the_version_the_steps_lead_to() {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let newest = migrate::newest(migrate::STEPS).to_string();
        assert_eq!(migrate::recorded(&connection).unwrap(), Some(newest));
        assert_eq!(examine(&connection, migrate::STEPS).unwrap(), SchemaState::Complete);
    }

    #[test]
    fn only_version_one_is_accepted() {
        assert!(accept("1").is_ok());
        assert!(matches!(accept("2"), Err(StoreError::SchemaTooNew { found: 2 })));
        assert!(matches!(accept("0"), Err(StoreError::SchemaVersion { .. })));
        assert!(matches!(accept("one"), Err(StoreError::SchemaVersion { .. })));
    }
}
