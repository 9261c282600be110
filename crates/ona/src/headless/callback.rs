//! A hook that lives on the other side of stdin and stdout (`initialize.hooks`).
//!
//! Its answer is what a process would have printed, and an error is a process that failed. A
//! guard that was cut short or has left has not said yes.

use super::host::{Host, Unanswered};
use ona_api::{EventName, clock};
use ona_hookplane::{Exit, HandlerFuture, HookExecution, HookHandler, HookInvocation};
use serde_json::{Value, json};
use std::sync::Arc;

pub struct Callback {
    pub id: String,
    pub host: Arc<Host>,
}

impl HookHandler for Callback {
    fn label(&self) -> &str {
        &self.id
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started_at = clock::utc_millis(clock::now());
            let asked = self.host.ask(self.request(&called), called.cancel);
            let (exit, stdout, stderr) = match tokio::time::timeout(called.timeout, asked).await {
                Err(_) => (Exit::TimedOut { after: called.timeout }, String::new(), String::new()),
                Ok(Ok(Value::Null)) => (Exit::Code(0), "{}".to_owned(), String::new()),
                Ok(Ok(output)) => (Exit::Code(0), output.to_string(), String::new()),
                Ok(Err(Unanswered::Refused(why))) => (Exit::Code(1), String::new(), why),
                Ok(Err(Unanswered::Interrupted)) => (Exit::Cancelled, String::new(), String::new()),
                Ok(Err(gone @ Unanswered::Gone)) if guards(called.firing.event) => {
                    (Exit::Code(2), String::new(), format!("[SDLC] no answer to a hook: {gone}"))
                }
                Ok(Err(gone @ Unanswered::Gone)) => {
                    (Exit::NotStarted(format!("[SDLC] hook not started: {gone}")), String::new(), String::new())
                }
            };
            HookExecution::ended(started_at, exit, stdout, stderr)
        })
    }
}

impl Callback {
    fn request(&self, called: &HookInvocation<'_>) -> Value {
        // It was JSON when it was written for this hook.
        let input: Value = serde_json::from_str(&called.stdin).unwrap_or_default();
        let mut request = json!({"subtype": "hook_callback", "callback_id": self.id, "input": input});
        if let Some(call) = &called.firing.call {
            request["tool_use_id"] = json!(call);
        }
        request
    }
}

fn guards(event: EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::PermissionRequest)
}
