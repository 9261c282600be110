//! What replies cost, as rows.
//!
//! An assistant row has no place for it (Appendix C), so a `progress` row directly
//! after it, in the same commit, says which model answered and what it counted.

use crate::record::{Body, Progress, Record};
use ona_api::Entry;
use ona_api::model::Usage;
use serde_json::{Value, json};

/// The row that belongs directly after a reply. `model` is the wire string.
pub fn usage_entry(model: &str, usage: &Usage) -> Entry {
    let data = json!({
        "kind": "usage",
        "model": model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
    });
    match data {
        Value::Object(data) => Entry::Progress { data },
        _ => unreachable!("built as an object above"),
    }
}

/// What a session, or a part of it, cost.
pub fn total<'a>(records: impl IntoIterator<Item = &'a Record>) -> Usage {
    records.into_iter().fold(Usage::default(), |mut sum, record| {
        if let Body::Progress(Progress::Usage { usage, .. }) = &record.body {
            sum.add(*usage);
        }
        sum
    })
}
