//! A hook that the driving program runs (`initialize.hooks`).
//!
//! Its response is what a process would have printed, and an error is a process that failed. A
//! guard that was interrupted or has gone has not allowed anything.

use super::host_connection::{HostConnection, HostError};
use ona_api::{EventName, clock};
use ona_hookplane::{Exit, HandlerFuture, HookExecution, HookHandler, HookInvocation};
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) struct HostHook {
    pub id: String,
    pub host: Arc<HostConnection>,
}

impl HookHandler for HostHook {
    fn label(&self) -> &str {
        &self.id
    }

    fn run<'a>(&'a self, called: HookInvocation<'a>) -> HandlerFuture<'a, HookExecution> {
        Box::pin(async move {
            let started_at = clock::utc_millis(clock::now());
            let asked = self.host.request(self.request(&called), called.cancel);
            let (exit, stdout, stderr) = match tokio::time::timeout(called.timeout, asked).await {
                Err(_) => (Exit::TimedOut { after: called.timeout }, String::new(), String::new()),
                Ok(Ok(Value::Null)) => (Exit::Code(0), "{}".to_owned(), String::new()),
                Ok(Ok(output)) => (Exit::Code(0), output.to_string(), String::new()),
                Ok(Err(HostError::Refused(why))) => (Exit::Code(1), String::new(), why),
                Ok(Err(HostError::Interrupted)) => (Exit::Cancelled, String::new(), String::new()),
                Ok(Err(gone @ HostError::Gone)) if guards(called.firing.event) => {
                    (Exit::Code(2), String::new(), format!("[SDLC] no answer to a hook: {gone}"))
                }
                Ok(Err(gone @ HostError::Gone)) => {
                    (Exit::NotStarted(format!("[SDLC] hook not started: {gone}")), String::new(), String::new())
                }
            };
            HookExecution::ended(started_at, exit, stdout, stderr)
        })
    }
}

impl HostHook {
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
