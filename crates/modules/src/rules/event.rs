//! The events besides tool calls, with their fields.

use serde_json::{Map, Value, json};

/// One occurrence.
#[derive(Clone, Debug, PartialEq)]
pub enum ModuleEvent {
    SessionStart,
    SessionShutdown,
    SessionBeforeSwitch {
        reason: &'static str,
        target: Option<String>,
    },
    SessionSwitch {
        reason: &'static str,
        previous: Option<String>,
    },
    SessionBeforeBranch {
        entry: String,
    },
    SessionBranch {
        previous: Option<String>,
    },
    SessionBeforeCompact {
        preparation: Value,
        branch_entries: Vec<Value>,
        instructions: Option<String>,
    },
    SessionCompacting {
        session: String,
        messages: Vec<Value>,
    },
    SessionCompact {
        entry: Value,
        from_extension: bool,
    },
    SessionBeforeTree {
        preparation: Value,
    },
    SessionTree {
        new_leaf: Option<String>,
        old_leaf: Option<String>,
        summary: Option<Value>,
        from_extension: bool,
    },
    Context {
        messages: Vec<Value>,
    },
    BeforeAgentStart {
        prompt: String,
        images: Vec<Value>,
        system: String,
    },
    AgentStart,
    AgentEnd {
        messages: Vec<Value>,
    },
    TurnStart {
        index: u32,
        timestamp: u64,
    },
    TurnEnd {
        index: u32,
        message: Value,
        results: Vec<Value>,
    },
    AutoCompactionStart {
        reason: &'static str,
    },
    AutoCompactionEnd {
        result: Option<Value>,
        aborted: bool,
        error: Option<String>,
    },
    AutoRetryStart {
        attempt: u32,
        max_attempts: u32,
        delay_ms: u64,
        error: String,
    },
    AutoRetryEnd {
        success: bool,
        attempt: u32,
        final_error: Option<String>,
    },
    TodoReminder {
        todos: Vec<Value>,
        attempt: u32,
        max_attempts: u32,
    },
    /// What was typed or sent, before it becomes a prompt (extension API).
    Input {
        text: String,
    },
    ToolExecutionStart {
        call: String,
        tool: String,
        args: Value,
    },
    ToolExecutionEnd {
        call: String,
        tool: String,
        result: Value,
        is_error: bool,
    },
    /// With fields from a fixture, to try handlers.
    Fixture {
        name: &'static str,
        fields: Map<String, Value>,
    },
}

/// The events that can be emitted from a fixture.
const NAMES: [&str; 28] = [
    "session_start",
    "session_shutdown",
    "session_before_switch",
    "session_switch",
    "session_before_branch",
    "session_branch",
    "session_before_compact",
    "session.compacting",
    "session_compact",
    "session_before_tree",
    "session_tree",
    "context",
    "before_agent_start",
    "agent_start",
    "agent_end",
    "turn_start",
    "turn_end",
    "auto_compaction_start",
    "auto_compaction_end",
    "auto_retry_start",
    "auto_retry_end",
    "ttsr_triggered",
    "todo_reminder",
    "input",
    "tool_execution_start",
    "tool_execution_end",
    "message_start",
    "message_end",
];

/// Events that go through the chain of all hooks, and those of the extension API that are
/// accepted whether or not they are fired.
const OTHERS: [&str; 15] = [
    "tool_call",
    "tool_result",
    "message_update",
    "tool_execution_update",
    "user_bash",
    "user_python",
    "before_provider_request",
    "after_provider_response",
    "resources_discover",
    "model_select",
    "session_fork",
    "session_before_fork",
    "session_stop",
    "session_info_changed",
    "thinking_level_select",
];

/// Returns whether handlers may be registered for it.
pub fn is_event(name: &str) -> bool {
    NAMES.contains(&name) || OTHERS.contains(&name)
}

/// Returns the event that was probably meant by an unknown name.
pub fn nearest_event(name: &str) -> Option<&'static str> {
    ona_api::nearest(name, NAMES.into_iter().chain(OTHERS))
}

impl ModuleEvent {
    /// Returns an event with these fields; `None` if no event has this name. Tool calls are
    /// not among them, they go through the chain of all hooks.
    pub fn from_fixture(name: &str, fields: Map<String, Value>) -> Option<Self> {
        let name = NAMES.into_iter().find(|one| *one == name)?;
        Some(ModuleEvent::Fixture { name, fields })
    }

    pub fn name(&self) -> &'static str {
        match self {
            ModuleEvent::SessionStart => "session_start",
            ModuleEvent::SessionShutdown => "session_shutdown",
            ModuleEvent::SessionBeforeSwitch { .. } => "session_before_switch",
            ModuleEvent::SessionSwitch { .. } => "session_switch",
            ModuleEvent::SessionBeforeBranch { .. } => "session_before_branch",
            ModuleEvent::SessionBranch { .. } => "session_branch",
            ModuleEvent::SessionBeforeCompact { .. } => "session_before_compact",
            ModuleEvent::SessionCompacting { .. } => "session.compacting",
            ModuleEvent::SessionCompact { .. } => "session_compact",
            ModuleEvent::SessionBeforeTree { .. } => "session_before_tree",
            ModuleEvent::SessionTree { .. } => "session_tree",
            ModuleEvent::Context { .. } => "context",
            ModuleEvent::BeforeAgentStart { .. } => "before_agent_start",
            ModuleEvent::AgentStart => "agent_start",
            ModuleEvent::AgentEnd { .. } => "agent_end",
            ModuleEvent::TurnStart { .. } => "turn_start",
            ModuleEvent::TurnEnd { .. } => "turn_end",
            ModuleEvent::AutoCompactionStart { .. } => "auto_compaction_start",
            ModuleEvent::AutoCompactionEnd { .. } => "auto_compaction_end",
            ModuleEvent::AutoRetryStart { .. } => "auto_retry_start",
            ModuleEvent::AutoRetryEnd { .. } => "auto_retry_end",
            ModuleEvent::TodoReminder { .. } => "todo_reminder",
            ModuleEvent::Input { .. } => "input",
            ModuleEvent::ToolExecutionStart { .. } => "tool_execution_start",
            ModuleEvent::ToolExecutionEnd { .. } => "tool_execution_end",
            ModuleEvent::Fixture { name, .. } => name,
        }
    }

    /// Returns whether handlers get an `AbortSignal`.
    pub fn has_signal(&self) -> bool {
        matches!(self.name(), "session_before_compact" | "session_before_tree")
    }

    /// Returns the event object, without fields that are `undefined`.
    pub fn payload(&self) -> Value {
        let fields = match self {
            ModuleEvent::SessionStart | ModuleEvent::SessionShutdown | ModuleEvent::AgentStart => json!({}),
            ModuleEvent::SessionBeforeSwitch { reason, target } => {
                json!({"reason": reason, "targetSessionFile": target})
            }
            ModuleEvent::SessionSwitch { reason, previous } => {
                json!({"reason": reason, "previousSessionFile": previous})
            }
            ModuleEvent::SessionBeforeBranch { entry } => json!({ "entryId": entry }),
            ModuleEvent::SessionBranch { previous } => json!({ "previousSessionFile": previous }),
            ModuleEvent::SessionBeforeCompact { preparation, branch_entries, instructions } => {
                json!({"preparation": preparation, "branchEntries": branch_entries, "customInstructions": instructions})
            }
            ModuleEvent::SessionCompacting { session, messages } => json!({"sessionId": session, "messages": messages}),
            // Older hooks read `fromHook`.
            ModuleEvent::SessionCompact { entry, from_extension } => {
                json!({"compactionEntry": entry, "fromExtension": from_extension, "fromHook": from_extension})
            }
            ModuleEvent::SessionBeforeTree { preparation } => json!({ "preparation": preparation }),
            ModuleEvent::SessionTree { new_leaf, old_leaf, summary, from_extension } => {
                json!({"newLeafId": new_leaf, "oldLeafId": old_leaf, "summaryEntry": summary, "fromExtension": from_extension})
            }
            ModuleEvent::Context { messages } | ModuleEvent::AgentEnd { messages } => json!({ "messages": messages }),
            ModuleEvent::BeforeAgentStart { prompt, images, system } => json!({
                "prompt": prompt, "images": (!images.is_empty()).then_some(images), "systemPrompt": system,
            }),
            ModuleEvent::TurnStart { index, timestamp } => json!({"turnIndex": index, "timestamp": timestamp}),
            ModuleEvent::TurnEnd { index, message, results } => {
                json!({"turnIndex": index, "message": message, "toolResults": results})
            }
            ModuleEvent::AutoCompactionStart { reason } => json!({"reason": reason, "action": "context-full"}),
            ModuleEvent::AutoCompactionEnd { result, aborted, error } => json!({
                "action": "context-full", "result": result, "aborted": aborted, "willRetry": false, "errorMessage": error,
            }),
            ModuleEvent::AutoRetryStart { attempt, max_attempts, delay_ms, error } => {
                json!({"attempt": attempt, "maxAttempts": max_attempts, "delayMs": delay_ms, "errorMessage": error})
            }
            ModuleEvent::AutoRetryEnd { success, attempt, final_error } => {
                json!({"success": success, "attempt": attempt, "finalError": final_error})
            }
            ModuleEvent::TodoReminder { todos, attempt, max_attempts } => {
                json!({"todos": todos, "attempt": attempt, "maxAttempts": max_attempts})
            }
            ModuleEvent::Fixture { fields, .. } => Value::Object(fields.clone()),
            ModuleEvent::Input { text } => json!({"text": text, "source": "rpc"}),
            ModuleEvent::ToolExecutionStart { call, tool, args } => {
                json!({"toolCallId": call, "toolName": tool, "args": args})
            }
            ModuleEvent::ToolExecutionEnd { call, tool, result, is_error } => {
                json!({"toolCallId": call, "toolName": tool, "result": result, "isError": is_error})
            }
        };
        let mut object = Map::new();
        object.insert("type".into(), self.name().into());
        if let Value::Object(fields) = fields {
            // What is not there is `undefined`, never `null`.
            object.extend(fields.into_iter().filter(|(_, value)| !value.is_null()));
        }
        Value::Object(object)
    }
}
