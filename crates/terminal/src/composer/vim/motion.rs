//! Where a motion leads.

use super::super::graphemes;
use std::ops::Range;

/// `f`, `F`, `t` and `T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Find {
    pub(super) forward: bool,
    pub(super) till: bool,
}

/// How an operator takes what a motion passes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span {
    Exclusive,
    Inclusive,
    Lines,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Word,
    Other,
}

fn class(c: char, big: bool) -> Class {
    match c {
        c if c.is_whitespace() => Class::Space,
        _ if big => Class::Word,
        c if c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Other,
    }
}

fn class_at(text: &str, at: usize, big: bool) -> Option<Class> {
    text[at..].chars().next().map(|c| class(c, big))
}

/// `w`: the start of the next word. An empty line is a word.
pub(super) fn next_word(text: &str, at: usize, big: bool) -> usize {
    let Some(here) = class_at(text, at, big) else { return at };
    let mut to = at;
    while to < text.len() && class_at(text, to, big) == Some(here) && here != Class::Space {
        to = graphemes::next(text, to);
    }
    while to < text.len() && class_at(text, to, big) == Some(Class::Space) {
        let next = graphemes::next(text, to);
        if text[to..next].starts_with('\n') && text[next..].starts_with('\n') {
            return next;
        }
        to = next;
    }
    to
}

/// `e`: the last character of this or the next word.
pub(super) fn word_end(text: &str, at: usize, big: bool) -> usize {
    let mut to = graphemes::next(text, at);
    while to < text.len() && class_at(text, to, big) == Some(Class::Space) {
        to = graphemes::next(text, to);
    }
    if to >= text.len() {
        return graphemes::previous(text, text.len());
    }
    let class = class_at(text, to, big);
    loop {
        let next = graphemes::next(text, to);
        if next >= text.len() || class_at(text, next, big) != class {
            return to;
        }
        to = next;
    }
}

/// `b`: the start of this or the word before.
pub(super) fn previous_word(text: &str, at: usize, big: bool) -> usize {
    let mut to = at;
    while to > 0 && class_at(text, graphemes::previous(text, to), big) == Some(Class::Space) {
        to = graphemes::previous(text, to);
    }
    if to == 0 {
        return 0;
    }
    let class = class_at(text, graphemes::previous(text, to), big);
    while to > 0 && class_at(text, graphemes::previous(text, to), big) == class {
        to = graphemes::previous(text, to);
    }
    to
}

/// Returns the run of characters of one kind around `at`, within its line.
pub(super) fn run(text: &str, at: usize, big: bool) -> Range<usize> {
    let Some(here) = class_at(text, at, big) else { return at..at };
    let line = graphemes::line_start(text, at)..graphemes::line_end(text, at);
    let (mut start, mut end) = (at, at);
    while start > line.start && class_at(text, graphemes::previous(text, start), big) == Some(here) {
        start = graphemes::previous(text, start);
    }
    while end < line.end && class_at(text, end, big) == Some(here) {
        end = graphemes::next(text, end);
    }
    start..end
}

/// `^`: the first character of a line that is not white space.
pub(super) fn first_nonblank(text: &str, at: usize) -> usize {
    let start = graphemes::line_start(text, at);
    let line = &text[start..graphemes::line_end(text, at)];
    start + (line.len() - line.trim_start().len())
}

/// Finds a character in the line; `skip` goes past the neighbour for a repeated `t`.
pub(super) fn find(text: &str, at: usize, find: Find, c: char, count: usize, skip: bool) -> Option<usize> {
    let mut to = at;
    for nth in 0..count {
        let repeated = find.till && (nth > 0 || skip);
        to = match find.forward {
            true => {
                let mut from = graphemes::next(text, to);
                if repeated && text[from..].starts_with(c) {
                    from = graphemes::next(text, from);
                }
                let end = graphemes::line_end(text, at);
                let found = from + text.get(from..end)?.find(c)?;
                if find.till { graphemes::previous(text, found) } else { found }
            }
            false => {
                let start = graphemes::line_start(text, at);
                let mut until = to;
                if repeated && text[..until].ends_with(c) {
                    until = graphemes::previous(text, until);
                }
                let found = start + text.get(start..until)?.rfind(c)?;
                if find.till { graphemes::next(text, found) } else { found }
            }
        };
    }
    Some(to)
}

/// Returns the start of the n-th line, counted from 0, or of the last.
pub(super) fn line(text: &str, number: usize) -> usize {
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    starts.take(number + 1).last().unwrap_or(0)
}

/// Returns the lines that a range touches, with the end of the last one but not its line end.
pub(super) fn lines(text: &str, range: Range<usize>) -> Range<usize> {
    graphemes::line_start(text, range.start)..graphemes::line_end(text, range.end)
}
