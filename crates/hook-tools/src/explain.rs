//! Explains one recorded call: every hook, gate and rule that was consulted, with the input
//! and the output of each. Pure.

use ona_store::{RecordedCall, RecordedRun};
use serde_json::{Value, json};

/// The input when a hook was asked, and the one the next was given or the tool ran with.
/// A module is told no `tool_input` and can change none.
fn inputs<'a>(
    index: usize,
    run: &'a RecordedRun,
    runs: &'a [RecordedRun],
    call: &'a RecordedCall,
) -> (&'a Value, &'a Value) {
    let given = |other: &'a RecordedRun| other.stdin.get("tool_input").filter(|_| other.event == run.event);
    let asked_before = || runs[..index].iter().rev().find_map(given);
    let next = || runs[index + 1..].iter().find_map(given);
    let at_last = call.effective_input.as_ref().filter(|_| run.event == "PreToolUse");
    match given(run) {
        Some(before) => (before, next().or(at_last).unwrap_or(before)),
        None => {
            let unchanged = next().or(at_last).or_else(asked_before).unwrap_or(&call.input);
            (unchanged, unchanged)
        }
    }
}

/// Returns the explanation as JSON.
pub fn explanation_json(call: &RecordedCall, runs: &[RecordedRun]) -> Value {
    let hooks: Vec<_> = runs
        .iter()
        .enumerate()
        .map(|(index, run)| {
            let (before, after) = inputs(index, run, runs, call);
            json!({
                "event": run.event,
                "ordinal": run.ordinal,
                "matcher": run.matcher,
                "command": run.command,
                "input_before": before,
                "input_after": after,
                "exit_code": run.exit_code,
                "stdout": run.stdout,
                "stderr": run.stderr,
                "skipped": run.skipped,
                "milliseconds": run.milliseconds,
            })
        })
        .collect();
    let decisions: Vec<_> =
        call.decisions.iter().map(|one| json!({"decision": one.decision, "reason": one.reason})).collect();
    json!({
        "tool_use_id": call.id,
        "session_id": call.session,
        "tool": call.name,
        "input": call.input,
        "effective_input": call.effective_input,
        "hooks": hooks,
        "decisions": decisions,
        "started": call.started,
        "result": call.result,
    })
}

/// Returns the explanation as text.
pub fn explanation_text(call: &RecordedCall, runs: &[RecordedRun]) -> String {
    let mut text = format!("{} {}\n  session  {}\n  asked    {}\n", call.name, call.id, call.session, call.input);
    for (index, run) in runs.iter().enumerate() {
        text.push_str(&format!("\n{} hook {}", run.event, run.ordinal));
        if !run.matcher.is_empty() {
            text.push_str(&format!(" {:?}", run.matcher));
        }
        text.push_str(&format!("\n  command  {}\n", run.command));
        text.push_str(&match (&run.skipped, run.exit_code) {
            (Some(why), _) => format!("  skipped  {why}\n"),
            (None, Some(code)) => format!("  exit     {code}{}\n", took(run)),
            (None, None) => format!("  no exit code{}\n", took(run)),
        });
        let (before, after) = inputs(index, run, runs, call);
        if before != after {
            text.push_str(&format!("  before   {before}\n  after    {after}\n"));
        }
        for (name, said) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
            if let Some(said) = said.as_deref().map(str::trim_end).filter(|said| !said.is_empty()) {
                text.push_str(&format!("  {name}   {}\n", said.replace('\n', "\n           ")));
            }
        }
    }
    text.push('\n');
    for one in &call.decisions {
        text.push_str(&format!("decided    {} {}\n", one.decision, one.reason));
    }
    match (&call.started, call.decisions.is_empty()) {
        (Some(started), true) => text.push_str(&format!("decided    allow {}\n", started["decision"])),
        (Some(_), false) => {}
        (None, _) => text.push_str("never ran\n"),
    }
    if let Some(effective) = call.effective_input.as_ref().filter(|input| **input != call.input) {
        let how = if call.started.is_some() { "ran with" } else { "judged" };
        text.push_str(&format!("{how:<10} {effective}\n"));
    }
    match &call.result {
        Some(result) => {
            let kind = if result["is_error"] == true { "error" } else { "result" };
            let content = result["content"].as_str().unwrap_or_default();
            text.push_str(&format!("{kind:<10} {}\n", content.trim_end().replace('\n', "\n           ")));
        }
        None => text.push_str("no result was recorded\n"),
    }
    text
}

fn took(run: &RecordedRun) -> String {
    run.milliseconds.map(|ms| format!(" after {ms:.0} ms")).unwrap_or_default()
}
