//! The 27 contracts as JSON (`ona --hook-schema`), straight from the tables the program itself
//! works with.

use ona_api::EventName;
use ona_api::event::{BASE_FIELDS, Field, FieldType, OUTPUT_ARMS, Query};
use ona_hookplane::contract;
use serde_json::{Map, Value, json};

/// Returns the contracts of all events.
pub fn hook_schema() -> Value {
    let events: Vec<_> = EventName::ALL.iter().map(|event| self::event(*event)).collect();
    let arms: Vec<_> = OUTPUT_ARMS
        .iter()
        .map(|(event, fields)| json!({"hookEventName": event.as_str(), "fields": self::fields(fields)}))
        .collect();
    json!({
        "base": fields(BASE_FIELDS),
        "events": events,
        "output": {
            "async_stub": {"async": true, "asyncTimeout": "number, optional", "accepted_as_control": false},
            "sync": {
                "continue": "boolean",
                "suppressOutput": "boolean",
                "stopReason": "string",
                "decision": ["approve", "block"],
                "systemMessage": "string",
                "reason": "string",
                "hookSpecificOutput": "object",
            },
            "hookSpecificOutput": arms,
        },
    })
}

fn event(event: EventName) -> Value {
    let contract = contract::of(event);
    json!({
        "hook_event_name": event.as_str(),
        "fields": fields(event.fields()),
        "matcher_query": match event.query() {
            Query::Field(name) => json!({"field": name}),
            Query::Basename(name) => json!({"basename_of": name}),
            Query::Empty => json!("empty"),
            Query::Ignored => json!("ignored"),
        },
        "exit_2": contract.exit_two.as_str(),
        "skips_rest": contract.skips_rest,
        "timeout_blocks": contract.timeout_blocks,
        "default_timeout_ms": contract.default_timeout.as_millis() as u64,
        "plain_stdout_is_context": contract.plain_text_is_context,
    })
}

fn fields(fields: &[Field]) -> Value {
    Value::Object(fields.iter().map(field).collect::<Map<_, _>>())
}

fn field(field: &Field) -> (String, Value) {
    let mut described = match field.kind {
        FieldType::Str => json!({"type": "string"}),
        FieldType::Bool => json!({"type": "boolean"}),
        FieldType::Any => json!({}),
        FieldType::Object => json!({"type": "object"}),
        FieldType::StrArray => json!({"type": "array", "items": {"type": "string"}}),
        FieldType::NullableStr => json!({"type": ["string", "null"]}),
        FieldType::Enum(values) => json!({"enum": values}),
        FieldType::Updates => json!({"type": "array", "items": "PermissionUpdate"}),
    };
    described["required"] = field.required.into();
    (field.name.to_owned(), described)
}
