//! The framework's rules for events, results and failures as a `Dialect`.

use super::agent_list::AgentList;
use super::config::HookLanguage;
use super::result::HookResult;
use crate::output::{trimmed, without_forbidden};
use crate::sdlc::unreadable;
use ona_api::{EventKind, EventName, clock, text};
use ona_hookplane::{Dialect, Exit, FailureEffect, Firing, Hook, HookExecution, HookOutput, OnTimeout, Timeouts};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The dialect of one hook; each has its own because messages name the hook.
pub(super) struct Massgen {
    pub agents: Arc<AgentList>,
    pub kind: HookLanguage,
    /// `<type>_<handler>`.
    pub name: String,
}

impl Dialect for Massgen {
    fn name(&self) -> &'static str {
        "massgen"
    }

    /// HookEvent over the base every hook gets (DEC-062).
    fn stdin(&self, firing: &Firing, input: &Value) -> Value {
        let mut stdin = firing.stdin(input);
        stdin.insert("hook_type".into(), firing.event.as_str().into());
        stdin.insert("orchestrator_id".into(), firing.base.conversation.as_str().into());
        stdin.insert("agent_id".into(), json!(self.agents.id(&firing.base)));
        let now = clock::utc_millis(clock::now());
        stdin.insert("timestamp".into(), format!("{}+00:00", now.replace(' ', "T")).into());
        stdin.insert("tool_input".into(), arguments(input));
        stdin.insert("tool_output".into(), firing.fields.get("tool_response").map_or(Value::Null, shown));
        Value::Object(stdin)
    }

    fn parse_output(&self, event: EventName, ran: &HookExecution) -> HookOutput {
        match (&ran.exit, self.kind) {
            (Exit::Code(0), _) | (Exit::Code(2), HookLanguage::Python) => {}
            _ => return HookOutput::default(),
        }
        let text = trimmed(&ran.stdout);
        if text.is_empty() {
            return HookOutput::default();
        }
        match (text::json::<Value>(text), self.kind) {
            (Ok(Value::Object(fields)), _) => HookResult::read(&fields).into_hook_output(event, &self.name),
            // Returning False does not deny; it only looks like it.
            (Ok(other), HookLanguage::Python) => {
                let why = format!("it returned {other}, which is not a HookResult and counts as allow");
                HookOutput { notes: vec![(EventKind::HookOutputInvalid, why)], ..HookOutput::default() }
            }
            (Ok(_), HookLanguage::Command) => unreadable(EventKind::HookOutputInvalid, "not a JSON object".into()),
            (Err(error), _) => unreadable(EventKind::HookOutputInvalid, format!("not one JSON value: {error}")),
        }
    }

    /// Replaces the input as a whole (DEC-051).
    fn updated(&self, _: &Value, update: Map<String, Value>) -> Value {
        without_forbidden(Value::Object(update))
    }

    fn timeout(&self, _: EventName, _: &Timeouts) -> Duration {
        // The environment overrides the defaults of sdlc hooks only (DEC-054).
        TIMEOUT
    }

    fn on_timeout(&self, _: EventName) -> OnTimeout {
        OnTimeout::Pass
    }

    fn block_message(&self, ran: &HookExecution) -> String {
        ran.stderr.trim_end_matches('\n').to_owned()
    }

    /// Exit 2 is one failure among others (DEC-155).
    fn exit_two_blocks(&self) -> bool {
        false
    }

    /// A function that denied has the exit code 2 in its row; it did not fail.
    fn ignores_exit_code(&self, _: EventName, code: i32) -> bool {
        self.kind == HookLanguage::Python && code == 2
    }

    /// Open, unless the hook asked otherwise or cannot even be imported. After the tool
    /// there is nothing left to deny.
    fn failing(&self, hook: &Hook, event: EventName, ran: &HookExecution, why: String) -> FailureEffect {
        let name = &self.name;
        let missing = self.kind == HookLanguage::Python && matches!(ran.exit, Exit::NotStarted(_));
        let reason = match (&ran.exit, self.kind) {
            (Exit::Code(0), _) => format!("Hook {name} failed: its output could not be read"),
            (Exit::Code(_), HookLanguage::Python) => {
                format!("Hook {name} failed: {}", ran.stderr.lines().next_back().unwrap_or_default())
            }
            (Exit::Code(code), HookLanguage::Command) => format!("Hook {name} exited with code {code}"),
            (Exit::TimedOut { .. }, _) => format!("Hook {name} timed out"),
            (Exit::NotStarted(_), HookLanguage::Python) | (Exit::Cancelled, _) => why,
            (Exit::NotStarted(_), HookLanguage::Command) => format!("Hook {name} failed: {why}"),
        };
        if event == EventName::PreToolUse && (hook.fail_closed || missing) {
            FailureEffect::Deny(reason)
        } else {
            FailureEffect::Pass(reason)
        }
    }
}

/// Arguments that are not an object are passed on as text.
fn arguments(input: &Value) -> Value {
    match input {
        Value::Object(_) => input.clone(),
        Value::Null => json!({}),
        Value::String(text) => json!({ "raw": text }),
        other => json!({ "raw": other.to_string() }),
    }
}

/// Returns the text the model would see.
fn shown(response: &Value) -> Value {
    match response {
        Value::String(_) => response.clone(),
        other => match other.get("content") {
            Some(content @ Value::String(_)) => content.clone(),
            _ => other.to_string().into(),
        },
    }
}
