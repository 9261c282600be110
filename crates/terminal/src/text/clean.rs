//! Makes text from outside harmless and honest.
//!
//! A terminal obeys what is in a text: sequences move the cursor, change the clipboard, hide parts
//! of a command; direction marks show a path in another order than it has. So control characters
//! and everything invisible become symbols that can be seen. This looks at single characters only:
//! it makes no difference how a stream cuts a text into pieces.

use std::borrow::Cow;

/// Marks that may be put on one character before the rest is dropped: stacks of them would cover
/// other lines.
const MARKS: usize = 8;

/// A text in which nothing is obeyed by a terminal and nothing is invisible. Line feeds stay, tabs
/// become spaces.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte == b'\n' || (b' '..0x7f).contains(&byte)) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len() + 16);
    let mut marks = 0;
    for c in text.chars() {
        if unicode_width::UnicodeWidthChar::width(c) == Some(0) {
            marks += 1;
        } else {
            marks = 0;
        }
        match c {
            '\n' => clean.push('\n'),
            '\t' => clean.push_str("    "),
            '\r' => {}
            '\0'..='\x1f' => clean.push(symbol(c)),
            '\x7f' => clean.push('␡'),
            '\u{80}'..='\u{9f}' => clean.push('\u{fffd}'),
            _ if invisible(c) => clean.push_str(&format!("<U+{:04X}>", u32::from(c))),
            // Variants of characters that no font shows: a hiding place.
            '\u{e0100}'..='\u{e01ef}' => {}
            _ if marks > MARKS => {}
            _ => clean.push(c),
        }
    }
    Cow::Owned(clean)
}

/// Like `visible`, for what has to stay on one line: line feeds become symbols as well.
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "␊")
}

/// Output of a program: colours and other sequences are dropped, and lines that were written over
/// (progress bars) show what was written last. The rest as in `visible`.
pub fn output_text(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for line in without_sequences(text).split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        let line = line.trim_end_matches('\r');
        let last = line.rsplit('\r').next().unwrap_or(line);
        clean.push_str(&visible(&without_backspaces(last)));
        clean.push_str(end);
    }
    clean
}

/// Drops whole sequences: CSI, OSC and other strings, and escapes of two characters. What is not
/// complete stays and is made visible later.
fn without_sequences(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('\x1b') {
        clean.push_str(&rest[..start]);
        let sequence = &rest[start..];
        let length = sequence_length(sequence);
        clean.push_str(if length == 0 { &sequence[..1] } else { "" });
        rest = &sequence[length.max(1)..];
    }
    clean.push_str(rest);
    Cow::Owned(clean)
}

/// Bytes of the sequence that begins here; 0 if none that is complete does.
pub(super) fn sequence_length(sequence: &str) -> usize {
    let bytes = sequence.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            let end = bytes[2..].iter().position(|byte| !(0x20..0x40).contains(byte));
            end.filter(|end| (0x40..0x7f).contains(&bytes[end + 2])).map_or(0, |end| end + 3)
        }
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let bell = sequence.find('\x07').map(|at| at + 1);
            let terminator = sequence[1..].find("\x1b\\").map(|at| at + 3);
            bell.into_iter().chain(terminator).min().unwrap_or(0)
        }
        Some(b'(' | b')' | b'#' | b'%') if bytes.get(2).is_some_and(u8::is_ascii_graphic) => 3,
        Some(0x30..=0x7e) => 2,
        _ => 0,
    }
}

/// `man` and others print a letter, a backspace and the letter again for bold.
fn without_backspaces(line: &str) -> Cow<'_, str> {
    if !line.contains('\x08') {
        return Cow::Borrowed(line);
    }
    let mut clean = String::with_capacity(line.len());
    for c in line.chars() {
        if c == '\x08' {
            clean.pop();
        } else {
            clean.push(c);
        }
    }
    Cow::Owned(clean)
}

/// The picture of a control character below the space.
fn symbol(c: char) -> char {
    char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')
}

/// What changes the order of text or hides in it. The joiners inside emoji and scripts stay.
fn invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        let table = [
            ("plain ✓ 漢字 é", "plain ✓ 漢字 é"),
            ("\x1b[2Jgone", "␛[2Jgone"),
            ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
            ("\x1b]8;;http://x\x1b\\text", "␛]8;;http://x␛\\text"),
            ("\u{9b}2J", "\u{fffd}2J"),
            ("rm a\u{202e}txt.exe", "rm a<U+202E>txt.exe"),
            ("pay\u{200b}pal", "pay<U+200B>pal"),
            ("tags\u{e0041}", "tags<U+E0041>"),
            ("a\tb\r\nc\x08d\x7f", "a    b\nc␈d␡"),
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
        ];
        for (text, expected) in table {
            assert_eq!(visible(text), expected, "{text:?}");
        }
        let stack = format!("a{}", "\u{301}".repeat(500));
        assert_eq!(visible(&stack).chars().count(), 1 + MARKS);
        assert_eq!(visible_line("two\nlines"), "two␊lines");
    }

    #[test]
    fn output_loses_its_colours_and_what_was_written_over() {
        let table = [
            ("\x1b[1;32mok\x1b[m done", "ok done"),
            ("10%\r50%\r100%\nnext\r\n", "100%\nnext\n"),
            ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1b]0;title\x07text", "text"),
            ("N\x08NA\x08AM\x08M", "NAM"),
            ("cut \x1b[3", "cut ␛[3"),
            ("cut \x1b]52;c;x", "cut ␛]52;c;x"),
            ("\x1b(Bcharset \x1b7", "charset "),
        ];
        for (text, expected) in table {
            assert_eq!(output_text(text), expected, "{text:?}");
        }
    }
}
