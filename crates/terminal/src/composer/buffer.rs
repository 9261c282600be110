//! The text being written: its cursor, its undo, and where its rows are.
//!
//! Every change goes through [`Buffer::replace`], which keeps the cursor on the boundary of a character, the
//! rows in step and the change in the undo list. Which key makes which change is decided in
//! `edit` and `vim`.

use super::chips::Chips;
use super::graphemes;
use super::rows::Rows;
use std::collections::VecDeque;
use std::ops::Range;

/// One change, enough to do it both ways.
#[derive(Clone, Debug)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
    cursor: usize,
    /// Changes of one group are undone together.
    group: u64,
}

/// Changes that can be undone.
const KEPT_CHANGES: usize = 5_000;

#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    text: String,
    cursor: usize,
    rows: Rows,
    pub(crate) chips: Chips,
    undo: VecDeque<Change>,
    redo: Vec<Change>,
    group: u64,
    /// Counts the changes.
    revision: u64,
    /// The column that moving up and down aims at.
    goal: Option<usize>,
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer {
            text: String::new(),
            cursor: 0,
            rows: Rows::new(80),
            chips: Chips::default(),
            undo: VecDeque::new(),
            redo: Vec::new(),
            group: 0,
            revision: 0,
            goal: None,
        }
    }
}

impl Buffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) fn set_width(&mut self, width: usize) {
        self.rows.set_width(width, &self.text, &self.chips, self.cursor);
    }

    /// Moves the cursor to the character that holds `at`.
    pub(crate) fn move_to(&mut self, at: usize) {
        self.cursor = graphemes::floor(&self.text, at);
        self.rows.repair(self.cursor, &self.text, &self.chips);
        self.goal = None;
    }

    /// Begins a step of its own for undo.
    pub(crate) fn begin_step(&mut self) {
        self.group += 1;
    }

    /// Replaces a range and leaves the cursor behind what was put in.
    pub(crate) fn replace(&mut self, range: Range<usize>, with: &str) {
        if range.is_empty() && with.is_empty() {
            return;
        }
        let removed = self.text[range.clone()].to_owned();
        let change =
            Change { at: range.start, removed, inserted: with.to_owned(), cursor: self.cursor, group: self.group };
        self.apply(change.at, change.removed.len(), with);
        self.redo.clear();
        if !self.joins(&change) {
            if self.undo.len() == KEPT_CHANGES {
                self.undo.pop_front();
            }
            self.undo.push_back(change);
        }
        self.move_to(range.start + with.len());
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.replace(self.cursor..self.cursor, text);
    }

    /// Replaces everything, as one step.
    pub(crate) fn set(&mut self, text: &str) {
        self.begin_step();
        self.replace(0..self.text.len(), text);
        self.begin_step();
    }

    /// Adds typed characters to the change before, so that each is not a step of its own.
    fn joins(&mut self, change: &Change) -> bool {
        let Some(last) = self.undo.back_mut() else { return false };
        let follows =
            last.group == change.group && change.removed.is_empty() && last.at + last.inserted.len() == change.at;
        if follows {
            last.inserted.push_str(&change.inserted);
        }
        follows
    }

    fn apply(&mut self, at: usize, removed: usize, inserted: &str) {
        self.revision += 1;
        self.text.replace_range(at..at + removed, inserted);
        self.rows.edited(at, removed, inserted.len(), &self.text, &self.chips);
    }

    /// Takes back the last step. Returns whether there was one.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(group) = self.undo.back().map(|change| change.group) else { return false };
        while let Some(change) = self.undo.pop_back_if(|change| change.group == group) {
            self.apply(change.at, change.inserted.len(), &change.removed);
            self.move_to(change.cursor);
            self.redo.push(change);
        }
        self.begin_step();
        true
    }

    /// Does again what was undone last. Returns whether there was something.
    pub(crate) fn redo(&mut self) -> bool {
        let Some(group) = self.redo.last().map(|change| change.group) else { return false };
        while let Some(change) = self.redo.pop_if(|change| change.group == group) {
            self.apply(change.at, change.removed.len(), &change.inserted);
            self.move_to(change.at + change.inserted.len());
            self.undo.push_back(change);
        }
        self.begin_step();
        true
    }

    pub(crate) fn forget_changes(&mut self) {
        self.undo.clear();
        self.redo.clear();
    }

    /// Returns the row of the cursor and the cells before it.
    pub(crate) fn position(&self) -> (usize, usize) {
        let row = self.rows.of(self.cursor);
        (row, self.cells(self.rows.start(row)..self.cursor))
    }

    fn cells(&self, range: Range<usize>) -> usize {
        let mut at = range.start;
        let mut cells = 0;
        while at < range.end {
            let end = graphemes::next(&self.text, at);
            cells += self.chips.width(&self.text[at..end]);
            at = end;
        }
        cells
    }

    /// Moves the cursor by rows. Returns false, and moves nothing, at the first or last one.
    pub(crate) fn move_rows(&mut self, by: isize) -> bool {
        let (row, column) = self.position();
        let Some(target) = row.checked_add_signed(by).filter(|row| *row < self.rows.count()) else { return false };
        let goal = self.goal.unwrap_or(column);
        let range = self.rows.range(target, &self.text);
        // The end of a row that goes on is the start of the next one, so the cursor stays before it.
        let soft = self.rows.count() > target + 1 && self.rows.start(target + 1) == range.end;
        let last = if soft { graphemes::previous(&self.text, range.end) } else { range.end };
        let mut at = range.start;
        let mut cells = 0;
        while at < last {
            let end = graphemes::next(&self.text, at);
            cells += self.chips.width(&self.text[at..end]);
            if cells > goal {
                break;
            }
            at = end;
        }
        self.cursor = at.min(last);
        self.rows.repair(self.cursor, &self.text, &self.chips);
        self.goal = Some(goal);
        true
    }
}

#[cfg(test)]
#[path = "buffer_tests.rs"]
mod tests;
