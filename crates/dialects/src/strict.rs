//! Reads stdout by the letter of Appendix B: one value, every known field in its
//! type, the arm of this event or none. Anything else is invalid as a whole.

use crate::output::{BlockDecision, SyncOutput};
use ona_api::EventName;
use ona_api::event::FieldType;
use ona_api::permission_update::PermissionUpdate;
use ona_api::text;
use serde_json::{Map, Value};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InvalidOutput {
    /// The asynchronous arm: recognised, and refused as control (section 5.8).
    Async,
    Shape(String),
}

pub(crate) fn read(event: EventName, text: &str) -> Result<SyncOutput, InvalidOutput> {
    let value: Value =
        text::json(text).map_err(|error| InvalidOutput::Shape(format!("not one JSON value: {error}")))?;
    let Value::Object(object) = value else {
        return Err(InvalidOutput::Shape("not a JSON object".into()));
    };
    if object.get("async") == Some(&Value::Bool(true)) {
        return Err(InvalidOutput::Async);
    }
    Ok(SyncOutput {
        go_on: field(&object, "continue", "true or false", Value::as_bool)?,
        suppress_output: field(&object, "suppressOutput", "true or false", Value::as_bool)?.unwrap_or_default(),
        stop_reason: text_field(&object, "stopReason")?,
        decision: field(&object, "decision", "approve or block", as_decision)?,
        system_message: text_field(&object, "systemMessage")?,
        reason: text_field(&object, "reason")?,
        specific: match object.get("hookSpecificOutput") {
            None => Map::new(),
            Some(arm) => specific(event, arm)?,
        },
    })
}

fn specific(event: EventName, arm: &Value) -> Result<Map<String, Value>, InvalidOutput> {
    let shape = |text: String| Err(InvalidOutput::Shape(text));
    let Some(arm) = arm.as_object() else {
        return shape("hookSpecificOutput must be an object".into());
    };
    let Some(fields) = event.output_arm() else {
        return shape(format!("{event} has no hookSpecificOutput"));
    };
    if arm.get("hookEventName").and_then(Value::as_str) != Some(event.as_str()) {
        return shape(format!("hookSpecificOutput.hookEventName must be {event}"));
    }
    let mut known = Map::new();
    for field in fields {
        field.check(arm).map_err(|bad| InvalidOutput::Shape(format!("hookSpecificOutput: {bad}")))?;
        if let Some(value) = arm.get(field.name) {
            known.insert(field.name.to_owned(), value.clone());
        }
    }
    if event == EventName::PermissionRequest {
        request_decision(&known["decision"]).map_err(InvalidOutput::Shape)?;
    }
    Ok(known)
}

/// The two forms of a PermissionRequest decision.
pub(crate) fn request_decision(decision: &Value) -> Result<(), String> {
    let optional = |name: &str, kind: FieldType| match decision.get(name) {
        Some(value) if !kind.accepts(value) => Err(format!("decision.{name} must be {kind}")),
        _ => Ok(()),
    };
    match decision.get("behavior").and_then(Value::as_str) {
        Some("allow") => {
            optional("updatedInput", FieldType::Object)?;
            match decision.get("updatedPermissions") {
                Some(updates) => serde_json::from_value::<Vec<PermissionUpdate>>(updates.clone())
                    .map(drop)
                    .map_err(|error| format!("decision.updatedPermissions: {error}")),
                None => Ok(()),
            }
        }
        Some("deny") => {
            optional("message", FieldType::Str)?;
            optional("interrupt", FieldType::Bool)
        }
        _ => Err("decision.behavior must be allow or deny".into()),
    }
}

pub(crate) fn as_decision(value: &Value) -> Option<BlockDecision> {
    match value.as_str()? {
        "approve" => Some(BlockDecision::Approve),
        "block" => Some(BlockDecision::Block),
        _ => None,
    }
}

fn text_field(object: &Map<String, Value>, name: &str) -> Result<Option<String>, InvalidOutput> {
    field(object, name, "a string", |value| value.as_str().map(str::to_owned))
}

fn field<T>(
    object: &Map<String, Value>,
    name: &str,
    expected: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, InvalidOutput> {
    match object.get(name) {
        None => Ok(None),
        Some(value) => match read(value) {
            Some(value) => Ok(Some(value)),
            None => Err(InvalidOutput::Shape(format!("{name} must be {expected}"))),
        },
    }
}
