//! A list to choose from, narrowed by typing.
//!
//! Models, sessions, and whatever a hook module wants chosen. Every word that is typed must occur in an entry. With
//! each letter only what fitted before is looked at, so that ten thousand entries answer at once; a
//! preview of the chosen entry is asked for by number and drawn when it has come.

use super::frame::{Body, fitted, hints, rows_of, wrapped};
use super::text_field::TextField;
use crate::keys::{Action, Context, Input, Key, Keymap};
use crate::menus::ListCursor;
use crate::screen::text_width;
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use ratatui_core::text::{Line, Span};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickerItem {
    pub label: String,
    /// Beside the label, dim.
    pub detail: String,
    /// More text to find it by, not shown.
    pub keywords: String,
}

/// Something that Tab switches, with its states: `for this session`, `as the default`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PickerSwitch {
    pub states: Vec<String>,
    pub state: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerReply {
    /// Position in the list that was given, and the state of the switch.
    Chosen {
        item: usize,
        state: usize,
    },
    /// The switch was pressed; the dialog stays. Other items may be set.
    Switched {
        state: usize,
    },
    Closed,
}

#[derive(Clone, Debug)]
pub struct Picker {
    title: String,
    /// Said if there is nothing to choose from.
    empty: String,
    items: Vec<PickerItem>,
    /// What is searched: label, detail and keywords in lower case.
    searched: Vec<String>,
    filter: TextField,
    fitting: Vec<u32>,
    list: ListCursor,
    switch: PickerSwitch,
    previews: bool,
    preview: Option<(usize, Body)>,
}

impl Picker {
    pub fn new(title: &str, items: Vec<PickerItem>) -> Picker {
        let mut picker = Picker {
            title: visible_line(title),
            empty: "Nothing to choose from".into(),
            items: Vec::new(),
            searched: Vec::new(),
            filter: TextField::default(),
            fitting: Vec::new(),
            list: ListCursor::default(),
            switch: PickerSwitch::default(),
            previews: false,
            preview: None,
        };
        picker.set_items(items);
        picker
    }

    #[must_use]
    pub fn with_switch(mut self, switch: PickerSwitch) -> Picker {
        self.switch = switch;
        self
    }

    /// Shows the chosen entry's preview below the list.
    #[must_use]
    pub fn with_previews(mut self) -> Picker {
        self.previews = true;
        self
    }

    #[must_use]
    pub fn when_empty(mut self, text: &str) -> Picker {
        self.empty = visible_line(text);
        self
    }

    /// Chooses an entry at first.
    #[must_use]
    pub fn starting_at(mut self, item: usize) -> Picker {
        if let Some(row) = self.fitting.iter().position(|number| *number as usize == item) {
            self.list.select(row);
        }
        self
    }

    /// Replaces the entries, keeping what is typed.
    pub fn set_items(&mut self, items: Vec<PickerItem>) {
        self.searched = items
            .iter()
            .map(|item| format!("{}\n{}\n{}", item.label, item.detail, item.keywords).to_lowercase())
            .collect();
        self.items = items;
        self.fitting = (0..self.items.len() as u32).collect();
        self.preview = None;
        self.narrow();
    }

    /// Returns the entry whose preview is wanted.
    pub fn wants_preview(&self) -> Option<usize> {
        let chosen = self.chosen()?;
        (self.previews && self.preview.as_ref().is_none_or(|(item, _)| *item != chosen)).then_some(chosen)
    }

    /// Takes a preview; one that comes too late is dropped.
    pub fn set_preview(&mut self, item: usize, lines: Vec<Line<'static>>) {
        if self.chosen() == Some(item) {
            self.preview = Some((item, Body::new(lines)));
        }
    }

    pub fn chosen(&self) -> Option<usize> {
        self.fitting.get(self.list.selected()?).map(|number| *number as usize)
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<PickerReply> {
        match input {
            Input::Key(press) => self.press(press.key, keys),
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                self.filter.insert(text);
                self.narrow();
                Outcome::Changed
            }
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    fn press(&mut self, key: Key, keys: &Keymap) -> Outcome<PickerReply> {
        if keys.action(Context::Global, key) == Some(Action::Interrupt) {
            return Outcome::Done(PickerReply::Closed);
        }
        // Letters are the filter's, whatever else they are bound to.
        if key.text().is_none_or(|c| c == ' ' && self.filter.is_empty()) {
            match keys.action(Context::Select, key) {
                Some(Action::SelectNext) => self.list.next(),
                Some(Action::SelectPrevious) => self.list.previous(),
                Some(Action::SelectCancel) if !self.filter.is_empty() => {
                    self.filter.clear();
                    self.afresh();
                }
                Some(Action::SelectCancel) => return Outcome::Done(PickerReply::Closed),
                Some(Action::SelectAccept) => {
                    let Some(item) = self.chosen() else { return Outcome::Changed };
                    return Outcome::Done(PickerReply::Chosen { item, state: self.switch.state });
                }
                _ => return self.other_key(key, keys),
            }
            return Outcome::Changed;
        }
        self.other_key(key, keys)
    }

    fn other_key(&mut self, key: Key, keys: &Keymap) -> Outcome<PickerReply> {
        if key.text().is_none() {
            if keys.action(Context::Tabs, key) == Some(Action::NextTab)
                && !self.switch.states.is_empty()
                && self.filter_at_end()
            {
                self.switch.state = (self.switch.state + 1) % self.switch.states.len();
                return Outcome::Done(PickerReply::Switched { state: self.switch.state });
            }
            match keys.action(Context::Scroll, key) {
                Some(Action::PageDown) => {
                    self.list.page(8);
                    return Outcome::Changed;
                }
                Some(Action::PageUp) => {
                    self.list.page(-8);
                    return Outcome::Changed;
                }
                _ => {}
            }
        }
        let before = self.filter.text().to_owned();
        if !self.filter.key(key, keys) {
            return Outcome::Unclaimed;
        }
        if self.filter.text() != before {
            if self.filter.text().starts_with(&before) { self.narrow() } else { self.afresh() }
        }
        Outcome::Changed
    }

    /// Right is the cursor's while there is something to the right of it.
    fn filter_at_end(&self) -> bool {
        self.filter.view(usize::MAX / 2).1 == text_width(self.filter.text())
    }

    fn afresh(&mut self) {
        self.fitting = (0..self.items.len() as u32).collect();
        self.narrow();
    }

    fn narrow(&mut self) {
        let words: Vec<String> = self.filter.text().split_whitespace().map(str::to_lowercase).collect();
        let searched = &self.searched;
        self.fitting.retain(|number| words.iter().all(|word| searched[*number as usize].contains(word)));
        self.list = ListCursor::new(self.fitting.len());
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let mut view = View { lines: vec![self.head(cells)], cursor: None };
        let (text, column) = self.filter.view(cells.saturating_sub(2));
        view.cursor = Some(Cursor { column: (2 + column) as u16, row: view.height() });
        let text = if self.filter.is_empty() { Span::styled("type to search", theme::DIM) } else { Span::raw(text) };
        view.lines.push(Line::from(vec![Span::styled("⌕ ", theme::DIM), text]));
        let room = usize::from(height).saturating_sub(4).max(1);
        let rows = if self.previews { (room / 2).clamp(1, 12) } else { room.min(15) };
        view.lines.extend(self.rows(cells, rows));
        if let Some((_, body)) = self.preview.as_ref().filter(|(item, _)| self.chosen() == Some(*item)) {
            let room = usize::from(height).saturating_sub(view.lines.len() + 3);
            if room > 0 {
                view.lines.push(Line::styled("─".repeat(cells), theme::DIM));
                view.lines.extend(body.view(cells, room));
            }
        }
        view.lines.push(Line::default());
        view.lines.push(self.hints(cells));
        fitted(view, height)
    }

    fn head(&self, cells: usize) -> Line<'static> {
        let count = match (self.fitting.len(), self.items.len()) {
            (_, 0) => String::new(),
            (some, all) if some == all => format!("  {all}"),
            (some, all) => format!("  {some} of {all}"),
        };
        let mut spans = vec![Span::styled(self.title.clone(), theme::HEADING), Span::styled(count, theme::DIM)];
        if let Some(state) = self.switch.states.get(self.switch.state) {
            spans.push(Span::styled(format!("  {state}"), theme::ACTION));
        }
        rows_of(&Line::from(spans), cells).swap_remove(0)
    }

    fn rows(&self, cells: usize, rows: usize) -> Vec<Line<'static>> {
        if self.fitting.is_empty() {
            let text = if self.items.is_empty() {
                self.empty.clone()
            } else {
                format!("Nothing fits \"{}\"", self.filter.text())
            };
            return wrapped(&text, cells, 2, theme::DIM);
        }
        let window = self.list.window(rows);
        let shown: Vec<&PickerItem> =
            self.fitting[window.clone()].iter().map(|number| &self.items[*number as usize]).collect();
        let label = |item: &PickerItem| visible_line(&item.label);
        let column = shown.iter().map(|item| text_width(&label(item))).max().unwrap_or(0).min(cells * 2 / 3);
        let line = |(offset, item): (usize, &&PickerItem)| {
            let chosen = self.list.selected() == Some(window.start + offset);
            let style = if chosen { theme::SELECTED } else { theme::TEXT };
            let label = cut(&label(item), column);
            let padding = " ".repeat(column - text_width(&label) + 2);
            let detail = cut(&visible_line(&item.detail), cells.saturating_sub(column + 4));
            let mut spans = vec![Span::styled(format!("{} {label}", if chosen { "›" } else { " " }), style)];
            if !detail.is_empty() {
                spans.push(Span::styled(format!("{padding}{detail}"), theme::DIM));
            }
            Line::from(spans)
        };
        shown.iter().enumerate().map(line).collect()
    }

    fn hints(&self, cells: usize) -> Line<'static> {
        let mut all = vec![("↑↓ Enter", "choose")];
        if !self.switch.states.is_empty() {
            let next = (self.switch.state + 1) % self.switch.states.len();
            all.push(("Tab", self.switch.states[next].as_str()));
        }
        all.push(if self.filter.is_empty() { ("Esc", "close") } else { ("Esc", "search again") });
        hints(&all, cells)
    }
}

#[cfg(test)]
#[path = "picker_tests.rs"]
mod tests;
