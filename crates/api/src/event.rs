//! The 27 hook events: names, order, stdin fields and match query.
//!
//! The order is that of Appendix A; `ona --hook-schema` prints this table and
//! `scripts/verify-sdlc-hook-order.mjs` compares it with the specification.
//! How a hook's answer is read is a matter of its dialect, not of this table.

use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// The JSON type of one stdin field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    pub kind: Kind,
    pub required: bool,
}

const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: true }
}
const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false }
}

/// Which stdin field a matcher is tried on (section 5.1, DEC-045).
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

            /// The event-specific stdin fields, in order.
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
const TRIGGER: Kind = Kind::Enum(&["manual", "auto"]);
const ACTION: Kind = Kind::Enum(&["accept", "decline", "cancel"]);
const ELICIT_MODE: Kind = Kind::Enum(&["form", "url"]);
const STOP_ERRORS: Kind = Kind::Enum(&[
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
        must("tool_name", Kind::Str), must("tool_input", Kind::Any), must("tool_use_id", Kind::Str),
    ];
    PostToolUse: TOOL, [
        must("tool_name", Kind::Str), must("tool_input", Kind::Any), must("tool_response", Kind::Any),
        must("tool_use_id", Kind::Str),
    ];
    PostToolUseFailure: TOOL, [
        must("tool_name", Kind::Str), must("tool_input", Kind::Any), must("tool_use_id", Kind::Str),
        must("error", Kind::Str), may("is_interrupt", Kind::Bool),
    ];
    PermissionDenied: TOOL, [
        must("tool_name", Kind::Str), must("tool_input", Kind::Any), must("tool_use_id", Kind::Str),
        must("reason", Kind::Str),
    ];
    Notification: Query::Field("notification_type"), [
        must("message", Kind::Str), may("title", Kind::Str), must("notification_type", Kind::Str),
    ];
    UserPromptSubmit: Query::Ignored, [must("prompt", Kind::Str)];
    SessionStart: Query::Field("source"), [
        must("source", Kind::Enum(&["startup", "resume", "clear", "compact"])),
        may("agent_type", Kind::Str), may("model", Kind::Str),
    ];
    SessionEnd: Query::Field("reason"), [
        must("reason", Kind::Enum(&[
            "clear", "resume", "logout", "prompt_input_exit", "other", "bypass_permissions_disabled",
        ])),
    ];
    Stop: Query::Ignored, [
        must("stop_hook_active", Kind::Bool), may("last_assistant_message", Kind::Str),
    ];
    StopFailure: Query::Field("error"), [
        must("error", STOP_ERRORS), may("error_details", Kind::Str), may("last_assistant_message", Kind::Str),
    ];
    SubagentStart: Query::Field("agent_type"), [
        must("agent_id", Kind::Str), must("agent_type", Kind::Str),
    ];
    SubagentStop: Query::Field("agent_type"), [
        must("stop_hook_active", Kind::Bool), must("agent_id", Kind::Str),
        must("agent_transcript_path", Kind::Str), must("agent_type", Kind::Str),
        may("last_assistant_message", Kind::Str),
    ];
    PreCompact: Query::Field("trigger"), [
        must("trigger", TRIGGER), must("custom_instructions", Kind::NullableStr),
    ];
    PostCompact: Query::Field("trigger"), [
        must("trigger", TRIGGER), must("compact_summary", Kind::Str),
    ];
    PermissionRequest: TOOL, [
        must("tool_name", Kind::Str), must("tool_input", Kind::Any),
        may("permission_suggestions", Kind::Updates),
    ];
    Setup: Query::Field("trigger"), [must("trigger", Kind::Enum(&["init", "maintenance"]))];
    TeammateIdle: Query::Empty, [must("teammate_name", Kind::Str), must("team_name", Kind::Str)];
    TaskCreated: Query::Empty, [
        must("task_id", Kind::Str), must("task_subject", Kind::Str), may("task_description", Kind::Str),
        may("teammate_name", Kind::Str), may("team_name", Kind::Str),
    ];
    TaskCompleted: Query::Empty, [
        must("task_id", Kind::Str), must("task_subject", Kind::Str), may("task_description", Kind::Str),
        may("teammate_name", Kind::Str), may("team_name", Kind::Str),
    ];
    Elicitation: Query::Field("mcp_server_name"), [
        must("mcp_server_name", Kind::Str), must("message", Kind::Str), may("mode", ELICIT_MODE),
        may("url", Kind::Str), may("elicitation_id", Kind::Str), may("requested_schema", Kind::Object),
    ];
    ElicitationResult: Query::Field("mcp_server_name"), [
        must("mcp_server_name", Kind::Str), may("elicitation_id", Kind::Str), may("mode", ELICIT_MODE),
        must("action", ACTION), may("content", Kind::Object),
    ];
    ConfigChange: Query::Field("source"), [
        must("source", Kind::Enum(&[
            "user_settings", "project_settings", "local_settings", "policy_settings", "skills",
        ])),
        may("file_path", Kind::Str),
    ];
    InstructionsLoaded: Query::Field("load_reason"), [
        must("file_path", Kind::Str), must("memory_type", Kind::Enum(&["User", "Project", "Local", "Managed"])),
        must("load_reason", Kind::Enum(&[
            "session_start", "nested_traversal", "path_glob_match", "include", "compact",
        ])),
        may("globs", Kind::StrArray), may("trigger_file_path", Kind::Str), may("parent_file_path", Kind::Str),
    ];
    WorktreeCreate: Query::Ignored, [must("name", Kind::Str)];
    WorktreeRemove: Query::Ignored, [must("worktree_path", Kind::Str)];
    CwdChanged: Query::Ignored, [must("old_cwd", Kind::Str), must("new_cwd", Kind::Str)];
    FileChanged: Query::Basename("file_path"), [
        must("file_path", Kind::Str), must("event", Kind::Enum(&["change", "add", "unlink"])),
    ];
}

/// The fields every stdin object starts with (section 6). `transcript_path` is
/// deliberately not among them.
pub const BASE_FIELDS: &[Field] = &[
    must("hook_event_name", Kind::Str),
    must("session_id", Kind::Str),
    must("conversation_id", Kind::Str),
    must("runtime_db_path", Kind::Str),
    must("cwd", Kind::Str),
    may("permission_mode", Kind::Str),
    may("agent_id", Kind::Str),
    may("agent_type", Kind::Str),
];

/// The arms of `hookSpecificOutput`, in the order of Appendix B.
pub const OUTPUT_ARMS: &[(EventName, &[Field])] = &[
    (
        EventName::PreToolUse,
        &[
            may("permissionDecision", Kind::Enum(&["allow", "deny", "ask"])),
            may("permissionDecisionReason", Kind::Str),
            may("updatedInput", Kind::Object),
            may("additionalContext", Kind::Str),
        ],
    ),
    (EventName::UserPromptSubmit, &[may("additionalContext", Kind::Str)]),
    (
        EventName::SessionStart,
        &[may("additionalContext", Kind::Str), may("initialUserMessage", Kind::Str), may("watchPaths", Kind::StrArray)],
    ),
    (EventName::Setup, &[may("additionalContext", Kind::Str)]),
    (EventName::SubagentStart, &[may("additionalContext", Kind::Str)]),
    (EventName::PostToolUse, &[may("additionalContext", Kind::Str), may("updatedMCPToolOutput", Kind::Any)]),
    (EventName::PostToolUseFailure, &[may("additionalContext", Kind::Str)]),
    (EventName::PermissionDenied, &[may("retry", Kind::Bool)]),
    (EventName::Notification, &[may("additionalContext", Kind::Str)]),
    (EventName::PermissionRequest, &[must("decision", Kind::Object)]),
    (EventName::Elicitation, &[may("action", ACTION), may("content", Kind::Object)]),
    (EventName::ElicitationResult, &[may("action", ACTION), may("content", Kind::Object)]),
    (EventName::CwdChanged, &[may("watchPaths", Kind::StrArray)]),
    (EventName::FileChanged, &[may("watchPaths", Kind::StrArray)]),
    (EventName::WorktreeCreate, &[must("worktreePath", Kind::Str)]),
];

impl EventName {
    /// The fields of this event's `hookSpecificOutput` arm, if it has one.
    pub fn output_arm(self) -> Option<&'static [Field]> {
        OUTPUT_ARMS.iter().find(|(event, _)| *event == self).map(|(_, fields)| *fields)
    }

    /// The value a matcher is tried on. `None`: the matcher is ignored.
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

    /// Whether an object has this event's fields in their types.
    pub fn check(self, object: &Map<String, Value>) -> Result<(), BadField> {
        self.fields().iter().try_for_each(|field| field.check(object))
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BadField {
    #[error("the field {0:?} is missing")]
    Missing(&'static str),
    #[error("the field {name:?} must be {expected}")]
    Wrong { name: &'static str, expected: String },
}

impl Field {
    pub fn check(&self, object: &Map<String, Value>) -> Result<(), BadField> {
        match object.get(self.name) {
            None if self.required => Err(BadField::Missing(self.name)),
            None => Ok(()),
            Some(value) if self.kind.accepts(value) => Ok(()),
            Some(_) => Err(BadField::Wrong { name: self.name, expected: self.kind.to_string() }),
        }
    }
}

impl Kind {
    pub fn accepts(self, value: &Value) -> bool {
        match self {
            Kind::Str => value.is_string(),
            Kind::Bool => value.is_boolean(),
            Kind::Any => true,
            Kind::Object => value.is_object(),
            Kind::NullableStr => value.is_string() || value.is_null(),
            Kind::StrArray => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::Enum(values) => value.as_str().is_some_and(|text| values.contains(&text)),
            Kind::Updates => {
                serde_json::from_value::<Vec<crate::permission_update::PermissionUpdate>>(value.clone()).is_ok()
            }
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Str => f.write_str("a string"),
            Kind::Bool => f.write_str("true or false"),
            Kind::Any => f.write_str("any JSON value"),
            Kind::Object => f.write_str("an object"),
            Kind::NullableStr => f.write_str("a string or null"),
            Kind::StrArray => f.write_str("an array of strings"),
            Kind::Enum(values) => write!(f, "one of {}", values.join(", ")),
            Kind::Updates => f.write_str("an array of permission updates"),
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
