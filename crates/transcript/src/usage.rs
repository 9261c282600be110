//! Usage of replies, as rows.
//!
//! An assistant row has no place for it (Appendix C), so a `progress` row directly
//! after it, in the same commit, says which model answered and what it counted.

use ona_api::Entry;
use ona_api::model::Usage;
use serde_json::{Value, json};

/// Returns the row that belongs directly after a reply. `model` is the wire string, `id` what the
/// operator chose (section 2.2).
pub fn usage_entry(model: &str, id: &str, usage: &Usage) -> Entry {
    let data = json!({
        "kind": "usage",
        "model": model,
        "model_id": id,
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
