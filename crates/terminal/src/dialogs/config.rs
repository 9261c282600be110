//! Settings, changed in place.
//!
//! The dialog shows values and says what should change; who owns them answers with [`ConfigEditor::set_value`] or an
//! error, so that what is shown is always what counts.

use super::frame::{fitted, hints, rows_of, wrapped};
use super::text_field::TextField;
use crate::keys::{Action, Context, Input, Key, Keymap};
use crate::menus::ListCursor;
use crate::screen::text_width;
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use crossterm::event::KeyCode;
use ratatui_core::text::{Line, Span};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigValue {
    Switch(bool),
    /// One of several words.
    Choice {
        choices: Vec<String>,
        chosen: usize,
    },
    Text(String),
    /// Shown, but set elsewhere: the text says where.
    Fixed {
        value: String,
        why: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigEntry {
    pub key: String,
    pub help: String,
    pub value: ConfigValue,
    /// Where the value comes from.
    pub origin: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigReply {
    /// Change this setting in the files of this scope.
    Set {
        key: String,
        value: ConfigValue,
        scope: usize,
    },
    Closed,
}

#[derive(Clone, Debug)]
pub struct ConfigEditor {
    entries: Vec<ConfigEntry>,
    filter: TextField,
    fitting: Vec<usize>,
    list: ListCursor,
    /// The text being written for the chosen entry.
    writing: Option<TextField>,
    error: Option<String>,
    /// Where changes are written; Tab goes on to the next.
    scopes: Vec<String>,
    scope: usize,
}

impl ConfigEditor {
    pub fn new(entries: Vec<ConfigEntry>) -> ConfigEditor {
        let mut editor = ConfigEditor {
            entries,
            filter: TextField::default(),
            fitting: Vec::new(),
            list: ListCursor::default(),
            writing: None,
            error: None,
            scopes: Vec::new(),
            scope: 0,
        };
        editor.narrow();
        editor
    }

    /// The setting has this value now.
    pub fn set_value(&mut self, key: &str, value: ConfigValue, origin: &str) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            (entry.value, entry.origin) = (value, origin.to_owned());
        }
        self.error = None;
    }

    /// Names where changes are written, and begins with one of them.
    #[must_use]
    pub fn with_scopes(mut self, scopes: Vec<String>, scope: usize) -> ConfigEditor {
        (self.scopes, self.scope) = (scopes, scope);
        self
    }

    /// Begins at a setting.
    #[must_use]
    pub fn starting_at(mut self, key: &str) -> ConfigEditor {
        if let Some(row) = self.fitting.iter().position(|index| self.entries[*index].key == key) {
            self.list.select(row);
        }
        self
    }

    /// The setting could not be changed.
    pub fn set_error(&mut self, error: &str) {
        self.error = Some(visible_line(error));
    }

    fn narrow(&mut self) {
        let words: Vec<String> = self.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let fits = |entry: &ConfigEntry| {
            let text = format!("{} {}", entry.key, entry.help).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        self.fitting = (0..self.entries.len()).filter(|index| fits(&self.entries[*index])).collect();
        self.list = ListCursor::new(self.fitting.len());
    }

    fn chosen(&self) -> Option<&ConfigEntry> {
        self.entries.get(*self.fitting.get(self.list.selected()?)?)
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<ConfigReply> {
        match input {
            Input::Key(press) => self.press(press.key, keys),
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                match &mut self.writing {
                    Some(field) => field.insert(text),
                    None => {
                        self.filter.insert(text);
                        self.narrow();
                    }
                }
                Outcome::Changed
            }
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    fn press(&mut self, key: Key, keys: &Keymap) -> Outcome<ConfigReply> {
        let interrupt = keys.action(Context::Global, key) == Some(Action::Interrupt);
        let select = keys.action(Context::Select, key);
        if let Some(field) = &mut self.writing {
            match select {
                Some(Action::SelectAccept) => {
                    let text = field.text().trim().to_owned();
                    self.writing = None;
                    return self.change(|_| ConfigValue::Text(text));
                }
                Some(Action::SelectCancel) => self.writing = None,
                _ if interrupt => self.writing = None,
                _ if field.key(key, keys) => {}
                _ => return Outcome::Unclaimed,
            }
            return Outcome::Changed;
        }
        self.error = None;
        if interrupt {
            return Outcome::Done(ConfigReply::Closed);
        }
        if key.code == KeyCode::Tab && !self.scopes.is_empty() {
            self.scope = (self.scope + 1) % self.scopes.len();
            return Outcome::Changed;
        }
        match (select, keys.action(Context::Tabs, key)) {
            (Some(Action::SelectNext), _) => self.list.next(),
            (Some(Action::SelectPrevious), _) => self.list.previous(),
            (Some(Action::SelectCancel), _) if !self.filter.is_empty() => {
                self.filter.clear();
                self.narrow();
            }
            (Some(Action::SelectCancel), _) => return Outcome::Done(ConfigReply::Closed),
            (Some(Action::SelectAccept | Action::SelectToggle), _) => return self.open(),
            (_, Some(Action::NextTab)) => return self.step(true),
            (_, Some(Action::PreviousTab)) => return self.step(false),
            _ => {
                if !self.filter.key(key, keys) {
                    return Outcome::Unclaimed;
                }
                self.narrow();
            }
        }
        Outcome::Changed
    }

    /// Enter: switches, goes to the next word, or opens the text.
    fn open(&mut self) -> Outcome<ConfigReply> {
        match self.chosen().map(|entry| &entry.value) {
            Some(ConfigValue::Text(text)) => {
                self.writing = Some(TextField::new(text));
                Outcome::Changed
            }
            Some(ConfigValue::Fixed { why, .. }) => {
                self.error = Some(visible_line(why));
                Outcome::Changed
            }
            Some(_) => self.step(true),
            None => Outcome::Changed,
        }
    }

    fn step(&mut self, forward: bool) -> Outcome<ConfigReply> {
        match self.chosen().map(|entry| &entry.value) {
            Some(ConfigValue::Switch(_) | ConfigValue::Choice { .. }) => self.change(|value| match value {
                ConfigValue::Switch(on) => ConfigValue::Switch(!on),
                ConfigValue::Choice { choices, chosen } => {
                    let count = choices.len().max(1);
                    let next = if forward { chosen + 1 } else { chosen + count - 1 };
                    ConfigValue::Choice { choices: choices.clone(), chosen: next % count }
                }
                other => other.clone(),
            }),
            _ => Outcome::Changed,
        }
    }

    fn change(&self, to: impl FnOnce(&ConfigValue) -> ConfigValue) -> Outcome<ConfigReply> {
        match self.chosen() {
            Some(entry) => {
                Outcome::Done(ConfigReply::Set { key: entry.key.clone(), value: to(&entry.value), scope: self.scope })
            }
            None => Outcome::Changed,
        }
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let mut head = vec![Span::styled("Settings", theme::HEADING)];
        if let Some(scope) = self.scopes.get(self.scope) {
            head.push(Span::styled(format!("  changes go to {scope}"), theme::DIM));
        }
        let mut view = View { lines: vec![rows_of(&Line::from(head), cells).swap_remove(0)], cursor: None };
        let (text, column) = self.filter.view(cells.saturating_sub(2));
        if self.filter.is_empty() {
            view.lines.push(Line::styled("⌕ type to search", theme::DIM));
        } else {
            view.lines.push(Line::from(vec![Span::styled("⌕ ", theme::DIM), Span::raw(text)]));
        }
        view.cursor = Some(Cursor { column: (2 + column) as u16, row: 1 });
        let rows = usize::from(height).saturating_sub(7).clamp(1, 15);
        let window = self.list.window(rows);
        let keys =
            self.fitting.iter().map(|index| text_width(&self.entries[*index].key)).max().unwrap_or(0).min(cells / 2);
        for (row, index) in self.fitting[window.clone()].iter().enumerate() {
            let entry = &self.entries[*index];
            let chosen = self.list.selected() == Some(window.start + row);
            let style = if chosen { theme::SELECTED } else { theme::TEXT };
            let key = cut(&entry.key, keys);
            let padding = " ".repeat(keys - text_width(&key) + 2);
            let head = format!("{} {key}{padding}", if chosen { "›" } else { " " });
            let used = text_width(&head);
            let room = cells.saturating_sub(used);
            let mut spans = vec![Span::styled(head, style)];
            match self.writing.as_ref().filter(|_| chosen) {
                Some(field) => {
                    let (text, column) = field.view(room);
                    view.cursor = Some(Cursor { column: (used + column) as u16, row: view.height() });
                    spans.push(Span::raw(text));
                }
                None => spans.push(Span::styled(
                    cut(&shown(&entry.value), room),
                    if chosen { theme::ACTION } else { theme::DIM },
                )),
            }
            view.lines.push(Line::from(spans));
        }
        if self.fitting.is_empty() {
            view.lines
                .push(Line::styled(cut(&format!("  No setting fits \"{}\"", self.filter.text()), cells), theme::DIM));
        }
        view.lines.push(Line::default());
        match (&self.error, self.chosen()) {
            (Some(error), _) => view.lines.extend(wrapped(error, cells, 2, theme::FAILED)),
            (None, Some(entry)) => {
                let origin = if entry.origin.is_empty() { String::new() } else { format!(" ({})", entry.origin) };
                view.lines.extend(wrapped(&format!("{}{origin}", entry.help), cells, 2, theme::DIM));
            }
            (None, None) => {}
        }
        view.lines.push(match self.writing {
            Some(_) => hints(&[("Enter", "save"), ("Esc", "leave it")], cells),
            None if self.scopes.is_empty() => {
                hints(&[("↑↓", "choose"), ("Enter Space ←→", "change"), ("Esc", "close")], cells)
            }
            None => hints(&[("↑↓", "choose"), ("Enter Space ←→", "change"), ("Tab", "where"), ("Esc", "close")], cells),
        });
        fitted(view, height)
    }
}

fn shown(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Switch(on) => (if *on { "on" } else { "off" }).to_owned(),
        ConfigValue::Choice { choices, chosen } => {
            choices.get(*chosen).map_or(String::new(), |word| format!("‹ {word} ›"))
        }
        ConfigValue::Text(text) if text.is_empty() => "–".to_owned(),
        ConfigValue::Text(text) | ConfigValue::Fixed { value: text, .. } => visible_line(text),
    }
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
