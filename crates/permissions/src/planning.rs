//! What `sdlc.planning` in the settings says about the planning phase (DEC-186). Pure.
//!
//! The planning gate (section 8.3) is not configurable and not decided here.

use ona_api::Ruling;
use serde_json::Value;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planning {
    /// What an MCP tool without `readOnlyHint` meets while planning, as if a rule of this list
    /// matched it. `None`: nothing but the rules there are.
    pub mcp: Option<Ruling>,
    pub tasks: TasksWhilePlanning,
}

/// What becomes of background tasks that still run when planning begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TasksWhilePlanning {
    #[default]
    Listed,
    Stopped,
}

impl Planning {
    /// Reads it from the whole settings. The strings say what is wrong, one sentence each; a value
    /// that is not understood asks.
    pub fn read(settings: &Value) -> (Self, Vec<String>) {
        let mut wrong = Vec::new();
        let planning = &settings["sdlc"]["planning"];
        if !planning.is_null() && !planning.is_object() {
            wrong.push(format!("sdlc.planning must be an object, not {planning}; MCP tools ask while planning"));
            return (Self { mcp: Some(Ruling::Ask), ..Self::default() }, wrong);
        }
        let mcp = match &planning["mcp"] {
            Value::Null => None,
            Value::String(word) if word == "allow" => None,
            Value::String(word) if word == "ask" => Some(Ruling::Ask),
            Value::String(word) if word == "deny" => Some(Ruling::Deny),
            other => {
                wrong.push(format!(
                    "sdlc.planning.mcp must be \"ask\", \"deny\" or \"allow\", not {other}; \"ask\" is used"
                ));
                Some(Ruling::Ask)
            }
        };
        let tasks = match &planning["tasks"] {
            Value::Null => TasksWhilePlanning::Listed,
            Value::String(word) if word == "stop" => TasksWhilePlanning::Stopped,
            other => {
                wrong.push(format!(
                    "sdlc.planning.tasks must be \"stop\" or absent, not {other}; tasks are listed only"
                ));
                TasksWhilePlanning::Listed
            }
        };
        let known = |key: &&String| !matches!(key.as_str(), "mcp" | "tasks");
        let unknown = planning.as_object().into_iter().flat_map(serde_json::Map::keys).filter(known);
        wrong.extend(unknown.map(|key| format!("sdlc.planning has the unknown key {key:?}; known are mcp and tasks")));
        (Self { mcp, tasks }, wrong)
    }

    /// Returns the entry of a deny or ask list it stands for.
    pub(crate) fn rule(ruling: Ruling) -> String {
        format!("sdlc.planning.mcp: {}", ruling.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_understood_asks_and_is_named() {
        use TasksWhilePlanning::{Listed, Stopped};
        let (ask, deny) = (Some(Ruling::Ask), Some(Ruling::Deny));
        for (planning, mcp, tasks, wrong) in [
            (json!(null), None, Listed, 0),
            (json!({}), None, Listed, 0),
            (json!({"mcp": "allow"}), None, Listed, 0),
            (json!({"mcp": "ask", "tasks": "stop"}), ask, Stopped, 0),
            (json!({"mcp": "deny"}), deny, Listed, 0),
            (json!({"mcp": "Deny"}), ask, Listed, 1),
            (json!({"mcp": true, "tasks": "kill"}), ask, Listed, 2),
            (json!({"mpc": "deny"}), None, Listed, 1),
            (json!("deny"), ask, Listed, 1),
        ] {
            let (read, said) = Planning::read(&json!({"sdlc": {"planning": planning}}));
            assert_eq!((read, said.len()), (Planning { mcp, tasks }, wrong), "{planning}: {said:?}");
        }
        assert_eq!(Planning::read(&json!({"sdlc": 1})), (Planning::default(), vec![]));
    }
}
