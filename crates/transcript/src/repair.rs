//! Answers the calls that a crash left open (DEC-024).
//!
//! A call that started may have done its work, so it is never run again: it gets
//! a result that says so. Nothing else is repaired. An interrupt and a hook that
//! ends the turn leave open calls as well; the driver answers them the same way
//! with its own words.

use crate::next::TurnState;
use ona_api::Entry;

/// The result of a call whose end was not recorded.
pub const INTERRUPTED: &str = "[SDLC_INTERNAL] interrupted before a result was recorded";

/// Returns the rows to append before a session continues: one result per open call, in
/// declared order.
pub fn repair(state: &TurnState) -> Vec<Entry> {
    answer_open_calls(state, INTERRUPTED)
}

/// Like `repair`, with another text.
pub fn answer_open_calls(state: &TurnState, content: &str) -> Vec<Entry> {
    let result = |id| Entry::ToolResult { id, content: content.to_owned(), is_error: true };
    state.open().map(|call| result(call.id.clone())).collect()
}
