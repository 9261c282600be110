//! Everything that can be written to the database, as values.
//!
//! Rows are collected in a `Group`; the store writes a group in one transaction.
//! Collecting holds no lock, so no transaction is open while a hook or a tool runs
//! (DEC-017). The store adds sequence numbers and parents, and redacts.

use crate::testing::{CaseStatus, Criterion, ProjectFile, TestCase, TestRun};
use crate::{
    CallId, ChangedFile, ConversationId, EventName, KeptFile, LoggedEvent, Ordinal, Phase, SessionId, Verdict,
};
use serde_json::{Map, Value, json};

/// Rows collected for one commit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group(pub Vec<Row>);

impl Group {
    pub fn push(&mut self, row: Row) {
        self.0.push(row);
    }

    /// Adds a row of `events`.
    pub fn log(&mut self, event: LoggedEvent) {
        self.push(Row::Event(event));
    }

    pub fn append(&mut self, other: Group) {
        self.0.extend(other.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One thing to write. Each variant names its table. `conversation_id` and
/// `session_id` come from the key the group is committed with.
#[derive(Clone, Debug, PartialEq)]
pub enum Row {
    /// `conversations`: created if missing.
    Conversation { project_dir: String },
    /// `sessions`: created if missing.
    Session,
    /// `transcript_entries`.
    Transcript(Entry),
    /// `hook_invocations`.
    Hook(HookRun),
    /// `transcript_entries`: everything of another session, copied to the front of this one.
    CopyTranscript { from: SessionId },
    /// `summaries`: replaces the conversation's.
    Summary(String),
    /// `tool_permission_log`.
    Permission { call: CallId, tool: String, verdict: Verdict },
    /// `events`.
    Event(LoggedEvent),
    /// `settings_snapshot`, scope `effective`, changed by a running session.
    Settings(Value),
    /// The same row as it was made from files.
    ImportedSettings(Value),
    /// `schema_meta`.
    Meta { key: String, value: String },
    /// `state`.
    State { key: String, value: String },
    /// `plans`: a new draft. Older drafts of the conversation are superseded.
    PlanDraft { content: String, file_path: Option<String> },
    /// `plans`: a change of status. Refuses the group if the plan is not in `from`.
    PlanStatus { id: i64, from: PlanStatus, to: PlanStatus },
    /// `plans`: every approved plan of the conversation gets this status.
    RetireApprovedPlans(PlanStatus),
    /// Writes nothing: refuses the group unless the conversation has an approved plan
    /// at this very moment.
    NeedsApprovedPlan,
    /// `conversations.phase`. Refuses the group if the phase is not `from` any more.
    Phase { from: Phase, to: Phase },
    /// `memories`, replaced by id; the full-text table is rebuilt in the same commit.
    Memory(Memory),
    /// `memories`: removal by id, with the same rebuild.
    ForgetMemory(String),
    /// `memories`: these entered a prompt; their counters move, with the same rebuild.
    MemoriesAccessed(Vec<String>),
    /// `sdlc_criteria`: the criteria of a plan in order, in place of those it had.
    Criteria { plan: i64, criteria: Vec<Criterion> },
    /// `sdlc_test_cases`, replaced by id.
    TestCase(TestCase),
    /// `sdlc_test_cases`: a change of status.
    TestCaseStatus { id: String, to: CaseStatus },
    /// `sdlc_test_runs`.
    TestRun(TestRun),
    /// `sdlc_manifest`: the files of the project, in place of those the conversation had.
    Manifest(Vec<ProjectFile>),
    /// `sdlc_file_changes` and `sdlc_kept_content`: how a file was before it was changed. The first row
    /// of a prompt and a file counts.
    KeptFile(KeptFile),
    /// `sdlc_file_changes`: how a file was left.
    ChangedFile(ChangedFile),
    /// `sdlc_kept_content`: the oldest contents are dropped until what is left fits; bytes as they are stored.
    LimitKeptContent { session: SessionId, session_bytes: u64, database_bytes: u64 },
    /// `task_ratings`.
    Rating { rating: u8, objective: Option<String> },
    /// Writes nothing: refuses the group if the conversation has an event newer
    /// than this one, so that a decision over its rows is a decision over all of them.
    NoEventAfter(i64),
}

impl From<LoggedEvent> for Row {
    fn from(event: LoggedEvent) -> Self {
        Row::Event(event)
    }
}

/// One row of `memories`. Times are Unix seconds (DEC-020).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    pub id: String,
    pub kind: String,
    pub title: String,
    pub content: Option<String>,
    pub keywords: Option<String>,
    pub anticipated_queries: Option<String>,
    pub concept_tags: Option<String>,
    pub project_scope: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanStatus {
    Draft,
    Approved,
    Completed,
    Superseded,
}

impl PlanStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            PlanStatus::Draft => "draft",
            PlanStatus::Approved => "approved",
            PlanStatus::Completed => "completed",
            PlanStatus::Superseded => "superseded",
        }
    }
}

/// The conversation and session that a group of rows belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionKey {
    pub conversation: ConversationId,
    pub session: SessionId,
    pub start: SequenceStart,
}

/// Number of the first transcript row of a session that has none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceStart {
    Zero,
    /// One above every row there is, so that `ORDER BY sequence DESC` over the
    /// whole table finds the newest result (DEC-100).
    AboveAll,
}

/// A transcript record (Appendix C). Serialised compactly with keys in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    User {
        uuid: String,
        content: Vec<Block>,
    },
    Assistant {
        uuid: String,
        content: Vec<Block>,
    },
    ToolUse {
        id: CallId,
        name: String,
        input: Value,
    },
    ToolResult {
        id: CallId,
        content: String,
        is_error: bool,
    },
    System(SystemEntry),
    Progress {
        data: Map<String, Value>,
    },
    Attachment {
        attachment: Map<String, Value>,
        call: Option<CallId>,
    },
    InternalHook {
        fields: Map<String, Value>,
        call: Option<CallId>,
    },
    ContentReplacement {
        fields: Map<String, Value>,
        call: Option<CallId>,
    },
    CollapseCommit {
        fields: Map<String, Value>,
    },
    FileHistorySnapshot {
        fields: Map<String, Value>,
        call: Option<CallId>,
    },
    /// What the session is called from now on.
    Title(String),
}

/// What a `system` row says. It is for people; the model does not see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemEntry {
    /// A hook's message for the operator.
    HookMessage { event: EventName, ordinal: Ordinal, message: String },
    /// A hook ended the turn.
    HookStopped { event: EventName, ordinal: Ordinal, reason: String },
    /// A hook refused a prompt, which is not kept (DEC-034).
    PromptBlocked { message: String },
    /// What the operator typed, where the prompt is what it stands for.
    Command { typed: String },
    /// Something that a prompt mentions was not attached.
    NotAttached { message: String },
    /// The reply before this row is not whole: it was interrupted, cut off or refused.
    PartialReply { message: String },
    /// The conversation goes on from an earlier row.
    Rewound { to_sequence: i64 },
}

impl SystemEntry {
    /// The subtype of `Rewound`, which readers of a transcript look for.
    pub const REWOUND: &str = "rewound";

    fn payload(&self) -> Value {
        match self {
            Self::HookMessage { event, ordinal, message } => json!({
                "_t": "system", "subtype": "hook_message", "hook_event": event.as_str(), "hook_ordinal": ordinal.0,
                "message": message,
            }),
            Self::HookStopped { event, ordinal, reason } => json!({
                "_t": "system", "subtype": "hook_stopped", "hook_event": event.as_str(), "hook_ordinal": ordinal.0,
                "stop_reason": reason,
            }),
            Self::PromptBlocked { message } => {
                json!({"_t": "system", "subtype": "prompt_blocked", "message": message})
            }
            Self::Command { typed } => json!({"_t": "system", "subtype": "command", "typed": typed}),
            Self::NotAttached { message } => json!({"_t": "system", "subtype": "not_attached", "message": message}),
            Self::PartialReply { message } => json!({"_t": "system", "subtype": "partial_reply", "message": message}),
            Self::Rewound { to_sequence } => {
                json!({"_t": "system", "subtype": Self::REWOUND, "to_sequence": to_sequence})
            }
        }
    }
}

/// The closed set of content blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Text(String),
    ToolUse { id: CallId, name: String, input: Value },
    ToolResult { id: CallId, content: String, is_error: bool },
}

impl Block {
    pub fn json(&self) -> Value {
        match self {
            Block::Text(text) => json!({"type": "text", "text": text}),
            Block::ToolUse { id, name, input } => json!({"type": "tool_use", "id": id, "name": name, "input": input}),
            Block::ToolResult { id, content, is_error } => {
                json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
            }
        }
    }
}

impl Entry {
    pub fn entry_type(&self) -> &'static str {
        match self {
            Entry::User { .. } => "user",
            Entry::Assistant { .. } => "assistant",
            Entry::ToolUse { .. } => "tool_use",
            Entry::ToolResult { .. } => "tool_result",
            Entry::System(_) => "system",
            Entry::Progress { .. } => "progress",
            Entry::Attachment { .. } => "attachment",
            Entry::InternalHook { .. } => "internal_hook",
            Entry::ContentReplacement { .. } => "content_replacement",
            Entry::CollapseCommit { .. } => "collapse_commit",
            Entry::FileHistorySnapshot { .. } => "file_history_snapshot",
            Entry::Title(_) => "ai_title",
        }
    }

    /// Returns the `tool_use_id` column.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Entry::ToolUse { id, .. } | Entry::ToolResult { id, .. } => Some(id),
            Entry::Attachment { call, .. }
            | Entry::InternalHook { call, .. }
            | Entry::ContentReplacement { call, .. }
            | Entry::FileHistorySnapshot { call, .. } => call.as_ref(),
            Entry::User { .. }
            | Entry::Assistant { .. }
            | Entry::System(_)
            | Entry::Progress { .. }
            | Entry::CollapseCommit { .. }
            | Entry::Title(_) => None,
        }
    }

    pub fn payload(&self) -> Value {
        let blocks = |content: &[Block]| content.iter().map(Block::json).collect::<Vec<_>>();
        let tagged = |fields: &Map<String, Value>| {
            let mut payload = Map::with_capacity(fields.len() + 1);
            payload.insert("_t".into(), self.entry_type().into());
            payload.extend(fields.clone());
            Value::Object(payload)
        };
        match self {
            Entry::User { uuid, content } | Entry::Assistant { uuid, content } => {
                json!({"_t": self.entry_type(), "uuid": uuid, "content": blocks(content)})
            }
            Entry::ToolUse { id, name, input } => json!({"_t": "tool_use", "id": id, "name": name, "input": input}),
            Entry::ToolResult { id, content, is_error } => {
                json!({"_t": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error})
            }
            Entry::System(entry) => entry.payload(),
            Entry::Progress { data } => json!({"_t": "progress", "data": data}),
            Entry::Attachment { attachment, .. } => json!({"_t": "attachment", "attachment": attachment}),
            Entry::InternalHook { fields, .. }
            | Entry::ContentReplacement { fields, .. }
            | Entry::CollapseCommit { fields }
            | Entry::FileHistorySnapshot { fields, .. } => tagged(fields),
            Entry::Title(title) => json!({"_t": "ai_title", "title": title}),
        }
    }
}

/// One run, or skip, of one hook: a row of `hook_invocations`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRun {
    pub event: EventName,
    pub ordinal: Ordinal,
    pub matcher: String,
    pub command: String,
    pub call: Option<CallId>,
    pub tool: Option<String>,
    /// What was, or would have been, written to the hook's stdin, without the newline.
    pub input_json: String,
    pub exit_code: Option<i32>,
    pub stdout: Option<String>,
    pub stderr: Option<String>,
    /// UTC with milliseconds.
    pub started_at: String,
    pub completed_at: Option<String>,
    pub skipped: Option<SkipReason>,
}

/// Why a hook that matched did not run. Closed (DEC-057).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    PriorBlockOrDeny,
    AllHooksDisabled,
    UntrustedWorkspace,
    ManagedOnly,
    /// The hook's script has changed since it was approved (DEC-189).
    ScriptChanged,
}

impl SkipReason {
    pub const ALL: [SkipReason; 5] = [
        SkipReason::PriorBlockOrDeny,
        SkipReason::AllHooksDisabled,
        SkipReason::UntrustedWorkspace,
        SkipReason::ManagedOnly,
        SkipReason::ScriptChanged,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::PriorBlockOrDeny => "prior_block_or_deny",
            SkipReason::AllHooksDisabled => "all_hooks_disabled",
            SkipReason::UntrustedWorkspace => "untrusted_workspace",
            SkipReason::ManagedOnly => "managed_only",
            SkipReason::ScriptChanged => "script_changed",
        }
    }

    pub fn from_text(text: &str) -> Option<SkipReason> {
        Self::ALL.into_iter().find(|skip| skip.as_str() == text)
    }
}

macro_rules! event_kinds {
    ($($variant:ident = $text:literal),+ $(,)?) => {
        /// `events.event_type`. Closed (DEC-023).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EventKind { $($variant),+ }
        impl EventKind {
            pub const ALL: &[EventKind] = &[$(EventKind::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self { $(EventKind::$variant => $text),+ }
            }
        }
    };
}

event_kinds! {
    SessionCreated = "session_created",
    PhaseChanged = "phase_changed",
    ImplementationComplete = "implementation_complete",
    PlanSaved = "plan_saved",
    PlanApproved = "plan_approved",
    PlanSuperseded = "plan_superseded",
    PlanCompleted = "plan_completed",
    VerifyApproved = "verify_approved",
    StopFailure = "StopFailure",
    HookOutputInvalid = "hook_output_invalid",
    HookAsyncRejected = "hook_async_rejected",
    HookConfigRejected = "hook_config_rejected",
    HookError = "hook_error",
    HookExec = "hook_exec",
    HookConfigInvalid = "hook_config_invalid",
    DialectLoadError = "dialect_load_error",
    OmpEvent = "omp_event",
    SettingsImported = "settings_imported",
    SettingsUnknownKey = "settings_unknown_key",
    PermissionRuleDropped = "permission_rule_dropped",
    WireModelOverride = "wire_model_override",
    ToolStarted = "tool_started",
    TestGenerated = "test_generated",
    TestRejected = "test_rejected",
    TestRun = "test_run",
    IsolationViolation = "isolation_violation",
    Compaction = "compaction",
    Interrupted = "interrupted",
    McpServerDropped = "mcp_server_dropped",
    McpServerFailed = "mcp_server_failed",
    BackgroundTaskStopped = "background_task_stopped",
    HookScriptChanged = "hook_script_changed",
    KeptContentDropped = "kept_content_dropped",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_compact_and_in_the_order_of_appendix_c() {
        let text = |entry: Entry| serde_json::to_string(&entry.payload()).unwrap();
        assert_eq!(
            text(Entry::ToolResult { id: "c1".into(), content: "é".into(), is_error: false }),
            r#"{"_t":"tool_result","tool_use_id":"c1","content":"é","is_error":false}"#
        );
        assert_eq!(
            text(Entry::ToolUse { id: "c1".into(), name: "Read".into(), input: json!({"b": 1, "a": 2}) }),
            r#"{"_t":"tool_use","id":"c1","name":"Read","input":{"b":1,"a":2}}"#
        );
        assert_eq!(
            text(Entry::User { uuid: "u".into(), content: vec![Block::Text("hi".into())] }),
            r#"{"_t":"user","uuid":"u","content":[{"type":"text","text":"hi"}]}"#
        );
    }

    #[test]
    fn system_rows_are_written_as_the_database_holds_them() {
        let (event, ordinal, message) = (EventName::Stop, Ordinal(2), "m".to_owned());
        for (entry, stored) in [
            (
                SystemEntry::HookMessage { event, ordinal, message: message.clone() },
                r#""hook_message","hook_event":"Stop","hook_ordinal":2,"message":"m""#,
            ),
            (
                SystemEntry::HookStopped { event, ordinal, reason: message.clone() },
                r#""hook_stopped","hook_event":"Stop","hook_ordinal":2,"stop_reason":"m""#,
            ),
            (SystemEntry::PromptBlocked { message: message.clone() }, r#""prompt_blocked","message":"m""#),
            (SystemEntry::Command { typed: "/x".to_owned() }, r#""command","typed":"/x""#),
            (SystemEntry::NotAttached { message: message.clone() }, r#""not_attached","message":"m""#),
            (SystemEntry::PartialReply { message }, r#""partial_reply","message":"m""#),
            (SystemEntry::Rewound { to_sequence: 4 }, r#""rewound","to_sequence":4"#),
        ] {
            let payload = Entry::System(entry).payload().to_string();
            assert_eq!(payload, format!(r#"{{"_t":"system","subtype":{stored}}}"#));
        }
    }
}
