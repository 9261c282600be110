//! A list with a page behind each entry: hooks, permissions, servers, tasks.

use super::frame::{Body, fitted, hints};
use super::picker::{Picker, PickerItem, PickerReply};
use crate::keys::{Action, Context, Input, Keymap};
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use ratatui_core::text::Line;

#[derive(Clone, Debug, Default)]
pub struct ViewerEntry {
    pub label: String,
    pub detail: String,
    pub page: Vec<Line<'static>>,
    /// What can be done with it on its page: a letter and its word.
    pub actions: Vec<(char, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewerReply {
    /// A letter was pressed on an entry's page; the dialog stays.
    Act {
        entry: usize,
        letter: char,
    },
    Closed,
}

#[derive(Clone, Debug)]
pub struct Viewer {
    picker: Picker,
    entries: Vec<ViewerEntry>,
    open: Option<(usize, Body)>,
    /// A page alone, without a list behind it.
    single: bool,
}

impl Viewer {
    pub fn new(title: &str, empty: &str, entries: Vec<ViewerEntry>) -> Viewer {
        let picker = Picker::new(title, items(&entries)).when_empty(empty);
        Viewer { picker, entries, open: None, single: false }
    }

    /// A single page that scrolls.
    pub fn page(title: &str, lines: Vec<Line<'static>>) -> Viewer {
        let entry = ViewerEntry { label: title.to_owned(), page: lines.clone(), ..ViewerEntry::default() };
        let mut viewer = Viewer::new(title, "", vec![entry]);
        viewer.open = Some((0, Body::new(lines)));
        viewer.entries.truncate(1);
        viewer.single = true;
        viewer
    }

    /// Begins on the page of an entry.
    #[must_use]
    pub fn opened_at(mut self, entry: Option<usize>) -> Viewer {
        if let Some((entry, found)) = entry.and_then(|entry| Some((entry, self.entries.get(entry)?))) {
            self.open = Some((entry, Body::new(found.page.clone())));
            self.picker = self.picker.starting_at(entry);
        }
        self
    }

    /// Replaces the entries, for instance after an action; the open page stays open if its entry does.
    pub fn set_entries(&mut self, entries: Vec<ViewerEntry>) {
        self.picker.set_items(items(&entries));
        if let Some((open, body)) = &mut self.open {
            match entries.get(*open) {
                Some(entry) => body.set(entry.page.clone()),
                None => self.open = None,
            }
        }
        self.entries = entries;
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<ViewerReply> {
        let Some((open, body)) = &mut self.open else {
            return match self.picker.input(input, keys) {
                Outcome::Done(PickerReply::Chosen { item, .. }) => {
                    let page = self.entries.get(item).map(|entry| entry.page.clone()).unwrap_or_default();
                    self.open = Some((item, Body::new(page)));
                    Outcome::Changed
                }
                Outcome::Done(PickerReply::Closed) => Outcome::Done(ViewerReply::Closed),
                Outcome::Done(PickerReply::Switched { .. }) | Outcome::Changed => Outcome::Changed,
                Outcome::Unclaimed => Outcome::Unclaimed,
            };
        };
        let Input::Key(press) = input else { return Outcome::Unclaimed };
        let key = press.key;
        let actions = self.entries.get(*open).map(|entry| entry.actions.as_slice()).unwrap_or_default();
        if let Some((letter, _)) = actions.iter().find(|(letter, _)| key.text() == Some(*letter)) {
            return Outcome::Done(ViewerReply::Act { entry: *open, letter: *letter });
        }
        let closes = keys.action(Context::Select, key) == Some(Action::SelectCancel)
            || keys.action(Context::Transcript, key) == Some(Action::LeaveTranscript)
            || keys.action(Context::Global, key) == Some(Action::Interrupt);
        if closes {
            let single = self.single;
            self.open = None;
            return if single { Outcome::Done(ViewerReply::Closed) } else { Outcome::Changed };
        }
        match keys.action(Context::Scroll, key) {
            Some(Action::ScrollUp) => body.scroll(-1),
            Some(Action::ScrollDown) => body.scroll(1),
            Some(Action::PageUp) => body.page(-1),
            Some(Action::PageDown) => body.page(1),
            Some(Action::ScrollTop) => body.scroll(isize::MIN),
            Some(Action::ScrollBottom) => body.scroll(isize::MAX),
            _ => return Outcome::Unclaimed,
        }
        Outcome::Changed
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let Some((open, body)) = &self.open else { return self.picker.view(width, height) };
        let cells = usize::from(width).max(10);
        let Some(entry) = self.entries.get(*open) else { return View::default() };
        let title = cut(&visible_line(&entry.label), cells);
        let mut lines = vec![Line::styled(title, theme::HEADING), Line::default()];
        lines.extend(body.view(cells, usize::from(height).saturating_sub(4).max(1)));
        lines.push(Line::default());
        let letters: Vec<(String, &str)> =
            entry.actions.iter().map(|(letter, word)| (letter.to_string(), word.as_str())).collect();
        let mut all: Vec<(&str, &str)> = letters.iter().map(|(letter, word)| (letter.as_str(), *word)).collect();
        all.extend([("↑↓ PgUp PgDn", "scroll"), ("Esc", if self.entries.len() == 1 { "close" } else { "back" })]);
        lines.push(hints(&all, cells));
        fitted(View { lines, cursor: Some(Cursor::default()) }, height)
    }
}

fn items(entries: &[ViewerEntry]) -> Vec<PickerItem> {
    let item = |entry: &ViewerEntry| PickerItem {
        label: entry.label.clone(),
        detail: entry.detail.clone(),
        keywords: String::new(),
    };
    entries.iter().map(item).collect()
}
