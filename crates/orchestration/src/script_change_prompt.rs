//! Asks the operator whether a hook script that changed may run (DEC-189).

use crate::operator::{Operator, PermissionQuestion};
use ona_api::{Authority, CallId, Ruling, ToolCall, Verdict};
use ona_hookplane::{ConfirmScriptChange, HandlerFuture, ScriptChange};
use ona_permissions::Explanation;
use serde_json::json;
use std::sync::Arc;

/// The name under which a driving program is asked; no tool has it.
pub const CHANGED_HOOK_SCRIPT: &str = "ChangedHookScript";

pub struct ScriptChangePrompt(pub Arc<dyn Operator>);

impl ConfirmScriptChange for ScriptChangePrompt {
    fn may_run<'a>(&'a self, change: &'a ScriptChange) -> HandlerFuture<'a, Option<&'static str>> {
        Box::pin(async move {
            let call = ToolCall {
                id: CallId(format!("hook_{}", CallId::random().0)),
                name: CHANGED_HOOK_SCRIPT.to_owned(),
                input: json!({
                    "path": change.path, "hook_event_name": change.event.as_str(), "command": change.command,
                    "sha256_before": change.before, "sha256_now": change.now,
                }),
            };
            let what = change.message();
            let message = format!("{what}; allowing this runs it as it is now");
            let asked = Verdict::new(Ruling::Ask, Authority::Safety(what), message);
            let explanation = Explanation::default();
            let question = PermissionQuestion { call: &call, agent: None, asked: &asked, explanation, plan: None };
            let verdict = self.0.confirm(question).await.verdict;
            verdict.is_allow().then(|| verdict.by.source())
        })
    }
}
