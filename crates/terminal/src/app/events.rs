//! What the session did, as the screen takes it in.

use super::transcript::{Entry, FinishedBlock};
use super::{App, Effect, Ended, Open, Purpose, Retry, RunningCall, Work, asked};
use crate::blocks::{HookSummary, StartScreen, failure, hook_line, notice, prompt, start_screen, todos_of};
use crate::composer::Submission;
use crate::dialogs::Overlay;
use crate::front::{HookRun, Question, SessionEvent, end_in_words};
use crate::keys::Action;
use crate::markdown::markdown;
use crate::text::{cut_line, styled_line};
use crate::theme;
use ona_api::ToolCall;
use ona_api::model::{Delta, Part};
use ona_commands::AnsweredBy;
use ona_orchestration::{HookReport, TurnEnd, TurnEvent, TurnOutcome};
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
                app.take_settings(&settings);
            }
            app.name.clone_from(&facts.title);
            for (key, help) in &facts.shortcuts {
                app.bind_shortcut(key, help);
            }
            app.session = Some(*facts);
            if other {
                app.usage = super::ContextUse::default();
                app.todos.clear();
            }
            app.offer_commands();
            let waits =
                app.first_prompt.take().or_else(|| app.work.is_none().then(|| app.composer.dequeue()).flatten());
            if let Some(first) = waits {
                return app.submit(first);
            }
        }
        SessionEvent::OlderPrompts(prompts) => app.composer.set_history(prompts.clone(), prompts),
        SessionEvent::Phase(phase) => {
            if let Some(session) = &mut app.session {
                session.phase = phase;
            }
        }
        SessionEvent::History(messages) => history(app, &messages),
        SessionEvent::Note(text) => voice(app, &text),
        SessionEvent::Status { key, text } => match text {
            Some(text) => drop(app.statuses.insert(key, text)),
            None => drop(app.statuses.remove(&key)),
        },
        SessionEvent::ModuleMessage(lines) => {
            let width = usize::from(app.width);
            let lines: Vec<_> = lines.iter().map(|line| cut_line(styled_line(line), width)).collect();
            app.output.lines(std::iter::once(Line::default()).chain(lines));
        }
        SessionEvent::WorkingMessage(message) => app.working_message = message,
        SessionEvent::Name(name) => app.name = name,
        SessionEvent::Queued(texts) => {
            app.kept_queue.clone_from(&texts);
            app.composer.give_back(texts.iter().map(|text| Submission::of_entry(text)).collect());
            app.composer.take_queue_back();
            voice(app, "What waited when the session ended is in the prompt again.");
        }
        SessionEvent::WantsQueue(reply) => return vec![Effect::HandOver(reply, app.composer.dequeue_prompts())],
        SessionEvent::GiveBack(line) => {
            app.composer.give_back(vec![line]);
            app.composer.take_queue_back();
        }
        SessionEvent::WantsText(reply) => {
            // Who asked may have been interrupted.
            reply.send(app.composer.text()).ok();
        }
        SessionEvent::HookStarted(event) => {
            if let Some(work) = &mut app.work {
                work.hook = Some(event);
            }
        }
        SessionEvent::SetText(text) => app.composer.set_text(&text),
        SessionEvent::Turn(event) => turn_event(app, *event, now),
        SessionEvent::Hook(run) => hook_ran(app, run),
        SessionEvent::Began => app.work = Some(Work { since: now, ..Work::default() }),
        SessionEvent::Answered { outcome, by } => return answered(app, &outcome, by),
        SessionEvent::Asked { id, question } => {
            app.page = None;
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

/// Hooks of a call are summed up when the call is over.
fn hook_ran(app: &mut App, run: HookRun) {
    if let Some(work) = &mut app.work {
        work.hook = None;
    }
    if run.of_call || run.problem.is_none() {
        return;
    }
    let words: Vec<String> = run.problem.into_iter().collect();
    let (denied, failed) = if run.blocked { (words, Vec::new()) } else { (Vec::new(), words) };
    let event = run.event.as_str().to_owned();
    let summary = HookSummary { event, ran: 1, took: run.took, denied, failed, ..HookSummary::default() };
    let line = hook_line(&summary, app.width);
    app.output.lines([line]);
}

fn summary(report: HookReport) -> HookSummary {
    let HookReport { event, ran, took, denied, asked, changed, failed } = report;
    HookSummary { event: event.as_str().to_owned(), ran, took, denied, asked, changed, failed }
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
            let texts = parts.iter().filter_map(|part| match part {
                Part::Text(text) if !text.trim().is_empty() => Some(Entry::Reply(text.clone())),
                _ => None,
            });
            texts.for_each(|reply| app.transcript.push(reply));
            app.usage.input += usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
            app.usage.output += usage.output_tokens;
            app.usage.tokens =
                usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens;
            if let Some(work) = &mut app.work {
                let calls = parts.into_iter().filter_map(|part| match part {
                    Part::ToolUse { id, name, input } => Some(ToolCall { id, name, input }),
                    _ => None,
                });
                // The first may have been worked on before the reply was committed.
                for call in calls {
                    if !work.calls.iter().any(|running| running.call.id == call.id) {
                        work.calls.push(RunningCall::new(call, now));
                    }
                }
            }
        }
        TurnEvent::Denied { call, message } => {
            let calls = app.work.iter_mut().flat_map(|work| &mut work.calls);
            calls.filter(|running| running.call.id == call.id).for_each(|one| one.denied = Some(message.clone()));
        }
        TurnEvent::ToolStarted { call } => {
            app.agents.started(&call, now);
            if let Some(work) = &mut app.work {
                match work.calls.iter_mut().find(|running| running.call.id == call.id) {
                    Some(running) => (running.since, running.started) = (now, true),
                    None => work.calls.push(RunningCall { started: true, ..RunningCall::new(call, now) }),
                }
            }
        }
        TurnEvent::ToolFinished { call, result, account, hooks } => {
            let hooks = hooks.into_iter().map(summary).collect();
            let block = FinishedBlock { call, result, denied: None, took: None, hooks, account };
            finished(app, block, now);
        }
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
        TurnEvent::Inside { call, event } => {
            app.agents.hear(&call, &event);
            if let TurnEvent::Retrying { .. } | TurnEvent::Message(_) = *event {
                turn_event(app, *event, now);
            }
        }
        TurnEvent::TaskStarted { id, call, description, .. } => {
            call.iter().for_each(|call| app.agents.in_background(call, &id));
            voice(app, &format!("Runs in the background: {description} ({id})"));
        }
        TurnEvent::TaskEnded { id, description, status, .. } => {
            app.agents.task_ended(&id);
            voice(app, &format!("Background task {id} {status}: {description}"));
        }
    }
}

fn finished(app: &mut App, mut block: FinishedBlock, now: Duration) {
    app.agents.finished(&block.call.id);
    if let Some(work) = &mut app.work {
        if let Some(at) = work.calls.iter().position(|running| running.call.id == block.call.id) {
            let running = work.calls.remove(at);
            block.took = Some(now.saturating_sub(running.since));
            block.denied = running.denied;
        }
        work.hook = None;
    }
    if block.call.name == "TodoWrite" && !block.result.is_error() {
        app.todos = todos_of(&block.call.input);
    }
    if !app.focus || block.denied.is_some() || block.result.is_error() {
        let key = app.keymap.keys_of(Action::ToggleTranscript).first().map(ToString::to_string).unwrap_or_default();
        let lines = block.lines(false, &key, app.width);
        app.output.lines(std::iter::once(Line::default()).chain(lines).collect::<Vec<_>>());
    }
    app.transcript.push(Entry::Call(Box::new(block)));
}

fn answered(app: &mut App, outcome: &TurnOutcome, by: AnsweredBy) -> Vec<Effect> {
    app.output.end_reply();
    app.work = None;
    app.working_message = None;
    app.agents.turn_ended();
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
    app.transcript.push(Entry::Prompt(text.clone()));
    let lines = prompt(&text, app.width);
    app.output.lines(std::iter::once(Line::default()).chain(lines).collect::<Vec<_>>());
}
