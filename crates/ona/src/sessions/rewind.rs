//! `ona sessions rewind`: goes back to before a prompt, without a terminal.
//!
//! What happens to which file is decided in `ona-orchestration`; this file finds the session, takes its
//! lock, and says what was done. A file that something else has changed is replaced only with --force.

use crate::args::Rewind;
use crate::output;
use ona_api::SessionId;
use ona_api::row::{SequenceStart, SessionKey};
use ona_orchestration::{
    FileAction, RewindPlan, RewindPrompt, RewindReport, RewindScope, RewindTarget, Rewinder, session_above,
};
use ona_permissions::printable;
use ona_runtime::rewinds::{RewindRequest, find_prompt, prompt_json, rewind_json};
use ona_runtime::{Failure, Launch, Purpose, Runtime, ids};
use ona_store::Store;
use std::path::Path;
use std::sync::PoisonError;
use tokio_util::sync::CancellationToken;

pub(super) fn run(launch: &Launch, command: &Rewind) -> Result<u8, Failure> {
    launch.operator_only("sessions")?;
    if command.conversation.as_deref().is_some_and(|value| !value.is_empty()) {
        return Err(Failure::usage("--conversation has no value here: it means that only the conversation goes back"));
    }
    let open = launch.open()?;
    let session = named_session(launch, &open.store, command)?;
    // Held until the end: a process that works in the session would not see what changes.
    let _lock = launch.lock_session(&session.session)?;
    let runtime = Runtime::new(launch, &open, &launch.cwd, Purpose::Look, &CancellationToken::new())?;
    let rules = runtime.rules();
    let rules = rules.read().unwrap_or_else(PoisonError::into_inner);
    let rewinder = Rewinder { store: &open.store, session: &session, rules: &rules, limits: runtime.keep_limits() };
    let failed = |error| launch.store_failure(error);
    let scope = match (command.files, command.conversation.is_some()) {
        (true, _) => RewindScope::Files,
        (_, true) => RewindScope::Conversation,
        _ => RewindScope::Both,
    };
    let (target, scope) = match (&command.to, command.undo) {
        (None, false) => {
            list(&rewinder.prompts().map_err(failed)?, &session.session, command.json);
            return Ok(0);
        }
        (Some(wanted), _) => (RewindTarget::Prompt(find_prompt(rewinder.prompts().map_err(failed)?, wanted)?), scope),
        (None, true) => {
            let nothing = || {
                Failure::usage("nothing to take back: the last rewind was taken back already, or the session has none")
            };
            let last = rewinder.last_rewind().map_err(failed)?.ok_or_else(nothing)?;
            (RewindTarget::Undo(last.clone()), last.scope)
        }
    };
    if scope.has_files() {
        same_project(launch, &open.store, &session)?;
    }
    let plan = rewinder.plan(target, scope).map_err(failed)?;
    let conflicts = plan.conflicts().next().is_some();
    let report = match command.dry_run || conflicts && !command.force {
        true => None,
        false => Some(rewinder.apply(&plan).map_err(failed)?),
    };
    let Rewind { undo, dry_run, force, .. } = *command;
    let asked = RewindRequest { undo, dry_run, force };
    if command.json {
        output::json(&rewind_json(&session.session, &plan, report.as_ref(), asked));
    } else {
        tell(&session.session, &plan, report.as_ref(), command);
    }
    if report.is_none() && !command.dry_run {
        return Err(Failure::refused("nothing was changed: something else has changed these files since")
            .hint("look at them, then add --force to replace them; --conversation leaves files alone"));
    }
    Ok(u8::from(report.is_some_and(|report| !report.failed.is_empty())))
}

fn named_session(launch: &Launch, store: &Store, command: &Rewind) -> Result<SessionKey, Failure> {
    let failed = |error| launch.store_failure(error);
    let reader = store.reader().map_err(failed)?;
    // A session without a prompt has nothing to go back to.
    let id = ids::session_or_last(launch, reader, command.session.as_deref())?;
    let conversation = ids::conversation_of(launch, reader, &id)?;
    let session = SessionKey { conversation, session: id, start: SequenceStart::Zero };
    match session_above(store, &session).map_err(failed)? {
        None => Ok(session),
        Some(above) => Err(Failure::usage(format_args!(
            "session {} is that of an agent; what it changed belongs to the session it works for",
            session.session
        ))
        .hint(format!("ona sessions rewind {above}"))),
    }
}

/// Working directories are those of a project, so files are restored from inside it.
fn same_project(launch: &Launch, store: &Store, session: &SessionKey) -> Result<(), Failure> {
    let failed = |error| launch.store_failure(error);
    let found = store.reader().and_then(|reader| reader.conversation(&session.conversation)).map_err(failed)?;
    let Some(project) = found.map(|found| found.project_dir) else { return Ok(()) };
    if Path::new(&project) == launch.project {
        return Ok(());
    }
    Err(Failure::usage(format_args!("the session belongs to another project: {}", printable(&project)))
        .hint(format!("cd {} first; --conversation works from everywhere", printable(&project))))
}

fn list(prompts: &[RewindPrompt], session: &SessionId, as_json: bool) {
    if as_json {
        output::json(&prompts.iter().map(prompt_json).collect());
        return;
    }
    for prompt in prompts {
        let RewindPrompt { number, uuid, created_at, files, .. } = prompt;
        let words = printable(prompt.text.lines().next().unwrap_or_default());
        output::line(format_args!("{number:>3}  {uuid:.8}  {created_at}  {:>9}  {words:.60}", counted(*files, "file")));
    }
    match prompts {
        [] => output::note("No prompts."),
        _ => output::note(format_args!("Go back to before one: ona sessions rewind {session} --to NUMBER")),
    }
}

fn tell(session: &SessionId, plan: &RewindPlan, report: Option<&RewindReport>, command: &Rewind) {
    let would = if report.is_none() { "would be " } else { "" };
    for step in plan.changed() {
        let path = printable(&step.shown);
        let failed = report.and_then(|report| report.failed.iter().find(|(failed, _)| *failed == step.shown));
        if let Some((_, why)) = failed {
            output::line(format_args!("not restored ({why}): {path}"));
            continue;
        }
        let what = match step.action {
            FileAction::Remove => "removed",
            FileAction::Write { .. } | FileAction::Skip(_) => "restored",
        };
        let since = if step.changed_since { ", changed by something else" } else { "" };
        output::line(format_args!("{would}{what} (+{} -{}{since}): {path}", step.insertions, step.deletions));
    }
    for (step, why) in plan.skipped() {
        output::line(format_args!("not restorable, {}: {}", why.words(), printable(&step.shown)));
    }
    for (path, why) in report.iter().flat_map(|report| &report.final_ones) {
        output::note(format_args!("taking this back will not restore a file, {}: {}", why.words(), printable(path)));
    }
    let (insertions, deletions) = plan.lines();
    if plan.scope.has_files() {
        let files = counted(plan.changed().count(), "file");
        output::line(format_args!("{files} {would}changed, {insertions} lines added, {deletions} removed"));
    }
    if plan.scope.has_conversation() {
        let words = match &plan.target {
            RewindTarget::Prompt(prompt) => format!("before prompt {}", prompt.number),
            RewindTarget::Undo(_) => "where it was before the rewind".to_owned(),
        };
        let goes = if report.is_some() { "goes on" } else { "would go on" };
        output::line(format_args!("the conversation {goes} {words}"));
    }
    if report.is_some() && !command.undo {
        output::note(format_args!("Take it back: ona sessions rewind {session} --undo"));
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
