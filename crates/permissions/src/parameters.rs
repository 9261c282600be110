//! The parameters of the built-in tools, for rules such as `Agent(model:haiku)`.
//!
//! A list of its own, because this crate does not see the tools and some parameters are
//! known only from rules written for other programs. `orchestration`, which sees both, holds
//! it against the tools' schemas in a test.

use ona_api::tool::BUILTINS;

/// Returns the parameters of a built-in tool that a rule can name. Parameters that hold lists
/// are left out, and those of Skill, because the name of a skill may contain a colon.
pub fn rule_parameters(tool: &str) -> &'static [&'static str] {
    match tool {
        "Bash" => &["command", "description", "run_in_background", "timeout", "dangerouslyDisableSandbox"],
        "Read" => &["file_path", "offset", "limit", "pages", "allow_large"],
        "Write" => &["file_path", "content"],
        "Edit" => &["file_path", "old_string", "new_string", "replace_all"],
        "NotebookEdit" => &["notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"],
        "Glob" => &["pattern", "path"],
        "Grep" => &[
            "pattern",
            "path",
            "glob",
            "type",
            "output_mode",
            "-A",
            "-B",
            "-C",
            "-i",
            "-n",
            "-o",
            "multiline",
            "context",
            "head_limit",
            "offset",
        ],
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
        "Brief" => &["text", "title"],
        "ExitPlanMode" => &["plan"],
        "ListMcpResources" => &["server"],
        "ReadMcpResource" => &["server", "uri"],
        "ToolSearch" => &["query", "max_results"],
        _ => &[],
    }
}

/// Splits `param:value`, if the tool has such a parameter.
pub(crate) fn parameter<'s>(tool: &str, spec: &'s str) -> Option<(&'s str, &'s str)> {
    let (name, value) = spec.split_once(':')?;
    let (name, value) = (name.trim(), value.trim());
    let known = match tool {
        // `timeout:*` is the program.
        "Bash" if value == "*" => false,
        tool if BUILTINS.contains(&tool) => rule_parameters(tool).contains(&name),
        // Of servers and modules: what they take is not known here.
        _ => !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
    };
    known.then_some((name, value))
}

/// Returns whether a parameter has rules of its own, such as `Read(path)`.
pub(crate) fn is_primary(parameter: &str) -> bool {
    matches!(parameter, "command" | "file_path" | "path" | "notebook_path" | "url")
}
