//! The points a session can go back to.

use super::RewindScope;
use crate::stored::record;
use ona_api::SessionId;
use ona_api::row::Block;
use ona_store::{Store, StoreError};
use ona_transcript::{Body, Rewinds};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// `kind` of the row of a rewind.
pub(super) const REWIND: &str = "rewind";

/// A prompt, as a list to choose from shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewindPrompt {
    /// Counted from 1, the oldest first.
    pub number: usize,
    pub sequence: i64,
    /// The id that the stream and the control protocol know it by.
    pub uuid: String,
    pub text: String,
    pub created_at: String,
    /// Files that were changed after it and before the next one.
    pub files: usize,
}

/// The newest rewind of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastRewind {
    pub sequence: i64,
    pub scope: RewindScope,
}

pub(super) fn prompts(store: &Store, session: &SessionId) -> Result<Vec<RewindPrompt>, StoreError> {
    let (mut rewinds, mut found) = (Rewinds::default(), Vec::new());
    store.reader()?.each_entry(session, None, |entry| {
        // A row that cannot be read is not a prompt.
        let Some(record) = record(&entry) else { return };
        rewinds.push(&record);
        if let Body::User { uuid, content } = record.body {
            let texts = content.iter().filter_map(|block| match block {
                Block::Text(text) => Some(text.as_str()),
                Block::ToolUse { .. } | Block::ToolResult { .. } => None,
            });
            found.push((record.sequence, uuid, texts.collect::<Vec<_>>().join("\n"), entry.created_at));
        }
    })?;
    let current: Vec<_> = found.into_iter().filter(|one| rewinds.is_current(one.0)).collect();
    let mut files: BTreeMap<i64, BTreeSet<String>> = BTreeMap::new();
    for change in store.reader()?.file_changes(session, i64::MIN)? {
        files.entry(change.sequence).or_default().insert(change.shown);
    }
    let next = |at: usize| current.get(at + 1).map_or(i64::MAX, |one| one.0);
    let prompts = current.iter().enumerate().map(|(at, (sequence, uuid, text, created_at))| RewindPrompt {
        number: at + 1,
        sequence: *sequence,
        uuid: uuid.clone(),
        text: text.clone(),
        created_at: created_at.clone(),
        files: files.range(*sequence..next(at)).flat_map(|(_, paths)| paths).collect::<BTreeSet<_>>().len(),
    });
    Ok(prompts.collect())
}

/// Returns the newest rewind that is not the taking back of one and was not taken back.
pub(super) fn last_rewind(store: &Store, session: &SessionId) -> Result<Option<LastRewind>, StoreError> {
    let newest = newest_row(store, session)?;
    let rewind = newest.filter(|(_, row)| !row["undoes"].is_i64());
    Ok(rewind.and_then(|(sequence, row)| {
        let scope = row["scope"].as_str().and_then(RewindScope::from_text)?;
        Some(LastRewind { sequence, scope })
    }))
}

/// Returns the number of the newest row of a rewind.
pub(super) fn newest_rewind(store: &Store, session: &SessionId) -> Result<Option<i64>, StoreError> {
    Ok(newest_row(store, session)?.map(|(sequence, _)| sequence))
}

fn newest_row(store: &Store, session: &SessionId) -> Result<Option<(i64, Value)>, StoreError> {
    let mut newest = None;
    store.reader()?.each_entry(session, None, |entry| {
        if entry.entry_type != "file_history_snapshot" {
            return;
        }
        // A row that is not JSON, which only foreign SQL can have written, is not a rewind.
        let row: Value = serde_json::from_str(&entry.payload).unwrap_or_default();
        if row["kind"] == REWIND {
            newest = Some((entry.sequence, row));
        }
    })?;
    Ok(newest)
}
