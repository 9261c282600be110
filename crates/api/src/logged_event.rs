//! What a row of `events` says, by kind.
//!
//! The keys of each kind and their order are what the database has always held: scripts, `ona explain` and
//! the acceptance rows read them. A writer fills a variant; the JSON is made here and nowhere else.

use crate::row::EventKind;
use crate::{CallId, EventName, Ordinal, Phase, SessionId};
use serde_json::{Map, Value, json};

/// One row of `events`.
#[derive(Clone, Debug, PartialEq)]
pub enum LoggedEvent {
    SessionCreated(SessionOrigin),
    PhaseChanged {
        from: Phase,
        to: Phase,
    },
    ImplementationComplete,
    PlanSaved {
        hash: String,
        file_path: Option<String>,
    },
    PlanApproved {
        plan: i64,
        hash: String,
        criteria: usize,
    },
    /// A new planning phase began while a plan was approved.
    PlanSuperseded,
    PlanCompleted(PlanCompletion),
    VerifyApproved {
        plan: i64,
        report_sha256: String,
    },
    StopFailure {
        class: &'static str,
        details: String,
    },
    /// Something about one hook of a chain; the kind says what.
    HookIncident {
        kind: EventKind,
        event: EventName,
        ordinal: Ordinal,
        command: String,
        why: String,
    },
    /// A handler of a hook module failed.
    ModuleError {
        path: String,
        event: String,
        error: String,
    },
    /// What the log of a dialect says about one run; its keys are the dialect's.
    HookExec(Map<String, Value>),
    /// A source of hooks that cannot be used; its keys are the dialect's.
    HookConfigInvalid(Value),
    /// A hook of the effective settings that is not used.
    HookRejected {
        entry: Value,
        why: String,
    },
    /// A notice about a settings file; the kind says of what.
    SettingsNotice {
        kind: EventKind,
        why: String,
    },
    DialectLoadError {
        dialect: &'static str,
        path: String,
        error: String,
    },
    ModuleCommand {
        command: String,
        path: String,
        error: Option<String>,
    },
    ModuleHandler {
        event: String,
        path: String,
        handler: usize,
        result: Value,
        error: Option<String>,
    },
    SettingsImported {
        sha256: String,
        keys: Vec<String>,
    },
    PermissionRuleDropped {
        list: &'static str,
        rule: String,
        why: String,
    },
    WireModelOverride {
        provider: &'static str,
        model_id: String,
        wire_model: String,
    },
    ToolStarted {
        call: CallId,
        tool: String,
        decision: Value,
    },
    /// A case that the operator added.
    TestAdded {
        case: String,
        criterion: Option<String>,
        script_sha256: String,
        retired: Vec<String>,
    },
    TestGenerated(GeneratedTests),
    TestRejected {
        case: String,
        session: SessionId,
        plan: i64,
        criterion: Option<String>,
        attempt: usize,
        rules: Vec<String>,
        script_sha256: String,
    },
    TestRun {
        run: String,
        case: String,
        criterion: Option<String>,
        exit_code: Option<i64>,
        timed_out: bool,
        refused: bool,
        sandbox: &'static str,
        script_sha256: Option<String>,
        project_sha256: Option<String>,
    },
    IsolationViolation {
        plan: i64,
        input: String,
        path: String,
        line: usize,
    },
    Compaction {
        trigger: &'static str,
        covers_to_sequence: i64,
    },
    Interrupted {
        /// The behavioural test that was running.
        case: Option<String>,
    },
    McpServerDropped {
        server: String,
        origin: &'static str,
        why: String,
    },
    McpServerFailed {
        server: String,
        why: String,
    },
    BackgroundTaskStopped {
        task: String,
        task_type: &'static str,
        command: String,
        why: &'static str,
    },
    /// Contents of files that were kept for a rewind and are not any more.
    KeptContentDropped {
        contents: u64,
        bytes: u64,
        /// Whose limit was reached: `session` or `database`.
        limit: &'static str,
    },
}

/// Who began a session.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionOrigin {
    Print,
    /// The interactive terminal.
    Terminal,
    Fork {
        of: SessionId,
    },
    FireHook,
    Eval,
    /// A module asked for a new session; `parent` is what it named.
    Module {
        parent: Value,
    },
    ModuleBranch {
        of: SessionId,
    },
    Skill {
        name: String,
    },
    Agent {
        agent_type: String,
    },
    HookJudge,
    Clear {
        after: SessionId,
    },
    TestGeneration {
        agent_type: &'static str,
    },
    TestRun,
}

impl SessionOrigin {
    fn json(&self) -> Value {
        match self {
            Self::Print => json!({"by": "print"}),
            Self::Terminal => json!({"by": "terminal"}),
            Self::Fork { of } => json!({"by": "fork", "of": of}),
            Self::FireHook => json!({"by": "fire-hook"}),
            Self::Eval => json!({"by": "eval"}),
            Self::Module { parent } => json!({"by": "module", "parent": parent}),
            Self::ModuleBranch { of } => json!({"by": "module", "of": of}),
            Self::Skill { name } => json!({"by": "skill", "skill": name}),
            Self::Agent { agent_type } => json!({"by": "agent", "agent_type": agent_type}),
            Self::HookJudge => json!({"by": "hook"}),
            Self::Clear { after } => json!({"by": "clear", "after": after}),
            Self::TestGeneration { agent_type } => json!({"by": "test generate", "agent_type": agent_type}),
            Self::TestRun => json!({"by": "test run"}),
        }
    }
}

/// Why a plan counts as completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanCompletion {
    Verified {
        plan: i64,
    },
    /// A new planning phase began after the conversation was done.
    NewPlanning,
}

/// One answer of the test generator.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedTests {
    pub by: &'static str,
    pub session: SessionId,
    pub plan: i64,
    pub criteria: Vec<String>,
    pub attempt: usize,
    /// Digests of what the generator was shown, by name.
    pub inputs: Map<String, Value>,
    pub prompt_sha256: String,
    pub accepted: Vec<String>,
    pub rejected: Vec<String>,
}

const NEW_PLANNING: &str = "a new planning phase began";

impl LoggedEvent {
    /// Returns the value of `events.event_type`.
    pub fn kind(&self) -> EventKind {
        match self {
            Self::SessionCreated(_) => EventKind::SessionCreated,
            Self::PhaseChanged { .. } => EventKind::PhaseChanged,
            Self::ImplementationComplete => EventKind::ImplementationComplete,
            Self::PlanSaved { .. } => EventKind::PlanSaved,
            Self::PlanApproved { .. } => EventKind::PlanApproved,
            Self::PlanSuperseded => EventKind::PlanSuperseded,
            Self::PlanCompleted(_) => EventKind::PlanCompleted,
            Self::VerifyApproved { .. } => EventKind::VerifyApproved,
            Self::StopFailure { .. } => EventKind::StopFailure,
            Self::HookIncident { kind, .. } | Self::SettingsNotice { kind, .. } => *kind,
            Self::ModuleError { .. } => EventKind::HookError,
            Self::HookExec(_) => EventKind::HookExec,
            Self::HookConfigInvalid(_) => EventKind::HookConfigInvalid,
            Self::HookRejected { .. } => EventKind::HookConfigRejected,
            Self::DialectLoadError { .. } => EventKind::DialectLoadError,
            Self::ModuleCommand { .. } | Self::ModuleHandler { .. } => EventKind::OmpEvent,
            Self::SettingsImported { .. } => EventKind::SettingsImported,
            Self::PermissionRuleDropped { .. } => EventKind::PermissionRuleDropped,
            Self::WireModelOverride { .. } => EventKind::WireModelOverride,
            Self::ToolStarted { .. } => EventKind::ToolStarted,
            Self::TestAdded { .. } | Self::TestGenerated(_) => EventKind::TestGenerated,
            Self::TestRejected { .. } => EventKind::TestRejected,
            Self::TestRun { .. } => EventKind::TestRun,
            Self::IsolationViolation { .. } => EventKind::IsolationViolation,
            Self::Compaction { .. } => EventKind::Compaction,
            Self::Interrupted { .. } => EventKind::Interrupted,
            Self::McpServerDropped { .. } => EventKind::McpServerDropped,
            Self::McpServerFailed { .. } => EventKind::McpServerFailed,
            Self::BackgroundTaskStopped { .. } => EventKind::BackgroundTaskStopped,
            Self::KeptContentDropped { .. } => EventKind::KeptContentDropped,
        }
    }

    /// Returns the value of `events.detail`.
    pub fn detail(&self) -> Value {
        match self {
            Self::SessionCreated(origin) => origin.json(),
            Self::PhaseChanged { from, to } => json!({"from": from.as_str(), "to": to.as_str()}),
            Self::ImplementationComplete | Self::Interrupted { case: None } => json!({}),
            Self::PlanSaved { hash, file_path } => json!({"hash": hash, "file_path": file_path}),
            Self::PlanApproved { plan, hash, criteria } => json!({"plan_id": plan, "hash": hash, "criteria": criteria}),
            Self::PlanSuperseded | Self::PlanCompleted(PlanCompletion::NewPlanning) => {
                json!({ "because": NEW_PLANNING })
            }
            Self::PlanCompleted(PlanCompletion::Verified { plan }) => json!({ "plan_id": plan }),
            Self::VerifyApproved { plan, report_sha256 } => json!({"plan_id": plan, "report_sha256": report_sha256}),
            Self::StopFailure { class, details } => json!({"error": class, "details": details}),
            Self::HookIncident { kind: _, event, ordinal, command, why } => json!({
                "hook_event": event.as_str(), "hook_ordinal": ordinal.0, "command": command, "why": why,
            }),
            Self::ModuleError { path, event, error } => json!({"hookPath": path, "event": event, "error": error}),
            Self::HookExec(record) => record.clone().into(),
            Self::HookConfigInvalid(record) => record.clone(),
            Self::HookRejected { entry, why } => json!({"entry": entry, "why": why}),
            Self::SettingsNotice { kind: _, why } => json!({ "why": why }),
            Self::DialectLoadError { dialect, path, error } => {
                json!({"dialect": dialect, "path": path, "error": error})
            }
            Self::ModuleCommand { command, path, error } => {
                json!({"event": "command", "command": command, "hook": path, "error": error})
            }
            Self::ModuleHandler { event, path, handler, result, error } => {
                json!({"event": event, "hook": path, "handler": handler, "result": result, "error": error})
            }
            Self::SettingsImported { sha256, keys } => json!({"sha256": sha256, "keys": keys}),
            Self::PermissionRuleDropped { list, rule, why } => json!({"list": list, "rule": rule, "why": why}),
            Self::WireModelOverride { provider, model_id, wire_model } => {
                json!({"provider": provider, "model_id": model_id, "wire_model": wire_model})
            }
            Self::ToolStarted { call, tool, decision } => {
                json!({"tool_use_id": call, "tool_name": tool, "decision": decision})
            }
            Self::TestAdded { case, criterion, script_sha256, retired } => json!({
                "by": "operator", "test_case_id": case, "criterion_id": criterion, "script_sha256": script_sha256,
                "retired": retired,
            }),
            Self::TestGenerated(made) => json!({
                "by": made.by, "session_id": made.session, "plan_id": made.plan, "criteria": made.criteria,
                "attempt": made.attempt, "inputs": made.inputs, "prompt_sha256": made.prompt_sha256,
                "accepted": made.accepted, "rejected": made.rejected,
            }),
            Self::TestRejected { case, session, plan, criterion, attempt, rules, script_sha256 } => json!({
                "test_case_id": case, "session_id": session, "plan_id": plan, "criterion_id": criterion,
                "attempt": attempt, "rules": rules, "script_sha256": script_sha256,
            }),
            Self::TestRun {
                run,
                case,
                criterion,
                exit_code,
                timed_out,
                refused,
                sandbox,
                script_sha256,
                project_sha256,
            } => json!({
                "run_id": run, "test_case_id": case, "criterion_id": criterion, "exit_code": exit_code,
                "timed_out": timed_out, "refused": refused, "sandbox": sandbox, "script_sha256": script_sha256,
                "project_sha256": project_sha256,
            }),
            Self::IsolationViolation { plan, input, path, line } => {
                json!({"plan_id": plan, "input": input, "path": path, "line": line})
            }
            Self::Compaction { trigger, covers_to_sequence } => {
                json!({"trigger": trigger, "covers_to_sequence": covers_to_sequence})
            }
            Self::Interrupted { case: Some(case) } => json!({ "test_case_id": case }),
            Self::McpServerDropped { server, origin, why } => json!({"server": server, "origin": origin, "why": why}),
            Self::McpServerFailed { server, why } => json!({"server": server, "why": why}),
            Self::BackgroundTaskStopped { task, task_type, command, why } => {
                json!({"task_id": task, "task_type": task_type, "command": command, "why": why})
            }
            Self::KeptContentDropped { contents, bytes, limit } => {
                json!({"contents": contents, "bytes": bytes, "limit": limit})
            }
        }
    }
}

#[cfg(test)]
mod tests;
