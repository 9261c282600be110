//! One line of text in a dialog.

use crate::composer::{clean, graphemes};
use crate::keys::{Action, Context, Key, Keymap};
use crate::screen::text_width;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextField {
    text: String,
    cursor: usize,
}

impl TextField {
    pub(super) fn new(text: &str) -> TextField {
        let text = clean(text).replace('\n', " ");
        TextField { cursor: text.len(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = TextField::default();
    }

    pub(super) fn insert(&mut self, text: &str) {
        let text = clean(text).replace(['\n', '\t'], " ");
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// Takes a key that edits. Returns whether it was one.
    pub(super) fn key(&mut self, key: Key, keys: &Keymap) -> bool {
        let (text, at) = (&self.text, self.cursor);
        if let Some(c) = key.text() {
            self.insert(c.encode_utf8(&mut [0; 4]));
            return true;
        }
        let Some(action) = keys.action(Context::Chat, key) else { return false };
        match action {
            Action::Left => self.cursor = graphemes::previous(text, at),
            Action::Right => self.cursor = graphemes::next(text, at),
            Action::WordLeft => self.cursor = graphemes::word_start(text, at),
            Action::WordRight => self.cursor = graphemes::word_end(text, at),
            Action::LineStart | Action::TextStart => self.cursor = 0,
            Action::LineEnd | Action::TextEnd => self.cursor = text.len(),
            Action::DeleteLeft => self.delete(graphemes::previous(text, at), at),
            Action::DeleteRight => self.delete(at, graphemes::next(text, at)),
            Action::DeleteWordLeft => self.delete(graphemes::word_start(text, at), at),
            Action::DeleteBigWordLeft => self.delete(graphemes::big_word_start(text, at), at),
            Action::DeleteWordRight => self.delete(at, graphemes::word_end(text, at)),
            Action::KillLineStart => self.delete(0, at),
            Action::KillLineEnd => self.delete(at, text.len()),
            _ => return false,
        }
        true
    }

    fn delete(&mut self, start: usize, end: usize) {
        self.text.replace_range(start..end, "");
        self.cursor = start;
    }

    /// Returns the part that fits into so many cells and the cell of the cursor in it.
    pub(super) fn view(&self, width: usize) -> (String, usize) {
        let room = width.max(2) - 1;
        let mut start = 0;
        while text_width(&self.text[start..self.cursor]) > room {
            start = graphemes::next(&self.text, start);
        }
        let mut end = self.cursor;
        while end < self.text.len() {
            let next = graphemes::next(&self.text, end);
            if text_width(&self.text[start..next]) > room {
                break;
            }
            end = next;
        }
        (self.text[start..end].to_owned(), text_width(&self.text[start..self.cursor]))
    }
}

#[cfg(test)]
mod tests {
    use super::TextField;
    use crate::keys::Keymap;

    #[test]
    fn keys_edit_the_line() {
        let keys = Keymap::default();
        for (typed, expected, cursor) in [
            ("x", "one twox", 8),
            ("left left x", "one txwo", 6),
            ("ctrl+w", "one ", 4),
            ("ctrl+a ctrl+k y", "y", 1),
            ("alt+b ctrl+u", "two", 0),
            ("home delete right backspace", "e two", 0),
        ] {
            let mut field = TextField::new("one two");
            for key in typed.split(' ') {
                assert!(field.key(key.parse().unwrap(), &keys), "{key}");
            }
            assert_eq!((field.text(), field.cursor), (expected, cursor), "{typed}");
        }
        assert!(!TextField::default().key("enter".parse().unwrap(), &keys));
    }

    #[test]
    fn the_part_around_the_cursor_shows() {
        let mut field = TextField::new("日本語 and more");
        assert_eq!(field.view(80), ("日本語 and more".to_owned(), 15));
        assert_eq!(field.view(6), (" more".to_owned(), 5));
        field.cursor = 0;
        assert_eq!(field.view(6), ("日本".to_owned(), 0));
        field.insert("a\nb");
        assert_eq!(field.text(), "a b日本語 and more");
    }
}
