//! How many columns text takes.
//!
//! Counted by what a reader sees as one character (a grapheme), so that combining marks, emoji
//! with joiners and wide characters count as a terminal shows them.

use ratatui_core::text::Line;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns of a text without control characters.
pub fn text_width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Columns of a line.
pub fn line_width(line: &Line<'_>) -> usize {
    line.spans.iter().map(|span| text_width(&span.content)).sum()
}

/// Columns of one grapheme: 0, 1 or 2.
pub(crate) fn grapheme_width(grapheme: &str) -> usize {
    match grapheme.as_bytes() {
        [byte] => usize::from(*byte >= b' ' && *byte != 0x7f),
        _ => grapheme.width().min(2),
    }
}

/// Columns a terminal takes that counts each code point by itself, where that is more. Who wraps
/// text uses this, so that no terminal runs over the edge.
pub fn widest(grapheme: &str) -> usize {
    match grapheme.len() {
        1 => grapheme_width(grapheme),
        _ => grapheme.chars().filter_map(UnicodeWidthChar::width).sum::<usize>().max(grapheme_width(grapheme)),
    }
}

/// Whether terminals disagree on the width of a grapheme: emoji with joiners, variation selectors,
/// flags, and other sequences whose parts add up to something else.
pub(super) fn needs_whole_row(grapheme: &str) -> bool {
    grapheme.len() > 1
        && grapheme.chars().filter_map(UnicodeWidthChar::width).sum::<usize>() != grapheme_width(grapheme)
}
