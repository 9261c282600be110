//! Where the rows of the text begin on the screen.
//!
//! Rows break after white space where one fits, else between characters. How a row ends depends only on
//! the text from its start, so an edit re-wraps from two rows before it until a row begins where one
//! began before; the rest is moved. In a very long line that may never happen, so re-wrapping
//! also ends after [`AT_ONCE`] rows: where the rows below do not follow from those above is noted, and repaired when
//! the cursor comes near. That keeps typing into a long text as cheap as typing into a short one.

use super::chips::Chips;
use super::graphemes;

/// Rows that are wrapped at once.
const AT_ONCE: usize = 64;
/// Rows that are right below the cursor; the composer shows no more.
pub(crate) const NEAR: usize = 40;

#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Byte offsets; the first is 0. A text that ends with a line end has an empty last row.
    starts: Vec<usize>,
    /// Rows that do not follow from the row before, by their numbers, in order.
    broken: Vec<usize>,
    width: usize,
}

impl Rows {
    pub(crate) fn new(width: usize) -> Rows {
        Rows { starts: vec![0], broken: Vec::new(), width: width.max(1) }
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

    /// Sets the width. The rows around `cursor` are right then.
    pub(crate) fn set_width(&mut self, width: usize, text: &str, chips: &Chips, cursor: usize) {
        if width.max(1) != self.width {
            self.width = width.max(1);
            self.starts.truncate(1);
            self.broken = vec![1];
            self.repair(cursor, text, chips);
        }
    }

    /// Takes note of an edit: at `at`, `removed` bytes became `inserted` bytes, and `text` is the result.
    pub(crate) fn edited(&mut self, at: usize, removed: usize, inserted: usize, text: &str, chips: &Chips) {
        // A row ends by the character that no longer fits, which can be the first of the row after the next.
        let first = self.of(at).saturating_sub(2);
        // A row that began inside of what was removed, or right before it, is not one to agree with.
        let start = self.starts.partition_point(|start| *start < at).max(1);
        let end = self.starts.partition_point(|start| *start < at + removed).max(start);
        for later in &mut self.starts[end..] {
            *later = *later - removed + inserted;
        }
        self.replace(start..end, &[]);
        let first = self.broken.first().map_or(first, |broken| first.min(broken - 1));
        self.wrap(first, at + inserted, text, chips);
    }

    /// Makes the rows around the character at `at` right.
    pub(crate) fn repair(&mut self, at: usize, text: &str, chips: &Chips) {
        while let Some(broken) = self.broken.first().copied()
            && broken <= self.of(at.min(text.len())) + NEAR
        {
            self.wrap(broken - 1, 0, text, chips);
        }
    }

    /// Wraps from a row on, until rows agree with those that were there, from the byte `agree` on.
    fn wrap(&mut self, first: usize, agree: usize, text: &str, chips: &Chips) {
        let mut old = first + 1;
        let mut fresh = Vec::new();
        let mut start = self.starts[first];
        let whole = loop {
            let Some(next) = self.next(start, text, chips) else {
                old = self.starts.len();
                break true;
            };
            while self.starts.get(old).is_some_and(|start| *start < next) {
                old += 1;
            }
            if next >= agree && self.starts.get(old) == Some(&next) {
                break true;
            }
            fresh.push(next);
            start = next;
            if fresh.len() == AT_ONCE {
                break false;
            }
        };
        let end = first + 1 + fresh.len();
        self.replace(first + 1..old, &fresh);
        // What was broken among the rows that were wrapped is not any more.
        self.broken.retain(|broken| *broken > end);
        if !whole {
            self.broken.insert(0, end);
        }
    }

    /// Replaces rows, and keeps the numbers of broken ones in step.
    fn replace(&mut self, range: std::ops::Range<usize>, with: &[usize]) {
        for broken in &mut self.broken {
            if *broken >= range.end {
                *broken = *broken - range.len() + with.len();
            } else if *broken > range.start {
                *broken = range.start + with.len();
            }
        }
        self.broken.dedup();
        self.starts.splice(range, with.iter().copied());
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

    fn whole(text: &str, width: usize) -> Rows {
        let mut rows = Rows::new(width + 1);
        rows.set_width(width, text, &Chips::default(), text.len());
        rows
    }

    fn rows(text: &str, width: usize) -> Vec<String> {
        let rows = whole(text, width);
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
            text in "[ab \n日é]{0,900}",
            edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "[xy \n語]{0,9}"), 1..8),
            width in 1usize..12,
            repair in any::<bool>(),
        ) {
            let chips = Chips::default();
            let mut text = text;
            let mut kept = whole(&text, width);
            for (from, to, with) in edits {
                let bounds: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (a, b) = (*from.get(&bounds), *to.get(&bounds));
                let range = a.min(b)..a.max(b);
                text.replace_range(range.clone(), &with);
                kept.edited(range.start, range.len(), with.len(), &text, &chips);
                if repair {
                    kept.repair(range.start, &text, &chips);
                }
            }
            kept.repair(text.len(), &text, &chips);
            prop_assert_eq!(&kept.starts, &whole(&text, width).starts, "{:?}", text);
            prop_assert!(kept.broken.is_empty());
        }
    }
}
