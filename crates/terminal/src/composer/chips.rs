//! What stands in the text for something longer: a folded paste, an image.
//!
//! In the text it is one private-use code point, so that it moves, is deleted and undone as one
//! character; on the screen it is its label. The content is kept for as long as the
//! composer lives, because the text may come back from the queue, the history or an undo.

use super::graphemes;
use crate::screen::text_width;
use std::path::PathBuf;
use std::sync::Arc;

/// First of the code points that stand for chips. Text from outside cannot contain them: see [`clean`].
const FIRST: u32 = 0x10_0000;
const LAST: u32 = 0x10_FFFD;

/// More lines than this are folded.
const SHOWN_LINES: usize = 6;
/// More bytes than this are folded, too.
const SHOWN_BYTES: usize = 1_000;

/// An image that goes with a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The number in `[Image #1]`.
    pub number: u32,
    pub source: ImageSource,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    File(PathBuf),
    /// From the clipboard.
    Data {
        media_type: String,
        data: Arc<[u8]>,
    },
}

#[derive(Clone, Debug)]
enum Content {
    Paste(Arc<str>),
    Image(ImageSource),
}

#[derive(Clone, Debug)]
struct Chip {
    label: String,
    content: Content,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Chips {
    chips: Vec<Chip>,
    pastes: u32,
    images: u32,
}

pub(crate) fn is_chip(c: char) -> bool {
    (FIRST..=LAST).contains(&u32::from(c))
}

/// Makes text from outside safe to keep and to show: one kind of line end, no control
/// characters, nothing that looks like a chip.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .map(|c| if is_chip(c) { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Returns whether a paste is folded.
pub(crate) fn is_long(text: &str) -> bool {
    text.len() > SHOWN_BYTES || text.lines().count() > SHOWN_LINES
}

impl Chips {
    /// Keeps a paste and returns what stands for it, or nothing if there are too many.
    pub(crate) fn add_paste(&mut self, text: &str) -> Option<char> {
        let lines = text.lines().count();
        let size = match lines {
            0 | 1 => format!("{} characters", text.chars().count()),
            lines => format!("+{lines} lines"),
        };
        let label = format!("[Pasted text #{} {size}]", self.pastes + 1);
        let c = self.add(Chip { label, content: Content::Paste(text.into()) })?;
        self.pastes += 1;
        Some(c)
    }

    pub(crate) fn add_image(&mut self, source: ImageSource) -> Option<char> {
        let label = format!("[Image #{}]", self.images + 1);
        let c = self.add(Chip { label, content: Content::Image(source) })?;
        self.images += 1;
        Some(c)
    }

    fn add(&mut self, chip: Chip) -> Option<char> {
        let c = u32::try_from(self.chips.len()).ok().map(|index| FIRST + index).filter(|code| *code <= LAST);
        let c = c.and_then(char::from_u32)?;
        self.chips.push(chip);
        Some(c)
    }

    fn get(&self, c: char) -> Option<&Chip> {
        let index = u32::from(c).checked_sub(FIRST)?;
        self.chips.get(usize::try_from(index).ok()?)
    }

    pub(crate) fn label(&self, c: char) -> Option<&str> {
        self.get(c).map(|chip| chip.label.as_str())
    }

    /// Returns the text of a folded paste.
    pub(crate) fn paste(&self, c: char) -> Option<Arc<str>> {
        match &self.get(c)?.content {
            Content::Paste(text) => Some(Arc::clone(text)),
            Content::Image(_) => None,
        }
    }

    /// Returns the chip of an image by its number.
    pub(crate) fn image_chip(&self, number: u32) -> Option<char> {
        let label = format!("[Image #{number}]");
        let index = self.chips.iter().position(|chip| chip.label == label)?;
        char::from_u32(FIRST + u32::try_from(index).ok()?)
    }

    /// Cells of one character of the text.
    pub(crate) fn width(&self, grapheme: &str) -> usize {
        match grapheme.chars().next().and_then(|c| self.label(c)) {
            Some(label) => text_width(label),
            None => graphemes::width(grapheme),
        }
    }

    /// Returns the text as it is sent: pastes in full, images by their labels.
    pub(crate) fn expand(&self, text: &str) -> String {
        self.write(text, |chip| match &chip.content {
            Content::Paste(text) => text,
            Content::Image(_) => &chip.label,
        })
    }

    /// Returns the text as it is shown.
    pub(crate) fn fold(&self, text: &str) -> String {
        self.write(text, |chip| &chip.label)
    }

    fn write<'a>(&'a self, text: &str, of: impl Fn(&'a Chip) -> &'a str) -> String {
        let mut written = String::with_capacity(text.len());
        for c in text.chars() {
            match self.get(c).filter(|_| is_chip(c)) {
                Some(chip) => written.push_str(of(chip)),
                None => written.push(c),
            }
        }
        written
    }

    /// Returns the images of a text, in its order.
    pub(crate) fn images(&self, text: &str) -> Vec<Image> {
        let mut images: Vec<Image> = Vec::new();
        for chip in text.chars().filter(|c| is_chip(*c)).filter_map(|c| self.get(c)) {
            if let Content::Image(source) = &chip.content {
                let number = chip.label.trim_start_matches("[Image #").trim_end_matches(']').parse();
                let number = number.expect("labels of images end with their number");
                if images.iter().all(|image| image.number != number) {
                    images.push(Image { number, source: source.clone() });
                }
            }
        }
        images
    }

    /// Puts chips back where their labels stand, in text that comes back from an editor.
    pub(crate) fn unfold_labels(&self, text: &str) -> String {
        let mut text = clean(text);
        for (index, chip) in self.chips.iter().enumerate() {
            let c = u32::try_from(index).ok().and_then(|index| char::from_u32(FIRST + index));
            if let Some(c) = c.filter(|_| text.contains(&chip.label)) {
                text = text.replace(&chip.label, c.encode_utf8(&mut [0; 4]));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Chips, ImageSource, clean, is_long};

    #[test]
    fn a_chip_is_shown_by_its_label_and_sent_in_full() {
        let mut chips = Chips::default();
        let paste = chips.add_paste(&"line\n".repeat(12)).unwrap();
        let long = chips.add_paste(&"x".repeat(1_500)).unwrap();
        let image = chips.add_image(ImageSource::File("/tmp/a.png".into())).unwrap();
        let text = format!("see {paste} {long} {image}");
        assert_eq!(chips.fold(&text), "see [Pasted text #1 +12 lines] [Pasted text #2 1500 characters] [Image #1]");
        assert_eq!(chips.expand(&text), format!("see {} {} [Image #1]", "line\n".repeat(12), "x".repeat(1_500)));
        assert_eq!(chips.images(&text).len(), 1);
        assert_eq!(chips.unfold_labels("a [Image #1] [Image #2]"), format!("a {image} [Image #2]"));
    }

    #[test]
    fn text_from_outside_cannot_be_a_chip_or_move_the_cursor() {
        assert_eq!(clean("a\r\nb\x1b[31mc\u{100000}\u{7f}\u{9b}\td"), "a\nb[31mc\u{fffd}\td");
    }

    #[test]
    fn long_pastes_are_folded() {
        for (text, folded) in [
            ("one\ntwo\n".to_owned(), false),
            ("line\n".repeat(6), false),
            ("line\n".repeat(7), true),
            ("x".repeat(1_000), false),
            ("x".repeat(1_001), true),
        ] {
            assert_eq!(is_long(&text), folded, "{} bytes", text.len());
        }
    }
}
