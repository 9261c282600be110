//! The line modules write below the prompt: one text per key. Pure.

use std::collections::BTreeMap;
use unicode_width::UnicodeWidthChar;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusLine(BTreeMap<String, String>);

impl StatusLine {
    /// No text takes the key away.
    pub fn set(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.0.insert(key.to_owned(), clean(text)),
            None => self.0.remove(key),
        };
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns all texts in the order of their keys, no wider than this.
    pub fn render(&self, width: usize) -> String {
        let texts: Vec<_> = self.0.values().map(String::as_str).filter(|text| !text.is_empty()).collect();
        cut(&texts.join(" "), width)
    }
}

/// A piece of text: a colour, or a letter.
enum Piece<'a> {
    Colour(&'a str),
    Letter(char),
}

/// Colours and letters of a text; every other escape sequence and control is left out.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\u{1b}' => escape(rest),
            other => other.len_utf8(),
        };
        let (piece, after) = rest.split_at(length);
        match letter {
            '\u{1b}' if piece.starts_with("\u{1b}[") && piece.ends_with('m') => pieces.push(Piece::Colour(piece)),
            '\u{1b}' => {}
            '\r' | '\n' | '\t' => pieces.push(Piece::Letter(' ')),
            other if other.is_control() => {}
            other => pieces.push(Piece::Letter(other)),
        }
        rest = after;
    }
    pieces
}

/// Returns how many bytes an escape sequence at the start of this text has.
fn escape(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        Some(b'[') => {
            bytes.iter().skip(2).position(|byte| (0x40..=0x7e).contains(byte)).map_or(bytes.len(), |at| at + 3)
        }
        // Titles and links end with a bell or a string terminator.
        Some(b']') => match (text.find('\u{7}'), text[1..].find("\u{1b}\\")) {
            (Some(bell), end) if end.is_none_or(|end| bell < end + 1) => bell + 1,
            (_, Some(end)) => end + 3,
            (_, None) => bytes.len(),
        },
        Some(byte) if byte.is_ascii() => 2,
        Some(_) | None => 1,
    }
}

fn clean(text: &str) -> String {
    let mut out = String::new();
    let mut blank = true;
    for piece in pieces(text) {
        match piece {
            Piece::Colour(colour) => out.push_str(colour),
            Piece::Letter(' ') if blank => {}
            Piece::Letter(letter) => {
                blank = letter == ' ';
                out.push(letter);
            }
        }
    }
    out.trim_end().to_owned()
}

fn cut(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut used = 0;
    for piece in pieces(text) {
        match piece {
            Piece::Colour(colour) => out.push_str(colour),
            Piece::Letter(letter) => {
                used += letter.width().unwrap_or(0);
                if used <= width {
                    out.push(letter);
                }
            }
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// OM-37, OM-38, 003-7-04.
    #[test]
    fn texts_are_cleaned_sorted_joined_and_cut() {
        let mut line = StatusLine::default();
        line.set("b", Some("x\ty\n z"));
        line.set("a", Some(" 1 "));
        assert_eq!([line.render(80), line.render(3)], ["1 x y z", "1 x"]);
        line.set("a", None);
        assert_eq!(line.render(80), "x y z");
        line.set("c", Some("\u{1b}[31mred\u{1b}[0m\u{1b}[2J\u{1b}]0;title\u{7}\u{8}世界"));
        assert_eq!(line.render(80), "x y z \u{1b}[31mred\u{1b}[0m世界");
        assert_eq!(line.render(11), "x y z \u{1b}[31mred\u{1b}[0m世");
    }
}
