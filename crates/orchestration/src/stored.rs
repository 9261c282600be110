//! From a stored row to what it means.

use ona_store::StoredEntry;
use ona_transcript::{RawRow, Record};

/// `None` for a row that cannot be read: it is not a message and counts for nothing,
/// and `ona db check` names it.
pub(crate) fn record(entry: &StoredEntry) -> Option<Record> {
    let raw = RawRow {
        sequence: entry.sequence,
        entry_type: &entry.entry_type,
        payload: &entry.payload,
        tool_use_id: entry.tool_use_id.as_deref(),
        created_at: &entry.created_at,
    };
    Record::parse(raw).ok()
}
