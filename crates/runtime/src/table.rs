//! Lists for a person at a terminal: aligned columns below a head, cut to the width, coloured where that is
//! wanted. What programs read is written elsewhere and stays as it is.

use ona_permissions::printable;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What a text is to the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Heading,
    Secondary,
    Good,
    Bad,
}

impl Tone {
    /// Returns the text as a terminal shows it in this tone.
    pub fn paint(self, text: &str, coloured: bool) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Heading => 1,
            Self::Secondary => 2,
            Self::Good => 32,
            Self::Bad => 31,
        };
        if coloured && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// How the terminal is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalStyle {
    /// Columns of a line.
    pub width: usize,
    pub coloured: bool,
}

/// A list with a head. Only the last column is cut.
pub struct Table {
    head: Vec<&'static str>,
    rows: Vec<Vec<(String, Tone)>>,
}

impl Table {
    pub fn new<const COLUMNS: usize>(head: [&'static str; COLUMNS]) -> Self {
        Self { head: head.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; what a text holds cannot move the cursor.
    pub fn row(&mut self, cells: impl IntoIterator<Item = (String, Tone)>) {
        self.rows.push(cells.into_iter().map(|(text, tone)| (printable(&text), tone)).collect());
    }

    pub fn lines(&self, style: TerminalStyle) -> Vec<String> {
        let cells = |column: usize| self.rows.iter().filter_map(move |row| Some(row.get(column)?.0.as_str()));
        let widths: Vec<usize> = (self.head.iter().enumerate())
            .map(|(column, head)| cells(column).chain([*head]).map(UnicodeWidthStr::width).max().unwrap_or(0))
            .collect();
        // Numbers are compared by their ends.
        let is_number = |column| cells(column).all(|text| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit()));
        let numbers: Vec<bool> =
            (0..self.head.len()).map(|column| !self.rows.is_empty() && is_number(column)).collect();
        let head = self.head.iter().map(|name| (name.to_uppercase(), Tone::Heading)).collect();
        let line = |row: &Vec<(String, Tone)>| {
            let mut line = String::new();
            let mut used = 0;
            for (column, (text, tone)) in row.iter().enumerate() {
                let is_last = column + 1 == self.head.len();
                let text = if is_last { cut(text, style.width.saturating_sub(used)) } else { text.clone() };
                let room = " ".repeat(widths[column].saturating_sub(text.width()));
                let painted = tone.paint(&text, style.coloured);
                match (numbers[column], is_last) {
                    (true, _) => line.push_str(&format!("{room}{painted}")),
                    (false, true) => line.push_str(&painted),
                    (false, false) => line.push_str(&format!("{painted}{room}")),
                }
                if !is_last {
                    line.push_str("  ");
                    used += widths[column] + 2;
                }
            }
            line.trim_end().to_owned()
        };
        std::iter::once(&head).chain(&self.rows).map(line).collect()
    }
}

/// The beginning of a text that fits; at least a few characters.
fn cut(text: &str, width: usize) -> String {
    const LEAST: usize = 10;
    let width = width.max(LEAST);
    if text.width() <= width {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        shown.push(c);
    }
    format!("{}…", shown.trim_end())
}

/// Returns the shortest beginnings, of at least eight characters, by which each id is found among all.
pub fn short_ids<'a>(ids: &[&'a str]) -> Vec<&'a str> {
    const SHORTEST: usize = 8;
    let is_own = |id: &str, length: usize| {
        let beginning = &id[..length];
        ids.iter().filter(|other| other.starts_with(beginning)).take(2).count() < 2
    };
    let short = |id: &'a str| {
        let mut ends = id.char_indices().map(|(at, c)| at + c.len_utf8()).skip(SHORTEST - 1);
        ends.find(|end| is_own(id, *end)).map_or(id, |end| &id[..end])
    };
    ids.iter().map(|id| short(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(["plan", "status", "title"]);
        let row = |id: &str, status: &str, tone, title: &str| {
            [(id.into(), Tone::Plain), (status.into(), tone), (title.into(), Tone::Plain)]
        };
        table.row(row("7", "approved", Tone::Good, "a title of some length"));
        table.row(row("12", "draft", Tone::Plain, "日本\u{1b}[2J"));
        table
    }

    #[test]
    fn columns_are_aligned_and_the_last_one_is_cut() {
        let lines = |width, coloured| table().lines(TerminalStyle { width, coloured });
        assert_eq!(
            lines(80, false),
            ["PLAN  STATUS    TITLE", "   7  approved  a title of some length", "  12  draft     日本\\u{1b}[2J",]
        );
        assert_eq!(lines(27, false)[1..], ["   7  approved  a title of…", "  12  draft     日本\\u{1b}…"]);
        assert_eq!(lines(80, true)[1], "   7  \u{1b}[32mapproved\u{1b}[0m  a title of some length");
        assert_eq!(Table::new(["a", "b"]).lines(TerminalStyle { width: 9, coloured: false }), ["A  B"]);
    }

    #[test]
    fn short_ids_are_found_again() {
        let ids = ["5e551000-0000", "5e551000-0001", "c", "9f00aabbccdd"];
        assert_eq!(short_ids(&ids), ["5e551000-0000", "5e551000-0001", "c", "9f00aabb"]);
    }
}
