//! Cuts a growing text into pieces that are complete.
//!
//! Lines go in one after another; each may complete pieces. What a piece is depends on the lines
//! before it alone, never on how a stream cut them: the pieces of a text are always the same. Items
//! of a list and lines of code are pieces of their own, so that a long list or file does not have
//! to be drawn again for every word.

/// A part of a text that can be drawn by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// An empty line goes before it, unless it is the first.
    pub(super) gap: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Paragraphs, headings, quotes, rules: Markdown that contains no list and no code.
    Text(String),
    /// An item of a list, without its marker and its indentation.
    Item {
        number: Option<u64>,
        text: String,
    },
    Table(String),
    /// Code starts, in this language.
    Code(String),
    CodeLine(String),
}

/// Longer paragraphs are cut between lines, so that each frame has little to draw.
const LONG_PARAGRAPH: usize = 4_096;

#[derive(Clone, Debug, Default)]
pub(super) struct Splitter {
    open: Open,
    /// Empty lines came before the line that is looked at.
    blank: bool,
    /// What the piece before was, which decides on gaps.
    before: Before,
    /// Whether the lines of an item are inside of code.
    item_code: Option<Fence>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Nothing,
    Text,
    Item,
    /// Headings, code, tables: set apart from what follows.
    Block,
}

#[derive(Clone, Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Paragraph(Vec<String>),
    Quote(Vec<String>),
    Table(Vec<String>),
    Item(Item),
    Fence(Fence),
    /// Code by four blanks; empty lines that may still belong to it.
    Indented(usize),
}

#[derive(Clone, Debug)]
struct Item {
    lines: Vec<String>,
    /// Columns of the marker: lines with as many blanks belong to the item.
    indent: usize,
    number: Option<u64>,
    gap: bool,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Splitter {
    /// Takes one line, without its end; returns what is complete now.
    pub(super) fn line(&mut self, line: &str) -> Vec<Piece> {
        let mut done = Vec::new();
        self.take(line, &mut done);
        done
    }

    /// The text is over.
    pub(super) fn end(&mut self) -> Vec<Piece> {
        let mut done = Vec::new();
        self.close(&mut done);
        done
    }

    fn take(&mut self, line: &str, done: &mut Vec<Piece>) {
        let blank = line.trim().is_empty();
        let lazy = !blank && !starts_block(line);
        match &mut self.open {
            Open::Nothing => {}
            Open::Fence(fence) => {
                if fence.is_closed_by(line) {
                    self.open = Open::Nothing;
                    return;
                }
                let line = strip_indent(line, fence.indent);
                return done.push(Piece { gap: false, kind: Kind::CodeLine(line.to_owned()) });
            }
            Open::Indented(empty) => {
                if blank {
                    *empty += 1;
                    return;
                }
                if indent(line) >= 4 {
                    for _ in 0..std::mem::take(empty) {
                        done.push(Piece { gap: false, kind: Kind::CodeLine(String::new()) });
                    }
                    return done.push(Piece { gap: false, kind: Kind::CodeLine(strip_indent(line, 4).to_owned()) });
                }
                self.blank = *empty > 0;
            }
            Open::Item(item) => {
                if let Some(fence) = self.item_code {
                    if fence.is_closed_by(strip_indent(line, item.indent)) {
                        self.item_code = None;
                    }
                    return item.lines.push(strip_indent(line, item.indent).to_owned());
                }
                if blank {
                    self.blank = true;
                    return item.lines.push(String::new());
                }
                let inside = indent(line) >= item.indent || (indent(line) >= 2 && marker(line).is_some());
                if inside || (lazy && !self.blank && marker(line).is_none()) {
                    let line = strip_indent(line, item.indent);
                    self.item_code = Fence::opened_by(line).map(|(fence, _)| fence);
                    self.blank = false;
                    return item.lines.push(line.to_owned());
                }
            }
            Open::Quote(lines) => {
                if line.trim_start().starts_with('>') || (lazy && marker(line).is_none()) {
                    return lines.push(line.to_owned());
                }
            }
            Open::Table(lines) => {
                if lazy {
                    return lines.push(line.to_owned());
                }
            }
            Open::Paragraph(lines) => {
                if underlines_heading(line) {
                    lines.push(line.to_owned());
                    return self.close(done);
                }
                if let Some(header) = lines.last()
                    && is_delimiter_row(line, header)
                {
                    let header = lines.pop().unwrap_or_default();
                    let table = vec![header, line.to_owned()];
                    if lines.is_empty() {
                        self.open = Open::Nothing;
                    } else {
                        self.close(done);
                    }
                    self.open = Open::Table(table);
                    return;
                }
                if lazy && interrupts(line).is_none() {
                    lines.push(line.to_owned());
                    if lines.iter().map(String::len).sum::<usize>() > LONG_PARAGRAPH {
                        self.close(done);
                    }
                    return;
                }
            }
        }
        self.close(done);
        if blank {
            self.blank = true;
            return;
        }
        self.begin(line, done);
    }

    /// A line that starts something new.
    fn begin(&mut self, line: &str, done: &mut Vec<Piece>) {
        if indent(line) >= 4 {
            let gap = self.gap(Before::Block);
            done.push(Piece { gap, kind: Kind::Code(String::new()) });
            done.push(Piece { gap: false, kind: Kind::CodeLine(strip_indent(line, 4).to_owned()) });
            self.open = Open::Indented(0);
        } else if let Some((fence, language)) = Fence::opened_by(line) {
            let gap = self.gap(Before::Block);
            done.push(Piece { gap, kind: Kind::Code(language) });
            self.open = Open::Fence(fence);
        } else if is_heading(line) || is_rule(line) {
            let gap = self.gap(Before::Block);
            done.push(Piece { gap, kind: Kind::Text(line.to_owned()) });
        } else if line.trim_start().starts_with('>') {
            self.open = Open::Quote(vec![line.to_owned()]);
        } else if let Some(found) = marker(line) {
            let gap = self.gap(Before::Item);
            let text = line.get(found.text..).unwrap_or_default().to_owned();
            self.item_code = Fence::opened_by(&text).map(|(fence, _)| fence);
            self.open = Open::Item(Item { lines: vec![text], indent: found.indent, number: found.number, gap });
        } else {
            self.open = Open::Paragraph(vec![line.to_owned()]);
        }
        self.blank = false;
    }

    fn close(&mut self, done: &mut Vec<Piece>) {
        let (kind, before) = match std::mem::take(&mut self.open) {
            Open::Nothing | Open::Fence(_) | Open::Indented(_) => return,
            Open::Paragraph(lines) => {
                let heading = lines.len() > 1 && lines.last().is_some_and(|line| underlines_heading(line));
                (Kind::Text(lines.join("\n")), if heading { Before::Block } else { Before::Text })
            }
            Open::Quote(lines) => (Kind::Text(lines.join("\n")), Before::Block),
            Open::Table(lines) => (Kind::Table(lines.join("\n")), Before::Block),
            Open::Item(mut item) => {
                while item.lines.last().is_some_and(|line| line.trim().is_empty()) {
                    item.lines.pop();
                }
                self.item_code = None;
                let text = item.lines.join("\n");
                return done.push(Piece { gap: item.gap, kind: Kind::Item { number: item.number, text } });
            }
        };
        // The line that follows has not been looked at: what was blank came before this piece.
        let blank = std::mem::take(&mut self.blank);
        let gap = self.gap_after(blank, before);
        done.push(Piece { gap, kind });
    }

    fn gap(&mut self, piece: Before) -> bool {
        let blank = std::mem::take(&mut self.blank);
        self.gap_after(blank, piece)
    }

    fn gap_after(&mut self, blank: bool, piece: Before) -> bool {
        let before = std::mem::replace(&mut self.before, piece);
        match (before, piece) {
            (Before::Nothing, _) => false,
            (Before::Item, Before::Item) => blank,
            (Before::Text, Before::Item) => blank,
            _ => true,
        }
    }
}

impl Fence {
    /// The fence that a line opens, and the language it names.
    fn opened_by(line: &str) -> Option<(Self, String)> {
        let indent = indent(line);
        let text = line.trim_start();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        let info = text[length..].trim();
        let fits = indent < 4 && length >= 3 && !(mark == '`' && info.contains('`'));
        let language = info.split([' ', ',', '{']).next().unwrap_or_default().to_owned();
        fits.then_some((Self { mark, length, indent }, language))
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let text = line.trim();
        indent(line) < 4 && text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

struct Marker {
    number: Option<u64>,
    /// Columns up to the text of the item.
    indent: usize,
    /// Bytes up to it.
    text: usize,
}

fn marker(line: &str) -> Option<Marker> {
    let lead = indent(line);
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text[digits..].chars().next()?;
    let number = match (digits, mark) {
        (0, '-' | '*' | '+') => None,
        (1..=9, '.' | ')') => Some(text[..digits].parse().ok()?),
        _ => return None,
    };
    let behind = &text[digits + 1..];
    if is_rule(line) || !(behind.is_empty() || behind.starts_with([' ', '\t'])) {
        return None;
    }
    let blanks = behind.bytes().take_while(|byte| *byte == b' ').count();
    // Five blanks or more: the text is code that starts after one.
    let blanks = if blanks == 0 || blanks > 4 { 1.min(behind.len()) } else { blanks };
    let at = line.len() - behind.len() + blanks;
    Some(Marker { number, indent: lead + digits + 1 + blanks.max(1), text: at })
}

/// What may interrupt a paragraph besides other blocks: a list, if it starts like one.
fn interrupts(line: &str) -> Option<Marker> {
    marker(line).filter(|found| found.number.is_none_or(|number| number == 1) && found.text < line.len())
}

/// Whether a line starts something other than a paragraph or a list.
fn starts_block(line: &str) -> bool {
    Fence::opened_by(line).is_some() || is_heading(line) || is_rule(line) || line.trim_start().starts_with('>')
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    indent(line) < 4 && (1..=6).contains(&level) && (text.len() == level || text[level..].starts_with([' ', '\t']))
}

fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !matches!(c, ' ' | '\t'));
    let Some(mark) = marks.next().filter(|mark| matches!(mark, '-' | '*' | '_')) else { return false };
    indent(line) < 4 && line.chars().filter(|c| *c == mark).count() >= 3 && marks.all(|c| c == mark)
}

fn underlines_heading(line: &str) -> bool {
    let text = line.trim();
    indent(line) < 4 && !text.is_empty() && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'))
}

fn is_delimiter_row(line: &str, header: &str) -> bool {
    let cells = |line: &str| line.trim().trim_matches('|').split('|').count();
    header.contains('|')
        && line.contains('-')
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
        && cells(line) == cells(header)
}

/// Columns of blanks at the start.
fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

/// Removes up to so many columns of blanks.
fn strip_indent(line: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = line.char_indices().find(|(_, c)| {
        let blank = used < columns && matches!(c, ' ' | '\t');
        used += if *c == '\t' { 4 } else { 1 };
        !blank
    });
    end.map_or("", |(at, _)| &line[at..])
}
