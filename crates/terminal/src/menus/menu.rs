//! The menu of completions below the composer.

use super::list::ListCursor;
use crate::View;
use crate::screen::text_width;
use crate::text::cut;
use crate::theme;
use ratatui_core::text::{Line, Span};
use std::ops::Range;

/// What a menu is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MenuKind {
    Command,
    Argument,
    Mention,
    Path,
    ShellHistory,
}

/// What follows what is put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// A space, and the menu closes.
    Space,
    /// Nothing, and the menu opens for what is inside: a folder.
    Inside,
    Nothing,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuEntry {
    pub label: String,
    pub detail: String,
    /// What takes the place of the typed part.
    pub insert: String,
    pub after: After,
    /// Bytes of the label that were typed.
    pub matched: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Menu {
    pub kind: MenuKind,
    /// The part of the text that is completed.
    pub range: Range<usize>,
    pub entries: Vec<MenuEntry>,
    pub list: ListCursor,
    /// Shown instead of entries.
    pub empty: String,
}

/// Rows of a menu.
const ROWS: usize = 8;

impl Menu {
    pub fn selected(&self) -> Option<&MenuEntry> {
        self.entries.get(self.list.selected()?)
    }

    pub fn view(&self, width: u16, rows: u16) -> View {
        let width = usize::from(width);
        if self.entries.is_empty() {
            let text = cut(&format!("  {}", self.empty), width);
            return View { lines: vec![Line::styled(text, theme::DIM)], cursor: None };
        }
        let rows = ROWS.min(usize::from(rows)).max(1);
        let more = self.entries.len() > rows && rows > 1;
        let window = self.list.window(rows - usize::from(more));
        let shown = &self.entries[window.clone()];
        let widest = shown.iter().map(|entry| text_width(&entry.label)).max().unwrap_or(0);
        let details = shown.iter().any(|entry| !entry.detail.is_empty());
        let column = if details { widest.min(width * 3 / 5).max(8) } else { widest };
        let mut lines: Vec<Line<'static>> = Vec::with_capacity(rows);
        for (offset, entry) in shown.iter().enumerate() {
            let selected = self.list.selected() == Some(window.start + offset);
            lines.push(line(entry, selected, column, width));
        }
        if more {
            let at = self.list.selected().map_or(String::new(), |selected| format!("{}/", selected + 1));
            lines.push(Line::styled(cut(&format!("  {at}{} · ↑↓", self.entries.len()), width), theme::DIM));
        }
        View { lines, cursor: None }
    }
}

fn line(entry: &MenuEntry, selected: bool, column: usize, width: usize) -> Line<'static> {
    let style = if selected { theme::SELECTED } else { theme::TEXT };
    let marker = if selected { "› " } else { "  " };
    let label = cut(&entry.label, column.min(width.saturating_sub(2)));
    let mut spans = vec![Span::styled(cut(marker, width), style)];
    let padding = column.saturating_sub(text_width(&label));
    for (at, c) in label.char_indices() {
        let found = label.len() == entry.label.len() && entry.matched.contains(&at);
        let style = if found { style.patch(theme::HEADING) } else { style };
        match spans.last_mut().filter(|last| last.style == style && at > 0) {
            Some(last) => last.content.to_mut().push(c),
            None => spans.push(Span::styled(c.to_string(), style)),
        }
    }
    let room = width.saturating_sub(2 + column + 2);
    if room > 4 && !entry.detail.is_empty() {
        let detail = entry.detail.lines().next().unwrap_or_default();
        spans.push(Span::raw(" ".repeat(padding + 2)));
        spans.push(Span::styled(cut(detail, room), theme::DIM));
    }
    Line::from(spans)
}
