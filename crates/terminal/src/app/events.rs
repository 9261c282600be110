//! What the session did, as the screen takes it in.

use super::dialog::Dialog;
use super::tools::title;
use super::{App, Effect, Ended, RunningCall, Work};
use crate::composer::Submission;
use crate::front::{HookRun, SessionEvent, end_in_words};
use crate::theme;
use ona_api::model::{Delta, Part};
use ona_api::{ToolCall, ToolResult};
use ona_commands::AnsweredBy;
use ona_orchestration::{TurnEnd, TurnEvent, TurnOutcome};
use ona_permissions::printable;
use ratatui_core::text::{Line, Span};
use std::time::Duration;

/// Lines of a result that are shown; the transcript has all of it.
const SHOWN: usize = 6;

pub(super) fn hear(app: &mut App, event: SessionEvent, now: Duration) -> Vec<Effect> {
    match event {
        SessionEvent::Ready(facts) => {
            app.session = Some(*facts);
            app.offer_commands();
        }
        SessionEvent::Note(text) => voice(app, &text),
        SessionEvent::Turn(event) => turn_event(app, *event, now),
        SessionEvent::Hook(run) => hook_ran(app, run),
        SessionEvent::Began => app.work = Some(Work { since: now, ..Work::default() }),
        SessionEvent::Answered { outcome, by } => return answered(app, &outcome, by),
        SessionEvent::Asked { id, question } => app.dialogs.push_back((id, Dialog::of(question))),
        SessionEvent::Withdrawn(id) => app.dialogs.retain(|(other, _)| *other != id),
        SessionEvent::Ended { failure, session } => app.ended = Some(Ended { failure, session }),
    }
    Vec::new()
}

fn voice(app: &mut App, text: &str) {
    let text = text.strip_prefix("ona: ").unwrap_or(text);
    let lines: Vec<_> = text.lines().map(|line| Line::styled(printable(line), theme::VOICE)).collect();
    app.finish(lines);
}

fn hook_ran(app: &mut App, run: HookRun) {
    match &mut app.work {
        Some(work) if run.tool.is_some() => work.hooks.push(run),
        _ => {
            if let Some(line) = hook_line(std::slice::from_ref(&run)) {
                app.finish([line]);
            }
        }
    }
}

/// `PreToolUse ×3 12 ms · 1 denied: no force push`; nothing for one hook that had nothing to say.
fn hook_line(runs: &[HookRun]) -> Option<Line<'static>> {
    let first = runs.first()?;
    let took: Duration = runs.iter().map(|run| run.took).sum();
    let times = if runs.len() > 1 { format!(" ×{}", runs.len()) } else { String::new() };
    let mut text = format!("    {}{times} {} ms", first.event.as_str(), took.as_millis());
    let blocked = runs.iter().filter(|run| run.blocked).count();
    let problem = runs.iter().find_map(|run| run.problem.as_deref());
    match (blocked, problem) {
        (0, None) if first.tool.is_none() => return None,
        (0, None) => {}
        (0, Some(why)) => text.push_str(&format!(" · failed: {}", printable(why))),
        (n, why) => text.push_str(&format!(" · {n} denied: {}", printable(why.unwrap_or("without a reason")))),
    }
    Some(Line::styled(text, theme::DIM))
}

fn turn_event(app: &mut App, event: TurnEvent, now: Duration) {
    match event {
        TurnEvent::Delta(Delta::Text(text)) => {
            if let Some(work) = &mut app.work {
                work.retry = None;
                work.tail.push_str(&text);
                flush_whole_lines(app);
            }
        }
        TurnEvent::Delta(_) | TurnEvent::Requested { .. } | TurnEvent::Denied { .. } => {}
        TurnEvent::Requesting { .. } => {
            if let Some(work) = &mut app.work {
                work.retry = None;
            }
        }
        TurnEvent::Assistant { parts, usage, .. } => {
            end_text(app);
            app.usage.tokens =
                usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
            if let Some(work) = &mut app.work {
                let calls = parts.into_iter().filter_map(|part| match part {
                    Part::ToolUse { id, name, input } => Some(ToolCall { id, name, input }),
                    _ => None,
                });
                work.calls.extend(calls.map(|call| RunningCall { title: title(&call), id: call.id, since: now }));
            }
        }
        TurnEvent::ToolFinished { call, result, .. } => {
            let mut hooks = Vec::new();
            if let Some(work) = &mut app.work {
                work.calls.retain(|running| running.id != call.id);
                if let Some(next) = work.calls.first_mut() {
                    next.since = now;
                }
                hooks = std::mem::take(&mut work.hooks);
            }
            app.finish(block(&call, &result));
            let lines: Vec<_> = hooks.chunk_by(|a, b| a.event == b.event).filter_map(hook_line).collect();
            app.finish(lines);
        }
        TurnEvent::Retrying { attempt, limit, wait, failure } => {
            if let Some(work) = &mut app.work {
                work.retry = Some((format!("{} ({attempt} of {limit})", printable(&failure.message)), now + wait));
            }
        }
        TurnEvent::Message(text) => voice(app, &text),
        TurnEvent::Compacting => {
            if let Some(work) = &mut app.work {
                work.compacting = true;
            }
        }
        TurnEvent::Compacted(made) => {
            if let Some(work) = &mut app.work {
                work.compacting = false;
            }
            voice(app, &format!("About {} tokens were summarised to {}.", made.before, made.after));
        }
        TurnEvent::NotCompacted { why } => voice(app, &format!("The conversation could not be summarised: {why}")),
        TurnEvent::Inside { event, .. } => {
            if let TurnEvent::Retrying { .. } | TurnEvent::Message(_) = *event {
                turn_event(app, *event, now);
            }
        }
        TurnEvent::TaskStarted { id, description, .. } => {
            let text = format!("    runs in the background: {} ({id})", printable(&description));
            app.finish([Line::styled(text, theme::DIM)]);
        }
        TurnEvent::TaskEnded { id, description, status, .. } => {
            voice(app, &format!("Background task {id} {status}: {}", printable(&description)));
        }
    }
}

/// Whole lines go to the scrollback; the one that grows stays below.
fn flush_whole_lines(app: &mut App) {
    let Some(work) = &mut app.work else { return };
    let Some(end) = work.tail.rfind('\n') else { return };
    let rest = work.tail.split_off(end + 1);
    let whole = std::mem::replace(&mut work.tail, rest);
    reply_lines(app, whole.trim_end_matches('\n'));
}

fn end_text(app: &mut App) {
    let Some(work) = &mut app.work else { return };
    let tail = std::mem::take(&mut work.tail);
    if !tail.trim().is_empty() {
        reply_lines(app, tail.trim_end());
    }
    if let Some(work) = &mut app.work {
        work.replying = false;
    }
}

fn reply_lines(app: &mut App, text: &str) {
    let Some(work) = &mut app.work else { return };
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let first = !std::mem::replace(&mut work.replying, true);
        if first {
            lines.push(Line::default());
        }
        lines.push(Line::from(format!("{}{}", if first { "● " } else { "  " }, printable(line))));
    }
    app.finish(lines);
}

fn answered(app: &mut App, outcome: &TurnOutcome, by: AnsweredBy) -> Vec<Effect> {
    end_text(app);
    app.work = None;
    if by == AnsweredBy::Command && outcome.ended == TurnEnd::Done {
        let lines: Vec<_> = outcome.text.lines().map(|line| Line::from(printable(line))).collect();
        app.finish(lines);
    }
    if let Some(words) = end_in_words(&outcome.ended) {
        match outcome.ended {
            TurnEnd::Interrupted(_) => app.finish([Line::styled(format!("  ⎿ {words}"), theme::DIM)]),
            _ => fail(app, &words),
        }
    }
    match app.composer.dequeue() {
        Some(next) => app.send(next),
        None => Vec::new(),
    }
}

pub(super) fn show_prompt(app: &mut App, line: &Submission) {
    let text = format!("{}{}", line.mode.prefix(), line.shown);
    let mut lines = vec![Line::default()];
    for (index, line) in text.lines().enumerate() {
        let mark = if index == 0 { "› " } else { "  " };
        lines.push(Line::from(vec![Span::styled(mark, theme::DIM), Span::styled(printable(line), theme::HEADING)]));
    }
    app.finish(lines);
}

fn fail(app: &mut App, words: &str) {
    let line = |line: &str| Line::styled(format!("  ✗ {}", printable(line)), theme::FAILED);
    app.finish(words.lines().map(line).collect::<Vec<_>>());
}

fn block(call: &ToolCall, result: &ToolResult) -> Vec<Line<'static>> {
    let style = if result.is_error() { theme::FAILED } else { theme::ADDED };
    let mut lines =
        vec![Line::default(), Line::from(vec![Span::styled("● ", style), Span::styled(title(call), theme::HEADING)])];
    let all: Vec<_> = result.content.lines().collect();
    for (index, line) in all.iter().take(SHOWN).enumerate() {
        let mark = if index == 0 { "  ⎿ " } else { "    " };
        lines.push(Line::styled(format!("{mark}{}", printable(line)), theme::DIM));
    }
    if all.len() > SHOWN {
        lines.push(Line::styled(format!("    … {} more lines", all.len() - SHOWN), theme::DIM));
    }
    lines
}
