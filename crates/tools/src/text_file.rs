//! Text as a file holds it: its encoding and its line endings.
//!
//! A model sees Unicode and LF. What it changes goes back in the form the file
//! had, and lines it did not touch keep their bytes.

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::borrow::Cow;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8 { bom: bool },
    Utf16Le { bom: bool },
    Utf16Be { bom: bool },
    Windows1252,
}

/// How many bytes are looked at for a guess.
const SAMPLE: usize = 8 * 1024;

impl Encoding {
    /// Returns what the beginning of a file says: a byte order mark, or UTF-16 without
    /// one if nothing speaks against it.
    pub(crate) fn sniff(head: &[u8]) -> Option<Encoding> {
        if head.starts_with(b"\xef\xbb\xbf") {
            return Some(Encoding::Utf8 { bom: true });
        }
        // The mark of UTF-32 begins with that of UTF-16.
        if head.starts_with(b"\xff\xfe\0\0") {
            return None;
        }
        if head.starts_with(b"\xff\xfe") {
            return Some(Encoding::Utf16Le { bom: true });
        }
        if head.starts_with(b"\xfe\xff") {
            return Some(Encoding::Utf16Be { bom: true });
        }
        let sample = &head[..head.len().min(SAMPLE) & !1];
        [Encoding::Utf16Le { bom: false }, Encoding::Utf16Be { bom: false }]
            .into_iter()
            .find(|encoding| encoding.fits_unmarked(sample))
    }

    /// Mostly Latin text in 16-bit units: one half of the bytes is nearly all
    /// zero, the other never is, and no control characters come out.
    fn fits_unmarked(self, sample: &[u8]) -> bool {
        let high = usize::from(self == Encoding::Utf16Le { bom: false });
        let units = sample.len() / 2;
        let zeros = |half: usize| sample.chunks_exact(2).filter(|unit| unit[half] == 0).count();
        if units < 2 || zeros(1 - high) > 0 || zeros(high) * 10 < units * 7 {
            return false;
        }
        self.decode(sample).chars().all(|c| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\x0c'))
    }

    /// Returns the encoding of a whole file, or `None` if it is not text.
    pub(crate) fn of(bytes: &[u8]) -> Option<Encoding> {
        match Encoding::sniff(bytes) {
            Some(Encoding::Utf8 { .. }) | None => {}
            Some(utf16) => return bytes.len().is_multiple_of(2).then_some(utf16),
        }
        if bytes.contains(&0) {
            None
        } else if std::str::from_utf8(bytes).is_ok() {
            Some(Encoding::Utf8 { bom: bytes.starts_with(b"\xef\xbb\xbf") })
        } else {
            Some(Encoding::Windows1252)
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 { .. } => "UTF-8",
            Encoding::Utf16Le { .. } => "UTF-16LE",
            Encoding::Utf16Be { .. } => "UTF-16BE",
            Encoding::Windows1252 => "windows-1252",
        }
    }

    pub(crate) fn mark(self) -> &'static [u8] {
        match self {
            Encoding::Utf8 { bom: true } => b"\xef\xbb\xbf",
            Encoding::Utf16Le { bom: true } => b"\xff\xfe",
            Encoding::Utf16Be { bom: true } => b"\xfe\xff",
            _ => b"",
        }
    }

    /// Returns the text without its byte order mark. What is ill-formed becomes U+FFFD.
    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        let body = bytes.strip_prefix(self.mark()).unwrap_or(bytes);
        let text = match self {
            Encoding::Utf8 { .. } => String::from_utf8_lossy(body),
            Encoding::Utf16Le { .. } => UTF_16LE.decode_without_bom_handling(body).0,
            Encoding::Utf16Be { .. } => UTF_16BE.decode_without_bom_handling(body).0,
            Encoding::Windows1252 => WINDOWS_1252.decode_without_bom_handling(body).0,
        };
        text.into_owned()
    }

    /// Returns the bytes of a text; `None` if the encoding lacks one of its characters.
    pub(crate) fn encode(self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = self.mark().to_vec();
        match self {
            Encoding::Utf8 { .. } => bytes.extend_from_slice(text.as_bytes()),
            Encoding::Utf16Le { .. } => bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            Encoding::Utf16Be { .. } => bytes.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Windows1252 => {
                let (body, _, lacking) = WINDOWS_1252.encode(text);
                if lacking {
                    return None;
                }
                bytes.extend_from_slice(&body);
            }
        }
        Some(bytes)
    }
}

/// A text file in memory, with every byte accounted for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TextFile {
    pub encoding: Encoding,
    /// Decoded, line endings as they are.
    pub raw: String,
}

impl TextFile {
    /// `None` if the bytes are not text, or would not survive being decoded and
    /// encoded again.
    pub(crate) fn parse(bytes: &[u8]) -> Option<TextFile> {
        let encoding = Encoding::of(bytes)?;
        let raw = encoding.decode(bytes);
        (encoding.encode(&raw)? == bytes).then_some(TextFile { encoding, raw })
    }

    pub(crate) fn newlines(&self) -> Newlines {
        Newlines::of(&self.raw)
    }

    /// Returns the text with every CRLF as LF.
    pub(crate) fn view(&self) -> View {
        let mut text = String::with_capacity(self.raw.len());
        let mut removed = Vec::new();
        let mut rest = self.raw.as_str();
        while let Some(at) = rest.find("\r\n") {
            text.push_str(&rest[..at]);
            removed.push(text.len());
            text.push('\n');
            rest = &rest[at + 2..];
        }
        text.push_str(rest);
        View { text, removed }
    }
}

/// How the lines of a text end.
#[derive(Clone, Copy)]
pub(crate) struct Newlines {
    crlf: usize,
    all: usize,
}

impl Newlines {
    fn of(text: &str) -> Self {
        Self { crlf: text.matches("\r\n").count(), all: text.matches('\n').count() }
    }

    /// Returns whether every line ends in CRLF, and there is at least one.
    pub(crate) fn is_crlf(self) -> bool {
        self.crlf > 0 && self.crlf == self.all
    }

    /// `new` with the line endings it should have in place of `replaced`: those
    /// of the replaced lines, else those of most lines of the file.
    pub(crate) fn apply<'a>(self, new: &'a str, replaced: &str) -> Cow<'a, str> {
        if self.crlf == 0 {
            return new.into();
        }
        let here = Newlines::of(replaced);
        let wants_crlf = match here.crlf {
            0 if here.all > 0 => false,
            n if here.all > 0 && n == here.all => true,
            _ => self.crlf * 2 >= self.all,
        };
        let lf = new.replace("\r\n", "\n");
        if wants_crlf { to_crlf(&lf).into() } else { lf.into() }
    }
}

pub(crate) fn to_crlf(lf: &str) -> String {
    lf.replace('\n', "\r\n")
}

/// A text with LF line ends that knows where it came from.
pub(crate) struct View {
    pub text: String,
    /// Offsets of the line feeds whose carriage return was taken away.
    removed: Vec<usize>,
}

impl View {
    /// Returns where a range of the view lies in the raw text. A line feed stands for
    /// its whole CRLF.
    pub(crate) fn raw(&self, range: Range<usize>) -> Range<usize> {
        let shift = |at: usize| at + self.removed.partition_point(|removed| *removed < at);
        shift(range.start)..shift(range.end)
    }

    pub(crate) fn has_crlf(&self) -> bool {
        !self.removed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_recognised() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let cases: [(&[u8], Option<Encoding>); 11] = [
            (b"", Some(Encoding::Utf8 { bom: false })),
            ("né\n".as_bytes(), Some(Encoding::Utf8 { bom: false })),
            (b"\xef\xbb\xbfa", Some(Encoding::Utf8 { bom: true })),
            (b"\xff\xfea\0", Some(Encoding::Utf16Le { bom: true })),
            (b"\xfe\xff\0a", Some(Encoding::Utf16Be { bom: true })),
            (b"a\0b\0", Some(Encoding::Utf16Le { bom: false })),
            (b"\0a\0b", Some(Encoding::Utf16Be { bom: false })),
            (b"n\xe9\n", Some(Encoding::Windows1252)),
            (b"a\0", None),
            (b"\x01\0\x02\0\x03\0", None),
            (b"\xff\xfe\0\0a\0\0\0", None),
        ];
        for (bytes, encoding) in cases {
            assert_eq!(Encoding::of(bytes), encoding, "{bytes:?}");
        }
        assert_eq!(Encoding::of(&utf16("größer\r\nals")), Some(Encoding::Utf16Le { bom: false }));
    }

    #[test]
    fn text_that_would_not_survive_is_not_text() {
        assert_eq!(TextFile::parse(b"\xff\xfea\0\x00\xd8"), None);
        assert_eq!(Encoding::Windows1252.encode("→"), None);
    }

    #[test]
    fn a_range_of_the_view_maps_to_the_raw_text() {
        let file = TextFile::parse(b"a\r\nb\nc\r\n").unwrap();
        let view = file.view();
        assert_eq!(view.text, "a\nb\nc\n");
        let raw = |range| &file.raw[view.raw(range)];
        assert_eq!([raw(0..1), raw(0..2), raw(1..2), raw(2..4), raw(4..6)], ["a", "a\r\n", "\r\n", "b\n", "c\r\n"]);
    }
}
