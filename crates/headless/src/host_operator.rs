//! The operator that is the driving program: it answers permission questions
//! (`--permission-prompt-tool stdio`).

use super::host_connection::{HostConnection, HostError};
use super::messages::Level;
use super::printer::Printer;
use super::translate::informational;
use ona_api::permission_update::PermissionUpdate;
use ona_api::{Authority, Ruling, Verdict};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion};
use ona_process::TurnCancellation;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// Sends `can_use_tool` and waits for the answer.
pub(crate) struct HostOperator {
    pub host: Arc<HostConnection>,
    pub printer: Arc<Printer>,
    pub cancellation: TurnCancellation,
}

impl Operator for HostOperator {
    fn can_answer_questions(&self) -> bool {
        true
    }

    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        Box::pin(self.confirm_with_host(question))
    }
}

impl HostOperator {
    async fn confirm_with_host(&self, question: PermissionQuestion<'_>) -> OperatorAnswer {
        let shown = self.printer.redacted(&question.call.input);
        match self.host.request(request(&question, &shown), &self.cancellation.token()).await {
            Ok(answer) => {
                let (answer, warning) = read(answer, &shown);
                if let Some(warning) = warning {
                    self.printer.send(&informational(warning, Level::Warning));
                }
                answer
            }
            Err(HostError::Interrupted) => deny(Authority::Human, "Interrupted by the operator"),
            Err(nobody @ (HostError::Gone | HostError::Refused(_))) => {
                deny(Authority::Headless, &format!("Denied: the question was not answered: {nobody}"))
            }
        }
    }
}

fn request(question: &PermissionQuestion<'_>, shown: &Value) -> Value {
    let call = question.call;
    let mut request = json!({
        "subtype": "can_use_tool",
        "tool_name": call.name,
        "display_name": call.name,
        "input": shown,
        "tool_use_id": call.id,
        "permission_suggestions": question.suggestions(),
        "decision_reason": question.asked.message,
        "decision_reason_type": reason_type(&question.asked.by),
    });
    if call.name == "AskUserQuestion" {
        request["requires_user_interaction"] = true.into();
    }
    let outside = question.explanation.writes.iter().find(|target| target.outside);
    if let Some(target) = outside {
        request["blocked_path"] = target.path.clone().into();
    }
    if let Some((part, why)) = &question.explanation.uncovered {
        request["description"] = format!("{part} ({why})").into();
    }
    if let Some(agent) = question.agent {
        request["agent_id"] = agent.into();
    }
    request
}

fn reason_type(by: &Authority) -> &'static str {
    match by {
        Authority::Rule(_) => "rule",
        Authority::Mode(_) => "mode",
        Authority::Hook(_) => "hook",
        Authority::Safety(_) | Authority::Protected(_) => "safetyCheck",
        Authority::PlanningGate
        | Authority::Human
        | Authority::PromptTool(_)
        | Authority::EvalOperator
        | Authority::NoOperator
        | Authority::Headless => "other",
    }
}

/// The answer, and a warning about a part of it that was left out. Broken means no.
pub(crate) fn read(answer: Value, shown: &Value) -> (OperatorAnswer, Option<String>) {
    let Value::Object(mut answer) = answer else {
        return (deny(Authority::Headless, UNREADABLE), None);
    };
    match answer.get("behavior").and_then(Value::as_str) {
        Some("allow") => allow(&mut answer, shown),
        Some("deny") => {
            let feedback = answer.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
            let words = feedback.map_or_else(|| DENIED.to_owned(), |feedback| format!("{DENIED}\n{feedback}"));
            let mut answered = deny(Authority::Human, &words);
            answered.interrupt = answer.get("interrupt") == Some(&Value::Bool(true));
            (answered, None)
        }
        _ => (deny(Authority::Headless, UNREADABLE), None),
    }
}

fn allow(answer: &mut Map<String, Value>, shown: &Value) -> (OperatorAnswer, Option<String>) {
    let input = match answer.remove("updatedInput") {
        None | Some(Value::Null) => None,
        // Repeated as it was shown, in which secrets are replaced: the call itself has them.
        Some(input) if input == *shown => None,
        Some(Value::Object(input)) => Some(input),
        Some(_) => return (deny(Authority::Headless, UNREADABLE), None),
    };
    let mut warning = None;
    let mut updates = Vec::new();
    for update in answer.remove("updatedPermissions").and_then(|list| list.as_array().cloned()).unwrap_or_default() {
        match serde_json::from_value::<PermissionUpdate>(update) {
            Ok(update) => updates.push(update),
            Err(error) => warning = Some(format!("An entry of updatedPermissions is left out: {error}")),
        }
    }
    let verdict = Verdict::new(Ruling::Allow, Authority::Human, "");
    (OperatorAnswer { verdict, input, updates, interrupt: false }, warning)
}

/// DEC-053; what the operator says follows in a line of its own.
const DENIED: &str = "Denied by operator";
const UNREADABLE: &str = "Denied: the answer to the permission question could not be read";

pub(crate) fn deny(by: Authority, message: &str) -> OperatorAnswer {
    Verdict::new(Ruling::Deny, by, message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_allow_allows() {
        let shown = json!({"command": "ls"});
        let said = |answer: Value| read(answer, &shown).0;
        for wrong in [
            json!(null),
            json!("allow"),
            json!({}),
            json!({"behavior": "Allow"}),
            json!({"behavior": "allow", "updatedInput": "ls"}),
        ] {
            assert!(!said(wrong.clone()).verdict.is_allow(), "{wrong}");
        }
        let same = said(json!({"behavior": "allow", "updatedInput": {"command": "ls"}}));
        assert!(same.verdict.is_allow() && same.input.is_none());
        let other = said(json!({"behavior": "allow", "updatedInput": {"command": "pwd"}}));
        assert_eq!(other.input.map(Value::from), Some(json!({"command": "pwd"})));
        let no = said(json!({"behavior": "deny", "message": "not now", "interrupt": true}));
        assert_eq!((no.verdict.message.as_str(), no.interrupt), ("Denied by operator\nnot now", true));
    }

    #[test]
    fn a_broken_permission_update_is_left_out_aloud() {
        let good = json!({"type": "setMode", "mode": "plan", "destination": "session"});
        let (answer, warning) =
            read(json!({"behavior": "allow", "updatedPermissions": [{"type": "dance"}, good]}), &json!({}));
        assert_eq!((answer.updates.len(), warning.is_some()), (1, true));
    }
}
