//! Questions of the model: one tab for each, and the user's own words for every answer.

use super::frame::{fitted, hints, wrapped};
use super::text_field::TextField;
use crate::keys::{Action, Context, Input, Key, Keymap};
use crate::menus::ListCursor;
use crate::text::{cut, visible_line};
use crate::theme;
use crate::{Cursor, Outcome, View};
use crossterm::event::KeyCode;
use ratatui_core::text::{Line, Span};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedQuestion {
    pub question: String,
    /// A word or two for its tab.
    pub header: String,
    pub options: Vec<AskedOption>,
    /// Several options may be marked.
    pub multiple: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedOption {
    pub label: String,
    pub description: String,
    /// Shown while the option is looked at.
    pub preview: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuestionReply {
    /// Question and answer, for all of them; several labels are joined by a comma.
    Answered(Vec<(String, String)>),
    Declined,
}

#[derive(Clone, Debug)]
struct Asked {
    question: AskedQuestion,
    list: ListCursor,
    marked: Vec<bool>,
    /// The user's own words.
    other: TextField,
    answer: Option<String>,
}

#[derive(Clone, Debug)]
pub struct QuestionDialog {
    asked: Vec<Asked>,
    tab: usize,
}

const OTHER: &str = "Something else";

impl QuestionDialog {
    pub fn new(questions: Vec<AskedQuestion>) -> QuestionDialog {
        let asked = questions.into_iter().map(|question| Asked {
            list: ListCursor::new(question.options.len() + 1),
            marked: vec![false; question.options.len()],
            other: TextField::default(),
            answer: None,
            question,
        });
        QuestionDialog { asked: asked.collect(), tab: 0 }
    }

    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<QuestionReply> {
        let Some(asked) = self.asked.get_mut(self.tab) else { return Outcome::Done(QuestionReply::Declined) };
        match input {
            Input::Key(press) => self.press(press.key, keys),
            Input::Text { text, .. } | Input::Paste { text, .. } => {
                if asked.writes() {
                    asked.other.insert(text);
                }
                Outcome::Changed
            }
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    fn press(&mut self, key: Key, keys: &Keymap) -> Outcome<QuestionReply> {
        let asked = &mut self.asked[self.tab];
        if key == Key::ESC || keys.action(Context::Global, key) == Some(Action::Interrupt) {
            return Outcome::Done(QuestionReply::Declined);
        }
        let writes = asked.writes();
        let vertical =
            matches!(key.code, KeyCode::Up | KeyCode::Down | KeyCode::Enter | KeyCode::Tab | KeyCode::BackTab);
        if writes && !vertical {
            if asked.other.key(key, keys) {
                return Outcome::Changed;
            }
            return Outcome::Unclaimed;
        }
        if let Some(index) = key.text().and_then(|c| c.to_digit(10)).and_then(|digit| (digit as usize).checked_sub(1)) {
            if index < asked.list.len() {
                asked.list.select(index);
                match (asked.question.multiple, asked.marked.get_mut(index)) {
                    (true, Some(mark)) => *mark = !*mark,
                    (false, Some(_)) => return self.take(),
                    (_, None) => {}
                }
            }
            return Outcome::Changed;
        }
        match keys.action(Context::Select, key) {
            Some(Action::SelectNext) => asked.list.next(),
            Some(Action::SelectPrevious) => asked.list.previous(),
            Some(Action::SelectAccept) => return self.take(),
            Some(Action::SelectToggle) => {
                let selected = asked.list.selected();
                match selected.and_then(|index| asked.marked.get_mut(index)).filter(|_| asked.question.multiple) {
                    Some(mark) => *mark = !*mark,
                    None => return self.take(),
                }
            }
            _ => match keys.action(Context::Tabs, key) {
                Some(Action::NextTab) => self.tab = (self.tab + 1).min(self.asked.len() - 1),
                Some(Action::PreviousTab) => self.tab = self.tab.saturating_sub(1),
                _ => return Outcome::Unclaimed,
            },
        }
        Outcome::Changed
    }

    /// Takes the answer of this tab and goes on to the next without one.
    fn take(&mut self) -> Outcome<QuestionReply> {
        let asked = &mut self.asked[self.tab];
        let Some(answer) = asked.chosen() else { return Outcome::Changed };
        asked.answer = Some(answer);
        let count = self.asked.len();
        let open = (0..count).map(|offset| (self.tab + offset) % count).find(|tab| self.asked[*tab].answer.is_none());
        if let Some(tab) = open {
            self.tab = tab;
            return Outcome::Changed;
        }
        let answers =
            self.asked.iter().map(|asked| (asked.question.question.clone(), asked.answer.clone().unwrap_or_default()));
        Outcome::Done(QuestionReply::Answered(answers.collect()))
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let cells = usize::from(width).max(10);
        let Some(asked) = self.asked.get(self.tab) else { return View::default() };
        let mut lines = Vec::new();
        if self.asked.len() > 1 {
            lines.push(self.tabs(cells));
            lines.push(Line::default());
        }
        lines.extend(wrapped(&asked.question.question, cells, 0, theme::HEADING));
        lines.push(Line::default());
        let mut view = View { lines, cursor: None };
        view.stack(asked.view(cells));
        view.lines.push(Line::default());
        view.lines.push(match (asked.question.multiple, self.asked.len() > 1) {
            (true, _) => hints(&[("Space", "mark"), ("Enter", "take what is marked"), ("Esc", "do not answer")], cells),
            (false, true) => hints(&[("Enter", "choose"), ("←→", "other questions"), ("Esc", "do not answer")], cells),
            (false, false) => hints(&[("↑↓ Enter", "choose"), ("Esc", "do not answer")], cells),
        });
        fitted(view, height)
    }

    fn tabs(&self, cells: usize) -> Line<'static> {
        let mut spans = Vec::new();
        for (tab, asked) in self.asked.iter().enumerate() {
            let done = if asked.answer.is_some() { "✓ " } else { "" };
            let name = if asked.question.header.is_empty() {
                format!("{}", tab + 1)
            } else {
                visible_line(&asked.question.header)
            };
            let style = if tab == self.tab { theme::SELECTED.patch(theme::MATCH) } else { theme::DIM };
            spans.push(Span::styled(format!(" {done}{} ", cut(&name.replace('\n', " "), 20)), style));
            spans.push(Span::raw(" "));
        }
        super::frame::rows_of(&Line::from(spans), cells).swap_remove(0)
    }
}

impl Asked {
    /// Whether keys go into the user's own words.
    fn writes(&self) -> bool {
        self.list.selected() == Some(self.question.options.len())
    }

    /// Returns the answer as it stands, if there is one.
    fn chosen(&self) -> Option<String> {
        let other = self.other.text().trim();
        if self.question.multiple {
            let marked = self.marked.iter().zip(&self.question.options).filter(|(mark, _)| **mark);
            let mut labels: Vec<&str> = marked.map(|(_, option)| option.label.as_str()).collect();
            labels.extend((!other.is_empty()).then_some(other));
            if labels.is_empty() && !self.writes() {
                labels.push(&self.question.options.get(self.list.selected()?)?.label);
            }
            return (!labels.is_empty()).then(|| labels.join(", "));
        }
        match self.writes() {
            true => (!other.is_empty()).then(|| other.to_owned()),
            false => self.question.options.get(self.list.selected()?).map(|option| option.label.clone()),
        }
    }

    fn view(&self, cells: usize) -> View {
        let mut view = View::default();
        let selected = self.list.selected();
        for (index, option) in self.question.options.iter().enumerate() {
            let chosen = selected == Some(index);
            let style = if chosen { theme::SELECTED } else { theme::TEXT };
            let mark = match (self.question.multiple, self.marked[index]) {
                (true, true) => "[x] ",
                (true, false) => "[ ] ",
                (false, _) => "",
            };
            if chosen {
                view.cursor = Some(Cursor { column: 2, row: view.height() });
            }
            let number = format!("{} {}. {mark}", if chosen { "›" } else { " " }, index + 1);
            let label = visible_line(&option.label);
            view.lines.push(Line::styled(cut(&format!("{number}{label}"), cells), style));
            if !option.description.is_empty() {
                view.lines.extend(wrapped(&option.description, cells, 5, theme::DIM));
            }
            if chosen && !option.preview.is_empty() {
                view.lines.extend(wrapped(&option.preview, cells, 5, theme::TEXT));
            }
        }
        let chosen = self.writes();
        let number = format!("{} {}. ", if chosen { "›" } else { " " }, self.question.options.len() + 1);
        let style = if chosen { theme::SELECTED } else { theme::TEXT };
        if !chosen && self.other.is_empty() {
            view.lines.push(Line::styled(format!("{number}{OTHER}"), style));
            return view;
        }
        let prompt = format!("{number}{OTHER}: ");
        let used = prompt.chars().count();
        let (text, column) = self.other.view(cells.saturating_sub(used));
        if chosen {
            view.cursor = Some(Cursor { column: (used + column) as u16, row: view.height() });
        }
        view.lines.push(Line::from(vec![Span::styled(prompt, style), Span::raw(text)]));
        view
    }
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
