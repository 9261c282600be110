//! A session's account, read from its rows and those of its subagents.

use crate::stored::record;
use ona_api::SessionId;
use ona_store::{Reader, StoreError};
use ona_transcript::{RowOwner, UsageReport};

/// Of everything.
pub fn session_usage(reader: &Reader, session: &SessionId) -> Result<UsageReport, StoreError> {
    usage_after(reader, session, 0).map(|(account, _)| account)
}

/// Of everything written after the row with id `after`, and the last row that counted.
pub(crate) fn usage_after(reader: &Reader, session: &SessionId, after: i64) -> Result<(UsageReport, i64), StoreError> {
    let mut account = UsageReport::default();
    let last = reader.each_usage_row(session, after, |own, entry| {
        if let Some(record) = record(&entry) {
            account.push(if own { RowOwner::Session } else { RowOwner::Subagent }, &record);
        }
    })?;
    Ok((account, last))
}
