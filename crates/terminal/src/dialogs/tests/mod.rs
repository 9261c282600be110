//! State, keys, answer; and what is seen.

mod asking;
mod choosing;
mod forms;
mod picking;

use super::{Dialog, DialogReply, Overlay};
use crate::Outcome;
use crate::composer::tests::screen;
use crate::keys::{Input, Key, Keymap, Press};
use std::time::Duration;

/// A dialog with a hand on the keys.
pub(super) struct Hand {
    pub(super) overlay: Overlay,
    now: Duration,
}

impl Hand {
    pub(super) fn new(dialog: impl Into<Dialog>) -> Hand {
        Hand { overlay: Overlay::asked_for(dialog), now: Duration::ZERO }
    }

    pub(super) fn key(&mut self, key: Key) -> Outcome<DialogReply> {
        self.now += Duration::from_millis(100);
        self.overlay.input(&Input::Key(Press { key, at: self.now }), &Keymap::default())
    }

    /// Presses keys and returns the answers.
    pub(super) fn keys(&mut self, names: &str) -> Vec<DialogReply> {
        let keys = names.split_whitespace().map(|name| name.parse().unwrap_or_else(|_| panic!("{name} is a key")));
        self.press(keys.collect())
    }

    pub(super) fn types(&mut self, text: &str) -> Vec<DialogReply> {
        self.press(text.chars().map(Key::char).collect())
    }

    fn press(&mut self, keys: Vec<Key>) -> Vec<DialogReply> {
        let outcomes = keys.into_iter().map(|key| self.key(key));
        outcomes
            .filter_map(|outcome| match outcome {
                Outcome::Done(reply) => Some(reply),
                Outcome::Changed | Outcome::Unclaimed => None,
            })
            .collect()
    }

    pub(super) fn chunk(&mut self, text: &str) -> Outcome<DialogReply> {
        self.overlay.input(&Input::Text { text: text.to_owned(), at: self.now }, &Keymap::default())
    }

    pub(super) fn screen(&self, width: u16, height: u16) -> String {
        let view = self.overlay.view(width, height);
        assert!(view.lines.len() <= usize::from(height), "{} lines in {height} rows", view.lines.len());
        for line in &view.lines {
            assert!(crate::screen::line_width(line) <= usize::from(width), "{line} is wider than {width}");
        }
        screen(&view)
    }
}
