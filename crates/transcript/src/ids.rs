//! Makes the ids of calls unique within a session.
//!
//! Some servers number their calls from 1 in every reply. Rows, hooks, logs, repair and
//! the next request all find a call by its id, so ids are made unique here before
//! anything is written: a repeated id gets the number of the reply's row. It depends on
//! the rows alone. Call and result carry the new id wherever they go, the wire included:
//! servers compare ids within a request and remember none.

use crate::next::TurnState;
use ona_api::CallId;
use ona_api::model::{Part, Reply};
use std::collections::HashSet;

/// Gives the calls of a new reply ids that no call of the session has.
pub fn make_call_ids_unique(state: &TurnState, reply: &mut Reply) {
    let mut own: HashSet<CallId> = HashSet::new();
    let row = state.last_sequence().map_or(0, |last| last + 1);
    for part in &mut reply.parts {
        let Part::ToolUse { id, .. } = part else { continue };
        let taken = |id: &CallId| state.has_used(id) || own.contains(id);
        if taken(id) {
            let new = (row..).map(|number| CallId(format!("{id}-{number}"))).find(|new| !taken(new));
            *id = new.expect("numbers do not end before the ids of a session do");
        }
        own.insert(id.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{RawRow, Record};
    use ona_api::model::Usage;
    use serde_json::json;

    fn reply(ids: &[&str]) -> Reply {
        let call = |id: &&str| Part::ToolUse { id: (*id).into(), name: "Read".into(), input: json!({}) };
        Reply { parts: ids.iter().map(call).collect(), usage: Usage::default(), end: None, dropped: Vec::new() }
    }

    fn ids(reply: &Reply) -> Vec<&str> {
        fn id(part: &Part) -> &str {
            match part {
                Part::ToolUse { id, .. } => id.as_str(),
                _ => "",
            }
        }
        reply.parts.iter().map(id).collect()
    }

    #[test]
    fn a_repeated_id_gets_the_number_of_its_row() {
        let mut state = TurnState::default();
        let payload = json!({"content": [
            {"type": "tool_use", "id": "call_1", "name": "Read", "input": {}},
            {"type": "tool_use", "id": "call_2-8", "name": "Read", "input": {}},
        ]})
        .to_string();
        let row = RawRow { sequence: 7, entry_type: "assistant", payload: &payload, tool_use_id: None, created_at: "" };
        state.push(&Record::parse(row).unwrap());
        for _ in 0..2 {
            let mut new = reply(&["call_1", "call_2", "call_2", "call_3"]);
            make_call_ids_unique(&state, &mut new);
            assert_eq!(ids(&new), ["call_1-8", "call_2", "call_2-9", "call_3"]);
        }
    }
}
