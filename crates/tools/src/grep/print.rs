//! The hits of one file as text.

use super::{GrepInput, OutputMode, shown};
use crate::Count;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use ona_api::text::head;
use std::io;
use std::path::Path;

/// Stands between lines that do not follow each other, when context is shown.
pub(super) const BREAK: &str = "--";
/// Characters of a line that are shown.
const LINE_CHARS: usize = 500;
const LINE_CUT: &str = " [line cut at 500 characters]";

/// What is wanted of each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// That it matches.
    Files,
    Counts,
    Lines {
        numbers: bool,
        only_matching: bool,
        before: usize,
        after: usize,
    },
}

impl Style {
    pub(crate) fn of(input: &GrepInput) -> Self {
        match input.output_mode.unwrap_or_default() {
            OutputMode::FilesWithMatches => Style::Files,
            OutputMode::Count => Style::Counts,
            OutputMode::Content => {
                let only_matching = input.only_matching == Some(true);
                let around = input.context.or(input.around);
                let lines = |own: Option<Count>| if only_matching { 0 } else { own.or(around).map_or(0, Count::get) };
                Style::Lines {
                    numbers: input.line_numbers != Some(false),
                    only_matching,
                    before: lines(input.before),
                    after: lines(input.after),
                }
            }
        }
    }

    /// Lines before and after a match.
    pub(crate) fn context(self) -> (usize, usize) {
        match self {
            Style::Lines { before, after, .. } => (before, after),
            Style::Files | Style::Counts => (0, 0),
        }
    }

    pub(crate) fn has_numbers(self) -> bool {
        matches!(self, Style::Lines { numbers: true, .. })
    }
}

#[derive(Debug, Default)]
pub(super) struct FileHits {
    /// Matching lines; in a multi-line search, matches.
    pub matches: u64,
    /// The first lines to show.
    pub lines: Vec<String>,
    /// Lines to show in all.
    pub total: usize,
}

/// Turns matches into lines, keeping no more of them than an answer can need.
pub(super) struct HitPrinter<'m> {
    matcher: &'m RegexMatcher,
    style: Style,
    window: usize,
}

impl<'m> HitPrinter<'m> {
    pub(crate) fn new(matcher: &'m RegexMatcher, style: Style, window: usize) -> Self {
        Self { matcher, style, window }
    }

    /// Returns the hits of one file, if it has any. `run` starts the search.
    pub(crate) fn search(
        &self,
        path: &Path,
        run: impl FnOnce(&'m RegexMatcher, &mut FileSink<'_>) -> io::Result<()>,
    ) -> io::Result<Option<FileHits>> {
        let mut sink = FileSink { printer: self, path, name: None, hits: FileHits::default(), binary: None };
        run(self.matcher, &mut sink)?;
        Ok(sink.finished())
    }
}

pub(super) struct FileSink<'p> {
    printer: &'p HitPrinter<'p>,
    path: &'p Path,
    /// The path as text, made when first needed.
    name: Option<String>,
    hits: FileHits,
    binary: Option<Binary>,
}

/// A NUL byte was met.
enum Binary {
    /// In a file found by the walk: it does not count.
    Skipped,
    /// In a file that was named: matches are reported, but not shown.
    Named { offset: u64, matched: bool },
}

impl FileSink<'_> {
    fn finished(mut self) -> Option<FileHits> {
        match self.binary.take() {
            Some(Binary::Skipped) => return None,
            Some(Binary::Named { offset, matched: true }) => {
                let notice = format!("{}: binary file matches (NUL byte at offset {offset})", shown(self.path));
                self.push(|_| notice);
            }
            _ => {}
        }
        (self.hits.matches > 0).then_some(self.hits)
    }

    fn push(&mut self, line: impl FnOnce(&str) -> String) {
        self.hits.total += 1;
        if self.hits.lines.len() < self.printer.window {
            let name = self.name.get_or_insert_with(|| shown(self.path).into_owned());
            self.hits.lines.push(line(name));
        }
    }

    /// One line of a match (`:`) or of its context (`-`).
    fn line(&mut self, mark: char, number: Option<u64>, bytes: &[u8]) {
        self.push(|name| {
            let text = String::from_utf8_lossy(bytes.strip_suffix(b"\n").unwrap_or(bytes));
            let (start, cut) = head(text.strip_suffix('\r').unwrap_or(&text), LINE_CHARS);
            let cut = if cut { LINE_CUT } else { "" };
            match number {
                Some(number) => format!("{name}{mark}{number}{mark}{start}{cut}"),
                None => format!("{name}{mark}{start}{cut}"),
            }
        });
    }

    /// Each part of the matched lines that matches, as lines of its own.
    fn parts(&mut self, found: &SinkMatch<'_>) -> io::Result<()> {
        let bytes = found.bytes();
        let matcher = self.printer.matcher;
        let searched = matcher.find_iter(bytes, |part| {
            if !part.is_empty() {
                let number = found.line_number().map(|first| first + newlines(&bytes[..part.start()]));
                for (i, line) in bytes[part].split_inclusive(|byte| *byte == b'\n').enumerate() {
                    self.line(':', number.map(|number| number + i as u64), line);
                }
            }
            true
        });
        searched.map_err(io::Error::other)
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.hits.matches += 1;
        if let Some(Binary::Named { matched, .. }) = &mut self.binary {
            *matched = true;
            // One match of a binary file is all that will be told, except when counting.
            return Ok(self.printer.style == Style::Counts);
        }
        match self.printer.style {
            Style::Files => return Ok(false),
            Style::Counts => {
                if searcher.multi_line_with_matcher(self.printer.matcher) {
                    let mut matches = 0;
                    let counted = self.printer.matcher.find_iter(found.bytes(), |_| {
                        matches += 1;
                        true
                    });
                    counted.map_err(io::Error::other)?;
                    self.hits.matches += u64::max(matches, 1) - 1;
                }
            }
            Style::Lines { only_matching: true, .. } => self.parts(found)?,
            Style::Lines { .. } => {
                let mut number = found.line_number();
                for line in found.lines() {
                    self.line(':', number, line);
                    number = number.map(|number| number + 1);
                }
            }
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        self.line('-', context.line_number(), context.bytes());
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        self.push(|_| BREAK.into());
        Ok(true)
    }

    fn binary_data(&mut self, searcher: &Searcher, offset: u64) -> io::Result<bool> {
        let skips = searcher.binary_detection().quit_byte().is_some();
        self.binary = Some(if skips { Binary::Skipped } else { Binary::Named { offset, matched: false } });
        Ok(true)
    }
}
