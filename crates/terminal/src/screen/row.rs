//! One row as it stands on the screen, and what has to be written to turn it into another one.

use super::width::{grapheme_width, needs_whole_row};
use ratatui_core::style::{Color, Modifier, Style};
use ratatui_core::text::Line;
use std::fmt::Write as _;
use unicode_segmentation::UnicodeSegmentation;

/// A character as the reader sees it, with its style. It takes one or two columns.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    /// Where its text starts in the row's text.
    start: u32,
    column: u16,
    width: u8,
    style: Style,
}

/// The cells of a row, without blanks at its end.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    text: String,
    cells: Vec<Cell>,
    /// Terminals disagree on the width of something in it, so columns after that are not known:
    /// such a row is always written as a whole.
    whole: bool,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.cells.len() == other.cells.len()
            && self.cells.iter().zip(&other.cells).all(|(a, b)| a.style == b.style)
    }
}

/// Runs of equal cells shorter than this are written again, because jumping over them costs more.
const WORTH_A_JUMP: u16 = 6;

impl Row {
    /// The rows of a line, cut where the next character would not fit into `width`.
    pub(super) fn of_line(line: &Line<'_>, width: u16, colours: bool) -> Vec<Self> {
        let width = width.max(2);
        let mut rows = vec![Self::default()];
        let mut column = 0;
        for span in &line.spans {
            let style = reduced(line.style.patch(span.style), colours);
            for grapheme in span.content.graphemes(true) {
                // Who makes lines has replaced control characters; this is for what was forgotten.
                let grapheme = if grapheme.chars().any(char::is_control) { "\u{fffd}" } else { grapheme };
                let taken = grapheme_width(grapheme) as u16;
                if column + taken > width {
                    rows.push(Self::default());
                    column = 0;
                }
                let Some(row) = rows.last_mut() else { break };
                if taken == 0 {
                    // A mark without a base joins the character before it.
                    if !row.cells.is_empty() {
                        row.text.push_str(grapheme);
                        row.whole = true;
                    }
                    continue;
                }
                row.whole |= needs_whole_row(grapheme);
                row.cells.push(Cell { start: row.text.len() as u32, column, width: taken as u8, style });
                row.text.push_str(grapheme);
                column += taken;
            }
        }
        for row in &mut rows {
            row.trim();
        }
        rows
    }

    fn trim(&mut self) {
        while let Some(last) = self.cells.last() {
            let shows = last.style.add_modifier.intersects(Modifier::REVERSED | Modifier::UNDERLINED);
            if &self.text[last.start as usize..] != " " || shows {
                break;
            }
            self.text.truncate(last.start as usize);
            self.cells.pop();
        }
    }

    /// Columns up to the last character.
    pub(super) fn width(&self) -> u16 {
        self.cells.last().map_or(0, |cell| cell.column + u16::from(cell.width))
    }

    /// How many rows a terminal of `width` columns makes of this one, and on which of them the
    /// character at `column` then stands.
    pub(super) fn wrapped(&self, width: u16, column: u16) -> (u16, u16) {
        let width = width.max(1);
        let (mut row, mut used, mut at) = (0, 0, None);
        for cell in &self.cells {
            let taken = u16::from(cell.width);
            if used + taken > width {
                row += 1;
                used = 0;
            }
            if at.is_none() && cell.column >= column {
                at = Some(row);
            }
            used += taken;
        }
        // Behind the text terminals differ; the last character's row is never too far below.
        (row + 1, at.unwrap_or(row))
    }

    fn text_of(&self, index: usize) -> &str {
        let end = self.cells.get(index + 1).map_or(self.text.len(), |cell| cell.start as usize);
        &self.text[self.cells[index].start as usize..end]
    }

    fn same_at(&self, index: usize, other: &Self, at: usize) -> bool {
        self.cells[index].style == other.cells[at].style && self.text_of(index) == other.text_of(at)
    }

    /// The stretches of columns in which `new`, which is not shorter, differs: ranges of its cells.
    fn changes(&self, new: &Self) -> Vec<(usize, usize)> {
        if self == new {
            return Vec::new();
        }
        let mut changes: Vec<(usize, usize)> = Vec::new();
        let mut old = 0;
        for (index, cell) in new.cells.iter().enumerate() {
            while old < self.cells.len() && self.cells[old].column < cell.column {
                old += 1;
            }
            let same = old < self.cells.len()
                && self.cells[old].column == cell.column
                && self.cells[old].width == cell.width
                && self.same_at(old, new, index);
            if same {
                continue;
            }
            match changes.last_mut() {
                Some((_, end)) if cell.column < new.cells[*end - 1].column + WORTH_A_JUMP => *end = index + 1,
                _ => changes.push((index, index + 1)),
            }
        }
        changes
    }

    /// About how many bytes `update` would write.
    pub(super) fn cost(&self, new: &Self) -> usize {
        if self.shrinks_to(new) {
            return new.cells.len() + 8;
        }
        self.changes(new).iter().map(|(start, end)| end - start + 8).sum()
    }

    /// A row that gets shorter is emptied and written anew: if only its end were erased, some
    /// terminals (tmux) would still count it as text when they wrap it to a new width.
    fn shrinks_to(&self, new: &Self) -> bool {
        self != new && (self.width() > new.width() || self.whole || new.whole)
    }

    /// Writes what turns this row, on which the cursor stands, into `new`.
    pub(super) fn update(&self, new: &Self, pen: &mut Pen) {
        if self.shrinks_to(new) {
            pen.column(0);
            pen.style(Style::new());
            pen.bytes.push_str("\x1b[K");
            new.write_all(pen);
            return;
        }
        for (start, end) in self.changes(new) {
            pen.column(new.cells[start].column);
            new.write(start, end, pen);
        }
    }

    /// Writes all of it from the first column of an empty row.
    pub(super) fn write_all(&self, pen: &mut Pen) {
        self.write(0, self.cells.len(), pen);
    }

    /// Writes all of it where the cursor is; the terminal may wrap it.
    pub(super) fn append(&self, pen: &mut Pen) {
        for (index, cell) in self.cells.iter().enumerate() {
            pen.style(cell.style);
            pen.bytes.push_str(self.text_of(index));
        }
    }

    fn write(&self, start: usize, end: usize, pen: &mut Pen) {
        // Where a terminal takes more columns than counted, it must not go on on the next row.
        if self.whole {
            pen.bytes.push_str("\x1b[?7l");
        }
        for index in start..end {
            pen.style(self.cells[index].style);
            pen.bytes.push_str(self.text_of(index));
        }
        if self.whole {
            pen.bytes.push_str("\x1b[?7h");
        }
        pen.at = match (end.checked_sub(1), self.whole) {
            (Some(last), false) => Some(self.cells[last].column + u16::from(self.cells[last].width)),
            (None, _) => pen.at,
            _ => None,
        };
    }
}

/// Collects the bytes of a frame and remembers how the next character will look.
#[derive(Debug, Default)]
pub(super) struct Pen {
    pub(super) bytes: String,
    style: Style,
    /// The column of the cursor, unless it is unknown or behind the last column.
    pub(super) at: Option<u16>,
}

impl Pen {
    pub(super) fn at(column: u16) -> Self {
        Self { at: Some(column), ..Self::default() }
    }

    pub(super) fn column(&mut self, column: u16) {
        match (self.at, column) {
            (Some(at), _) if at == column => {}
            (_, 0) => self.bytes.push('\r'),
            _ => push(&mut self.bytes, format_args!("\x1b[{}G", column + 1)),
        }
        self.at = Some(column);
    }

    /// Moves by rows; the column stays.
    pub(super) fn rows(&mut self, from: usize, to: usize) {
        match (from.cmp(&to), from.abs_diff(to)) {
            (_, 0) => {}
            (std::cmp::Ordering::Greater, 1) => self.bytes.push_str("\x1b[A"),
            (std::cmp::Ordering::Greater, by) => push(&mut self.bytes, format_args!("\x1b[{by}A")),
            (_, 1) => self.bytes.push_str("\x1b[B"),
            (_, by) => push(&mut self.bytes, format_args!("\x1b[{by}B")),
        }
    }

    pub(super) fn push(&mut self, arguments: std::fmt::Arguments<'_>) {
        push(&mut self.bytes, arguments);
    }

    pub(super) fn style(&mut self, style: Style) {
        if style == self.style {
            return;
        }
        let plain = std::mem::replace(&mut self.style, style) == Style::new();
        if style == Style::new() {
            self.bytes.push_str("\x1b[m");
            return;
        }
        self.bytes.push_str(if plain { "\x1b[" } else { "\x1b[0;" });
        let modifiers = MODIFIERS.iter().filter(|(modifier, _)| style.add_modifier.contains(*modifier));
        let codes = modifiers.map(|(_, code)| *code).chain(style.fg.and_then(colour_code));
        for (index, code) in codes.enumerate() {
            push(&mut self.bytes, format_args!("{}{code}", if index > 0 { ";" } else { "" }));
        }
        self.bytes.push('m');
    }
}

fn push(bytes: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    bytes.write_fmt(arguments).unwrap_or_default();
}

const MODIFIERS: [(Modifier, u8); 6] = [
    (Modifier::BOLD, 1),
    (Modifier::DIM, 2),
    (Modifier::ITALIC, 3),
    (Modifier::UNDERLINED, 4),
    (Modifier::REVERSED, 7),
    (Modifier::CROSSED_OUT, 9),
];

/// Only what is written: foreground and modifiers. No background is ever set.
fn reduced(style: Style, colours: bool) -> Style {
    let known = MODIFIERS.iter().fold(Modifier::empty(), |all, (modifier, _)| all | *modifier);
    Style {
        fg: style.fg.filter(|colour| colours && colour_code(*colour).is_some()),
        add_modifier: style.add_modifier.difference(style.sub_modifier) & known,
        ..Style::new()
    }
}

/// The 16 colours that follow the theme of the terminal; others would not.
fn colour_code(colour: Color) -> Option<u8> {
    Some(match colour {
        Color::Black => 30,
        Color::Red => 31,
        Color::Green => 32,
        Color::Yellow => 33,
        Color::Blue => 34,
        Color::Magenta => 35,
        Color::Cyan => 36,
        Color::Gray => 37,
        Color::DarkGray => 90,
        Color::LightRed => 91,
        Color::LightGreen => 92,
        Color::LightYellow => 93,
        Color::LightBlue => 94,
        Color::LightMagenta => 95,
        Color::LightCyan => 96,
        Color::White => 97,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}
