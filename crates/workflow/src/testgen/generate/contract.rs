//! The product's own public contract, as the generator sees it: command line, tools,
//! schema. Fixed text apart from the lists it is given, which are part of the product too.

use ona_api::ToolSpec;
use std::fmt::Write;

const COMMAND_LINE: &str = r#"Command line of `ona` (only for tests of work that is used through it):
- `ona --eval '{"tool":NAME,"input":{...},"conversation_id"?,"session_id"?}'` takes one tool call through hooks, phase gate, permission rules and execution. It prints one JSON line `{"tool_use_id","content","is_error","session_id","conversation_id"}` and exits 0 whenever a result was recorded.
- `ona --transition PHASE --conversation ID` moves a conversation; exit 1 and a reason on stderr if that is refused.
- `ona --fire-hook '{"hook_event_name":...}'` runs the hook chain of one event and prints the merged result.
- `ona plan list|show|approve|import`, `ona sessions list|show|export`, `ona memory add|list|search|rm`, `ona settings show|import`, `ona db init|check|path`.
- Exit codes: 0 done, 1 refused or failed, 2 wrong use or configuration, 75 database busy, 130 interrupted.
A tool result is `{"content","is_error"}` in a transcript_entries row of entry_type tool_result. A hook run is a row of hook_invocations."#;

/// Returns the contract, with the tools in the order they are given and the schema as it is.
pub fn contract(tools: &[ToolSpec], schema: &str) -> String {
    let mut text = format!("{COMMAND_LINE}\n\nTools and their inputs (? means optional):\n");
    // Writing to a String cannot fail.
    for tool in tools {
        writeln!(text, "- {} {{{}}}", tool.name, inputs(tool)).ok();
    }
    write!(text, "\nSchema of the database at $AGENT_SDLC_DB:\n{}", schema.trim_end()).ok();
    text
}

fn inputs(tool: &ToolSpec) -> String {
    let required = tool.input_schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let names = tool.input_schema["properties"].as_object().into_iter().flat_map(|fields| fields.keys());
    names.map(|name| if is_required(name) { name.clone() } else { format!("{name}?") }).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tools_are_told_by_name_and_input() {
        let schema = json!({"properties": {"file_path": {}, "limit": {}}, "required": ["file_path"]});
        let tool = ToolSpec { name: "Read".into(), description: "secret".into(), input_schema: schema };
        let text = contract(&[tool], "CREATE TABLE t(x);\n");
        assert!(text.contains("- Read {file_path, limit?}\n") && text.ends_with("CREATE TABLE t(x);"));
    }
}
