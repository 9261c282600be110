//! Writes frames: as few bytes as turn the last frame into the next one.
//!
//! The rows of the bottom are known, and so is where in them the cursor stands. Rows are inserted
//! by making room with line feeds below the bottom (which scrolls, and feeds the terminal's
//! scrollback, where room is missing) and an insert-line at their place, so that the rows below
//! need not be written again. Rows are removed with delete-line and never with an erase of the
//! screen, because some terminals copy what is erased into their scrollback.
//!
//! When the width has changed, the terminal may have wrapped the old rows anew. How many rows they
//! take now follows from what was written, so they are removed and painted again.

use super::append::Appender;
use super::row::{Pen, Row};
use super::{Bottom, Size, Title, restore};
use ratatui_core::style::Style;
use ratatui_core::text::Line;
use std::io::{self, Write};

/// What a terminal does with its rows when its width changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reflow {
    /// It wraps them anew: most terminals, tmux, Zellij.
    All,
    /// It wraps all but the row of the cursor: xterm.js, the terminal of VS Code.
    AllButCursorRow,
    /// It cuts them: xterm, GNU screen, the console of Linux.
    Never,
}

/// What a terminal can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PainterOptions {
    pub size: Size,
    /// 16 colours, or none (`NO_COLOR`).
    pub colours: bool,
    pub reflow: Reflow,
}

/// Paints frames on the main screen of a terminal. It starts at the row of the cursor.
#[derive(Debug)]
pub struct Painter<W: Write> {
    out: W,
    options: PainterOptions,
    /// The bottom as it stands on the screen.
    rows: Vec<Row>,
    /// Where the cursor stands: its row in `rows` (0 if there are none) and its column.
    at: (usize, u16),
    hidden: bool,
    title: String,
    overlay: bool,
    /// Plain mode.
    append: Option<Appender>,
}

impl<W: Write> Painter<W> {
    /// The cursor has to stand at the start of an empty row.
    pub fn new(out: W, options: PainterOptions) -> Self {
        Self {
            out,
            options,
            rows: Vec::new(),
            at: (0, 0),
            hidden: false,
            title: String::new(),
            overlay: false,
            append: None,
        }
    }

    /// Plain mode: frames are appended, nothing is ever written over, and titles are not set.
    pub fn plain(out: W, options: PainterOptions) -> Self {
        Self { append: Some(Appender::default()), ..Self::new(out, options) }
    }

    /// Shows one frame: `finished` goes above the bottom, once and for all, and `bottom` replaces
    /// the bottom of the frame before. Ask the terminal for `size` right before each frame: what it
    /// did to the old rows if it was resized is accounted for here.
    ///
    /// Returns the number of bytes written; 0 if nothing has changed.
    pub fn paint(&mut self, size: Size, finished: &[Line<'static>], bottom: &Bottom) -> io::Result<usize> {
        if let Some(append) = &mut self.append {
            let bytes = append.paint(finished, bottom, self.options.colours);
            return self.send(&bytes, false);
        }
        let mut pen = Pen::at(self.at.1);
        let mut touched = 0;
        if size != self.options.size {
            touched += self.forget_old_rows(size, &mut pen);
        }
        let (mut new, finished, cursor) = self.frame(finished, bottom);
        touched += self.rearrange(&new, &mut pen);
        touched += self.rewrite(&new, &mut pen);
        // Behind the last finished row, if nothing is left below it.
        if new.len() == finished && finished > 0 {
            pen.rows(self.at.0, finished - 1);
            pen.bytes.push_str("\r\n");
            pen.at = Some(0);
            self.at.0 = finished;
        }
        self.rows = new.split_off(finished);
        self.place_cursor(finished, cursor, &mut pen);
        restore::rows_below(self.rows.len().saturating_sub(self.at.0) as u16);
        self.send(&pen.bytes, touched > 3)
    }

    /// Sets the title of the window.
    pub fn title(&mut self, title: Title, name: &str) -> io::Result<usize> {
        let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
        let words = match name.as_str() {
            "" => format!("ona · {}", title.words()),
            name => format!("ona · {} · {name}", title.words()),
        };
        if words == self.title || self.append.is_some() {
            return Ok(0);
        }
        let bytes = format!("\x1b]2;{words}\x07");
        self.title = words;
        self.send(&bytes, false)
    }

    /// Removes the bottom and leaves the cursor, visible, at the start of the row below the
    /// finished lines: at the end, for a shell command, for an external editor. The next frame
    /// starts where the cursor is then; it has to stand at the start of an empty row.
    pub fn leave(&mut self, size: Size) -> io::Result<usize> {
        self.paint(size, &[], &Bottom { lines: Vec::new(), cursor: Some((0, 0)) })
    }

    /// Shows `page` on the alternate screen, over everything, and leaves it with `None`. The main
    /// screen is as it was before; the next `paint` continues there.
    pub fn overlay(&mut self, size: Size, page: Option<&Bottom>) -> io::Result<usize> {
        let mut pen = Pen::default();
        if self.append.is_some() {
            // Page by page, as lines.
            let Some(page) = page else { return Ok(0) };
            return self.paint(size, &page.lines, &Bottom::default());
        }
        let Some(page) = page else {
            if std::mem::take(&mut self.overlay) {
                pen.bytes.push_str("\x1b[?1049l");
                pen.bytes.push_str(if self.hidden { "\x1b[?25l" } else { "\x1b[?25h" });
            }
            restore::overlay(false);
            return self.send(&pen.bytes, false);
        };
        restore::overlay(true);
        if !std::mem::replace(&mut self.overlay, true) {
            pen.bytes.push_str("\x1b[?1049h");
        }
        let mut rows = page
            .lines
            .iter()
            .filter_map(|line| Row::of_line(line, size.width, self.options.colours).into_iter().next());
        for number in 1..=size.height {
            pen.push(format_args!("\x1b[{number}H"));
            pen.at = Some(0);
            if let Some(row) = rows.next() {
                row.write_all(&mut pen);
            }
            pen.style(Style::new());
            if pen.at != Some(size.width) {
                pen.bytes.push_str("\x1b[K");
            }
        }
        match page.cursor {
            Some((column, row)) => pen.push(format_args!("\x1b[{};{}H\x1b[?25h", row + 1, column + 1)),
            None => pen.bytes.push_str("\x1b[?25l"),
        }
        self.send(&pen.bytes, true)
    }

    /// What frames are written to.
    pub fn output(&self) -> &W {
        &self.out
    }

    /// The rows of a frame, finished ones first, how many those are, and where the cursor goes.
    fn frame(&self, finished: &[Line<'static>], bottom: &Bottom) -> (Vec<Row>, usize, Option<(usize, u16)>) {
        let Size { width, height } = self.options.size;
        let colours = self.options.colours;
        let mut rows: Vec<Row> = finished.iter().flat_map(|line| Row::of_line(line, width, colours)).collect();
        let done = rows.len();
        let first = bottom.lines.len().saturating_sub(usize::from(height.max(1)));
        let shown = bottom.lines[first..].iter();
        rows.extend(shown.filter_map(|line| Row::of_line(line, width, colours).into_iter().next()));
        let cursor = bottom.cursor.filter(|(_, row)| usize::from(*row) >= first);
        let last = rows.len().saturating_sub(1).max(done);
        let cursor = cursor
            .map(|(column, row)| ((done + usize::from(row) - first).min(last), column.min(width.saturating_sub(1))));
        (rows, done, cursor)
    }

    /// After a resize: removes everything the terminal has made of the old bottom. A change of the
    /// height alone matters too: what stood below the cursor may be gone (tmux).
    fn forget_old_rows(&mut self, size: Size, pen: &mut Pen) -> usize {
        self.options.size = size;
        if self.rows.is_empty() {
            return 0;
        }
        let (row, column) = self.at;
        let (mut above, mut all) = (0, 0);
        for (index, painted) in self.rows.iter().enumerate() {
            let wraps = match self.options.reflow {
                Reflow::All => true,
                Reflow::AllButCursorRow => index != row,
                Reflow::Never => false,
            };
            let cursor = if index == row { column } else { 0 };
            let (rows, at) = if wraps { painted.wrapped(size.width, cursor) } else { (1, 0) };
            above += usize::from(match index.cmp(&row) {
                std::cmp::Ordering::Less => rows,
                std::cmp::Ordering::Equal => at,
                std::cmp::Ordering::Greater => 0,
            });
            all += usize::from(rows);
        }
        pen.at = None;
        pen.column(0);
        pen.rows(above.min(usize::from(size.height)), 0);
        pen.push(format_args!("\x1b[{all}M"));
        self.rows.clear();
        self.at = (0, 0);
        2
    }

    /// Makes room for new rows or removes superfluous ones, so that the old and the new rows have
    /// the same number and stand at the same place. Returns how many rows were touched.
    fn rearrange(&mut self, new: &[Row], pen: &mut Pen) -> usize {
        let old = self.rows.len();
        if old == 0 || old == new.len() {
            return 0;
        }
        let at = alignment(&self.rows, new);
        if new.len() < old {
            let surplus = old - new.len();
            pen.column(0);
            pen.rows(self.at.0, at);
            pen.push(format_args!("\x1b[{surplus}M"));
            self.at.0 = at;
            self.rows.drain(at..at + surplus);
            return surplus + 1;
        }
        let missing = new.len() - old;
        let below = old - at;
        if below == 0 {
            return 0;
        }
        if missing + below > usize::from(self.options.size.height) {
            // More than a screen: what stands below is removed and written again behind it.
            pen.column(0);
            pen.rows(self.at.0, at);
            pen.push(format_args!("\x1b[{below}M"));
            self.rows.truncate(at);
            self.at.0 = at;
            if at > 0 {
                // `rewrite` continues from the last row that is left.
                pen.rows(at, at - 1);
                self.at.0 = at - 1;
            }
            return below;
        }
        pen.column(0);
        pen.rows(self.at.0, old - 1);
        for _ in 0..missing {
            pen.bytes.push('\n');
        }
        pen.rows(old - 1 + missing, at);
        match missing {
            1 => pen.bytes.push_str("\x1b[L"),
            _ => pen.push(format_args!("\x1b[{missing}L")),
        }
        self.at.0 = at;
        self.rows.splice(at..at, std::iter::repeat_n(Row::default(), missing));
        missing + 1
    }

    /// Brings each row to its new state; rows that do not exist yet follow behind the last.
    fn rewrite(&mut self, new: &[Row], pen: &mut Pen) -> usize {
        let mut touched = 0;
        for (index, row) in new.iter().enumerate() {
            match self.rows.get(index) {
                Some(old) if old == row => continue,
                Some(old) => {
                    pen.rows(self.at.0, index);
                    old.update(row, pen);
                }
                None => {
                    if index > 0 {
                        pen.rows(self.at.0, index - 1);
                        pen.style(Style::new());
                        pen.bytes.push_str("\r\n");
                    } else {
                        // Keys typed before the terminal was taken over have been echoed here.
                        pen.bytes.push_str("\r\x1b[K");
                    }
                    pen.at = Some(0);
                    row.write_all(pen);
                }
            }
            self.at.0 = index;
            touched += 1;
        }
        pen.style(Style::new());
        touched
    }

    fn place_cursor(&mut self, finished: usize, cursor: Option<(usize, u16)>, pen: &mut Pen) {
        match cursor {
            Some((row, column)) => {
                pen.rows(self.at.0, row);
                // Behind the last column the cursor is in a state of its own.
                if pen.at.is_some_and(|at| at >= self.options.size.width) {
                    pen.at = None;
                }
                pen.column(column);
                self.at = (row - finished, column);
            }
            None => {
                // Any row of the bottom will do.
                let row = self.at.0.max(finished);
                pen.rows(self.at.0, row);
                pen.column(0);
                self.at = (row - finished, 0);
            }
        }
        if self.hidden != cursor.is_none() {
            self.hidden = cursor.is_none();
            pen.bytes.push_str(if self.hidden { "\x1b[?25l" } else { "\x1b[?25h" });
        }
    }

    /// One write per frame, which terminals show as a whole if it is small; a larger one says that it
    /// is one update (mode 2026).
    fn send(&mut self, bytes: &str, together: bool) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let framed;
        let bytes = match together {
            true => {
                framed = format!("\x1b[?2026h{bytes}\x1b[?2026l");
                framed.as_str()
            }
            false => bytes,
        };
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()?;
        Ok(bytes.len())
    }
}

/// Where rows have to be inserted into `old`, or removed from it, so that least is left to write.
fn alignment(old: &[Row], new: &[Row]) -> usize {
    let kept = old.len().min(new.len());
    let difference = old.len().abs_diff(new.len());
    // `kept` rows are paired: those before the place from the start, those behind it from the end.
    let (old_shift, new_shift) = if old.len() > new.len() { (difference, 0) } else { (0, difference) };
    let mut cost: usize = (0..kept).map(|index| old[index + old_shift].cost(&new[index + new_shift])).sum();
    let (mut best, mut place) = (cost, 0);
    for index in 0..kept {
        cost -= old[index + old_shift].cost(&new[index + new_shift]);
        cost += old[index].cost(&new[index]);
        if cost < best {
            (best, place) = (cost, index + 1);
        }
    }
    place
}
