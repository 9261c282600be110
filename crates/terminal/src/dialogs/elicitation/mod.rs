//! A form that an MCP server asks to have filled in, or an address it asks to have opened.

mod fields;

use super::frame::{fitted, hints, wrapped};
use crate::keys::{Action, Context, Input, Key, Keymap};
use crate::screen::text_width;
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use fields::{FieldInput, FormField, content};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use serde_json::{Map, Value};

#[derive(Clone, Debug, Default)]
pub struct ElicitationPrompt {
    pub server: String,
    pub message: String,
    /// The fields, as a JSON schema of a flat object.
    pub schema: Option<Value>,
    /// Asked to be opened, instead of a form.
    pub url: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationReply {
    Accept(Map<String, Value>),
    Decline,
    Cancel,
}

#[derive(Clone, Debug)]
pub struct ElicitationForm {
    prompt: ElicitationPrompt,
    fields: Vec<FormField>,
    /// A field, or behind the last one the two buttons.
    at: usize,
    error: Option<(usize, String)>,
}

impl ElicitationForm {
    pub fn new(prompt: ElicitationPrompt) -> ElicitationForm {
        let fields = prompt.schema.as_ref().filter(|_| prompt.url.is_none()).map(fields::fields).unwrap_or_default();
        ElicitationForm { prompt, fields, at: 0, error: None }
    }

    fn rows(&self) -> usize {
        self.fields.len() + 2
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<ElicitationReply> {
        match input {
            Input::Key(press) => self.press(press.key, keys),
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                if let Some(FieldInput::Text(field) | FieldInput::Number { field, .. }) =
                    self.fields.get_mut(self.at).map(|field| &mut field.input)
                {
                    field.insert(text);
                }
                Outcome::Changed
            }
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    fn press(&mut self, key: Key, keys: &Keymap) -> Outcome<ElicitationReply> {
        if key == Key::ESC || keys.action(Context::Global, key) == Some(Action::Interrupt) {
            return Outcome::Done(ElicitationReply::Cancel);
        }
        if key == Key::ENTER {
            return self.enter();
        }
        let rows = self.rows();
        match keys.action(Context::Select, key) {
            Some(Action::SelectNext) => self.at = (self.at + 1) % rows,
            Some(Action::SelectPrevious) => self.at = (self.at + rows - 1) % rows,
            _ if keys.action(Context::Confirmation, key) == Some(Action::Amend) => self.at = (self.at + 1) % rows,
            _ if key.code == crossterm::event::KeyCode::BackTab => self.at = (self.at + rows - 1) % rows,
            _ => {
                self.error = None;
                let Some(field) = self.fields.get_mut(self.at) else { return Outcome::Unclaimed };
                if !field.input.key(key, keys) {
                    return Outcome::Unclaimed;
                }
            }
        }
        Outcome::Changed
    }

    fn enter(&mut self) -> Outcome<ElicitationReply> {
        if self.at < self.fields.len() {
            self.at += 1;
            return Outcome::Changed;
        }
        if self.at > self.fields.len() {
            return Outcome::Done(ElicitationReply::Decline);
        }
        match content(&self.fields) {
            Ok(content) => Outcome::Done(ElicitationReply::Accept(content)),
            Err((index, why)) => {
                self.at = index;
                self.error = Some((index, why));
                Outcome::Changed
            }
        }
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let server = visible_line(&self.prompt.server);
        let mut lines = vec![Line::styled(cut(&format!("{server} asks"), cells), theme::HEADING)];
        lines.extend(wrapped(&self.prompt.message, cells, 2, theme::TEXT));
        if let Some(url) = &self.prompt.url {
            lines.extend(wrapped(url, cells, 2, theme::ACTION));
            lines.extend(wrapped("Do not enter anything there that this server must not know.", cells, 2, theme::DIM));
        }
        lines.push(Line::default());
        let mut view = View { lines, cursor: None };
        for (index, field) in self.fields.iter().enumerate() {
            let error = self.error.as_ref().filter(|(at, _)| *at == index).map(|(_, why)| why.as_str());
            view.stack(field.view(cells, self.at == index, error));
        }
        let accept = if self.prompt.url.is_some() { "Open it" } else { "Send" };
        for (offset, label) in [accept, "Decline"].into_iter().enumerate() {
            let chosen = self.at == self.fields.len() + offset;
            if chosen {
                view.cursor = Some(Cursor { column: 2, row: view.height() });
            }
            let style = if chosen { theme::SELECTED } else { theme::TEXT };
            view.lines.push(Line::styled(format!("{} {label}", if chosen { "›" } else { " " }), style));
        }
        view.lines.push(Line::default());
        let change = match self.fields.get(self.at).map(|field| &field.input) {
            Some(FieldInput::Truth(_) | FieldInput::One { .. }) => ("Space ←→", "change"),
            Some(FieldInput::Many { .. }) => ("←→ Space", "mark"),
            _ => ("↑↓", "fields"),
        };
        view.lines.push(hints(&[change, ("Enter", "go on"), ("Esc", "close without an answer")], cells));
        fitted(view, height)
    }
}

impl FieldInput {
    /// Takes a key that changes the value.
    fn key(&mut self, key: Key, keys: &Keymap) -> bool {
        let tabs = keys.action(Context::Tabs, key);
        let space = keys.action(Context::Select, key) == Some(Action::SelectToggle);
        let digit = key.text().and_then(|c| c.to_digit(10)).and_then(|digit| (digit as usize).checked_sub(1));
        match self {
            FieldInput::Text(field) | FieldInput::Number { field, .. } => return field.key(key, keys),
            FieldInput::Truth(truth) => match key.text() {
                Some('y' | 'Y') => *truth = Some(true),
                Some('n' | 'N') => *truth = Some(false),
                _ if space || tabs.is_some() => *truth = Some(!truth.unwrap_or(false)),
                _ => return false,
            },
            FieldInput::One { choices, chosen } => {
                let count = choices.len();
                *chosen = match (tabs, digit) {
                    (_, Some(index)) if index < count => Some(index),
                    (Some(Action::PreviousTab), _) => Some(chosen.map_or(count - 1, |at| (at + count - 1) % count)),
                    (Some(_), _) => Some(chosen.map_or(0, |at| (at + 1) % count)),
                    _ if space => Some(chosen.map_or(0, |at| (at + 1) % count)),
                    _ => return false,
                };
            }
            FieldInput::Many { marked, at, .. } => match (tabs, digit) {
                (_, Some(index)) if index < marked.len() => (*at, marked[index]) = (index, !marked[index]),
                (Some(Action::PreviousTab), _) => *at = (*at + marked.len() - 1) % marked.len(),
                (Some(_), _) => *at = (*at + 1) % marked.len(),
                _ if space => marked[*at] = !marked[*at],
                _ => return false,
            },
            FieldInput::Unsupported(_) => return false,
        }
        true
    }
}

impl FormField {
    fn view(&self, cells: usize, chosen: bool, error: Option<&str>) -> View {
        let style = if chosen { theme::SELECTED } else { theme::TEXT };
        let needed = if self.required { " *" } else { "" };
        let head =
            format!("{} {}{needed}: ", if chosen { "›" } else { " " }, cut(&self.title.replace('\n', " "), cells / 2));
        let used = text_width(&head);
        let room = cells.saturating_sub(used).max(2);
        let mut view = View::default();
        let mut column = used;
        let mut spans = vec![Span::styled(head, style)];
        match &self.input {
            FieldInput::Text(field) | FieldInput::Number { field, .. } => {
                let (text, at) = field.view(room);
                column += at;
                spans.push(Span::raw(text));
            }
            FieldInput::Truth(truth) => {
                let word = truth.map_or("–", |truth| if truth { "yes" } else { "no" });
                spans.push(Span::raw(word));
            }
            FieldInput::One { choices, chosen } => {
                let word = chosen.and_then(|index| choices.get(index)).map_or("–", |choice| choice.title.as_str());
                spans.push(Span::raw(cut(&format!("‹ {} ›", word.replace('\n', " ")), room)));
            }
            FieldInput::Many { choices, marked, at } => {
                let mut written = used;
                for (index, (choice, mark)) in choices.iter().zip(marked).enumerate() {
                    let text = format!("[{}] {}  ", if *mark { "x" } else { " " }, choice.title.replace('\n', " "));
                    if index == *at {
                        column = written + 1;
                    }
                    written += text_width(&text);
                    spans.push(Span::styled(text, if index == *at && chosen { theme::ACTION } else { Style::new() }));
                }
            }
            FieldInput::Unsupported(kind) => {
                spans.push(Span::styled(format!("cannot be filled in here ({kind})"), theme::DIM))
            }
        }
        let line = Line::from(spans);
        view.lines.extend(super::frame::rows_of(&line, cells));
        if chosen {
            view.cursor = Some(Cursor { column: (column % cells) as u16, row: (column / cells) as u16 });
        }
        if let Some(error) = error {
            view.lines.extend(wrapped(error, cells, 4, theme::FAILED));
        } else if !self.help.is_empty() {
            view.lines.extend(wrapped(&self.help, cells, 4, theme::DIM));
        }
        view
    }
}
