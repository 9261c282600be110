//! What the session did, as the screen takes it in.

use super::{App, Effect, Ended, Open, Purpose, Retry, RunningCall, Work, asked};
use crate::blocks::{
    CallBlock, CallState, HookSummary, StartScreen, call_block, failure, hook_line, notice, prompt, start_screen,
};
use crate::composer::Submission;
use crate::dialogs::Overlay;
use crate::front::{HookRun, Question, SessionEvent, end_in_words};
use crate::markdown::markdown;
use crate::theme;
use ona_api::model::{Delta, Part};
use ona_api::{ToolCall, ToolResult};
use ona_commands::AnsweredBy;
use ona_orchestration::{TurnEnd, TurnEvent, TurnOutcome};
use ratatui_core::text::Line;
use std::time::Duration;

pub(super) fn hear(app: &mut App, event: SessionEvent, now: Duration) -> Vec<Effect> {
    match event {
        SessionEvent::Ready(facts) => {
            let other = app.session.as_ref().is_some_and(|before| before.session != facts.session);
            if app.session.is_none() {
                let model = facts.model.as_ref().map(|model| model.model().choice.wire_model.clone());
                let start = StartScreen {
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    folder: facts.folder.clone(),
                    model: model.unwrap_or_else(|| "none can be asked; /doctor says why".to_owned()),
                    phase: facts.phase.as_str().to_owned(),
                    guards: facts.guards.clone(),
                    warnings: Vec::new(),
                };
                app.output.lines(start_screen(&start, app.width));
                let settings = facts.terminal.clone();
                app.name.clone_from(&facts.title);
                app.session = Some(*facts);
                app.offer_commands();
                return app.take_settings(&settings);
            }
            app.name.clone_from(&facts.title);
            app.session = Some(*facts);
            if other {
                app.usage = super::ContextUse::default();
            }
            app.offer_commands();
        }
        SessionEvent::OlderPrompts(prompts) => app.composer.set_history(prompts.clone(), prompts),
        SessionEvent::Phase(phase) => {
            if let Some(session) = &mut app.session {
                session.phase = phase;
            }
        }
        SessionEvent::History(messages) => history(app, &messages),
        SessionEvent::Note(text) => voice(app, &text),
        SessionEvent::Status { key, text } => {
            app.statuses.retain(|(other, _)| *other != key);
            app.statuses.extend(text.map(|text| (key, text)));
        }
        SessionEvent::SetText(text) => app.composer.set_text(&text),
        SessionEvent::Turn(event) => turn_event(app, *event, now),
        SessionEvent::Hook(run) => hook_ran(app, run),
        SessionEvent::Began => app.work = Some(Work { since: now, ..Work::default() }),
        SessionEvent::Answered { outcome, by } => return answered(app, &outcome, by),
        SessionEvent::Asked { id, question } => {
            let dialog = asked::dialog(&question, app.width);
            // A dialog that the person has asked for takes keys at once.
            let overlay = match question {
                Question::Command(_) => Overlay::asked_for(dialog),
                _ => Overlay::unasked(dialog, now),
            };
            app.dialogs.push_back(Open { overlay, purpose: Purpose::Question(id, Box::new(question)) });
        }
        SessionEvent::Withdrawn(id) => {
            app.dialogs.retain(|open| !matches!(open.purpose, Purpose::Question(other, _) if other == id));
        }
        SessionEvent::Act(action) => return app.act_on_screen(action),
        SessionEvent::OwnStatus(text) => app.own_status = text,
        SessionEvent::SessionPreview { session, messages } => app.show_preview(&session, &messages),
        SessionEvent::Sessions(sessions) => app.pick_session(sessions),
        SessionEvent::RewindPoints(prompts) => app.pick_rewind(prompts),
        SessionEvent::Ended { failure, session } => app.ended = Some(Ended { failure, session }),
    }
    Vec::new()
}

pub(super) fn voice(app: &mut App, text: &str) {
    let text = text.strip_prefix("ona: ").unwrap_or(text);
    app.output.lines(notice(text, app.width));
}

/// The last messages of a session that is continued.
fn history(app: &mut App, messages: &[(bool, String)]) {
    for (by_user, text) in messages {
        app.output.lines([Line::default()]);
        match by_user {
            true => app.output.lines(prompt(text, app.width)),
            false => app.output.lines(markdown(text, app.width)),
        }
    }
}

fn hook_ran(app: &mut App, run: HookRun) {
    match &mut app.work {
        Some(work) if run.tool.is_some() => work.hooks.push(run),
        _ if run.problem.is_some() => app.output.lines([hook_line(&summary(&[run]), app.width)]),
        _ => {}
    }
}

fn summary(runs: &[HookRun]) -> HookSummary {
    let words = |run: &HookRun| run.problem.clone().unwrap_or_default();
    HookSummary {
        event: runs.first().map(|run| run.event.as_str().to_owned()).unwrap_or_default(),
        ran: runs.len(),
        took: runs.iter().map(|run| run.took).sum(),
        denied: runs.iter().filter(|run| run.blocked).map(words).collect(),
        failed: runs.iter().filter(|run| !run.blocked && run.problem.is_some()).map(words).collect(),
        ..HookSummary::default()
    }
}

fn turn_event(app: &mut App, event: TurnEvent, now: Duration) {
    match event {
        TurnEvent::Delta(Delta::Text(text)) => {
            if let Some(work) = &mut app.work {
                work.retry = None;
            }
            app.output.reply(&text);
        }
        TurnEvent::Delta(_) | TurnEvent::Requested { .. } => {}
        TurnEvent::Requesting { .. } => {
            if let Some(work) = &mut app.work {
                work.retry = None;
            }
        }
        TurnEvent::Assistant { parts, usage, .. } => {
            app.output.end_reply();
            app.usage.tokens =
                usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
            if let Some(work) = &mut app.work {
                let calls = parts.into_iter().filter_map(|part| match part {
                    Part::ToolUse { id, name, input } => Some(ToolCall { id, name, input }),
                    _ => None,
                });
                work.calls.extend(calls.map(|call| RunningCall { call, since: now, denied: None }));
            }
        }
        TurnEvent::Denied { call, message } => {
            let calls = app.work.iter_mut().flat_map(|work| &mut work.calls);
            calls.filter(|running| running.call.id == call.id).for_each(|one| one.denied = Some(message.clone()));
        }
        TurnEvent::ToolFinished { call, result, .. } => finished(app, &call, &result, now),
        TurnEvent::Retrying { attempt, limit, wait, failure } => {
            if let Some(work) = &mut app.work {
                work.retry = Some(Retry { why: failure.message, attempt, limit, until: now + wait });
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
            voice(app, &format!("Runs in the background: {description} ({id})"));
        }
        TurnEvent::TaskEnded { id, description, status, .. } => {
            voice(app, &format!("Background task {id} {status}: {description}"));
        }
    }
}

fn finished(app: &mut App, call: &ToolCall, result: &ToolResult, now: Duration) {
    let (mut hooks, mut took, mut denied) = (Vec::new(), None, None);
    if let Some(work) = &mut app.work {
        if let Some(at) = work.calls.iter().position(|running| running.call.id == call.id) {
            let running = work.calls.remove(at);
            took = Some(now.saturating_sub(running.since));
            denied = running.denied;
        }
        if let Some(next) = work.calls.first_mut() {
            next.since = now;
        }
        hooks = std::mem::take(&mut work.hooks);
    }
    let hooks: Vec<_> = hooks.chunk_by(|a, b| a.event == b.event).map(summary).collect();
    let state = match &denied {
        Some(reason) => CallState::Denied { reason, by: None },
        None => CallState::Finished { result, took },
    };
    if app.focus && denied.is_none() && !result.is_error() {
        return;
    }
    let block = CallBlock { call, state, hooks: &hooks, expanded: false, expand_key: "" };
    app.output.lines(std::iter::once(Line::default()).chain(call_block(&block, app.width)).collect::<Vec<_>>());
}

fn answered(app: &mut App, outcome: &TurnOutcome, by: AnsweredBy) -> Vec<Effect> {
    app.output.end_reply();
    app.work = None;
    app.usage.spent.merge(&outcome.spent);
    if by == AnsweredBy::Command && outcome.ended == TurnEnd::Done && !outcome.text.is_empty() {
        app.output.lines(markdown(&outcome.text, app.width));
    }
    if let Some(words) = end_in_words(&outcome.ended) {
        match outcome.ended {
            TurnEnd::Interrupted(_) => app.output.lines([Line::styled(format!("  ⎿ {words}"), theme::DIM)]),
            TurnEnd::Blocked { .. } | TurnEnd::Stopped { .. } => voice(app, &words),
            _ => app.output.lines(failure(&words, None, app.width)),
        }
    }
    match app.composer.dequeue() {
        Some(next) => app.submit(next),
        None => Vec::new(),
    }
}

pub(super) fn show_prompt(app: &mut App, line: &Submission) {
    let text = format!("{}{}", line.mode.prefix(), line.shown);
    let lines = prompt(&text, app.width);
    app.output.lines(std::iter::once(Line::default()).chain(lines).collect::<Vec<_>>());
}
