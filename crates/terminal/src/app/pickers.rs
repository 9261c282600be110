//! Lists that lead to a command: models, sessions, prompts to go back to.

use super::events::voice;
use super::{App, Effect, Open, Purpose, command_dialogs};
use crate::blocks::prompt;
use crate::composer::Submission;
use crate::dialogs::{Dialog, Overlay, Picker, PickerItem, RewindDialog, RewindPoint, RewindReply, RewindWhat};
use crate::front::{Question, Request};
use crate::markdown::markdown;
use crate::palette::Palette;
use crate::text::visible_line;
use ona_api::model::MODELS;
use ona_commands::{CommandQuestion, ScreenAction};
use ona_orchestration::RewindPrompt;
use ona_settings::{StatusLineSettings, TerminalSettings};
use ona_store::SessionLine;
use std::sync::Arc;

impl App {
    pub(super) fn pick_model(&mut self) -> Vec<Effect> {
        let current = self.session.as_ref().and_then(|session| session.model.as_ref()).map(|model| model.model());
        let item = |(id, provider, wire): &(&str, ona_api::model::ProviderName, Option<&str>)| PickerItem {
            label: (*id).to_owned(),
            detail: format!("{} · {}", provider.as_str(), wire.unwrap_or("set by the environment")),
            keywords: String::new(),
        };
        let at = MODELS.iter().position(|(id, ..)| current.as_ref().is_some_and(|model| model.choice.model_id == *id));
        let picker = Picker::new("Model", MODELS.iter().map(item).collect()).starting_at(at.unwrap_or_default());
        let ids = MODELS.iter().map(|(id, ..)| (*id).to_owned()).collect();
        self.dialogs.push_back(Open { overlay: Overlay::asked_for(picker), purpose: Purpose::Command("model", ids) });
        Vec::new()
    }

    /// The next request goes to this model; a reply that streams is not torn.
    pub(super) fn set_model(&mut self, name: &str) -> Vec<Effect> {
        let Some(current) = self.session.as_ref().and_then(|session| session.model.clone()) else {
            voice(self, "No session has begun yet.");
            return Vec::new();
        };
        match current.model().named(name) {
            Ok(model) => {
                let words =
                    format!("The next request goes to {} ({}).", model.choice.model_id, model.choice.wire_model);
                current.set(Arc::new(model));
                voice(self, &words);
                vec![Effect::Send(crate::front::Request::ModelChanged)]
            }
            Err(failure) => {
                voice(self, &failure.to_string());
                Vec::new()
            }
        }
    }

    pub(super) fn pick_session(&mut self, sessions: Vec<SessionLine>) {
        let item = |line: &SessionLine| {
            let words = line.title.as_deref().or(line.first_user_text.as_deref()).unwrap_or("(nothing said yet)");
            PickerItem {
                label: visible_line(words.lines().next().unwrap_or_default()),
                detail: format!(
                    "{} · {} rows",
                    line.last_entry_at.as_deref().unwrap_or(&line.started_at),
                    line.entries
                ),
                keywords: format!("{} {}", line.id, words),
            }
        };
        let picker = Picker::new("Continue a session", sessions.iter().map(item).collect())
            .when_empty("This project has no other session")
            .with_previews();
        let ids = sessions.into_iter().map(|line| line.id.0).collect();
        self.dialogs.push_back(Open { overlay: Overlay::asked_for(picker), purpose: Purpose::Sessions(ids) });
    }

    /// Draws the preview that the list in sight wants, or asks for it.
    pub(super) fn fill_preview(&mut self) -> Option<Effect> {
        let width = self.width;
        let open = self.dialogs.front_mut()?;
        let Dialog::Picker(picker) = &mut open.overlay.dialog else { return None };
        let item = picker.wants_preview()?;
        match &open.purpose {
            Purpose::Sessions(ids) => Some(Effect::Send(Request::Preview(ids.get(item)?.clone()))),
            Purpose::Question(_, question) => {
                if let Question::Command(CommandQuestion::Pick { entries, .. }) = &**question {
                    picker.set_preview(item, command_dialogs::preview(entries.get(item)?, width));
                }
                None
            }
            Purpose::Command(..) | Purpose::Rewind(_) => None,
        }
    }

    /// What was asked for has come; a preview nobody looks at any more is dropped.
    pub(super) fn show_preview(&mut self, session: &str, messages: &[(bool, String)]) {
        let width = self.width;
        let Some(open) = self.dialogs.front_mut() else { return };
        let (Dialog::Picker(picker), Purpose::Sessions(ids)) = (&mut open.overlay.dialog, &open.purpose) else {
            return;
        };
        let Some(item) = ids.iter().position(|id| id == session) else { return };
        let mut lines = Vec::new();
        for (by_user, text) in messages {
            match by_user {
                true => lines.extend(prompt(text, width)),
                false => lines.extend(markdown(text, width)),
            }
        }
        picker.set_preview(item, lines);
    }

    /// What the settings say about the screen.
    pub(super) fn take_settings(&mut self, settings: &TerminalSettings) {
        if let Some(name) = &settings.theme {
            match Palette::named(name) {
                Some(palette) => self.palette = palette,
                None => voice(self, &format!("The theme {name} does not exist; /theme lists them.")),
            }
        }
        if settings.vim {
            self.composer.set_vim(true);
        }
    }

    /// Does what a command wants of the screen.
    pub(super) fn act_on_screen(&mut self, action: ScreenAction) -> Vec<Effect> {
        match action {
            ScreenAction::Copy(text) => vec![Effect::Copy(text)],
            ScreenAction::Edit(file) => vec![Effect::EditFile(file)],
            ScreenAction::Theme(name) => {
                self.palette = Palette::named(&name).unwrap_or_default();
                Vec::new()
            }
            ScreenAction::Colour(name) => {
                self.colour = name.and_then(|name| name.parse().ok());
                Vec::new()
            }
            ScreenAction::Focus => {
                self.focus = !self.focus;
                let words = match self.focus {
                    true => "Prompts and replies only; /focus shows everything again.",
                    false => "Everything is shown again.",
                };
                voice(self, words);
                Vec::new()
            }
            ScreenAction::Vim(on) => {
                self.composer.set_vim(on);
                Vec::new()
            }
            ScreenAction::StatusLine(command) => {
                if let Some(session) = &mut self.session {
                    session.status_line.settings =
                        command.map(|command| StatusLineSettings { command, padding: 0, refresh: None });
                }
                self.own_status.clear();
                Vec::new()
            }
            ScreenAction::Name(name) => {
                self.name = Some(name);
                Vec::new()
            }
        }
    }

    pub(super) fn pick_rewind(&mut self, prompts: Vec<RewindPrompt>) {
        let point = |prompt: &RewindPrompt| RewindPoint {
            prompt: prompt.text.clone(),
            detail: format!("{} · {} files changed after it", prompt.created_at, prompt.files),
            has_edits: prompt.files > 0,
        };
        let dialog = RewindDialog::new(prompts.iter().map(point).collect());
        let numbers = prompts.iter().map(|prompt| prompt.number).collect();
        self.dialogs.push_back(Open { overlay: Overlay::asked_for(dialog), purpose: Purpose::Rewind(numbers) });
    }

    pub(super) fn rewind(&mut self, numbers: &[usize], reply: RewindReply) -> Vec<Effect> {
        let RewindReply::Rewind { point, what, guidance } = reply else { return Vec::new() };
        let Some(number) = numbers.get(point) else { return Vec::new() };
        let line = match what {
            RewindWhat::CodeAndConversation => format!("/rewind {number} both"),
            RewindWhat::Conversation => format!("/rewind {number} conversation"),
            RewindWhat::Code => format!("/rewind {number} files"),
            RewindWhat::SummariseFrom => {
                format!("/rewind {number} summary {}", guidance.unwrap_or_default())
            }
        };
        self.submit(Submission::prompt(line.trim()))
    }
}
