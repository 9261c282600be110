//! Markdown of a model as lines, also while it is still arriving.
//!
//! A `Reply` takes the text as it comes. What is complete is handed out once (`finished`) and goes
//! into the terminal's scrollback; of the rest only the open part is drawn again (`tail`). The work
//! grows with the length of a reply, not with its square.

mod highlight;
mod inline;
mod split;
mod table;

pub use highlight::Wake;

use crate::text::visible_line;
use highlight::{Code, Highlighter};
use inline::{draw, item_mark};
use ratatui_core::text::{Line, Span};
use split::{Kind, Piece, Splitter};
use std::collections::VecDeque;
use std::sync::Arc;

/// A line longer than this is cut, at a blank if it has one, as if it had ended there.
const LONG_LINE: usize = 4_096;

/// A text that arrives in pieces.
pub struct Reply {
    splitter: Splitter,
    /// What came after the last line feed.
    partial: String,
    pieces: VecDeque<Piece>,
    /// What the pieces handed out so far leave to those that follow.
    place: Place,
    /// The block of code that is being handed out.
    code: Option<Code>,
    /// Lines of it that have been given to the highlighter, and not come back.
    waiting: usize,
    wake: Wake,
    ended: bool,
}

#[derive(Clone, Debug, Default)]
struct Place {
    /// Number of the next item, in the list that is open.
    number: Option<u64>,
}

impl Reply {
    /// `wake` is called, on another thread, when code that was waited for has its colours.
    pub fn new(wake: Wake) -> Self {
        Self {
            splitter: Splitter::default(),
            partial: String::new(),
            pieces: VecDeque::new(),
            place: Place::default(),
            code: None,
            waiting: 0,
            wake,
            ended: false,
        }
    }

    /// Takes the next part of the text.
    pub fn push(&mut self, text: &str) {
        self.partial.push_str(text);
        let mut start = 0;
        loop {
            let rest = &self.partial[start..];
            let limit = floor(rest, LONG_LINE);
            let (line, next) = match rest[..limit].find('\n') {
                Some(end) => (&rest[..end], end + 1),
                None if rest.len() > LONG_LINE => {
                    let end = rest[..limit].rfind(' ').map_or(limit, |at| at + 1);
                    (&rest[..end], end)
                }
                None => break,
            };
            self.pieces.extend(self.splitter.line(line.trim_end_matches('\r')));
            start += next;
        }
        self.partial.drain(..start);
    }

    /// The text is over.
    pub fn end(&mut self) {
        if !std::mem::replace(&mut self.ended, true) {
            let partial = std::mem::take(&mut self.partial);
            if !partial.is_empty() {
                self.pieces.extend(self.splitter.line(partial.trim_end_matches('\r')));
            }
            self.pieces.extend(self.splitter.end());
        }
    }

    /// Whether everything has been handed out. Code may take a moment longer than the text.
    pub fn is_done(&self) -> bool {
        self.ended && self.pieces.is_empty()
    }

    /// Lines that are complete and will not change. They are returned once.
    pub fn finished(&mut self, width: u16) -> Vec<Line<'static>> {
        self.hand_out(width, Code::next)
    }

    /// Ends the text and returns everything that is left, after waiting for the colours of code.
    pub fn rest(&mut self, width: u16) -> Vec<Line<'static>> {
        self.end();
        let mut lines = self.hand_out(width, Code::wait);
        // What a thread that panicked has left.
        for piece in std::mem::take(&mut self.pieces) {
            match &piece.kind {
                Kind::CodeLine(line) => lines.extend(code_rows(&[Span::raw(visible_line(line))], width)),
                _ => draw_piece(&piece, &mut self.place, width, &mut lines),
            }
        }
        lines
    }

    fn hand_out(&mut self, width: u16, next: impl Fn(&mut Code) -> Option<Vec<Span<'static>>>) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        while let Some(piece) = self.pieces.front() {
            if let Kind::CodeLine(_) = &piece.kind {
                self.color_ahead();
                let Some(spans) = self.code.as_mut().and_then(&next) else { break };
                self.waiting = self.waiting.saturating_sub(1);
                lines.extend(code_rows(&spans, width));
            } else {
                if let Kind::Code(language) = &piece.kind {
                    self.code = Some(Code::new(language, Arc::clone(&self.wake)));
                    self.waiting = 0;
                }
                draw_piece(piece, &mut self.place, width, &mut lines);
            }
            self.pieces.pop_front();
        }
        lines
    }

    /// The part that is still open, as it would look if the text ended here: at most its last
    /// `rows` lines.
    pub fn tail(&self, width: u16, rows: usize) -> Vec<Line<'static>> {
        let mut open = self.splitter.clone();
        let mut pieces: Vec<Piece> = self.pieces.iter().cloned().collect();
        if !self.partial.is_empty() {
            pieces.extend(open.line(self.partial.trim_end_matches('\r')));
        }
        pieces.extend(open.end());
        let mut place = self.place.clone();
        let mut lines = Vec::new();
        // Each piece has a line of its own, so earlier ones than these are never seen.
        let first = pieces.len().saturating_sub(rows.saturating_mul(2).max(1));
        for piece in &pieces[first..] {
            match &piece.kind {
                Kind::CodeLine(line) => lines.extend(code_rows(&[Span::raw(visible_line(line))], width)),
                _ => draw_piece(piece, &mut place, width, &mut lines),
            }
        }
        lines.split_off(lines.len().saturating_sub(rows))
    }

    /// Gives all lines of code that are complete to the highlighter.
    fn color_ahead(&mut self) {
        let Some(code) = &mut self.code else { return };
        let lines = self.pieces.iter().map_while(|piece| match &piece.kind {
            Kind::CodeLine(line) => Some(line),
            _ => None,
        });
        for line in lines.skip(self.waiting) {
            code.line(line);
            self.waiting += 1;
        }
    }
}

/// A whole text as lines, with the colours of code.
pub fn markdown(text: &str, width: u16) -> Vec<Line<'static>> {
    let mut splitter = Splitter::default();
    let mut pieces: Vec<Piece> = Vec::new();
    for line in text.lines() {
        pieces.extend(splitter.line(line));
    }
    pieces.extend(splitter.end());
    let mut place = Place::default();
    let mut highlighter = Highlighter::new("");
    let mut lines = Vec::new();
    for piece in &pieces {
        match &piece.kind {
            Kind::CodeLine(line) => lines.extend(code_rows(&highlighter.line_now(line), width)),
            kind => {
                if let Kind::Code(language) = kind {
                    highlighter = Highlighter::new(language);
                }
                draw_piece(piece, &mut place, width, &mut lines);
            }
        }
    }
    lines
}

fn draw_piece(piece: &Piece, place: &mut Place, width: u16, lines: &mut Vec<Line<'static>>) {
    if piece.gap {
        lines.push(Line::default());
    }
    match &piece.kind {
        Kind::Text(text) => lines.extend(draw(text, width, Vec::new(), Vec::new())),
        Kind::Table(text) => lines.extend(draw(text, width, Vec::new(), Vec::new())),
        Kind::Item { number, text } => {
            // Many write 1. before every item; what counts is the first number.
            let mut number = number.map(|written| place.number.unwrap_or(written));
            let (mark, columns) = item_mark(number.as_mut(), 1);
            lines.extend(draw(text, width, vec![mark], vec![Span::raw(" ".repeat(columns))]));
            place.number = number;
            return;
        }
        Kind::Code(_) => {}
        Kind::CodeLine(_) => return,
    }
    place.number = None;
}

fn code_rows(spans: &[Span<'static>], width: u16) -> Vec<Line<'static>> {
    let indent = [Span::raw("  ")];
    if spans.iter().all(|span| span.content.trim().is_empty()) {
        return vec![Line::default()];
    }
    crate::text::hard_wrap(spans, width, &indent, &indent)
}

/// The last boundary of characters up to a number of bytes.
fn floor(text: &str, bytes: usize) -> usize {
    let mut at = bytes.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
