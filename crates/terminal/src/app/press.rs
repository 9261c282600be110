//! What keys do: first to the dialog, then to the composer, then to the program.

use super::{App, Effect, Open, Purpose, asked, events};
use crate::component::Outcome;
use crate::composer::{ComposerEvent, Submission};
use crate::dialogs::{DialogReply, PickerReply};
use crate::front::Reply;
use crate::keys::{Action, Bound, Chord, Context, Input, Press, Resolved};
use ona_api::Mode;

pub(super) fn update(app: &mut App, input: &Input) -> Vec<Effect> {
    if let Some(open) = app.dialogs.front_mut() {
        match (open.overlay.input(input, &app.keymap), input) {
            (Outcome::Done(answer), _) => return answered(app, answer),
            (Outcome::Changed, _) => return Vec::new(),
            (Outcome::Unclaimed, Input::Key(press)) if app.keymap.action(Context::Global, press.key).is_some() => {
                return beside_a_dialog(app, *press);
            }
            // What was typed before the dialog could be read belongs to the composer, but Enter to nobody.
            (Outcome::Unclaimed, Input::Key(press)) if press.key.text().is_none() => return Vec::new(),
            (Outcome::Unclaimed, _) => {}
        }
    }
    let busy = app.work.is_some();
    match app.composer.input(input, &app.keymap, busy) {
        Outcome::Unclaimed => Vec::new(),
        Outcome::Changed if app.composer.wants_files() => vec![Effect::WantFiles],
        Outcome::Changed => Vec::new(),
        Outcome::Done(event) => composed(app, event),
    }
}

fn answered(app: &mut App, answer: DialogReply) -> Vec<Effect> {
    let Some(Open { overlay, purpose }) = app.dialogs.pop_front() else { return Vec::new() };
    match purpose {
        Purpose::Question(id, question) => match asked::reply(&question, answer) {
            Some((reply, words)) => {
                if let Some(words) = words {
                    app.composer.enqueue(Submission::prompt(&words));
                }
                vec![Effect::Reply(id, reply)]
            }
            None => {
                app.dialogs.push_front(Open { overlay, purpose: Purpose::Question(id, question) });
                Vec::new()
            }
        },
        Purpose::Command(name, entries) => match answer {
            DialogReply::Picker(PickerReply::Chosen { item, .. }) => match entries.get(item) {
                Some(entry) => app.submit(Submission::prompt(&format!("/{name} {entry}"))),
                None => Vec::new(),
            },
            _ => Vec::new(),
        },
        Purpose::Sessions(sessions) => match answer {
            DialogReply::Picker(PickerReply::Chosen { item, .. }) => match sessions.get(item) {
                Some(id) => app.submit(Submission::prompt(&format!("/resume {id}"))),
                None => Vec::new(),
            },
            _ => Vec::new(),
        },
        Purpose::Rewind(numbers) => match answer {
            DialogReply::Rewind(reply) => app.rewind(&numbers, reply),
            _ => Vec::new(),
        },
    }
}

/// Keys that mean the same everywhere. Ctrl+C says no.
fn beside_a_dialog(app: &mut App, press: Press) -> Vec<Effect> {
    match app.keymap.resolve(&[Context::Global], &mut Chord::default(), press.key) {
        Resolved::Bound(Bound::Action(Action::Interrupt)) => match app.dialogs.pop_front() {
            Some(Open { purpose: Purpose::Question(id, question), .. }) => {
                let reply = match *question {
                    crate::front::Question::Permission(_) => Reply::Deny { feedback: None },
                    crate::front::Question::Trust(_) => Reply::Leave,
                    crate::front::Question::Elicitation(_)
                    | crate::front::Question::Module(_)
                    | crate::front::Question::Command(_) => Reply::Value(serde_json::Value::Null),
                };
                vec![Effect::Reply(id, reply)]
            }
            Some(_) | None => Vec::new(),
        },
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
        ComposerEvent::Help => app.submit(Submission::prompt("/shortcuts")),
        ComposerEvent::Do(action) => act(app, action),
        ComposerEvent::Command(name) => app.submit(Submission::prompt(&format!("/{name}"))),
        ComposerEvent::CheckImages(images) => vec![Effect::CheckImages(images)],
        ComposerEvent::ListFolder { folder, typed } => vec![Effect::ListFolder { folder, typed }],
        ComposerEvent::EditExternally(_) => {
            events::voice(app, "An editor cannot be opened from here yet. Ctrl+J writes a new line.");
            Vec::new()
        }
        ComposerEvent::Shortcut(name) => {
            events::voice(app, &format!("The shortcut {name} cannot be run from here yet."));
            Vec::new()
        }
    }
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    match action {
        Action::CycleMode => cycle_mode(app),
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::ModelPicker => app.submit(Submission::prompt("/model")),
        // Said, so that nobody waits for it.
        action => {
            events::voice(app, &format!("Not available here yet: {} ({action}).", action.help()));
            Vec::new()
        }
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
