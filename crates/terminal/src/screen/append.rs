//! Plain mode: nothing that was written is ever written over.
//!
//! Screen readers speak what is appended, and terminals that are not terminals (an editor's shell
//! window) can do nothing else. So of each frame only what is new is written, line by line; the line
//! with the cursor stays open and grows with what is typed.

use super::Bottom;
use super::row::{Pen, Row};
use ratatui_core::text::Line;
use unicode_segmentation::UnicodeSegmentation;

#[derive(Debug, Default)]
pub(super) struct Appender {
    /// The other lines of the last frame, as they are compared.
    shown: Vec<String>,
    /// The line with the cursor as it stands, without an end.
    open: String,
}

impl Appender {
    pub(super) fn paint(&mut self, finished: &[Line<'static>], bottom: &Bottom, colours: bool) -> String {
        let cursor = bottom.cursor.map(|(_, row)| usize::from(row));
        let typed = cursor.and_then(|row| bottom.lines.get(row)).map(ToString::to_string).unwrap_or_default();
        let others = bottom.lines.iter().enumerate().filter(|(row, _)| Some(*row) != cursor).map(|(_, line)| line);
        let others: Vec<&Line<'static>> = others.filter(|line| says_something(line)).collect();
        let new: Vec<&Line<'static>> =
            others.iter().copied().filter(|line| !self.shown.contains(&compared(line))).collect();
        self.shown = others.iter().map(|line| compared(line)).collect();
        let mut pen = Pen::default();
        let grows = typed.strip_prefix(self.open.as_str());
        if let (Some(more), true, true) = (grows, finished.is_empty(), new.is_empty()) {
            let more = harmless(more);
            self.open = typed;
            return more;
        }
        if !self.open.is_empty() {
            pen.bytes.push_str("\r\n");
        }
        for line in finished.iter().chain(new) {
            append(line, colours, &mut pen);
            pen.bytes.push_str("\r\n");
        }
        pen.bytes.push_str(&harmless(&typed));
        self.open = typed;
        pen.bytes
    }
}

fn append(line: &Line<'static>, colours: bool, pen: &mut Pen) {
    // The terminal wraps, so that a line is spoken in one piece.
    for row in Row::of_line(line, u16::MAX, colours) {
        row.append(pen);
    }
    pen.style(ratatui_core::style::Style::new());
}

/// Who makes lines has replaced control characters; this is for what was forgotten.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Rules are decoration.
fn says_something(line: &Line<'static>) -> bool {
    line.spans.iter().any(|span| span.content.chars().any(|c| !matches!(c, ' ' | '─' | '│')))
}

/// A clock that counts is not news.
fn compared(line: &Line<'static>) -> String {
    let text = line.to_string();
    text.graphemes(true).filter(|grapheme| !grapheme.starts_with(|c: char| c.is_ascii_digit())).collect()
}
