//! One line of text, asked for by a command or a hook module.

use super::frame::{fitted, hints, wrapped};
use super::text_field::TextField;
use crate::keys::{Action, Context, Input, Key, Keymap};
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use ratatui_core::text::{Line, Span};

#[derive(Clone, Debug)]
pub struct InputDialog {
    title: String,
    placeholder: String,
    field: TextField,
    secret: bool,
}

impl InputDialog {
    pub fn new(title: &str, placeholder: &str, text: &str) -> InputDialog {
        InputDialog {
            title: title.to_owned(),
            placeholder: visible_line(placeholder),
            field: TextField::new(text),
            secret: false,
        }
    }

    /// What is typed is not shown.
    #[must_use]
    pub fn secret(mut self, secret: bool) -> InputDialog {
        self.secret = secret;
        self
    }

    /// Answers with the text, or with nothing for Escape.
    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<Option<String>> {
        let press = match input {
            Input::Key(press) => press,
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                self.field.insert(text);
                return Outcome::Changed;
            }
            Input::Resize { .. } | Input::Focus(_) => return Outcome::Unclaimed,
        };
        match press.key {
            Key::ENTER => Outcome::Done(Some(self.field.text().to_owned())),
            key if key == Key::ESC || keys.action(Context::Global, key) == Some(Action::Interrupt) => {
                Outcome::Done(None)
            }
            key if self.field.key(key, keys) => Outcome::Changed,
            _ => Outcome::Unclaimed,
        }
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let mut view = View { lines: wrapped(&self.title, cells, 0, theme::HEADING), cursor: None };
        let (text, column) = match self.secret {
            // Not even its length.
            true => ("•".repeat(self.field.text().chars().count().min(8)), self.field.text().chars().count().min(8)),
            false => self.field.view(cells - 2),
        };
        let text = match self.field.is_empty() {
            true => Span::styled(cut(&self.placeholder, cells - 2), theme::DIM),
            false => Span::raw(text),
        };
        view.cursor = Some(Cursor { column: (2 + column) as u16, row: view.height() });
        view.lines.push(Line::from(vec![Span::styled("› ", theme::ACTION), text]));
        view.lines.push(Line::default());
        view.lines.push(hints(&[("Enter", "take it"), ("Esc", "close")], cells));
        fitted(view, height)
    }
}
