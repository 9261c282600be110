//! Vim keys: normal, insert and visual mode over the composer's text.
//!
//! A pure machine: it takes a key and the text and changes the text. Insert mode is the composer's own editing,
//! so keys are only recorded there, for the dot. `motion` says where a motion leads, `object` what a
//! text object spans, `command` what the keys of normal mode do, `visual` those of visual mode.

mod command;
mod motion;
mod object;
mod visual;

use super::buffer::Buffer;
use super::edit::LastEdit;
use super::{Composer, graphemes};
use crate::keys::{Action, Key, Press};
use crossterm::event::KeyCode;
use motion::Find;
use std::ops::Range;
use std::time::Duration;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VimMode {
    #[default]
    Insert,
    Normal,
    Visual,
    VisualLine,
}

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VimOutcome {
    /// Not for the vim keys, or one that both ways of editing have.
    Unclaimed,
    Changed,
    /// `/`: search older prompts.
    Search,
    /// `k` in the first line, `j` in the last.
    HistoryPrevious,
    HistoryNext,
}

/// What waits for a motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Delete,
    Change,
    Yank,
    Indent,
    Outdent,
}

/// What the next key is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Awaiting {
    #[default]
    Command,
    AfterG,
    Find(Find),
    Replace,
    Object {
        around: bool,
    },
}

/// Text that `p` puts back.
#[derive(Clone, Debug, Default)]
struct Register {
    text: String,
    lines: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Vim {
    mode: VimMode,
    awaiting: Awaiting,
    count: Option<usize>,
    operator: Option<Operator>,
    operator_count: Option<usize>,
    register: Register,
    last_find: Option<(Find, char)>,
    /// The other end of a selection.
    anchor: usize,
    /// The keys of the last change, for the dot.
    repeat: Vec<Key>,
    recording: Vec<Key>,
    /// Two characters that leave insert mode.
    remaps: Vec<(char, char)>,
    typed: Option<(char, Duration)>,
}

/// The second character of a remap comes within this time.
const REMAP: Duration = Duration::from_millis(1_000);

impl Vim {
    pub(super) fn mode(&self) -> VimMode {
        self.mode
    }

    pub(super) fn inserts(&self) -> bool {
        self.mode == VimMode::Insert
    }

    pub(super) fn start_inserting(&mut self) {
        self.mode = VimMode::Insert;
        self.forget_keys();
        self.recording.clear();
    }

    fn forget_keys(&mut self) {
        self.awaiting = Awaiting::Command;
        (self.count, self.operator, self.operator_count) = (None, None, None);
    }

    /// Returns the selected bytes of visual mode.
    pub(super) fn selection(&self, buffer: &Buffer) -> Option<Range<usize>> {
        let (text, at) = (buffer.text(), buffer.cursor());
        let anchor = graphemes::floor(text, self.anchor);
        let (start, end) = (at.min(anchor), at.max(anchor));
        match self.mode {
            VimMode::Insert | VimMode::Normal => None,
            VimMode::Visual => Some(start..graphemes::next(text, end)),
            VimMode::VisualLine => Some(graphemes::line_start(text, start)..graphemes::line_end(text, end)),
        }
    }

    fn key(&mut self, key: Key, buffer: &mut Buffer) -> VimOutcome {
        if self.mode == VimMode::Insert {
            return VimOutcome::Unclaimed;
        }
        if key == Key::ESC {
            let idle = self.mode == VimMode::Normal
                && self.awaiting == Awaiting::Command
                && self.operator.is_none()
                && self.count.is_none();
            self.forget_keys();
            self.recording.clear();
            self.mode = VimMode::Normal;
            return if idle { VimOutcome::Unclaimed } else { VimOutcome::Changed };
        }
        let c = match (key.text(), key.code) {
            (Some(c), _) => c,
            (None, KeyCode::Backspace) if key.modifiers.is_empty() => 'h',
            _ => {
                self.forget_keys();
                return VimOutcome::Unclaimed;
            }
        };
        let revision = buffer.revision();
        self.recording.push(Key::char(c));
        let outcome = match self.mode {
            VimMode::Visual | VimMode::VisualLine => self.visual_key(c, buffer),
            _ => self.normal_key(c, buffer),
        };
        let over = self.awaiting == Awaiting::Command && self.operator.is_none() && self.count.is_none();
        if over && self.mode == VimMode::Normal {
            self.keep_on_character(buffer);
            if buffer.revision() != revision && !matches!(c, 'u' | '.') {
                self.repeat = std::mem::take(&mut self.recording);
            }
            self.recording.clear();
        }
        outcome
    }

    /// In normal mode the cursor stands on a character, not behind the last one.
    fn keep_on_character(&self, buffer: &mut Buffer) {
        let (text, at) = (buffer.text(), buffer.cursor());
        if at > graphemes::line_start(text, at) && at == graphemes::line_end(text, at) {
            buffer.move_to(graphemes::previous(text, at));
        }
    }

    fn leave_insert(&mut self, buffer: &mut Buffer) {
        self.mode = VimMode::Normal;
        buffer.begin_step();
        let at = buffer.cursor();
        if at > graphemes::line_start(buffer.text(), at) {
            buffer.move_to(graphemes::previous(buffer.text(), at));
        }
        if !self.recording.is_empty() {
            self.recording.push(Key::ESC);
            self.repeat = std::mem::take(&mut self.recording);
        }
    }
}

impl Composer {
    /// Two characters that mean Escape in insert mode, for instance `jk`.
    pub fn set_vim_remaps(&mut self, remaps: Vec<(char, char)>) {
        if let Some(vim) = &mut self.vim {
            vim.remaps = remaps;
        }
    }

    /// Gives a key to the vim keys, if they are on.
    pub(super) fn vim_key(&mut self, press: Press) -> VimOutcome {
        let Some(vim) = &mut self.vim else { return VimOutcome::Unclaimed };
        if vim.inserts() {
            return self.vim_insert_key(press);
        }
        if press.key == Key::char('.') && vim.awaiting == Awaiting::Command && vim.mode == VimMode::Normal {
            let times = vim.count.take().unwrap_or(1);
            vim.recording.clear();
            for _ in 0..times {
                self.vim_repeat();
            }
            self.after_change();
            return VimOutcome::Changed;
        }
        let revision = self.buffer.revision();
        let outcome = vim.key(press.key, &mut self.buffer);
        if self.buffer.revision() != revision {
            self.history.stop();
        }
        self.last = LastEdit::Other;
        self.follow_cursor();
        outcome
    }

    fn vim_insert_key(&mut self, press: Press) -> VimOutcome {
        let Some(vim) = &mut self.vim else { return VimOutcome::Unclaimed };
        let remapped = vim.typed.zip(press.key.text()).is_some_and(|((first, at), second)| {
            vim.remaps.contains(&(first, second)) && press.at.saturating_sub(at) <= REMAP
        });
        if remapped {
            vim.typed = None;
            vim.recording.pop();
            let at = self.buffer.cursor();
            self.buffer.replace(graphemes::previous(self.buffer.text(), at)..at, "");
        }
        if remapped || press.key == Key::ESC {
            vim.leave_insert(&mut self.buffer);
            self.last = LastEdit::Other;
            self.follow_cursor();
            return VimOutcome::Changed;
        }
        vim.typed = press.key.text().map(|c| (c, press.at));
        if !vim.recording.is_empty() {
            vim.recording.push(press.key);
        }
        VimOutcome::Unclaimed
    }

    /// Records text that arrived in one piece.
    pub(super) fn vim_record(&mut self, text: &str) {
        if let Some(vim) = self.vim.as_mut().filter(|vim| vim.inserts() && !vim.recording.is_empty()) {
            vim.recording.extend(text.chars().map(Key::char));
        }
    }

    /// The dot: does the last change again.
    fn vim_repeat(&mut self) {
        let Some(keys) = self.vim.as_ref().map(|vim| vim.repeat.clone()) else { return };
        for key in &keys {
            let Some(vim) = &mut self.vim else { return };
            if !vim.inserts() {
                vim.key(*key, &mut self.buffer);
            } else if *key == Key::ESC {
                vim.recording.clear();
                vim.leave_insert(&mut self.buffer);
            } else if let KeyCode::Char(c) = key.code
                && key.modifiers.is_empty()
            {
                self.buffer.insert(c.encode_utf8(&mut [0; 4]));
            } else if key.code == KeyCode::Backspace {
                self.edit(Action::DeleteLeft);
            } else if *key == Key::ctrl('j') || key.code == KeyCode::Enter {
                self.buffer.insert("\n");
            }
        }
        if let Some(vim) = &mut self.vim {
            vim.repeat = keys;
            vim.recording.clear();
        }
    }
}

#[cfg(test)]
mod tests;
