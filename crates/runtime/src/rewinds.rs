//! Going back in a session: which prompt is meant, and what is told to programs. What happens to
//! which file is decided in `ona-orchestration`.

use crate::failure::Failure;
use ona_api::SessionId;
use ona_orchestration::{FileStep, RewindPlan, RewindPrompt, RewindReport, RewindTarget};
use ona_permissions::printable;
use serde_json::{Value, json};

/// What the operator said about a rewind beside its target.
#[derive(Clone, Copy, Debug)]
pub struct RewindRequest {
    pub undo: bool,
    pub dry_run: bool,
    pub force: bool,
}

/// Finds the prompt that `wanted` names: its number, its id, or the beginning of its id.
pub fn find_prompt(prompts: Vec<RewindPrompt>, wanted: &str) -> Result<RewindPrompt, Failure> {
    let number = wanted.parse::<usize>().ok();
    // A few digits are a number of the list and never the beginning of an id: files would be
    // restored to another place than was meant.
    let fits = |prompt: &&RewindPrompt| Some(prompt.number) == number || prompt.uuid == wanted;
    if let Some(found) = prompts.iter().rev().find(fits) {
        return Ok(found.clone());
    }
    let is_number = number.is_some() && wanted.len() < 8;
    let begins: Vec<_> = prompts.iter().filter(|prompt| !is_number && prompt.uuid.starts_with(wanted)).collect();
    match begins[..] {
        [one] if !wanted.is_empty() => Ok(one.clone()),
        [] => Err(Failure::usage(format_args!("the conversation has no prompt {}", printable(wanted)))
            .hint("ona sessions rewind SESSION lists the prompts")),
        _ => Err(Failure::usage(format_args!("more than one prompt begins with {}", printable(wanted)))
            .hint("ona sessions rewind SESSION lists the prompts")),
    }
}

/// A prompt to go back to, for programs.
pub fn prompt_json(prompt: &RewindPrompt) -> Value {
    let RewindPrompt { number, sequence, uuid, text, created_at, files } = prompt;
    json!({
        "number": number, "uuid": uuid, "sequence": sequence, "text": text, "created_at": created_at, "files": files,
    })
}

/// What a rewind did or would do, for programs.
pub fn rewind_json(
    session: &SessionId,
    plan: &RewindPlan,
    report: Option<&RewindReport>,
    asked: RewindRequest,
) -> Value {
    let shown = |steps: &mut dyn Iterator<Item = &FileStep>| steps.map(|step| step.shown.clone()).collect::<Vec<_>>();
    let (insertions, deletions) = plan.lines();
    let prompt = match &plan.target {
        RewindTarget::Prompt(prompt) => prompt_json(prompt),
        RewindTarget::Undo(_) => Value::Null,
    };
    let conflicts = shown(&mut plan.conflicts());
    json!({
        "session_id": session,
        "scope": plan.scope.as_str(),
        "undo": asked.undo,
        "dry_run": asked.dry_run,
        "done": report.is_some(),
        "can_rewind": conflicts.is_empty() || asked.force,
        "prompt": prompt,
        "sequence": report.map(|report| report.sequence),
        "files_changed": shown(&mut plan.changed()),
        "insertions": insertions,
        "deletions": deletions,
        "skipped": plan.skipped().map(|(step, why)| json!({"path": step.shown, "why": why.as_str()})).collect::<Vec<_>>(),
        "skipped_links": shown(&mut plan.skipped_links()),
        "conflicts": conflicts,
        "failed": report.map(|report| pairs(&report.failed)),
        "final": report.map(|report| {
            report.final_ones.iter().map(|(path, why)| json!({"path": path, "why": why.as_str()})).collect::<Vec<_>>()
        }),
    })
}

fn pairs(failed: &[(String, String)]) -> Value {
    failed.iter().map(|(path, why)| json!({"path": path, "why": why})).collect()
}
