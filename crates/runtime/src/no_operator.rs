//! The operator of a run that nobody watches.

use ona_api::{Authority, Ruling, Verdict};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion};
use std::future::Future;
use std::pin::Pin;

/// Denies whatever is asked: without a terminal an ask is a no (DEC-071).
pub struct NoOperator;

impl Operator for NoOperator {
    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        let message = format!("Denied: there is nobody to ask. {}", question.asked.message);
        Box::pin(async move { Verdict::new(Ruling::Deny, Authority::Headless, message).into() })
    }
}
