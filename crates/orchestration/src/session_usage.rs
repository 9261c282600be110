//! A session's account, read from its rows and those of its subagents.

use crate::stored::record;
use ona_api::SessionId;
use ona_store::{Reader, StoreError};
use ona_transcript::{Account, Whose};

/// Of everything written after the row with id `after`; 0 is everything.
pub fn session_usage(reader: &Reader, session: &SessionId, after: i64) -> Result<Account, StoreError> {
    let mut account = Account::default();
    reader.each_accounted(session, after, |own, entry| {
        if let Some(record) = record(&entry) {
            account.push(if own { Whose::Session } else { Whose::Subagent }, &record);
        }
    })?;
    Ok(account)
}
