//! Lines of dialogs: wrapped text, bodies that scroll, hints about keys.

use crate::screen::text_width;
use crate::text::{cut, hard_wrap, visible, wrap};
use crate::theme;
use crate::{Cursor, View};
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

/// Breaks text into lines of so many cells, after words where it can. Text from outside is made safe.
pub(super) fn wrapped(text: &str, width: usize, indent: usize, style: Style) -> Vec<Line<'static>> {
    let margin = Span::raw(" ".repeat(indent.min(width.saturating_sub(1))));
    let margin = std::slice::from_ref(&margin);
    let text = visible(text);
    let lines = text.split('\n').map(|line| Span::styled(line.to_owned(), style));
    lines.flat_map(|span| wrap(&[span], cells(width), margin, margin)).collect()
}

/// Breaks a styled line where it would run over the edge.
pub(super) fn rows_of(line: &Line<'static>, width: usize) -> Vec<Line<'static>> {
    let styled = |span: &Span<'static>| span.clone().style(line.style.patch(span.style));
    let spans: Vec<_> = line.spans.iter().map(styled).collect();
    hard_wrap(&spans, cells(width), &[], &[])
}

fn cells(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// A text that may be longer than its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Body {
    lines: Vec<Line<'static>>,
    top: usize,
    /// How many lines there were and how many showed when it was drawn last.
    drawn: std::cell::Cell<(usize, usize)>,
}

impl Body {
    pub(super) fn new(lines: Vec<Line<'static>>) -> Body {
        Body { lines, ..Body::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Replaces the text, keeping the place.
    pub(super) fn set(&mut self, lines: Vec<Line<'static>>) {
        self.lines = lines;
    }

    pub(super) fn scroll(&mut self, by: isize) {
        let (all, shown) = self.drawn.get();
        self.top = self.top.saturating_add_signed(by).min(all.saturating_sub(shown));
    }

    pub(super) fn page(&mut self, pages: isize) {
        let (_, shown) = self.drawn.get();
        self.scroll(pages.saturating_mul(shown.saturating_sub(1).max(1) as isize));
    }

    /// Draws at most `height` lines; the last one says how much is hidden.
    pub(super) fn view(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let mut lines: Vec<_> = self.lines.iter().flat_map(|line| rows_of(line, width)).collect();
        let all = lines.len();
        if all <= height {
            self.drawn.set((all, height));
            return lines;
        }
        let shown = height.saturating_sub(1);
        self.drawn.set((all, shown));
        let top = self.top.min(all - shown);
        lines.drain(..top);
        lines.truncate(shown);
        if height > 0 {
            let below = all - top - shown;
            let text = match (top, below) {
                (0, below) => format!("… {below} more lines · PgDn"),
                (above, 0) => format!("… {above} lines above · PgUp"),
                (above, below) => format!("… {above} lines above, {below} below · PgUp PgDn"),
            };
            lines.push(Line::styled(cut(&text, width), theme::DIM));
        }
        lines
    }
}

/// `Enter choose · Esc close`, as much as fits.
pub(super) fn hints(all: &[(&str, &str)], width: usize) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut used = 0;
    for (keys, what) in all {
        let cells = text_width(keys) + 1 + text_width(what) + if spans.is_empty() { 0 } else { 3 };
        if used + cells > width {
            break;
        }
        used += cells;
        if !spans.is_empty() {
            spans.push(Span::styled(" · ", theme::DIM));
        }
        spans.push(Span::styled((*keys).to_owned(), theme::ACTION));
        spans.push(Span::styled(format!(" {what}"), theme::DIM));
    }
    Line::from(spans)
}

/// A view that shows its end, with the cursor, if there is too little room.
pub(super) fn fitted(mut view: View, height: u16) -> View {
    let extra = view.lines.len().saturating_sub(usize::from(height));
    if extra > 0 {
        // What is above the cursor goes first, what is below it after that.
        let above = view.cursor.map_or(extra, |cursor| extra.min(usize::from(cursor.row)));
        view.lines.drain(..above);
        view.lines.truncate(usize::from(height));
        view.cursor = view.cursor.map(|cursor| Cursor { row: cursor.row - above as u16, ..cursor });
    }
    view
}
