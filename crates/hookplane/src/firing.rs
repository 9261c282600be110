//! One occurrence of an event.

use ona_api::{Access, CallId, ConversationId, EventName, Mode, SessionId};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Tells what a tool input would touch.
pub type AccessOf = Arc<dyn Fn(&Value) -> Vec<Access> + Send + Sync>;

/// The stdin fields every event starts with (section 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub session: SessionId,
    pub conversation: ConversationId,
    /// The exact string of `AGENT_SDLC_DB`.
    pub database: String,
    pub cwd: PathBuf,
    pub mode: Option<Mode>,
    pub agent_id: Option<String>,
    pub agent_type: Option<String>,
}

/// What ends the hooks of a firing, beside their own timeouts (DEC-188).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// The end of the turn.
    Turn,
    /// They report a call that was interrupted, and share the time there is for that.
    Report,
    /// Nothing: a session ends also after an interrupt.
    Own,
}

#[derive(Clone)]
pub struct Firing {
    pub event: EventName,
    pub base: Base,
    /// The event's own fields, in the order of Appendix A.
    pub fields: Map<String, Value>,
    /// The call it belongs to; not every event tells its hooks.
    pub call: Option<CallId>,
    /// The tool input as the model wrote it, or as what changed it before this firing left it;
    /// `tool_input` has absolute paths (DEC-077).
    pub written: Option<Value>,
    /// What a tool input would touch; for the conditions of tool events.
    pub access: AccessOf,
    /// Where hooks of this event may leave exported variables.
    pub env_file: Option<PathBuf>,
    /// How the tool's process ended, for dialects that say so in words.
    pub exit_code: Option<i64>,
    pub lifetime: Lifetime,
}

impl Firing {
    pub fn new(event: EventName, base: Base, fields: Value) -> Self {
        let Value::Object(fields) = fields else {
            unreachable!("event fields are built as an object");
        };
        let call = fields.get("tool_use_id").and_then(Value::as_str).map(CallId::from);
        let lifetime = if event == EventName::SessionEnd { Lifetime::Own } else { Lifetime::Turn };
        Self {
            event,
            base,
            fields,
            call,
            written: None,
            access: Arc::new(|_| Vec::new()),
            env_file: None,
            exit_code: None,
            lifetime,
        }
    }

    pub fn with_access(mut self, access: impl Fn(&Value) -> Vec<Access> + Send + Sync + 'static) -> Self {
        self.access = Arc::new(access);
        self
    }

    pub fn written(self, input: &Value) -> Self {
        Self { written: Some(input.clone()), ..self }
    }

    /// The input as it was written, unless a hook of this firing has changed it since.
    pub fn as_written<'v>(&'v self, input: &'v Value) -> &'v Value {
        let changed = self.fields.get("tool_input") != Some(input);
        self.written.as_ref().filter(|_| !changed).unwrap_or(input)
    }

    /// The absolute path of the file or folder an input is about.
    pub fn resolved_path(&self, input: &Value) -> Option<PathBuf> {
        (self.access)(input).into_iter().find_map(|access| match access {
            Access::Read(path) | Access::Search(path) | Access::Edit(path) => Some(path),
            Access::Shell { .. } | Access::Fetch { .. } | Access::Plain => None,
        })
    }

    pub fn tool(&self) -> Option<&str> {
        self.fields.get("tool_name").and_then(Value::as_str)
    }

    /// The tool input before any hook of this firing changed it.
    pub fn input(&self) -> Value {
        self.fields.get("tool_input").cloned().unwrap_or(Value::Null)
    }

    /// What matchers are tried on; `None` if this event ignores them.
    pub fn query(&self) -> Option<String> {
        self.event.query_value(&self.fields)
    }

    /// The stdin object of section 6 and Appendix A, with the input as it is now.
    pub fn stdin(&self, input: &Value) -> Map<String, Value> {
        let base = &self.base;
        let mut object = Map::new();
        object.insert("hook_event_name".into(), self.event.as_str().into());
        object.insert("session_id".into(), base.session.as_str().into());
        object.insert("conversation_id".into(), base.conversation.as_str().into());
        object.insert("runtime_db_path".into(), base.database.clone().into());
        object.insert("cwd".into(), base.cwd.to_string_lossy().into());
        if let Some(mode) = base.mode {
            object.insert("permission_mode".into(), mode.as_str().into());
        }
        if let Some(id) = &base.agent_id {
            object.insert("agent_id".into(), id.clone().into());
        }
        if let Some(kind) = &base.agent_type {
            object.insert("agent_type".into(), kind.clone().into());
        }
        for (name, value) in &self.fields {
            let value = if name == "tool_input" { input } else { value };
            object.insert(name.clone(), value.clone());
        }
        object
    }
}
