//! Fixtures of `ona hooks test` that try what a hook module offers beside hooks on calls.
//!
//! ```json
//! {"tool": "greet", "input": {"name": "Ada"}, "expect": {"content": "Hello, Ada", "is_error": false}}
//! {"command": "deploy", "args": "prod", "person": {"confirm": false}, "expect": {"notices": [["info", "left alone"]]}}
//! {"render": "note", "message": {"content": "hi"}, "width": 20, "expect": {"lines": ["hi"]}}
//! {"emit": "context", "payload": {"messages": []}, "expect": {"result": {"messages": []}, "ran": 1}}
//! ```
//!
//! With `person` there is a screen, and dialogs are answered as written (what is not written is
//! cancelled); without it no screen exists. Any `expect` may have `status` (the line modules write,
//! cut to `width`) and `notices`. What is not named may be anything. A tool is tried behind the
//! hooks that stand before it, without rules; nothing leaves a row.

use crate::bench::{HookBench, decision};
use crate::event_input;
use crate::scripted_user::ScriptedUser;
use ona_api::CallId;
use ona_modules::ModuleContext;
use ona_modules::rules::{self, ModuleEvent};
use ona_orchestration::{Modules, Session};
use ona_runtime::Failure;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleFixture {
    pub name: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    input: Value,
    command: Option<String>,
    #[serde(default)]
    args: String,
    render: Option<String>,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    expanded: bool,
    emit: Option<String>,
    #[serde(default)]
    payload: Map<String, Value>,
    person: Option<Map<String, Value>>,
    width: Option<usize>,
    expect: Map<String, Value>,
}

/// Columns, where a fixture names none.
const WIDTH: usize = 80;

/// Whether this is a fixture of this kind.
pub(crate) fn is_one(fixture: &Value) -> bool {
    ["tool", "command", "render", "emit"].iter().any(|key| fixture.get(key).is_some())
}

impl ModuleFixture {
    /// What is not as expected, a sentence each.
    pub async fn differences(
        &self,
        bench: &HookBench,
        session: &mut Session,
        person: &Arc<ScriptedUser>,
    ) -> Result<Vec<String>, Failure> {
        let modules = session.modules.clone();
        let modules = modules.ok_or_else(|| Failure::usage("no hook module is configured here to try this on"))?;
        modules.host.show_on(Arc::clone(person) as _);
        person.renew(self.person.clone().unwrap_or_default());
        let moment = ModuleContext { has_ui: self.person.is_some(), ..modules.emitter.context() };
        modules.emitter.set_context(moment);
        let mut found = self.found(bench, session, &modules).await?;
        modules.emitter.settle().await;
        found["status"] = person.status(self.width.unwrap_or(WIDTH)).into();
        found["notices"] = person.notices();
        Ok(self.expect.iter().filter_map(|(key, expected)| differs(key, expected, &found)).collect())
    }

    async fn found(&self, bench: &HookBench, session: &mut Session, modules: &Modules) -> Result<Value, Failure> {
        let cancel = CancellationToken::new();
        let emitter = &modules.emitter;
        match (&self.tool, &self.command, &self.render, &self.emit) {
            (Some(tool), None, None, None) => self.called(tool, bench, session, modules).await,
            (None, Some(name), None, None) => {
                let answer = emitter.run_command(name, &self.args, &cancel).await;
                let answer =
                    answer.ok_or_else(|| Failure::usage(format_args!("no hook module has the command {name}")))?;
                Ok(json!({"error": rules::failure(&answer)}))
            }
            (None, None, Some(custom_type), None) => {
                let mut message = self.message.clone();
                message["role"] = "custom".into();
                message["customType"] = custom_type.as_str().into();
                let lines = emitter.render(custom_type, &message, self.expanded, self.width.unwrap_or(WIDTH)).await;
                Ok(json!({ "lines": lines }))
            }
            (None, None, None, Some(name)) => {
                let event = ModuleEvent::from_fixture(name, self.payload.clone()).ok_or_else(|| {
                    Failure::usage(format_args!("{name} is not an event of modules that emit can try"))
                })?;
                let heard = emitter.emit(&event, &cancel).await;
                let errors: Vec<_> = heard.runs.iter().filter_map(rules::HandlerRun::error).collect();
                Ok(json!({"result": heard.result, "ran": heard.runs.len(), "errors": errors}))
            }
            _ => Err(Failure::usage("a fixture tries one of tool, command, render and emit")),
        }
    }

    async fn called(
        &self,
        name: &str,
        bench: &HookBench,
        session: &mut Session,
        modules: &Modules,
    ) -> Result<Value, Failure> {
        let mut tools = ona_tools::ToolBox::default();
        modules.equip(&mut tools);
        let tool = tools.get(name).ok_or_else(|| Failure::usage(format_args!("no hook module has the tool {name}")))?;
        let mut plan = match Arc::clone(&tool).plan(&self.input, &session.cx) {
            Ok(plan) => plan,
            Err(bad) => return Ok(json!({"content": bad.to_string(), "is_error": true, "decision": "none"})),
        };
        let asked = event_input::parse(
            &json!({
                "hook_event_name": "PreToolUse", "tool_name": name, "tool_input": plan.input, "tool_use_id": "toolu_fixture",
            })
            .to_string(),
        )?;
        let outcome = bench.fire(session, &asked).await?;
        if outcome.is_denied() {
            return Ok(json!({"content": outcome.message(), "is_error": true, "decision": "deny"}));
        }
        if let Some(input) = &outcome.input {
            plan = tool.plan(input, &session.cx).map_err(Failure::usage)?;
        }
        session.cx.call = Some(CallId::from("toolu_fixture"));
        let result = plan.run(&session.cx).await;
        Ok(json!({
            "content": result.content, "is_error": result.is_error(), "details": result.data.get("details"),
            "decision": decision(&outcome),
        }))
    }
}

/// Texts are expected to be there, everything else to be equal.
fn differs(key: &str, expected: &Value, found: &Value) -> Option<String> {
    let Some(found) = found.get(key) else { return Some(format!("{key}: nothing is known of it here")) };
    let part_of = matches!(key, "content" | "error");
    match (expected, found) {
        (Value::String(part), Value::String(whole)) if part_of && whole.contains(part.as_str()) => None,
        (Value::String(part), Value::String(whole)) if part_of => Some(format!("{key}: {part:?} is not in {whole:?}")),
        _ if expected == found => None,
        _ => Some(format!("{key}: expected {expected}, found {found}")),
    }
}
