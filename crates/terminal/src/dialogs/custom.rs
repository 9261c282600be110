//! A component of a hook module: the lines it has drawn. Each key goes back to it as a terminal would send it.
//!
//! Ctrl+C closes it whatever it does with keys, so that no module can hold the terminal.

use super::frame::fitted;
use crate::keys::{Action, Context, Input, Keymap, sent_as};
use crate::text::cut_line;
use crate::{Cursor, Outcome, View};
use ratatui_core::text::Line;

#[derive(Clone, Debug)]
pub struct CustomDialog {
    lines: Vec<Line<'static>>,
}

impl CustomDialog {
    pub fn new(lines: Vec<Line<'static>>) -> CustomDialog {
        CustomDialog { lines }
    }

    /// Answers with what was typed, or with nothing if it is to close.
    pub fn input(&mut self, input: &Input, keys: &Keymap) -> Outcome<Option<String>> {
        match input {
            Input::Key(press) if keys.action(Context::Global, press.key) == Some(Action::Interrupt) => {
                Outcome::Done(None)
            }
            Input::Key(press) => match sent_as(press.key) {
                Some(bytes) => Outcome::Done(Some(bytes)),
                None => Outcome::Unclaimed,
            },
            Input::Text { text, .. } | Input::Paste { text, .. } => Outcome::Done(Some(text.clone())),
            Input::Resize { .. } | Input::Focus(_) => Outcome::Unclaimed,
        }
    }

    pub fn view(&self, width: u16, height: u16) -> View {
        let lines = self.lines.iter().map(|line| cut_line(line.clone(), usize::from(width))).collect();
        fitted(View { lines, cursor: Some(Cursor::default()) }, height)
    }
}
