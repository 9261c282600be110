//! What the results of handlers mean: the contract of each event, once for all engines.
//!
//! `tool_call` and `tool_result` are hooks of the ordinary chain and have their rules in
//! `tool`; every other event goes through `Emitter`.

mod emitter;
mod event;
mod fold;
mod status;
pub mod tool;

pub use emitter::{EmitOutcome, Emitter, HandlerRun, failure};
pub use event::{ModuleEvent, is_event, nearest_event};
pub use fold::{EventClass, Fold, FoldFlow};
pub use status::StatusLine;

/// Returns whether JavaScript treats a value as true.
pub fn truthy(value: &serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64().is_some_and(|number| number != 0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}
