//! Where characters begin, as a person counts them, and where words do.
//!
//! A character is a grapheme cluster: `é` typed as two code points, a flag or a family emoji is
//! one. A folded paste or an image is one too: it stands in the text as a single
//! private-use code point (see `chips`), which never joins its neighbours.

use super::chips::is_chip;
use unicode_segmentation::GraphemeCursor;
use unicode_width::UnicodeWidthStr;

/// Returns the end of the character that begins at `at`, or `at` at the end of the text.
pub(crate) fn next(text: &str, at: usize) -> usize {
    let Some(first) = text[at..].chars().next() else { return at };
    if is_chip(first) {
        return at + first.len_utf8();
    }
    let end = GraphemeCursor::new(at, text.len(), true).next_boundary(text, 0).ok().flatten().unwrap_or(text.len());
    match text[at..end].char_indices().skip(1).find(|(_, c)| is_chip(*c)) {
        Some((chip, _)) => at + chip,
        None => end,
    }
}

/// Returns the start of the character that ends at `at`, or 0 at the start of the text.
pub(crate) fn previous(text: &str, at: usize) -> usize {
    let Some(last) = text[..at].chars().next_back() else { return 0 };
    if is_chip(last) {
        return at - last.len_utf8();
    }
    let start = GraphemeCursor::new(at, text.len(), true).prev_boundary(text, 0).ok().flatten().unwrap_or(0);
    match text[start..at].char_indices().rfind(|(_, c)| is_chip(*c)) {
        Some((chip, c)) => start + chip + c.len_utf8(),
        None => start,
    }
}

/// Returns the closest boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if at == text.len() || is_boundary(text, at) { at } else { previous(text, at) }
}

/// Returns whether a character begins or ends at `at`.
pub(crate) fn is_boundary(text: &str, at: usize) -> bool {
    if !text.is_char_boundary(at) {
        return false;
    }
    let beside = |c: Option<char>| c.is_some_and(is_chip);
    beside(text[at..].chars().next())
        || beside(text[..at].chars().next_back())
        || GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(true)
}

/// Cells that one character takes.
pub(crate) fn width(grapheme: &str) -> usize {
    match grapheme {
        "\t" => 4,
        "\n" => 0,
        grapheme => grapheme.width().min(2),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the end of the word at or after `at`, as Alt+F moves.
pub(crate) fn word_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let Some(start) = rest.find(is_word) else { return text.len() };
    at + start + rest[start..].find(|c| !is_word(c)).unwrap_or(rest.len() - start)
}

/// Returns the start of the word before `at`, as Alt+B moves.
pub(crate) fn word_start(text: &str, at: usize) -> usize {
    let ending = text[..at].trim_end_matches(|c| !is_word(c));
    ending.trim_end_matches(is_word).len()
}

/// Returns the start of what Ctrl+W deletes: back to white space.
pub(crate) fn big_word_start(text: &str, at: usize) -> usize {
    text[..at].trim_end().trim_end_matches(|c: char| !c.is_whitespace()).len()
}

/// Returns the start of the line that holds `at`.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the end of the line that holds `at`, before its line end.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline)
}

#[cfg(test)]
mod tests {
    use super::{big_word_start, next, previous, word_end, word_start};

    #[test]
    fn a_character_is_what_a_person_counts() {
        for (text, ends) in [
            ("ab", &[1, 2][..]),
            ("e\u{301}x", &[3, 4]),
            ("日本", &[3, 6]),
            ("👨‍👩‍👧!", &[18, 19]),
            ("🇩🇪🇫🇷", &[8, 16]),
            ("\u{100000}\u{301}a", &[4, 6, 7]),
            ("a\u{200d}\u{100000}", &[4, 8]),
        ] {
            let mut at = 0;
            let mut found = Vec::new();
            while at < text.len() {
                at = next(text, at);
                found.push(at);
            }
            assert_eq!(found, ends, "{text:?}");
            let mut back = Vec::new();
            while at > 0 {
                back.push(at);
                at = previous(text, at);
            }
            back.reverse();
            assert_eq!(back, ends, "{text:?} backwards");
        }
    }

    #[test]
    fn words() {
        let text = "git log --oneline, ünï_x";
        assert_eq!(word_end(text, 0), 3);
        assert_eq!(word_end(text, 7), 17);
        assert_eq!(word_start(text, 17), 10);
        assert_eq!(big_word_start(text, 17), 8);
        assert_eq!(&text[word_start(text, text.len())..], "ünï_x");
        assert_eq!(word_start("  ", 2), 0);
        assert_eq!(word_end("  ", 0), 2);
    }
}
