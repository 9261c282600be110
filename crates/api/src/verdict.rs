//! A decision about a call: what was decided, by whom, and the text shown for it.

use crate::{Mode, Ordinal};
use serde_json::{Value, json};

/// Ordered by strictness, so that `max` merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ruling {
    Allow,
    Ask,
    Deny,
}

impl Ruling {
    pub fn as_str(self) -> &'static str {
        match self {
            Ruling::Allow => "allow",
            Ruling::Ask => "ask",
            Ruling::Deny => "deny",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub ruling: Ruling,
    pub by: Authority,
    /// The text shown for it; for a denial, the content of the tool result.
    pub message: String,
}

/// Who decided. Every variant has a `source` of `tool_permission_log` (DEC-076).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authority {
    Hook(Ordinal),
    PlanningGate,
    /// A rule of the operator, as it was written.
    Rule(String),
    /// What no mode and no allow rule approves by itself: removing a home
    /// directory, writing to `.git`, a command whose effect cannot be read.
    Safety(String),
    /// The agent's own record and guards. Nothing approves a change of them.
    Protected(String),
    Mode(Mode),
    Human,
    /// The tool of a server that `--permission-prompt-tool` names. It is not a person.
    PromptTool(String),
    /// The operator entered the call (`--eval`).
    EvalOperator,
    /// An explicit question, but no operator is present.
    NoOperator,
    /// `-p`: no operator is present.
    Headless,
}

impl Authority {
    /// Returns whether only a person may answer a question of this authority (DEC-183).
    pub fn asks_a_person(&self) -> bool {
        matches!(self, Authority::Safety(_))
    }

    pub fn source(&self) -> &'static str {
        match self {
            Authority::Hook(_) => "hook",
            Authority::PlanningGate => "planning_gate",
            Authority::Rule(_) | Authority::Safety(_) | Authority::Protected(_) => "rule",
            Authority::Mode(_) => "mode",
            Authority::Human => "human",
            Authority::PromptTool(_) => "permission_prompt_tool",
            Authority::EvalOperator => "eval_operator",
            Authority::NoOperator => "no_operator",
            Authority::Headless => "headless",
        }
    }
}

impl Verdict {
    pub fn new(ruling: Ruling, by: Authority, message: impl Into<String>) -> Self {
        Self { ruling, by, message: message.into() }
    }

    pub fn is_allow(&self) -> bool {
        self.ruling == Ruling::Allow
    }

    /// `tool_permission_log.reason_json`.
    pub fn reason(&self) -> Value {
        let mut reason = json!({ "source": self.by.source() });
        match &self.by {
            Authority::Rule(rule) => reason["rule"] = json!(rule),
            Authority::Safety(what) => reason["rule"] = json!(format!("safety: {what}")),
            Authority::Protected(what) => reason["rule"] = json!(format!("protected: {what}")),
            Authority::Mode(mode) => reason["mode"] = json!(mode.as_str()),
            Authority::Hook(ordinal) => reason["hook_ordinal"] = json!(ordinal.0),
            Authority::PromptTool(tool) => reason["tool"] = json!(tool),
            Authority::PlanningGate
            | Authority::Human
            | Authority::EvalOperator
            | Authority::NoOperator
            | Authority::Headless => {}
        }
        if !self.message.is_empty() {
            reason["message"] = json!(self.message);
        }
        reason
    }
}
