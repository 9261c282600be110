//! Where the rows of the text begin on the screen.
//!
//! Rows break after white space where one fits, else between characters. How a row ends depends only on
//! the text from its start, so an edit re-wraps from two rows before it until a row begins where one
//! began before; the rest is moved. That is what keeps typing into a long text as cheap as
//! typing into a short one.

use super::chips::Chips;
use super::graphemes;

#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Byte offsets; the first is 0. A text that ends with a line end has an empty last row.
    starts: Vec<usize>,
    width: usize,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Rows {
        Rows { starts: vec![0], width: width.max(1) }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len()
    }

    pub(crate) fn start(&self, row: usize) -> usize {
        self.starts[row]
    }

    /// Returns the row that shows the character at `at`.
    pub(crate) fn of(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// Returns the bytes of a row without its line end.
    pub(crate) fn range(&self, row: usize, text: &str) -> std::ops::Range<usize> {
        let start = self.starts[row];
        let end = self.starts.get(row + 1).copied().unwrap_or(text.len());
        start..end - usize::from(text[start..end].ends_with('\n'))
    }

    pub(crate) fn set_width(&mut self, width: usize, text: &str, chips: &Chips) {
        if width.max(1) != self.width {
            self.width = width.max(1);
            self.rewrap(text, chips);
        }
    }

    pub(crate) fn rewrap(&mut self, text: &str, chips: &Chips) {
        self.starts.clear();
        self.starts.push(0);
        let mut at = 0;
        while let Some(next) = self.next(at, text, chips) {
            self.starts.push(next);
            at = next;
        }
    }

    /// Takes note of an edit: at `at`, `removed` bytes became `inserted` bytes, and `text` is the result.
    pub(crate) fn edited(&mut self, at: usize, removed: usize, inserted: usize, text: &str, chips: &Chips) {
        // A row ends by the character that no longer fits, which can be the first of the row after the next.
        let first = self.of(at).saturating_sub(2);
        let mut old = self.starts.partition_point(|start| *start < at + removed).max(first + 1);
        let moved = |start: usize| start - removed + inserted;
        let mut fresh = Vec::new();
        let mut start = self.starts[first];
        loop {
            let Some(next) = self.next(start, text, chips) else {
                old = self.starts.len();
                break;
            };
            while old < self.starts.len() && moved(self.starts[old]) < next {
                old += 1;
            }
            if next >= at + inserted && old < self.starts.len() && moved(self.starts[old]) == next {
                break;
            }
            fresh.push(next);
            start = next;
        }
        for later in &mut self.starts[old..] {
            *later = moved(*later);
        }
        self.starts.splice(first + 1..old, fresh);
    }

    /// Returns where the row after the one at `start` begins.
    fn next(&self, start: usize, text: &str, chips: &Chips) -> Option<usize> {
        let mut at = start;
        let mut used = 0;
        let mut after_space = None;
        while at < text.len() {
            let end = graphemes::next(text, at);
            let grapheme = &text[at..end];
            if grapheme == "\n" || grapheme == "\r\n" {
                return Some(end);
            }
            used += chips.width(grapheme);
            let space = grapheme.chars().all(char::is_whitespace);
            if used > self.width && at > start {
                // One space may stand past the end of the row, where nobody sees it.
                if space {
                    return Some(if text[end..].starts_with('\n') { end + 1 } else { end });
                }
                return Some(after_space.unwrap_or(at));
            }
            if space {
                after_space = Some(end);
            }
            at = end;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Rows;
    use crate::composer::chips::Chips;
    use proptest::prelude::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let mut rows = Rows::new(width);
        rows.rewrap(text, &Chips::default());
        (0..rows.count()).map(|row| text[rows.range(row, text)].to_owned()).collect()
    }

    #[test]
    fn rows_break_after_words_where_they_can() {
        for (text, expected) in [
            ("", &[""][..]),
            ("one two", &["one two"]),
            ("one two three", &["one two ", "three"]),
            ("abcdefghij", &["abcdefgh", "ij"]),
            ("abcdefgh ij", &["abcdefgh ", "ij"]),
            ("abcdefgh \nij", &["abcdefgh ", "ij"]),
            ("a\n\nb\n", &["a", "", "b", ""]),
            ("日本語日本語", &["日本語日", "本語"]),
            ("ab 日本語日", &["ab ", "日本語日"]),
        ] {
            assert_eq!(rows(text, 8), expected, "{text:?}");
        }
    }

    proptest! {
        /// However a text came about, it is wrapped as if it had been written at once.
        #[test]
        fn an_edit_leaves_the_rows_of_the_new_text(
            text in "[ab \n日é]{0,60}",
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[xy \n語]{0,9}"), 1..8),
            width in 1usize..12,
        ) {
            let chips = Chips::default();
            let mut text = text;
            let mut kept = Rows::new(width);
            kept.rewrap(&text, &chips);
            for (from, to, with) in edits {
                let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (a, b) = (*from.get(&bounds), *to.get(&bounds));
                let range = a.min(b)..a.max(b);
                text.replace_range(range.clone(), &with);
                kept.edited(range.start, range.len(), with.len(), &text, &chips);
                let mut fresh = Rows::new(width);
                fresh.rewrap(&text, &chips);
                prop_assert_eq!(&kept.starts, &fresh.starts, "{:?}", text);
            }
        }
    }
}
