//! The merged outcome of all hooks of one firing.

use crate::dialect::{HookContext, Injection, LogEntry, ResultChange};
use ona_api::permission_update::PermissionUpdate;
use ona_api::{EventKind, EventName, Group, HookRun, LoggedEvent, Ordinal, Row, Ruling};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutcome {
    /// One per hook that matched, skipped ones included, in ordinal order.
    pub runs: Vec<HookRun>,
    /// The merged ruling and the reason of the lowest ordinal that gave it (DEC-068).
    pub ruling: Option<(Ruling, Ordinal, String)>,
    /// Exit-2 messages and blocks, in ordinal order.
    pub blocks: Vec<(Ordinal, String)>,
    /// The tool input, if a hook changed it.
    pub input: Option<Value>,
    pub context: Vec<AttributedContext>,
    /// Another result for the model: the last hook that gave one is heard.
    pub result: Option<(Ordinal, ResultChange)>,
    /// Text beside the result, in ordinal order.
    pub injected: Vec<(Ordinal, Injection)>,
    /// `continue: false`, with the first reason given.
    pub stop: Option<(Ordinal, String)>,
    /// For the operator: system messages, and exit 2 where it blocks nothing.
    pub messages: Vec<(Ordinal, String)>,
    /// `hookSpecificOutput` fields for the owner of the event.
    pub specific: Vec<(Ordinal, Map<String, Value>)>,
    pub notes: Vec<HookIncident>,
    /// What dialects with a log of their own wrote into it, with the hook's dialect.
    pub log: Vec<(Ordinal, &'static str, LogEntry)>,
    /// `state` keys of hooks that have had their only run.
    pub spent: Vec<String>,
    /// A hook failed where any failure fails the operation (WorktreeCreate).
    pub failed: bool,
}

/// Context for the model, with where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttributedContext {
    pub ordinal: Ordinal,
    pub dialect: &'static str,
    pub context: HookContext,
}

/// Something about a run that deserves an `events` row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookIncident {
    pub kind: EventKind,
    pub event: EventName,
    pub ordinal: Ordinal,
    pub command: String,
    pub why: String,
}

/// What PermissionRequest hooks decided, merged deny over allow.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestDecision {
    Allow { input: Option<Map<String, Value>>, updates: Vec<PermissionUpdate> },
    Deny { message: String, interrupt: bool },
}

impl HookOutcome {
    /// Whether the call, prompt or change must not go on.
    pub fn is_denied(&self) -> bool {
        !self.blocks.is_empty() || matches!(self.ruling, Some((Ruling::Deny, ..)))
    }

    /// The text of section 5.6 (4): block lines, else the reason of the ruling.
    pub fn message(&self) -> String {
        if self.blocks.is_empty() {
            return self.ruling.as_ref().map(|(.., reason)| reason.clone()).unwrap_or_default();
        }
        let lines: Vec<_> = self.blocks.iter().map(|(ordinal, text)| format!("[{ordinal}] {text}")).collect();
        lines.join("\n")
    }

    /// Hook rows and notes, for the group of whatever fired the event.
    pub fn rows(&self) -> Group {
        let mut group = Group::default();
        for run in &self.runs {
            group.push(Row::Hook(run.clone()));
        }
        for note in &self.notes {
            group.log(LoggedEvent::HookIncident {
                kind: note.kind,
                event: note.event,
                ordinal: note.ordinal,
                command: note.command.clone(),
                why: note.why.clone(),
            });
        }
        for key in &self.spent {
            group.push(Row::State { key: key.clone(), value: "1".into() });
        }
        for (ordinal, dialect, entry) in &self.log {
            let mut detail = entry.record.clone();
            detail.insert("level".into(), if entry.warnings.is_empty() { "info" } else { "warn" }.into());
            detail.insert("warnings".into(), json!(entry.warnings));
            detail.insert("hook_ordinal".into(), json!(ordinal));
            detail.insert("dialect".into(), (*dialect).into());
            group.log(LoggedEvent::HookExec(detail));
        }
        group
    }

    /// The decision and the hook that made it.
    pub fn permission_request(&self) -> Option<(Ordinal, RequestDecision)> {
        if let Some((ordinal, message)) = self.blocks.first() {
            return Some((*ordinal, RequestDecision::Deny { message: message.clone(), interrupt: false }));
        }
        let decided = |how: &str| {
            self.specific.iter().find_map(|(ordinal, fields)| {
                let decision = fields.get("decision")?.as_object()?;
                decision.get("behavior").is_some_and(|behavior| behavior == how).then_some((*ordinal, decision))
            })
        };
        if let Some((ordinal, deny)) = decided("deny") {
            let decision = RequestDecision::Deny {
                message: deny.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
                interrupt: deny.get("interrupt").and_then(Value::as_bool).unwrap_or_default(),
            };
            return Some((ordinal, decision));
        }
        let (ordinal, allow) = decided("allow")?;
        let updates = allow.get("updatedPermissions").and_then(|updates| serde_json::from_value(updates.clone()).ok());
        let decision = RequestDecision::Allow {
            input: allow.get("updatedInput").and_then(Value::as_object).cloned(),
            updates: updates.unwrap_or_default(),
        };
        Some((ordinal, decision))
    }
}
