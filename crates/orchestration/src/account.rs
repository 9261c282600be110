//! A session's account, read from its rows and those of its subagents.

use ona_api::SessionId;
use ona_store::{Reader, StoreError};
use ona_transcript::{Account, Raw, Record, Whose};

/// Of everything written after the row with id `after`; 0 is everything.
pub fn account(reader: &Reader, session: &SessionId, after: i64) -> Result<Account, StoreError> {
    let mut account = Account::default();
    reader.each_accounted(session, after, |own, entry| {
        let raw = Raw {
            sequence: entry.sequence,
            entry_type: &entry.entry_type,
            payload: &entry.payload,
            tool_use_id: entry.tool_use_id.as_deref(),
            created_at: &entry.created_at,
        };
        // A row that can not be read counts for nothing; `ona db check` names it.
        if let Ok(record) = Record::parse(raw) {
            account.push(if own { Whose::Session } else { Whose::Subagent }, &record);
        }
    })?;
    Ok(account)
}
