//! The `effective` row of `settings_snapshot`, and the digest that says who wrote it (DEC-180).
//!
//! The digest is that of the text in the table. It is updated in the transaction that
//! writes the row, so the row cannot change in between.

use crate::error::StoreError;
use crate::reader::Reader;
use crate::row_writer::{RowWriter, cells};
use ona_api::digest;
use serde_json::Value;

/// `schema_meta` key of the digest of the last row this program wrote.
const DIGEST: &str = "settings_effective_sha256";

/// The `effective` row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsRow {
    pub json: String,
    /// As this program left it. Otherwise an operator wrote it.
    pub is_ours: bool,
}

/// Replaces the row with what was made from files.
pub(crate) fn import(writer: &RowWriter<'_>, settings: &Value) -> Result<(), StoreError> {
    put(writer, settings)?;
    renew(writer)
}

/// Changes the row. One that an operator wrote stays the operator's.
pub(crate) fn change(writer: &RowWriter<'_>, settings: &Value) -> Result<(), StoreError> {
    let is_ours = stored(writer)?.is_none_or(|row| row.is_ours);
    put(writer, settings)?;
    if is_ours { renew(writer) } else { Ok(()) }
}

fn put(writer: &RowWriter<'_>, settings: &Value) -> Result<(), StoreError> {
    let sql = "INSERT OR REPLACE INTO settings_snapshot(scope, json, updated_at) \
               VALUES ('effective', ?1, datetime('now'))";
    writer.run(sql, cells![settings]).map(drop)
}

/// Redaction may have changed the text, so it is read back.
fn renew(writer: &RowWriter<'_>) -> Result<(), StoreError> {
    let Some(row) = stored(writer)? else { return Ok(()) };
    let sql = "INSERT INTO schema_meta(key, value) VALUES (?1, ?2) \
               ON CONFLICT(key) DO UPDATE SET value = excluded.value";
    writer.run(sql, cells![DIGEST, digest::sha256_hex(row.json.as_bytes()).as_str()]).map(drop)
}

const ROW: &str = "SELECT json, (SELECT value FROM schema_meta WHERE key = 'settings_effective_sha256') \
                   FROM settings_snapshot WHERE scope = 'effective'";

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<SettingsRow> {
    let (json, recorded): (String, Option<String>) = (row.get(0)?, row.get(1)?);
    let is_ours = recorded.is_some_and(|recorded| recorded == digest::sha256_hex(json.as_bytes()));
    Ok(SettingsRow { json, is_ours })
}

fn stored(writer: &RowWriter<'_>) -> Result<Option<SettingsRow>, StoreError> {
    writer.first(ROW, &[], read)
}

impl Reader {
    pub fn settings_row(&self) -> Result<Option<SettingsRow>, StoreError> {
        self.first(ROW, [], read)
    }
}
