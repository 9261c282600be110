//! Puts an entry at the end of its session's transcript.
//!
//! The number and the parent are found inside the writer's transaction, so two
//! processes cannot give the same number twice. Reading transcripts back is
//! not done here.

use crate::chain::{ChainedTable, OwnRows};
use crate::error::StoreError;
use crate::parents::{self, Parents};
use crate::row_writer::{RowWriter, cells};
use ona_api::Entry;
use ona_api::row::{SequenceStart, SessionKey};

pub(crate) fn insert(
    writer: &RowWriter<'_>,
    at: &SessionKey,
    entry: &Entry,
    parents: &mut Parents,
) -> Result<i64, StoreError> {
    let sequence = next_sequence(writer, at)?;
    let parent = parents.find(writer, &at.session, &parents::of(entry))?;
    parents.added(entry);
    let sql = "INSERT INTO transcript_entries(session_id, sequence, parent_entry_id, entry_type, payload_json, \
               tool_use_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let call = entry.call().map(|call| call.as_str());
    writer.insert(sql, cells![at.session.as_str(), sequence, parent, entry.entry_type(), &entry.payload(), call])
}

fn next_sequence(writer: &RowWriter<'_>, at: &SessionKey) -> Result<i64, StoreError> {
    let of_session = "SELECT max(sequence) FROM transcript_entries WHERE session_id = ?1";
    let newest: Option<i64> = writer.first(of_session, cells![at.session.as_str()], |row| row.get(0))?.flatten();
    let newest = match (newest, at.start) {
        (Some(newest), _) => Some(newest),
        (None, SequenceStart::Zero) => None,
        (None, SequenceStart::AboveAll) => {
            writer.first("SELECT max(sequence) FROM transcript_entries", &[], |row| row.get(0))?.flatten()
        }
    };
    // At the end of the numbers, which only foreign SQL can reach, UNIQUE refuses the row.
    Ok(newest.map_or(0, |newest: i64| newest.saturating_add(1)))
}

/// Copies a session's rows into one that has none, numbered from 0, with parents that
/// point at the copies.
pub(crate) fn copy(writer: &RowWriter<'_>, from: &str, to: &str, own: &mut OwnRows) -> Result<(), StoreError> {
    let rows = "INSERT INTO transcript_entries(session_id, sequence, entry_type, payload_json, tool_use_id, created_at) \
                SELECT ?2, sequence - (SELECT min(sequence) FROM transcript_entries WHERE session_id = ?1), entry_type, \
                payload_json, tool_use_id, created_at FROM transcript_entries WHERE session_id = ?1 ORDER BY sequence RETURNING id";
    let mut copies = writer.ids(rows, cells![from, to])?;
    // The order of RETURNING is not defined.
    copies.sort_unstable();
    copies.into_iter().for_each(|id| own.add(ChainedTable::Transcript, id));
    let parents = "UPDATE transcript_entries SET parent_entry_id = (SELECT copy.id FROM transcript_entries old \
                   JOIN transcript_entries parent ON parent.id = old.parent_entry_id \
                   JOIN transcript_entries copy ON copy.session_id = ?2 AND copy.sequence = parent.sequence - \
                   (SELECT min(sequence) FROM transcript_entries WHERE session_id = ?1) \
                   WHERE old.session_id = ?1 AND old.sequence = transcript_entries.sequence + \
                   (SELECT min(sequence) FROM transcript_entries WHERE session_id = ?1)) WHERE session_id = ?2";
    writer.run(parents, cells![from, to])?;
    Ok(())
}
