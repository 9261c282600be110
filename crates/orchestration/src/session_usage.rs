//! A session's account, read from its rows and those of its subagents.

use crate::stored::record;
use ona_api::SessionId;
use ona_store::{Reader, StoreError};
use ona_transcript::{RowOwner, UsageReport};

/// Of everything written after the row with id `after`; 0 is everything.
pub fn session_usage(reader: &Reader, session: &SessionId, after: i64) -> Result<UsageReport, StoreError> {
    let mut account = UsageReport::default();
    reader.each_usage_row(session, after, |own, entry| {
        if let Some(record) = record(&entry) {
            account.push(if own { RowOwner::Session } else { RowOwner::Subagent }, &record);
        }
    })?;
    Ok(account)
}
