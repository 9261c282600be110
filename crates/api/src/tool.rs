//! Tool calls and results, and the frozen list of built-in names (section 7).

use crate::CallId;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The 21 built-in names, in the order of section 7.
pub const BUILTINS: [&str; 21] = [
    "Read",
    "Write",
    "Edit",
    "NotebookEdit",
    "Bash",
    "Glob",
    "Grep",
    "WebFetch",
    "WebSearch",
    "AskUserQuestion",
    "TodoWrite",
    "TaskOutput",
    "Agent",
    "Skill",
    "EnterPlanMode",
    "ExitPlanMode",
    "ListMcpResources",
    "ReadMcpResource",
    "ToolSearch",
    "Brief",
    "TaskStop",
];

/// Names of other products, each with its frozen name here (DEC-073).
pub const ALIASES: [(&str, &str); 5] = [
    ("Task", "Agent"),
    ("ListMcpResourcesTool", "ListMcpResources"),
    ("ReadMcpResourceTool", "ReadMcpResource"),
    ("BashOutput", "TaskOutput"),
    ("KillShell", "TaskStop"),
];

/// Returns the frozen name for a name or alias; anything else is returned as it is.
pub fn canonical(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, frozen)| frozen)
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    pub id: CallId,
    pub name: String,
    pub input: Value,
}

/// What a call would touch. Rules, gate and safety checks look at these values,
/// never at the name of the tool alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// An absolute path, lexically normalised, links not resolved.
    Read(PathBuf),
    /// Looks for files below a directory: denied files are left out of the
    /// result rather than the call refused.
    Search(PathBuf),
    /// Creates, changes or removes the file.
    Edit(PathBuf),
    /// Text handed to a shell that starts in `cwd`.
    Shell {
        script: String,
        cwd: PathBuf,
    },
    Fetch {
        url: String,
    },
    /// Nothing beyond the tool itself.
    Plain,
}

/// The class of a result (section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultClass {
    Success,
    /// The request could not be carried out as asked.
    Rejected,
    /// The host failed: timeout, crash, broken pipe.
    Internal,
}

/// Marks the content of every internal failure.
pub const INTERNAL_PREFIX: &str = "[SDLC_INTERNAL]";

#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub class: ResultClass,
    pub content: String,
    /// The tool-specific fields of `tool_response` (DEC-064).
    pub data: Map<String, Value>,
    /// Pictures and pages; each becomes an `attachment` row (DEC-032).
    pub attachments: Vec<Attachment>,
    /// Files whose content this call saw or wrote.
    pub seen: Vec<FileState>,
    /// The session's directory from now on, if the call moved it.
    pub moved_to: Option<PathBuf>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    pub kind: &'static str,
    pub media_type: String,
    /// Base64.
    pub data: String,
}

/// The state of a file as this session knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    pub path: PathBuf,
    pub sha256: String,
}

impl ToolResult {
    fn with_class(class: ResultClass, content: String) -> Self {
        Self { class, content, data: Map::new(), attachments: Vec::new(), seen: Vec::new(), moved_to: None }
    }

    pub fn success(content: impl Into<String>) -> Self {
        Self::with_class(ResultClass::Success, content.into())
    }

    pub fn rejected(content: impl Into<String>) -> Self {
        Self::with_class(ResultClass::Rejected, content.into())
    }

    pub fn internal(what: impl AsRef<str>) -> Self {
        Self::with_class(ResultClass::Internal, format!("{INTERNAL_PREFIX} {}", what.as_ref()))
    }

    pub fn data(mut self, data: Value) -> Self {
        if let Value::Object(fields) = data {
            self.data = fields;
        }
        self
    }

    pub fn is_error(&self) -> bool {
        self.class != ResultClass::Success
    }

    /// `tool_response` in hook stdin: the tool's own fields, then the contract of 7.1.
    pub fn response(&self) -> Value {
        let mut response = self.data.clone();
        response.insert("content".into(), self.content.clone().into());
        response.insert("is_error".into(), self.is_error().into());
        Value::Object(response)
    }
}

/// The description of a tool for a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
}
