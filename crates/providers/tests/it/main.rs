//! Both wires from outside: bodies, streams, and calls to a server on loopback.

mod bodies;
mod calls;
mod incremental;
mod server;
mod splits;
mod streams;

use ona_api::ToolSpec;
use ona_api::model::{Message, Part, RequestParams, Role};
use serde_json::{Value, json};

pub fn params() -> RequestParams {
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: format!("The {name} tool."),
        input_schema: json!({"type": "object", "properties": {}}),
    };
    RequestParams {
        model: "m-1".into(),
        system: "Be brief.".into(),
        tools: vec![tool("Read"), tool("Bash")],
        max_tokens: 8192,
    }
}

pub fn user(parts: impl Into<Vec<Part>>) -> Message {
    Message { role: Role::User, parts: parts.into() }
}

pub fn assistant(parts: impl Into<Vec<Part>>) -> Message {
    Message { role: Role::Assistant, parts: parts.into() }
}

pub fn text(text: &str) -> Part {
    Part::Text(text.into())
}

pub fn call(id: &str, name: &str, input: Value) -> Part {
    Part::ToolUse { id: id.into(), name: name.into(), input }
}

pub fn result(id: &str, content: &str) -> Part {
    Part::ToolResult { id: id.into(), content: content.into(), is_error: false, exit_code: None }
}

pub fn failed(id: &str, content: &str, exit_code: Option<i32>) -> Part {
    Part::ToolResult { id: id.into(), content: content.into(), is_error: true, exit_code }
}

pub fn picture(kind: &str, media_type: &str) -> Part {
    Part::Picture { kind: kind.into(), media_type: media_type.into(), data: "QUJD".into() }
}
