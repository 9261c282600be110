//! Tables: columns as wide as they need to be, narrower if the terminal is, and a list of records
//! where columns would be too narrow to read.

use crate::screen::text_width;
use crate::text::wrap;
use crate::theme;
use pulldown_cmark::Alignment;
use ratatui_core::text::{Line, Span};

/// A column is never made narrower than this.
const NARROW: usize = 12;
/// Columns between two columns.
const BETWEEN: usize = 3;

pub(super) struct Table {
    alignment: Vec<Alignment>,
    rows: Vec<Vec<Vec<Span<'static>>>>,
}

impl Table {
    pub(super) fn new(alignment: Vec<Alignment>) -> Self {
        Self { alignment, rows: Vec::new() }
    }

    pub(super) fn row(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(super) fn cell(&mut self, mut spans: Vec<Span<'static>>) {
        let header = self.rows.len() == 1;
        if header {
            spans.iter_mut().for_each(|span| span.style = span.style.patch(theme::HEADING));
        }
        if let Some(row) = self.rows.last_mut() {
            row.push(spans);
        }
    }

    pub(super) fn lines(self, width: usize) -> Vec<Line<'static>> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths),
            None => self.records(width),
        }
    }

    /// How wide each column becomes; `None` if they do not fit.
    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let columns = self.alignment.len();
        let mut widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| width_of(cell)).max().unwrap_or(0).max(1)
            })
            .collect();
        let room = width.checked_sub(columns.saturating_sub(1) * BETWEEN)?;
        let mut total: usize = widths.iter().sum();
        // The widest gives way first.
        while total > room {
            let (widest, most) = widths.iter().copied().enumerate().max_by_key(|(_, width)| *width)?;
            if most <= NARROW {
                return None;
            }
            let next = widths.iter().copied().filter(|width| *width < most).max().unwrap_or(NARROW).max(NARROW);
            let less = (most - next).max(1).min(total - room);
            widths[widest] -= less;
            total -= less;
        }
        Some(widths)
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line<'static>>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| wrap(row.get(column).map_or(&[][..], Vec::as_slice), *width as u16, &[], &[]))
                .collect();
            for part in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut spans = Vec::new();
                for (column, width) in widths.iter().enumerate() {
                    if column > 0 {
                        spans.push(Span::styled(" │ ", theme::DIM));
                    }
                    let cell = cells[column].get(part).map_or(&[][..], |line| line.spans.as_slice());
                    let blank = width.saturating_sub(width_of(cell));
                    let left = match self.alignment[column] {
                        Alignment::Right => blank,
                        Alignment::Center => blank / 2,
                        Alignment::Left | Alignment::None => 0,
                    };
                    spans.push(Span::raw(" ".repeat(left)));
                    spans.extend(cell.iter().cloned());
                    spans.push(Span::raw(" ".repeat(blank - left)));
                }
                trim(&mut spans);
                lines.push(Line::from(spans));
            }
            if number == 0 {
                let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join("─┼─");
                lines.push(Line::from(Span::styled(rule, theme::DIM)));
            }
        }
        lines
    }

    /// One line per cell, `name: value`, an empty line between rows.
    fn records(&self, width: usize) -> Vec<Line<'static>> {
        let Some((names, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                lines.push(Line::default());
            }
            for (column, cell) in row.iter().enumerate() {
                let mut spans = names.get(column).cloned().unwrap_or_default();
                spans.push(Span::styled(": ", theme::DIM));
                spans.extend(cell.iter().cloned());
                lines.extend(wrap(&spans, width as u16, &[], &[Span::raw("  ")]));
            }
        }
        lines
    }
}

fn width_of(spans: &[Span<'static>]) -> usize {
    spans.iter().map(|span| text_width(&span.content)).sum()
}

fn trim(spans: &mut Vec<Span<'static>>) {
    while spans.last().is_some_and(|span| span.content.chars().all(|c| c == ' ')) {
        spans.pop();
    }
}
