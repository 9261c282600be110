//! Puts what rules and hooks leave open to the person at the screen.

use super::questions::{OpenQuestions, PermissionAsk, Question, Reply};
use ona_api::{Authority, Redactor, Ruling, ToolCall, Verdict};
use ona_hookplane::HookEngine;
use ona_orchestration::{Operator, OperatorAnswer, PermissionQuestion};
use ona_process::TurnCancellation;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

pub(super) struct TerminalOperator {
    pub questions: Arc<OpenQuestions>,
    pub cancellation: TurnCancellation,
    pub redactor: Redactor,
    pub project: PathBuf,
    /// Names the hook that asks.
    pub hooks: Arc<HookEngine>,
}

/// DEC-053; what the person says follows in a line of its own.
const DENIED: &str = "Denied by operator";

/// Larger files are not compared.
const SHOWN_FILE: u64 = 512 * 1024;

impl Operator for TerminalOperator {
    fn can_answer_questions(&self) -> bool {
        true
    }

    fn confirm<'a>(
        &'a self,
        question: PermissionQuestion<'a>,
    ) -> Pin<Box<dyn Future<Output = OperatorAnswer> + Send + 'a>> {
        let ask = self.ask(&question);
        Box::pin(async move {
            let reply = self.questions.ask(Question::Permission(Box::new(ask)), &self.cancellation.token()).await;
            match reply {
                Some(Reply::Allow { updates, input }) => OperatorAnswer {
                    verdict: Verdict::new(Ruling::Allow, Authority::Human, ""),
                    input,
                    updates,
                    interrupt: false,
                },
                Some(Reply::Deny { feedback: Some(feedback) }) => deny(&format!("{DENIED}\n{feedback}")),
                // A bare no says nothing about what to do instead: the turn waits for words.
                Some(Reply::Deny { feedback: None }) => OperatorAnswer { interrupt: true, ..deny(DENIED) },
                Some(Reply::Trust(_) | Reply::Leave | Reply::Value(_) | Reply::Command(_)) | None => {
                    deny("Interrupted by the operator")
                }
            }
        })
    }
}

impl TerminalOperator {
    /// The text that a Write would replace, as far as it can be shown.
    fn before(&self, question: &PermissionQuestion<'_>) -> Option<String> {
        let path = question.call.input["file_path"].as_str().filter(|_| question.call.name == "Write")?;
        let path = Path::new(path);
        if !path.metadata().ok()?.is_file() || path.metadata().ok()?.len() > SHOWN_FILE {
            return None;
        }
        // A file that cannot be read as text is shown as if it were empty.
        Some(self.redactor.apply(&std::fs::read_to_string(path).ok()?).into_owned())
    }

    /// Why it is asked. What is asked about is in sight, so that it is not said again.
    fn reason(&self, question: &PermissionQuestion<'_>) -> String {
        let asked = question.asked;
        match &asked.by {
            Authority::Rule(rule) => format!("The rule {rule} asks about it."),
            Authority::Hook(ordinal) => {
                let list = self.hooks.list();
                let hook = list.iter().find(|hook| hook.ordinal == *ordinal);
                let source = hook.map_or_else(|| format!("hook {ordinal}"), |hook| hook.source.clone());
                format!("A hook asks ({source}): {}", asked.message)
            }
            Authority::Mode(mode) => match &question.explanation.uncovered {
                Some((part, why)) => reason_of_mode(question.call, part, why, mode.as_str()),
                None => format!("The mode is {}.", mode.as_str()),
            },
            _ => asked.message.clone(),
        }
    }

    fn ask(&self, question: &PermissionQuestion<'_>) -> PermissionAsk {
        let mut input = question.call.input.clone();
        self.redactor.apply_to_json(&mut input);
        let explanation = &question.explanation;
        let write = |file: &ona_permissions::ChangedFile| {
            let leads = file.resolved.as_ref().map(|real| format!(", which is {real}")).unwrap_or_default();
            let outside = if file.outside { " (outside the project)" } else { "" };
            format!("{}{leads}{outside}", file.path)
        };
        PermissionAsk {
            tool: question.call.name.clone(),
            agent: question.agent.map(str::to_owned),
            path: input["file_path"].as_str().or(input["notebook_path"].as_str()).map(|path| {
                let short = Path::new(path).strip_prefix(&self.project).unwrap_or(Path::new(path));
                short.to_string_lossy().into_owned()
            }),
            reason: self.reason(question),
            programs: explanation.programs.clone(),
            writes: explanation.writes.iter().map(write).collect(),
            always: question.suggestions(),
            plan: question.plan.map(str::to_owned),
            before: self.before(question),
            input,
        }
    }
}

/// The part that no rule covers is named only where it is not the whole.
fn reason_of_mode(call: &ToolCall, part: &str, why: &str, mode: &str) -> String {
    let whole = ["command", "file_path", "notebook_path", "url"].into_iter().any(|key| call.input[key] == part);
    let whole = whole || part == call.name || call.input["file_path"].as_str().is_some_and(|path| part.ends_with(path));
    match (whole, why) {
        (true, why) => format!("In mode {mode}, {why}."),
        (false, "no rule covers it") => format!("In mode {mode}, no rule covers {part}."),
        (false, why) => format!("In mode {mode}; in {part}: {why}."),
    }
}

fn deny(message: &str) -> OperatorAnswer {
    Verdict::new(Ruling::Deny, Authority::Human, message).into()
}
