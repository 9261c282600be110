//! Where the person is: terminal, editor, stream, or nowhere.

use ona_api::permission_update::{Behavior, Destination, PermissionUpdate, RuleText};
use ona_api::{ToolCall, Verdict};
use ona_permissions::Explanation;
use serde_json::{Map, Value};
use std::future::Future;
use std::pin::Pin;

/// Everything a person needs to see to answer.
pub struct PermissionQuestion<'a> {
    pub call: &'a ToolCall,
    /// The agent that wants to make the call; the session's own has none.
    pub agent: Option<&'a str>,
    /// Who wants it answered, and why.
    pub asked: &'a Verdict,
    pub explanation: Explanation,
    /// The plan an allow approves, to be shown whole.
    pub plan: Option<&'a str>,
}

impl PermissionQuestion<'_> {
    /// What would let this very call pass from now on, to be offered with the question.
    pub fn suggestions(&self) -> Vec<PermissionUpdate> {
        suggestions(&self.explanation.remember).into_iter().collect()
    }

    /// The question for a shell, line by line: what decides the answer first (the part no rule covers, then
    /// every program and every file that would change, with where links lead), the whole input last.
    pub fn lines(&self) -> Vec<String> {
        let explanation = &self.explanation;
        let mut lines = vec![self.asked.message.clone(), format!("  tool       {}", self.call.name)];
        if let Some((part, why)) = &explanation.uncovered {
            lines.push(format!("  not ruled  {part} ({why})"));
        }
        if !explanation.programs.is_empty() {
            lines.push(format!("  runs       {}", explanation.programs.join(", ")));
        }
        for target in &explanation.writes {
            let leads = target.resolved.as_ref().map(|real| format!(", which is {real}")).unwrap_or_default();
            let outside = if target.outside { " (outside the project)" } else { "" };
            lines.push(format!("  changes    {}{leads}{outside}", target.path));
        }
        if explanation.length > 0 {
            lines.push(format!("  length     {} characters", explanation.length));
        }
        match self.plan {
            Some(plan) => lines.extend(plan.lines().map(|line| format!("  | {line}"))),
            None => lines.push(format!("  input      {}", self.call.input)),
        }
        lines.iter().map(|line| ona_permissions::printable(line)).collect()
    }
}

pub(crate) fn suggestions(remember: &[String]) -> Option<PermissionUpdate> {
    (!remember.is_empty()).then(|| PermissionUpdate::AddRules {
        rules: remember.iter().map(|rule| RuleText::split(rule)).collect(),
        behavior: Behavior::Allow,
        destination: Destination::LocalSettings,
    })
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorAnswer {
    /// Allow or deny, never ask; it says who answered.
    pub verdict: Verdict,
    /// The input to run with instead.
    pub input: Option<Map<String, Value>>,
    /// Rules and modes that hold from now on.
    pub updates: Vec<PermissionUpdate>,
    /// Denied, and the turn ends here.
    pub interrupt: bool,
}

impl From<Verdict> for OperatorAnswer {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, input: None, updates: Vec::new(), interrupt: false }
    }
}

/// Answers what rules and hooks leave open. What an answer brings with it is checked
/// like everything else: an input is planned and judged again, an update may be refused.
pub trait Operator: Send + Sync {
    /// Whether a question of the model itself (AskUserQuestion) can be put to anybody. The
    /// answers come back as the call's input.
    fn can_answer_questions(&self) -> bool {
        false
    }

    /// Whether calls are this operator's own and no model's: what a person writes into a
    /// call is the person's word.
    fn authors_calls(&self) -> bool {
        false
    }

    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>>;
}
