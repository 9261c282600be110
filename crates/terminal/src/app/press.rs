//! What keys do: first to the dialog, then to the composer, then to the program.

use super::transcript::{PageAnswer, TranscriptPage};
use super::{App, EditFor, Effect, Open, Purpose, asked, events};
use crate::component::Outcome;
use crate::composer::{ComposerEvent, Submission};
use crate::dialogs::{DialogReply, PickerReply};
use crate::front::{Reply, Request};
use crate::keys::{Action, Bound, Chord, Context, Input, KeySequence, Press, Resolved};
use crate::screen::Size;
use ona_api::{Mode, Phase};

pub(super) fn update(app: &mut App, input: &Input) -> Vec<Effect> {
    if let Some(page) = &mut app.page {
        let answer = page.input(input, &app.keymap);
        return turn_page(app, answer);
    }
    if let Some(open) = app.dialogs.front_mut() {
        match (open.overlay.input(input, &app.keymap), input) {
            (Outcome::Done(answer), input) => {
                // What was waited for at a question does not count as time of the call.
                if let (Input::Key(Press { at, .. }) | Input::Text { at, .. }, Some(work)) = (input, &mut app.work)
                    && let Some(running) = work.calls.first_mut()
                {
                    running.since = *at;
                }
                return answered(app, answer);
            }
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
        ComposerEvent::EditExternally(text) => vec![Effect::Edit(text, EditFor::Composer)],
        ComposerEvent::Shortcut(key) => vec![Effect::Send(Request::Shortcut(key))],
    }
}

fn act(app: &mut App, action: Action) -> Vec<Effect> {
    match action {
        Action::CycleMode => cycle_mode(app),
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::ModelPicker => app.submit(Submission::prompt("/model")),
        Action::ToggleTranscript => open_transcript(app),
        Action::ToggleTodos => {
            app.show_todos = !app.show_todos;
            if app.show_todos && app.todos.is_empty() {
                events::voice(app, "The agent has not made a todo list yet.");
                app.show_todos = false;
            }
            Vec::new()
        }
        Action::Background => to_background(app),
        Action::ImagePaste => vec![Effect::PasteImage],
        Action::SendNow if app.work.is_some() && app.composer.queued().len() > 0 => app.interrupt(),
        Action::KillAgents => vec![Effect::StopAgents],
        // The composer and dialogs have seen to the rest where it means something.
        _ => Vec::new(),
    }
}

fn open_transcript(app: &mut App) -> Vec<Effect> {
    if app.transcript.is_empty() {
        events::voice(app, "Nothing has been said yet.");
    } else if app.plain {
        // A screen reader reads what is appended.
        dump_transcript(app);
    } else {
        app.page = Some(TranscriptPage::new(&app.transcript, Size { width: app.width, height: 24 }));
    }
    Vec::new()
}

fn dump_transcript(app: &mut App) {
    let (lines, _) = app.transcript.lines(true, app.width);
    app.output.lines(lines);
}

fn turn_page(app: &mut App, answer: PageAnswer) -> Vec<Effect> {
    match answer {
        PageAnswer::Stays => {}
        PageAnswer::Close => app.page = None,
        PageAnswer::Dump => {
            app.page = None;
            dump_transcript(app);
        }
        PageAnswer::Edit => {
            app.page = None;
            let (lines, _) = app.transcript.lines(true, 120);
            let lines: Vec<String> = lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect();
            return vec![Effect::Edit(lines.join("\n"), EditFor::Nothing)];
        }
    }
    Vec::new()
}

fn to_background(app: &mut App) -> Vec<Effect> {
    let running = app.work.as_ref().and_then(|work| work.calls.first()).filter(|running| running.started);
    match running.filter(|running| running.call.name == "Bash") {
        Some(running) => vec![Effect::ToBackground(running.call.id.clone())],
        None => {
            events::voice(app, "No command is running that could go on in the background.");
            Vec::new()
        }
    }
}

impl App {
    /// A key of a hook module, unless the key has a meaning of its own.
    pub(super) fn bind_shortcut(&mut self, key: &str, help: &str) {
        let Ok(keys) = key.parse::<KeySequence>() else {
            events::voice(self, &format!("A hook module registered the key {key:?}, which is not one: {help}"));
            return;
        };
        let taken = |context| match self.keymap.get(context, &keys) {
            None | Some(Bound::Shortcut(_)) => false,
            Some(_) => true,
        };
        if taken(Context::Chat) || taken(Context::Global) {
            events::voice(self, &format!("A hook module registered {key}, which has a meaning already; it keeps it."));
            return;
        }
        self.keymap.bind(Context::Chat, keys, Bound::Shortcut(key.to_owned()));
    }
}

/// default, acceptEdits, plan, perhaps bypassPermissions, and from the start.
fn cycle_mode(app: &mut App) -> Vec<Effect> {
    let (may_bypass, phase) =
        app.session.as_ref().map_or((false, Phase::Idle), |session| (session.may_bypass, session.phase));
    let next = match app.mode() {
        None => return Vec::new(),
        Some(Mode::Default) => Mode::AcceptEdits,
        // The phase follows with the next prompt, so that passing by changes nothing that lasts.
        Some(Mode::AcceptEdits) => Mode::Plan,
        Some(Mode::Plan) if may_bypass => Mode::BypassPermissions,
        Some(Mode::Plan | Mode::BypassPermissions | Mode::DontAsk) => Mode::Default,
    };
    if app.mode() == Some(Mode::Plan) && phase == Phase::Planning {
        events::voice(app, "The phase stays planning: changes are closed until a plan is approved.");
    }
    vec![Effect::SetMode(next)]
}
