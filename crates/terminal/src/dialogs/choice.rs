//! A question with a few answers: the part that all dialogs of this kind share.
//!
//! An answer is taken by its digit, its letter, or Enter on it; arrows move. Tab opens a line for a comment on
//! answers that take one. Escape is always the answer that means no. The terminal's own cursor
//! stands on the chosen answer, so that screen readers say it.

use super::frame::{Body, fitted, hints, rows_of, wrapped};
use super::text_field::TextField;
use crate::keys::{Action, Context, Input, Key, Keymap, Press};
use crate::menus::ListCursor;
use crate::screen::text_width;
use crate::text::visible_line;
use crate::theme;
use crate::{Cursor, Outcome, View};
use ratatui_core::text::{Line, Span};

/// One answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChoiceOption {
    pub label: String,
    /// What it means, below the label.
    pub detail: String,
    pub letter: Option<char>,
    /// What to ask for with Tab; no comment without it.
    pub comment: Option<&'static str>,
}

/// What is asked, with what a user needs to see to answer.
#[derive(Clone, Debug, Default)]
pub struct ChoiceQuestion {
    pub title: String,
    /// Beside the title, dim: who asks.
    pub source: String,
    /// What it is about; scrolls if there is too little room.
    pub body: Vec<Line<'static>>,
    /// Below the body: why it is asked.
    pub reason: String,
    /// More about it, shown by Ctrl+E.
    pub details: Vec<Line<'static>>,
    pub options: Vec<ChoiceOption>,
    /// Which is chosen at first.
    pub default: usize,
    /// What Escape means.
    pub escape: usize,
}

/// The answer that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChoiceReply {
    pub option: usize,
    pub comment: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ChoiceDialog {
    question: ChoiceQuestion,
    body: Body,
    details: Option<Body>,
    list: ListCursor,
    /// The comment being written.
    comment: Option<TextField>,
}

impl ChoiceDialog {
    pub fn new(mut question: ChoiceQuestion) -> ChoiceDialog {
        let mut list = ListCursor::new(question.options.len());
        list.select(question.default);
        let body = Body::new(std::mem::take(&mut question.body));
        ChoiceDialog { question, body, details: None, list, comment: None }
    }

    /// Replaces what it is about, for instance drawn for another width.
    pub fn set_body(&mut self, body: Vec<Line<'static>>) {
        self.body.set(body);
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<ChoiceReply> {
        match (input, &mut self.comment) {
            (Input::Key(press), _) => self.press(*press, keys),
            (Input::Text { text, .. } | Input::Paste { text, .. }, Some(field)) => {
                field.insert(text);
                Outcome::Changed
            }
            // Text that arrives in one piece is not an answer.
            (Input::Text { .. } | Input::Paste { .. }, None) => Outcome::Changed,
            (Input::Resize { .. } | Input::Focus(_), _) => Outcome::Unclaimed,
        }
    }

    fn press(&mut self, press: Press, keys: &Keymap) -> Outcome<ChoiceReply> {
        let key = press.key;
        if key == Key::ESC || keys.action(Context::Global, key) == Some(Action::Interrupt) {
            return Outcome::Done(ChoiceReply { option: self.question.escape, comment: None });
        }
        if let Some(field) = &mut self.comment {
            if key == Key::ENTER {
                return self.answer();
            }
            if keys.action(Context::Confirmation, key) == Some(Action::Amend) && key.text().is_none() {
                self.comment = None;
                return Outcome::Changed;
            }
            return if field.key(key, keys) { Outcome::Changed } else { Outcome::Unclaimed };
        }
        if let Some(option) = key.text().and_then(|c| self.option_of(c)) {
            self.list.select(option);
            return self.answer();
        }
        match keys.action(Context::Confirmation, key) {
            Some(Action::Yes) if key == Key::ENTER => return self.answer(),
            Some(Action::No) => return Outcome::Done(ChoiceReply { option: self.question.escape, comment: None }),
            Some(Action::NextChoice) => self.list.next(),
            Some(Action::PreviousChoice) => self.list.previous(),
            Some(Action::Amend) => {
                if self.chosen().is_some_and(|option| option.comment.is_some()) {
                    self.comment = Some(TextField::default());
                }
            }
            Some(Action::Explain) => self.toggle_details(),
            _ => return self.scroll(key, keys),
        }
        Outcome::Changed
    }

    fn scroll(&mut self, key: Key, keys: &Keymap) -> Outcome<ChoiceReply> {
        let body = self.details.as_mut().unwrap_or(&mut self.body);
        match keys.action(Context::Scroll, key) {
            Some(Action::PageUp) => body.page(-1),
            Some(Action::PageDown) => body.page(1),
            Some(Action::ScrollTop) => body.scroll(isize::MIN),
            Some(Action::ScrollBottom) => body.scroll(isize::MAX),
            _ => return Outcome::Unclaimed,
        }
        Outcome::Changed
    }

    /// A digit or a letter takes an answer at once.
    fn option_of(&self, c: char) -> Option<usize> {
        let options = &self.question.options;
        let digit =
            c.to_digit(10).and_then(|digit| (digit as usize).checked_sub(1)).filter(|index| *index < options.len());
        digit.or_else(|| options.iter().position(|option| option.letter == Some(c.to_ascii_lowercase())))
    }

    fn chosen(&self) -> Option<&ChoiceOption> {
        self.question.options.get(self.list.selected()?)
    }

    fn answer(&mut self) -> Outcome<ChoiceReply> {
        let Some(option) = self.list.selected() else { return Outcome::Changed };
        let comment = self.comment.as_ref().map(|field| field.text().trim().to_owned()).filter(|text| !text.is_empty());
        Outcome::Done(ChoiceReply { option, comment })
    }

    fn toggle_details(&mut self) {
        self.details = match self.details {
            Some(_) => None,
            None if self.question.details.is_empty() => None,
            None => Some(Body::new(self.question.details.clone())),
        };
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let mut head = vec![self.title(cells)];
        let reason = wrapped(&self.question.reason, cells, 2, theme::DIM);
        let (options, cursor) = self.options_view(cells);
        let used = head.len() + options.len() + 2 + if self.question.reason.is_empty() { 0 } else { reason.len() + 1 };
        let body = self.details.as_ref().unwrap_or(&self.body);
        let room = usize::from(height).saturating_sub(used + 1);
        if !body.is_empty() && room > 0 {
            let margin = |mut line: Line<'static>| {
                line.spans.insert(0, Span::raw("  "));
                line
            };
            head.extend(body.view(cells - 2, room).into_iter().map(margin));
            head.push(Line::default());
        }
        if !self.question.reason.is_empty() {
            head.extend(reason);
            head.push(Line::default());
        }
        let mut view = View { lines: head, cursor: None };
        view.stack(View { lines: options, cursor: Some(cursor) });
        view.lines.push(Line::default());
        view.lines.push(self.hints(cells));
        fitted(view, height)
    }

    fn title(&self, cells: usize) -> Line<'static> {
        let title = Span::styled(visible_line(&self.question.title), theme::HEADING);
        let mut line = Line::from(vec![title]);
        if !self.question.source.is_empty() {
            let source = visible_line(&self.question.source);
            line.spans.push(Span::styled(format!("  {source}"), theme::DIM));
        }
        rows_of(&line, cells).swap_remove(0)
    }

    fn options_view(&self, cells: usize) -> (Vec<Line<'static>>, Cursor) {
        let mut lines = Vec::new();
        let mut cursor = Cursor::default();
        for (index, option) in self.question.options.iter().enumerate() {
            let chosen = self.list.selected() == Some(index);
            let style = if chosen { theme::SELECTED } else { theme::TEXT };
            let number = format!("{} {}. ", if chosen { "›" } else { " " }, index + 1);
            let indent = text_width(&number);
            if chosen {
                cursor = Cursor { column: 2, row: lines.len() as u16 };
            }
            let mut label = wrapped(&option.label, cells, indent, style);
            if let Some(first) = label.first_mut() {
                let text: String = first.spans.iter().map(|span| span.content.as_ref()).collect();
                *first = Line::styled(format!("{number}{}", &text[indent.min(text.len())..]), style);
            }
            lines.extend(label);
            if !option.detail.is_empty() {
                lines.extend(wrapped(&option.detail, cells, indent, theme::DIM));
            }
            if let Some(field) = self.comment.as_ref().filter(|_| chosen) {
                let prompt = format!("{}{}: ", " ".repeat(indent), option.comment.unwrap_or("Comment"));
                let used = text_width(&prompt);
                let (text, column) = field.view(cells.saturating_sub(used));
                cursor = Cursor { column: (used + column).min(cells) as u16, row: lines.len() as u16 };
                lines.push(Line::from(vec![Span::styled(prompt, theme::DIM), Span::raw(text)]));
            }
        }
        (lines, cursor)
    }

    fn hints(&self, cells: usize) -> Line<'static> {
        if self.comment.is_some() {
            return hints(&[("Enter", "answer with the comment"), ("Tab", "without"), ("Esc", "no")], cells);
        }
        let mut all = vec![("↑↓ Enter", "choose"), ("Esc", "no")];
        if self.chosen().is_some_and(|option| option.comment.is_some()) {
            all.push(("Tab", "comment"));
        }
        if !self.question.details.is_empty() {
            all.push(("Ctrl+E", if self.details.is_some() { "back" } else { "details" }));
        }
        hints(&all, cells)
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
