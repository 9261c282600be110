//! Normalizes text for comparison and escapes it for display.

use std::borrow::Cow;
use std::path::Path;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Composed form, so that `é` is one thing however it was typed (F-6).
pub(crate) fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { Cow::Borrowed(text) } else { Cow::Owned(text.nfc().collect()) }
}

/// Returns the path as comparable text.
pub(crate) fn path_text(path: &Path) -> Cow<'_, str> {
    match path.to_string_lossy() {
        Cow::Borrowed(text) => composed(text),
        Cow::Owned(text) => Cow::Owned(composed(&text).into_owned()),
    }
}

/// Composed and without case: two names a file system might take for one.
pub(crate) fn folded(text: &str) -> String {
    composed(text).to_lowercase()
}

/// Returns one line that moves no cursor, changes no colour and hides nothing (O-1):
/// control characters and invisible ones are spelled out.
pub fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || invisible(c) {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
    }
    line
}

/// The same for a text of several lines, which stays one of several lines.
pub fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// Direction overrides, zero-width characters and the like.
fn invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters that make text appear in another order than it is read (Unicode's Bidi_Control).
pub(crate) fn reorders(c: char) -> bool {
    is_direction_mark(c) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The marks among them, which texts in Arabic and Hebrew use.
pub(crate) fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

/// `printable`, cut to a length fit for a sentence.
pub(crate) fn brief(text: &str) -> String {
    const LENGTH: usize = 160;
    let line = printable(text);
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_power_over_the_screen() {
        assert_eq!(printable("ls \u{1b}[2K\rrm -rf x"), r"ls \u{1b}[2K\rrm -rf x");
        assert_eq!(printable("a\u{202e}b\nc"), r"a\u{202e}b\nc");
        assert_eq!(printable("grün 日本"), "grün 日本");
    }
}
