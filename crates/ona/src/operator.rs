//! Who answers when rules and hooks leave a question open in `--eval` (DEC-071).

use crate::output;
use ona_api::{Authority, Ruling, Verdict};
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion};
use std::future::Future;
use std::io::{self, BufRead, IsTerminal, Write};
use std::pin::Pin;

/// The person at the shell, if there is one.
pub(crate) struct EvalOperator {
    /// The program was started by the agent itself, on the agent's own database:
    /// whatever it types is not the operator's word.
    pub agent_shell: bool,
    /// `--yes`
    pub yes: bool,
}

impl Operator for EvalOperator {
    fn authors_calls(&self) -> bool {
        !self.agent_shell
    }

    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        Box::pin(async move { self.answer(&question).into() })
    }
}

impl EvalOperator {
    fn answer(&self, question: &PermissionQuestion<'_>) -> Verdict {
        if self.agent_shell {
            return nobody(question);
        }
        match question.asked.by {
            // The operator typed the call; the mode would only ask whether that was meant.
            Authority::Mode(_) => Verdict::new(Ruling::Allow, Authority::EvalOperator, ""),
            _ if self.yes => Verdict::new(Ruling::Allow, Authority::EvalOperator, ""),
            _ if io::stdin().is_terminal() && io::stderr().is_terminal() => dialog(question),
            _ => nobody(question),
        }
    }
}

fn nobody(question: &PermissionQuestion<'_>) -> Verdict {
    let asked = &question.asked.message;
    Verdict::new(Ruling::Deny, Authority::NoOperator, format!("Denied: there is nobody to ask. {asked}"))
}

fn dialog(question: &PermissionQuestion<'_>) -> Verdict {
    for line in question.lines() {
        output::note(line);
    }
    // A terminal that has gone away gives no answer below, which is a no.
    write!(io::stderr(), "Run it? [y/N] ").ok();
    io::stderr().flush().ok();
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok() && matches!(answer.trim(), "y" | "Y" | "yes");
    if yes {
        Verdict::new(Ruling::Allow, Authority::Human, "")
    } else {
        Verdict::new(Ruling::Deny, Authority::Human, "Denied by operator")
    }
}
