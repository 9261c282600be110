//! Here-documents: where their text starts and ends, and whether bash expands it.
//!
//! The text is data for the command it is fed to. A command that is hidden behind
//! a delimiter we read differently than bash does is read as commands too.

use super::lex::{Lexer, StdinText, read};
use std::ops::Range;

/// A here-document whose body starts at the next newline.
pub(super) struct PendingHeredoc {
    pub to: usize,
    pub end: String,
    /// The delimiter is a plain word, so that we know where bash sees the end.
    pub plain: bool,
    pub expands: bool,
    pub tabs: bool,
}

impl Lexer<'_, '_> {
    pub(crate) fn cut(&mut self, range: Range<usize>, expands: bool) {
        if self.own {
            self.found.cuts.push(range);
            self.found.expands |= expands;
        }
    }

    /// The bodies of the here-documents announced on the line that just ended.
    pub(crate) fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.fed) {
            let start = self.at;
            let mut closed = false;
            let mut end = start;
            while self.at < self.text.len() {
                let line = self.text[self.at..].split_inclusive('\n').next().unwrap_or_default();
                end = self.at;
                self.at += line.len();
                let line = line.trim_end_matches('\n');
                let line = if pending.tabs { line.trim_start_matches('\t') } else { line };
                if line == pending.end {
                    closed = true;
                    break;
                }
                end = self.at;
            }
            let body = self.text[start..end].to_owned();
            self.data += self.at - start;
            self.cut(start..self.at, pending.expands || !closed);
            if pending.expands {
                self.expansions(&body);
            }
            if !closed || !pending.plain || (pending.expands && body.contains("\\\n")) {
                // Perhaps it ends earlier than we think; bash might run these lines.
                read(&body, self.depth + 1, false, self.found);
            }
            self.found.fed.push(StdinText { to: pending.to, body });
        }
    }
}

/// Returns the line that ends a here-document, and whether that line is certain.
pub(super) fn delimiter(raw: &str) -> (String, bool) {
    let quoted = |mark: char| raw.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    let word = quoted('\'').or_else(|| quoted('"')).or_else(|| raw.strip_prefix('\\')).unwrap_or(raw);
    let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    (raw.replace(['\'', '"', '\\'], ""), plain)
}
