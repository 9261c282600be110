//! Redacts a text that arrives in pieces.
//!
//! Text that could be the beginning of a secret is held back until the next piece decides; at
//! the end everything is returned. Together the pieces equal what [`Redactor::apply`]
//! makes of the whole text. Held text is examined again when a piece arrives, but a
//! long one only after it has grown by a quarter, so that the cost stays linear.

use super::{Redactor, patterns};

/// Held text longer than this is not examined for every piece.
const SHORT: usize = 4096;

/// Redacts one text that arrives in pieces.
#[derive(Debug)]
pub struct RedactedStream {
    redactor: Redactor,
    held: String,
    /// The character that was shown before `held`, if it is part of a word: what follows it is then not
    /// the beginning of a word. What replaces a secret ends no word.
    before: Option<char>,
    /// Length at which the held text is examined again.
    due: usize,
}

impl RedactedStream {
    pub(super) fn new(redactor: Redactor) -> Self {
        Self { redactor, held: String::new(), before: None, due: 0 }
    }

    /// Adds the next piece; returns what can be shown by now.
    pub fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        if self.held.len() < self.due {
            return String::new();
        }
        let cut = settled(&self.redactor, &self.held);
        // What a replacement takes away can begin or end another one across the cut.
        let cut = if self.can_be_cut(cut) { cut } else { 0 };
        let rest = self.held.split_off(cut);
        let shown = self.take();
        self.due = if rest.len() > SHORT { rest.len() + rest.len() / 4 } else { 0 };
        self.held = rest;
        shown
    }

    /// Returns the rest. The value can be used for another text afterwards.
    pub fn finish(&mut self) -> String {
        let shown = self.take();
        (self.before, self.due) = (None, 0);
        shown
    }

    fn take(&mut self) -> String {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return held;
        }
        let clean = self.clean(self.before, &held);
        self.before = word_end(&clean);
        clean
    }

    fn clean(&self, before: Option<char>, text: &str) -> String {
        let Some(before) = before else { return self.redactor.apply(text).into_owned() };
        let whole = format!("{before}{text}");
        let clean = self.redactor.apply(&whole);
        clean.strip_prefix(before).unwrap_or(&clean).to_owned()
    }

    /// Whether the two parts of the held text become what the whole becomes.
    fn can_be_cut(&self, cut: usize) -> bool {
        if cut == 0 || cut == self.held.len() {
            return true;
        }
        let (first, second) = self.held.split_at(cut);
        let first = self.clean(self.before, first);
        let second = self.clean(word_end(&first), second);
        self.clean(self.before, &self.held).strip_prefix(first.as_str()) == Some(second.as_str())
    }
}

/// The last character, if it is part of a word.
fn word_end(text: &str) -> Option<char> {
    text.chars().next_back().filter(|last| last.is_ascii_alphanumeric() || *last == '_')
}

/// Length of the part of `text` that no later text can change.
fn settled(redactor: &Redactor, text: &str) -> usize {
    let open = patterns::UNFINISHED.find(text).map_or(text.len(), |found| found.start());
    let mut cut = redactor.known().settled(text, open);
    // The last letters of a key may be the first ones of a known secret in some spelling.
    while let Some(start) = patterns::around(text, cut) {
        cut = redactor.known().settled(text, start);
    }
    cut
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn a_key_right_behind_a_known_secret_is_a_key_in_pieces_too() {
        let redactor = Redactor::new([("A", "9876543210123456")]);
        let text = format!("9876543210123456sk-proj-{}/", "a".repeat(40));
        for cut in 1..text.len() {
            let mut stream = redactor.stream();
            let shown = [stream.push(&text[..cut]), stream.push(&text[cut..]), stream.finish()].concat();
            assert_eq!(shown, "[REDACTED:A][REDACTED:api_key]/", "cut at {cut}");
        }
    }

    #[test]
    fn a_key_is_not_cut_where_a_known_secret_may_begin() {
        // In base64 this secret begins with an `a`, and a line break may follow anywhere in it.
        let redactor = Redactor::new([("A", "hunter2-hunter2")]);
        let text = format!("sk-proj-{}\n>", "a".repeat(40));
        for cut in 1..text.len() {
            let mut stream = redactor.stream();
            let shown = [stream.push(&text[..cut]), stream.push(&text[cut..]), stream.finish()].concat();
            assert_eq!(shown, "[REDACTED:api_key]\n>", "cut at {cut}");
        }
    }
}
