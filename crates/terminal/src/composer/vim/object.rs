//! What a text object spans.

use super::super::graphemes;
use super::motion;
use std::ops::Range;

/// Returns the range of an object around `at`: words, quotes, brackets.
pub(super) fn span(text: &str, at: usize, object: char, around: bool) -> Option<Range<usize>> {
    match object {
        'w' => Some(word(text, at, false, around)),
        'W' => Some(word(text, at, true, around)),
        '"' | '\'' | '`' => quotes(text, at, object, around),
        '(' | ')' | 'b' => brackets(text, at, '(', ')', around),
        '[' | ']' => brackets(text, at, '[', ']', around),
        '{' | '}' | 'B' => brackets(text, at, '{', '}', around),
        '<' | '>' => brackets(text, at, '<', '>', around),
        _ => None,
    }
}

fn word(text: &str, at: usize, big: bool, around: bool) -> Range<usize> {
    let inner = motion::run(text, at, big);
    if !around || inner.is_empty() {
        return inner;
    }
    let line_end = graphemes::line_end(text, inner.end);
    let blank = |at: usize| text[at..].chars().next().is_some_and(|c| c.is_whitespace() && c != '\n');
    if inner.end < line_end && blank(inner.end) {
        return inner.start..motion::run(text, inner.end, big).end;
    }
    // At the end of a line the space before the word goes with it.
    let start = inner.start;
    if start > graphemes::line_start(text, start) && blank(graphemes::previous(text, start)) {
        return motion::run(text, graphemes::previous(text, start), big).start..inner.end;
    }
    inner
}

fn quotes(text: &str, at: usize, quote: char, around: bool) -> Option<Range<usize>> {
    let (start, end) = (graphemes::line_start(text, at), graphemes::line_end(text, at));
    let line = &text[start..end];
    let mut marks = Vec::new();
    let mut escaped = false;
    for (offset, c) in line.char_indices() {
        if c == quote && !escaped {
            marks.push(start + offset);
        }
        escaped = c == '\\' && !escaped;
    }
    // Pairs are counted from the start of the line; the first that ends at or after the cursor is meant.
    let (open, close) = marks.chunks_exact(2).map(|pair| (pair[0], pair[1])).find(|(_, close)| *close >= at)?;
    Some(if around { open..close + 1 } else { open + 1..close })
}

fn brackets(text: &str, at: usize, open: char, close: char, around: bool) -> Option<Range<usize>> {
    let here = text[at..].chars().next();
    let mut depth = 0usize;
    let start = if here == Some(open) {
        at
    } else {
        text[..at].char_indices().rev().find_map(|(index, c)| {
            if c == close {
                depth += 1;
            } else if c == open {
                if depth == 0 {
                    return Some(index);
                }
                depth -= 1;
            }
            None
        })?
    };
    depth = 0;
    let end = text[start..].char_indices().find_map(|(index, c)| {
        if c == open {
            depth += 1;
        } else if c == close {
            depth -= 1;
            if depth == 0 {
                return Some(start + index);
            }
        }
        None
    })?;
    Some(if around { start..end + 1 } else { start + 1..end })
}
