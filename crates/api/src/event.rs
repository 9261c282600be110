//! The 27 hook events: names, order, stdin fields and match query.
//!
//! The order is that of Appendix A; `ona --hook-schema` prints this table and
//! `scripts/verify-sdlc-hook-order.mjs` compares it with the specification.
//! How a hook's output is read depends on its dialect, not on this table.

use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// The JSON type of one stdin field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Str,
    Bool,
    Any,
    Object,
    StrArray,
    /// A string or null; the key itself is always there.
    NullableStr,
    Enum(&'static [&'static str]),
    /// Elements are permission updates (Appendix B).
    Updates,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub kind: FieldType,
    pub required: bool,
}

const fn required(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, required: true }
}
const fn optional(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, required: false }
}

/// The stdin field that a matcher is compared with (section 5.1, DEC-045).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Query {
    Field(&'static str),
    /// The last component of the path in this field.
    Basename(&'static str),
    /// An empty query: only the match-all matchers match.
    Empty,
    /// No query: the matcher is ignored.
    Ignored,
}

macro_rules! events {
    ($($name:ident: $query:expr, [$($field:expr),* $(,)?];)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventName { $($name),+ }

        impl EventName {
            /// In the order of Appendix A.
            pub const ALL: &'static [EventName] = &[$(EventName::$name),+];

            pub fn as_str(self) -> &'static str {
                match self { $(EventName::$name => stringify!($name)),+ }
            }

            /// Returns the event-specific stdin fields, in order.
            pub fn fields(self) -> &'static [Field] {
                match self { $(EventName::$name => const { &[$($field),*] }),+ }
            }

            pub fn query(self) -> Query {
                match self { $(EventName::$name => $query),+ }
            }
        }
    };
}

const TOOL: Query = Query::Field("tool_name");
const TRIGGER: FieldType = FieldType::Enum(&["manual", "auto"]);
const ACTION: FieldType = FieldType::Enum(&["accept", "decline", "cancel"]);
const ELICIT_MODE: FieldType = FieldType::Enum(&["form", "url"]);
const STOP_ERRORS: FieldType = FieldType::Enum(&[
    "authentication_failed",
    "billing_error",
    "rate_limit",
    "invalid_request",
    "server_error",
    "unknown",
    "max_output_tokens",
]);

events! {
    PreToolUse: TOOL, [
        required("tool_name", FieldType::Str), required("tool_input", FieldType::Any), required("tool_use_id", FieldType::Str),
    ];
    PostToolUse: TOOL, [
        required("tool_name", FieldType::Str), required("tool_input", FieldType::Any), required("tool_response", FieldType::Any),
        required("tool_use_id", FieldType::Str),
    ];
    PostToolUseFailure: TOOL, [
        required("tool_name", FieldType::Str), required("tool_input", FieldType::Any), required("tool_use_id", FieldType::Str),
        required("error", FieldType::Str), optional("is_interrupt", FieldType::Bool),
    ];
    PermissionDenied: TOOL, [
        required("tool_name", FieldType::Str), required("tool_input", FieldType::Any), required("tool_use_id", FieldType::Str),
        required("reason", FieldType::Str),
    ];
    Notification: Query::Field("notification_type"), [
        required("message", FieldType::Str), optional("title", FieldType::Str), required("notification_type", FieldType::Str),
    ];
    UserPromptSubmit: Query::Ignored, [required("prompt", FieldType::Str)];
    SessionStart: Query::Field("source"), [
        required("source", FieldType::Enum(&["startup", "resume", "clear", "compact"])),
        optional("agent_type", FieldType::Str), optional("model", FieldType::Str),
    ];
    SessionEnd: Query::Field("reason"), [
        required("reason", FieldType::Enum(&[
            "clear", "resume", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled",
        ])),
    ];
    Stop: Query::Ignored, [
        required("stop_hook_active", FieldType::Bool), optional("last_assistant_message", FieldType::Str),
    ];
    StopFailure: Query::Field("error"), [
        required("error", STOP_ERRORS), optional("error_details", FieldType::Str), optional("last_assistant_message", FieldType::Str),
    ];
    SubagentStart: Query::Field("agent_type"), [
        required("agent_id", FieldType::Str), required("agent_type", FieldType::Str),
    ];
    SubagentStop: Query::Field("agent_type"), [
        required("stop_hook_active", FieldType::Bool), required("agent_id", FieldType::Str),
        required("agent_transcript_path", FieldType::Str), required("agent_type", FieldType::Str),
        optional("last_assistant_message", FieldType::Str),
    ];
    PreCompact: Query::Field("trigger"), [
        required("trigger", TRIGGER), required("custom_instructions", FieldType::NullableStr),
    ];
    PostCompact: Query::Field("trigger"), [
        required("trigger", TRIGGER), required("compact_summary", FieldType::Str),
    ];
    PermissionRequest: TOOL, [
        required("tool_name", FieldType::Str), required("tool_input", FieldType::Any),
        optional("permission_suggestions", FieldType::Updates),
    ];
    Setup: Query::Field("trigger"), [required("trigger", FieldType::Enum(&["init", "maintenance"]))];
    TeammateIdle: Query::Empty, [required("teammate_name", FieldType::Str), required("team_name", FieldType::Str)];
    TaskCreated: Query::Empty, [
        required("task_id", FieldType::Str), required("task_subject", FieldType::Str), optional("task_description", FieldType::Str),
        optional("teammate_name", FieldType::Str), optional("team_name", FieldType::Str),
    ];
    TaskCompleted: Query::Empty, [
        required("task_id", FieldType::Str), required("task_subject", FieldType::Str), optional("task_description", FieldType::Str),
        optional("teammate_name", FieldType::Str), optional("team_name", FieldType::Str),
    ];
    Elicitation: Query::Field("mcp_server_name"), [
        required("mcp_server_name", FieldType::Str), required("message", FieldType::Str), optional("mode", ELICIT_MODE),
        optional("url", FieldType::Str), optional("elicitation_id", FieldType::Str), optional("requested_schema", FieldType::Object),
    ];
    ElicitationResult: Query::Field("mcp_server_name"), [
        required("mcp_server_name", FieldType::Str), optional("elicitation_id", FieldType::Str), optional("mode", ELICIT_MODE),
        required("action", ACTION), optional("content", FieldType::Object),
    ];
    ConfigChange: Query::Field("source"), [
        required("source", FieldType::Enum(&[
            "user_settings", "project_settings", "local_settings", "policy_settings", "skills",
        ])),
        optional("file_path", FieldType::Str),
    ];
    InstructionsLoaded: Query::Field("load_reason"), [
        required("file_path", FieldType::Str), required("memory_type", FieldType::Enum(&["User", "Project", "Local", "Managed"])),
        required("load_reason", FieldType::Enum(&[
            "session_start", "nested_traversal", "path_glob_match", "include", "compact",
        ])),
        optional("globs", FieldType::StrArray), optional("trigger_file_path", FieldType::Str), optional("parent_file_path", FieldType::Str),
    ];
    WorktreeCreate: Query::Ignored, [required("name", FieldType::Str)];
    WorktreeRemove: Query::Ignored, [required("worktree_path", FieldType::Str)];
    CwdChanged: Query::Ignored, [required("old_cwd", FieldType::Str), required("new_cwd", FieldType::Str)];
    FileChanged: Query::Basename("file_path"), [
        required("file_path", FieldType::Str), required("event", FieldType::Enum(&["change", "add", "unlink"])),
    ];
}

/// The fields every stdin object starts with (section 6). `transcript_path` is
/// deliberately not among them.
pub const BASE_FIELDS: &[Field] = &[
    required("hook_event_name", FieldType::Str),
    required("session_id", FieldType::Str),
    required("conversation_id", FieldType::Str),
    required("runtime_db_path", FieldType::Str),
    required("cwd", FieldType::Str),
    optional("permission_mode", FieldType::Str),
    optional("agent_id", FieldType::Str),
    optional("agent_type", FieldType::Str),
];

/// The arms of `hookSpecificOutput`, in the order of Appendix B.
pub const OUTPUT_ARMS: &[(EventName, &[Field])] = &[
    (
        EventName::PreToolUse,
        &[
            optional("permissionDecision", FieldType::Enum(&["allow", "deny", "ask"])),
            optional("permissionDecisionReason", FieldType::Str),
            optional("updatedInput", FieldType::Object),
            optional("additionalContext", FieldType::Str),
        ],
    ),
    (EventName::UserPromptSubmit, &[optional("additionalContext", FieldType::Str)]),
    (
        EventName::SessionStart,
        &[
            optional("additionalContext", FieldType::Str),
            optional("initialUserMessage", FieldType::Str),
            optional("watchPaths", FieldType::StrArray),
        ],
    ),
    (EventName::Setup, &[optional("additionalContext", FieldType::Str)]),
    (EventName::SubagentStart, &[optional("additionalContext", FieldType::Str)]),
    (
        EventName::PostToolUse,
        &[optional("additionalContext", FieldType::Str), optional("updatedMCPToolOutput", FieldType::Any)],
    ),
    (EventName::PostToolUseFailure, &[optional("additionalContext", FieldType::Str)]),
    (EventName::PermissionDenied, &[optional("retry", FieldType::Bool)]),
    (EventName::Notification, &[optional("additionalContext", FieldType::Str)]),
    (EventName::PermissionRequest, &[required("decision", FieldType::Object)]),
    (EventName::Elicitation, &[optional("action", ACTION), optional("content", FieldType::Object)]),
    (EventName::ElicitationResult, &[optional("action", ACTION), optional("content", FieldType::Object)]),
    (EventName::CwdChanged, &[optional("watchPaths", FieldType::StrArray)]),
    (EventName::FileChanged, &[optional("watchPaths", FieldType::StrArray)]),
    (EventName::WorktreeCreate, &[required("worktreePath", FieldType::Str)]),
];

impl EventName {
    /// Returns the fields of this event's `hookSpecificOutput` arm, if it has one.
    pub fn output_arm(self) -> Option<&'static [Field]> {
        OUTPUT_ARMS.iter().find(|(event, _)| *event == self).map(|(_, fields)| *fields)
    }

    /// Returns the value a matcher is compared with. `None`: the matcher is ignored.
    pub fn query_value(self, fields: &Map<String, Value>) -> Option<String> {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match self.query() {
            Query::Field(name) => Some(text(name)),
            Query::Basename(name) => {
                let path = text(name);
                Some(path.rsplit('/').next().unwrap_or_default().to_owned())
            }
            Query::Empty => Some(String::new()),
            Query::Ignored => None,
        }
    }

    /// Checks that an object has this event's fields with their types.
    pub fn check(self, object: &Map<String, Value>) -> Result<(), FieldError> {
        self.fields().iter().try_for_each(|field| field.check(object))
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FieldError {
    #[error("the field {0:?} is missing")]
    Missing(&'static str),
    #[error("the field {name:?} must be {expected}")]
    Wrong { name: &'static str, expected: String },
}

impl Field {
    pub fn check(&self, object: &Map<String, Value>) -> Result<(), FieldError> {
        match object.get(self.name) {
            None if self.required => Err(FieldError::Missing(self.name)),
            None => Ok(()),
            Some(value) if self.kind.accepts(value) => Ok(()),
            Some(_) => Err(FieldError::Wrong { name: self.name, expected: self.kind.to_string() }),
        }
    }
}

impl FieldType {
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            FieldType::Str => value.is_string(),
            FieldType::Bool => value.is_boolean(),
            FieldType::Any => true,
            FieldType::Object => value.is_object(),
            FieldType::NullableStr => value.is_string() || value.is_null(),
            FieldType::StrArray => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            FieldType::Enum(values) => value.as_str().is_some_and(|text| values.contains(&text)),
            FieldType::Updates => {
                serde_json::from_value::<Vec<crate::permission_update::PermissionUpdate>>(value.clone()).is_ok()
            }
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldType::Str => f.write_str("a string"),
            FieldType::Bool => f.write_str("true or false"),
            FieldType::Any => f.write_str("any JSON value"),
            FieldType::Object => f.write_str("an object"),
            FieldType::NullableStr => f.write_str("a string or null"),
            FieldType::StrArray => f.write_str("an array of strings"),
            FieldType::Enum(values) => write!(f, "one of {}", values.join(", ")),
            FieldType::Updates => f.write_str("an array of permission updates"),
        }
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not a hook event; names are case-sensitive, `ona --hook-schema` lists them")]
pub struct UnknownEvent(pub String);

impl FromStr for EventName {
    type Err = UnknownEvent;
    fn from_str(text: &str) -> Result<Self, UnknownEvent> {
        Self::ALL.iter().copied().find(|event| event.as_str() == text).ok_or_else(|| UnknownEvent(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn there_are_27_events_and_15_output_arms() {
        assert_eq!((EventName::ALL.len(), OUTPUT_ARMS.len()), (27, 15));
    }

    #[test]
    fn names_are_case_sensitive() {
        assert_eq!("PreToolUse".parse(), Ok(EventName::PreToolUse));
        assert_eq!("pretooluse".parse::<EventName>(), Err(UnknownEvent("pretooluse".into())));
    }

    #[test]
    fn a_wrong_field_is_named() {
        let object = json!({"source": "boot"});
        let bad = EventName::SessionStart.check(object.as_object().unwrap()).unwrap_err();
        assert_eq!(bad.to_string(), "the field \"source\" must be one of startup, resume, clear, compact");
    }

    #[test]
    fn file_changed_is_matched_by_base_name() {
        let object = json!({"file_path": "/a/b/.env"});
        assert_eq!(EventName::FileChanged.query_value(object.as_object().unwrap()), Some(".env".into()));
    }
}
