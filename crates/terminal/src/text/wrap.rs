//! Breaks lines at the width of the terminal.

use crate::screen::{text_width, widest};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

/// Wraps at spaces, between wide characters, and inside of words that are longer than a row. The
/// first row starts with `first`, the others with `rest`. Blanks at which a row was broken are
/// gone; at least one row is returned.
pub fn wrap(
    spans: &[Span<'static>],
    width: u16,
    first: &[Span<'static>],
    rest: &[Span<'static>],
) -> Vec<Line<'static>> {
    let mut rows = Rows::new(usize::from(width), first, rest);
    let mut word: Vec<(String, Style)> = Vec::new();
    let mut word_width = 0;
    let mut blanks: Option<(usize, Style)> = None;
    for span in spans {
        for grapheme in span.content.graphemes(true) {
            if grapheme == " " {
                rows.word(&mut word, &mut word_width, &mut blanks);
                let (count, style) = blanks.get_or_insert((0, span.style));
                (*count, *style) = (*count + 1, span.style);
                continue;
            }
            let taken = widest(grapheme);
            // Scripts with wide characters have no spaces between words.
            if taken > 1 {
                rows.word(&mut word, &mut word_width, &mut blanks);
            }
            push(&mut word, grapheme, span.style);
            word_width += taken;
            if taken > 1 {
                rows.word(&mut word, &mut word_width, &mut blanks);
            }
        }
    }
    rows.word(&mut word, &mut word_width, &mut blanks);
    rows.finish()
}

/// Breaks where the row is full and keeps every blank: for code and output.
pub fn hard_wrap(
    spans: &[Span<'static>],
    width: u16,
    first: &[Span<'static>],
    rest: &[Span<'static>],
) -> Vec<Line<'static>> {
    let mut rows = Rows::new(usize::from(width), first, rest);
    for span in spans {
        for grapheme in span.content.graphemes(true) {
            rows.grapheme(grapheme, span.style);
        }
    }
    rows.finish()
}

/// A text of at most `width` columns; `…` says that something is missing.
pub fn cut(text: &str, width: usize) -> String {
    if text_width(text) <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let taken = widest(grapheme);
        if used + taken + 1 > width {
            break;
        }
        short.push_str(grapheme);
        used += taken;
    }
    if width > 0 {
        short.push('…');
    }
    short
}

/// A line of at most `width` columns; `…` says that something is missing.
pub fn cut_line(line: Line<'static>, width: usize) -> Line<'static> {
    if crate::screen::line_width(&line) <= width {
        return line;
    }
    let mut left = width;
    let mut spans = Vec::new();
    for span in line.spans {
        let taken = text_width(&span.content);
        if taken < left {
            left -= taken;
            spans.push(span);
            continue;
        }
        // One column is kept for the mark, also if this span would fit but the next does not.
        let mut short = cut(&format!("{}  ", span.content), left);
        if !short.ends_with('…') && left > 0 {
            short.push('…');
        }
        spans.push(Span::styled(short, span.style));
        break;
    }
    Line { spans, ..line }
}

struct Rows<'a> {
    width: usize,
    rest: &'a [Span<'static>],
    done: Vec<Line<'static>>,
    row: Vec<(String, Style)>,
    /// Columns in use, and those of them that are the start every row has.
    used: usize,
    start: usize,
}

impl<'a> Rows<'a> {
    fn new(width: usize, first: &[Span<'static>], rest: &'a [Span<'static>]) -> Self {
        let mut rows = Self { width: width.max(4), rest, done: Vec::new(), row: Vec::new(), used: 0, start: 0 };
        rows.begin(first);
        rows
    }

    fn begin(&mut self, start: &[Span<'static>]) {
        self.row = start.iter().map(|span| (span.content.clone().into_owned(), span.style)).collect();
        self.used = start.iter().map(|span| text_width(&span.content)).sum();
        self.start = self.used;
    }

    fn next_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        self.done.push(line(row));
        self.begin(self.rest);
    }

    fn grapheme(&mut self, grapheme: &str, style: Style) {
        let taken = widest(grapheme);
        if self.used + taken > self.width && self.used > self.start {
            self.next_row();
        }
        push(&mut self.row, grapheme, style);
        self.used += taken;
    }

    fn word(&mut self, word: &mut Vec<(String, Style)>, width: &mut usize, blanks: &mut Option<(usize, Style)>) {
        if word.is_empty() {
            return;
        }
        if let Some((count, style)) = blanks.take() {
            if self.used + count + *width > self.width && self.used > self.start {
                self.next_row();
            } else {
                push(&mut self.row, &" ".repeat(count), style);
                self.used += count;
            }
        } else if self.used + *width > self.width && *width <= 2 && self.used > self.start {
            self.next_row();
        }
        for (text, style) in word.drain(..) {
            for grapheme in text.graphemes(true) {
                self.grapheme(grapheme, style);
            }
        }
        *width = 0;
    }

    fn finish(mut self) -> Vec<Line<'static>> {
        self.done.push(line(self.row));
        self.done
    }
}

fn push(row: &mut Vec<(String, Style)>, text: &str, style: Style) {
    match row.last_mut() {
        Some((last, same)) if *same == style => last.push_str(text),
        _ => row.push((text.to_owned(), style)),
    }
}

fn line(row: Vec<(String, Style)>) -> Line<'static> {
    Line::from(row.into_iter().map(|(text, style)| Span::styled(text, style)).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: u16) -> Vec<String> {
        let lines = wrap(&[Span::raw(text.to_owned())], width, &[Span::raw("- ")], &[Span::raw("  ")]);
        lines.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn rows_break_at_spaces_and_between_wide_characters() {
        let table: [(&str, u16, &[&str]); 7] = [
            ("", 10, &["- "]),
            ("one two three", 10, &["- one two", "  three"]),
            ("one two", 9, &["- one two"]),
            ("aVeryLongWordIndeed", 10, &["- aVeryLon", "  gWordInd", "  eed"]),
            ("see aVeryLongWordIndeed", 10, &["- see", "  aVeryLon", "  gWordInd", "  eed"]),
            ("漢字漢字漢字", 9, &["- 漢字漢", "  字漢字"]),
            ("two  blanks", 20, &["- two  blanks"]),
        ];
        for (text, width, expected) in table {
            assert_eq!(wrapped(text, width), expected, "{text:?} at {width}");
        }
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("漢字漢字", 5), "漢字…");
        let line = Line::from(vec![Span::raw("one "), Span::raw("two "), Span::raw("three")]);
        assert_eq!(cut_line(line.clone(), 13).to_string(), "one two three");
        assert_eq!(cut_line(line.clone(), 8).to_string(), "one two…");
        assert_eq!(cut_line(line.clone(), 5).to_string(), "one …");
        assert_eq!(cut_line(line, 4).to_string(), "one…");
    }
}
