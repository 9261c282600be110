//! What the editing keys do to the text.

use super::kill_ring::Side;
use super::{Composer, InputMode, graphemes};
use crate::keys::Action;
use std::ops::Range;

/// What the key before did, as far as the next one cares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LastEdit {
    Other,
    Typed,
    Cut,
    /// Put back the n-th newest cut, into this range.
    Yanked {
        nth: usize,
        range: Range<usize>,
    },
}

impl Composer {
    /// Does an editing action. Returns false if it is not one.
    pub(super) fn edit(&mut self, action: Action) -> bool {
        let last = std::mem::replace(&mut self.last, LastEdit::Other);
        let before = self.buffer.revision();
        let (text, at) = (self.buffer.text(), self.buffer.cursor());
        match action {
            Action::Left => self.go(graphemes::previous(text, at)),
            Action::Right => self.go(graphemes::next(text, at)),
            Action::WordLeft => self.go(graphemes::word_start(text, at)),
            Action::WordRight => self.go(graphemes::word_end(text, at)),
            Action::LineStart => self.go(graphemes::line_start(text, at)),
            Action::LineEnd => self.go(graphemes::line_end(text, at)),
            Action::TextStart => self.go(0),
            Action::TextEnd => self.go(text.len()),
            Action::DeleteLeft if at == 0 => self.mode = InputMode::Prompt,
            Action::DeleteLeft => self.delete(graphemes::previous(text, at)..at),
            Action::DeleteRight => self.delete(at..graphemes::next(text, at)),
            Action::DeleteWordLeft => self.cut(graphemes::word_start(text, at)..at, Side::Before, &last),
            Action::DeleteBigWordLeft => self.cut(graphemes::big_word_start(text, at)..at, Side::Before, &last),
            Action::DeleteWordRight => self.cut(at..graphemes::word_end(text, at), Side::After, &last),
            Action::KillLineStart if text.is_empty() => self.mode = InputMode::Prompt,
            Action::KillLineStart => {
                let start = graphemes::line_start(text, at);
                // At the start of a line the line end before it goes, so that the key always does something.
                let start = if start == at { graphemes::previous(text, at) } else { start };
                self.cut(start..at, Side::Before, &last);
            }
            Action::KillLineEnd => {
                let end = graphemes::line_end(text, at);
                let end = if end == at { graphemes::next(text, at) } else { end };
                self.cut(at..end, Side::After, &last);
            }
            Action::Yank => self.yank(0, at..at),
            Action::YankPop => {
                if let LastEdit::Yanked { nth, range } = last {
                    self.yank(nth + 1, range);
                }
            }
            Action::Undo => drop(self.buffer.undo()),
            Action::Redo => drop(self.buffer.redo()),
            Action::Newline => self.write("\n"),
            Action::ExpandPaste => self.expand_paste(),
            _ => {
                self.last = last;
                return false;
            }
        }
        if !matches!(action, Action::Undo | Action::Redo) && self.last != LastEdit::Typed {
            self.buffer.begin_step();
        }
        if self.buffer.revision() != before {
            self.history.stop();
        }
        self.after_change();
        true
    }

    fn go(&mut self, at: usize) {
        self.buffer.move_to(at);
    }

    fn delete(&mut self, range: Range<usize>) {
        self.buffer.begin_step();
        self.buffer.replace(range, "");
    }

    fn cut(&mut self, range: Range<usize>, side: Side, last: &LastEdit) {
        let text = self.buffer.text()[range.clone()].to_owned();
        match last {
            LastEdit::Cut => self.kills.join(&text, side),
            _ => self.kills.push(&text),
        }
        self.delete(range);
        self.last = LastEdit::Cut;
    }

    fn yank(&mut self, nth: usize, range: Range<usize>) {
        let Some(text) = self.kills.get(nth).map(str::to_owned) else { return };
        self.buffer.begin_step();
        self.buffer.replace(range.clone(), &text);
        self.last = LastEdit::Yanked { nth, range: range.start..range.start + text.len() };
    }

    /// Writes typed text. Each word is a step of its own for undo.
    pub(super) fn write(&mut self, text: &str) {
        let before = self.buffer.text()[..self.buffer.cursor()].chars().next_back();
        let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        // With vim keys a step is what was done from one Escape to the next.
        let word = self.last != LastEdit::Typed || (space(before) && !space(text.chars().next()));
        if word && self.vim.is_none() {
            self.buffer.begin_step();
        }
        self.buffer.insert(text);
        self.last = LastEdit::Typed;
        self.history.stop();
    }

    pub(super) fn insert_chip(&mut self, chip: char) {
        self.insert_as_step(&format!("{chip} "));
    }

    pub(super) fn insert_as_step(&mut self, text: &str) {
        self.buffer.begin_step();
        self.buffer.insert(text);
        self.buffer.begin_step();
        self.last = LastEdit::Other;
        self.history.stop();
        self.after_change();
    }

    /// Puts a folded paste in full: the one at the cursor, else the only one there is.
    fn expand_paste(&mut self) {
        let (text, at) = (self.buffer.text(), self.buffer.cursor());
        let is_paste = |c: &char| self.buffer.chips.paste(*c).is_some();
        let beside = text[at..].chars().next().filter(is_paste).map(|c| (at, c));
        let before = text[..at].char_indices().next_back().filter(|(_, c)| is_paste(c));
        let mut all = text.char_indices().filter(|(_, c)| is_paste(c));
        let found = beside.or(before).or_else(|| all.next_back());
        if let Some((at, chip)) = found {
            self.unfold(at, chip);
        }
    }

    pub(super) fn unfold(&mut self, at: usize, chip: char) {
        if let Some(text) = self.buffer.chips.paste(chip) {
            self.buffer.begin_step();
            self.buffer.replace(at..at + chip.len_utf8(), &text);
            self.buffer.begin_step();
        }
    }
}
