//! A window of a text file's lines, found in one pass and bounded memory.
//!
//! The pass reads every byte, because the line count and the fingerprint are of
//! the whole file. Only the window's lines are kept, as bytes: whether they are
//! UTF-8 or windows-1252 is known when the last byte has been seen.

use crate::fingerprint::Fingerprint;
use crate::text_file::Encoding;
use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};
use ona_api::text::head;
use std::io::{self, ErrorKind, Read};

/// Characters of a line that are shown.
const LINE_CHARS: usize = 2000;
const LINE_CUT: &str = " [line cut at 2000 characters]";
/// Bytes of a line that are kept: one character more than is shown, at four
/// bytes each.
const LINE_BYTES: usize = (LINE_CHARS + 1) * 4;
const CHUNK: usize = 64 * 1024;

#[derive(Clone, Copy)]
pub(super) struct LineRange {
    /// From 1.
    pub first: u64,
    pub limit: u64,
    /// Bytes after which no further line is kept.
    pub cap: usize,
}

pub(super) struct LineWindow {
    /// Lines of the whole file.
    pub total: u64,
    pub encoding: Encoding,
    pub has_nul: bool,
    /// The window was left early because of its byte limit.
    pub capped: bool,
    /// Bytes of the whole file.
    pub size: u64,
    pub fingerprint: String,
    kept: Vec<Vec<u8>>,
}

impl LineWindow {
    pub(crate) fn collect(
        mut source: impl Read,
        sniffed: Option<Encoding>,
        window: LineRange,
    ) -> io::Result<LineWindow> {
        let mut collector = Collector::new(window);
        let mut utf16 = match sniffed {
            Some(Encoding::Utf16Le { .. }) => Some(UTF_16LE.new_decoder_without_bom_handling()),
            Some(Encoding::Utf16Be { .. }) => Some(UTF_16BE.new_decoder_without_bom_handling()),
            _ => None,
        };
        let mut mark = sniffed.map_or(0, |encoding| encoding.mark().len());
        let mut fingerprint = Fingerprint::default();
        let mut utf8 = Utf8Check::default();
        let mut size = 0;
        let mut buffer = vec![0; CHUNK];
        loop {
            let read = match source.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            let bytes = &buffer[..read];
            fingerprint.update(bytes);
            size += read as u64;
            // The sniffed mark lies in the first chunk or a first short read of it.
            let body = &bytes[mark.min(read)..];
            mark -= mark.min(read);
            match &mut utf16 {
                Some(decoder) => collector.feed(decoded(decoder, body, read == 0).as_bytes()),
                None => {
                    utf8.feed(body);
                    collector.feed(body);
                }
            }
            if read == 0 {
                break;
            }
        }
        let encoding = match sniffed {
            Some(encoding @ (Encoding::Utf16Le { .. } | Encoding::Utf16Be { .. })) => encoding,
            _ if !utf8.is_valid() => Encoding::Windows1252,
            sniffed => sniffed.unwrap_or(Encoding::Utf8 { bom: false }),
        };
        Ok(collector.finish(encoding, size, fingerprint.finish()))
    }

    /// Returns the window's lines as they are shown.
    pub(crate) fn decoded(&self) -> Vec<String> {
        let utf8 = Encoding::Utf8 { bom: false };
        let encoding = if self.encoding == Encoding::Windows1252 { self.encoding } else { utf8 };
        let line = |bytes: &Vec<u8>| {
            let text = encoding.decode(bytes);
            match head(&text, LINE_CHARS) {
                (_, false) => text,
                (start, true) => format!("{start}{LINE_CUT}"),
            }
        };
        self.kept.iter().map(line).collect()
    }
}

fn decoded(decoder: &mut Decoder, mut bytes: &[u8], last: bool) -> String {
    let mut text = String::with_capacity(bytes.len() * 2 + 16);
    loop {
        let (result, read, _) = decoder.decode_to_string(bytes, &mut text, last);
        bytes = &bytes[read..];
        match result {
            encoding_rs::CoderResult::InputEmpty => return text,
            encoding_rs::CoderResult::OutputFull => text.reserve(bytes.len() * 2 + 16),
        }
    }
}

/// Whether a stream is UTF-8, told chunk by chunk.
#[derive(Default)]
struct Utf8Check {
    /// The beginning of a character whose end is in the next chunk.
    open: Vec<u8>,
    broken: bool,
}

impl Utf8Check {
    fn feed(&mut self, mut bytes: &[u8]) {
        while !self.open.is_empty() && !bytes.is_empty() && !self.broken {
            self.open.push(bytes[0]);
            bytes = &bytes[1..];
            match std::str::from_utf8(&self.open) {
                Ok(_) => self.open.clear(),
                Err(error) => self.broken = error.error_len().is_some(),
            }
        }
        if self.broken {
            return;
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            self.broken = error.error_len().is_some();
            self.open.extend_from_slice(&bytes[error.valid_up_to()..]);
        }
    }

    fn is_valid(&self) -> bool {
        !self.broken && self.open.is_empty()
    }
}

struct Collector {
    window: LineRange,
    /// Number of the line being read, from 1.
    line: u64,
    /// Whether that line has any bytes yet.
    begun: bool,
    current: Vec<u8>,
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
    capped: bool,
    has_nul: bool,
}

impl Collector {
    fn new(window: LineRange) -> Self {
        Self {
            window,
            line: 1,
            begun: false,
            current: Vec::new(),
            kept: Vec::new(),
            kept_bytes: 0,
            capped: false,
            has_nul: false,
        }
    }

    fn feed(&mut self, bytes: &[u8]) {
        self.has_nul = self.has_nul || bytes.contains(&0);
        let mut rest = bytes;
        while !rest.is_empty() && self.line <= self.end() {
            let newline = rest.iter().position(|byte| *byte == b'\n');
            let part = &rest[..newline.unwrap_or(rest.len())];
            if self.wanted() {
                let room = LINE_BYTES.saturating_sub(self.current.len());
                self.current.extend_from_slice(&part[..part.len().min(room)]);
            }
            self.begun = true;
            match newline {
                Some(at) => {
                    self.end_line(true);
                    rest = &rest[at + 1..];
                }
                None => return,
            }
        }
        // After the window line feeds are only counted.
        if let Some(last) = rest.last() {
            self.line += rest.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.begun = *last != b'\n';
        }
    }

    /// Returns the window's last line.
    fn end(&self) -> u64 {
        self.window.first.saturating_add(self.window.limit - 1)
    }

    fn wanted(&self) -> bool {
        self.line >= self.window.first && self.line <= self.end() && !self.capped
    }

    fn end_line(&mut self, terminated: bool) {
        if self.wanted() {
            let mut line = std::mem::take(&mut self.current);
            if terminated && line.len() < LINE_BYTES && line.last() == Some(&b'\r') {
                line.pop();
            }
            self.kept_bytes += line.len().min(LINE_CHARS * 4) + 1;
            // The first line is shown whatever its length.
            if self.kept_bytes > self.window.cap && !self.kept.is_empty() {
                self.capped = true;
            } else {
                self.kept.push(line);
            }
        }
        self.line += 1;
        self.begun = false;
    }

    fn finish(mut self, encoding: Encoding, size: u64, fingerprint: String) -> LineWindow {
        if self.begun {
            self.end_line(false);
        }
        LineWindow {
            total: self.line - 1,
            encoding,
            has_nul: self.has_nul,
            capped: self.capped,
            size,
            fingerprint,
            kept: self.kept,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Hands out its bytes in pieces of the given sizes.
    struct Pieces<'a>(&'a [u8], usize);
    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(self.0.len()).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn numbered(text: &str) -> Vec<&str> {
        let body = text.strip_suffix('\n').unwrap_or(text);
        if text.is_empty() { Vec::new() } else { body.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)).collect() }
    }

    proptest! {
        #[test]
        fn a_window_is_the_same_however_the_bytes_arrive(
            text in "([a-zé→🙂]{0,3}(\n|\r\n)?){0,12}", first in 1u64..6, limit in 1u64..6, piece in 1usize..5,
            encoding in prop::sample::select(vec![
                Encoding::Utf8 { bom: false }, Encoding::Utf8 { bom: true },
                Encoding::Utf16Le { bom: true }, Encoding::Utf16Be { bom: true },
            ]),
        ) {
            // A final CR is only dropped before a line feed.
            prop_assume!(!text.ends_with('\r'));
            let bytes = encoding.encode(&text).unwrap();
            let window = LineRange { first, limit, cap: 1000 };
            let lines = LineWindow::collect(Pieces(&bytes, piece), Encoding::sniff(&bytes), window).unwrap();
            let all = numbered(&text);
            let expected: Vec<_> = all.iter().skip(first as usize - 1).take(limit as usize).copied().collect();
            prop_assert_eq!(lines.total, all.len() as u64);
            prop_assert_eq!(lines.encoding, encoding);
            prop_assert_eq!(lines.decoded(), expected);
            prop_assert_eq!(lines.fingerprint, ona_api::digest::sha256_hex(&bytes));
        }
    }

    #[test]
    fn the_byte_limit_ends_the_window_but_not_the_count() {
        let window = LineRange { first: 1, limit: 100, cap: 10 };
        let lines = LineWindow::collect(&b"12345678\n1234\n1\n"[..], None, window).unwrap();
        assert_eq!((lines.total, lines.capped, lines.decoded()), (3, true, vec!["12345678".to_owned()]));
    }
}
