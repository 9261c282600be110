//! What keys do: first to the dialog, then to the composer, then to the program.

use super::{App, Effect};
use crate::component::Outcome;
use crate::composer::{ComposerEvent, Submission};
use crate::front::Reply;
use crate::keys::{Action, Bound, Chord, Context, Input, Press, Resolved};
use ona_api::Mode;

pub(super) fn update(app: &mut App, input: &Input) -> Vec<Effect> {
    if let Some((_, dialog)) = app.dialogs.front_mut() {
        let outcome = match input {
            Input::Key(press) => dialog.key(press.key, &app.keymap),
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                dialog.text(text);
                Outcome::Changed
            }
            Input::Resize { .. } | Input::Focus(_) => Outcome::Changed,
        };
        return match (outcome, input) {
            (Outcome::Done(reply), _) => answer(app, reply),
            (Outcome::Unclaimed, Input::Key(press)) => beside_a_dialog(app, *press),
            (Outcome::Unclaimed | Outcome::Changed, _) => Vec::new(),
        };
    }
    let busy = app.work.is_some();
    match app.composer.input(input, &app.keymap, busy) {
        Outcome::Unclaimed | Outcome::Changed => Vec::new(),
        Outcome::Done(event) => composed(app, event),
    }
}

fn answer(app: &mut App, reply: Reply) -> Vec<Effect> {
    match app.dialogs.pop_front() {
        Some((id, _)) => vec![Effect::Reply(id, reply)],
        None => Vec::new(),
    }
}

/// Keys that mean the same everywhere.
fn beside_a_dialog(app: &mut App, press: Press) -> Vec<Effect> {
    match app.keymap.resolve(&[Context::Global], &mut Chord::default(), press.key) {
        Resolved::Bound(Bound::Action(Action::Interrupt)) => answer(app, Reply::Deny { feedback: None }),
        Resolved::Bound(Bound::Action(action)) => act(app, action),
        _ => Vec::new(),
    }
}

fn composed(app: &mut App, event: ComposerEvent) -> Vec<Effect> {
    match event {
        ComposerEvent::Submit(line) => app.submit(line),
        ComposerEvent::Interrupt => app.interrupt(),
        ComposerEvent::Exit => app.leave(),
        ComposerEvent::Rewind => app.submit(Submission::prompt("/rewind")),
        ComposerEvent::Help => {
            let lines = super::tools::key_help_lines(&app.keymap);
            app.finish(lines);
            Vec::new()
        }
        ComposerEvent::EditExternally(_) => Vec::new(),
        // What cannot be read is said when the prompt is sent.
        ComposerEvent::CheckImages(_) | ComposerEvent::ListFolder { .. } => Vec::new(),
        ComposerEvent::Do(action) => act(app, action),
        ComposerEvent::Command(name) => app.submit(Submission::prompt(&format!("/{name}"))),
        ComposerEvent::Shortcut(_) => Vec::new(),
    }
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    match action {
        Action::CycleMode => cycle_mode(app),
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::ModelPicker => app.submit(Submission::prompt("/model")),
        _ => Vec::new(),
    }
}

/// default, acceptEdits, plan, and from the start.
fn cycle_mode(app: &mut App) -> Vec<Effect> {
    match app.mode() {
        None => Vec::new(),
        Some(Mode::Default) => vec![Effect::SetMode(Mode::AcceptEdits)],
        Some(Mode::AcceptEdits) => vec![Effect::SetMode(Mode::Plan)],
        Some(Mode::Plan | Mode::BypassPermissions | Mode::DontAsk) => vec![Effect::SetMode(Mode::Default)],
    }
}
