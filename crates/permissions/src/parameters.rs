//! The parameters of the built-in tools, for rules such as `Agent(model:haiku)`.

use ona_api::tool::BUILTINS;

/// `param:value`, if the tool has such a parameter.
pub(crate) fn parameter<'s>(tool: &str, spec: &'s str) -> Option<(&'s str, &'s str)> {
    let (name, value) = spec.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let known: &[&str] = match tool {
        // `timeout:*` is the program.
        "Bash" if value == "*" => return None,
        "Bash" => &["command", "description", "run_in_background", "timeout", "dangerouslyDisableSandbox"],
        "Read" => &["file_path", "offset", "limit", "pages"],
        "Write" => &["file_path", "content"],
        "Edit" => &["file_path", "old_string", "new_string", "replace_all"],
        "NotebookEdit" => &["notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"],
        "Glob" => &["pattern", "path"],
        "Grep" => &["pattern", "path", "glob", "type", "output_mode", "multiline", "context", "head_limit", "offset"],
        "WebFetch" => &["url", "prompt"],
        "WebSearch" => &["query"],
        "TaskOutput" => &["task_id", "block", "timeout"],
        "TaskStop" => &["task_id", "shell_id"],
        "Agent" => &[
            "description",
            "prompt",
            "subagent_type",
            "model",
            "run_in_background",
            "isolation",
            "name",
            "effort",
            "mode",
        ],
        "ListMcpResources" => &["server"],
        "ReadMcpResource" => &["server", "uri"],
        "ToolSearch" => &["query", "max_results"],
        // Of servers and modules: what they take is not known here.
        tool if !BUILTINS.contains(&tool) => {
            let valid = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            return valid.then_some((name, value));
        }
        _ => &[],
    };
    known.contains(&name).then_some((name, value))
}

/// Fields that rules of their own look at.
pub(crate) fn is_primary(parameter: &str) -> bool {
    matches!(parameter, "command" | "file_path" | "path" | "notebook_path" | "url")
}
