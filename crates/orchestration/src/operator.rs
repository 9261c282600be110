//! Where the person is: terminal, editor, stream, or nowhere.

use ona_api::{ToolCall, Verdict};
use ona_permissions::Explanation;
use std::future::Future;
use std::pin::Pin;

/// Everything a person needs to see to answer.
pub struct Question<'a> {
    pub call: &'a ToolCall,
    /// Who wants it answered, and why.
    pub asked: &'a Verdict,
    pub explanation: Explanation,
    /// The plan an allow approves, to be shown whole.
    pub plan: Option<&'a str>,
}

/// Answers what rules and hooks leave open. An implementation returns allow or
/// deny, never ask, and says in the verdict who answered.
pub trait Operator: Send + Sync {
    fn rule<'a>(&'a self, question: Question<'a>) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'a>>;
}
