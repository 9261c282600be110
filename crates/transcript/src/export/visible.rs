//! Text that can be printed anywhere without doing anything.
//!
//! A transcript holds what tools and web pages said, and some of that is meant
//! for a terminal: it could move the cursor, set the clipboard, or show other
//! words than are there. Each such character is replaced by one that can be seen.

use std::borrow::Cow;
use std::fmt::Write;

pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            // The pictures of control characters, U+2400 and up, stand in the same order.
            '\0'..='\x1f' if acts(c) => shown.extend(char::from_u32(0x2400 + u32::from(c))),
            '\x7f' => shown.push('\u{2421}'),
            _ if acts(c) => write!(shown, "<U+{:04X}>", u32::from(c)).expect("writing to a String cannot fail"),
            _ => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Control characters but tab and newline, and those that turn the direction of text.
fn acts(c: char) -> bool {
    match c {
        '\t' | '\n' => false,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_shown() {
        let shown = [
            ("plain\ttext\nüñ🦀", "plain\ttext\nüñ🦀"),
            ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
            ("\x1b]52;c;aGk=\x07", "␛]52;c;aGk=␇"),
            ("a\r\nb\rc", "a\nb␍c"),
            ("\0\x08\x7f", "␀␈␡"),
            ("\u{9b}2J", "<U+009B>2J"),
            ("\u{202e}txt.exe", "<U+202E>txt.exe"),
        ];
        for (text, expected) in shown {
            assert_eq!(visible(text), expected);
        }
    }
}
