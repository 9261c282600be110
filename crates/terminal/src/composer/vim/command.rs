//! The keys of normal mode.

use super::super::buffer::Buffer;
use super::super::graphemes;
use super::motion::{self, Find, Span};
use super::{Awaiting, Operator, Register, Vim, VimMode, VimOutcome, object};
use std::ops::Range;

/// What `>` puts in front of a line.
const INDENT: &str = "  ";
/// No hand means more; a larger count would only fill memory.
const MOST: usize = 9_999;

impl Vim {
    pub(super) fn normal_key(&mut self, c: char, buffer: &mut Buffer) -> VimOutcome {
        if self.awaiting != Awaiting::Command {
            return self.awaited_key(c, buffer);
        }
        if self.count_key(c) || self.find_key(c) {
            return VimOutcome::Changed;
        }
        if c == 'g' {
            self.awaiting = Awaiting::AfterG;
            return VimOutcome::Changed;
        }
        if let Some(outcome) = self.operator_key(c, buffer) {
            return outcome;
        }
        if self.operator.is_none() && matches!(c, 'j' | 'k') {
            return self.vertical(c, buffer);
        }
        if let Some((to, span)) = self.motion(c, buffer) {
            self.apply_motion(to, span, buffer);
            return VimOutcome::Changed;
        }
        if self.operator.is_some() {
            // An operator that is followed by anything else is forgotten.
            self.forget_keys();
            return VimOutcome::Changed;
        }
        self.command(c, buffer)
    }

    /// Takes a digit of a count.
    pub(super) fn count_key(&mut self, c: char) -> bool {
        let Some(digit) = c.to_digit(10).filter(|digit| *digit > 0 || self.count.is_some()) else { return false };
        self.count = Some((self.count.unwrap_or(0) * 10 + digit as usize).min(MOST));
        true
    }

    /// Takes the key before the character of `f`, `F`, `t` or `T`.
    pub(super) fn find_key(&mut self, c: char) -> bool {
        let finds = matches!(c, 'f' | 'F' | 't' | 'T');
        if finds {
            self.awaiting = Awaiting::Find(Find { forward: c.is_lowercase(), till: c.eq_ignore_ascii_case(&'t') });
        }
        finds
    }

    fn times(&self) -> usize {
        self.count.unwrap_or(1) * self.operator_count.unwrap_or(1)
    }

    fn operator_key(&mut self, c: char, buffer: &mut Buffer) -> Option<VimOutcome> {
        let operator = match c {
            'd' => Operator::Delete,
            'c' => Operator::Change,
            'y' => Operator::Yank,
            '>' => Operator::Indent,
            '<' => Operator::Outdent,
            'i' | 'a' if self.operator.is_some() => {
                self.awaiting = Awaiting::Object { around: c == 'a' };
                return Some(VimOutcome::Changed);
            }
            _ => return None,
        };
        match self.operator {
            None => {
                self.operator = Some(operator);
                self.operator_count = self.count.take();
            }
            Some(first) if first == operator => {
                let (text, at) = (buffer.text(), buffer.cursor());
                let mut end = at;
                for _ in 1..self.times() {
                    end = (graphemes::line_end(text, end) + 1).min(text.len());
                }
                self.operate(operator, at..end, Span::Lines, buffer);
                self.forget_keys();
            }
            Some(_) => self.forget_keys(),
        }
        Some(VimOutcome::Changed)
    }

    pub(super) fn awaited_key(&mut self, c: char, buffer: &mut Buffer) -> VimOutcome {
        let at = buffer.cursor();
        match std::mem::take(&mut self.awaiting) {
            Awaiting::Command => {}
            Awaiting::AfterG if c == 'g' => {
                let to = motion::line(buffer.text(), self.count.map_or(0, |count| count - 1));
                self.apply_motion(to, Span::Lines, buffer);
                return VimOutcome::Changed;
            }
            Awaiting::AfterG => {}
            Awaiting::Find(find) => {
                self.last_find = Some((find, c));
                if let Some(to) = motion::find(buffer.text(), at, find, c, self.times(), false) {
                    let span = if find.forward { Span::Inclusive } else { Span::Exclusive };
                    self.apply_motion(to, span, buffer);
                    return VimOutcome::Changed;
                }
            }
            Awaiting::Replace => {
                let (start, mut end) = (at, at);
                for _ in 0..self.times() {
                    end = graphemes::next(buffer.text(), end).min(graphemes::line_end(buffer.text(), at));
                }
                if end > start {
                    let count = self.times();
                    step(buffer, start..end, &c.to_string().repeat(count));
                    buffer.move_to(start + c.len_utf8() * (count - 1));
                }
            }
            Awaiting::Object { around } => {
                if let (Some(operator), Some(range)) = (self.operator, object::span(buffer.text(), at, c, around)) {
                    self.operate(operator, range, Span::Exclusive, buffer);
                }
            }
        }
        self.forget_keys();
        VimOutcome::Changed
    }

    /// Moves by rows; at the edges the history goes on.
    pub(super) fn vertical(&mut self, c: char, buffer: &mut Buffer) -> VimOutcome {
        let by = if c == 'j' { 1 } else { -1 };
        let times = self.times();
        self.forget_keys();
        for nth in 0..times {
            if !buffer.move_rows(by) {
                return match (nth, c, self.mode) {
                    (0, 'j', VimMode::Normal) => VimOutcome::HistoryNext,
                    (0, _, VimMode::Normal) => VimOutcome::HistoryPrevious,
                    _ => VimOutcome::Changed,
                };
            }
        }
        VimOutcome::Changed
    }

    /// Returns where a motion leads.
    pub(super) fn motion(&self, c: char, buffer: &Buffer) -> Option<(usize, Span)> {
        let (text, at, times) = (buffer.text(), buffer.cursor(), self.times());
        let repeat = |from: usize, step: &dyn Fn(usize) -> usize| (0..times).fold(from, |at, _| step(at));
        let (start, end) = (graphemes::line_start(text, at), graphemes::line_end(text, at));
        Some(match c {
            'h' => (repeat(at, &|at| if at > start { graphemes::previous(text, at) } else { at }), Span::Exclusive),
            'l' | ' ' => (repeat(at, &|at| if at < end { graphemes::next(text, at) } else { at }), Span::Exclusive),
            // What `cw` changes ends with the word, as if it were `ce`.
            'w' | 'W' if self.operator == Some(Operator::Change) && !text[at..].starts_with(char::is_whitespace) => {
                let last = graphemes::previous(text, motion::run(text, at, c == 'W').end).max(at);
                ((1..times).fold(last, |at, _| motion::word_end(text, at, c == 'W')), Span::Inclusive)
            }
            'w' | 'W' => {
                let to = repeat(at, &|at| motion::next_word(text, at, c == 'W'));
                // The last word of a line takes its line end along only when lines are meant.
                let to = if self.operator.is_some() && to > end && at < end && times == 1 { end } else { to };
                (to, Span::Exclusive)
            }
            'e' | 'E' => (repeat(at, &|at| motion::word_end(text, at, c == 'E')), Span::Inclusive),
            'b' | 'B' => (repeat(at, &|at| motion::previous_word(text, at, c == 'B')), Span::Exclusive),
            '0' => (start, Span::Exclusive),
            '^' => (motion::first_nonblank(text, at), Span::Exclusive),
            '$' => {
                let last = (1..times).fold(end, |end, _| graphemes::line_end(text, (end + 1).min(text.len())));
                (last, Span::Exclusive)
            }
            'G' => {
                let to = self
                    .count
                    .map_or_else(|| motion::line(text, usize::MAX - 1), |count| motion::line(text, count - 1));
                (to, Span::Lines)
            }
            'j' => {
                let to = (0..times).fold(at, |at, _| (graphemes::line_end(text, at) + 1).min(text.len()));
                (to, Span::Lines)
            }
            'k' => (repeat(at, &|at| graphemes::line_start(text, at).saturating_sub(1)), Span::Lines),
            ';' | ',' => {
                let (mut find, wanted) = self.last_find?;
                find.forward ^= c == ',';
                let to = motion::find(text, at, find, wanted, times, true).unwrap_or(at);
                (to, if find.forward && to != at { Span::Inclusive } else { Span::Exclusive })
            }
            _ => return None,
        })
    }

    pub(super) fn apply_motion(&mut self, to: usize, span: Span, buffer: &mut Buffer) {
        match self.operator {
            None => buffer.move_to(to),
            Some(operator) => {
                let at = buffer.cursor();
                self.operate(operator, at.min(to)..at.max(to), span, buffer);
            }
        }
        self.forget_keys();
    }

    /// Does an operator on what a motion passed over.
    pub(super) fn operate(&mut self, operator: Operator, range: Range<usize>, span: Span, buffer: &mut Buffer) {
        let text = buffer.text();
        let range = match span {
            Span::Exclusive => range,
            Span::Inclusive => range.start..graphemes::next(text, range.end),
            Span::Lines => motion::lines(text, range),
        };
        let lines = span == Span::Lines;
        match operator {
            Operator::Indent | Operator::Outdent => return indent(operator == Operator::Indent, range, buffer),
            Operator::Delete | Operator::Change | Operator::Yank => {
                self.register = Register { text: text[range.clone()].to_owned(), lines };
            }
        }
        match operator {
            Operator::Yank if lines => {}
            Operator::Yank => buffer.move_to(range.start),
            Operator::Change => {
                let start = if lines { motion::first_nonblank(text, range.start).min(range.end) } else { range.start };
                step(buffer, start..range.end, "");
                self.mode = VimMode::Insert;
            }
            _ if lines => {
                // The line end goes along: the one behind, or at the end of the text the one before.
                let whole = match (range.end < text.len(), range.start) {
                    (true, start) => start..range.end + 1,
                    (false, 0) => range,
                    (false, start) => start - 1..range.end,
                };
                step(buffer, whole.clone(), "");
                let at = motion::first_nonblank(buffer.text(), whole.start.min(buffer.text().len()));
                buffer.move_to(at);
            }
            _ => {
                step(buffer, range.clone(), "");
                buffer.move_to(range.start);
            }
        }
    }

    fn command(&mut self, c: char, buffer: &mut Buffer) -> VimOutcome {
        let (text, at, times) = (buffer.text(), buffer.cursor(), self.times());
        let (start, end) = (graphemes::line_start(text, at), graphemes::line_end(text, at));
        let right = |count: usize| (0..count).fold(at, |at, _| if at < end { graphemes::next(text, at) } else { at });
        let left =
            |count: usize| (0..count).fold(at, |at, _| if at > start { graphemes::previous(text, at) } else { at });
        match c {
            'r' => {
                self.awaiting = Awaiting::Replace;
                return VimOutcome::Changed;
            }
            'i' => self.insert_at(at, buffer),
            'I' => self.insert_at(motion::first_nonblank(text, at), buffer),
            'a' => self.insert_at(right(1), buffer),
            'A' => self.insert_at(end, buffer),
            'o' => {
                step(buffer, end..end, "\n");
                self.mode = VimMode::Insert;
            }
            'O' => {
                step(buffer, start..start, "\n");
                self.insert_at(start, buffer);
            }
            'v' => (self.mode, self.anchor) = (VimMode::Visual, at),
            'V' => (self.mode, self.anchor) = (VimMode::VisualLine, at),
            'x' => self.operate(Operator::Delete, at..right(times), Span::Exclusive, buffer),
            'X' => self.operate(Operator::Delete, left(times)..at, Span::Exclusive, buffer),
            's' => self.operate(Operator::Change, at..right(times), Span::Exclusive, buffer),
            'S' => self.operate(Operator::Change, at..at, Span::Lines, buffer),
            'D' => self.operate(Operator::Delete, at..end, Span::Exclusive, buffer),
            'C' => self.operate(Operator::Change, at..end, Span::Exclusive, buffer),
            'Y' => self.operate(Operator::Yank, at..at, Span::Lines, buffer),
            'p' | 'P' => self.put(c == 'p', times, buffer),
            'J' => join(at..at, times.max(2) - 1, buffer),
            '~' => {
                let range = at..right(times);
                let swapped = swap_case(&text[range.clone()]);
                step(buffer, range, &swapped);
            }
            'u' => {
                for _ in 0..times {
                    buffer.undo();
                }
            }
            '/' => {
                self.forget_keys();
                return VimOutcome::Search;
            }
            // The keys of the composer that mean nothing to vim.
            '?' | '!' | '#' if text.is_empty() => {
                self.mode = VimMode::Insert;
                return VimOutcome::Unclaimed;
            }
            _ => {}
        }
        self.forget_keys();
        VimOutcome::Changed
    }

    fn insert_at(&mut self, at: usize, buffer: &mut Buffer) {
        buffer.move_to(at);
        buffer.begin_step();
        self.mode = VimMode::Insert;
    }

    pub(super) fn put(&mut self, after: bool, times: usize, buffer: &mut Buffer) {
        let Register { text, lines } = self.register.clone();
        if text.is_empty() && !lines {
            return;
        }
        let at = buffer.cursor();
        let (start, end) = (graphemes::line_start(buffer.text(), at), graphemes::line_end(buffer.text(), at));
        if !lines {
            let place = if after && at < end { graphemes::next(buffer.text(), at) } else { at };
            let put = text.repeat(times);
            step(buffer, place..place, &put);
            buffer.move_to(graphemes::previous(buffer.text(), place + put.len()));
        } else if after {
            let put = format!("\n{text}").repeat(times);
            step(buffer, end..end, &put);
            buffer.move_to(motion::first_nonblank(buffer.text(), end + 1));
        } else {
            let put = format!("{text}\n").repeat(times);
            step(buffer, start..start, &put);
            buffer.move_to(motion::first_nonblank(buffer.text(), start));
        }
    }
}

/// Changes the text as one step of undo.
pub(super) fn step(buffer: &mut Buffer, range: Range<usize>, with: &str) {
    buffer.begin_step();
    buffer.replace(range, with);
}

pub(super) fn indent(more: bool, lines: Range<usize>, buffer: &mut Buffer) {
    let changed: Vec<String> = buffer.text()[lines.clone()]
        .split('\n')
        .map(|line| match more {
            true if line.is_empty() => String::new(),
            true => format!("{INDENT}{line}"),
            false => {
                let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
                let tab = usize::from(line.starts_with('\t'));
                line[if tab == 1 { 1 } else { blank.min(INDENT.len()) }..].to_owned()
            }
        })
        .collect();
    step(buffer, lines.clone(), &changed.join("\n"));
    buffer.move_to(motion::first_nonblank(buffer.text(), lines.start));
}

/// `J`: joins lines with one space.
pub(super) fn join(range: Range<usize>, joints: usize, buffer: &mut Buffer) {
    buffer.begin_step();
    let mut at = range.start;
    for _ in 0..joints {
        let text = buffer.text();
        let end = graphemes::line_end(text, at);
        if end == text.len() {
            break;
        }
        let next = end + 1 + (text[end + 1..].len() - text[end + 1..].trim_start_matches([' ', '\t']).len());
        let space =
            if text[..end].ends_with(char::is_whitespace) || text[next..].starts_with('\n') || next == text.len() {
                ""
            } else {
                " "
            };
        buffer.replace(end..next, space);
        buffer.move_to(end);
        at = end;
    }
}

pub(super) fn swap_case(text: &str) -> String {
    text.chars()
        .flat_map(|c| -> Vec<char> {
            if c.is_lowercase() { c.to_uppercase().collect() } else { c.to_lowercase().collect() }
        })
        .collect()
}
